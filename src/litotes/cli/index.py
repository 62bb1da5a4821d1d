"""``litotes index``: make a folder of photos searchable."""

from dataclasses import asdict
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
    choose_model,
    given_path,
    load_model,
    print_json,
    printable_path,
    resumable,
)
from litotes.errors import PhotoIndexError

if TYPE_CHECKING:
    from litotes.search import IndexReport, ModelSpec


def index(
    folder: PhotoFolder,
    model: ModelName = None,
    pretrained: Pretrained = None,
    adapter: Adapter = None,
    location: IndexPlace = None,
    rebuild: Annotated[bool, typer.Option("--rebuild", help="Start from an empty index.")] = False,
    vectors: Annotated[
        Path | None,
        typer.Option(
            "--vectors",
            parser=given_path,
            metavar="FILE",
            help="Take vectors that --model made elsewhere, and encode nothing: .npy, .parquet, or "
            "a LanceDB table's folder, NAME.lance.",
        ),
    ] = None,
    paths: Annotated[
        Path | None,
        typer.Option(
            "--paths",
            parser=given_path,
            metavar="FILE",
            help="The path or id of each vector in a .npy file, one a line.",
        ),
    ] = None,
    column: Annotated[
        str | None,
        typer.Option("--column", metavar="NAME", help="The column of vectors.  [default: the one]"),
    ] = None,
    id_column: Annotated[
        str | None,
        typer.Option(
            "--id-column",
            metavar="NAME",
            help="The column of paths or ids.  [default: path, or id]",
        ),
    ] = None,
    device: Device = None,
    as_json: AsJson = False,
) -> None:
    """Make the photos in a folder, and in the folders below, searchable.

    Run it again after photos have come or gone: only what is new is read. It may be stopped at
    any moment, and goes on where it was.
    """
    if vectors is None and not (paths is None and column is None and id_column is None):
        raise typer.BadParameter("--paths, --column and --id-column go with --vectors")
    if vectors is not None and model is None:
        raise typer.BadParameter("say which model made the vectors: --model NAME")
    from litotes.search import PhotoIndex

    spec = choose_model(_stored_model(folder, location), model, pretrained, adapter)
    encoder = load_model(spec, device)
    if vectors is None:
        with resumable():
            report = PhotoIndex.build(
                folder, encoder, location=location, model=spec, rebuild=rebuild
            )
    else:
        report = PhotoIndex.adopt(
            folder,
            encoder,
            vectors,
            paths=paths,
            column=column,
            id_column=id_column,
            location=location,
            model=spec,
            rebuild=rebuild,
        )
    for path, reason in report.skipped:
        typer.echo(f"skipped {printable_path(path)}: {printable_path(reason)}", err=True)
    if as_json:
        print_json(_as_document(report, folder, spec))
    else:
        typer.echo(_as_sentence(report))
    if not report.total:
        raise PhotoIndexError(f"{folder}: none of the {len(report.skipped)} files could be indexed")


def _stored_model(folder: Path, location: Path | None) -> "ModelSpec | None":
    from litotes.search import PhotoIndex

    try:
        return PhotoIndex.open(folder, location=location).model
    # There is none, or none that can be read: indexing says so, or makes it anew.
    except PhotoIndexError:
        return None


def _as_document(report: "IndexReport", folder: Path, spec: "ModelSpec") -> dict[str, object]:
    return {
        "folder": str(folder),
        "model": asdict(spec),
        "total": report.total,
        **asdict(report),
        "skipped": [{"path": str(path), "reason": reason} for path, reason in report.skipped],
    }


def _as_sentence(report: "IndexReport") -> str:
    counts = [
        f"{count} {name}"
        for count, name in (
            (report.added, "added"),
            (report.updated, "updated"),
            (report.removed, "removed"),
            (report.unchanged, "unchanged"),
            (len(report.skipped), "skipped"),
            (report.elsewhere, "of no photo in the folder"),
        )
        if count
    ]
    what = "vectors" if report.elsewhere else "photos"
    return f"{report.total} {what} in the index: {', '.join(counts)} ({report.seconds:.1f} s)"
