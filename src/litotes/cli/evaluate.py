"""`litotes eval`: measure a model and its strategies."""

from collections.abc import Callable, Sequence
from dataclasses import replace
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from litotes.cli.common import (
    DEFAULT_MODEL,
    Adapter,
    AsJson,
    Device,
    ModelName,
    Pretrained,
    StrategyName,
    given_path,
    given_target,
    load_named,
    print_json,
    printable,
)
from litotes.cli.tasks import TASKS, Asked, read_task

if TYPE_CHECKING:
    from litotes.backbones.encoder import DualEncoder
    from litotes.evaluation.judges import Judge
    from litotes.evaluation.record import Record
    from litotes.strategies import Strategy

ClassSet = StrEnum("ClassSet", "imagenet cifar10 cifar100")
Templates = StrEnum("Templates", "openai simple")

# With more metrics than that a table has a column a record, and a row a metric.
WIDE = 8


def evaluate(
    tasks: Annotated[
        list[str],
        typer.Argument(
            metavar="TASK[=PATH]...", help=f"What to measure, and its data: {', '.join(TASKS)}."
        ),
    ],
    data: Annotated[
        Path | None,
        typer.Option(
            parser=given_path, help="File or folder of tasks without =PATH.", metavar="PATH"
        ),
    ] = None,
    images: Annotated[
        Path | None,
        typer.Option(
            parser=given_path, help="Folder of the pictures.  [default: images/ beside the data]"
        ),
    ] = None,
    split: Annotated[
        str, typer.Option(help="Part of the data; tune on dev or train. Karpathy's dev is val.")
    ] = "dev",
    count: Annotated[int, typer.Option("-n", "--count", min=100, help="How many scenes.")] = 1000,
    seed: Annotated[int, typer.Option(min=0, help="Of what is drawn by lot.")] = 0,
    strategy: Annotated[
        list[StrategyName] | None,
        typer.Option(help="A strategy by name; may be given more than once."),
    ] = None,
    direction: Annotated[
        Path | None,
        typer.Option(
            parser=given_path, help="Negation direction for steer, if none ships for the model."
        ),
    ] = None,
    sweep: Annotated[
        bool, typer.Option(help="Try the settings of subtract and steer (α, layers, β).")
    ] = False,
    plot: Annotated[
        Path | None,
        typer.Option(
            parser=given_target, help="Plot a sweep of steer on scenes there, .svg or .png."
        ),
    ] = None,
    classes: Annotated[ClassSet | None, typer.Option(help="Class names.")] = None,
    templates: Annotated[
        Templates | None,
        typer.Option(help="Prompts of a classification.  [default: openai]", show_default=False),
    ] = None,
    judge: Annotated[
        str | None,
        typer.Option(help="A judge: model of --judge-url's server, or a transformers folder."),
    ] = None,
    judge_url: Annotated[
        str | None, typer.Option(help="An OpenAI-compatible server, such as http://host:8000/v1.")
    ] = None,
    model: ModelName = None,
    pretrained: Pretrained = None,
    adapter: Adapter = None,
    device: Device = None,
    out: Annotated[
        Path | None,
        typer.Option(
            parser=given_target,
            help="Add records to this file, as JSON lines; what is measured again is replaced.",
        ),
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option(
            parser=given_target, help="Put tables into this Markdown file, between its markers."
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Measure a model on data with known answers, one or more tasks at once.

    Without --model, scenes are measured with the model scenes, all else with mini.
    """
    if plot is not None and not (sweep and tasks == ["scenes"]):
        raise typer.BadParameter("a plot is of `litotes eval scenes --sweep`", param_hint="--plot")
    if plot is not None and plot.suffix not in (".svg", ".png"):
        raise typer.BadParameter("its name must end in .svg or .png", param_hint="--plot")
    asker = _judge(judge, judge_url, device)
    runs = []
    for task in tasks:
        name, _, path = task.partition("=")
        place = Path(path) if path else data
        asked = Asked(name, place, images, split, count, seed, classes, templates, asker, sweep)
        runs.append((name, read_task(asked)))
    from litotes.evaluation.record import add_records, records_so_far

    if out is not None:
        # What is no file of records is refused before anything is measured.
        records_so_far(out)
    only_scenes = all(name == "scenes" for name, _ in runs)
    name = model or ("scenes" if only_scenes else DEFAULT_MODEL)
    encoder = load_named(name, pretrained, adapter, device)
    strategies = _strategies(encoder, strategy, direction, sweep)
    records = []
    for name, run in runs:
        made = run(encoder, strategies)
        records += made
        if out is not None:
            # After each task, so that a later one that fails takes nothing away.
            add_records(out, made)
        _show(name, made, into, as_json)
    if asker is not None:
        _say_judge(asker())
    if plot is not None:
        from litotes.evaluation.plots import plot_steering

        shown = ("mcq negative", "mcq hybrid", "exclude object: violating@10")
        plot_steering(records, shown, plot)
    if as_json:
        print_json([record.model_dump(exclude={"outcomes"}) for record in records])


def _show(name: str, records: "list[Record]", into: Path | None, as_json: bool) -> None:
    from litotes.evaluation.report import markdown_columns, markdown_table, update_block

    wide = len(records[0].metrics) > WIDE and len(records) <= WIDE
    if wide:
        table = markdown_columns(records)
    else:
        of_task: dict[str, list[Record]] = {}
        for record in records:
            of_task.setdefault(record.task, []).append(record)
        tables = {task: markdown_table(group) for task, group in of_task.items()}
        titled = (f"{task}:\n\n{table}" for task, table in tables.items())
        table = "\n\n".join(titled if len(tables) > 1 else tables.values())
    if into:
        update_block(into, f"{name}-{records[0].split}", table)
    if not as_json:
        typer.echo(table)


def _strategies(
    encoder: "DualEncoder", names: Sequence[str] | None, direction: Path | None, sweep: bool
) -> "list[Strategy]":
    """The strategies that options ask for, or many settings of them."""
    from litotes.evaluation.sweep import available_direction, settings_to_sweep

    if sweep:
        return settings_to_sweep(encoder, available_direction(encoder, direction))
    return strategies_of(encoder, names, direction)


def strategies_of(
    encoder: "DualEncoder", names: Sequence[str] | None, direction: Path | None
) -> "list[Strategy]":
    """Strategies by their names: by default all for which there is what they need."""
    from litotes import strategies
    from litotes.evaluation.sweep import available_direction
    from litotes.strategies import Steer

    steer = available_direction(encoder, direction)
    wanted = names or [n for n in strategies.NAMES if n != "steer" or steer is not None]
    chosen = [strategies.get(name, encoder.name) for name in wanted]
    return [replace(s, direction=steer) if isinstance(s, Steer) else s for s in chosen]


def _judge(model: str | None, url: str | None, device: str | None) -> "Callable[[], Judge] | None":
    if model is None:
        if url is not None:
            raise typer.BadParameter("say which of the server's models: --judge MODEL")
        return None

    @cache
    def made() -> "Judge":
        from litotes.evaluation.judges import CachedJudge, ChatServer, LocalJudge, ServerJudge

        if url is not None:
            return CachedJudge(ServerJudge(ChatServer(model, url)))
        return CachedJudge(LocalJudge.load(model, device=device))

    return made


def _say_judge(judge: "Judge") -> None:
    """What the judge could not answer, and what a server was used for."""
    from litotes.evaluation.judges import CachedJudge, ServerJudge

    if judge.failed:
        typer.echo(f"{judge.failed:,} questions failed: run again to ask them anew", err=True)
    for text, count in judge.unclear.most_common(5):
        typer.echo(f"neither yes nor no, {count:,} times: {printable(text)!r}", err=True)
    if isinstance(judge, CachedJudge) and isinstance(judge.judge, ServerJudge):
        used = judge.judge.server.usage
        tokens = f"{used.prompt_tokens:,} tokens sent, {used.completion_tokens:,} received"
        if used.uncounted:
            counted = used.completions - used.uncounted
            tokens = f"{tokens} in {counted:,} of them" if counted else "tokens unknown"
        typer.echo(
            f"{used.completions:,} answers, {tokens}, {used.retries:,} retries",
            err=True,
        )
