"""Negation directions: the formula, what they are bound to, and files."""

import numpy as np
import pytest
import torch
from safetensors.torch import save_file
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.conftest import make_tiny_encoder

from litotes.errors import DirectionError
from litotes.steering import NegationDirection, bundled_direction

NOUNS = ("dog", "cat", "ball", "tree", "car", "hat", "boat", "cup", "horse", "bench")
PAIRS = [(f"a {a} near a {b}", f"a {a} without a {b}") for a in NOUNS for b in NOUNS if a != b]


@pytest.fixture(scope="module")
def direction(tiny_encoder):
    return NegationDirection.fit(tiny_encoder, PAIRS)


def test_each_block_gets_the_weight_that_logistic_regression_gives(tiny_encoder, direction):
    order = torch.randperm(len(PAIRS), generator=torch.Generator().manual_seed(0)).tolist()
    train = [PAIRS[i] for i in order[round(len(PAIRS) * 0.2) :]]
    states = tiny_encoder.text_states([caption for pair in train for caption in pair])
    for layer in range(3):
        probe = LogisticRegression(fit_intercept=False, max_iter=1000, tol=1e-4)
        probe.fit(states[:, layer].numpy(), np.tile([0, 1], len(train)))
        expected = torch.from_numpy(probe.coef_[0] / np.linalg.norm(probe.coef_[0])).float()
        torch.testing.assert_close(direction.weights[layer], expected, atol=1e-4, rtol=0)


def test_directions_are_unit_and_tell_held_out_captions_apart(direction):
    torch.testing.assert_close(direction.weights.norm(dim=1), torch.ones(3))
    assert direction.accuracy.min() > 0.9


def test_scaled_features_map_the_weight_back(tiny_encoder):
    """Probe decisions on raw states are those of scikit-learn's pipeline on scaled ones."""
    scaled = NegationDirection.fit(tiny_encoder, PAIRS, features="scaled")
    torch.testing.assert_close(scaled.weights.norm(dim=1), torch.ones(3))
    assert scaled.accuracy.min() > 0.9
    order = torch.randperm(len(PAIRS), generator=torch.Generator().manual_seed(0)).tolist()
    train = [PAIRS[i] for i in order[round(len(PAIRS) * 0.2) :]]
    texts = [caption for pair in train for caption in pair]
    states = tiny_encoder.text_states(texts)[:, scaled.best_layer].numpy()
    probe = make_pipeline(StandardScaler(), LogisticRegression(fit_intercept=False, max_iter=1000))
    probe.fit(states, np.tile([0, 1], len(train)))
    assert scaled.says_negated(tiny_encoder, texts) == (probe.predict(states) == 1).tolist()


def test_steering_follows_the_formula_block_by_block(tiny_encoder, direction):
    """Against a plain walk over open_clip's own blocks that applies the paper's equation."""
    texts = ["a dog without a ball", "no cars"]
    alpha, model = 0.3, tiny_encoder.model
    ids, _ = tiny_encoder.text.tokenize(texts)
    rows, eos = torch.arange(2), ids.argmax(-1)
    with torch.inference_mode():
        hidden = model.token_embedding(ids) + model.positional_embedding
        for layer, block in enumerate(model.transformer.resblocks):
            hidden = block(hidden, attn_mask=model.attn_mask)
            if layer != 1:
                h = hidden[rows, eos]
                push = h.norm(dim=-1, keepdim=True) * direction.weights[layer]
                hidden[rows, eos] = (1 - alpha) * h + alpha * push
        vectors = model.ln_final(hidden)[rows, eos] @ model.text_projection
    expected = torch.nn.functional.normalize(vectors, dim=-1)
    steered = tiny_encoder.steered(direction, alpha=alpha, layers=[0, 2])
    torch.testing.assert_close(steered.encode_texts(texts), expected, atol=1e-5, rtol=0)


