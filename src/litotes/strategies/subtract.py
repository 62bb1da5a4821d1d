"""Take what is excluded away from what is asked for."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import normalize

from litotes.backbones.encoder import DualEncoder
from litotes.language import Query
from litotes.strategies.base import ByVector
from litotes.strategies.parts import answered


@dataclass(frozen=True)
class Subtract(ByVector):
    """The unit vector of ``e_affirmed − β Σ e_negated``, each a unit text vector.

    Attributes:
        beta: weight of each excluded thing.
        prompt: what each part is put into.
    """

    beta: float = 0.5
    prompt: str = "a photo of {}"

    name = "subtract"

    def vectors(self, queries: Sequence[Query], encoder: DualEncoder) -> Tensor:
        """Unit query vectors ``(Q, d)``, float32."""

        def combine(wanted: Tensor, unwanted: Tensor) -> Tensor:
            return normalize(wanted - self.beta * unwanted.sum(0), dim=-1)

        return answered(queries, encoder, self.prompt, combine)
