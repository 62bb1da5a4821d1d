"""How long a query takes, warm: its words taken apart and encoded, and candidates scored.

What is the same for all strategies is left out: to load a model, and to scan an index for the
candidates.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from time import perf_counter

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn.functional import normalize

from litotes.backbones.encoder import DualEncoder
from litotes.evaluation.classification import fingerprint
from litotes.evaluation.record import Record
from litotes.evaluation.task import strategy_settings
from litotes.language import parse
from litotes.strategies import Images, Strategy
from litotes.strategies.parts import forget_parts

QUERIES = (
    "a beach without people",
    "a dog that is not on a lead",
    "a street with no cars",
    "a living room, but no television",
    "a table with fruit and without bread",
    "neither dogs nor cats on a sofa",
    "a man riding a bike but not wearing a helmet",
    "a forest free of snow",
    "a child not looking at the camera",
    "a kitchen without a window",
    "no flowers in the garden",
    "a football match without spectators",
    "a red car that is not parked",
    "a wedding, no bride",
    "a mountain lake without boats",
    "a bird which isn't flying",
    "a crowd with no umbrellas",
    "an empty plate, not on a table",
    "a harbour at night without ships",
    "a woman with glasses and no hat",
)
WARM = "a pen without ink"


@dataclass(frozen=True)
class LatencyTask:
    """Milliseconds a query, of each of some queries the median of a few runs.

    Attributes:
        split: how the records call it.
        candidates: pictures that are scored.
        sample: pictures that tell how an index is made up.
        runs: of each query.
        queries: what is asked.
    """

    split: str = "dev"
    candidates: int = 100
    sample: int = 1024
    runs: int = 5
    queries: Sequence[str] = QUERIES

    def run(self, encoder: DualEncoder, strategies: Sequence[Strategy]) -> list[Record]:
        """Time strategies one after the other, on pictures of random vectors."""
        rng = torch.Generator().manual_seed(0)
        drawn = torch.randn(self.candidates + self.sample, encoder.dim, generator=rng)
        vectors = normalize(drawn, dim=-1)
        background = Images(vectors[self.candidates :])
        return [
            Record.make(
                encoder,
                task="latency",
                split=self.split,
                data=fingerprint(self.queries),
                strategy=strategy.name,
                settings=strategy_settings(strategy)
                | {"candidates": self.candidates, "sample": self.sample},
                outcomes={
                    "ms a query": self._times(
                        encoder, strategy, vectors[: self.candidates], background
                    )
                },
            )
            for strategy in strategies
        ]

    def _times(
        self,
        encoder: DualEncoder,
        strategy: Strategy,
        vectors: Tensor,
        background: Images,
    ) -> NDArray[np.float64]:
        times = np.empty((self.runs + 1, len(self.queries)))
        for row in times:
            for column, text in enumerate(self.queries):
                # What every query needs is at hand; nothing of this one is.
                forget_parts()
                strategy.scores([parse(WARM)], encoder, Images(vectors[:1], background))
                start = perf_counter()
                strategy.scores([parse(text)], encoder, Images(vectors, background))
                row[column] = 1000 * (perf_counter() - start)
        # The first run warms up.
        return np.median(times[1:], axis=0)
