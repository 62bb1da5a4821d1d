"""Push the text encoder along its negation direction (arXiv 2603.20554)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from torch import Tensor

from litotes.backbones.encoder import DualEncoder
from litotes.language import Query
from litotes.steering import NegationDirection, bundled_direction
from litotes.strategies.base import ByVector
from litotes.strategies.plain import Plain


@dataclass(frozen=True)
class Steer(ByVector):
    """Encode the query whole with the steered encoder, if the gate says that it is negated.

    Attributes:
        direction: of this encoder; by default the one that ships for it.
        alpha: how far to push, 0 to 1.
        layers: which blocks, counted from 0; all by default.
        gate: ``"cues"`` steers a query in which the parser finds an exclusion, ``"probe"`` one
            that the direction's own probe calls negated.
    """

    direction: NegationDirection | None = None
    alpha: float = 0.13
    layers: tuple[int, ...] | None = None
    gate: Literal["cues", "probe"] = "cues"

    name = "steer"

    def vectors(self, queries: Sequence[Query], encoder: DualEncoder) -> Tensor:
        """Unit query vectors ``(Q, d)``, float32.

        Raises:
            DirectionError: the direction does not suit the encoder, or none ships for it.
        """
        vectors = Plain().vectors(queries, encoder)
        direction = self.direction or bundled_direction(encoder)
        raw = [query.raw for query in queries]
        if self.gate == "cues":
            negated = [query.is_negated for query in queries]
        else:
            negated = direction.says_negated(encoder, raw)
        rows = [i for i, steered in enumerate(negated) if steered]
        if rows:
            steered = encoder.steered(direction, self.alpha, self.layers)
            vectors[rows] = steered.encode_texts([raw[i] for i in rows])
        return vectors
