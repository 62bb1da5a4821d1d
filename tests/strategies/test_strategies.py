"""Strategies: what each computes, and that an affirmative query is answered by `plain`."""

import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.steering.test_direction import PAIRS
from torch.nn.functional import normalize

from litotes.errors import LitotesError
from litotes.language import Query, parse
from litotes.steering import NegationDirection
from litotes.strategies import (
    NAMES,
    Calibrated,
    Deo,
    Images,
    Plain,
    Steer,
    Subspace,
    Subtract,
    get,
)

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


ANGLES = st.floats(0.0, math.pi)


@settings(max_examples=200)
@given(ANGLES, st.floats(0.05, 0.999))
def test_subspace_is_the_middle_of_what_is_left_of_a_cap(theta, threshold):
    """In the plane of both texts: from the far rim of one cap to the rim of the other."""
    wanted = torch.tensor([1.0, 0.0])
    unwanted = torch.tensor([math.cos(theta), math.sin(theta)])
    found = Subspace(threshold).between(wanted, unwanted)
    alpha = math.acos(threshold)
    raw = Subspace(threshold, raw=True).between(wanted, unwanted)
    # With θ this small the angle between float32 vectors is known to few digits.
    if math.sin(theta) < 5e-2 or abs(theta - 2 * alpha) < 1e-2:
        assert torch.isfinite(found).all()
        return
    # The wanted cap is at angles -α to α, the unwanted one from θ - α; what is left, -α to θ - α.
    middle = (-alpha + theta - alpha) / 2
    expected = torch.tensor([math.cos(middle), math.sin(middle)])
    torch.testing.assert_close(raw, expected, atol=2e-5, rtol=0)
    met = theta < 2 * alpha
    torch.testing.assert_close(found, expected if met else wanted, atol=2e-5, rtol=0)


def test_subspace_takes_several_excluded_things_as_one(tiny_encoder):
    dog, ball, snow = tiny_encoder.encode_texts(["see a dog", "see a ball", "see snow"])
    strategy = Subspace(0.3, prompt="see {}")
    expected = strategy.between(dog, normalize(ball + snow, dim=0))
    torch.testing.assert_close(strategy.vectors([NEGATED], tiny_encoder)[0], expected)


def test_deo_descends_its_loss(tiny_encoder):
    dog, ball, snow = tiny_encoder.encode_texts(["see a dog", "see a ball", "see snow"]).double()
    start = tiny_encoder.encode_texts([NEGATED.raw])[0].double()
    strategy = Deo(steps=5, lr=0.05, temperature=0.2, anchor=0.3, prompt="see {}")

    def loss(query):
        unit = query / query.norm()
        odds = [torch.exp(unit @ text / 0.2) for text in (dog, ball, snow)]
        return -torch.log(odds[0] / sum(odds)) + 0.3 * (1 - unit @ start)

    query = start.clone()
    for _ in range(5):
        nudges = 1e-5 * torch.eye(len(query), dtype=torch.double)
        slope = [(loss(query + n) - loss(query - n)) / 2e-5 for n in nudges]
        query = query - 0.05 * torch.stack(slope)
    found = strategy.vectors([NEGATED, parse("a cat without a hat")], tiny_encoder)[0]
    torch.testing.assert_close(found.double(), query / query.norm(), atol=1e-5, rtol=0)
    assert loss(found.double()) < loss(start)


@pytest.fixture(scope="module")
def images(tiny_encoder):
    torch.manual_seed(0)
    return Images(normalize(torch.randn(40, tiny_encoder.dim), dim=1))


def test_neighbours_are_the_nearest_others(images):
    vectors = images.vectors.numpy()
    for row, vector in enumerate(vectors):
        alike = vectors @ vector
        alike[row] = -2
        near = vectors[np.argsort(-alike)[:10]].mean(0)
        np.testing.assert_allclose(images.neighbours[row].numpy(), near, atol=1e-6)
    assert torch.equal(Images(images.vectors[:1]).neighbours, images.vectors[:1])
    a, b = images.vectors[:2]
    torch.testing.assert_close(Images(torch.stack([a, a, b])).neighbours, torch.stack([b, b, a]))


