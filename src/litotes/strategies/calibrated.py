"""Ours: how surely a picture shows what is asked for, and how surely not what is excluded.

No point of the space stands for "not N" (SpaceVLM's first statement, arXiv 2511.12331), but a score
can. Three things make it: how alike a picture is to a text is read beside how alike it is to a text
that says nothing, since some pictures are near every text; beside how alike the other pictures are,
as some texts are near every picture; and with the votes of the pictures most alike it.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import logsigmoid, normalize

from litotes.backbones.encoder import DualEncoder
from litotes.language import Query
from litotes.language.frames import strip_frames
from litotes.strategies.base import Images, Statements, where_negated
from litotes.strategies.parts import encoded_parts
from litotes.strategies.plain import Plain

GENERAL = 3
"""What is said in so many words fits many pictures."""
_NOTHING_SAID = Query("", (), "")
#: Makes of a median absolute deviation a standard deviation, of normally distributed values.
_DEVIATIONS = 1.4826


class Evidence(NamedTuple):
    """What tells of pictures what a query asks for.

    Attributes:
        wanted: vectors of what it affirms ``(w, d)``; none where that is nothing.
        unwanted: of each thing that it excludes ``(n, d)``.
        words: that each of ``wanted`` is said in ``(w,)``.
    """

    wanted: Tensor
    unwanted: Tensor
    words: Tensor


@dataclass(frozen=True)
class Calibrated:
    """The product of the probabilities that a picture shows A, and that it does not show each N.

    Each is ``σ(± k (z − t))``, where z is the robust z-score, among the pictures, of
    ``(e − λ e_anything) · v``; e is the unit vector of the part's text, and v the mean of a
    picture's vector and, by their share of the votes, of its nearest neighbours' mean. What is
    asked for in many words is meant for few pictures, and unlike a text that says nothing: for w
    words beyond G = :data:`GENERAL` of them t is higher by ``w · threshold_a_word``, up to
    ``highest_threshold``, and λ, the neighbours' share and β are ``G / (G + w)`` of what they are
    for few. Statements are compared by the sum of their log-odds ``± (z − t)``: a
    conjunction is not less likely there for being longer. The defaults suit most encoders;
    :data:`SUITED` holds those chosen on dev.

    Attributes:
        affirmed: what the affirmed part is put into.
        excluded: what an excluded part is put into.
        affirmed_contrast: λ of what is affirmed.
        excluded_contrast: λ of what is excluded.
        affirmed_threshold: t of what is affirmed in few words: the first ten are to be sure.
        threshold_a_word: by how much each further word raises it.
        highest_threshold: up to where.
        affirmed_slope: its k.
        excluded_threshold: t of what is excluded, and of both in statements.
        excluded_slope: its k.
        votes: the neighbours' share. They average away what an encoder gets wrong of single
            pictures, but also what sets a picture apart.
        beta: of the single vector ``e_affirmed − β Σ e_excluded``: how much each excluded thing is
            taken away.
    """

    affirmed: str = "a photo of {}"
    excluded: str = "a photo of {}"
    affirmed_contrast: float = 0.3
    excluded_contrast: float = 0.5
    affirmed_threshold: float = 3.0
    threshold_a_word: float = 0.35
    highest_threshold: float = 5.0
    affirmed_slope: float = 1.5
    excluded_threshold: float = 1.0
    excluded_slope: float = 1.0
    votes: float = 0.5
    beta: float = 0.4

    name = "calibrated"

    def vectors(self, queries: Sequence[Query], encoder: DualEncoder) -> Tensor:
        """Unit query vectors ``(Q, d)``: what is excluded taken away from what is affirmed."""

        def answer(negated: Sequence[Query]) -> Tensor:
            wanted, unwanted, _ = self._encoded(negated, encoder)
            taken = torch.stack([parts.sum(0) for parts in unwanted])
            beta = self.beta * _generality(_words(negated))
            return normalize(wanted - beta[:, None] * taken, dim=-1)

        return where_negated(queries, partial(Plain().vectors, encoder=encoder), answer)

    def scores(self, queries: Sequence[Query], encoder: DualEncoder, images: Images) -> Tensor:
        """Log-probabilities ``(Q, N)``; cosines for a query that excludes nothing."""

        def answer(negated: Sequence[Query]) -> Tensor:
            return _products(self.probabilities(negated, encoder, images))

        plain = partial(Plain().scores, encoder=encoder, images=images)
        return where_negated(queries, plain, answer)

    def probabilities(
        self, queries: Sequence[Query], encoder: DualEncoder, images: Images
    ) -> list[tuple[Tensor, Tensor]]:
        """Of each query, the logarithms of how probably each picture shows what it affirms
        ``(N,)``, and does not show each thing that it excludes ``(n, N)``.
        """
        return self.judged(self.evidence(queries, encoder), images)

    def judged(self, evidence: Sequence[Evidence], images: Images) -> list[tuple[Tensor, Tensor]]:
        """As :meth:`probabilities`, of queries whose evidence is at hand."""
        found = []
        for one in evidence:
            counts = len(one.wanted), len(one.unwanted)
            shares = self.votes * torch.cat([_generality(one.words), torch.ones(counts[1])])
            z = _standing(torch.cat([one.wanted, one.unwanted]), shares, images)
            wanted, unwanted = z.split(counts)
            raised = self.affirmed_threshold + self.threshold_a_word * _further(one.words)
            highest = max(self.affirmed_threshold, self.highest_threshold)
            sure = wanted - raised.clamp(max=highest)[:, None]
            shown = logsigmoid(self.affirmed_slope * sure).sum(0)
            absent = logsigmoid(-self.excluded_slope * (unwanted - self.excluded_threshold))
            found.append((shown, absent))
        return found

    def statements(
        self, queries: Sequence[Query], encoder: DualEncoder, images: Images
    ) -> Statements:
        """Log-odds of sentences about pictures; those that deny nothing are weighed alike."""
        read = [query if query.is_negated else unframed(query) for query in queries]
        weights = torch.zeros(len(read), images.vectors.shape[1])
        offsets = torch.zeros(len(read))
        others = self._seen(images.background)
        for row, (wanted, unwanted, _) in enumerate(self.evidence(read, encoder)):
            signed = [*((1, vector) for vector in wanted), *((-1, vector) for vector in unwanted)]
            for sign, vector in signed:
                median, spread = _place(vector[None] @ others.T)
                weights[row] += sign * vector / spread[0]
                offsets[row] -= sign * float(median / spread + self.excluded_threshold)
        return Statements(weights, offsets, self._seen(images))

    def evidence(self, queries: Sequence[Query], encoder: DualEncoder) -> list[Evidence]:
        """What tells of pictures what each query affirms and excludes."""
        wanted, unwanted, anything = self._encoded(queries, encoder)
        words = _words(queries)
        contrast = self.affirmed_contrast * _generality(words)
        wanted = wanted - contrast[:, None] * anything
        return [
            Evidence(
                wanted[row : row + bool(query.affirmed)],
                excluded - self.excluded_contrast * anything,
                words[row : row + bool(query.affirmed)],
            )
            for row, (query, excluded) in enumerate(zip(queries, unwanted, strict=True))
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


@dataclass(frozen=True, eq=False)
class ByExample:
    """:class:`Calibrated` with pictures as further parts: some to be like, some to be unlike.

    A cosine of two pictures is far higher than one of a picture and a text, so that only their
    standing among other pictures can be weighed together. From an example the mean of the pictures
    is taken away, which all of them are alike to: it says no more of a picture than
    "a photo" does of a text.

    Attributes:
        calibrated: weighs the parts.
        like: unit vectors of pictures to be like ``(a, d)``.
        unlike: unit vectors of pictures to be unlike ``(b, d)``.
        background: pictures drawn by lot from all that is searched.
    """

    calibrated: Calibrated
    like: Tensor
    unlike: Tensor
    background: Images

    name = "calibrated"

    def vectors(self, queries: Sequence[Query], encoder: DualEncoder) -> Tensor:
        """Unit query vectors ``(Q, d)``: the parts taken together, each measured by how far it
        spreads pictures.
        """
        others = self.background.vectors
        directions = []
        for wanted, unwanted, _ in self.evidence(queries, encoder):
            (_, far), (_, near) = _place(wanted @ others.T), _place(unwanted @ others.T)
            taken = self.calibrated.beta * (unwanted / near).sum(0)
            directions.append((wanted / far).sum(0) - taken)
        return normalize(torch.stack(directions), dim=-1)

    def scores(self, queries: Sequence[Query], encoder: DualEncoder, images: Images) -> Tensor:
        """Log-probabilities ``(Q, N)``."""
        return _products(self.probabilities(queries, encoder, images))

    def probabilities(
        self, queries: Sequence[Query], encoder: DualEncoder, images: Images
    ) -> list[tuple[Tensor, Tensor]]:
        """As :meth:`Calibrated.probabilities`; the examples come after a query's own parts."""
        return self.calibrated.judged(self.evidence(queries, encoder), images)

    def evidence(self, queries: Sequence[Query], encoder: DualEncoder) -> list[Evidence]:
        """As :meth:`Calibrated.evidence`, with the examples ``(w + a, d)`` and ``(n + b, d)``; what
        an example shows is not narrower than a word.
        """
        mean = self.background.vectors.mean(0)
        return [
            Evidence(
                torch.cat([one.wanted, self.like - mean]),
                torch.cat([one.unwanted, self.unlike - mean]),
                torch.cat([one.words, torch.ones(len(self.like), dtype=torch.long)]),
            )
            for one in self.calibrated.evidence(queries, encoder)
        ]


