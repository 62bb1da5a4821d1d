"""`litotes bench`: every way to answer "not", measured on a suite of tasks."""

import json
from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from litotes.cli.common import (
    Device,
    StrategyName,
    given_file,
    given_path,
    given_target,
    load_named,
    printable_path,
)
from litotes.cli.evaluate import strategies_of
from litotes.cli.tasks import Asked, Run, read_task

if TYPE_CHECKING:
    from litotes.backbones.encoder import DualEncoder
    from litotes.evaluation.record import Record
    from litotes.evaluation.top_pictures import Answer
    from litotes.strategies import Strategy

Suite = StrEnum("Suite", "negation")
CIFAR = "cifar10"
MADE = {
    "negbench-mcq": ("multiple choice",),
    "class-exclusion": ("not-class", "kind-not-class"),
    "scenes": ("scenes", "scenes-uncommon"),
}
"""The tasks that records name, where they are others than that which is run."""
PHOTOGRAPHS = ("exclusion", "negbench-mcq", "negbench-retrieval", "retrieval")


def bench(
    suite: Annotated[Suite, typer.Option(help="What is asked.")] = Suite.negation,
    out: Annotated[
        Path | None,
        typer.Option(
            parser=given_target,
            metavar="FILE",
            help="Records, as JSON lines; what stands there is not measured again.",
        ),
    ] = None,
    data: Annotated[
        Path | None,
        typer.Option(
            parser=given_path, help="Folder that holds flickr8k/ and cifar10/; scenes need none."
        ),
    ] = None,
    split: Annotated[str, typer.Option(help="Part of the data; choose on dev.")] = "dev",
    count: Annotated[int, typer.Option("-n", "--count", min=100, help="How many scenes.")] = 1000,
    model: Annotated[str, typer.Option(help="mini, scenes or any other model.")] = "mini",
    adapter: Annotated[
        list[str] | None,
        typer.Option(help="Measured too, beside the model as it is; may be given more than once."),
    ] = None,
    strategy: Annotated[
        list[StrategyName] | None,
        typer.Option(help="A strategy by name; may be given more than once.  [default: all]"),
    ] = None,
    direction: Annotated[
        list[Path] | None,
        typer.Option(
            parser=given_file,
            metavar="FILE",
            help="Negation direction for steer, if none ships for a model with its adapter; again "
            "for another.",
        ),
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(parser=given_target, metavar="FILE", help="A page of tables and pictures."),
    ] = None,
    into: Annotated[
        Path | None,
        typer.Option(parser=given_target, help="Put the leaderboard into this Markdown file."),
    ] = None,
    device: Device = None,
) -> None:
    """Measure all strategies side by side, with and without adapters, and print the leaderboard."""
    from litotes.data.files import write_atomically
    from litotes.evaluation.exclusion import ExclusionTask
    from litotes.evaluation.html import html_report
    from litotes.evaluation.leaderboard import leaderboard
    from litotes.evaluation.record import add_records, records_so_far
    from litotes.evaluation.report import sections, update_block
    from litotes.evaluation.top_pictures import pictures_html, top_pictures
    from litotes.steering import NegationDirection

    known = records_so_far(out) if out is not None else []
    tasks = _tasks(data, split, count)
    directions = {NegationDirection.load(file).text_fingerprint: file for file in direction or []}
    records: list[Record] = []
    answers: dict[str, list[Answer]] = {}
    for name in (None, *(adapter or [])):
        encoder = load_named(model, None, Path(name) if name else None, device)
        own = directions.pop(encoder.text_fingerprint, None)
        strategies = strategies_of(encoder, strategy, own)
        for task, run in tasks.items():
            found = _known(known, task, split, encoder, strategies)
            missing = [s for s in strategies if not any(_is_of(r, s) for r in found)]
            made = [r for r in run(encoder, missing) if _is_of_any(r, missing)] if missing else []
            if out is not None and made:
                add_records(out, made)
            records += [*found, *made]
        if html is not None and data is not None:
            exclusions = ExclusionTask.read(data / "flickr8k", split)
            for query, lines in top_pictures(exclusions, encoder, strategies).items():
                answers.setdefault(query, []).extend(lines)
    for file in directions.values():
        typer.echo(f"{printable_path(file)}: is of none of these models, and not used", err=True)
    table = leaderboard(records)
    if into is not None:
        update_block(into, f"{suite}-{model}-{split}", table)
    if html is not None:
        pictures = pictures_html(answers) if answers else ""
        write_atomically(html, html_report(sections(records), "Answers to “not”", pictures))
        typer.echo(f"wrote {printable_path(html)}", err=True)
    typer.echo(table)


def _tasks(data: Path | None, split: str, count: int) -> dict[str, Run]:
    """What is asked: of photographs where there are any, else of scenes."""
    if data is None:
        places: dict[str, Path | None] = {"scenes": None}
    else:
        places = dict.fromkeys(PHOTOGRAPHS, data / "flickr8k")
        places["class-exclusion"] = data / CIFAR
    places["latency"] = None
    return {
        name: read_task(
            Asked(name, place, None, split, count, 0, _classes(name), None, None, sweep=False)
        )
        for name, place in places.items()
    }


def _classes(task: str) -> str | None:
    return CIFAR if task == "class-exclusion" else None


def _known(
    records: "Sequence[Record]",
    task: str,
    split: str,
    encoder: "DualEncoder",
    strategies: "Sequence[Strategy]",
) -> "list[Record]":
    """Records of a task that stand already: of those strategies that have all that it makes."""
    names = MADE.get(task, (task,))
    sides = encoder.image_fingerprint, encoder.text_fingerprint
    found = [
        record
        for record in records
        if record.task in names
        # NegBench's files say their split behind their name; CIFAR-10's sample has none.
        and (record.split.endswith(split) or record.split == CIFAR)
        and (record.image_fingerprint, record.text_fingerprint) == sides
    ]
    whole = [s for s in strategies if {r.task for r in found if _is_of(r, s)} == set(names)]
    return [record for record in found if _is_of_any(record, whole)]


def _is_of(record: "Record", strategy: "Strategy") -> bool:
    """Whether a record is of a strategy with these settings."""
    from litotes.evaluation.task import strategy_settings

    # As JSON has it: what was read from a file has lists where there were tuples.
    settings = json.loads(json.dumps(strategy_settings(strategy)))
    return record.strategy == strategy.name and settings.items() <= record.settings.items()


def _is_of_any(record: "Record", strategies: "Sequence[Strategy]") -> bool:
    return any(_is_of(record, strategy) for strategy in strategies)
