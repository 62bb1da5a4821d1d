"""Small models with random weights, and captions that try them."""

import gzip
import json
import re
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import pytest
import torch
from open_clip.tokenizer import default_bpe
from PIL import Image
from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
from torch.nn.functional import normalize
from transformers import (
    CLIPConfig,
    CLIPImageProcessor,
    CLIPModel,
    CLIPTokenizer,
    PreTrainedTokenizerFast,
)

# The 7th is exactly 77 tokens long; the 8th and 9th are longer.
CAPTIONS = [
    "a dog on a beach",
    "",
    "two cats, not one, on a red sofa next to a window with no curtains at all",
    "a dog on a beach",
    "no!",
    "what?!?! a photo of «ünïcödé» 🐈 — 3.14 & more",
    "word " * 74 + "end",
    "word " * 75 + "end",
    "a very long caption " * 40,
]


@pytest.fixture(autouse=True)
def _few_threads() -> Iterator[None]:
    threads = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(threads)


@pytest.fixture
def captions() -> list[str]:
    """Mixed lengths, an empty one, a duplicate, and two that exceed 77 tokens."""
    return list(CAPTIONS)


@pytest.fixture
def short_captions() -> list[str]:
    return CAPTIONS[:6]


@pytest.fixture
def pictures() -> list[Image.Image]:
    """Noise in several shapes."""
    draw = np.random.default_rng(0)
    shapes = [(40, 50, 3), (90, 30, 3), (32, 32, 3)]
    return [Image.fromarray(draw.integers(0, 256, shape, dtype=np.uint8)) for shape in shapes]


@pytest.fixture
def tiny_clip() -> Callable[..., Any]:
    """``tiny_clip(seed, quick_gelu, **text_cfg)``: an ``open_clip`` CLIP of 64 units."""

    def build(seed: int = 0, quick_gelu: bool = True, **text: Any) -> Any:
        torch.manual_seed(seed)
        return open_clip.CLIP(
            embed_dim=32,
            vision_cfg={"layers": 2, "width": 64, "patch_size": 16, "image_size": 32},
            text_cfg={"width": 64, "heads": 1, "layers": 3, **text},
            quick_gelu=quick_gelu,
        ).eval()

    return build


@pytest.fixture
def expected_texts() -> Callable[..., torch.Tensor]:
    """``expected_texts(model, texts, tokenizer)``: ``open_clip``'s own unit vectors."""

    @torch.no_grad()
    def encode(model: Any, texts: list[str], tokenizer: Any = None) -> torch.Tensor:
        ids = (tokenizer or open_clip.SimpleTokenizer())(texts, model.context_length)
        return normalize(model.encode_text(ids), dim=-1)

    return encode


@pytest.fixture(scope="session")
def words(tmp_path_factory: pytest.TempPathFactory) -> Callable[..., Path]:
    """``words(kind)``: a folder with a small tokenizer like BERT's, RoBERTa's or SigLIP's."""

    def save(kind: str) -> Path:
        special = {
            "bert": ["[PAD]", "[UNK]", "[CLS]", "[SEP]"],
            "roberta": ["<s>", "<pad>", "</s>", "<unk>"],
            "siglip": ["<unk>", "</s>"],
        }[kind]
        found = sorted({w for c in CAPTIONS for w in re.findall(r"\w+|[^\w\s]+", c.lower())})
        vocabulary = {word: i for i, word in enumerate([*special, *found])}
        start, end = {
            "bert": ("[CLS]", "[SEP]"),
            "roberta": ("<s>", "</s>"),
            "siglip": (None, "</s>"),
        }[kind]
        unknown = next(name for name in special if "unk" in name.lower())
        tokenizer = Tokenizer(models.WordLevel(vocabulary, unk_token=unknown))
        tokenizer.normalizer = normalizers.Lowercase()
        tokenizer.pre_tokenizer = pre_tokenizers.Whitespace()
        tokenizer.post_processor = processors.TemplateProcessing(
            single=f"{start} $A {end}" if start else f"$A {end}",
            special_tokens=[(t, vocabulary[t]) for t in (start, end) if t],
        )
        folder = tmp_path_factory.mktemp(kind)
        PreTrainedTokenizerFast(
            tokenizer_object=tokenizer,
            unk_token=unknown,
            pad_token={"bert": "[PAD]", "roberta": "<pad>", "siglip": "</s>"}[kind],
            eos_token=end,
            cls_token=start,
            sep_token=end,
            model_input_names=["input_ids"]
            if kind == "siglip"
            else ["input_ids", "attention_mask"],
        ).save_pretrained(folder)
        return folder

    return save


@pytest.fixture(scope="session")
def clip_vocabulary(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with OpenAI's vocabulary as ``transformers`` wants it."""
    folder = tmp_path_factory.mktemp("vocabulary")
    tokenizer = open_clip.SimpleTokenizer()
    names = {"<start_of_text>": "<|startoftext|>", "<end_of_text>": "<|endoftext|>"}
    vocabulary = {names.get(token, token): i for token, i in tokenizer.encoder.items()}
    (folder / "vocab.json").write_text(json.dumps(vocabulary), encoding="utf-8")
    lines = gzip.decompress(Path(default_bpe()).read_bytes()).decode().split("\n")
    merges = lines[1 : 49152 - 256 - 2 + 1]
    (folder / "merges.txt").write_text("\n".join(["#version: 0.2", *merges]), encoding="utf-8")
    return folder


@pytest.fixture
def save_clip(clip_vocabulary: Path) -> Callable[..., Any]:
    """``save_clip(folder, eos)``: a ``transformers`` CLIP of 64 units in a folder."""

    def save(folder: Path, eos: int = 49407) -> Any:
        sizes = {
            "hidden_size": 64,
            "intermediate_size": 128,
            "num_hidden_layers": 3,
            "num_attention_heads": 2,
        }
        text = {**sizes, "vocab_size": 49408, "eos_token_id": eos, "bos_token_id": 49406}
        vision = {**sizes, "image_size": 32, "patch_size": 16}
        torch.manual_seed(0)
        config = CLIPConfig(text_config=text, vision_config=vision, projection_dim=32)
        model = CLIPModel(config).eval()
        model.save_pretrained(folder)
        files = [str(clip_vocabulary / name) for name in ("vocab.json", "merges.txt")]
        CLIPTokenizer(*files).save_pretrained(folder)
        CLIPImageProcessor(size={"shortest_edge": 32}, crop_size=32).save_pretrained(folder)
        return model

    return save
