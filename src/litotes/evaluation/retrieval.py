"""Image–text retrieval with several captions an image, as the field reports it.

Text to image: each caption asks for its photograph. Image to text: a photograph asks for any of
its captions, and the best ranked one counts. Recall@k in shares, and rSum, the sum of the six
recalls in per cent.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from torch import Tensor

from litotes.backbones.encoder import DualEncoder
from litotes.data.captions import read_captions
from litotes.evaluation.record import Record
from litotes.evaluation.task import query_vectors, strategy_settings
from litotes.evaluation.vectors import check_finite, image_vectors
from litotes.strategies import Plain, Strategy

KS = (1, 5, 10)
# Scores of so many captions are held at once: the table of all would not fit for large sets.
CHUNK = 2048


@dataclass(frozen=True)
class RetrievalTask:
    """Retrieval over the captioned photographs of a folder.

    Attributes:
        folder: holds ``captions.csv`` and ``images/``.
        captions: of each photograph.
        split: which part of the file.
    """

    folder: Path
    captions: dict[str, list[str]]
    split: str

    @classmethod
    def read(cls, folder: Path, split: str) -> "RetrievalTask":
        """Read a folder.

        Raises:
            DataError: missing or malformed; says where.
        """
        return cls(folder, read_captions(folder, split), split)

    def run(
        self, encoder: DualEncoder, strategies: Sequence[Strategy] = (Plain(),)
    ) -> list[Record]:
        """Recall@1/5/10 both ways and rSum, with intervals over images."""
        return [self._record(encoder, strategy) for strategy in strategies]

    def _record(self, encoder: DualEncoder, strategy: Strategy) -> Record:
        images = image_vectors(encoder, [self.folder / "images" / name for name in self.captions])
        texts = [caption for captions in self.captions.values() for caption in captions]
        owner = torch.tensor([i for i, c in enumerate(self.captions.values()) for _ in c])
        to_image, to_text = retrieval_ranks(
            query_vectors(encoder, strategy, texts), images, owner, texts
        )
        hits = {}
        for k in KS:
            # One value an image, so that the interval is over images, not captions.
            found = torch.zeros(len(images), dtype=torch.double)
            found.index_add_(0, owner, (to_image < k).double())
            hits[f"text→image R@{k}"] = (found / owner.bincount()).numpy()
        hits |= {f"image→text R@{k}": (to_text < k).double().numpy() for k in KS}
        hits["rSum"] = 100 * np.sum(list(hits.values()), axis=0)
        return Record.make(
            encoder,
            task="retrieval",
            split=self.split,
            data=self.folder / "captions.csv",
            outcomes=hits,
            strategy=strategy.name,
            settings=strategy_settings(strategy),
        )


def retrieval_ranks(
    texts: Tensor, images: Tensor, owner: Tensor, names: Sequence[str]
) -> tuple[Tensor, Tensor]:
    """How many wrong answers come before, or tie with, the right one.

    Args:
        texts: unit caption vectors ``(T, d)``.
        images: unit image vectors ``(N, d)``.
        owner: each caption's image, ``(T,)``, int64.
        names: the captions, for the error.

    Returns:
        Ranks from 0: of each caption's image among images ``(T,)``, and of each image's best
        caption among other images' captions ``(N,)``.

    Raises:
        DataError: a score is not a finite number.
    """
    to_image = torch.empty(len(texts), dtype=torch.long)
    best = torch.full((len(images),), -torch.inf)
    for start in range(0, len(texts), CHUNK):
        rows = slice(start, start + CHUNK)
        scores = texts[rows] @ images.T
        check_finite(scores, names[rows])
        own = scores.gather(1, owner[rows, None])
        to_image[rows] = (scores >= own).sum(1) - 1
        best.scatter_reduce_(0, owner[rows], own[:, 0], "amax")
    to_text = torch.zeros(len(images), dtype=torch.long)
    for start in range(0, len(texts), CHUNK):
        rows = slice(start, start + CHUNK)
        ahead = texts[rows] @ images.T >= best
        ahead[torch.arange(len(ahead)), owner[rows]] = False
        to_text += ahead.sum(0)
    return to_image, to_text
