"""Encoders built of ``open_clip`` modules: its own models, and files in OpenAI's layout."""

import json
from collections.abc import Sequence
from typing import Any

import open_clip
import torch
from open_clip.utils import to_2tuple
from PIL import Image
from torch import Tensor, nn
from transformers.modeling_outputs import BaseModelOutputWithPooling

from litotes.backbones.encoder import DualEncoder, ImageTower
from litotes.backbones.huggingface import BertStack
from litotes.backbones.text import CountingTokenizer, TextStack, activation_name


class OpenClipImage(ImageTower):
    """``model.visual`` and its preprocessing."""

    prefixes = ("visual.",)

    def __init__(self, model: Any, transform: Any) -> None:
        self.model = model
        self.transform = transform

    def preprocess(self, image: Image.Image) -> Any:
        """One picture as ``(3, H, W)``."""
        return self.transform(image)

    def run(self, pixels: Any) -> Tensor:
        """Vectors of pixels ``(B, 3, H, W)``."""
        features = self.model.visual(pixels)
        # CoCa's tower also returns its tokens.
        vectors: Tensor = features[0] if isinstance(features, tuple) else features
        return vectors

    @property
    def identity(self) -> str:
        """Preprocessing and activation."""
        config = open_clip.get_model_preprocess_cfg(self.model)
        # One number, or the same number twice.
        settings = json.dumps({**config, "size": to_2tuple(config["size"])}, sort_keys=True)
        return f"open_clip {settings} {activation_name(self.model.visual)}"


class CausalStack(TextStack):
    """``open_clip``'s own text transformer, on the model itself (CLIP) or under ``.text``.

    A causal tower read at ``<eos>`` never sees what follows it, so batches are cut there.
    SigLIP's and CLIPA's towers are not causal, CoCa's appends a class token: those run whole.
    """

    def __init__(self, model: Any, tokenizer: CountingTokenizer) -> None:
        inner = getattr(model, "text", None)
        if inner is None:
            self.tower = model
            self.prefixes = (
                *("transformer.", "token_embedding.", "positional_embedding"),
                *("ln_final.", "text_projection"),
            )
            self.pool_type, self.eos_id = model.text_pool_type, model.text_eos_id
            self.embeds = None
        else:
            self.tower = inner
            self.prefixes = ("text.",)
            self.pool_type, self.eos_id = inner.pool_type, inner.eos_id
            self.embeds = inner._embeds
        self.tokenizer = tokenizer
        self.context_length = tokenizer.context_length
        self.blocks = self.tower.transformer.resblocks
        self.depth = len(self.blocks)
        self.width = self.tower.transformer.width
        self.appends_cls = getattr(inner, "cls_emb", None) is not None
        self.trims = (
            self.tower.attn_mask is not None
            and not self.appends_cls
            and self.pool_type in ("argmax", "eos")
        )

    def tokenize(self, texts: Sequence[str]) -> tuple[Tensor, int]:
        """Token ids ``(N, context_length)`` and how many texts were cut."""
        return self.tokenizer(texts)

    def summary_positions(self, ids: Tensor) -> Tensor:
        """The place of ``<eos>``, or of the class token at the end."""
        if self.appends_cls:
            return torch.full((len(ids),), ids.shape[1], device=ids.device)
        if self.pool_type == "argmax":
            return ids.argmax(-1)
        if self.pool_type == "eos":
            return torch.eq(ids, self.eos_id).int().argmax(-1)
        place = 0 if self.pool_type == "first" else ids.shape[1] - 1
        return torch.full((len(ids),), place, device=ids.device)

    def lengths(self, ids: Tensor) -> Tensor:
        """Tokens up to and with ``<eos>``."""
        return self.summary_positions(ids) + 1

    def embed_tokens(self, ids: Tensor) -> tuple[Tensor, Tensor | None]:
        """Token and position embeddings, and the causal mask cut to their length."""
        if self.embeds is not None:
            hidden, mask = self.embeds(ids)
        else:
            dtype = self.tower.transformer.get_cast_dtype()
            hidden = self.tower.token_embedding(ids).to(dtype)
            hidden = hidden + self.tower.positional_embedding[: ids.shape[1]].to(dtype)
            mask = self.tower.attn_mask
        length = hidden.shape[1]
        return hidden, None if mask is None else mask[..., :length, :length]

    def block(self, layer: int, hidden: Tensor, mask: Tensor | None) -> Tensor:
        """One residual attention block."""
        out: Tensor = self.blocks[layer](hidden, attn_mask=mask)
        return out

    def pool(self, hidden: Tensor, ids: Tensor, summary: Tensor) -> Tensor:
        """Final layer norm at the summary token, then the projection."""
        # Layer norm works token by token: the one that is read is enough.
        rows = torch.arange(len(ids), device=ids.device)
        pooled: Tensor = self.tower.ln_final(hidden[rows, summary])
        projection = self.tower.text_projection
        if isinstance(projection, nn.Module):
            pooled = projection(pooled)
        elif projection is not None:
            pooled = pooled @ projection
        return pooled

    @property
    def identity(self) -> str:
        """Tokenizer, activation, pooling, and whether the tower is causal."""
        mask = "bidirectional" if self.tower.attn_mask is None else "causal"
        activation = activation_name(self.tower.transformer)
        return f"{self.tokenizer.identity} {activation} {self.pool_type} {mask}"


