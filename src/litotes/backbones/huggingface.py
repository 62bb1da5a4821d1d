"""Encoders built of ``transformers`` modules: CLIP, SigLIP, and BERT-like text towers."""

import json
from collections.abc import Callable, Sequence
from os import PathLike
from typing import Any

import torch
from PIL import Image
from torch import Tensor
from transformers import AutoConfig, AutoImageProcessor, AutoModel, AutoTokenizer

from litotes.backbones.encoder import DualEncoder, ImageTower
from litotes.backbones.text import CountingTokenizer, TextStack
from litotes.errors import ModelError

_MODEL_TYPES = ("clip", "siglip", "siglip2")


class BertStack(TextStack):
    """A post-norm bidirectional encoder with a padding mask: BERT, RoBERTa, XLM-RoBERTa.

    Args:
        bert: the transformer, with ``embeddings`` and ``encoder.layer``.
        project: from the pooled state ``(B, width)`` to the vector ``(B, d)``.
        tokenize: texts → ids ``(N, context_length)`` and how many were cut.
        tokenizer_identity: names the vocabulary.
        context_length: tokens of a row.
        prefixes: the text side's names in the whole model's state dict.
        pooling: ``"cls"``, or ``"mean"`` over the tokens that are not padding.
    """

    trims = True

    def __init__(
        self,
        bert: Any,
        project: Callable[[Tensor], Tensor],
        tokenize: Callable[[Sequence[str]], tuple[Tensor, int]],
        tokenizer_identity: str,
        context_length: int,
        prefixes: tuple[str, ...],
        pooling: str = "cls",
    ) -> None:
        self.bert = bert
        self.project = project
        self._tokenize = tokenize
        self.tokenizer_identity = tokenizer_identity
        self.context_length = context_length
        self.prefixes = prefixes
        self.pooling = pooling
        self.blocks = bert.encoder.layer
        self.depth = len(self.blocks)
        self.width = bert.config.hidden_size
        self.pad_id = bert.config.pad_token_id

    @staticmethod
    def fits(transformer: Any) -> bool:
        """Whether a transformer is built like BERT."""
        return hasattr(transformer, "embeddings") and hasattr(
            getattr(transformer, "encoder", None), "layer"
        )

    def tokenize(self, texts: Sequence[str]) -> tuple[Tensor, int]:
        """Token ids ``(N, context_length)`` and how many texts were cut."""
        return self._tokenize(texts)

    def kept(self, ids: Tensor) -> Tensor:
        """1 where a token is not padding, else 0: ``(B, L)``."""
        return torch.ne(ids, self.pad_id).long()

    def summary_positions(self, ids: Tensor) -> Tensor:
        """The first token, ``[CLS]``."""
        return torch.zeros(len(ids), dtype=torch.long, device=ids.device)

    def lengths(self, ids: Tensor) -> Tensor:
        """Tokens that are not padding."""
        return self.kept(ids).sum(1)

    def embed_tokens(self, ids: Tensor) -> tuple[Tensor, Tensor | None]:
        """Embeddings, and the mask that hides padding."""
        hidden: Tensor = self.bert.embeddings(input_ids=ids)
        hidden_from_all = (1 - self.kept(ids))[:, None, None].to(hidden.dtype)
        return hidden, hidden_from_all * torch.finfo(hidden.dtype).min

    def block(self, layer: int, hidden: Tensor, mask: Tensor | None) -> Tensor:
        """One layer: attention, then feed-forward, each with layer norm after the residual."""
        out: Tensor = self.blocks[layer](hidden, mask)
        return out

    def pool(self, hidden: Tensor, ids: Tensor, summary: Tensor) -> Tensor:
        """``[CLS]``, or the mean of the tokens that are not padding; then the projection."""
        if self.pooling == "mean":
            kept = self.kept(ids).unsqueeze(-1).to(hidden.dtype)
            return self.project((hidden * kept).sum(1) / kept.sum(1))
        return self.project(hidden[:, 0])

    @property
    def identity(self) -> str:
        """Tokenizer, activation and pooling."""
        return f"{self.tokenizer_identity} {self.bert.config.hidden_act} {self.pooling}"


