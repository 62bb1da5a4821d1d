"""LoRA adapters in PEFT's format, and attention taken apart for them."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import open_clip
import pytest
import torch
from peft import LoraConfig, get_peft_model
from PIL import Image
from safetensors.torch import load_file, save_file
from torch import nn
from torch.nn.functional import normalize

import litotes
from litotes.backbones.adapters import (
    SplitAttention,
    attach_adapter,
    fuse_attention,
    inject_lora,
    split_attention,
)
from litotes.backbones.encoder import DualEncoder
from litotes.errors import ModelError

Build = Callable[..., Any]
TEXT = r"transformer\.resblocks\.\d+\.attn\.(q|k|v)_proj"
BOTH = r".*resblocks\.\d+\.(attn\.(q_proj|out_proj)|mlp\.c_fc)"


@pytest.fixture
def encoder(tiny_clip: Build, tmp_path: Path) -> DualEncoder:
    torch.save({"model": tiny_clip().state_dict()}, tmp_path / "clip.pt")
    return litotes.load(tmp_path / "clip.pt", device="cpu")


def make_adapter(
    folder: Path, model: nn.Module, targets: str | list[str], scale: float = 0.3, **options: Any
) -> nn.Module:
    """Save what PEFT itself saves, with random weights; returns PEFT's own model."""
    split_attention(model)
    config = LoraConfig(r=2, lora_alpha=3, target_modules=targets, **options)
    adapted = get_peft_model(model, config)
    torch.manual_seed(7)
    for name, weight in adapted.named_parameters():
        if "lora_B" in name:
            nn.init.normal_(weight, std=scale)
    adapted.save_pretrained(folder)
    return adapted.eval()


@pytest.mark.parametrize("batch_first", [True, False])
@pytest.mark.parametrize("dims", [{}, {"kdim": 24, "vdim": 40}], ids=["same", "other"])
@pytest.mark.parametrize("bias", [True, False])
def test_split_attention_computes_the_same(
    batch_first: bool, dims: dict[str, int], bias: bool
) -> None:
    torch.manual_seed(0)
    attention = nn.MultiheadAttention(64, 4, bias=bias, batch_first=batch_first, **dims).eval()
    holder = nn.ModuleDict({"attn": attention})
    split_attention(holder)
    assert isinstance(holder["attn"], SplitAttention)
    query = torch.randn(3, 5, 64)
    key, value = torch.randn(3, 7, dims.get("kdim", 64)), torch.randn(3, 7, dims.get("vdim", 64))
    if not batch_first:
        query, key, value = (x.transpose(0, 1) for x in (query, key, value))
    padding = torch.zeros(3, 7, dtype=torch.bool)
    padding[1, 5:] = True
    causal = torch.full((5, 7), float("-inf")).triu(1)
    for mask in (None, causal, causal < 0, torch.randn(3 * 4, 5, 7)):
        for options in (
            {"need_weights": False},
            {},
            {"average_attn_weights": False},
            {
                "key_padding_mask": padding.float()
                if mask is not None and mask.dtype.is_floating_point
                else padding
            },
        ):
            expected = attention(query, key, value, attn_mask=mask, **options)
            found = holder["attn"](query, key, value, attn_mask=mask, **options)
            torch.testing.assert_close(found, expected, atol=1e-6, rtol=1e-5)
    fuse_attention(holder)
    assert isinstance(holder["attn"], nn.MultiheadAttention)
    for name, weight in attention.state_dict().items():
        assert torch.equal(weight, holder["attn"].state_dict()[name])


