"""Take what is excluded away from what is asked for."""

from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import normalize

from litotes.backbones.encoder import DualEncoder
from litotes.language import Query
from litotes.strategies.plain import Plain

ANYTHING = "a photo"
"""What stands for the affirmed part of a query that only excludes."""


@dataclass(frozen=True)
class Subtract:
    """The unit vector of ``e_affirmed − β Σ e_negated``, each a unit text vector.

    Attributes:
        beta: weight of each excluded thing.
        prompt: what each part is put into: bare nouns are no captions, and an encoder trained on
            captions places a sentence about a thing better than its name (CLIP's own prompt).
    """

    beta: float = 0.5
    prompt: str = "a photo of {}"

    name = "subtract"

    def vectors(self, queries: Sequence[Query], encoder: DualEncoder) -> Tensor:
        """Unit query vectors ``(Q, d)``, float32."""
        vectors = Plain().vectors(queries, encoder)
        rows = [i for i, query in enumerate(queries) if query.is_negated]
        if not rows:
            return vectors
        affirmed = encoder.encode_texts(
            [self._prompted(queries[i].affirmed) if queries[i].affirmed else ANYTHING for i in rows]
        )
        excluded = encoder.encode_texts(
            [self._prompted(text) for i in rows for text in queries[i].negated]
        )
        counts = [len(queries[i].negated) for i in rows]
        for row, wanted, unwanted in zip(rows, affirmed, excluded.split(counts), strict=True):
            vectors[row] = normalize(wanted - self.beta * unwanted.sum(0), dim=-1)
        return vectors

    def _prompted(self, text: str) -> str:
        # Not str.format of the user's text: it may hold braces.
        return self.prompt.replace("{}", text)
