"""`litotes train`: train a model from a recipe."""

from pathlib import Path
from typing import Annotated

import typer


def train(
    recipe: Annotated[Path, typer.Argument(help="A TOML file, such as recipes/mini.toml.")],
    run: Annotated[Path, typer.Option(help="Folder of the run; a run that stands there goes on.")],
    data: Annotated[
        Path | None,
        typer.Option(help="Folder with captions.csv and images/; not for scenes, which are drawn."),
    ] = None,
) -> None:
    """Train what a recipe says; stopped and started again, it goes on where it was."""
    from litotes.scenes.training import train_scenes
    from litotes.training.mini import train_mini
    from litotes.training.recipe import MiniRecipe, read_recipe

    wanted = read_recipe(recipe)
    if isinstance(wanted, MiniRecipe):
        if data is None:
            raise typer.BadParameter("this recipe needs photographs", param_hint="--data")
        weights = train_mini(wanted, data, run)
    else:
        if data is not None:
            raise typer.BadParameter("this recipe draws its own data", param_hint="--data")
        weights = train_scenes(wanted, run)
    size = sum(tensor.nbytes for tensor in weights.values()) / 1e6
    typer.echo(f"wrote {run / wanted.model}.safetensors ({size:.1f} MB)")
