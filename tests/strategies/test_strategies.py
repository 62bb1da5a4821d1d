"""Strategies: what each computes, and that an affirmative query is answered by `plain`."""

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.steering.test_direction import PAIRS
from torch.nn.functional import normalize

from litotes.errors import LitotesError
from litotes.language import Query, parse
from litotes.steering import NegationDirection
from litotes.strategies import NAMES, Plain, Steer, Subtract, get

NEGATED = Query("a dog", ("a ball", "snow"), "a dog, no ball, no snow")


@pytest.fixture(scope="module")
def steer(tiny_encoder):
    return Steer(NegationDirection.fit(tiny_encoder, PAIRS), alpha=0.4)


def test_plain_encodes_the_query_as_it_stands(tiny_encoder):
    vector = Plain().vectors([NEGATED], tiny_encoder)
    assert torch.equal(vector, tiny_encoder.encode_texts([NEGATED.raw]))


def test_subtract_takes_each_excluded_thing_away(tiny_encoder):
    parts = ["see a dog", "see a ball", "see snow"]
    dog, ball, snow = tiny_encoder.encode_texts(parts)
    vector = Subtract(beta=0.5, prompt="see {}").vectors([NEGATED], tiny_encoder)[0]
    torch.testing.assert_close(vector, normalize(dog - 0.5 * (ball + snow), dim=0))


def test_subtract_starts_from_any_photo_when_nothing_is_affirmed(tiny_encoder):
    photo, dog = tiny_encoder.encode_texts(["a photo", "a {} dog"])
    vector = Subtract(beta=0.5, prompt="{}").vectors(
        [Query("", ("a {} dog",), "no {} dog")], tiny_encoder
    )[0]
    torch.testing.assert_close(vector, normalize(photo - 0.5 * dog, dim=0))


def test_steer_encodes_negated_queries_with_the_steered_encoder(tiny_encoder, steer):
    vector = steer.vectors([NEGATED], tiny_encoder)
    steered = tiny_encoder.steered(steer.direction, alpha=0.4)
    torch.testing.assert_close(vector, steered.encode_texts([NEGATED.raw]))


@settings(max_examples=30)
@given(
    st.lists(
        st.sampled_from(["a dog", "two cats on a sofa", "no parking sign", "a knot in a rope", ""]),
        min_size=1,
        max_size=4,
    ),
    st.integers(0, 3),
)
def test_affirmative_queries_get_plain_vectors_bit_for_bit(tiny_encoder, steer, texts, at):
    """Also among negated ones."""
    queries = [parse(text) for text in texts]
    queries.insert(min(at, len(queries)), NEGATED)
    plain = Plain().vectors(queries, tiny_encoder)
    for strategy in (steer, Subtract()):
        vectors = strategy.vectors(queries, tiny_encoder)
        for query, one, other in zip(queries, vectors, plain, strict=True):
            assert torch.equal(one, other) != query.is_negated


def test_the_probe_gate_asks_the_direction(tiny_encoder, steer):
    probed = Steer(steer.direction, alpha=0.4, gate="probe")
    queries = [Query(text, (), text) for pair in PAIRS[:4] for text in pair]
    changed = [
        not torch.equal(a, b)
        for a, b in zip(
            probed.vectors(queries, tiny_encoder),
            Plain().vectors(queries, tiny_encoder),
            strict=True,
        )
    ]
    assert changed == steer.direction.says_negated(tiny_encoder, [q.raw for q in queries])
    assert True in changed
    assert False in changed


def test_every_name_is_found():
    assert [get(name).name for name in NAMES] == list(NAMES)
    assert get("default").name in NAMES


def test_an_unknown_name_lists_the_known_ones():
    with pytest.raises(LitotesError, match="plain, steer, subtract"):
        get("magic")
