"""`litotes convert`: published captions as captions.csv."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from litotes.cli.common import given_path, printable_path

Kind = StrEnum("Kind", "flickr karpathy coco negbench urban1k sharegpt4v folder")


def convert(
    source: Annotated[Path, typer.Argument(parser=given_path, help="File or folder as published.")],
    out: Annotated[
        Path, typer.Argument(parser=given_path, help="Folder to write captions.csv and images to.")
    ],
    kind: Annotated[Kind, typer.Option(help="What it is.")],
    images: Annotated[
        Path | None,
        typer.Option(
            parser=given_path, help="Folder of the pictures.  [default: beside the source]"
        ),
    ] = None,
    split: Annotated[
        str | None, typer.Option(help="Which part, or the name of a file's only one.")
    ] = None,
) -> None:
    """Bring Flickr8k/30k, COCO, Karpathy's or other captions into the form all commands read."""
    from litotes.data.convert import convert as convert_source

    done = convert_source(source, kind, images, out, split)
    splits = ", ".join(f"{name} {count:,}" for name, count in done.splits.items())
    typer.echo(f"wrote {done.captions:,} captions of {done.pictures:,} pictures ({splits})")
    if done.missing:
        typer.echo(
            f"{len(done.missing):,} pictures are missing and were left out; the first is "
            f"{printable_path(done.missing[0])}",
            err=True,
        )
