"""The command line. One file a command; heavy rooms are imported only where they are used."""

import os
import sys
import warnings
from typing import Annotated

import typer

from litotes import __version__
from litotes.cli import (
    bench,
    compare,
    convert,
    direction,
    draw,
    evaluate,
    export,
    filter,
    gradients,
    index,
    make_benchmark,
    plant,
    quadruplets,
    report,
    scenes,
    search,
    train,
    tune,
    vector,
)
from litotes.cli.common import printable
from litotes.errors import LitotesError, LitotesWarning

_show_other_warning = warnings.showwarning

app = typer.Typer(
    name="litotes",
    help='Photo search that understands "not".',
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.command()(index.index)
app.command()(search.search)
app.command("filter")(filter.filter_photos)
app.command()(vector.vector)
app.command()(train.train)
app.command()(scenes.scenes)
app.command("eval")(evaluate.evaluate)
app.command()(bench.bench)
app.command()(tune.tune)
app.command()(compare.compare)
app.command()(report.report)
app.command()(convert.convert)
app.command()(export.export)
app.command("make-benchmark")(make_benchmark.make_benchmark)
app.command()(quadruplets.quadruplets)
app.command()(plant.plant)
app.command()(draw.draw)
app.command()(gradients.gradients)
app.add_typer(direction.app, name="direction")


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"litotes {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, help="Show the version and end."
        ),
    ] = False,
) -> None:
    pass


def main() -> None:
    """Run the command line: exit status 1 for an error, 2 for wrong usage, 130 for Ctrl-C."""
    warnings.showwarning = _show_warning
    try:
        try:
            app()
        finally:
            sys.stdout.flush()
    except LitotesError as error:
        typer.echo(f"litotes: {printable(str(error))}", err=True)
        sys.exit(1)
    except BrokenPipeError:
        # The reader has left; say nothing, and let the flush at the exit say nothing either.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(1)
    except OSError as error:
        place = printable(str(error.filename or "a file"))
        typer.echo(f"litotes: {place}: {error.strerror or error}", err=True)
        sys.exit(1)
    except KeyboardInterrupt:
        sys.exit(130)


def _show_warning(
    message: Warning | str,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: object = None,
    line: str | None = None,
) -> None:
    if issubclass(category, LitotesWarning):
        typer.echo(f"litotes: warning: {printable(str(message))}", err=True)
    # Pillow warns of every oddity in a photo's metadata.
    elif f"{os.sep}PIL{os.sep}" not in filename:
        _show_other_warning(message, category, filename, lineno, None, line)
