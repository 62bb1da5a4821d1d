"""Who pushes: the hard negative's share of a contrastive gradient, and the easy ones'.

InfoNCE pulls a row's positive with the force ``1 − p_ii``, which is what its negatives push with
together: ``p_ii' + Σ_{j∉{i,i'}} p_ij``, the hard negative's part and the easy ones'. The more of
these a batch holds, the less is left for the hard one, unless it has a margin: see arXiv
2604.13313 and :class:`litotes.losses.cement.CementLoss`.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Literal

import numpy as np
import torch
from torch import Tensor

from litotes.backbones.encoder import DualEncoder
from litotes.backbones.vectors import image_vectors, text_vectors
from litotes.data.concrete_pairs import ConcretePair
from litotes.errors import DataError
from litotes.evaluation.record import Metric
from litotes.evaluation.report import markdown_rows
from litotes.losses.cement import CementLoss

Rows = Literal["images", "texts"]


@dataclass(frozen=True)
class PairVectors:
    """Vectors of P pictures, their captions and their changed captions, no picture twice.

    Attributes:
        images: ``v``, ``(P, d)``.
        texts: ``t``, ``(P, d)``.
        changed_texts: ``t'``, ``(P, d)``.
        concreteness: of the changed keywords, 1 to 5, ``(P,)``.
        changed_images: ``v'``, ``(P, d)``, or none.
    """

    images: Tensor
    texts: Tensor
    changed_texts: Tensor
    concreteness: Tensor
    changed_images: Tensor | None = None

    @classmethod
    def of(
        cls,
        encoder: DualEncoder,
        pairs: Sequence[ConcretePair],
        photographs: Path,
        drawn: Path,
        seed: int,
    ) -> "PairVectors":
        """One pair of each photograph, by lot. With pictures of changed captions, if there are any.

        Args:
            encoder: encodes, or its vectors are in the cache.
            pairs: where some have a picture, others are left out.
            photographs: their folder.
            drawn: the folder of the pictures of changed captions.
            seed: of the lot.

        Raises:
            DataError: a picture is missing.
        """
        paired = [pair for pair in pairs if pair.picture]
        of_image: dict[str, list[ConcretePair]] = {}
        for pair in paired or pairs:
            of_image.setdefault(pair.image, []).append(pair)
        rng = Random(seed)
        chosen = [rng.choice(among) for among in of_image.values()]
        return cls(
            image_vectors(encoder, [photographs / pair.image for pair in chosen]),
            text_vectors(encoder, [pair.caption for pair in chosen]),
            text_vectors(encoder, [pair.changed for pair in chosen]),
            torch.tensor([pair.score for pair in chosen]),
            image_vectors(encoder, [drawn / pair.picture for pair in chosen]) if paired else None,
        )

    def __len__(self) -> int:
        return len(self.images)

    def logits(self, loss: CementLoss, rows: Tensor) -> Tensor:
        """A loss's table of the batch that ``rows`` ``(N,)`` are."""
        seen = None if self.changed_images is None else self.changed_images[rows]
        return loss.logits(
            self.images[rows],
            self.texts[rows],
            self.changed_texts[rows],
            self.concreteness[rows],
            seen,
        )


@dataclass(frozen=True)
class Share:
    """The hard negatives' share of the gradient on positives; the rest is that of easy ones.

    Attributes:
        objective: name of the loss.
        rows: what looks for its match: pictures among captions, or captions among pictures.
        batch_size: N; with as many changed captions beside.
        hard: the mean over batches of the mean over rows, with its interval over batches.
    """

    objective: str
    rows: Rows
    batch_size: int
    hard: Metric


def gradient_shares(
    vectors: PairVectors,
    objectives: Mapping[str, CementLoss],
    sizes: Sequence[int],
    draws: int = 10,
    seed: int = 0,
) -> list[Share]:
    """Shares by objective and batch size, of the same batches for all objectives.

    Rows of captions are there where changed captions have pictures: others have no hard negative.

    Args:
        vectors: what batches are drawn from, each without repetition.
        objectives: by name.
        sizes: batch sizes N; those larger than the number of pictures are left out.
        draws: batches of each size.
        seed: of the drawing.

    Raises:
        DataError: there are fewer pictures than the smallest batch takes.
    """
    if min(sizes) > len(vectors):
        raise DataError(
            f"there are {len(vectors)} pictures, fewer than the smallest batch of {min(sizes)}"
        )
    generator = torch.Generator().manual_seed(seed)
    shares = []
    for size in (size for size in sorted(sizes) if size <= len(vectors)):
        batches = [torch.randperm(len(vectors), generator=generator)[:size] for _ in range(draws)]
        for name, loss in objectives.items():
            found: dict[Rows, list[float]] = {}
            for batch in batches:
                for rows, share in _batch_shares(vectors.logits(loss, batch)):
                    found.setdefault(rows, []).append(share)
            shares += [
                Share(name, rows, size, Metric.of(np.array(values), seed=seed))
                for rows, values in found.items()
            ]
    return shares


def hard_shares(logits: Tensor) -> Tensor:
    """``p_ii' / (1 − p_ii)`` of each row: ``(M,)``.

    Args:
        logits: ``(M, 2N)``, with M = N or 2N: the positive of row i is column i, and its hard
            negative column i + N, or i − N.
    """
    rows = torch.arange(len(logits), device=logits.device)
    count = logits.shape[1] // 2
    # Among negatives alone: 1 − p_ii would lose its digits where p_ii is nearly 1.
    negatives = logits.diagonal_scatter(logits.new_full((len(logits),), -torch.inf))
    return negatives.softmax(1)[rows, (rows + count) % (2 * count)]


def _batch_shares(logits: Tensor) -> Iterator[tuple[Rows, float]]:
    yield "images", hard_shares(logits).mean().item()
    if logits.shape[0] == logits.shape[1]:
        yield "texts", hard_shares(logits.T).mean().item()


def share_table(shares: Sequence[Share]) -> list[list[str]]:
    """Headings, then a line a batch size: the share of each objective and kind of rows.

    In per cent, with intervals.
    """
    names: dict[str, None] = {}
    lines: dict[int, list[str]] = {}
    for share in shares:
        names[f"{share.objective}, {share.rows}"] = None
        value, low, high = (100 * x for x in (share.hard.value, share.hard.low, share.hard.high))
        line = lines.setdefault(share.batch_size, [f"{share.batch_size:,}"])
        line.append(f"{value:.1f} [{low:.1f}, {high:.1f}]")
    return [["N", *names], *lines.values()]


def markdown_shares(shares: Sequence[Share]) -> str:
    """:func:`share_table` as Markdown."""
    headings, *lines = share_table(shares)
    return markdown_rows([headings, ["---:" for _ in headings], *lines])
