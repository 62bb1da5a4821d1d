"""``litotes filter``: every photo that matches, for curating a collection."""

import csv
import io
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from litotes.cli.common import (
    Adapter,
    AsJson,
    Device,
    IndexPlace,
    ModelName,
    PhotoFolder,
    Pretrained,
    given_path,
    given_target,
    print_json,
    printable_path,
    write_named,
)
from litotes.cli.search import (
    Asked,
    Examples,
    Excluded,
    Like,
    Unlike,
    asked_of,
    explained_document,
    open_index,
    parsed_document,
    print_paths,
)

if TYPE_CHECKING:
    from litotes.language import Query
    from litotes.search import PhotoIndex, Result

STDOUT = Path("-")
#: Where nothing matches, the surest of so many is told.
NEAREST = 50


def filter_photos(
    folder: PhotoFolder,
    query: Asked = None,
    exclude: Excluded = None,
    like: Like = None,
    unlike: Unlike = None,
    min_probability: Annotated[
        float,
        typer.Option(min=0, max=1, help="How surely a photo has to match."),
    ] = 0.5,
    null: Annotated[
        bool, typer.Option("-0", "--null", help="End each path with a zero byte, for xargs -0.")
    ] = False,
    table: Annotated[
        Path | None,
        typer.Option(
            "--csv",
            parser=given_target,
            metavar="FILE|-",
            help="Write path, probability, shows, absent.",
        ),
    ] = None,
    copy: Annotated[
        Path | None,
        typer.Option("--copy", parser=given_path, metavar="FOLDER", help="Copy them there."),
    ] = None,
    link: Annotated[
        Path | None,
        typer.Option(
            "--link", parser=given_path, metavar="FOLDER", help="Make symbolic links there."
        ),
    ] = None,
    as_json: AsJson = False,
    model: ModelName = None,
    pretrained: Pretrained = None,
    adapter: Adapter = None,
    location: IndexPlace = None,
    device: Device = None,
) -> None:
    """List every photo of an indexed folder that shows what is asked for, best first.

    Exit status 1 if there is none.
    """
    examples = Examples(like or [], unlike or [])
    asked = asked_of(query, exclude, examples)
    if sum([null, as_json, table == STDOUT]) > 1:
        raise typer.BadParameter("only one of --null, --json and --csv - can go to stdout")
    for to in (copy, link):
        if to is not None and to.resolve().is_relative_to(folder.resolve()):
            raise typer.BadParameter(
                f"{printable_path(to)!r} lies in the folder of the photos: they would be indexed "
                "there again"
            )
    index = open_index(folder, model, pretrained, adapter, location, device)
    found = index.filter(asked, min_probability, **examples._asdict())
    if table is not None:
        _write_csv(table, found)
    for to, is_link in ((copy, False), (link, True)):
        if to is not None:
            _gather(found, to, is_link)
    if as_json:
        print_json(_as_document(index, asked, examples, min_probability, found))
    elif null or (table is None and copy is None and link is None):
        print_paths(found, b"\0" if null else b"\n")
    if sys.stderr.isatty():
        typer.echo(f"{len(found):,} of {len(index):,} photos", err=True)
    if not found:
        nearest = index.search(asked, NEAREST, **examples._asdict())
        reasons = index.explain(nearest, asked, **examples._asdict())
        best = max(why.probability for why in reasons)
        typer.echo(
            f"no photo reaches {min_probability:g}: of the nearest the surest is at {best:.4f}",
            err=True,
        )
        raise typer.Exit(1)


def _as_document(
    index: "PhotoIndex",
    query: "Query",
    examples: Examples,
    min_probability: float,
    found: Sequence["Result"],
) -> dict[str, object]:
    return {
        "query": query.raw,
        "parsed": parsed_document(query, examples),
        "min_probability": min_probability,
        "photos": len(index),
        "matches": [
            {"path": result.label, "probability": result.score}
            | (
                explained_document(result.explanation, query, examples.unlike)
                if result.explanation is not None
                else {}
            )
            for result in found
        ],
    }


def _write_csv(place: Path, found: Sequence["Result"]) -> None:
    at_terminal = place == STDOUT and sys.stdout.isatty()
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["path", "probability", "shows", "absent"])
    for result in found:
        why = result.explanation
        assert why is not None
        path = printable_path(result.label) if at_terminal else result.label
        numbers = (result.score, why.shows, why.absent)
        writer.writerow([path, *("" if n is None else f"{n:.6g}" for n in numbers)])
    # File names need not be valid text: their bytes are written as they are.
    content = text.getvalue().encode("utf-8", "surrogateescape")
    if place == STDOUT:
        sys.stdout.buffer.write(content)
        return
    write_named(place, content)


def _gather(found: Sequence["Result"], to: Path, link: bool) -> None:
    from litotes.search.gather import gather

    gathered = gather(found, to, link=link)
    for label, reason in gathered.left_out:
        typer.echo(f"left out {printable_path(label)}: {printable_path(reason)}", err=True)
    there = f", {gathered.there:,} were there already" if gathered.there else ""
    left = f", {len(gathered.left_out):,} left out" if gathered.left_out else ""
    made = "linked" if link else "copied"
    typer.echo(f"{gathered.made:,} {made} to {printable_path(to)}{there}{left}", err=True)
