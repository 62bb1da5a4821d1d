"""`litotes eval`: measure a model and its strategies."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from litotes.cli.common import (
    Adapter,
    AsJson,
    Device,
    ModelName,
    Pretrained,
    choose_model,
    load_model,
    print_json,
)

if TYPE_CHECKING:
    from litotes.backbones.encoder import DualEncoder
    from litotes.evaluation.record import Record
    from litotes.strategies import Strategy

app = typer.Typer(help="Measure a model on data with known answers.", no_args_is_help=True)

Data = Annotated[
    Path, typer.Option(help="Folder with the data's files and images/.", metavar="DIR")
]
Split = Annotated[str, typer.Option(help="Which part of the data; tune on dev or train only.")]
Out = Annotated[Path | None, typer.Option(help="Write the records there, as JSON lines.")]
Into = Annotated[
    Path | None, typer.Option(help="Put the table into this Markdown file, between its markers.")
]


@app.command()
def exclusion(
    data: Data,
    split: Split = "dev",
    strategy: Annotated[
        list[str] | None, typer.Option(help="A strategy by name; may be given more than once.")
    ] = None,
    direction: Annotated[
        Path | None, typer.Option(help="Negation direction for steer, if none ships for the model.")
    ] = None,
    sweep: Annotated[
        bool, typer.Option(help="Try the settings of subtract and steer (α, layers, β).")
    ] = False,
    model: ModelName = None,
    pretrained: Pretrained = None,
    adapter: Adapter = None,
    device: Device = None,
    out: Out = None,
    into: Into = None,
    as_json: AsJson = False,
) -> None:
    """Share of the first ten photographs that violate "A without B", and that are right."""
    from litotes.evaluation.exclusion import ExclusionTask
    from litotes.evaluation.report import markdown_table

    task = ExclusionTask.read(data, split)
    encoder = load_model(choose_model(None, model, pretrained, adapter), device)
    chosen = _strategies(encoder, strategy, direction, sweep)
    records = task.run(encoder, chosen)
    _report(records, out, into, as_json, markdown_table(records))


@app.command()
def retrieval(
    data: Data,
    split: Split = "dev",
    model: ModelName = None,
    pretrained: Pretrained = None,
    adapter: Adapter = None,
    device: Device = None,
    out: Out = None,
    into: Into = None,
    as_json: AsJson = False,
) -> None:
    """Recall@1, 5, 10 from text to image and back, and their sum."""
    from litotes.evaluation.report import markdown_table
    from litotes.evaluation.retrieval import RetrievalTask

    task = RetrievalTask.read(data, split)
    encoder = load_model(choose_model(None, model, pretrained, adapter), device)
    records = task.run(encoder)
    _report(records, out, into, as_json, markdown_table(records))


@app.command()
def scenes(
    split: Annotated[
        Literal["train", "dev", "test"], typer.Option(help="Which scenes; tune on dev.")
    ] = "dev",
    count: Annotated[int, typer.Option("-n", "--count", min=100, help="How many scenes.")] = 1000,
    seed: Annotated[int, typer.Option(help="Of the scenes and of what is asked.")] = 0,
    strategy: Annotated[
        list[str] | None, typer.Option(help="A strategy by name; may be given more than once.")
    ] = None,
    direction: Annotated[
        Path | None, typer.Option(help="Negation direction for steer, if none ships for the model.")
    ] = None,
    sweep: Annotated[
        bool,
        typer.Option(help="Try the settings of subtract and steer on multiple choice and X-not-Y."),
    ] = False,
    plot: Annotated[
        Path | None, typer.Option(help="Plot a sweep of steer there, .svg or .png.")
    ] = None,
    model: Annotated[
        str, typer.Option("--model", metavar="NAME", help="Model: as for the other commands.")
    ] = "scenes",
    pretrained: Pretrained = None,
    adapter: Adapter = None,
    device: Device = None,
    out: Out = None,
    into: Into = None,
    as_json: AsJson = False,
) -> None:
    """Everything at once on drawn scenes, where every right answer is known to be right.

    In the common world, and in the one of combinations that training never showed.
    """
    from litotes.evaluation.plots import plot_steering
    from litotes.evaluation.report import markdown_columns, markdown_table
    from litotes.scenes.evaluation import ScenesTask

    if plot is not None and not sweep:
        raise typer.BadParameter("a plot is of a sweep: give --sweep too", param_hint="--plot")
    encoder = load_model(choose_model(None, model, pretrained, adapter), device)
    chosen = _strategies(encoder, strategy, direction, sweep)
    if sweep:
        task = ScenesTask(split, count, seed, measures=("multiple choice", "exclusion"))
        records = task.run(encoder, chosen)
        if plot is not None:
            shown = ("mcq negative", "mcq hybrid", "exclude object: violating@10")
            plot_steering(records, shown, plot)
        _report(records, out, into, as_json, markdown_table(records))
        return
    records = [
        record
        for uncommon in (False, True)
        for record in ScenesTask(split, count, seed, uncommon).run(encoder, chosen)
    ]
    _report(records, out, into, as_json, markdown_columns(records))


def _strategies(
    encoder: "DualEncoder", names: list[str] | None, direction: Path | None, sweep: bool
) -> "list[Strategy]":
    """The strategies that options ask for: by default all for which there is what they need."""
    from litotes import strategies
    from litotes.evaluation.sweep import available_direction, settings_to_sweep
    from litotes.strategies import Steer

    steer = available_direction(encoder, direction)
    if sweep:
        return settings_to_sweep(encoder, steer)
    wanted = names or [n for n in strategies.NAMES if n != "steer" or steer is not None]
    chosen = [strategies.get(name) for name in wanted]
    return [replace(s, direction=steer) if isinstance(s, Steer) else s for s in chosen]


def _report(
    records: "list[Record]", out: Path | None, into: Path | None, as_json: bool, table: str
) -> None:
    from litotes.evaluation.record import write_records
    from litotes.evaluation.report import update_block

    if out:
        write_records(out, records)
    if into:
        update_block(into, f"{records[0].task}-{records[0].split}", table)
    if as_json:
        print_json([record.model_dump(exclude={"outcomes"}) for record in records])
    else:
        typer.echo(table)
