"""LoRA in training: which layers are found, that they alone train, and that dropout acts."""

from pathlib import Path
from typing import Any

import open_clip
import pytest
import timm
import torch
from open_clip.transform import PreprocessCfg, image_transform_v2
from pydantic import ValidationError
from tests.conftest import make_tiny_encoder
from torch import nn
from transformers import BertConfig, MT5Config, RobertaConfig

import litotes
from litotes.backbones.encoder import DualEncoder
from litotes.backbones.openclip import from_open_clip
from litotes.errors import ModelError
from litotes.training.lora import LoraSettings, add_lora, factorise, train_dense, train_lora

TEXTS = ["a dog", "no dog on the beach", "two cats, not one"]
SPLIT = {"attn.q_proj", "attn.k_proj", "attn.v_proj"}


@pytest.fixture
def encoder() -> DualEncoder:
    return make_tiny_encoder(seed=0)


def adapted(encoder: DualEncoder) -> list[str]:
    """Names of the layers with LoRA."""
    ends = ".lora_A.default.weight"
    return [n.removesuffix(ends) for n, _ in encoder.model.named_parameters() if n.endswith(ends)]


def parts(encoder: DualEncoder) -> set[str]:
    """What their names are within a block."""
    return {name.rpartition(".attn." if ".attn." in name else ".")[2] for name in adapted(encoder)}


def step(encoder: DualEncoder, parameters: list[nn.Parameter], side: str = "text") -> None:
    """One step of training on anything."""
    optimiser = torch.optim.AdamW(parameters, 1e-2)
    train_lora(encoder)
    for _ in range(2):
        if side == "text":
            ids, _ = encoder.text.tokenize(TEXTS)
            vectors = encoder.text.run(ids)
        else:
            vectors = encoder.image.run(torch.rand(2, 3, 32, 32))
        (vectors - 1).square().mean().backward()
        optimiser.step()
        optimiser.zero_grad()
    train_lora(encoder, on=False)


@pytest.mark.parametrize("towers", ["text", "vision", "both"])
def test_open_clip(encoder: DualEncoder, towers: Any) -> None:
    before = encoder.encode_texts(TEXTS)
    parameters = add_lora(encoder, LoraSettings(towers=towers, rank=3), seed=1)
    names = adapted(encoder)
    text = [f"transformer.resblocks.{i}.attn.{p}_proj" for i in range(3) for p in "qkv"]
    vision = [f"visual.transformer.resblocks.{i}.attn.{p}_proj" for i in range(2) for p in "qkv"]
    expected = {"text": text, "vision": vision, "both": vision + text}[towers]
    assert sorted(names) == sorted(expected)
    assert len(parameters) == 2 * len(expected)
    assert {p.shape[0 if p.shape[0] == 3 else 1] for p in parameters} == {3}
    torch.testing.assert_close(encoder.encode_texts(TEXTS), before, atol=1e-6, rtol=0)


def test_all_targets(encoder: DualEncoder) -> None:
    settings = LoraSettings(towers="both", targets=("q", "k", "v", "out", "mlp"))
    add_lora(encoder, settings)
    ends = {"q_proj", "k_proj", "v_proj", "out_proj", "c_fc", "c_proj"}
    assert {name.rpartition(".")[2] for name in adapted(encoder)} == ends
    assert len(adapted(encoder)) == (3 + 2) * 6


@pytest.mark.parametrize("side", ["text", "vision"])
def test_only_lora_trains(encoder: DualEncoder, side: Any) -> None:
    before = {name: value.clone() for name, value in encoder.model.state_dict().items()}
    parameters = add_lora(encoder, LoraSettings(towers=side))
    step(encoder, parameters, side)
    trained = {name for name, p in encoder.model.named_parameters() if p.requires_grad}
    assert trained
    assert all(".lora_" in name for name in trained)
    moved = [p for n, p in encoder.model.named_parameters() if "lora_B" in n]
    assert all(p.abs().max() > 0 for p in moved)
    after = encoder.model.state_dict()
    for name, value in before.items():
        if name in after:
            assert torch.equal(after[name], value), name


def test_batch_norm_and_the_towers_own_dropout_stay_still() -> None:
    encoder = litotes.load("scenes", device="cpu")
    add_lora(encoder, LoraSettings(towers="both"))
    train_lora(encoder)
    before = encoder.model.visual.conv1[1].running_mean.clone()
    encoder.image.run(torch.rand(2, 3, 96, 96))
    assert torch.equal(encoder.model.visual.conv1[1].running_mean, before)


