"""The bundled `scenes` model: a small CLIP that has seen nothing but drawn scenes.

Built of ``open_clip`` modules. Its image tower reads 96×96 pixels through a convolutional stem that
makes an 8×8 grid, and goes on with attention; its text tower is causal and read at ``<eos>``, the
largest id of its own small vocabulary, as CLIP's is. Trained by ``recipes/scenes.toml``.
"""

import hashlib
import json
from collections.abc import Sequence
from importlib.resources import files
from typing import Any

import open_clip
import torch
from open_clip.transform import PreprocessCfg, image_transform_v2
from safetensors import safe_open
from tokenizers import Tokenizer, normalizers, pre_tokenizers
from tokenizers.models import WordPiece
from torch import Tensor, nn

from litotes.backbones.encoder import DualEncoder
from litotes.backbones.openclip import from_open_clip
from litotes.errors import ModelError

SIZE = 96
CONTEXT = 192
WEIGHTS = "scenes.safetensors"
PAD, SOS, UNKNOWN, EOS = "<pad>", "<sos>", "<unk>", "<eos>"
_CHARACTERS = "abcdefghijklmnopqrstuvwxyz0123456789.,;:!?'\"()/&-"


class SceneTokenizer:
    """Whole words of the world's language; other words are spelled in letters.

    Called as ``open_clip``'s tokenizers are. Rows end with ``<eos>``, also where they are cut.

    Attributes:
        context_length: tokens of a row.
        vocabulary: all tokens; a token's place is its id.
    """

    def __init__(self, vocabulary: Sequence[str], context_length: int = CONTEXT) -> None:
        self.vocabulary = tuple(vocabulary)
        self.context_length = context_length
        ids = {token: i for i, token in enumerate(vocabulary)}
        self._pieces = Tokenizer(WordPiece(ids, unk_token=UNKNOWN, max_input_chars_per_word=64))
        self._pieces.normalizer = normalizers.BertNormalizer(lowercase=True)
        self._pieces.pre_tokenizer = pre_tokenizers.BertPreTokenizer()

    @property
    def vocab_size(self) -> int:
        """Number of tokens."""
        return len(self.vocabulary)

    @property
    def identity(self) -> str:
        """Names the vocabulary, for fingerprints."""
        digest = hashlib.sha256(json.dumps(self.vocabulary).encode()).hexdigest()[:12]
        return f"scenes words {digest}"

    def __call__(self, texts: Sequence[str], context_length: int | None = None) -> Tensor:
        """Ids ``(N, context_length)``, int64, filled up with ``<pad>``, which is 0."""
        length = context_length or self.context_length
        sos, eos = self.vocabulary.index(SOS), self.vocab_size - 1
        ids = torch.zeros(len(texts), length, dtype=torch.long)
        for row, encoded in zip(ids, self._pieces.encode_batch(list(texts)), strict=True):
            tokens = [sos, *encoded.ids[: length - 2], eos]
            row[: len(tokens)] = torch.tensor(tokens)
        return ids


class Stem(nn.Sequential):
    """Pixels to an 8×8 grid of cells: ``(B, 3, 96, 96) → (B, width, 8, 8)``."""

    def __init__(self, width: int) -> None:
        super().__init__(
            nn.Conv2d(3, 32, 4, stride=4, bias=False),
            nn.BatchNorm2d(32),
            nn.ReLU(),
            nn.Conv2d(32, 64, 3, padding=1, bias=False),
            nn.BatchNorm2d(64),
            nn.ReLU(),
            nn.Conv2d(64, width, 3, stride=3, bias=False),
        )


def vocabulary(words: Sequence[str]) -> list[str]:
    """All tokens of a tokenizer that has these words whole."""
    characters = [*_CHARACTERS, *(f"##{c}" for c in _CHARACTERS)]
    known = dict.fromkeys([*characters, *words])
    return [PAD, SOS, UNKNOWN, *known, EOS]


def empty_scenes(tokens: int) -> Any:
    """The model with weights drawn by torch's generator, for a vocabulary of so many tokens."""
    model = open_clip.CLIP(
        embed_dim=256,
        vision_cfg=open_clip.CLIPVisionCfg(
            layers=3,
            width=128,
            head_width=32,
            mlp_ratio=3.0,
            patch_size=12,
            image_size=SIZE,
            pool_type="avg",
        ),
        text_cfg=open_clip.CLIPTextCfg(
            context_length=CONTEXT, vocab_size=tokens, width=128, heads=4, layers=6, mlp_ratio=4.0
        ),
    )
    model.visual.conv1 = Stem(128)
    model.visual.preprocess_cfg = {"size": SIZE, "mean": (0.5,) * 3, "std": (0.5,) * 3} | {
        "interpolation": "bicubic",
        "resize_mode": "squash",
    }
    return model


def encoder_of(model: Any, tokenizer: SceneTokenizer, **place: Any) -> DualEncoder:
    """An encoder around the model, to train or to use."""
    transform = image_transform_v2(PreprocessCfg(**model.visual.preprocess_cfg), is_train=False)
    return from_open_clip("scenes", model, transform, tokenizer, **place)


def load_scenes(
    *, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float32
) -> DualEncoder:
    """The bundled model.

    Raises:
        ModelError: its weights are not in this installation.
    """
    file = files("litotes.backbones") / "weights" / WEIGHTS
    if not file.is_file():
        raise ModelError(f"this installation lacks the weights {WEIGHTS}: reinstall litotes")
    with safe_open(str(file), framework="pt") as content:
        words = json.loads(content.metadata()["vocabulary"])
        weights = {name: content.get_tensor(name).float() for name in content.keys()}  # noqa: SIM118
    model = empty_scenes(len(words))
    model.load_state_dict(weights)
    return encoder_of(model, SceneTokenizer(words), device=device, dtype=dtype)
