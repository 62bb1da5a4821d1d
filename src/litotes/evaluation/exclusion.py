"""The main job, measured: "A without B" on photographs whose content is known.

A file of pairs (A shown, B excluded) gives several wordings of each query and three lists of
photographs: ``right`` (shows A, not B), ``violating`` (shows B) and ``not_shown`` (neither
violating nor right). Photographs in none of them are of unknown content and are left out before
ranking. Per query: the share of the first ten that violates, and the share that is right.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import BaseModel, TypeAdapter
from torch import Tensor

from litotes.backbones.encoder import DualEncoder
from litotes.backbones.vectors import image_vectors
from litotes.data.json_files import read_json
from litotes.errors import DataError
from litotes.evaluation.record import Record
from litotes.evaluation.task import query_scores, strategy_settings
from litotes.strategies import Images, Strategy

TOP = 10


class ExclusionPair(BaseModel):
    """One pair of things, its queries, and what each photograph is to them."""

    shown: str
    excluded: str
    queries: list[str]
    right: list[str]
    violating: list[str]
    not_shown: list[str]


@dataclass(frozen=True)
class ExclusionTask:
    """Exclusion queries over the photographs of a folder.

    Attributes:
        data: file of the pairs, JSON; or the fingerprint of what they were made from.
        pairs: what it holds.
        images: folder of the photographs.
        split: how the record calls the data.
        name: of the task.
    """

    data: Path | str
    pairs: Sequence[ExclusionPair]
    images: Path
    split: str
    name: str = "exclusion"

    @classmethod
    def read(cls, place: Path, split: str, images: Path | None = None) -> "ExclusionTask":
        """Read pairs, JSON.

        Args:
            place: the file, or a folder that holds ``exclusion_{split}.json``.
            split: how the record calls the data.
            images: folder of the photographs; by default ``images`` beside the file.

        Raises:
            DataError: missing or malformed; says where.
        """
        file = place / f"exclusion_{split}.json" if place.is_dir() else place
        pairs = read_json(file, TypeAdapter(list[ExclusionPair]))
        if not pairs:
            raise DataError(f"{file} holds no pair")
        for pair in pairs:
            if not pair.queries or len(pair.right + pair.violating + pair.not_shown) < TOP:
                raise DataError(
                    f"{file}: the pair {pair.shown!r}, {pair.excluded!r} needs a query and "
                    f"at least {TOP} photographs"
                )
            names = Counter((*pair.right, *pair.violating, *pair.not_shown))
            if twice := [name for name, count in names.items() if count > 1]:
                raise DataError(
                    f"{file}: the pair {pair.shown!r}, {pair.excluded!r} names {twice[0]!r} more "
                    "than once: a photograph is in one of its lists, once"
                )
        return cls(file, pairs, images or file.parent / "images", split)

    def photographs(self) -> list[str]:
        """Every photograph any pair speaks of, sorted."""
        return sorted({n for p in self.pairs for n in (*p.right, *p.violating, *p.not_shown)})

    def run(self, encoder: DualEncoder, strategies: Sequence[Strategy]) -> list[Record]:
        """Measure strategies side by side, each over all wordings, as `parse` reads them.

        Raises:
            DataError: photographs are missing, or a score is not a finite number.
        """
        names = self.photographs()
        images = Images(image_vectors(encoder, [self.images / name for name in names]))
        return [
            self.record(encoder, strategy, self.outcomes(encoder, strategy, names, images))
            for strategy in strategies
        ]

    def outcomes(
        self, encoder: DualEncoder, strategy: Strategy, names: Sequence[str], images: Images
    ) -> NDArray[np.float64]:
        """Shares of the top ten, ``(pairs, 2)``: violating and right, mean over the wordings."""
        row = {name: i for i, name in enumerate(names)}
        texts = [query for pair in self.pairs for query in pair.queries]
        scores = query_scores(encoder, strategy, texts, images)
        split = scores.split([len(pair.queries) for pair in self.pairs])
        return np.array(
            [_pair_shares(pair, part, row) for pair, part in zip(self.pairs, split, strict=True)]
        )

    def record(
        self, encoder: DualEncoder, strategy: Strategy, outcomes: NDArray[np.float64]
    ) -> Record:
        """The record of a strategy's outcomes, with intervals over the pairs."""
        return Record.make(
            encoder,
            task=self.name,
            split=self.split,
            data=self.data,
            strategy=strategy.name,
            settings=strategy_settings(strategy),
            outcomes={"violating@10": outcomes[:, 0], "right@10": outcomes[:, 1]},
        )


def top_shares(scores: Tensor, states: Tensor) -> tuple[float, float]:
    """Shares violating and right among the first ten of each query, mean over the queries.

    Among equal scores a violating photograph ranks first and a right one last, so that a tie
    never counts as right.

    Args:
        scores: ``(queries, photographs)``.
        states: of each photograph, ``(photographs,)``: 0 violating, 1 not shown, 2 right.
    """
    worst_first = states.argsort(stable=True)
    order = scores[:, worst_first].argsort(dim=1, descending=True, stable=True)[:, :TOP]
    top = states[worst_first][order]
    return float((top == 0).float().mean()), float((top == 2).float().mean())


def _pair_shares(pair: ExclusionPair, scores: Tensor, row: dict[str, int]) -> tuple[float, float]:
    """What :func:`top_shares` gives for scores of all photographs ``(queries, photographs)``."""
    groups = (pair.violating, pair.not_shown, pair.right)
    candidates = [row[name] for group in groups for name in group]
    states = torch.tensor([0, 1, 2]).repeat_interleave(torch.tensor([len(g) for g in groups]))
    return top_shares(scores[:, candidates], states)
