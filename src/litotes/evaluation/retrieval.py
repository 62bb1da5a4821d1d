"""Image–text retrieval with several captions an image, as the field and NegBench report it.

Text to image: each caption asks for its picture, and Recall@k is the share of all captions that
find it among the first k pictures. Image to text: a picture asks for any of its captions, and
Recall@k is the share of pictures that find one among the first k of all captions. rSum is the sum
of the six recalls in per cent.

NegBench (arXiv 2501.09425) counts so too, after CLIP_benchmark. What differs: it prints k = 1 and 5
alone; equal scores fall to it as they come, while here a tie is not a hit; and a picture that
stands on two lines of a file is two pictures to it, and one here.
"""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from litotes.backbones.encoder import DualEncoder
from litotes.backbones.vectors import image_vectors
from litotes.data.captions import read_captions
from litotes.data.retrieval_files import CaptionedPicture, pictures_of_split, read_pictures
from litotes.evaluation.record import Record
from litotes.evaluation.task import check_finite, query_scores, query_vectors, strategy_settings
from litotes.strategies import ByVector, Images, Plain, Strategy

KS = (1, 5, 10)
TO_IMAGE = {k: f"text→image R@{k}" for k in KS}
"""The metrics whose units are captions; they are grouped by image."""
# At most so many captions, and so many scores, are held at once: the table of all would not fit for
# large sets.
CHUNK = 2048
SCORES = 1 << 25


@dataclass(frozen=True)
class RetrievalTask:
    """Retrieval over captioned pictures.

    Attributes:
        name: how the record calls the task.
        split: how it calls the data.
        pictures: with their captions.
        data: the file that was read, or a fingerprint of the pictures' names and captions.
    """

    name: str
    split: str
    pictures: Sequence[CaptionedPicture]
    data: Path | str

    @classmethod
    def read(cls, place: Path, split: str, images: Path | None = None) -> "RetrievalTask":
        """Read a CSV with the columns image, split and caption.

        Args:
            place: the file, or a folder that holds ``captions.csv``.
            split: which part.
            images: folder of the pictures; by default ``images`` beside the file.

        Raises:
            DataError: missing or malformed; says where.
        """
        file = place / "captions.csv" if place.is_dir() else place
        images = images or file.parent / "images"
        pictures = [
            CaptionedPicture(images / name, tuple(captions), split)
            for name, captions in read_captions(file, split).items()
        ]
        return cls("retrieval", split, pictures, file)

    @classmethod
    def read_published(
        cls,
        kind: str,
        source: Path,
        images: Path | None = None,
        split: str = "test",
        name: str | None = None,
    ) -> "RetrievalTask":
        """Read a published file: see :mod:`litotes.data.retrieval_files` for the kinds.

        Args:
            kind: such as "negbench" or "karpathy".
            source: the file or folder.
            images: folder of the pictures; by default beside the file.
            split: which part; a file without parts is read whole.
            name: of the task; by default the kind's, such as "negbench-retrieval".

        Raises:
            DataError: missing or malformed; says where.
        """
        pictures = read_pictures(kind, source, images)
        part = source.stem
        if any(picture.split for picture in pictures):
            pictures = pictures_of_split(source, pictures, split)
            part = f"{source.stem}-{split}"
        return cls(name or f"{kind}-retrieval", part, pictures, _fingerprint(pictures))

    def run(
        self, encoder: DualEncoder, strategies: Sequence[Strategy] = (Plain(),)
    ) -> list[Record]:
        """Recall@1/5/10 both ways and rSum, with intervals over images.

        Raises:
            DataError: pictures are missing, or a score is not a finite number.
        """
        images = image_vectors(encoder, [picture.path for picture in self.pictures])
        return [self._record(encoder, strategy, images) for strategy in strategies]

    def _record(self, encoder: DualEncoder, strategy: Strategy, images: Tensor) -> Record:
        texts = [caption for picture in self.pictures for caption in picture.captions]
        owner = torch.tensor(
            [i for i, picture in enumerate(self.pictures) for _ in picture.captions]
        )
        vectors = query_vectors(encoder, strategy, texts)
        answer = None
        if not isinstance(strategy, ByVector):
            answer = partial(query_scores, encoder, strategy, images=Images(images))
        to_image, to_text = retrieval_ranks(vectors, images, owner, texts, answer)
        outcomes = recalls(to_image, to_text, owner)
        return Record.make(
            encoder,
            task=self.name,
            split=self.split,
            data=self.data,
            outcomes=outcomes,
            weights=caption_weights(owner),
            averages={"rSum": list(outcomes)},
            strategy=strategy.name,
            settings=strategy_settings(strategy),
        )


