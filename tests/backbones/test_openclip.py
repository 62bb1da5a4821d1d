"""Every family of open_clip's text towers gives open_clip's own vectors."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import open_clip
import pytest
import torch
from open_clip.transform import PreprocessCfg, image_transform_v2
from PIL import Image
from torch.nn.functional import normalize
from transformers import BertConfig, M2M100Config, MT5Config, RobertaConfig, XLMRobertaConfig

from litotes.backbones.openclip import CausalStack, OpaqueStack, OpenClipBertStack, from_open_clip
from litotes.backbones.text import TextStack
from litotes.errors import LitotesWarning, ModelError

TINY_VIT = {"layers": 1, "width": 64, "patch_size": 16, "image_size": 32}
SMALL_RESNET = {"layers": [1, 1, 1, 1], "width": 16, "image_size": 64}

# Name, changes to the image tower (None: its own), whether captions can be cut at <eos>.
ARCHITECTURES = [
    ("ViT-B-32", TINY_VIT, True),
    ("ViT-B-32-quickgelu", TINY_VIT, True),
    ("ViT-S-32-alt", TINY_VIT, True),
    ("ViT-H-14", {**TINY_VIT, "width": 160, "head_width": 80}, True),
    ("RN50", SMALL_RESNET, True),
    ("convnext_tiny", TINY_VIT, True),
    ("MobileCLIP-B", TINY_VIT, True),
    ("MobileCLIP2-S0", None, False),
    ("EVA02-B-16", TINY_VIT, True),
    ("ViTamin-S", None, True),
    ("PE-Core-T-16-384", TINY_VIT, True),
    ("coca_ViT-B-32", {**TINY_VIT, "attentional_pool": True, "output_tokens": True}, False),
    ("ViT-L-14-CLIPA", {**TINY_VIT, "no_ln_pre": True, "pool_type": "avg"}, False),
    ("ViT-B-16-SigLIP", TINY_VIT, False),
    ("ViT-bigG-14-worldwide", TINY_VIT, True),
]


def build(
    name: str, vision: dict[str, Any] | None, folder: Path | None, **text: Any
) -> tuple[Any, Any]:
    """An open_clip model with few blocks and random weights, and its tokenizer."""
    config = open_clip.get_model_config(name)
    small = {"layers": 2, "width": 128, "heads": 2, "hf_model_pretrained": False}
    text_cfg = {**config["text_cfg"], **small, **text}
    torch.manual_seed(0)
    changes = {"text_cfg": text_cfg} | ({} if vision is None else {"vision_cfg": vision})
    model = open_clip.create_model(name, load_weights=False, pretrained_text=False, **changes)
    if folder is None:
        return model.eval(), open_clip.get_tokenizer(name)
    options = text_cfg.get("tokenizer_kwargs", {})
    length = text_cfg.get("context_length", 77)
    return model.eval(), open_clip.tokenizer.HFTokenizer(str(folder), length, **options)


def transform(model: Any) -> Any:
    return image_transform_v2(PreprocessCfg(**model.visual.preprocess_cfg), is_train=False)


@torch.no_grad()
def check(
    model: Any,
    tokenizer: Any,
    captions: list[str],
    pictures: list[Image.Image],
    *,
    kind: type[TextStack],
    trims: bool,
) -> None:
    """Texts and pictures are encoded as open_clip does, and states lead to the same vectors."""
    own = transform(model)
    encoder = from_open_clip("tiny", model, own, tokenizer)
    assert type(encoder.text) is kind
    assert encoder.text.trims is trims
    with pytest.warns(LitotesWarning, match="were cut"):
        texts = encoder.encode_texts(captions, batch_size=4)
    ids = tokenizer(captions, encoder.context_length)
    expected = normalize(model.encode_text(ids), dim=-1)
    assert texts.shape == (len(captions), encoder.dim)
    torch.testing.assert_close(texts, expected, atol=1e-5, rtol=0)

    images = encoder.encode_images(pictures, batch_size=2)
    expected = normalize(model.encode_image(torch.stack([own(p) for p in pictures])), dim=-1)
    torch.testing.assert_close(images, expected, atol=1e-5, rtol=0)


@pytest.mark.parametrize(("name", "vision", "trims"), ARCHITECTURES, ids=lambda x: str(x)[:24])
def test_architectures(
    name: str,
    vision: dict[str, Any] | None,
    trims: bool,
    captions: list[str],
    pictures: list[Image.Image],
    words: Callable[[str], Path],
) -> None:
    folder, changes = None, {}
    if name in ("ViT-L-14-CLIPA", "ViT-B-16-SigLIP"):
        folder, changes = words("bert" if "CLIPA" in name else "siglip"), {"vocab_size": 100}
    if "worldwide" in name:
        folder, changes = words("roberta"), {"vocab_size": 100}
    model, tokenizer = build(name, vision, folder, **changes)
    check(model, tokenizer, captions, pictures, kind=CausalStack, trims=trims)


SMALL_BERT = {
    "vocab_size": 100,
    "hidden_size": 64,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
    "intermediate_size": 128,
    "max_position_embeddings": 100,
}


@pytest.mark.parametrize("pooler", ["cls_pooler", "cls_last_hidden_state_pooler", "mean_pooler"])
@pytest.mark.parametrize(
    ("config", "kind"),
    [
        (BertConfig(**SMALL_BERT, pad_token_id=0), "bert"),
        (RobertaConfig(**SMALL_BERT, pad_token_id=1), "roberta"),
        (XLMRobertaConfig(**SMALL_BERT, pad_token_id=1), "roberta"),
    ],
    ids=lambda x: getattr(x, "model_type", x),
)
def test_bert_towers(
    config: Any,
    kind: str,
    pooler: str,
    captions: list[str],
    pictures: list[Image.Image],
    words: Callable[[str], Path],
    tmp_path: Path,
) -> None:
    config.save_pretrained(tmp_path)
    text = {"hf_model_name": str(tmp_path), "hf_proj_type": "mlp", "hf_pooler_type": pooler}
    model, tokenizer = build("xlm-roberta-base-ViT-B-32", TINY_VIT, words(kind), **text)
    check(model, tokenizer, captions, pictures, kind=OpenClipBertStack, trims=True)


@pytest.mark.parametrize(
    ("config", "kind"),
    [
        (
            MT5Config(vocab_size=100, d_model=64, d_kv=32, d_ff=64, num_layers=1, num_heads=2),
            "bert",
        ),
        (
            M2M100Config(
                vocab_size=100,
                d_model=64,
                encoder_layers=1,
                decoder_layers=1,
                encoder_attention_heads=2,
                decoder_attention_heads=2,
                encoder_ffn_dim=64,
                decoder_ffn_dim=64,
                max_position_embeddings=100,
                pad_token_id=1,
            ),
            "roberta",
        ),
    ],
    ids=["mt5", "m2m_100"],
)
def test_other_towers_are_opaque(
    config: Any,
    kind: str,
    captions: list[str],
    pictures: list[Image.Image],
    words: Callable[[str], Path],
    tmp_path: Path,
) -> None:
    config.save_pretrained(tmp_path)
    text = {
        "hf_model_name": str(tmp_path),
        "hf_proj_type": "linear",
        "hf_pooler_type": "mean_pooler",
    }
    model, tokenizer = build("mt5-base-ViT-B-32", TINY_VIT, words(kind), **text)
    check(model, tokenizer, captions, pictures, kind=OpaqueStack, trims=False)
    encoder = from_open_clip("opaque", model, transform(model), tokenizer)
    with pytest.raises(ModelError, match="opaque cannot be walked"):
        encoder.text_states(["a dog"])