@pytest.mark.parametrize("options", [{}, {"use_rslora": True}, {"use_dora": True}], ids=str)
def test_adapter_gives_pefts_own_vectors(
    options: dict[str, Any],
    encoder: DualEncoder,
    tiny_clip: Build,
    short_captions: list[str],
    pictures: list[Image.Image],
    tmp_path: Path,
) -> None:
    plain = encoder.encode_texts(short_captions)
    adapted = make_adapter(tmp_path / "lora", tiny_clip(), BOTH, **options)
    attach_adapter(encoder, tmp_path / "lora")
    ids = open_clip.SimpleTokenizer()(short_captions)
    pixels = torch.stack([encoder.image.preprocess(p) for p in pictures])
    with torch.no_grad():
        texts = normalize(adapted.base_model.model.encode_text(ids), dim=-1)
        images = normalize(adapted.base_model.model.encode_image(pixels), dim=-1)
    found = encoder.encode_texts(short_captions)
    torch.testing.assert_close(found, texts, atol=1e-5, rtol=0)
    torch.testing.assert_close(encoder.encode_images(pictures), images, atol=1e-5, rtol=0)
    assert (found - plain).abs().max() > 0.01


def test_text_adapter_keeps_the_image_side(
    encoder: DualEncoder,
    tiny_clip: Build,
    short_captions: list[str],
    pictures: list[Image.Image],
    tmp_path: Path,
) -> None:
    make_adapter(tmp_path / "lora", tiny_clip(), TEXT)
    images = encoder.encode_images(pictures)
    adapted = litotes.load(tmp_path / "clip.pt", adapter=tmp_path / "lora", device="cpu")
    assert adapted.image_fingerprint == encoder.image_fingerprint
    assert adapted.text_fingerprint != encoder.text_fingerprint
    assert torch.equal(adapted.encode_images(pictures), images)
    # Where nothing asks for it, attention stays in one piece.
    assert isinstance(adapted.model.visual.transformer.resblocks[0].attn, nn.MultiheadAttention)

    low = litotes.load(tmp_path / "clip.pt", adapter=tmp_path / "lora", device="cpu", dtype="bf16")
    assert low.text_fingerprint == adapted.text_fingerprint
    near = low.encode_texts(short_captions)
    torch.testing.assert_close(near, adapted.encode_texts(short_captions), atol=0.05, rtol=0)


def test_image_adapter_keeps_the_text_side(
    encoder: DualEncoder, tiny_clip: Build, tmp_path: Path
) -> None:
    text, image = encoder.text_fingerprint, encoder.image_fingerprint
    make_adapter(tmp_path / "lora", tiny_clip(), "visual." + TEXT)
    attach_adapter(encoder, tmp_path / "lora")
    assert encoder.text_fingerprint == text
    assert encoder.image_fingerprint != image


def test_zero_adapter_changes_nothing(
    encoder: DualEncoder, tiny_clip: Build, captions: list[str], tmp_path: Path
) -> None:
    before = encoder.encode_texts(captions[:7])
    make_adapter(tmp_path / "lora", tiny_clip(), BOTH, scale=0.0)
    attach_adapter(encoder, tmp_path / "lora")
    torch.testing.assert_close(encoder.encode_texts(captions[:7]), before, atol=1e-6, rtol=0)


def test_fingerprint_is_of_the_adapters_content(
    encoder: DualEncoder, tiny_clip: Build, tmp_path: Path
) -> None:
    make_adapter(tmp_path / "lora", tiny_clip(), TEXT)

    def fingerprint() -> str:
        return litotes.load(
            tmp_path / "clip.pt", adapter=tmp_path / "lora", device="cpu"
        ).text_fingerprint

    first = fingerprint()
    assert fingerprint() == first
    config = tmp_path / "lora" / "adapter_config.json"
    config.write_text(json.dumps({**json.loads(config.read_text()), "lora_alpha": 4}))
    scaled = fingerprint()
    path = tmp_path / "lora" / "adapter_model.safetensors"
    weights = load_file(path)
    next(iter(weights.values()))[0, 0] += 1
    save_file(weights, path)
    assert len({first, scaled, fingerprint(), encoder.text_fingerprint}) == 4


