"""`litotes scenes`: drawn scenes as a folder of pictures and captions."""

import sys
from pathlib import Path
from typing import Annotated, Literal

import typer

from litotes.cli.common import given_path, printable_path


def scenes(
    folder: Annotated[
        Path, typer.Argument(parser=given_path, help="Where to write; made if it is not there.")
    ],
    count: Annotated[int, typer.Option("-n", "--count", min=1, help="How many scenes.")] = 1000,
    split: Annotated[Literal["train", "dev", "test"], typer.Option(help="Which scenes.")] = "train",
    seed: Annotated[int, typer.Option(help="Another seed, other scenes.")] = 0,
    uncommon: Annotated[
        bool, typer.Option(help="Scenes with combinations that the common world never shows.")
    ] = False,
) -> None:
    """Draw scenes: images/, captions.csv, graphs.jsonl and negation_pairs.json."""
    from rich.console import Console
    from rich.progress import track

    from litotes.scenes.sampling import sample, write_scenes

    console = Console(stderr=True)
    written = write_scenes(sample(count, seed, split, uncommon=uncommon), folder)
    for _ in track(
        written, "Drawing", total=count, console=console, disable=not sys.stderr.isatty()
    ):
        pass
    typer.echo(f"wrote {count:,} scenes to {printable_path(folder)}")
