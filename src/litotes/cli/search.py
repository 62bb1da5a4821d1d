"""``litotes search``: find photos in words, and by examples."""

import os
import sys
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from litotes.cli.common import (
    Adapter,
    AsJson,
    Device,
    IndexPlace,
    ModelName,
    PhotoFolder,
    Pretrained,
    StrategyName,
    choose_model,
    given_file,
    given_path,
    given_target,
    load_model,
    print_json,
    printable_path,
    write_named,
)
from litotes.errors import LitotesError

if TYPE_CHECKING:
    from litotes.backbones.encoder import DualEncoder
    from litotes.language import Query
    from litotes.search import Explanation, PhotoIndex, Result
    from litotes.strategies import Strategy

Answers = dict[str, list["Result"]]


class Examples(NamedTuple):
    """Pictures that a photo is to be like, and unlike."""

    like: Sequence[Path] = ()
    unlike: Sequence[Path] = ()


NO_EXAMPLES = Examples()

Asked = Annotated[
    str | None,
    typer.Argument(
        metavar="[QUERY]",
        help='What to find: "a beach without people"; may be left out beside --not, --like or '
        "--unlike.",
        show_default=False,
    ),
]
Excluded = Annotated[
    list[str] | None,
    typer.Option("--not", metavar="THING", help="What is to be absent; may stand again."),
]
Like = Annotated[
    list[Path] | None,
    typer.Option(
        "--like", parser=given_file, metavar="PICTURE", help="A picture to be like; again for more."
    ),
]
Unlike = Annotated[
    list[Path] | None,
    typer.Option(
        "--unlike",
        parser=given_file,
        metavar="PICTURE",
        help="A picture to be unlike; again for more.",
    ),
]
ChosenStrategy = Annotated[
    StrategyName,
    typer.Option("--strategy", help='How "not" is answered; by default the best measured.'),
]
Direction = Annotated[
    Path | None,
    typer.Option(
        "--direction",
        parser=given_file,
        metavar="FILE",
        help="Negation direction for the strategy steer.",
    ),
]
TunedFolder = Annotated[
    Path | None,
    typer.Option(
        "--tuned",
        parser=given_path,
        metavar="DIR",
        help="Settings for one's own model, as `litotes tune` writes them.",
    ),
]


def search(
    folder: PhotoFolder,
    query: Asked = None,
    exclude: Excluded = None,
    like: Like = None,
    unlike: Unlike = None,
    k: Annotated[int, typer.Option("-k", min=1, help="How many photos.")] = 10,
    strategy: ChosenStrategy = StrategyName.default,
    direction: Direction = None,
    tuned: TunedFolder = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Show plain search beside it.")
    ] = False,
    explain: Annotated[
        bool,
        typer.Option(
            "--explain",
            help="Show how the query was read, and how probably each photo shows what is asked "
            "for and nothing that is excluded.",
        ),
    ] = False,
    html: Annotated[
        Path | None,
        typer.Option(parser=given_target, metavar="FILE", help="Write a contact sheet."),
    ] = None,
    paths_only: Annotated[
        bool, typer.Option("--paths-only", help="Print the paths and nothing else.")
    ] = False,
    as_json: AsJson = False,
    model: ModelName = None,
    pretrained: Pretrained = None,
    adapter: Adapter = None,
    location: IndexPlace = None,
    device: Device = None,
) -> None:
    """Find the photos of an indexed folder that fit a sentence, or pictures given as examples."""
    examples = Examples(like or [], unlike or [])
    asked = asked_of(query, exclude, examples)
    if paths_only and (as_json or compare or explain):
        raise typer.BadParameter("--paths-only goes with neither --json, --compare nor --explain")
    if compare and any(examples):
        raise typer.BadParameter("--compare goes with words alone: plain search has no examples")
    if any(examples) and strategy not in ("default", "calibrated"):
        raise typer.BadParameter(f"--like and --unlike are for calibrated, not {strategy}")
    check_direction(direction, strategy, tuned)
    index = open_index(folder, model, pretrained, adapter, location, device)
    from litotes import strategies

    # Examples can be weighed by one strategy alone, which is then the default.
    only = any(examples) and strategy == "default"
    chosen = chosen_strategy("calibrated" if only else strategy, index.encoder, direction, tuned)
    compared = [strategies.get("plain")] if compare else []
    answers = {
        each.name: index.search(asked, k, each, **examples._asdict())
        for each in [*compared, chosen]
    }
    if explain:
        for name, results in answers.items():
            reasons = index.explain(results, asked, chosen, **examples._asdict())
            answers[name] = [
                replace(result, explanation=reason)
                for result, reason in zip(results, reasons, strict=True)
            ]
    if html is not None:
        shown = replace(asked, raw=asked.raw or _as_read(asked, examples))
        _write_sheet(html, index, shown, answers)
    if paths_only:
        print_paths(answers[chosen.name])
    elif as_json:
        # What excludes nothing is answered by plain, whatever the strategy.
        used = chosen.name if asked.is_negated or any(examples) else "plain"
        print_json(_as_document(asked, examples, used, answers[chosen.name], answers))
    else:
        _print_table(asked, examples, answers, folder, explain)


def asked_of(
    query: str | None, exclude: list[str] | None, examples: Examples = NO_EXAMPLES
) -> "Query":
    """What is asked for, before a model is loaded.

    An empty query, as an unset variable leaves it, and none with nothing beside it are wrong usage.
    """
    if query is not None and not query.strip():
        raise typer.BadParameter("the query is empty: say what to find", param_hint="QUERY")
    if query is None and not (exclude or any(examples)):
        raise typer.BadParameter("say what to find: QUERY, or what is to be absent: --not THING")
    from litotes.search.asked import join

    try:
        return join(query, exclude or [], sum(map(len, examples)))
    except LitotesError as error:
        raise typer.BadParameter(str(error)) from error


