"""Reference pictures, which fill up a small index."""

import pytest
import torch
from torch.nn.functional import normalize

import litotes
from litotes.strategies.reference import ENOUGH, filled_up, reference


@pytest.mark.parametrize("name", ["mini", "scenes"])
def test_they_ship_for_the_bundled_models(name):
    encoder = litotes.load(name)
    known = reference(encoder.image_fingerprint)
    assert known.shape == (ENOUGH, encoder.dim)
    assert torch.allclose(known.norm(dim=-1), torch.ones(ENOUGH), atol=1e-5)
    few = normalize(torch.randn(7, encoder.dim, generator=torch.manual_seed(0)), dim=-1)
    filled = filled_up(few, encoder)
    assert torch.equal(filled[:7], few)
    assert torch.equal(filled[7:], known[: ENOUGH - 7])
    many = few.repeat(60, 1)
    assert filled_up(many, encoder) is many


def test_another_model_has_none(tiny_encoder):
    few = torch.eye(3, tiny_encoder.dim)
    assert filled_up(few, tiny_encoder) is few
