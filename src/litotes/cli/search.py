"""``litotes search``: find photos in words."""

import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

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
    load_model,
    print_json,
    printable_path,
)

if TYPE_CHECKING:
    from litotes.language import Query
    from litotes.search import PhotoIndex, Result
    from litotes.strategies import Strategy

Answers = dict[str, list["Result"]]


def search(
    folder: PhotoFolder,
    query: Annotated[
        str, typer.Argument(metavar="QUERY", help='What to find: "a beach without people".')
    ],
    k: Annotated[int, typer.Option("-k", min=1, help="How many photos.")] = 10,
    strategy: Annotated[
        str,
        typer.Option(
            help=f'How "not" is answered: {", ".join(list(StrategyName)[:-1])}; '
            "or default: the best measured."
        ),
    ] = "default",
    direction: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Negation direction for the strategy steer."),
    ] = None,
    compare: Annotated[
        bool, typer.Option("--compare", help="Show plain search beside it.")
    ] = False,
    html: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a contact sheet.")
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
    """Find the photos of an indexed folder that fit a sentence."""
    if not query.strip():
        raise typer.BadParameter("the query is empty: say what to find", param_hint="QUERY")
    if paths_only and (as_json or compare):
        raise typer.BadParameter("--paths-only goes with neither --json nor --compare")
    if direction is not None and strategy not in ("default", "steer"):
        raise typer.BadParameter(f"--direction is for the strategy steer, not {strategy}")
    from litotes import strategies
    from litotes.language import parse
    from litotes.search import PhotoIndex

    strategies.get(strategy)  # a wrong name is told before a model is loaded
    spec = choose_model(
        PhotoIndex.open(folder, location=location).model, model, pretrained, adapter
    )
    encoder = load_model(spec, device)
    chosen = _with_direction(direction) if direction else strategies.get(strategy, encoder.name)
    index = PhotoIndex.open(folder, encoder, location=location, model=spec)
    parsed = parse(query)
    compared = [strategies.get("plain")] if compare else []
    answers = {each.name: index.search(parsed, k, each) for each in [*compared, chosen]}
    if html is not None:
        _write_sheet(html, index, parsed, answers)
    if paths_only:
        _print_paths(answers[chosen.name])
    elif as_json:
        print_json(_as_document(parsed, chosen.name, answers))
    else:
        _print_table(parsed, answers, folder)


def _with_direction(file: Path) -> "Strategy":
    from litotes.steering import NegationDirection
    from litotes.strategies import Steer

    return replace(Steer(), direction=NegationDirection.load(file))


def _write_sheet(html: Path, index: "PhotoIndex", query: "Query", answers: Answers) -> None:
    from litotes.data.files import write_atomically
    from litotes.search.sheet import contact_sheet

    try:
        write_atomically(html, contact_sheet(index, [(query, answers)]))
    except OSError as error:
        raise typer.BadParameter(f"{html}: cannot be written ({error.strerror})") from error
    typer.echo(f"contact sheet: {printable_path(html)}", err=True)


def _print_paths(results: list["Result"]) -> None:
    """Raw bytes for another program; escaped at a terminal, which they could steer."""
    for result in results:
        if sys.stdout.isatty():
            typer.echo(printable_path(result.path))
        else:
            sys.stdout.buffer.write(os.fsencode(result.path) + b"\n")


def _as_document(query: "Query", strategy: str, answers: Answers) -> dict[str, Any]:
    document = {
        "query": query.raw,
        "parsed": {"affirmed": query.affirmed, "negated": list(query.negated)},
        "strategy": strategy,
        "results": _as_records(answers[strategy]),
    }
    if len(answers) > 1:
        document["plain"] = _as_records(answers["plain"])
    return document


def _as_records(results: list["Result"]) -> list[dict[str, Any]]:
    return [
        {
            "rank": result.rank,
            "path": str(result.path),
            "score": result.score,
            "width": result.width,
            "height": result.height,
        }
        for result in results
    ]


def _print_table(query: "Query", answers: Answers, folder: Path) -> None:
    console = Console()
    if query.negated:
        wanted = printable_path(query.affirmed) or "anything"
        console.print(Text(f"{wanted}, without: {printable_path(', '.join(query.negated))}"))
    table = Table(box=None, header_style="bold")
    table.add_column("", justify="right", style="dim")
    for name in answers:
        table.add_column("score", justify="right")
        table.add_column(name if len(answers) > 1 else "photo", overflow="fold")
    for rank, row in enumerate(zip(*answers.values(), strict=True), start=1):
        cells = [
            cell
            for result in row
            for cell in (
                Text(f"{result.score:.3f}"),
                _linked(result.path, folder if len(answers) > 1 else None),
            )
        ]
        table.add_row(str(rank), *cells)
    console.print(table)


def _linked(path: Path, within: Path | None) -> Text:
    shown = path if within is None else path.relative_to(within)
    return Text(printable_path(shown), style=f"link {path.absolute().as_uri()}")
