"""What every strategy for answering a query with "not" is, and what it is answered among."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import NamedTuple, Protocol

import torch
from torch import Tensor

from litotes.backbones.encoder import DualEncoder
from litotes.language import Query

NEIGHBOURS = 10
#: Cosine from which on two pictures are the same.
_COPY = 1 - 1e-5
#: Similarities that are held at once while neighbours are looked for.
_AT_ONCE = 16_000_000


class Images:
    """The pictures that a query is answered among.

    Args:
        vectors: unit vectors ``(N, d)``, float32.
        sample: of all that is searched, where ``vectors`` are but the candidates ``(M, d)``.
    """

    def __init__(self, vectors: Tensor, sample: "Images | None" = None) -> None:
        self.vectors = vectors
        self.background = sample or self
        """What tells how alike pictures of this kind are to a text: the sample, or all."""

    @cached_property
    def neighbours(self) -> Tensor:
        """The mean of the ten vectors nearest to each ``(N, d)``; copies of it do not count, and
        what has no other neighbour is its own.
        """
        known = self.background is self
        tables = [self.vectors] if known else [self.vectors, self.background.vectors]
        pool = sum(map(len, tables))
        parts = self.vectors.split(max(1, _AT_ONCE // pool))
        again = torch.empty(0, dtype=torch.long) if known else self._again(parts)
        means = []
        for part in parts:
            alike = torch.cat([part @ table.T for table in tables], dim=1)
            alike[:, again] = -torch.inf
            alike.masked_fill_(alike > _COPY, -torch.inf)
            highest, near = alike.topk(min(NEIGHBOURS, pool), dim=1)
            votes = (highest > -torch.inf).float()
            heard = votes.sum(1, keepdim=True)
            mean = torch.einsum("qn,qnd->qd", votes, _rows(tables, near))
            means.append(torch.where(heard > 0, mean / heard.clamp(min=1), part))
        return torch.cat(means)

    def _again(self, parts: Sequence[Tensor]) -> Tensor:
        """Where candidates stand in the sample, counted on behind the candidates: a picture has one
        vote. They are known by their cosine, as a sample may be rounded otherwise.
        """
        others = self.background.vectors
        copies = torch.stack([(part @ others.T > _COPY).any(0) for part in parts]).any(0)
        return len(self.vectors) + copies.nonzero()[:, 0]


def _rows(tables: Sequence[Tensor], places: Tensor) -> Tensor:
    """Rows of one table, or of two as if one stood behind the other ``(…, d)``: to put them
    together takes longer than all else.
    """
    first = tables[0]
    rows = first[places.clamp(max=len(first) - 1)]
    if len(tables) == 1:
        return rows
    second = tables[1][(places - len(first)).clamp(min=0)]
    return torch.where((places < len(first))[..., None], rows, second)


class Statements(NamedTuple):
    """Statements about pictures, of which the highest value is the likeliest for a picture.

    Attributes:
        weights: of each statement ``(S, d)``.
        offsets: of each ``(S,)``; the value is ``weights · image + offset``.
        images: the vectors of pictures that they are to be put to ``(N, d)``.
    """

    weights: Tensor
    offsets: Tensor
    images: Tensor


class Strategy(Protocol):
    """A way to answer queries.

    A query without negation is answered as :class:`Plain` does, bit for bit.
    """

    @property
    def name(self) -> str:
        """How the command line calls it."""
        ...

    def vectors(self, queries: Sequence[Query], encoder: DualEncoder) -> Tensor:
        """Unit query vectors ``(Q, d)``, float32: what serves best where images can only be ranked
        by their cosine with one vector.
        """
        ...

    def scores(self, queries: Sequence[Query], encoder: DualEncoder, images: Images) -> Tensor:
        """How well each image answers each query ``(Q, N)``; comparable among a query's images."""
        ...

    def statements(
        self, queries: Sequence[Query], encoder: DualEncoder, images: Images
    ) -> Statements:
        """How well sentences describe images, affirmative ones too; comparable among an image's."""
        ...


class ByVector(ABC):
    """A strategy that is its query vectors and nothing more."""

    @abstractmethod
    def vectors(self, queries: Sequence[Query], encoder: DualEncoder) -> Tensor:
        """Unit query vectors ``(Q, d)``, float32."""

    def scores(self, queries: Sequence[Query], encoder: DualEncoder, images: Images) -> Tensor:
        """Cosines ``(Q, N)``."""
        return self.vectors(queries, encoder) @ images.vectors.T

    def statements(
        self, queries: Sequence[Query], encoder: DualEncoder, images: Images
    ) -> Statements:
        """The query vectors, without offsets."""
        vectors = self.vectors(queries, encoder)
        return Statements(vectors, torch.zeros(len(vectors)), images.vectors)


def where_negated(
    queries: Sequence[Query],
    plain: Callable[[Sequence[Query]], Tensor],
    answer: Callable[[Sequence[Query]], Tensor],
) -> Tensor:
    """A line for each query ``(Q, n)``, one way or the other.

    Args:
        queries: Q of them.
        plain: gives the lines of queries that exclude nothing.
        answer: gives those of queries that do.
    """
    rows = [i for i, query in enumerate(queries) if query.is_negated]
    if not rows:
        return plain(queries)
    answered = answer([queries[i] for i in rows])
    if len(rows) == len(queries):
        return answered
    # All at once: what is encoded together may change the last bit.
    lines = plain(queries)
    lines[rows] = answered
    return lines