class OpenClipBertStack(BertStack):
    """``open_clip``'s ``HFTextEncoder`` around a BERT-like transformer, with its own pooler."""

    def __init__(self, tower: Any, tokenizer: CountingTokenizer) -> None:
        super().__init__(
            tower.transformer,
            tower.proj,
            tokenizer,
            tokenizer.identity,
            tokenizer.context_length,
            ("text.",),
            pooling=type(tower.pooler).__name__,
        )
        self.tower = tower

    def pool(self, hidden: Tensor, ids: Tensor, summary: Tensor) -> Tensor:
        """The tower's pooling of the tokens that are not padding, then its projection."""
        head = self.bert.pooler
        output = BaseModelOutputWithPooling(
            last_hidden_state=hidden, pooler_output=None if head is None else head(hidden)
        )
        vectors: Tensor = self.tower.proj(self.tower.pooler(output, self.kept(ids)))
        return vectors


class OpaqueStack(TextStack):
    """A text tower that encodes but cannot be walked (``open_clip``'s mT5 and M2M encoders)."""

    depth = 0
    width = 0
    prefixes = ("text.",)
    trims = False
    blocks = ()

    def __init__(self, model: Any, tokenizer: CountingTokenizer) -> None:
        self.model = model
        self.tokenizer = tokenizer
        self.context_length = tokenizer.context_length

    def tokenize(self, texts: Sequence[str]) -> tuple[Tensor, int]:
        """Token ids ``(N, context_length)`` and how many texts were cut."""
        return self.tokenizer(texts)

    def summary_positions(self, ids: Tensor) -> Tensor:
        """Not known from outside the tower: the first token stands for it."""
        return torch.zeros(len(ids), dtype=torch.long, device=ids.device)

    def lengths(self, ids: Tensor) -> Tensor:
        """All tokens."""
        return torch.full((len(ids),), ids.shape[1])

    def embed_tokens(self, ids: Tensor) -> tuple[Tensor, Tensor | None]:
        """Nothing: the tower runs whole, in :meth:`pool`."""
        return ids[..., None], None

    def block(self, layer: int, hidden: Tensor, mask: Tensor | None) -> Tensor:
        """There are no blocks."""
        raise NotImplementedError

    def pool(self, hidden: Tensor, ids: Tensor, summary: Tensor) -> Tensor:
        """The tower's own encoding."""
        vectors: Tensor = self.model.encode_text(ids)
        return vectors

    @property
    def identity(self) -> str:
        """Tokenizer and activation."""
        return f"{self.tokenizer.identity} {activation_name(self.model.text)}"


def from_open_clip(
    name: str,
    model: Any,
    transform: Any,
    tokenizer: Any,
    *,
    device: torch.device | str = "cpu",
    dtype: torch.dtype = torch.float32,
) -> DualEncoder:
    """An encoder from an ``open_clip`` model in float32, its evaluation transform and tokenizer."""
    model.eval()
    text = getattr(model, "text", model)
    counting = CountingTokenizer.of_open_clip(
        tokenizer, tokenizer.context_length or model.context_length
    )
    transformer = getattr(text, "transformer", None)
    stack: TextStack
    if hasattr(transformer, "resblocks"):
        stack = CausalStack(model, counting)
    elif BertStack.fits(transformer):
        stack = OpenClipBertStack(text, counting)
    else:
        stack = OpaqueStack(model, counting)
    image = OpenClipImage(model, transform)
    return DualEncoder(name, model, image, stack, _dim(stack), device=device, dtype=dtype)


@torch.no_grad()
def _dim(stack: TextStack) -> int:
    ids, _ = stack.tokenize([""])
    return stack.run(ids).shape[-1]
