"""`litotes export`: a model with its adapter merged in, for other programs."""

from pathlib import Path
from typing import Annotated

import typer

from litotes.cli.common import (
    Adapter,
    ModelName,
    Pretrained,
    choose_model,
    load_model,
    printable_path,
)


def export(
    out: Annotated[
        Path,
        typer.Argument(help="A new file, .safetensors or .pt; a new folder for transformers."),
    ],
    model: ModelName = None,
    pretrained: Pretrained = None,
    adapter: Adapter = None,
) -> None:
    """Merge an adapter into its model, and write a checkpoint that needs no adapter.

    open_clip models become a file that open_clip.create_model reads as pretrained=…; those of
    transformers a folder for from_pretrained. Long-CLIP and its kin: .pt for their own loaders,
    .safetensors for open_clip.
    """
    from litotes.backbones.export import export as write

    encoder = load_model(choose_model(None, model, pretrained, adapter), "cpu")
    typer.echo(f"wrote {printable_path(write(encoder, out))}")
