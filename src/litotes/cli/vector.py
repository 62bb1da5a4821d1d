"""``litotes vector``: a query as one vector, for a vector database."""

import io
from pathlib import Path
from typing import Annotated

import typer

from litotes.cli.common import (
    Adapter,
    Device,
    ModelName,
    Pretrained,
    StrategyName,
    choose_model,
    given_target,
    load_model,
    print_json,
    printable_path,
    write_named,
)
from litotes.cli.search import (
    ChosenStrategy,
    Direction,
    Excluded,
    TunedFolder,
    asked_of,
    check_direction,
    chosen_strategy,
)


def vector(
    query: Annotated[
        str | None,
        typer.Argument(
            metavar="[QUERY]",
            help="What to find; may be left out beside --not.",
            show_default=False,
        ),
    ] = None,
    exclude: Excluded = None,
    strategy: ChosenStrategy = StrategyName.default,
    direction: Direction = None,
    tuned: TunedFolder = None,
    out: Annotated[
        Path | None,
        typer.Option(
            parser=given_target, metavar="FILE.npy", help="Write it there; by default to stdout."
        ),
    ] = None,
    model: ModelName = None,
    pretrained: Pretrained = None,
    adapter: Adapter = None,
    device: Device = None,
) -> None:
    """Give the unit vector that answers a query best, for FAISS, Qdrant or pgvector.

    Search with it by cosine or dot product. It is printed as a JSON list of numbers.
    """
    asked = asked_of(query, exclude)
    check_direction(direction, strategy, tuned)
    import numpy as np

    encoder = load_model(choose_model(None, model, pretrained, adapter), device)
    chosen = chosen_strategy(strategy, encoder, direction, tuned)
    values = chosen.vectors([asked], encoder)[0].numpy()
    if out is None:
        print_json(values.tolist())
        return
    buffer = io.BytesIO()
    np.save(buffer, values)
    write_named(out, buffer.getvalue())
    typer.echo(f"vector of {len(values)} numbers: {printable_path(out)}", err=True)