def recalls(to_image: Tensor, to_text: Tensor, owner: Tensor) -> dict[str, NDArray[np.float64]]:
    """Recall@1/5/10 both ways, one value an image, so that intervals are over images.

    From text to image an image's value is the share of its captions that found it: their mean,
    weighted by :func:`caption_weights`, is the share of all captions.

    Args:
        to_image: of each caption the rank of its image, from 0, ``(T,)``.
        to_text: of each image the rank of its best caption, from 0, ``(N,)``.
        owner: each caption's image, ``(T,)``, int64.
    """
    hits = {}
    for k in KS:
        found = torch.bincount(owner, (to_image < k).double(), minlength=len(to_text))
        hits[TO_IMAGE[k]] = (found / torch.bincount(owner)).numpy()
    return hits | {f"image→text R@{k}": (to_text < k).double().numpy() for k in KS}


def caption_weights(owner: Tensor) -> dict[str, NDArray[np.float64]]:
    """How much each image counts in the recalls from text to image; nothing if all count alike.

    Args:
        owner: each caption's image, ``(T,)``, int64; each image has one caption at least.
    """
    counts = torch.bincount(owner).double().numpy()
    return {} if (counts == counts[0]).all() else dict.fromkeys(TO_IMAGE.values(), counts)


def retrieval_ranks(
    texts: Tensor,
    images: Tensor,
    owner: Tensor,
    names: Sequence[str],
    answer: Callable[[Sequence[str]], Tensor] | None = None,
) -> tuple[Tensor, Tensor]:
    """How many wrong answers come before, or tie with, the right one.

    Args:
        texts: unit caption vectors ``(T, d)``.
        images: unit image vectors ``(N, d)``.
        owner: each caption's image, ``(T,)``, int64.
        names: the captions.
        answer: scores of some of them with all images, to rank these by in place of cosines.

    Returns:
        Ranks from 0: of each caption's image among images ``(T,)``, and of each image's best
        caption among other images' captions ``(N,)``.

    Raises:
        DataError: a score is not a finite number.
    """
    to_image = torch.empty(len(texts), dtype=torch.long)
    best = torch.full((len(images),), -torch.inf)
    parts = _parts(len(texts), len(images))
    for rows in parts:
        scores = texts[rows] @ images.T
        check_finite(scores, names[rows])
        own = scores.gather(1, owner[rows, None])
        best.scatter_reduce_(0, owner[rows], own[:, 0], "amax")
        if answer is not None:
            scores = answer(names[rows])
            own = scores.gather(1, owner[rows, None])
        to_image[rows] = (scores >= own).sum(1) - 1
    to_text = torch.zeros(len(images), dtype=torch.long)
    for rows in parts:
        ahead = texts[rows] @ images.T >= best
        ahead[torch.arange(len(ahead)), owner[rows]] = False
        to_text += ahead.sum(0)
    return to_image, to_text


def _parts(texts: int, images: int) -> list[slice]:
    """Captions whose scores with all images are held at once; the same ones each time round."""
    rows = min(CHUNK, max(1, SCORES // images))
    return [slice(start, start + rows) for start in range(0, texts, rows)]


def _fingerprint(pictures: Sequence[CaptionedPicture]) -> str:
    content = json.dumps([[picture.path.name, *picture.captions] for picture in pictures])
    return hashlib.sha256(content.encode()).hexdigest()[:16]
