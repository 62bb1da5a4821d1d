"""CC-Neg (arXiv 2403.20312): a photograph, its caption, and that caption made false by negation.

Read from ``ccneg_preprocessed.pt`` as its authors publish it: a pickled dict of which
``image_paths`` and ``annotations`` are lists of equal length, and of an annotation the true caption
is ``["json"]["caption"]`` and the false one ``["sop_data"]["negative-prompt"]``. As the authors do,
the last 40,000 are evaluated, and commas are taken out of false captions.
"""

import pickle
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from pydantic import BaseModel, Field, ValidationError

from litotes.backbones.encoder import DualEncoder
from litotes.data.problems import problems
from litotes.errors import DataError
from litotes.evaluation.choice import Question, fingerprint, right_shares, runs
from litotes.evaluation.record import Record
from litotes.strategies import Strategy

EVALUATED = 40_000
"""So many at the end of the file are its evaluation split."""
CHANCE = 0.5


class _Original(BaseModel):
    caption: str = Field(min_length=1)


class _Negation(BaseModel):
    text: str = Field(alias="negative-prompt", min_length=1)


class _Annotation(BaseModel):
    original: _Original = Field(alias="json")
    negation: _Negation = Field(alias="sop_data")


@dataclass(frozen=True)
class CcNegTask:
    """The evaluation split of CC-Neg.

    Attributes:
        file: ``ccneg_preprocessed.pt``.
        questions: the true caption at place 0, the negated one at place 1.
        images: folder of the pictures; see :func:`litotes.data.retrieval_files.reroot`.
    """

    file: Path
    questions: Sequence[Question]
    images: Path

    @classmethod
    def read(cls, file: Path, images: Path) -> "CcNegTask":
        """Read the published file; nothing that is in it is executed.

        Raises:
            DataError: missing, damaged, holding more than plain data, or of another layout; says
                which annotation, counted from 0.
        """
        paths, annotations = _lists(file, _load(file))
        start = max(0, len(paths) - EVALUATED)
        return cls(
            file,
            [
                _question(paths[i], annotations[i], f"{file}, annotation {i}")
                for i in range(start, len(paths))
            ],
            images,
        )

    def run(self, encoder: DualEncoder, strategies: Sequence[Strategy]) -> list[Record]:
        """One record a strategy, and one of the blind baseline: how often the true caption wins.

        Raises:
            DataError: pictures are missing, or a score is not a finite number.
        """
        data = fingerprint(self.file)
        return [
            Record.make(
                encoder,
                task="cc-neg",
                split="test",
                data=data,
                outcomes={"accuracy": right_shares(encoder, run, self.questions).numpy()},
                strategy=run.name,
                settings=run.settings,
            )
            for run in runs(encoder, strategies, self.images, self.questions, CHANCE)
        ]


def _load(file: Path) -> Any:
    try:
        return torch.load(file, map_location="cpu", weights_only=True)
    except OSError as error:
        raise DataError(f"cannot read {file}: {error}") from error
    except pickle.UnpicklingError as error:
        raise DataError(
            f"{file}: holds more than plain data, or is damaged. A pickle that holds more can run "
            f"any code when it is opened, so it is refused; CC-Neg's own file is plain"
        ) from error
    # Cut or otherwise damaged files make the reader raise nearly anything.
    except Exception as error:
        raise DataError(f"{file}: is damaged or cut short ({error})") from error


def _lists(file: Path, content: Any) -> tuple[list[Any], list[Any]]:
    names = ("image_paths", "annotations")
    found = [content.get(name) for name in names] if isinstance(content, dict) else [None, None]
    paths, annotations = found
    if not isinstance(paths, list) or not isinstance(annotations, list):
        raise DataError(f"{file}: must be a dict that holds the lists {' and '.join(names)}")
    if len(paths) != len(annotations) or not paths:
        raise DataError(
            f"{file}: holds {len(paths)} image_paths and {len(annotations)} annotations; "
            f"there must be as many of one as of the other, and at least one"
        )
    return paths, annotations


def _question(path: Any, annotation: Any, place: str) -> Question:
    if not isinstance(path, str) or not path:
        raise DataError(f"{place}: its image_paths must be the path of a picture, not {path!r}")
    try:
        read = _Annotation.model_validate(annotation)
    except ValidationError as error:
        raise DataError(f"{place}: {problems(error)}") from error
    return Question(path, (read.original.caption, read.negation.text.replace(",", "")), right=0)
