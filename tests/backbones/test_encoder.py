"""What holds for every DualEncoder: batches, states, steering, fingerprints, mistakes."""

import subprocess
import sys
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import open_clip
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from open_clip.transform import PreprocessCfg, image_transform
from PIL import Image
from torch import Tensor

import litotes
from litotes.backbones.encoder import DualEncoder
from litotes.backbones.openclip import from_open_clip
from litotes.backbones.text import LayerHook
from litotes.errors import ImageError, LitotesWarning

Build = Callable[..., Any]


class Direction:
    """Steers by a function of layer and states."""

    fingerprint = "d1"

    def __init__(self, change: LayerHook) -> None:
        self.change = change

    def hook(self, encoder: DualEncoder, alpha: float, layers: Iterable[int] | None) -> LayerHook:
        return self.change


def wrap(model: Any, **options: Any) -> DualEncoder:
    size = 32
    open_clip.model.set_model_preprocess_cfg(model, {**vars(PreprocessCfg()), "size": size})
    transform = image_transform(size, is_train=False)
    return from_open_clip("tiny", model, transform, open_clip.SimpleTokenizer(), **options)


@pytest.fixture
def encoder(tiny_clip: Build) -> DualEncoder:
    return wrap(tiny_clip())


def test_vectors_do_not_depend_on_company(encoder: DualEncoder, captions: list[str]) -> None:
    texts = captions[:7]
    together = encoder.encode_texts(texts, batch_size=100)
    for i, text in enumerate(texts):
        alone = encoder.encode_texts([text])
        torch.testing.assert_close(alone[0], together[i], atol=1e-6, rtol=0)
    assert torch.equal(together[0], together[3])
    torch.testing.assert_close(together.norm(dim=1), torch.ones(7))
    assert together.dtype == torch.float32


@settings(max_examples=15)
@given(
    texts=st.lists(st.text(max_size=20), max_size=8),
    batch_size=st.integers(1, 5),
)
def test_any_texts_in_any_batches(texts: list[str], batch_size: int) -> None:
    encoder = SHARED[0]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LitotesWarning)
        found = encoder.encode_texts(texts, batch_size=batch_size)
        whole = encoder.encode_texts(texts, batch_size=100)
    assert found.shape == (len(texts), 32)
    torch.testing.assert_close(found, whole, atol=1e-6, rtol=0)


SHARED: list[DualEncoder] = []


@pytest.fixture(autouse=True)
def _shared(encoder: DualEncoder) -> None:
    SHARED[:] = [encoder]


def test_cut_captions_are_counted_once_a_call(encoder: DualEncoder, captions: list[str]) -> None:
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        encoder.encode_texts(captions, batch_size=1)
        encoder.text_states(captions, batch_size=1)
        encoder.encode_texts(captions[:7])
    found = [w for w in caught if issubclass(w.category, LitotesWarning)]
    assert len(found) == 2
    assert "2 of 8 captions had more than 77 tokens" in str(found[0].message)
    assert {w.filename for w in found} == {__file__}


def test_states_lead_to_the_vectors(encoder: DualEncoder, captions: list[str]) -> None:
    texts = captions[:7]
    states = encoder.text_states(texts, batch_size=3)
    assert states.shape == (7, 3, 64)
    assert states.dtype == torch.float32
    model: Any = encoder.model
    with torch.no_grad():
        pooled = model.ln_final(states[:, -1]) @ model.text_projection
    vectors = torch.nn.functional.normalize(pooled, dim=-1)
    torch.testing.assert_close(vectors, encoder.encode_texts(texts), atol=1e-6, rtol=0)


def test_states_are_those_of_a_plain_walk(encoder: DualEncoder, captions: list[str]) -> None:
    """Against forward hooks on the untrimmed model."""
    texts = captions[:7]
    model: Any = encoder.model
    seen: list[Tensor] = []
    handles = [
        block.register_forward_hook(lambda m, i, out: seen.append(out))
        for block in model.transformer.resblocks
    ]
    ids = open_clip.SimpleTokenizer()(texts)
    with torch.no_grad():
        model.encode_text(ids)
    for handle in handles:
        handle.remove()
    expected = torch.stack([h[torch.arange(7), ids.argmax(-1)] for h in seen], dim=1)
    torch.testing.assert_close(encoder.text_states(texts), expected, atol=1e-5, rtol=0)