def unframed(query: Query) -> Query:
    """An affirmative query, asking for what its sentence is about: "a photo of X" for X."""
    content = strip_frames(query.affirmed).strip().rstrip(".")
    return Query(content or query.affirmed, (), query.raw)


def _products(found: Sequence[tuple[Tensor, Tensor]]) -> Tensor:
    """Logarithms ``(Q, N)`` of the products of each query's probabilities."""
    return torch.stack([shown + absent.sum(0) for shown, absent in found])


def _words(queries: Sequence[Query]) -> Tensor:
    """In how many words each query says what it affirms ``(Q,)``."""
    return torch.tensor([len(query.affirmed.split()) for query in queries])


def _further(words: Tensor) -> Tensor:
    return (words - GENERAL).clamp(min=0)


def _generality(words: Tensor) -> Tensor:
    """1 for what is said in few words, the less the more there are."""
    return GENERAL / (GENERAL + _further(words))


def _place(values: Tensor) -> tuple[Tensor, Tensor]:
    """Median and robust standard deviation along the last dimension; the latter is never zero."""
    median = values.median(-1, keepdim=True).values
    spread = (values - median).abs().median(-1, keepdim=True).values * _DEVIATIONS
    return median, spread.clamp(min=1e-6)


def _standing(texts: Tensor, votes: Tensor, images: Images) -> Tensor:
    """Robust z-scores ``(T, N)`` of pictures for texts ``(T, d)``, among the background.

    Args:
        texts: what tells one thing each.
        votes: the neighbours' share for each ``(T,)``.
        images: the pictures.
    """
    median, spread = _place(_alike(texts, votes, images.background))
    return (_alike(texts, votes, images) - median) / spread


def _alike(texts: Tensor, votes: Tensor, images: Images) -> Tensor:
    own = texts @ images.vectors.T
    if not votes.any():
        return own
    return torch.lerp(own, texts @ images.neighbours.T, votes[:, None])