def test_fuse_merges(
    encoder: DualEncoder, tiny_clip: Build, short_captions: list[str], tmp_path: Path
) -> None:
    make_adapter(tmp_path / "lora", tiny_clip(), BOTH)
    attach_adapter(encoder, tmp_path / "lora")
    adapted = encoder.encode_texts(short_captions)
    fuse_attention(encoder.model)
    assert encoder.model.state_dict().keys() == tiny_clip().state_dict().keys()
    torch.testing.assert_close(encoder.encode_texts(short_captions), adapted, atol=1e-5, rtol=0)


def test_fresh_lora_is_found_by_its_targets(
    encoder: DualEncoder, short_captions: list[str]
) -> None:
    before, text = encoder.encode_texts(short_captions), encoder.text_fingerprint
    inject_lora(encoder, LoraConfig(r=2, target_modules=TEXT))
    trainable = [n for n, p in encoder.model.named_parameters() if p.requires_grad]
    assert len(trainable) == 3 * 3 * 2
    assert all(n.startswith("transformer.resblocks.") for n in trainable)
    torch.testing.assert_close(encoder.encode_texts(short_captions), before, atol=1e-6, rtol=0)
    assert encoder.text_fingerprint == text


def test_targets_that_fit_nothing(encoder: DualEncoder) -> None:
    with pytest.raises(ModelError, match="Target modules"):
        inject_lora(encoder, LoraConfig(target_modules=["c_attn"]))


def test_transformers_clip(
    save_clip: Callable[..., Any], short_captions: list[str], tmp_path: Path
) -> None:
    model = save_clip(tmp_path)
    adapted = make_adapter(tmp_path / "lora", model, ["q_proj", "v_proj", "text_projection"])
    encoder = litotes.load(tmp_path, adapter=tmp_path / "lora", device="cpu")
    ids, _ = encoder.text.tokenize(short_captions)
    with torch.no_grad():
        expected = adapted.base_model.model.get_text_features(ids).pooler_output
    found = encoder.encode_texts(short_captions)
    torch.testing.assert_close(found, normalize(expected, dim=-1), atol=1e-5, rtol=0)


def test_weights_without_a_place_are_named(
    encoder: DualEncoder, tiny_clip: Build, tmp_path: Path
) -> None:
    make_adapter(tmp_path / "lora", tiny_clip(layers=4), TEXT)
    with pytest.raises(ModelError, match=r"lora does not fit .*resblocks\.3"):
        attach_adapter(encoder, tmp_path / "lora")


def test_weights_of_another_shape_are_named(
    encoder: DualEncoder, tiny_clip: Build, tmp_path: Path
) -> None:
    make_adapter(tmp_path / "lora", tiny_clip(width=128, heads=2), TEXT)
    with pytest.raises(ModelError, match=r"lora does not fit .*(?s:.*)resblocks\.0"):
        attach_adapter(encoder, tmp_path / "lora")


def test_folders_that_are_no_adapters(encoder: DualEncoder, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"has no adapter_config.json"):
        attach_adapter(encoder, tmp_path)
    (tmp_path / "adapter_config.json").write_text("{")
    with pytest.raises(ModelError, match=r"has no adapter_model.safetensors"):
        attach_adapter(encoder, tmp_path)
    (tmp_path / "adapter_model.safetensors").write_bytes(b"nonsense")
    with pytest.raises(ModelError, match="damaged or unknown"):
        attach_adapter(encoder, tmp_path)
    (tmp_path / "adapter_config.json").write_text('{"peft_type": "LORA"}')
    with pytest.raises(ModelError, match="damaged or unknown"):
        attach_adapter(encoder, tmp_path)
    save_file({"a": torch.ones(1)}, tmp_path / "adapter_model.safetensors")
    (tmp_path / "adapter_config.json").write_text('{"peft_type": "IA3"}')
    with pytest.raises(ModelError, match="IA3 adapter; only LoRA"):
        attach_adapter(encoder, tmp_path)
    with pytest.raises(ModelError, match="is an adapter, not a model"):
        litotes.load(tmp_path)


