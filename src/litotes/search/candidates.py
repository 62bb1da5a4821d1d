"""Candidates that came from another engine, scored as a search here would score them."""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import torch
from numpy.typing import ArrayLike
from torch import Tensor

from litotes import strategies
from litotes.backbones.encoder import DualEncoder
from litotes.language import Query
from litotes.search.asked import join, unit_rows
from litotes.strategies import ByVector, Images, Strategy
from litotes.strategies.reference import filled_up, reference


class Ranked(NamedTuple):
    """A candidate and its score: a cosine, or a probability by `calibrated`."""

    id: Any
    score: float


def rerank(
    query: str | Query | None,
    ids: Sequence[Any],
    vectors: ArrayLike,
    encoder: DualEncoder,
    sample: ArrayLike | None = None,
    k: int | None = None,
    exclude: Sequence[str] = (),
    strategy: str | Strategy = "default",
) -> list[Ranked]:
    """Order what a vector database found by how well it answers a query.

    Ask the database with the vector of ``litotes vector`` for some hundred candidates, and give
    them here. The strategy `calibrated` gains most by it, since no one vector says what it says.

    Args:
        query: a sentence, or one taken apart.
        ids: N of them, of any kind.
        vectors: of the candidates ``(N, d)``, of any length.
        encoder: reads the query; its image side made the vectors.
        sample: vectors drawn by lot from the whole index ``(M, d)``; about a thousand will do.
            `calibrated` reads how alike a picture is to a text beside how alike pictures of the
            index are. Without a sample the bundled models have reference pictures; any other
            knows only the candidates, which are all alike to the query: what most of them show
            then counts as ordinary, so that its probabilities are too low for what is asked for,
            and too lenient with what is excluded.
        k: how many to give; by default all.
        exclude: things that are to be absent, beside those of the query.
        strategy: how "not" is answered.

    Returns:
        Best first; of equals, in the order given.

    Raises:
        LitotesError: there is no such strategy, or nothing is asked for.
        ValueError: a shape is wrong, a vector is zero or not finite, or ``k`` is below 1.
    """
    if k is not None and k < 1:
        raise ValueError(f"k is {k}; it must be at least 1")
    asked = join(query, exclude)
    candidates = _unit_rows(vectors, encoder.dim, "vectors")
    if len(ids) != len(candidates):
        raise ValueError(f"there are {len(ids)} ids and {len(candidates)} vectors")
    if isinstance(strategy, str):
        strategy = strategies.get(strategy, encoder.name)
    if not len(candidates):
        return []
    if sample is None:
        known = reference(encoder.image_fingerprint)
    else:
        known = filled_up(_sample_rows(sample, encoder.dim), encoder)
    background = None if known is None else Images(known)
    scores = strategy.scores([asked], encoder, Images(candidates, background))[0]
    if asked.is_negated and not isinstance(strategy, ByVector):
        scores = scores.exp()
    order = scores.argsort(descending=True, stable=True)[:k].tolist()
    return [Ranked(ids[i], float(scores[i])) for i in order]


def _sample_rows(sample: ArrayLike, dim: int) -> Tensor:
    rows = _unit_rows(sample, dim, "sample")
    if not len(rows):
        raise ValueError("the sample is empty: leave it out, or draw vectors from the index")
    return rows


def _unit_rows(values: ArrayLike, dim: int, what: str) -> Tensor:
    rows = np.asarray(values, dtype=np.float64)
    if rows.size == 0:
        rows = rows.reshape(-1, dim) if rows.ndim < 2 else rows
    if rows.ndim != 2 or rows.shape[1] != dim:
        raise ValueError(f"{what} have shape {rows.shape}; the encoder needs (N, {dim})")
    unit, wrong = unit_rows(rows)
    if len(wrong):
        raise ValueError(
            f"{what}[{wrong[0]}] is zero or not finite, as are {len(wrong) - 1} others: "
            f"they have no direction"
        )
    return torch.from_numpy(unit)
