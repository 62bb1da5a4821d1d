"""Winoground (arXiv 2204.03162): two pictures and two captions of the same words, to be matched.

With s(C, I) the score of caption C for picture I: the text score asks that each picture prefers its
caption, the image score that each caption prefers its picture, the group score both. As published,
a tie is wrong. Choosing by lot reaches 1/4, 1/4 and 1/6. The blind baseline reaches 0 by how the
data is made: what prefers a caption whatever the picture is wrong on the other picture.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pydantic import BaseModel, Field, ValidationError
from torch import Tensor

from litotes.backbones.encoder import DualEncoder
from litotes.data.json_files import read_text
from litotes.data.problems import problems
from litotes.errors import DataError
from litotes.evaluation.choice import Question, fingerprint, option_scores, runs
from litotes.evaluation.record import Record
from litotes.strategies import Strategy

CHANCE = {"text score": 0.25, "image score": 0.25, "group score": round(1 / 6, 4)}


class Example(BaseModel):
    """Two pictures and their captions; ``image_0`` is the picture of ``caption_0``."""

    image_0: str = Field(min_length=1)
    image_1: str = Field(min_length=1)
    caption_0: str = Field(min_length=1)
    caption_1: str = Field(min_length=1)


@dataclass(frozen=True)
class WinogroundTask:
    """The examples of Winoground.

    Attributes:
        file: ``examples.jsonl``.
        examples: what it holds.
        images: folder of the pictures; see :func:`litotes.data.retrieval_files.reroot`.
    """

    file: Path
    examples: Sequence[Example]
    images: Path

    @classmethod
    def read(cls, file: Path, images: Path) -> "WinogroundTask":
        """Read JSON lines; a picture named without a suffix is a PNG, as published.

        Raises:
            DataError: missing or malformed; says the line.
        """
        examples = [
            _example(line, f"{file}, line {number}")
            for number, line in enumerate(read_text(file).split("\n"), 1)
            if line.strip()
        ]
        if not examples:
            raise DataError(f"{file} holds no example")
        return cls(file, examples, images)

    @property
    def questions(self) -> list[Question]:
        """Each example's two pictures, one after the other, with its two captions."""
        return [
            Question(_picture(image), (example.caption_0, example.caption_1), right)
            for example in self.examples
            for right, image in enumerate((example.image_0, example.image_1))
        ]

    def run(self, encoder: DualEncoder, strategies: Sequence[Strategy]) -> list[Record]:
        """One record a strategy, and one of the blind baseline: text, image and group score.

        Raises:
            DataError: pictures are missing, or a score is not a finite number.
        """
        questions = self.questions
        data = fingerprint(self.file)
        return [
            Record.make(
                encoder,
                task="winoground",
                split="test",
                data=data,
                outcomes={
                    name: hits.double().numpy()
                    for name, hits in winoground_hits(
                        option_scores(encoder, run, questions).reshape(-1, 2, 2)
                    ).items()
                },
                strategy=run.name,
                settings=run.settings,
            )
            for run in runs(encoder, strategies, self.images, questions, CHANCE)
        ]


def winoground_hits(scores: Tensor) -> dict[str, Tensor]:
    """Which examples are right by each score, ``(N,)``, bool.

    Args:
        scores: ``(N, 2, 2)``, of each example's pictures (rows) with its captions (columns).
    """
    own_0, false_0, false_1, own_1 = scores.flatten(1).unbind(1)
    text = (own_0 > false_0) & (own_1 > false_1)
    image = (own_0 > false_1) & (own_1 > false_0)
    return {"text score": text, "image score": image, "group score": text & image}


def _picture(name: str) -> str:
    return name if Path(name).suffix else f"{name}.png"


def _example(line: str, place: str) -> Example:
    try:
        return Example.model_validate_json(line)
    except ValidationError as error:
        raise DataError(f"{place}: is no example of Winoground: {problems(error)}") from error
