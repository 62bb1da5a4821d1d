"""Ours: how surely a picture shows what is asked for, and how surely not what is excluded.

No point of the space stands for "not N" (SpaceVLM's first statement, arXiv 2511.12331), but a score
can. Three things make it: how alike a picture is to a text is read beside how alike it is to a text
that says nothing, since some pictures are near every text; beside how alike the other pictures are,
as some texts are near every picture; and with the votes of the pictures most alike it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid, normalize

from litotes.backbones.encoder import DualEncoder
from litotes.language import Query
from litotes.language.frames import strip_frames
from litotes.strategies.base import Images, Statements, where_negated
from litotes.strategies.parts import encoded_parts
from litotes.strategies.plain import Plain

_NOTHING_SAID = Query("", (), "")
#: Makes of a median absolute deviation a standard deviation, of normally distributed values.
_DEVIATIONS = 1.4826


@dataclass(frozen=True)
class Calibrated:
    """The product of the probabilities that a picture shows A, and that it does not show each N.

    Each is ``σ(± k (z − t))``, where z is the robust z-score, among the pictures, of
    ``(e − λ e_anything) · v``; e is the unit vector of the part's text, and v the mean of a
    picture's vector and, by their share of the votes, of its nearest neighbours' mean. Statements
    are compared by the sum of their log-odds ``± (z − t)``: a conjunction is not less likely there
    for being longer. The defaults suit most encoders; :data:`SUITED` holds those chosen on dev.

    Attributes:
        affirmed: what the affirmed part is put into.
        excluded: what an excluded part is put into.
        affirmed_contrast: λ of what is affirmed.
        excluded_contrast: λ of what is excluded.
        affirmed_threshold: t of what is affirmed: the first ten are to be sure.
        affirmed_slope: its k.
        excluded_threshold: t of what is excluded, and of both in statements.
        excluded_slope: its k.
        votes: the neighbours' share. They average away what an encoder gets wrong of single
            pictures, but also what sets a picture apart.
        beta: of the single vector: how much each excluded thing is taken away.
    """

    affirmed: str = "a photo of {}"
    excluded: str = "a photo of {}"
    affirmed_contrast: float = 0.3
    excluded_contrast: float = 0.5
    affirmed_threshold: float = 3.0
    affirmed_slope: float = 1.5
    excluded_threshold: float = 1.0
    excluded_slope: float = 1.0
    votes: float = 0.5
    beta: float = 0.5

    name = "calibrated"

    def vectors(self, queries: Sequence[Query], encoder: DualEncoder) -> Tensor:
        """Unit query vectors ``(Q, d)``: parts taken away from each other, read beside a text that
        says nothing.
        """

        def answer(negated: Sequence[Query]) -> Tensor:
            wanted, unwanted, anything = self._encoded(negated, encoder)
            taken = self.beta * torch.stack([parts.sum(0) for parts in unwanted])
            return normalize(wanted - self.affirmed_contrast * anything - taken, dim=-1)

        return where_negated(queries, partial(Plain().vectors, encoder=encoder), answer)

    def scores(self, queries: Sequence[Query], encoder: DualEncoder, images: Images) -> Tensor:
        """Log-probabilities ``(Q, N)``; cosines for a query that excludes nothing."""

        def answer(negated: Sequence[Query]) -> Tensor:
            found = self.probabilities(negated, encoder, images)
            return torch.stack([shown + absent.sum(0) for shown, absent in found])

        plain = partial(Plain().scores, encoder=encoder, images=images)
        return where_negated(queries, plain, answer)

    def probabilities(
        self, queries: Sequence[Query], encoder: DualEncoder, images: Images
    ) -> list[tuple[Tensor, Tensor]]:
        """Of each query, the logarithms of how probably each picture shows what it affirms
        ``(N,)``, and does not show each thing that it excludes ``(n, N)``.
        """
        seen, others = self._seen(images), self._seen(images.background)
        found = []
        for query, affirmed, excluded in self._evidence(queries, encoder):
            shown = torch.zeros(len(seen))
            if query.affirmed:
                z = _standing(affirmed[None], seen, others)[0]
                shown = logsigmoid(self.affirmed_slope * (z - self.affirmed_threshold))
            z = _standing(excluded, seen, others)
            absent = logsigmoid(-self.excluded_slope * (z - self.excluded_threshold))
            found.append((shown, absent))
        return found

    def statements(
        self, queries: Sequence[Query], encoder: DualEncoder, images: Images
    ) -> Statements:
        """Log-odds of sentences about pictures; those that deny nothing are weighed alike."""
        read = [
            query if query.is_negated else Query(_content(query), (), query.raw)
            for query in queries
        ]
        weights = torch.zeros(len(read), images.vectors.shape[1])
        offsets = torch.zeros(len(read))
        others = self._seen(images.background)
        for row, (query, affirmed, excluded) in enumerate(self._evidence(read, encoder)):
            signed = [(1, affirmed)] if query.affirmed else []
            for sign, vector in [*signed, *((-1, vector) for vector in excluded)]:
                median, spread = _place(vector[None] @ others.T)
                weights[row] += sign * vector / spread[0]
                offsets[row] -= sign * float(median / spread + self.excluded_threshold)
        return Statements(weights, offsets, self._seen(images))

    def _evidence(
        self, queries: Sequence[Query], encoder: DualEncoder
    ) -> list[tuple[Query, Tensor, Tensor]]:
        """Each query, with what tells what it affirms ``(d,)`` and what it excludes ``(n, d)``."""
        wanted, unwanted, anything = self._encoded(queries, encoder)
        wanted = wanted - self.affirmed_contrast * anything
        return [
            (query, affirmed, excluded - self.excluded_contrast * anything)
            for query, affirmed, excluded in zip(queries, wanted, unwanted, strict=True)
        ]

    def _encoded(
        self, queries: Sequence[Query], encoder: DualEncoder
    ) -> tuple[Tensor, Sequence[Tensor], Tensor]:
        """Unit vectors of both parts, as :func:`encoded_parts` has them, and of what says nothing
        ``(d,)``.
        """
        all_said = [*queries, _NOTHING_SAID]
        wanted, unwanted = encoded_parts(all_said, encoder, self.affirmed, self.excluded)
        return wanted[:-1], unwanted[:-1], wanted[-1]

    def _seen(self, images: Images) -> Tensor:
        """Pictures' vectors with their neighbours' votes ``(N, d)``."""
        if not self.votes:
            return images.vectors
        return torch.lerp(images.vectors, images.neighbours, self.votes)


SUITED = {
    "mini": Calibrated(affirmed="a snapshot showing {}", excluded="one can see {}"),
    "scenes": Calibrated(affirmed_threshold=4.0, affirmed_slope=2.0, votes=0.0),
}
"""What suits the bundled models."""


def _content(query: Query) -> str:
    """What an affirmative sentence is about."""
    return strip_frames(query.affirmed).strip().rstrip(".") or query.affirmed


def _place(values: Tensor) -> tuple[Tensor, Tensor]:
    """Median and robust standard deviation along the last dimension; the latter is never zero."""
    median = values.median(-1, keepdim=True).values
    spread = (values - median).abs().median(-1, keepdim=True).values * _DEVIATIONS
    return median, spread.clamp(min=1e-6)


def _standing(texts: Tensor, seen: Tensor, others: Tensor) -> Tensor:
    """Robust z-scores ``(T, N)`` of pictures ``(N, d)`` for texts ``(T, d)``, among others."""
    median, spread = _place(texts @ others.T)
    return (texts @ seen.T - median) / spread