def test_candidates_are_judged_as_among_all(tiny_encoder, images):
    """The sample holds all pictures here, the candidates among them."""
    candidates = Images(images.vectors[5:17], images)
    torch.testing.assert_close(candidates.neighbours, images.neighbours[5:17])
    whole = Calibrated().scores([NEGATED], tiny_encoder, images)
    some = Calibrated().scores([NEGATED], tiny_encoder, candidates)
    torch.testing.assert_close(some, whole[:, 5:17], atol=1e-4, rtol=1e-4)


CALIBRATED = Calibrated("say {}", "see {}")


def z_scores(texts, images, anything, contrast):
    """Robust ones, of texts read beside one that says nothing."""
    seen = (images.vectors + images.neighbours) / 2
    values = seen.numpy() @ (texts - contrast * anything).numpy().T
    # Of an even number, the lower one of the middle.
    median = np.sort(values, 0)[(len(values) - 1) // 2]
    spread = 1.4826 * np.sort(np.abs(values - median), 0)[(len(values) - 1) // 2]
    return (values - median) / spread


def test_calibrated_multiplies_probabilities(tiny_encoder, images):
    texts = ["say a dog", "see a ball", "see snow", "a photo"]
    dog, ball, snow, anything = tiny_encoder.encode_texts(texts)
    shown = z_scores(dog[None], images, anything, 0.3)[:, 0]
    absent = z_scores(torch.stack([ball, snow]), images, anything, 0.5)
    chance = 1 / (1 + np.exp(-1.5 * (shown - 3))) * np.prod(1 / (1 + np.exp(absent - 1)), 1)
    denial = Query("", ("snow",), "no snow")
    found = CALIBRATED.scores([NEGATED, denial], tiny_encoder, images).exp().numpy()
    np.testing.assert_allclose(found[0], chance, rtol=1e-3)
    np.testing.assert_allclose(found[1], 1 / (1 + np.exp(absent[:, 1] - 1)), rtol=1e-3)


def test_calibrated_compares_statements_by_their_odds(tiny_encoder, images):
    said = [NEGATED, parse("This image includes a dog."), Query("", ("snow",), "no snow")]
    texts = ["say a dog", "see a ball", "see snow", "a photo"]
    dog, ball, snow, anything = tiny_encoder.encode_texts(texts)
    shown = z_scores(dog[None], images, anything, 0.3)[:, 0] - 1
    absent = z_scores(torch.stack([ball, snow]), images, anything, 0.5) - 1
    expected = np.stack([shown - absent.sum(1), shown, -absent[:, 1]])
    weights, offsets, vectors = CALIBRATED.statements(said, tiny_encoder, images)
    found = (weights @ vectors.T + offsets[:, None]).numpy()
    np.testing.assert_allclose(found, expected, atol=2e-3)


def test_calibrated_bears_few_and_equal_pictures(tiny_encoder, images):
    for few in (images.vectors[:1], images.vectors[:2], images.vectors[:1].expand(5, -1)):
        scores = Calibrated().scores([NEGATED], tiny_encoder, Images(few))
        assert torch.isfinite(scores).all()


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
    images = Images(normalize(torch.randn(30, plain.shape[1]), dim=1))
    cosines = Plain().scores(queries, tiny_encoder, images)
    for strategy in (steer, Subtract(), Subspace(), Deo(), Calibrated()):
        vectors = strategy.vectors(queries, tiny_encoder)
        scores = strategy.scores(queries, tiny_encoder, images)
        for row, query in enumerate(queries):
            assert torch.equal(vectors[row], plain[row]) != query.is_negated
            assert torch.equal(scores[row], cosines[row]) != query.is_negated


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