def check_direction(direction: Path | None, strategy: str, tuned: Path | None) -> None:
    """Refuse a direction that the strategy would not take."""
    if direction is not None and tuned is not None:
        raise typer.BadParameter("--tuned has a direction of its own: leave out --direction")
    if direction is not None and strategy not in ("default", "steer"):
        raise typer.BadParameter(f"--direction is for the strategy steer, not {strategy}")


def open_index(
    folder: Path,
    model: str | None,
    pretrained: str | None,
    adapter: Path | None,
    location: Path | None,
    device: str | None,
) -> "PhotoIndex":
    """The index of a folder with the encoder that options ask for."""
    from litotes.search import PhotoIndex

    spec = choose_model(
        PhotoIndex.open(folder, location=location).model, model, pretrained, adapter
    )
    return PhotoIndex.open(folder, load_model(spec, device), location=location, model=spec)


def chosen_strategy(
    name: str, encoder: "DualEncoder", direction: Path | None, tuned: Path | None
) -> "Strategy":
    """The strategy of that name for a model: steering by a direction in a file, or as tuned."""
    from litotes import strategies
    from litotes.steering import NegationDirection

    if tuned is not None:
        from litotes.evaluation.tune import tuned_strategy

        return tuned_strategy(tuned, encoder, name)
    if direction is None:
        return strategies.get(name, encoder.name)
    return replace(strategies.Steer(), direction=NegationDirection.load(direction))


def _write_sheet(html: Path, index: "PhotoIndex", query: "Query", answers: Answers) -> None:
    from litotes.search.sheet import contact_sheet

    write_named(html, contact_sheet(index, [(query, answers)]))
    typer.echo(f"contact sheet: {printable_path(html)}", err=True)


def print_paths(results: Sequence["Result"], end: bytes = b"\n") -> None:
    """Raw bytes for another program; escaped at a terminal, which they could steer."""
    for result in results:
        if sys.stdout.isatty():
            typer.echo(printable_path(result.label))
        else:
            sys.stdout.buffer.write(os.fsencode(result.label) + end)


def parsed_document(query: "Query", examples: Examples) -> dict[str, Any]:
    """How a query was read, with the examples beside it, if there are any."""
    document: dict[str, Any] = {"affirmed": query.affirmed, "negated": list(query.negated)}
    if any(examples):
        document |= {side: list(map(str, paths)) for side, paths in examples._asdict().items()}
    return document


def explained_document(
    explanation: "Explanation", query: "Query", unlike: Sequence[Path]
) -> dict[str, Any]:
    """Probabilities: of what is asked for, of what is excluded, and each of the latter."""
    names = [*({"not": part} for part in query.negated), *({"unlike": str(p)} for p in unlike)]
    return {
        "shows": explanation.shows,
        "absent": explanation.absent,
        "each_absent": [
            {**name, "probability": probability}
            for name, probability in zip(names, explanation.each, strict=True)
        ],
    }


def _as_document(
    query: "Query",
    examples: Examples,
    strategy: str,
    results: Sequence["Result"],
    answers: Answers,
) -> dict[str, Any]:
    document = {
        "query": query.raw,
        "parsed": parsed_document(query, examples),
        "strategy": strategy,
        "results": [_as_record(result, query, examples.unlike) for result in results],
    }
    if len(answers) > 1:
        document["plain"] = [
            _as_record(result, query, examples.unlike) for result in answers["plain"]
        ]
    return document


def _as_record(result: "Result", query: "Query", unlike: Sequence[Path]) -> dict[str, Any]:
    record = {
        "rank": result.rank,
        "path": result.label,
        "score": result.score,
        "width": result.width,
        "height": result.height,
    }
    if result.explanation is not None:
        record |= explained_document(result.explanation, query, unlike)
    return record


def _print_table(
    query: "Query", examples: Examples, answers: Answers, folder: Path, explain: bool
) -> None:
    console = Console()
    if query.negated or explain or any(examples):
        console.print(Text(_as_read(query, examples)))
    several = len(answers) > 1
    table = Table(box=None, header_style="bold")
    table.add_column("", justify="right", style="dim")
    for name in answers:
        for number in ["score", *(["shows", "absent"] if explain else [])]:
            table.add_column(number, justify="right")
        table.add_column(name if several else "photo", overflow="fold")
    for rank, row in enumerate(zip(*answers.values(), strict=True), start=1):
        cells = [
            cell
            for result in row
            for cell in (*_numbers(result), _linked(result, folder if several else None))
        ]
        table.add_row(str(rank), *cells)
    console.print(table)


def _as_read(query: "Query", examples: Examples) -> str:
    parts = [printable_path(query.affirmed) or "anything"]
    given = {"without": query.negated, **examples._asdict()}
    for name, things in given.items():
        if things:
            parts.append(f"{name}: {', '.join(map(printable_path, things))}")
    return ", ".join(parts)


def _numbers(result: "Result") -> list[Text]:
    numbers: list[float | None] = [result.score]
    if result.explanation is not None:
        numbers += [result.explanation.shows, result.explanation.absent]
    return [Text("–" if number is None else f"{number:.3f}") for number in numbers]


def _linked(result: "Result", within: Path | None) -> Text:
    if not result.is_photo:
        return Text(printable_path(result.label))
    shown = result.path if within is None else result.path.relative_to(within)
    return Text(printable_path(shown), style=f"link {result.path.absolute().as_uri()}")