def test_dropout_acts_in_training_alone(encoder: DualEncoder) -> None:
    parameters = add_lora(encoder, LoraSettings(dropout=0.5))
    step(encoder, parameters)
    ids, _ = encoder.text.tokenize(TEXTS)
    with torch.no_grad():
        train_lora(encoder)
        assert not torch.equal(encoder.text.run(ids), encoder.text.run(ids))
        train_lora(encoder, on=False)
        assert torch.equal(encoder.text.run(ids), encoder.text.run(ids))


def test_change_is_scaled_by_alpha_over_root_of_rank(encoder: DualEncoder) -> None:
    add_lora(encoder, LoraSettings(rank=4, alpha=3))
    layer: Any = encoder.model.get_submodule("transformer.resblocks.0.attn.q_proj")
    nn.init.normal_(layer.lora_B["default"].weight)
    x = torch.randn(5, 64)
    low = x @ layer.lora_A["default"].weight.T @ layer.lora_B["default"].weight.T
    torch.testing.assert_close(layer(x), layer.base_layer(x) + low * 3 / 2, atol=1e-4, rtol=1e-4)


def test_the_seed_decides_and_the_generator_is_left_alone() -> None:
    def drawn(seed: int) -> torch.Tensor:
        return add_lora(make_tiny_encoder(seed=0), LoraSettings(), seed)[0]

    torch.manual_seed(5)
    first = drawn(1)
    state = torch.get_rng_state()
    torch.manual_seed(5)
    assert torch.equal(torch.get_rng_state(), state)
    assert torch.equal(drawn(1), first)
    assert not torch.equal(drawn(2), first)


def test_mini() -> None:
    encoder = litotes.load("mini", device="cpu")
    parameters = add_lora(encoder, LoraSettings())
    assert parts(encoder) == {"query", "key", "value"}
    assert len(parameters) == 6 * 3 * 2
    with pytest.raises(ModelError, match=r"vision tower of mini \(MiniImage\) has no blocks"):
        add_lora(litotes.load("mini", device="cpu"), LoraSettings(towers="vision"))
    both = litotes.load("mini", device="cpu")
    add_lora(both, LoraSettings(targets=("out", "mlp")))
    assert len(adapted(both)) == 6 * 3
    assert sum(name.endswith("attention.output.dense") for name in adapted(both)) == 6


VISION = {"layers": 1, "width": 64, "patch_size": 16, "image_size": 32}


def build(**vision: Any) -> Any:
    """A tiny open_clip model with another image tower."""
    text = {"layers": 1, "width": 64, "heads": 1}
    return open_clip.CustomTextCLIP(32, {**VISION, **vision}, text).eval()


def build_timm(name: str) -> Any:
    """A tiny open_clip model with two blocks of a timm model."""
    model = build(timm_model_name=name, timm_pool="token")
    model.visual.trunk = timm.create_model(name, img_size=32, depth=2, num_classes=0)
    return model.eval()


def encoder_of(model: Any, tokenizer: Any = None) -> DualEncoder:
    transform = image_transform_v2(PreprocessCfg(size=32), is_train=False)
    open_clip.model.set_model_preprocess_cfg(model, PreprocessCfg(size=32).__dict__)
    return from_open_clip("tiny", model, transform, tokenizer or open_clip.SimpleTokenizer())


def test_resnet_has_no_attention() -> None:
    encoder = encoder_of(build(layers=[1, 1, 1, 1], width=16))
    with pytest.raises(ModelError, match=r"vision tower of tiny \(ModifiedResNet\) has no blocks"):
        add_lora(encoder, LoraSettings(towers="both"))
    # The error came before anything was changed.
    add_lora(encoder, LoraSettings())


def test_timm_keeps_queries_keys_and_values_together() -> None:
    encoder = encoder_of(build_timm("vit_tiny_patch16_224"))
    with pytest.raises(ModelError, match=r"in one layer \(visual\.trunk.*qkv\): targets must name"):
        add_lora(encoder, LoraSettings(towers="vision", targets=("q", "v")))
    parameters = add_lora(encoder, LoraSettings(towers="vision", targets=("q", "k", "v", "out")))
    assert {name.rpartition(".")[2] for name in adapted(encoder)} == {"qkv", "proj"}
    assert not any("head" in name for name in adapted(encoder))
    step(encoder, parameters, "vision")


def test_attention_that_reads_its_layers_itself_is_refused() -> None:
    encoder = encoder_of(build_timm("eva02_tiny_patch14_224"))
    with pytest.raises(ModelError, match=r"cannot adapt visual\.trunk\.blocks\.0\.attn\.qkv"):
        add_lora(encoder, LoraSettings(towers="vision"))


SMALL = {"vocab_size": 100, "hidden_size": 64, "num_hidden_layers": 2, "num_attention_heads": 2}


