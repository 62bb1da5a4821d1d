"""CLIP and SigLIP of transformers give transformers' own vectors."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch
from PIL import Image
from torch.nn.functional import normalize
from transformers import (
    AutoTokenizer,
    BertConfig,
    BertModel,
    Siglip2Config,
    Siglip2ImageProcessor,
    Siglip2Model,
    SiglipConfig,
    SiglipImageProcessor,
    SiglipModel,
)

import litotes
from litotes.errors import LitotesWarning, ModelError

SIZES = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 3,
    "num_attention_heads": 2,
}
VISION = {**SIZES, "image_size": 32, "patch_size": 16}


def save_siglip(folder: Path, words: Callable[[str], Path], two: bool) -> Any:
    text = {**SIZES, "vocab_size": 100, "max_position_embeddings": 64, "projection_size": 64}
    torch.manual_seed(0)
    if two:
        vision = {**SIZES, "patch_size": 16, "num_patches": 16}
        model = Siglip2Model(Siglip2Config(text_config=text, vision_config=vision))
        Siglip2ImageProcessor(patch_size=16, max_num_patches=16).save_pretrained(folder)
    else:
        model = SiglipModel(SiglipConfig(text_config=text, vision_config=VISION))
        SiglipImageProcessor(size={"height": 32, "width": 32}).save_pretrained(folder)
    model.save_pretrained(folder)
    AutoTokenizer.from_pretrained(words("siglip")).save_pretrained(folder)
    return model.eval()


@torch.no_grad()
def check(
    folder: Path, model: Any, captions: list[str], pictures: list[Image.Image], length: int
) -> litotes.backbones.encoder.DualEncoder:
    encoder = litotes.load(folder, device="cpu")
    assert encoder.context_length == length
    with pytest.warns(LitotesWarning, match="were cut"):
        texts = encoder.encode_texts(captions, batch_size=4)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    inputs = tokenizer(
        captions, padding="max_length", max_length=length, truncation=True, return_tensors="pt"
    )
    expected = normalize(model.get_text_features(**inputs).pooler_output, dim=-1)
    torch.testing.assert_close(texts, expected, atol=1e-5, rtol=0)
    assert encoder.dim == expected.shape[1]

    inputs = encoder.image.processor(images=pictures, return_tensors="pt")
    expected = normalize(model.get_image_features(**inputs).pooler_output, dim=-1)
    images = encoder.encode_images(pictures, batch_size=2)
    torch.testing.assert_close(images, expected, atol=1e-5, rtol=0)
    return encoder


@pytest.mark.parametrize("eos", [2, 49407])
def test_clip(
    eos: int,
    save_clip: Callable[..., Any],
    captions: list[str],
    pictures: list[Image.Image],
    tmp_path: Path,
) -> None:
    model = save_clip(tmp_path, eos)
    encoder = check(tmp_path, model, captions, pictures, 77)
    assert encoder.text.trims


@pytest.mark.parametrize("two", [False, True], ids=["siglip", "siglip2"])
def test_siglip(
    two: bool,
    words: Callable[[str], Path],
    captions: list[str],
    pictures: list[Image.Image],
    tmp_path: Path,
) -> None:
    model = save_siglip(tmp_path, words, two)
    encoder = check(tmp_path, model, captions, pictures, 64)
    assert not encoder.text.trims


def test_number_of_cut_captions_where_pad_is_eos(
    save_clip: Callable[..., Any], captions: list[str], tmp_path: Path
) -> None:
    save_clip(tmp_path, 49407)
    encoder = litotes.load(tmp_path, device="cpu")
    assert encoder.text.tokenize(captions)[1] == 2


def test_other_models_are_named(tmp_path: Path) -> None:
    BertModel(BertConfig(**SIZES, vocab_size=10)).save_pretrained(tmp_path)
    with pytest.raises(ModelError, match=r"'bert' model.*clip, siglip, siglip2"):
        litotes.load(tmp_path)


def test_lacking_weights_are_not_drawn_at_random(
    save_clip: Callable[..., Any], tmp_path: Path
) -> None:
    model = save_clip(tmp_path, 2)
    state = model.state_dict()
    del state["text_projection.weight"]
    model.save_pretrained(tmp_path, state_dict=state)
    with pytest.raises(ModelError, match=r"lacks weights: text_projection.weight"):
        litotes.load(tmp_path)


def test_lacking_tokenizer(save_clip: Callable[..., Any], tmp_path: Path) -> None:
    save_clip(tmp_path, 2)
    for path in tmp_path.glob("*token*"):
        path.unlink()
    with pytest.raises(ModelError, match="lacks its tokenizer's files"):
        litotes.load(tmp_path)


def test_quick_gelu_is_not_for_transformers(save_clip: Callable[..., Any], tmp_path: Path) -> None:
    save_clip(tmp_path, 2)
    with pytest.raises(ModelError, match="quick_gelu is for open_clip models"):
        litotes.load(tmp_path, quick_gelu=True)
