"""Pictures as examples: weighed as further parts of what is asked for."""

import numpy as np
import pytest
import torch
from torch.nn.functional import normalize

from litotes.language import Query
from litotes.strategies import Calibrated, Images
from litotes.strategies.calibrated import ByExample, unframed

NEGATED = Query("a dog", ("a ball", "snow"), "a dog, no ball, no snow")
CALIBRATED = Calibrated()


@pytest.fixture(scope="module")
def images(tiny_encoder):
    torch.manual_seed(0)
    # All alike to a common direction, as a model's pictures are.
    return Images(normalize(torch.randn(60, tiny_encoder.dim) + 0.5, dim=1))


def chance(direction, images, slope, threshold):
    """Of pictures by their standing among all, for what a direction tells."""
    seen = (images.vectors + images.neighbours).numpy() / 2
    values = seen @ direction.numpy()
    middle = (len(values) - 1) // 2
    median = np.sort(values)[middle]
    spread = 1.4826 * np.sort(np.abs(values - median))[middle]
    return 1 / (1 + np.exp(-slope * ((values - median) / spread - threshold)))


def test_examples_are_further_factors(tiny_encoder, images):
    like, unlike = images.vectors[:2], images.vectors[2:3]
    found = ByExample(CALIBRATED, like, unlike, images)
    mean = images.vectors.mean(0)
    ((shown, absent),) = found.probabilities([NEGATED], tiny_encoder, images)
    ((words, excluded),) = CALIBRATED.probabilities([NEGATED], tiny_encoder, images)
    expected = words.exp().numpy()
    for example in like:
        expected = expected * chance(example - mean, images, 1.5, 3.0)
    np.testing.assert_allclose(shown.exp().numpy(), expected, rtol=1e-3)
    torch.testing.assert_close(absent[:2], excluded)
    away = 1 - chance(unlike[0] - mean, images, 1.0, 1.0)
    np.testing.assert_allclose(absent[2].exp().numpy(), away, rtol=1e-3)
    torch.testing.assert_close(
        found.scores([NEGATED], tiny_encoder, images)[0], shown + absent.sum(0)
    )


def test_without_words_examples_are_all(tiny_encoder, images):
    found = ByExample(CALIBRATED, images.vectors[:1], images.vectors[:0], images)
    ((shown, absent),) = found.probabilities([Query("", (), "")], tiny_encoder, images)
    assert absent.shape == (0, 60)
    assert int(shown.argmax()) == 0
    vector = found.vectors([Query("", (), "")], tiny_encoder)[0]
    expected = normalize(images.vectors[0] - images.vectors.mean(0), dim=0)
    torch.testing.assert_close(vector, expected)


def test_the_vector_goes_to_what_is_like_and_from_what_is_unlike(tiny_encoder, images):
    like, unlike = images.vectors[:1], images.vectors[1:2]
    vector = ByExample(CALIBRATED, like, unlike, images).vectors([NEGATED], tiny_encoder)[0]
    plain = CALIBRATED.vectors([NEGATED], tiny_encoder)[0]
    torch.testing.assert_close(vector.norm(), torch.tensor(1.0))
    assert vector @ like[0] > plain @ like[0]
    assert vector @ unlike[0] < plain @ unlike[0]


def test_few_pictures_give_finite_values(tiny_encoder, images):
    for few in (images.vectors[:1], images.vectors[:2], images.vectors[:1].expand(5, -1)):
        among = Images(few)
        found = ByExample(CALIBRATED, few[:1], images.vectors[9:10], among)
        assert torch.isfinite(found.vectors([NEGATED], tiny_encoder)).all()
        assert torch.isfinite(found.scores([NEGATED], tiny_encoder, among)).all()


@pytest.mark.parametrize(
    ("text", "content"), [("a photo of a dog.", "a dog"), ("a dog", "a dog"), ("photos", "photos")]
)
def test_frames_of_affirmative_queries_say_nothing(text, content):
    assert unframed(Query(text, (), text)) == Query(content, (), text)
