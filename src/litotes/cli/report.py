"""`litotes report`: records as a page of tables and plots."""

from pathlib import Path
from typing import Annotated

import typer

from litotes.cli.common import given_path, given_target, printable, printable_path


def report(
    records: Annotated[
        list[Path],
        typer.Argument(parser=given_path, metavar="RECORDS...", help="Files that --out wrote."),
    ],
    html: Annotated[
        Path | None,
        typer.Option(parser=given_target, metavar="FILE", help="Write one HTML page, with plots."),
    ] = None,
    md: Annotated[
        Path | None,
        typer.Option(
            parser=given_target, metavar="FILE", help="Write Markdown.  [default: print it]"
        ),
    ] = None,
    base: Annotated[
        str | None,
        typer.Option(
            metavar="MODEL",
            help="Compare every record with this model's plain one.  [default: with its own "
            "model's]",
        ),
    ] = None,
) -> None:
    """Tables of records: each method against its base, and beside it what papers print."""
    from litotes.data.files import write_atomically
    from litotes.evaluation.record import read_records
    from litotes.evaluation.report import markdown_report, sections

    found = sections([record for file in records for record in read_records(file)], base)
    if html is not None:
        from litotes.evaluation.html import html_report

        write_atomically(html, html_report(found))
        typer.echo(f"wrote {printable_path(html)}", err=True)
    if md is not None:
        write_atomically(md, markdown_report(found))
        typer.echo(f"wrote {printable_path(md)}", err=True)
    if html is None and md is None:
        typer.echo(printable(markdown_report(found)))
