"""How probably photos show what is asked for and nothing that is excluded, of however many."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import torch
from numpy.typing import NDArray
from torch import Tensor

from litotes.backbones.encoder import DualEncoder
from litotes.language import Query
from litotes.search.store import Store, to_numpy
from litotes.strategies import Calibrated, Images
from litotes.strategies.calibrated import ByExample, unframed

#: Photos that are judged together: neighbours are looked for among them and the sample, so that
#: the work grows with the number of photos and not with its square.
TOGETHER = 2048
GROWTH = 4


@dataclass(frozen=True, slots=True)
class Explanation:
    """Why a photo was found: probabilities, by :class:`litotes.strategies.Calibrated`.

    Attributes:
        shows: that it shows what is asked for, and is like the examples; None where nothing is.
        each: that it does not show each thing that is excluded, in the query's order, and that
            it is not like each example to be unlike.
    """

    shows: float | None
    each: tuple[float, ...]

    @property
    def absent(self) -> float | None:
        """That it shows nothing of what is excluded; None where nothing is."""
        return math.prod(self.each) if self.each else None

    @property
    def probability(self) -> float:
        """Of both."""
        return (1.0 if self.shows is None else self.shows) * math.prod(self.each)


class Judge:
    """Explains photos for one query.

    Args:
        query: the query; one that excludes nothing is asked about too.
        weigher: gives the probabilities.
        encoder: encodes the query's parts.
        sample: photos drawn by lot from the index.
    """

    def __init__(
        self, query: Query, weigher: Calibrated | ByExample, encoder: DualEncoder, sample: Images
    ) -> None:
        asked = query if query.is_negated else unframed(query)
        self.vector: NDArray[np.float32] = weigher.vectors([query], encoder)[0].numpy()
        self.sample = sample
        self._calibrated = weigher.calibrated if isinstance(weigher, ByExample) else weigher
        (self._evidence,) = weigher.evidence([asked], encoder)

    def explain(self, vectors: NDArray[np.float32]) -> list[Explanation]:
        """Of photos by their unit vectors ``(N, d)``, judged together."""
        images = Images(torch.from_numpy(vectors.copy()), self.sample)
        ((shown, absent),) = self._calibrated.judged([self._evidence], images)
        asks = len(self._evidence.wanted) > 0
        shows = _chances(shown) if asks else [None] * len(vectors)
        return [
            Explanation(one, tuple(each))
            for one, each in zip(shows, _chances(absent.T), strict=True)
        ]


def find_matches(
    store: Store, judge: Judge, min_probability: float, on_judged: Callable[[int, int], None]
) -> list[tuple[dict[str, Any], Explanation]]:
    """All rows that match a query with some probability, in no set order.

    Candidates are taken by the query's vector, ever more of them until the last fifth of them
    holds no match.

    Args:
        store: the index; it must not change meanwhile.
        judge: of the query.
        min_probability: of a match.
        on_judged: told how many photos are judged and how many are to be.
    """
    total = store.count()
    found: list[tuple[dict[str, Any], Explanation]] = []
    judged = np.empty(0, np.uint64)
    farthest, limit = math.inf, min(TOGETHER, total)
    while True:
        ids, cosines = store.ranked(judge.vector, limit)
        new = ids[~np.isin(ids, judged)]
        done = limit - len(new)
        for start in range(0, len(new), TOGETHER):
            rows = store.take(
                new[start : start + TOGETHER].tolist(), "path", "width", "height", "size", "vector"
            )
            vectors = to_numpy(rows["vector"])
            explained = judge.explain(vectors)
            matching = [i for i, one in enumerate(explained) if one.probability >= min_probability]
            records = rows.drop_columns(["vector"]).take(pa.array(matching, pa.int64())).to_pylist()
            found += zip(records, (explained[i] for i in matching), strict=True)
            farthest = min([farthest, *(vectors[matching] @ judge.vector).tolist()])
            done += len(vectors)
            on_judged(done, limit)
        last_fifth = cosines[len(cosines) * 4 // 5]
        if limit == total or farthest > last_fifth:
            return found
        judged, limit = ids, min(limit * GROWTH, total)


def _chances(logarithms: Tensor) -> list[Any]:
    return logarithms.double().exp().tolist()
