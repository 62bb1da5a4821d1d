"""What every strategy for answering a query with "not" is."""

from collections.abc import Sequence
from typing import Protocol

from torch import Tensor

from litotes.backbones.encoder import DualEncoder
from litotes.language import Query


class Strategy(Protocol):
    """A way to answer queries: each becomes one vector, and images are ranked by their cosine.

    A query without negation gets the vector that :class:`Plain` gives, bit for bit.
    """

    @property
    def name(self) -> str:
        """How the command line calls it."""
        ...

    def vectors(self, queries: Sequence[Query], encoder: DualEncoder) -> Tensor:
        """Unit query vectors ``(Q, d)``, float32."""
        ...
