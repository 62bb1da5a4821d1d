"""NegBench's multiple choice (arXiv 2501.09425): one picture, four captions, one of them true.

The true caption affirms ("positive"), denies ("negative") or does both ("hybrid"). NegBench's own
files keep the right option at place 0, where its argmax counts every tie as right; here a tie
counts as its share. Which kind of wrong caption was chosen is told by the caption's words, not by
its place, so that shuffled files are read alike.

Pictures only: NegBench's videos and medical files are refused.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from litotes.backbones.encoder import DualEncoder
from litotes.data.csv_files import read_rows
from litotes.errors import DataError
from litotes.evaluation.choice import (
    Question,
    Run,
    fingerprint,
    option_scores,
    runs,
    share_of_best,
)
from litotes.evaluation.record import Record
from litotes.language import Query, has_negation, parse_all
from litotes.strategies import Strategy

CAPTIONS = ("caption_0", "caption_1", "caption_2", "caption_3")
COLUMNS = ("image_path", "correct_answer", *CAPTIONS, "correct_answer_template")
CHANCE = 1 / len(CAPTIONS)
TYPES = ("positive", "negative", "hybrid")
"""Of questions, by their right option."""
KINDS = ("affirmed", "negated", "hybrid")
"""Of options, by their words."""

_TYPES = {
    **dict.fromkeys(("positive", "affirmed", "affirmation", "affirmative"), "positive"),
    **dict.fromkeys(("negative", "negated", "negation"), "negative"),
    "hybrid": "hybrid",
}
_VIDEO_SUFFIXES = {".mp4", ".avi", ".mov", ".mkv", ".webm", ".m4v", ".npy"}
_VIDEO_COLUMNS = ("video", "npy")
# NegBench's two medical sets, and columns of CheXpert's own tables.
_MEDICAL = ("chexpert", "ham10000", "no finding", "pleural effusion", "frontal/lateral")


@dataclass(frozen=True)
class TypedQuestion(Question):
    """A question of which it is known what its right option does.

    Attributes:
        type: one of :data:`TYPES`.
    """

    type: str


@dataclass(frozen=True)
class MultipleChoiceTask:
    """Four captions a picture, in NegBench's format.

    Attributes:
        file: the CSV.
        questions: what it holds.
        images: folder of the pictures; see :func:`litotes.data.retrieval_files.reroot`.
    """

    file: Path
    questions: Sequence[TypedQuestion]
    images: Path

    @classmethod
    def read(cls, file: Path, images: Path) -> "MultipleChoiceTask":
        """Read a CSV with NegBench's columns, :data:`COLUMNS`; others are passed over.

        Raises:
            DataError: missing, malformed, or of videos or medical pictures; says the line and
                the column.
        """
        rows = read_rows(file, COLUMNS, partial(_refuse_other_kinds, file))
        questions = [_question(row, f"{file}, line {line}") for line, row in rows]
        if not questions:
            raise DataError(f"{file} holds no question")
        return cls(file, questions, images)

    def run(self, encoder: DualEncoder, strategies: Sequence[Strategy]) -> list[Record]:
        """One record a strategy, and one of the blind baseline.

        Accuracy by type ("mcq positive" and so on), their mean "mcq macro", and over all
        questions "mcq overall"; and how often a wrong option was chosen that is of each kind
        ("chose affirmed wrongly" and so on), which with "mcq overall" sum to 1.

        Raises:
            DataError: pictures are missing, or a score is not a finite number.
        """
        kinds = option_kinds([option for question in self.questions for option in question.options])
        data = fingerprint(self.file)
        return [
            self._record(encoder, run, kinds, data)
            for run in runs(encoder, strategies, self.images, self.questions, CHANCE)
        ]

    def _record(self, encoder: DualEncoder, run: Run, kinds: NDArray[np.str_], data: str) -> Record:
        shares = share_of_best(option_scores(encoder, run, self.questions))
        outcomes = self._outcomes(shares, kinds.reshape(tuple(shares.shape)))
        return Record.make(
            encoder,
            task="multiple choice",
            split=self.file.stem,
            data=data,
            outcomes=outcomes,
            averages={"mcq macro": [f"mcq {t}" for t in TYPES if f"mcq {t}" in outcomes]},
            strategy=run.name,
            settings=run.settings,
        )

    def _outcomes(self, shares: Tensor, kinds: NDArray[np.str_]) -> dict[str, NDArray[np.float64]]:
        """Values of the questions, from the options' shares ``(N, 4)`` and kinds ``(N, 4)``."""
        right = torch.tensor([[question.right] for question in self.questions])
        types = np.array([question.type for question in self.questions])
        won = shares.gather(1, right)[:, 0].numpy()
        wrong = shares.scatter(1, right, 0.0).numpy()
        return {
            **{f"mcq {t}": won[types == t] for t in TYPES if t in types},
            "mcq overall": won,
            **{f"chose {kind} wrongly": (wrong * (kinds == kind)).sum(1) for kind in KINDS},
        }


def option_kinds(captions: Sequence[str]) -> NDArray[np.str_]:
    """Which of :data:`KINDS` each caption is, ``(N,)``.

    It is hybrid if `parse` finds something affirmed beside what is excluded, and negated if it
    finds nothing, or cannot read the negation that is there.
    """
    unique = list(dict.fromkeys(captions))
    parsed = dict(zip(unique, parse_all(unique), strict=True))
    return np.array([_kind(parsed[caption]) for caption in captions])


def _kind(query: Query) -> str:
    if not has_negation(query.raw):
        return "affirmed"
    return "hybrid" if query.is_negated and query.affirmed else "negated"


def _refuse_other_kinds(file: Path, names: Sequence[str]) -> None:
    place = f"{file}, line 1"
    for name in names:
        if any(word in name.lower() for word in _VIDEO_COLUMNS):
            raise DataError(f"{place}: the column {name!r} is of videos; only pictures are read")
    _refuse_medical(place, file.name, *names)


def _refuse_medical(place: str, *texts: str) -> None:
    for text in texts:
        if any(word in text.lower() for word in _MEDICAL):
            raise DataError(
                f"{place}: {text!r} says that the pictures are medical; NegBench's medical "
                f"questions are not among the tasks, only those on photographs"
            )


def _question(row: Mapping[str, str], place: str) -> TypedQuestion:
    image, answer, template = row["image_path"], row["correct_answer"], row[COLUMNS[-1]]
    if Path(image).suffix.lower() in _VIDEO_SUFFIXES:
        raise DataError(f"{place}: 'image_path' is the video {image!r}; only pictures are read")
    _refuse_medical(place, image, template)
    places = [str(i) for i in range(len(CAPTIONS))]
    if answer.strip() not in places:
        raise DataError(
            f"{place}: 'correct_answer' must be one of {', '.join(places)}, not {answer!r}"
        )
    kind = _TYPES.get(template.strip().lower())
    if kind is None:
        raise DataError(
            f"{place}: {COLUMNS[-1]!r} must be one of {', '.join(TYPES)}, not {template!r}"
        )
    return TypedQuestion(
        image=image,
        options=tuple(row[column] for column in CAPTIONS),
        right=int(answer),
        type=kind,
    )