def test_steering_by_nothing_is_plain_to_the_bit(
    encoder: DualEncoder, short_captions: list[str]
) -> None:
    plain = encoder.encode_texts(short_captions)
    view = encoder.steered(Direction(lambda layer, states: None))
    assert torch.equal(view.encode_texts(short_captions), plain)
    with pytest.raises(ValueError, match="steered already"):
        view.steered(Direction(lambda layer, states: None))


def test_steering_leaves_the_original_untouched(
    encoder: DualEncoder, short_captions: list[str], pictures: list[Image.Image]
) -> None:
    plain, images = encoder.encode_texts(short_captions), encoder.encode_images(pictures)
    name = encoder.text_fingerprint
    push = torch.randn(64, generator=torch.Generator().manual_seed(0))
    view = encoder.steered(
        Direction(lambda layer, h: 0.8 * h + 0.2 * h.norm(dim=-1, keepdim=True) * push)
    )
    assert (view.encode_texts(short_captions) - plain).abs().max() > 0.01
    assert torch.equal(view.encode_images(pictures), images)
    assert torch.equal(encoder.encode_texts(short_captions), plain)
    assert encoder.text_fingerprint == name != view.text_fingerprint
    assert view.image_fingerprint == encoder.image_fingerprint
    assert encoder.steered(Direction(lambda layer, h: h), 0.5).text_fingerprint != name
    # States of a steered encoder are the steered ones.
    first = encoder.text_states(short_captions)[:, 0]
    expected = 0.8 * first + 0.2 * first.norm(dim=-1, keepdim=True) * push
    torch.testing.assert_close(view.text_states(short_captions)[:, 0], expected)


def test_steering_equals_a_forward_hook(encoder: DualEncoder, short_captions: list[str]) -> None:
    push = torch.randn(64, generator=torch.Generator().manual_seed(1))
    view = encoder.steered(Direction(lambda layer, h: h + push if layer == 1 else None))
    model: Any = encoder.model
    ids = open_clip.SimpleTokenizer()(short_captions)
    rows, place = torch.arange(len(ids)), ids.argmax(-1)

    def hook(module: Any, inputs: Any, out: Tensor) -> Tensor:
        out = out.clone()
        out[rows, place] += push
        return out

    handle = model.transformer.resblocks[1].register_forward_hook(hook)
    with torch.no_grad():
        expected = torch.nn.functional.normalize(model.encode_text(ids), dim=-1)
    handle.remove()
    torch.testing.assert_close(view.encode_texts(short_captions), expected, atol=1e-5, rtol=0)


def test_run_is_differentiable(encoder: DualEncoder, short_captions: list[str]) -> None:
    weight = encoder.text.blocks[0].mlp.c_fc.weight.requires_grad_()
    images = encoder.encode_images([Image.new("RGB", (40, 40))])
    ids, _ = encoder.text.tokenize(short_captions)
    (encoder.text.run(ids) @ images.T).sum().backward()
    assert weight.grad is not None
    assert weight.grad.abs().sum() > 0


def test_paths_pictures_and_tensors_agree(
    encoder: DualEncoder, pictures: list[Image.Image], tmp_path: Path
) -> None:
    paths = [tmp_path / f"{i}.png" for i in range(len(pictures))]
    for path, picture in zip(paths, pictures, strict=True):
        picture.save(path)
    tensors = [encoder.image.preprocess(picture) for picture in pictures]
    expected = encoder.encode_images(pictures)
    for images in (paths, [str(path) for path in paths], tensors, torch.stack(tensors)):
        assert torch.equal(encoder.encode_images(images), expected)
    mixed = [paths[0], pictures[1], tensors[2]] * 3
    found = encoder.encode_images(mixed, batch_size=2, progress=True)
    torch.testing.assert_close(found, expected.repeat(3, 1), atol=1e-6, rtol=0)