class TransformersStack(TextStack):
    """The text tower of ``transformers``' CLIP, SigLIP and SigLIP 2.

    CLIP's is causal and read at ``<eos>``, so batches are cut there. SigLIP's sees all tokens,
    padding too, and is read at the last: it was trained without a mask.
    """

    prefixes = ("text_model.", "text_projection.")

    def __init__(self, model: Any, tokenizer: Any) -> None:
        self.model = model
        self.tower = model.text_model
        self.config = model.config.text_config
        self.pretrained_tokenizer = tokenizer
        self.tokenizer = CountingTokenizer(
            lambda texts, length: (
                tokenizer(
                    texts,
                    padding="max_length",
                    truncation=True,
                    max_length=length,
                    return_tensors="pt",
                ).input_ids
            ),
            self.config.max_position_embeddings,
            tokenizer.pad_token_id,
            f"{type(tokenizer).__name__}/{tokenizer.vocab_size}",
        )
        self.context_length = self.tokenizer.context_length
        self.blocks = self.tower.encoder.layers
        self.depth = len(self.blocks)
        self.width = self.config.hidden_size
        self.trims = model.config.model_type == "clip"

    def tokenize(self, texts: Sequence[str]) -> tuple[Tensor, int]:
        """Token ids ``(N, context_length)`` and how many texts were cut."""
        return self.tokenizer(texts)

    def summary_positions(self, ids: Tensor) -> Tensor:
        """The first ``<eos>`` (CLIP), or the last token (SigLIP)."""
        if not self.trims:
            return torch.full((len(ids),), ids.shape[1] - 1, device=ids.device)
        if self.config.eos_token_id == 2:
            # Written into the configurations of OpenAI's models, whose <eos> is their last token.
            return ids.argmax(-1)
        return torch.eq(ids, self.config.eos_token_id).int().argmax(-1)

    def lengths(self, ids: Tensor) -> Tensor:
        """Tokens up to and with the summary token."""
        return self.summary_positions(ids) + 1

    def embed_tokens(self, ids: Tensor) -> tuple[Tensor, Tensor | None]:
        """Token and position embeddings, and CLIP's causal mask."""
        hidden: Tensor = self.tower.embeddings(input_ids=ids)
        if not self.trims:
            return hidden, None
        length = ids.shape[1]
        mask = torch.full((length, length), torch.finfo(hidden.dtype).min).triu(1)
        return hidden, mask.to(hidden)[None, None]

    def block(self, layer: int, hidden: Tensor, mask: Tensor | None) -> Tensor:
        """One encoder layer."""
        out: Tensor = self.blocks[layer](hidden, mask)
        return out

    def pool(self, hidden: Tensor, ids: Tensor, summary: Tensor) -> Tensor:
        """Final layer norm at the summary token, then the projection."""
        rows = torch.arange(len(ids), device=ids.device)
        pooled = self.tower.final_layer_norm(hidden[rows, summary])
        project = self.model.text_projection if self.trims else self.tower.head
        vectors: Tensor = project(pooled)
        return vectors

    @property
    def identity(self) -> str:
        """Tokenizer, activation and kind of tower."""
        kind = "clip" if self.trims else "siglip"
        return f"{self.tokenizer.identity} {self.config.hidden_act} {kind}"


class TransformersImage(ImageTower):
    """The image tower of ``transformers``' CLIP, SigLIP and SigLIP 2, with its processor."""

    prefixes = ("vision_model.", "visual_projection.")

    # What of a processor's configuration bears on its result.
    _settings = (
        *("do_resize", "size", "resample", "do_center_crop", "crop_size", "do_rescale"),
        *("rescale_factor", "do_normalize", "image_mean", "image_std"),
        *("patch_size", "max_num_patches"),
    )

    def __init__(self, model: Any, processor: Any) -> None:
        self.model = model
        self.processor = processor

    def preprocess(self, image: Image.Image) -> dict[str, Tensor]:
        """One picture as what ``get_image_features`` takes, without the batch's dimension."""
        inputs = self.processor(images=[image], return_tensors="pt")
        return {name: value[0] for name, value in inputs.items()}

    def run(self, pixels: Any) -> Tensor:
        """Vectors of a batch that :meth:`preprocess` made, or of pixels ``(B, 3, H, W)``."""
        inputs = {"pixel_values": pixels} if isinstance(pixels, Tensor) else pixels
        vectors: Tensor = self.model.get_image_features(**inputs).pooler_output
        return vectors

    @property
    def identity(self) -> str:
        """Preprocessing and activation."""
        known = self.processor.to_dict()
        settings = json.dumps({name: known.get(name) for name in self._settings}, default=dict)
        return f"transformers {settings} {self.model.config.vision_config.hidden_act}"


def from_transformers(
    name: str,
    source: str,
    cache_dir: str | PathLike[str] | None,
    *,
    device: torch.device | str = "cpu",
    dtype: torch.dtype = torch.float32,
) -> DualEncoder:
    """An encoder from a ``transformers`` folder or hub id.

    Raises:
        ModelError: it is neither CLIP nor SigLIP, or files or weights are missing.
    """
    try:
        kind = AutoConfig.from_pretrained(source, cache_dir=cache_dir).model_type
        if kind not in _MODEL_TYPES:
            raise ModelError(
                f"{name}: is a {kind!r} model of transformers; known are {', '.join(_MODEL_TYPES)}"
            )
        model, report = AutoModel.from_pretrained(
            source,
            cache_dir=cache_dir,
            dtype=torch.float32,
            attn_implementation="sdpa",
            output_loading_info=True,
        )
        tokenizer = AutoTokenizer.from_pretrained(source, cache_dir=cache_dir)
        processor = AutoImageProcessor.from_pretrained(source, cache_dir=cache_dir)
    # The library raises nearly anything where files are missing, damaged or out of reach.
    except Exception as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"{name} could not be loaded or fetched: {error}") from error
    if lacking := sorted(report["missing_keys"]):
        # transformers would draw them at random, and only log it.
        raise ModelError(f"{name}: lacks weights: {', '.join(lacking[:3])} ({len(lacking)} in all)")
    if len(tokenizer) <= len(tokenizer.all_special_ids):
        # What transformers makes where the files of the tokenizer are missing.
        raise ModelError(f"{name}: lacks its tokenizer's files")
    stack, image = TransformersStack(model, tokenizer), TransformersImage(model, processor)
    dim = model.config.projection_dim if stack.trims else stack.tower.head.out_features
    return DualEncoder(name, model, image, stack, dim, device=device, dtype=dtype)