def test_steering_leaves_the_encoder_as_it_was(tiny_encoder, direction):
    before = tiny_encoder.encode_texts(["no dog"])
    steered = tiny_encoder.steered(direction, alpha=0.5)
    assert not torch.equal(steered.encode_texts(["no dog"]), before)
    assert torch.equal(tiny_encoder.encode_texts(["no dog"]), before)
    assert steered.image_fingerprint == tiny_encoder.image_fingerprint
    assert steered.text_fingerprint != tiny_encoder.text_fingerprint


def test_alpha_zero_changes_nothing(tiny_encoder, direction):
    steered = tiny_encoder.steered(direction, alpha=0)
    torch.testing.assert_close(
        steered.encode_texts(["a cat"]), tiny_encoder.encode_texts(["a cat"])
    )


def test_a_direction_is_bound_to_its_text_encoder(direction):
    other = make_tiny_encoder(seed=1)
    with pytest.raises(DirectionError, match=r"fitted on tiny .*`litotes direction fit"):
        other.steered(direction)
    with pytest.raises(DirectionError):
        direction.says_negated(other, ["no dog"])


def test_the_probe_says_what_is_negated(tiny_encoder, direction):
    texts = ["a dog near a boat", "a dog without a boat"]
    assert direction.says_negated(tiny_encoder, texts) == [False, True]


@pytest.mark.parametrize(("alpha", "layers"), [(1.5, None), (-0.1, None), (0.1, [3]), (0.1, [-1])])
def test_settings_out_of_range_are_refused(tiny_encoder, direction, alpha, layers):
    with pytest.raises(ValueError, match=r"alpha is|do not exist"):
        tiny_encoder.steered(direction, alpha=alpha, layers=layers)


def test_a_steered_encoder_is_not_steered_again(tiny_encoder, direction):
    with pytest.raises(ValueError, match="steered already"):
        tiny_encoder.steered(direction).steered(direction)


def test_nothing_to_tell_apart_is_an_error(tiny_encoder):
    same = [(f"a {noun}", f"a {noun}") for noun in NOUNS]
    with pytest.raises(DirectionError, match="block 0"):
        NegationDirection.fit(tiny_encoder, same)


def test_too_few_pairs_are_an_error(tiny_encoder):
    with pytest.raises(DirectionError, match="2 pairs are too few"):
        NegationDirection.fit(tiny_encoder, PAIRS[:2])


def test_states_that_are_not_finite_are_an_error():
    broken = make_tiny_encoder(seed=2)
    with torch.no_grad():
        broken.model.positional_embedding.fill_(float("nan"))
    with pytest.raises(DirectionError, match="not finite"):
        NegationDirection.fit(broken, PAIRS)


def test_a_file_keeps_everything(direction, tmp_path):
    direction.save(tmp_path / "d.safetensors")
    again = NegationDirection.load(tmp_path / "d.safetensors")
    assert torch.equal(again.weights, direction.weights)
    assert torch.equal(again.accuracy, direction.accuracy)
    assert again.text_fingerprint == direction.text_fingerprint
    assert again.settings == direction.settings


@pytest.mark.parametrize("content", [b"", b"garbage", b"\x08\0\0\0\0\0\0\0{}      "])
def test_what_is_no_direction_is_named(tmp_path, content):
    file = tmp_path / "x.safetensors"
    file.write_bytes(content)
    with pytest.raises(DirectionError, match=r"x\.safetensors"):
        NegationDirection.load(file)


def test_another_safetensors_file_is_no_direction(tmp_path):
    save_file({"weights": torch.zeros(2)}, tmp_path / "w.safetensors")
    with pytest.raises(DirectionError, match="holds no negation direction"):
        NegationDirection.load(tmp_path / "w.safetensors")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DirectionError, match=r"gone\.safetensors"):
        NegationDirection.load(tmp_path / "gone.safetensors")


def test_an_encoder_without_a_bundled_direction_is_told_how_to_fit_one(tiny_encoder):
    with pytest.raises(DirectionError, match="litotes direction fit --model tiny"):
        bundled_direction(tiny_encoder)
