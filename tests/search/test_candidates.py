"""Candidates of another engine are scored as a search scores them."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import litotes
from litotes.language import parse
from litotes.search import PhotoIndex
from litotes.strategies import Calibrated, Images


@pytest.mark.parametrize("query", ["a red picture", "a red picture, no blue things"])
@pytest.mark.parametrize("strategy", ["plain", "subtract", "calibrated"])
def test_all_of_an_index_are_ordered_as_by_its_search(
    photos: Path, encoder: Any, query: str, strategy: str
) -> None:
    PhotoIndex.build(photos, encoder, progress=False)
    index = PhotoIndex.open(photos, encoder)
    batches = list(index.vectors())
    paths = [path for part, _ in batches for path in part]
    vectors = np.concatenate([part for _, part in batches])
    ranked = litotes.rerank(query, paths, vectors, encoder, vectors, strategy=strategy)
    results = index.search(query, 40, strategy)
    expected = {result.path: result.score for result in results}
    np.testing.assert_allclose(
        [score for _, score in ranked], [expected[path] for path, _ in ranked], rtol=1e-3
    )
    scores = [score for _, score in ranked]
    assert scores == sorted(scores, reverse=True)
    assert litotes.rerank(query, paths, vectors, encoder, vectors, 3, strategy=strategy) == [
        *ranked[:3]
    ]


@given(seed=st.integers(0, 10**6), count=st.integers(1, 40), kind=st.sampled_from("efd"))
@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_length_order_and_kind_of_number_do_not_matter(
    encoder: Any, seed: int, count: int, kind: str
) -> None:
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(count, encoder.dim)).astype(kind)
    # Candidates stand in the sample too, and there may be rounded otherwise.
    sample = np.concatenate([rng.normal(size=(100, encoder.dim)), vectors])
    found = litotes.rerank(
        None, range(count), vectors, encoder, sample, exclude=["red"], strategy="calibrated"
    )
    order = rng.permutation(count)
    scaled = (vectors.astype(float) * rng.uniform(0.1, 9, (count, 1)))[order]
    other = litotes.rerank(
        None, order.tolist(), scaled, encoder, sample, exclude=["red"], strategy="calibrated"
    )
    assert {one.id for one in found} == set(range(count))
    scores = dict(found)
    for one in other:
        assert one.score == pytest.approx(scores[one.id], rel=1e-3, abs=1e-5)


def test_without_a_sample_the_candidates_are_all_that_is_known(encoder: Any) -> None:
    vectors = np.random.default_rng(0).normal(size=(30, encoder.dim))
    asked = "a red thing, no blue"
    found = dict(litotes.rerank(asked, range(30), vectors, encoder, strategy="calibrated"))
    unit = torch.nn.functional.normalize(torch.from_numpy(vectors).float(), dim=1)
    expected = Calibrated().scores([parse(asked)], encoder, Images(unit))[0].exp()
    np.testing.assert_allclose([found[i] for i in range(30)], expected.numpy(), rtol=1e-3)


def test_nothing_to_order(encoder: Any) -> None:
    assert litotes.rerank("red", [], [], encoder) == []
    assert litotes.rerank("red", [], np.empty((0, encoder.dim)), encoder) == []


@pytest.mark.parametrize(
    ("vectors", "said"),
    [
        (np.ones((2, 3)), r"shape \(2, 3\); the encoder needs \(N, 48\)"),
        (np.ones(48), r"shape \(48,\)"),
        (np.ones((3, 48)), "2 ids and 3 vectors"),
        (np.stack([np.ones(48), np.full(48, np.nan)]), r"vectors\[1\] is zero or not finite"),
        (np.zeros((2, 48)), r"vectors\[0\] is zero"),
    ],
)
def test_vectors_that_cannot_be_used(encoder: Any, vectors: Any, said: str) -> None:
    with pytest.raises(ValueError, match=said):
        litotes.rerank("red", ["a", "b"], vectors, encoder)
    good = np.ones((2, 48))
    if "ids" not in said:
        with pytest.raises(ValueError, match=said.replace("vectors", "sample")):
            litotes.rerank("red", ["a", "b"], good, encoder, vectors)


def test_other_faults(encoder: Any) -> None:
    good = np.ones((2, 48))
    with pytest.raises(ValueError, match="the sample is empty"):
        litotes.rerank("red", ["a", "b"], good, encoder, [])
    with pytest.raises(ValueError, match="k is 0"):
        litotes.rerank("red", ["a", "b"], good, encoder, k=0)
    with pytest.raises(litotes.LitotesError, match="nothing is asked for"):
        litotes.rerank(None, ["a", "b"], good, encoder)
