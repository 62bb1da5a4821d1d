"""`litotes make-benchmark`: negated retrieval and multiple choice from one's own captions."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Annotated

import typer

from litotes.cli.common import given_folder, given_path, printable_path

# Of fewer things, and of a smaller share of photographs, there is a warning.
FEW_THINGS = 10
FEW_NEGATED = 0.5


def _split_name(text: str) -> str:
    # It becomes part of file names.
    if not text or "/" in text or "\\" in text:
        raise typer.BadParameter(f"a split is a name without slashes, not {text!r}")
    return text


def make_benchmark(
    captions: Annotated[
        Path,
        typer.Argument(
            parser=given_path,
            metavar="CAPTIONS.csv",
            help="Columns image, split and caption; several captions an image.",
        ),
    ],
    images: Annotated[
        Path,
        typer.Argument(parser=given_folder, metavar="IMAGES", help="The photographs."),
    ],
    out: Annotated[
        Path,
        typer.Option(
            parser=given_path, metavar="DIR", help="Where to write; made if it is not there."
        ),
    ] = Path(),
    split: Annotated[
        str, typer.Option(parser=_split_name, metavar="NAME", help="Which part of the captions.")
    ] = "dev",
    seed: Annotated[int, typer.Option(help="Another seed, other wordings and places.")] = 0,
    min_images: Annotated[
        int, typer.Option(min=1, help="Photographs that must show a thing for it to be used.")
    ] = 5,
    pairs: Annotated[
        Path | None,
        typer.Option(
            parser=given_folder,
            metavar="SUGARCREPE",
            help="Make true and false captions in SugarCrepe's format instead, by the edits of "
            "SugarCrepe's own files in this folder.",
        ),
    ] = None,
) -> None:
    """Make negated retrieval and multiple-choice files in NegBench's format from captions."""
    from litotes.data.captions import read_captions
    from litotes.evaluation import make

    read = read_captions(captions, split)
    make.check_images(read, images)
    if pairs is not None:
        _make_pairs(captions, read, pairs, out, seed)
        return
    benchmark = make.make_benchmark(read, seed=seed, min_images=min_images)
    files = make.write_benchmark(benchmark, out, split)
    typer.echo(
        f"wrote {len(benchmark.retrieval):,} photographs' negated captions and "
        f"{len(benchmark.questions):,} questions of {len(read):,} photographs; what was left out, "
        f"and why, is in {printable_path(files[-1])}"
    )
    things = len(benchmark.log["things"])
    if things < FEW_THINGS or len(benchmark.retrieval) < FEW_NEGATED * len(read):
        typer.echo(
            f"litotes: warning: that is little: captions name {things:,} things often enough; "
            f"--min-images below {min_images} takes rarer ones, more photographs find more",
            err=True,
        )
    for file in files:
        typer.echo(printable_path(file))


def _make_pairs(
    captions: Path, read: Mapping[str, Sequence[str]], sugarcrepe: Path, out: Path, seed: int
) -> None:
    from litotes.data.captions import read_captions
    from litotes.evaluation import make_pairs

    every = read_captions(captions, None)
    source = make_pairs.Source.read(sugarcrepe, every.values())
    pairs = make_pairs.make_pairs(read, source, seed=seed)
    print_of_files = make_pairs.write_pairs(pairs, out)
    for kind, made in pairs.kinds.items():
        typer.echo(f"{kind}: {len(made):,} pairs")
    typer.echo(
        f"wrote {printable_path(out)}, fingerprint {print_of_files}; what was left out, and why, "
        f"is in {printable_path(out / make_pairs.LOG)}"
    )
