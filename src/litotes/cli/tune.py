"""`litotes tune`: settings of the strategies for one's own model."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from litotes.cli.common import (
    Adapter,
    AsJson,
    Device,
    ModelName,
    Pretrained,
    choose_model,
    given_path,
    load_model,
    print_json,
    printable_path,
    shown_progress,
)

if TYPE_CHECKING:
    from litotes.backbones.encoder import DualEncoder
    from litotes.steering import NegationDirection

PAIRS = 4000
"""So many a negation direction is fitted on, as in arXiv 2603.20554."""


def tune(
    captions: Annotated[
        Path,
        typer.Option(
            parser=given_path,
            metavar="FILE|DIR",
            help="Captions of photographs, as captions.csv has them: two or more of each.",
        ),
    ],
    out: Annotated[
        Path,
        typer.Option(
            parser=given_path, metavar="DIR", help="Folder for what search --tuned takes."
        ),
    ],
    images: Annotated[
        Path | None,
        typer.Option(
            parser=given_path, help="Folder of the photographs.  [default: images/ beside the file]"
        ),
    ] = None,
    split: Annotated[str, typer.Option(help="Part of the captions; never test.")] = "train",
    count: Annotated[
        int, typer.Option("-n", "--count", min=50, help="How many photographs, at most.")
    ] = 2000,
    seed: Annotated[int, typer.Option(min=0, help="Of photographs and wordings.")] = 0,
    model: ModelName = None,
    pretrained: Pretrained = None,
    adapter: Adapter = None,
    device: Device = None,
    as_json: AsJson = False,
) -> None:
    """Choose every strategy's settings, and fit a negation direction, on photographs with captions.

    What the captions say and leave out makes queries "A without B"; of each setting the value is
    kept that finds more right photographs and fewer that are excluded. The defaults suit the
    bundled models and need not suit another.
    """
    from random import Random

    from litotes.data.captions import read_captions
    from litotes.evaluation.exclusion import ExclusionTask
    from litotes.evaluation.make_exclusion import make_exclusion
    from litotes.evaluation.tune import DIRECTION, tries
    from litotes.evaluation.tune import tune as choose

    read = read_captions(captions, split)
    names = Random(seed).sample(list(read), min(count, len(read)))
    kept = {name: read[name] for name in names}
    folder = captions if captions.is_dir() else captions.parent
    pairs = make_exclusion(kept, seed=seed)
    task = ExclusionTask("made", pairs, images or folder / "images", split)
    encoder = load_model(choose_model(None, model, pretrained, adapter), device)
    direction = _direction(encoder, kept)
    total, done = tries(direction), 0
    with shown_progress("settings tried", total) as show:

        def tried() -> None:
            nonlocal done
            done += 1
            show(done)

        tuned = choose(encoder, task, direction, tried)
    tuned.save(out)
    if direction is not None:
        direction.save(out / DIRECTION)
    if as_json:
        print_json(tuned.model_dump())
        return
    for name, value in sorted(tuned.reached.items(), key=lambda one: -one[1]):
        typer.echo(f"{name}: {100 * value:.1f} (right@10 − violating@10)")
    typer.echo(f"wrote {printable_path(out)}: litotes search … --tuned {printable_path(out)}")


def _direction(
    encoder: "DualEncoder", captions: Mapping[str, Sequence[str]]
) -> "NegationDirection | None":
    """Fitted on captions negated by rule; none where the model or the captions allow none."""
    from litotes.errors import DirectionError
    from litotes.language.negator import negation_pairs
    from litotes.steering import NegationDirection

    pairs = negation_pairs([text for texts in captions.values() for text in texts][:PAIRS])
    try:
        return NegationDirection.fit(encoder, pairs)
    except DirectionError as error:
        typer.echo(f"steer is not tuned: {error}", err=True)
        return None
