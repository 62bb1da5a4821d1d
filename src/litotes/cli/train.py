"""`litotes train`: train a model, or adapt one, from a recipe."""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from litotes.cli.common import Device

if TYPE_CHECKING:
    from litotes.backbones.encoder import DualEncoder
    from litotes.training.adapt import AdaptExamples
    from litotes.training.recipe import HanclipRecipe, SlipformRecipe


def train(
    recipe: Annotated[Path, typer.Argument(help="A TOML file, such as recipes/mini.toml.")],
    run: Annotated[Path, typer.Option(help="Folder of the run; a run that stands there goes on.")],
    data: Annotated[
        Path | None,
        typer.Option(help="Folder with captions.csv and images/; scenes are drawn without it."),
    ] = None,
    set_: Annotated[
        list[str] | None,
        typer.Option("--set", help="A setting in place of the recipe's, such as fit.lr=1e-4."),
    ] = None,
    dev: Annotated[
        str | None,
        typer.Option(
            metavar="TASK[=PATH]:MEASURE",
            help="What chooses the best weights of an adapter, such as 'scenes:mcq macro'.",
        ),
    ] = None,
    device: Device = None,
) -> None:
    """Train what a recipe says; stopped and started again, it goes on where it was."""
    from litotes.scenes.training import train_scenes
    from litotes.training.mini import train_mini
    from litotes.training.recipe import MiniRecipe, ScenesRecipe, read_recipe

    wanted = read_recipe(recipe, set_ or ())
    if isinstance(wanted, MiniRecipe):
        if data is None:
            raise typer.BadParameter("this recipe needs photographs", param_hint="--data")
        weights = train_mini(wanted, data, run)
    elif isinstance(wanted, ScenesRecipe):
        if data is not None:
            raise typer.BadParameter("this recipe draws its own data", param_hint="--data")
        weights = train_scenes(wanted, run)
    else:
        _adapt(wanted, data, run, _measure(dev, data), device)
        return
    size = sum(tensor.nbytes for tensor in weights.values()) / 1e6
    typer.echo(f"wrote {run / wanted.method}.safetensors ({size:.1f} MB)")


def _adapt(
    recipe: "HanclipRecipe | SlipformRecipe",
    data: Path | None,
    run: Path,
    measure: "Callable[[DualEncoder], float] | None",
    device: str | None,
) -> None:
    from litotes.backbones.registry import load
    from litotes.training.adapt import adapt

    encoder = load(recipe.model, recipe.pretrained, device=device)
    score = adapt(encoder, examples_of(recipe, data, run), recipe, run, measure=measure)
    best = "" if score is None else f"; the best measure was {score:.4f}"
    typer.echo(f"wrote {run / ('adapter' if recipe.lora else 'model')}{best}")


def examples_of(
    recipe: "HanclipRecipe | SlipformRecipe", data: Path | None, run: Path
) -> "AdaptExamples":
    """What a recipe trains on: photographs, or scenes where there are none."""
    from litotes.scenes import adaptation, composition
    from litotes.training.photographs import read_photographs
    from litotes.training.recipe import HanclipRecipe
    from litotes.training.slipform import read_pairs

    if isinstance(recipe, HanclipRecipe):
        if data is None:
            return adaptation.SceneExamples(recipe)
        return read_photographs(recipe, data, run)
    return composition.SceneExamples(recipe) if data is None else read_pairs(recipe, data, run)


def _measure(dev: str | None, data: Path | None) -> "Callable[[DualEncoder], float] | None":
    """What ``--dev`` asks for, as a function of an encoder, which is read plainly."""
    if dev is None:
        return None
    from litotes.backbones.vectors import forget
    from litotes.cli.tasks import Asked, read_task
    from litotes.strategies import Plain

    task, colon, metric = dev.rpartition(":")
    name, _, path = task.partition("=")
    if not colon or not name or not metric:
        raise typer.BadParameter("write it as TASK[=PATH]:MEASURE", param_hint="--dev")
    images = data / "images" if data is not None else None
    place = Path(path) if path else data
    run = read_task(Asked(name, place, images, "dev", 200, 0, None, None, None, sweep=False))

    def measured(encoder: "DualEncoder") -> float:
        metrics = run(encoder, [Plain()])[0].metrics
        forget(encoder)
        if metric not in metrics:
            raise typer.BadParameter(
                f"{name} has no measure {metric!r}: {', '.join(metrics)}", param_hint="--dev"
            )
        return metrics[metric].value

    return measured
