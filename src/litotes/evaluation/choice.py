"""Choosing among the captions of a picture, scored fairly; what all such tasks share.

A question is a picture and a few captions, its options. Of k options that score best together each
wins 1/k. So the place of the right option cannot matter, and options are scored in the file's
order, not shuffled; and an encoder that gives every caption the same vector reaches exactly what
choosing by lot reaches.

Beside the strategies stands a blind baseline, which compares every caption with the mean vector of
all the pictures: its scores depend on the words alone. What it gets right, a benchmark gives away
to whoever never looks.
"""

import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from litotes.backbones.encoder import DualEncoder
from litotes.backbones.vectors import image_vectors, text_vectors
from litotes.data.retrieval_files import reroot
from litotes.evaluation.task import check_finite, query_vectors, strategy_settings
from litotes.language import Query, parse_all
from litotes.strategies import ByVector, Images, Plain, Strategy

BLIND = "blind"
"""How records call the baseline that sees no picture."""
# The options of so many pictures are compared at once.
CHUNK = 1024


@dataclass(frozen=True)
class Question:
    """A picture, and the captions to choose from.

    Attributes:
        image: the picture's path as the data set has it.
        options: the captions; every question of a task has equally many.
        right: which of them is true of the picture.
    """

    image: str
    options: tuple[str, ...]
    right: int


@dataclass(frozen=True)
class Run:
    """One row of a table: who answers the questions.

    Attributes:
        name: of the strategy, or :data:`BLIND`.
        strategy: how captions are encoded.
        settings: as the record has them.
        images: the pictures.
        rows: which of them each question is about ``(N,)``.
    """

    name: str
    strategy: Strategy
    settings: dict[str, Any]
    images: Images
    rows: Tensor

    @property
    def seen(self) -> Tensor:
        """The vector of each question's picture ``(N, d)``."""
        return self.images.vectors[self.rows]


def runs(
    encoder: DualEncoder,
    strategies: Sequence[Strategy],
    folder: Path,
    questions: Sequence[Question],
    chance: float | dict[str, float],
) -> list[Run]:
    """The strategies, and after them the blind baseline.

    Args:
        encoder: what is measured.
        strategies: each sees the questions' pictures.
        folder: where the pictures are; see :func:`litotes.data.retrieval_files.reroot`.
        questions: in the order of the data.
        chance: what choosing by lot reaches, for the settings.

    Raises:
        DataError: pictures are missing; names the first and says how many.
    """
    place = {name: i for i, name in enumerate(dict.fromkeys(q.image for q in questions))}
    images = Images(image_vectors(encoder, picture_paths(folder, questions)))
    rows = torch.tensor([place[question.image] for question in questions])
    nothing = Images(images.vectors.mean(0, keepdim=True))
    return [
        *(
            Run(s.name, s, strategy_settings(s) | {"chance": chance}, images, rows)
            for s in strategies
        ),
        Run(BLIND, Plain(), {"chance": chance}, nothing, torch.zeros_like(rows)),
    ]


def picture_paths(folder: Path, questions: Sequence[Question]) -> list[Path]:
    """The questions' pictures, each once, in the order of the data.

    Args:
        folder: where they are; see :func:`litotes.data.retrieval_files.reroot`.
        questions: whose pictures.
    """
    return [reroot(folder, name) for name in dict.fromkeys(q.image for q in questions)]


def option_scores(encoder: DualEncoder, run: Run, questions: Sequence[Question]) -> Tensor:
    """How well each option describes its question's picture, ``(N, options)``.

    Where no option of a question denies anything, cosines.

    Raises:
        DataError: a score is not a finite number; names the caption.
    """
    options = [question.options for question in questions]
    return choice_scores(encoder, run.strategy, run.images, run.rows, options)


def choice_scores(
    encoder: DualEncoder,
    strategy: Strategy,
    images: Images,
    rows: Tensor,
    options: Sequence[Sequence[str]],
    read: Callable[[Sequence[str]], list[Query]] = parse_all,
) -> Tensor:
    """How well each option describes a question's picture ``(N, M)``.

    Args:
        encoder: what is measured.
        strategy: how options are answered.
        images: all pictures.
        rows: which of them each question is about ``(N,)``.
        options: of each question, M captions.
        read: takes captions apart.

    Raises:
        DataError: a score is not a finite number; names the caption.
    """
    captions = [caption for group in options for caption in group]
    if isinstance(strategy, ByVector):
        vectors = query_vectors(encoder, strategy, captions, read)
        return cosines(images.vectors[rows], vectors, captions)
    queries = {query.raw: query for query in read(list(dict.fromkeys(captions)))}
    made = strategy.statements(list(queries.values()), encoder, images)
    place = {text: i for i, text in enumerate(queries)}
    said = torch.tensor([place[caption] for caption in captions])
    weighed = cosines(made.images[rows], made.weights[said], captions)
    weighed += made.offsets[said].view_as(weighed)
    negated = [any(queries[caption].is_negated for caption in group) for group in options]
    if all(negated):
        return weighed
    plain = cosines(images.vectors[rows], text_vectors(encoder, captions), captions)
    return torch.where(torch.tensor(negated)[:, None], weighed, plain)


def right_shares(encoder: DualEncoder, run: Run, questions: Sequence[Question]) -> Tensor:
    """The share of each question's right option in having the best score, ``(N,)`` float64.

    Raises:
        DataError: a score is not a finite number; names the caption.
    """
    right = torch.tensor([[question.right] for question in questions])
    return share_of_best(option_scores(encoder, run, questions)).gather(1, right)[:, 0]


def cosines(images: Tensor, texts: Tensor, captions: Sequence[str]) -> Tensor:
    """Each picture with its own captions only, ``(N, M)``.

    Args:
        images: vectors ``(N, d)``.
        texts: vectors ``(N * M, d)``, the M captions of a picture one after the other.
        captions: what they say, for the error.

    Raises:
        DataError: a score is not a finite number; names the caption.
    """
    options = texts.reshape(len(images), -1, images.shape[1])
    # Not a matrix product, which may round equal captions differently at different places.
    parts = [
        (images[start : start + CHUNK, None] * options[start : start + CHUNK]).sum(-1)
        for start in range(0, len(images), CHUNK)
    ]
    scores = torch.cat(parts)
    check_finite(scores.reshape(-1, 1), captions)
    return scores


def share_of_best(scores: Tensor) -> Tensor:
    """Each option's share in having the best score, ``(N, M)`` float64, which sum to 1.

    Args:
        scores: finite, ``(N, M)``.
    """
    best = scores == scores.amax(1, keepdim=True)
    return best.double() / best.sum(1, keepdim=True)


def fingerprint(*files: Path) -> str:
    """Names the content of the files that a task was read from."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.read_bytes())
    return digest.hexdigest()[:16]
