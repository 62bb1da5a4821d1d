"""`litotes train`: train a model from a recipe."""

from pathlib import Path
from typing import Annotated

import typer


def train(
    recipe: Annotated[Path, typer.Argument(help="A TOML file, such as recipes/mini.toml.")],
    data: Annotated[Path, typer.Option(help="Folder with captions.csv and images/.")],
    run: Annotated[Path, typer.Option(help="Folder of the run; a run that stands there goes on.")],
) -> None:
    """Train what a recipe says; stopped and started again, it goes on where it was."""
    from litotes.training.mini import train_mini
    from litotes.training.recipe import read_recipe

    weights = train_mini(read_recipe(recipe), data, run)
    size = sum(tensor.numel() for tensor in weights.values()) * 2 / 1e6
    typer.echo(f"wrote {run / 'mini.safetensors'} ({size:.1f} MB)")
