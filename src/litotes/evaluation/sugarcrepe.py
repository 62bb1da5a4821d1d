"""SugarCrepe (arXiv 2306.14610) and SugarCrepe++ (arXiv 2406.11171), on pictures of COCO val2017.

SugarCrepe asks whether a caption scores above one that was made false by adding, replacing or
swapping a word. SugarCrepe++ adds a second true caption in other words: with P1, P2 true and N
false, a picture is right if both P1 and P2 score above N, and the text encoder alone is right if P1
and P2 are closer to each other than either is to N. A tie counts as its share here, of the three
scores that are compared; where nothing ties, these are the published rules.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import BaseModel, StringConstraints, TypeAdapter
from torch import Tensor

from litotes.backbones.encoder import DualEncoder
from litotes.data.json_files import read_json
from litotes.errors import DataError
from litotes.evaluation.choice import (
    Question,
    Run,
    cosines,
    fingerprint,
    right_shares,
    runs,
    share_of_best,
)
from litotes.evaluation.record import Record
from litotes.evaluation.task import query_vectors
from litotes.strategies import Strategy

SPLITS = (
    *("add_att", "add_obj", "replace_att", "replace_obj", "replace_rel"),
    *("swap_att", "swap_obj"),
)
"""Of SugarCrepe, each a file."""
PLUS_SPLITS = ("replace_att", "replace_obj", "replace_rel", "swap_att", "swap_obj")
"""Of SugarCrepe++, each a file."""

T = TypeVar("T")
_Text = Annotated[str, StringConstraints(min_length=1)]


class _Pair(BaseModel):
    filename: _Text
    caption: _Text
    negative_caption: _Text


class _Triplet(_Pair):
    caption2: _Text


_PAIRS = TypeAdapter(dict[str, _Pair])
_TRIPLETS = TypeAdapter(list[_Triplet])


@dataclass(frozen=True)
class _Splits(ABC):
    """Questions in splits, each of which is a file.

    Attributes:
        folder: of the files, ``replace_att.json`` and so on.
        splits: the questions of each split; the true captions are before the false one.
        images: folder of the pictures; see :func:`litotes.data.retrieval_files.reroot`.
    """

    folder: Path
    splits: Mapping[str, Sequence[Question]]
    images: Path

    task: ClassVar[str]
    chance: ClassVar[float]

    @property
    def questions(self) -> list[Question]:
        """Those of all splits."""
        return [question for questions in self.splits.values() for question in questions]

    def run(self, encoder: DualEncoder, strategies: Sequence[Strategy]) -> list[Record]:
        """One record a strategy, and one of the blind baseline.

        Raises:
            DataError: pictures are missing, or a score is not a finite number.
        """
        data = fingerprint(*(self.folder / f"{split}.json" for split in self.splits))
        return [
            self._record(encoder, run, data)
            for run in runs(encoder, strategies, self.images, self.questions, self.chance)
        ]

    def _record(self, encoder: DualEncoder, run: Run, data: str) -> Record:
        outcomes: dict[str, NDArray[np.float64]] = {}
        averages: dict[str, list[str]] = {}
        for name, right in self.right(encoder, run).items():
            parts = right.split([len(questions) for questions in self.splits.values()])
            of_split = {
                f"{split} {name}".strip(): part.numpy()
                for split, part in zip(self.splits, parts, strict=True)
            }
            outcomes |= of_split
            averages[f"{name} macro".strip()] = list(of_split)
        return Record.make(
            encoder,
            task=self.task,
            split="test",
            data=data,
            outcomes=outcomes,
            averages=averages,
            strategy=run.name,
            settings=run.settings,
        )

    @abstractmethod
    def right(self, encoder: DualEncoder, run: Run) -> dict[str, Tensor]:
        """How right each question is, ``(N,)`` float64, by what it was measured.

        Raises:
            DataError: a score is not a finite number; names the caption.
        """


@dataclass(frozen=True)
class SugarCrepeTask(_Splits):
    """The seven splits of SugarCrepe: the accuracy of each, and as published their mean, "macro".

    The true caption is at place 0.
    """

    task = "sugarcrepe"
    chance = 0.5

    @classmethod
    def read(cls, folder: Path, images: Path) -> "SugarCrepeTask":
        """Read the seven files, of which each maps an identifier to a pair.

        Raises:
            DataError: one is missing or malformed; says where.
        """
        splits = {
            split: [
                Question(pair.filename, (pair.caption, pair.negative_caption), right=0)
                for pair in _read(folder / f"{split}.json", _PAIRS).values()
            ]
            for split in SPLITS
        }
        return cls(folder, splits, images)

    def right(self, encoder: DualEncoder, run: Run) -> dict[str, Tensor]:
        """The share of each question's true caption in having the best score, without a name."""
        return {"": right_shares(encoder, run, self.questions)}


@dataclass(frozen=True)
class SugarCrepePlusTask(_Splits):
    """The five splits of SugarCrepe++.

    Of each split the shares right with the picture ("image-text") and of the text encoder alone
    ("text-only"), and the means of both over the splits. The blind baseline's text-only shares are
    those of the plain strategy: no picture takes part in them. The options are P1, P2 and N.
    """

    task = "sugarcrepe++"
    chance = round(1 / 3, 4)

    @classmethod
    def read(cls, folder: Path, images: Path) -> "SugarCrepePlusTask":
        """Read the five files, each a list of triplets.

        Raises:
            DataError: one is missing or malformed; says where.
        """
        splits = {
            split: [
                Question(t.filename, (t.caption, t.caption2, t.negative_caption), right=0)
                for t in _read(folder / f"{split}.json", _TRIPLETS)
            ]
            for split in PLUS_SPLITS
        }
        return cls(folder, splits, images)

    def right(self, encoder: DualEncoder, run: Run) -> dict[str, Tensor]:
        """See :func:`triplet_shares`."""
        return triplet_shares(encoder, run, self.questions)


def triplet_shares(
    encoder: DualEncoder, run: Run, questions: Sequence[Question]
) -> dict[str, Tensor]:
    """How right each triplet is, ``(N,)``, with the picture and without.

    Args:
        encoder: what is measured.
        run: who answers.
        questions: options are P1, P2, N.

    Raises:
        DataError: a score is not a finite number; names the caption.
    """
    captions = [option for question in questions for option in question.options]
    texts = query_vectors(encoder, run.strategy, captions)
    scores = cosines(run.seen, texts, captions)
    first, second, false = texts.reshape(len(questions), 3, -1).unbind(1)
    between = torch.stack(
        [(first * second).sum(1), (first * false).sum(1), (second * false).sum(1)], 1
    )
    return {
        # Both true captions are above the false one where that one is the lowest.
        "image-text": share_of_best(-scores)[:, 2],
        "text-only": share_of_best(between)[:, 0],
    }


def _read(file: Path, form: TypeAdapter[T]) -> T:
    content = read_json(file, form)
    if not content:
        raise DataError(f"{file} holds no captions")
    return content
