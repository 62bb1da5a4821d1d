"""`litotes quadruplets`: training data for negation, from captioned photographs."""

import hashlib
from collections.abc import Callable, Iterable, Iterator
from enum import StrEnum
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TypeAlias

import typer

from litotes.cli.common import given_target, printable_path, resumable, shown_progress

if TYPE_CHECKING:
    from litotes.data.quadruplets import Contrast, Quadruplet
    from litotes.data.resumable import Made
    from litotes.mining.quadruplets import Negator

    Make: TypeAlias = Callable[[int], Iterator[Made]]


class Way(StrEnum):
    """How captions are made false."""

    RULE = "rule"
    LLM = "llm"


def quadruplets(
    captions: Annotated[
        Path,
        typer.Argument(
            metavar="CAPTIONS",
            exists=True,
            help="A CSV file with the columns image, split and caption, a folder that holds "
            "captions.csv, or CC-Neg's ccneg_preprocessed.pt.",
        ),
    ],
    out: Annotated[
        Path, typer.Argument(parser=given_target, metavar="OUT.jsonl", help="Where to write.")
    ],
    split: Annotated[str, typer.Option(help="Which part of the captions.")] = "train",
    count: Annotated[int, typer.Option("-n", "--count", min=1, help="How many at most.")] = 20_000,
    seed: Annotated[int, typer.Option(help="Another seed, other captions and wordings.")] = 0,
    negator: Annotated[Way, typer.Option(help="What makes captions false.")] = Way.RULE,
    llm: Annotated[
        str | None, typer.Option(metavar="MODEL", help="With --negator llm: the model.")
    ] = None,
    llm_url: Annotated[
        str | None,
        typer.Option(metavar="URL", help="Its server's API.  [default: OpenAI's]"),
    ] = None,
    contrasts: Annotated[
        bool,
        typer.Option(
            "--contrasts", help="Instead, true and false statements on what is there and lacking."
        ),
    ] = False,
) -> None:
    """Make training data for negation: a photograph, true captions of it and false ones.

    Each line of the file is a caption, the same said with a negation, and a negated one that is
    false. A run that was stopped goes on where it was when it is started again.
    """
    from litotes.data.resumable import write_resumably

    if (negator is Way.LLM) != (llm is not None):
        raise typer.BadParameter("--negator llm and --llm MODEL go together")
    if contrasts and negator is Way.LLM:
        raise typer.BadParameter("--contrasts are made by rule")
    if captions.suffix == ".pt" and (contrasts or negator is Way.LLM):
        raise typer.BadParameter("CC-Neg's file holds its own false captions")
    settings = {
        "captions": _digest(captions),
        "options": [split, count, seed, negator, llm, llm_url, contrasts],
    }
    if captions.suffix == ".pt":
        make = _from_ccneg(captions, seed)
    elif contrasts:
        make = _contrasts(captions, split, count, seed)
    else:
        make = _from_captions(captions, split, seed, _llm(llm, llm_url) if llm else None)
    with resumable(), shown_progress("made", count) as show:
        written = write_resumably(out, settings, make, count, show)
    typer.echo(
        f"wrote {written.lines:,} {'contrasts' if contrasts else 'quadruplets'} to "
        f"{printable_path(out)}; {written.left_out:,} captions were left out"
    )


def _digest(captions: Path) -> str:
    file = captions / "captions.csv" if captions.is_dir() else captions
    with file.open("rb") as content:
        return hashlib.file_digest(content, "sha256").hexdigest()


def _from_ccneg(file: Path, seed: int) -> "Make":
    from litotes.mining.quadruplets import ccneg_quadruplets

    return lambda start: _lines(ccneg_quadruplets(file, seed=seed, start=start))


def _from_captions(place: Path, split: str, seed: int, negator: "Negator | None") -> "Make":
    from litotes.data.captions import read_captions
    from litotes.mining.quadruplets import drawn_order, quadruplets, rule_negator

    pairs = drawn_order(read_captions(place, split), seed)
    negator = negator or rule_negator(pairs)
    return lambda start: _lines(quadruplets(pairs, negator, seed=seed, start=start))


def _contrasts(place: Path, split: str, count: int, seed: int) -> "Make":
    from litotes.data.captions import read_captions
    from litotes.mining.contrasts import statements

    captions = read_captions(place, split)
    # Each depends on those before it, and all are made in no time.
    return lambda start: _lines(islice(enumerate(statements(captions, count, seed)), start, None))


def _llm(model: str, url: str | None) -> "Negator":
    from litotes.language.llm import OPENAI
    from litotes.mining.llm_negator import LlmNegator

    return LlmNegator(model, url or OPENAI)


def _lines(numbered: "Iterable[tuple[int, Quadruplet | Contrast]]") -> "Iterator[Made]":
    from litotes.data.json_lines import as_line
    from litotes.data.resumable import Made

    return (Made(number, as_line(record)) for number, record in numbered)
