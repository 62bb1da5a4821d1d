"""`litotes direction`: fit a negation direction for one's own model."""

from pathlib import Path
from typing import Annotated, Literal

import typer

from litotes.cli.common import (
    Adapter,
    AsJson,
    Device,
    ModelName,
    Pretrained,
    choose_model,
    given_file,
    given_target,
    load_model,
    print_json,
)

app = typer.Typer(help="Negation directions (arXiv 2603.20554).", no_args_is_help=True)


@app.command()
def fit(
    pairs: Annotated[
        Path,
        typer.Option(parser=given_file, help="JSON: {affirmative caption: negated caption, …}."),
    ],
    out: Annotated[
        Path, typer.Option(parser=given_target, help="The direction's file, .safetensors.")
    ],
    model: ModelName = None,
    pretrained: Pretrained = None,
    adapter: Adapter = None,
    features: Annotated[
        Literal["raw", "scaled"],
        typer.Option(help="raw, as the paper; or scaled, for post-norm encoders (BERT)."),
    ] = "raw",
    seed: Annotated[
        int, typer.Option(min=0, max=2**63 - 1, help="Draws the held-out fifth of the pairs.")
    ] = 0,
    device: Device = None,
    as_json: AsJson = False,
) -> None:
    """Fit a direction on caption pairs and print each block's held-out accuracy."""
    from litotes.data.captions import read_negation_pairs
    from litotes.steering import NegationDirection

    read = read_negation_pairs(pairs)
    encoder = load_model(choose_model(None, model, pretrained, adapter), device)
    direction = NegationDirection.fit(encoder, read, features=features, seed=seed)
    direction.save(out)
    accuracy = [round(value, 4) for value in direction.accuracy.tolist()]
    if as_json:
        print_json({"accuracy": accuracy, "text_fingerprint": direction.text_fingerprint})
        return
    for layer, value in enumerate(accuracy):
        typer.echo(f"block {layer}: {value:.1%} of held-out captions told apart")
    typer.echo(f"wrote {out}")