def test_a_broken_picture_is_named(encoder: DualEncoder, tmp_path: Path) -> None:
    (tmp_path / "note.jpg").write_text("not a picture")
    with pytest.raises(ImageError, match=r"note\.jpg"):
        encoder.encode_images([Image.new("RGB", (9, 9)), tmp_path / "note.jpg"])


def test_mistaken_arguments(encoder: DualEncoder, tmp_path: Path) -> None:
    for method in (encoder.encode_texts, encoder.text_states):
        with pytest.raises(TypeError, match=r"pass \[text\]"):
            method("a dog")
        with pytest.raises(TypeError, match=r"texts\[1\] is int"):
            method(["a dog", 3])
    for one in (tmp_path, "a.jpg", Image.new("RGB", (9, 9)), torch.zeros(3, 32, 32)):
        with pytest.raises(TypeError, match=r"pass \[image\]"):
            encoder.encode_images(one)


def test_nothing_gives_nothing(encoder: DualEncoder) -> None:
    assert encoder.encode_texts([]).shape == (0, 32)
    assert encoder.encode_images([]).shape == (0, 32)
    assert encoder.text_states([]).shape == (0, 3, 64)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_low_precision(
    dtype: torch.dtype, tiny_clip: Build, short_captions: list[str], pictures: list[Image.Image]
) -> None:
    full, low = wrap(tiny_clip()), wrap(tiny_clip(), dtype=dtype)
    texts, images = low.encode_texts(short_captions), low.encode_images(pictures)
    assert texts.dtype == images.dtype == torch.float32
    torch.testing.assert_close(texts, full.encode_texts(short_captions), atol=0.02, rtol=0)
    torch.testing.assert_close(images, full.encode_images(pictures), atol=0.02, rtol=0)
    assert low.text_fingerprint == full.text_fingerprint
    assert low.image_fingerprint == full.image_fingerprint


def fingerprints(encoder: DualEncoder) -> tuple[str, str]:
    return encoder.image_fingerprint, encoder.text_fingerprint


def test_fingerprints_tell_what_changed(tiny_clip: Build) -> None:
    image, text = fingerprints(wrap(tiny_clip()))
    assert fingerprints(wrap(tiny_clip())) == (image, text)

    model = tiny_clip()
    model.ln_final.bias.data[3] += 1e-3
    assert fingerprints(wrap(model))[0] == image
    assert fingerprints(wrap(model))[1] != text

    model = tiny_clip()
    model.visual.proj.data[0, 0] += 1e-3
    assert fingerprints(wrap(model))[0] != image
    assert fingerprints(wrap(model))[1] == text

    model = tiny_clip()
    model.logit_scale.data += 1
    assert fingerprints(wrap(model)) == (image, text)

    other = fingerprints(wrap(tiny_clip(quick_gelu=False)))
    assert other[0] != image
    assert other[1] != text

    encoder = wrap(tiny_clip())
    encoder.model.visual.preprocess_cfg["interpolation"] = "bilinear"
    assert encoder.image_fingerprint != image
    assert encoder.text_fingerprint == text


def test_fingerprints_are_the_same_in_another_process(tiny_clip: Build, tmp_path: Path) -> None:
    torch.save({"model": tiny_clip().state_dict()}, tmp_path / "clip.pt")
    encoder = litotes.load(tmp_path / "clip.pt", device="cpu")
    code = (
        "import sys, litotes\n"
        "e = litotes.load(sys.argv[1], device='cpu')\n"
        "print(e.image_fingerprint, e.text_fingerprint)"
    )
    run = subprocess.run(
        [sys.executable, "-c", code, tmp_path / "clip.pt"], capture_output=True, check=True
    )
    assert run.stdout.decode().split() == list(fingerprints(encoder))
    # Weights that came another way, but are the same, are the same.
    assert fingerprints(wrap(tiny_clip())) == fingerprints(encoder)
