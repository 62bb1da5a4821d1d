"""A benchmark of one's own: NegBench's two files, made from human captions alone.

Negated retrieval adds to every caption of a photograph that something usual is not there. Multiple
choice asks three questions a photograph, whose right options affirm what is there (positive), deny
what is not (negative), or do both (hybrid); the three wrong ones deny the former, affirm the
latter, or exchange the two. What is there and what is not is found by
:func:`~litotes.mining.things.find_content`; what is not there is chosen among the things that
usually accompany what the captions name. A thing is asked about as there and as lacking equally
often, as far as can be, so that little can be guessed without the photograph.

Formats: NegBench (arXiv 2501.09425).
"""

import csv
import io
import json
import random
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from litotes.data.files import write_atomically
from litotes.errors import DataError
from litotes.language.phrasing import caption as tidy
from litotes.mining.things import Content, Thing, find_content

Kind = Literal["positive", "negative", "hybrid"]
KINDS: tuple[Kind, ...] = ("positive", "negative", "hybrid")
MCQ_COLUMNS = (
    "image_path",
    "correct_answer",
    *(f"caption_{i}" for i in range(4)),
    "correct_answer_template",
)
RETRIEVAL_COLUMNS = ("filepath", "captions")

#: Of the things that a photograph lacks, so many of the most usual are used.
COMPANIONS = 6
#: A thing is usual from this lift on, for negated captions; and for questions, where it suits the
#: photograph better than so many of those that lack it.
MIN_LIFT = 1.0
MIN_RANK = 0.5
#: A thing is asked about as there at most so much more often than as lacking.
MAX_EXCESS = 10

# Tokenised captions have "a man 's hat".
_DETACHED = re.compile(r" (?=(?:'s|'re|n't)\b)")
# {bare} stands behind "no", {phrase} has its article, {is_} agrees.
_BEFORE_OR_AFTER = (
    "{caption}, with no {bare}.",
    "{caption}, without {phrase}.",
    "{caption}. There {is_} no {bare}.",
    "{caption}, but no {bare} can be seen.",
    "{caption}, and {phrase} {is_} nowhere in sight.",
    "There {is_} no {bare} in this picture. {caption}.",
    "No {bare} here: {caption}.",
    "In a scene without {phrase}: {caption}.",
)
# What affirms, what denies, and what does both.
_FRAMES = (
    ("The photo shows {a}.", "The photo does not show {b}.", "The photo shows {a} but not {b}."),
    (
        "There {a_is} {a} in this picture.",
        "There {b_is} no {b_bare} in this picture.",
        "There {a_is} {a} in this picture, but no {b_bare}.",
    ),
    ("{a} can be seen.", "{b} cannot be seen.", "{a} can be seen, but {b} cannot."),
    (
        "This is a scene with {a}.",
        "This is a scene without {b}.",
        "This is a scene with {a} and without {b}.",
    ),
    (
        "{a} {a_is} in view.",
        "No {b_bare} {b_is} in view.",
        "{a} {a_is} in view, and no {b_bare}.",
    ),
    (
        "You can spot {a} here.",
        "You cannot spot {b} here.",
        "You can spot {a} here, but you cannot spot {b}.",
    ),
)


class Question(NamedTuple):
    """One multiple-choice question; ``correct`` counts from 0."""

    image: str
    correct: int
    options: tuple[str, ...]
    kind: Kind


@dataclass(frozen=True)
class Benchmark:
    """What was made.

    Attributes:
        retrieval: each photograph and its negated captions.
        questions: as many of each kind.
        log: the seed, the things, and how much was left out and why.
    """

    retrieval: Sequence[tuple[str, list[str]]]
    questions: Sequence[Question]
    log: dict[str, Any]


