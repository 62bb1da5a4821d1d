"""What every evaluation task is, and what tasks share."""

from collections.abc import Callable, Sequence
from dataclasses import fields, is_dataclass
from functools import partial
from typing import Any, Protocol

import torch
from torch import Tensor

from litotes.backbones.encoder import DualEncoder
from litotes.backbones.vectors import text_vectors
from litotes.errors import DataError
from litotes.evaluation.record import Record
from litotes.language import Query, parse_all
from litotes.steering import NegationDirection
from litotes.strategies import ByVector, Images, Plain, Steer, Strategy, where_negated


class Task(Protocol):
    """Data that was read, and a way to measure an encoder on it."""

    def run(self, encoder: DualEncoder, strategies: Sequence[Strategy]) -> list[Record]:
        """One record a strategy, measured on the same data.

        Raises:
            DataError: pictures are missing, or a score is not a finite number.
        """
        ...


def query_vectors(
    encoder: DualEncoder,
    strategy: Strategy,
    texts: Sequence[str],
    read: Callable[[Sequence[str]], list[Query]] = parse_all,
) -> Tensor:
    """Unit vectors ``(N, d)`` of texts as a strategy answers them.

    A text that is given more than once is encoded once, and one without negation once for all
    strategies: they answer it as `plain` does.

    Args:
        encoder: what is measured.
        strategy: how queries are answered.
        texts: as they stand.
        read: takes texts apart.
    """
    if isinstance(strategy, Plain):
        return text_vectors(encoder, texts)
    # A probe steers whatever it takes for negated, whether the parser does or not.
    probes = isinstance(strategy, Steer) and strategy.gate == "probe"
    queries = {
        query.raw: query for query in read(list(dict.fromkeys(texts))) if probes or query.is_negated
    }
    plain = [text for text in dict.fromkeys(texts) if text not in queries]
    vectors: dict[str, Tensor] = {}
    if plain:
        vectors |= zip(plain, text_vectors(encoder, plain), strict=True)
    if queries:
        answered = strategy.vectors(list(queries.values()), encoder)
        vectors |= zip(queries, answered, strict=True)
    return torch.stack([vectors[text] for text in texts])


def query_scores(
    encoder: DualEncoder,
    strategy: Strategy,
    texts: Sequence[str],
    images: Images,
    read: Callable[[Sequence[str]], list[Query]] = parse_all,
) -> Tensor:
    """How well each image answers each text ``(T, N)``, comparable among a text's images.

    Args:
        encoder: what is measured.
        strategy: how texts are answered.
        texts: as they stand.
        images: all that are ranked.
        read: takes texts apart.

    Raises:
        DataError: a score is not a finite number; names the text.
    """
    if isinstance(strategy, ByVector):
        scores = query_vectors(encoder, strategy, texts, read) @ images.vectors.T
    else:

        def plain(queries: Sequence[Query]) -> Tensor:
            return text_vectors(encoder, [query.raw for query in queries]) @ images.vectors.T

        answer = partial(strategy.scores, encoder=encoder, images=images)
        scores = where_negated(read(texts), plain, answer)
    check_finite(scores, texts)
    return scores


def strategy_settings(strategy: Strategy) -> dict[str, Any]:
    """A strategy's settings as JSON has them; a direction by its fingerprint."""
    anything: Any = strategy
    if not is_dataclass(anything):
        return {}
    values = {field.name: getattr(anything, field.name) for field in fields(anything)}
    return {
        name: value.fingerprint if isinstance(value, NegationDirection) else value
        for name, value in values.items()
    }


def check_finite(scores: Tensor, names: Sequence[str]) -> None:
    """Raise `DataError` naming the first caption with a score ``(N, M)`` that is not finite.

    A NaN compares as false with everything and so could pass for a right answer.
    """
    bad = (~torch.isfinite(scores).all(1)).nonzero().flatten()
    if len(bad):
        raise DataError(f"the scores of {names[int(bad[0])]!r} are not finite numbers")
