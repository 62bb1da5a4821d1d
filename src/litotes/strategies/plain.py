"""The query as it stands."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor

from litotes.backbones.encoder import DualEncoder
from litotes.language import Query
from litotes.strategies.base import ByVector


@dataclass(frozen=True)
class Plain(ByVector):
    """Encode the query whole, as CLIP retrieval does: the baseline."""

    name = "plain"

    def vectors(self, queries: Sequence[Query], encoder: DualEncoder) -> Tensor:
        """Unit query vectors ``(Q, d)``, float32."""
        return encoder.encode_texts([query.raw for query in queries])