def make_benchmark(
    captions: Mapping[str, Sequence[str]], *, seed: int = 0, min_images: int = 5
) -> Benchmark:
    """Make negated captions and questions; the same seed and captions make the same.

    Args:
        captions: of each photograph.
        seed: of the wordings, the choice among equally good things, and the options' places.
        min_images: photographs that must show a thing for it to be used.

    Raises:
        DataError: no photograph has two captions, no thing is found, or none is ever lacking.
    """
    content = find_content(list(captions.values()), min_images)
    usual = _most_usual(np.where(content.lacking, content.company, 0), MIN_LIFT)
    if not any(usual):
        raise DataError(
            "no thing is surely lacking where it would be usual: more photographs are needed, or "
            "more captions of each"
        )
    rng = random.Random(seed)
    retrieval = [
        (image, _negated(texts, [content.things[j] for j in lacking], rng))
        for (image, texts), lacking in zip(captions.items(), usual, strict=True)
        if lacking
    ]
    asked = _Asked(Counter(), Counter())
    questions = _questions(list(captions), content, asked, rng)
    log = {
        "seed": seed,
        "min_images": min_images,
        "photographs": len(captions),
        "captions": sum(map(len, captions.values())),
        "negated_retrieval": {"photographs": len(retrieval)},
        "mcq": {"questions": len(questions), "each kind": len(questions) // len(KINDS)},
        "left_out": _left_out(captions, content, usual, asked),
        "things": _things(content, asked),
    }
    return Benchmark(retrieval, questions, log)


def write_benchmark(benchmark: Benchmark, folder: Path, split: str) -> list[Path]:
    """Write ``negated_retrieval_{split}.csv``, ``mcq_{split}.csv`` and the log beside them.

    Args:
        benchmark: what was made.
        folder: made if it is not there.
        split: stands in the files' names and in the log.

    Returns:
        The three files.

    Raises:
        DataError: a file of that name holds something else.
        OSError: a file cannot be written; none is ever half written.
    """
    contents = {
        f"negated_retrieval_{split}.csv": _csv(
            RETRIEVAL_COLUMNS, [(image, repr(texts)) for image, texts in benchmark.retrieval]
        ),
        f"mcq_{split}.csv": _csv(
            MCQ_COLUMNS, [(q.image, q.correct, *q.options, q.kind) for q in benchmark.questions]
        ),
        f"make_benchmark_{split}.json": json.dumps({"split": split} | benchmark.log, indent=2),
    }
    return write_new(folder, contents)


def write_new(folder: Path, contents: Mapping[str, str]) -> list[Path]:
    """Write files into a folder, which is made if it is not there; none is lost to another.

    Args:
        folder: of the files.
        contents: of each, by its name.

    Returns:
        The files.

    Raises:
        DataError: a file of that name holds something else.
        OSError: a file cannot be written; none is ever half written.
    """
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in contents.items():
        file = folder / name
        if file.exists() and file.read_bytes() != text.encode():
            raise DataError(
                f"{file} is of other captions, settings or another seed: remove it, or choose "
                f"another folder"
            )
    for name, text in contents.items():
        write_atomically(folder / name, text)
    return [folder / name for name in contents]


def check_images(captions: Mapping[str, Sequence[str]], images: Path) -> None:
    """Make sure that every captioned photograph is there.

    Raises:
        DataError: some are missing; names the first, and says how many.
    """
    missing = [image for image in captions if not (images / image).is_file()]
    if missing:
        raise DataError(
            f"{len(missing):,} of {len(captions):,} pictures are missing; the first is "
            f"{images / missing[0]}"
        )


def _csv(columns: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    writer.writerows(rows)
    return text.getvalue()


def _most_usual(usual: NDArray[np.float64], least: float) -> list[list[int]]:
    """Of each photograph, the most usual things ``(photographs, things)`` beyond the least."""
    order = np.argsort(-usual, axis=1, kind="stable")[:, :COMPANIONS]
    return [
        [int(j) for j in best if row[j] > least] for best, row in zip(order, usual, strict=True)
    ]


def _ranks(content: Content) -> NDArray[np.float64]:
    """``(photographs, things)``: how many of the photographs that lack a thing suit it less.

    In shares; 0 where a photograph may not lack it. By lifts, things that are often shown would
    hardly ever be said to be lacking, and their presence could be guessed.
    """
    ranks = np.zeros(content.company.shape)
    for j, lacking in enumerate(content.lacking.T):
        order = np.argsort(content.company[lacking, j], kind="stable")
        ranks[np.flatnonzero(lacking)[order], j] = (np.arange(len(order)) + 1) / len(order)
    return ranks


# --- negated captions -------------------------------------------------------------------------


def _negated(texts: Sequence[str], lacking: Sequence[Thing], rng: random.Random) -> list[str]:
    """Every caption with a clause that denies a thing, no thing twice before all had a turn."""
    things = rng.sample(lacking, len(lacking))
    frames = rng.sample(_BEFORE_OR_AFTER, len(_BEFORE_OR_AFTER))
    return [
        _negate(text, things[i % len(things)], frames[i % len(frames)])
        for i, text in enumerate(texts)
    ]


def _negate(text: str, thing: Thing, frame: str) -> str:
    caption = _DETACHED.sub("", tidy(text))
    return frame.format(
        caption=caption[:1].upper() + caption[1:],
        bare=thing.bare,
        phrase=thing.phrase,
        is_=_is(thing),
    )


def _is(thing: Thing) -> str:
    return "are" if thing.plural else "is"


# --- questions --------------------------------------------------------------------------------


class _Asked(NamedTuple):
    """How often each thing was asked about as there, and as lacking."""

    there: Counter[int]
    lacking: Counter[int]

    def excess(self, thing: int) -> int:
        return self.there[thing] - self.lacking[thing]


def _questions(
    images: Sequence[str],
    content: Content,
    asked: _Asked,
    rng: random.Random,
) -> list[Question]:
    """Three questions on each photograph that shows one thing and lacks another; counts them."""
    questions = []
    companions = _most_usual(_ranks(content), MIN_RANK)
    for image, row, lacking in zip(images, content.shown, companions, strict=True):
        # What is hardly ever lacking would be guessed without the photograph.
        there = [j for j in np.flatnonzero(row).tolist() if asked.excess(j) < MAX_EXCESS]
        if not there or not lacking:
            continue
        for kind in KINDS:
            a, b = _choose(there, lacking, asked, rng)
            options = _options(content.things[a], content.things[b], kind, rng.choice(_FRAMES))
            places = rng.sample(range(4), 4)
            questions.append(
                Question(image, places.index(0), tuple(options[i] for i in places), kind)
            )
    return questions


def _choose(
    there: Sequence[int], lacking: Sequence[int], asked: _Asked, rng: random.Random
) -> tuple[int, int]:
    """The pair that best evens out how often things were asked about either way."""
    a = min(there, key=lambda j: (asked.excess(j), rng.random()))
    b = max(lacking, key=lambda j: (asked.excess(j), rng.random()))
    asked.there[a] += 1
    asked.lacking[b] += 1
    return a, b


def _options(a: Thing, b: Thing, kind: Kind, frame: tuple[str, str, str]) -> list[str]:
    """The right option of a photograph that shows ``a`` and lacks ``b``, then the wrong ones."""
    affirms, denies, both = frame
    right = {"positive": affirms, "negative": denies, "hybrid": both}[kind]
    return [
        _say(right, a, b),
        _say(affirms, b, a),
        _say(denies, b, a),
        _say(both, b, a),
    ]


def _say(frame: str, a: Thing, b: Thing) -> str:
    text = frame.format(a=a.phrase, a_is=_is(a), b=b.phrase, b_bare=b.bare, b_is=_is(b))
    return text[:1].upper() + text[1:]


# --- the log ----------------------------------------------------------------------------------


def _left_out(
    captions: Mapping[str, Sequence[str]],
    content: Content,
    usual: Sequence[Sequence[int]],
    asked: _Asked,
) -> dict[str, Any]:
    shown, lacking = int(content.shown.sum()), int(content.lacking.sum())
    return {
        "nouns": {
            # The rare ones are thousands: counted, not listed.
            reason: {"count": len(words)} | ({} if reason in _UNLISTED else {"words": words})
            for reason, words in content.dropped.items()
        },
        "photograph–thing pairs": {
            "all": content.shown.size,
            "shown": shown,
            "lacking": lacking,
            "open: named once or hinted at": content.shown.size - shown - lacking,
        },
        "photographs": {
            "with one caption": sum(len(texts) < 2 for texts in captions.values()),
            "without negated captions: no usual thing is surely lacking": usual.count([]),
            "without questions: show nothing that is lacking elsewhere often enough": (
                len(captions) - asked.there.total() // len(KINDS)
            ),
        },
    }


_UNLISTED = frozenset({"too few photographs"})


def _things(content: Content, asked: _Asked) -> list[dict[str, Any]]:
    return [
        {
            "name": thing.phrase,
            "shown": int(content.shown[:, j].sum()),
            "lacking": int(content.lacking[:, j].sum()),
            "asked as there": asked.there[j],
            "asked as lacking": asked.lacking[j],
        }
        for j, thing in enumerate(content.things)
    ]