class Words:
    """A tokenizer of a few numbers."""

    context_length = 8
    identity = "words"

    def __call__(self, texts: list[str], length: int | None = None) -> torch.Tensor:
        ids = torch.zeros(len(texts), length or 8, dtype=torch.long)
        for row, text in zip(ids, texts, strict=True):
            row[: len(text.split())] = torch.tensor([3 + len(w) for w in text.split()]).long()
        return ids


@pytest.mark.parametrize(
    ("config", "layers"),
    [
        (BertConfig(**SMALL, intermediate_size=128, pad_token_id=0), 2),
        (RobertaConfig(**SMALL, intermediate_size=128, pad_token_id=0), 2),
        (MT5Config(vocab_size=100, d_model=64, d_kv=32, d_ff=64, num_layers=1, num_heads=2), 1),
    ],
    ids=lambda x: getattr(x, "model_type", ""),
)
def test_text_towers_of_transformers(config: Any, layers: int, tmp_path: Path) -> None:
    config.save_pretrained(tmp_path)
    text = {
        "hf_model_name": str(tmp_path),
        "hf_model_pretrained": False,
        "hf_proj_type": "linear",
        "hf_pooler_type": "mean_pooler",
    }
    encoder = encoder_of(open_clip.CustomTextCLIP(32, VISION, text), Words())
    parameters = add_lora(encoder, LoraSettings())
    assert len(parameters) == layers * 3 * 2
    step(encoder, parameters)
    add_to = encoder_of(open_clip.CustomTextCLIP(32, VISION, text), Words())
    more = add_lora(add_to, LoraSettings(targets=("q", "k", "v", "out", "mlp")))
    per_block = 7 if isinstance(config, MT5Config) else 6
    assert len(more) == layers * per_block * 2


def test_coca_adapts_no_pooler_and_no_decoder() -> None:
    pooled = {"attentional_pool": True, "output_tokens": True, "attn_pooler_heads": 2}
    text = {"layers": 2, "width": 64, "heads": 1, "embed_cls": True, "output_tokens": True}
    decoder = {"layers": 1, "width": 64, "heads": 1, "context_length": 77}
    encoder = encoder_of(open_clip.CoCa(32, decoder, text, {**VISION, **pooled}).eval())
    add_lora(encoder, LoraSettings(towers="both"))
    assert len(adapted(encoder)) == (2 + 1) * 3
    assert all(".transformer.resblocks." in name for name in adapted(encoder))


def test_twice_is_refused(encoder: DualEncoder) -> None:
    add_lora(encoder, LoraSettings())
    with pytest.raises(ModelError, match="adapted or steered already"):
        add_lora(encoder, LoraSettings(towers="vision"))


def test_half_precision_is_refused() -> None:
    encoder = litotes.load("scenes", device="cpu", dtype="bf16")
    with pytest.raises(ModelError, match=r"bfloat16: load it with dtype='fp32'"):
        add_lora(encoder, LoraSettings())


@pytest.mark.parametrize(
    "wrong",
    [
        {"rank": 0},
        {"alpha": 0},
        {"dropout": 1},
        {"towers": "image"},
        {"targets": []},
        {"targets": ["w"]},
        {"r": 2},
    ],
    ids=str,
)
def test_settings_out_of_range(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        LoraSettings(**wrong)


@pytest.mark.parametrize(("rank", "exact"), [(64, True), (200, True), (2, False)])
def test_dense_training_ends_in_the_nearest_change_of_its_rank(
    encoder: DualEncoder, rank: int, exact: bool
) -> None:
    settings = LoraSettings(rank=rank, alpha=3.0, targets=("q", "v", "out", "mlp"))
    original = {name: w.clone() for name, w in encoder.model.state_dict().items()}
    add_lora(encoder, settings)
    before = train_dense(encoder)
    dense = [p for p in encoder.model.parameters() if p.requires_grad]
    assert len(dense) == len(before) == len(adapted(encoder))
    step(encoder, dense)
    trained = encoder.encode_texts(TEXTS)
    changes = {
        name: encoder.model.get_submodule(name).base_layer.weight.detach() - weight
        for name, weight in before.items()
    }
    kept = factorise(encoder, before)
    assert not any(
        p.requires_grad for name, p in encoder.model.named_parameters() if "base" in name
    )
    squares = lost = 0.0
    for name, change in changes.items():
        layer = encoder.model.get_submodule(name)
        assert torch.equal(layer.base_layer.weight, before[name])
        squares += float(change.square().sum())
        lost += float((layer.get_delta_weight("default").detach() - change).square().sum())
    assert kept == pytest.approx(1 - lost / squares, abs=1e-4)
    assert (kept > 1 - 1e-5) == exact
    assert torch.allclose(encoder.encode_texts(TEXTS), trained, atol=1e-5) == exact
    for name, weight in original.items():
        if name.startswith("visual."):
            assert torch.equal(weight, encoder.model.state_dict()[name])