def test_resnet_pooling_cannot_be_adapted(tmp_path: Path) -> None:
    model = open_clip.CLIP(
        embed_dim=32,
        vision_cfg={"layers": [1, 1, 1, 1], "width": 16, "image_size": 32},
        text_cfg={"width": 64, "heads": 1, "layers": 1},
        quick_gelu=True,
    )
    torch.save({"model": model.state_dict()}, tmp_path / "resnet.pt")
    encoder = litotes.load(tmp_path / "resnet.pt", device="cpu")
    with pytest.raises(ModelError, match=r"LoRA cannot adapt visual\.attnpool"):
        inject_lora(encoder, LoraConfig(target_modules=["q_proj"]))


def test_cut_adapters_are_refused(encoder: DualEncoder, tiny_clip: Build, tmp_path: Path) -> None:
    make_adapter(tmp_path / "lora", tiny_clip(), TEXT)
    path = tmp_path / "lora" / "adapter_model.safetensors"
    weights = load_file(path)
    lost = next(name for name in weights if "lora_B" in name)
    save_file({name: value for name, value in weights.items() if name != lost}, path)
    with pytest.raises(ModelError, match=r"missing: transformer\.resblocks\.0\.attn.*lora_B"):
        attach_adapter(encoder, tmp_path / "lora")


def test_several_adapters_change_a_model_by_the_sum_of_their_changes(
    tiny_clip: Build, encoder: DualEncoder, tmp_path: Path
) -> None:
    make_adapter(tmp_path / "a", tiny_clip(), TEXT, use_rslora=True)
    make_adapter(tmp_path / "b", tiny_clip(), BOTH, rank_pattern={"c_fc": 4})

    def weights(adapter: str | None) -> dict[str, torch.Tensor]:
        made = litotes.load(tmp_path / "clip.pt", adapter=adapter, device="cpu")
        fuse_attention(made.model)
        return dict(made.model.state_dict())

    base, a, b = (weights(name) for name in (None, f"{tmp_path}/a", f"{tmp_path}/b"))
    both = weights(f"{tmp_path}/a+{tmp_path}/b")
    changed = [name for name in base if not torch.equal(both[name], base[name])]
    assert any("mlp" in name for name in changed)
    for name in base:
        torch.testing.assert_close(both[name], a[name] + b[name] - base[name], atol=1e-5, rtol=1e-5)
    made = litotes.load(tmp_path / "clip.pt", adapter=f"{tmp_path}/a+{tmp_path}/b", device="cpu")
    assert made.label.endswith("clip.pt + a + b")
    assert made.text_fingerprint != encoder.text_fingerprint
    # As an index keeps it.
    again = litotes.load(tmp_path / "clip.pt", adapter=made.adapter, device="cpu")
    assert again.text_fingerprint == made.text_fingerprint


def test_an_adapter_that_cannot_be_added_up_is_refused(tiny_clip: Build, tmp_path: Path) -> None:
    torch.save({"model": tiny_clip().state_dict()}, tmp_path / "clip.pt")
    make_adapter(tmp_path / "a", tiny_clip(), TEXT)
    make_adapter(tmp_path / "dora", tiny_clip(), TEXT, use_dora=True)
    with pytest.raises(ModelError, match="only plain LoRA"):
        litotes.load(tmp_path / "clip.pt", adapter=f"{tmp_path}/a+{tmp_path}/dora")
    with pytest.raises(ModelError, match="lacks an adapter beside a plus sign"):
        litotes.load(tmp_path / "clip.pt", adapter=f"{tmp_path}/a+")
    with pytest.raises(ModelError, match="no adapter 'nothing'"):
        litotes.load(tmp_path / "clip.pt", adapter=f"{tmp_path}/a+nothing")
