"""The text stack: a text tower that can be walked block by block.

A tower is taken apart into ``tokenize → embed_tokens → block × depth → pool``. One loop,
:meth:`TextStack.run`, serves plain encoding, reading hidden states and steering: what it does
beyond encoding is decided by the hook it is given, so no forward hook is ever registered on a
module and nothing about the tower changes.
"""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch import Tensor, nn

LayerHook = Callable[[int, Tensor], Tensor | None]
"""``hook(layer, states)``: called after each block with its number, counted from 0, and the
summary tokens' residual stream ``(B, width)``; returns what should replace them, or None."""


class TextStack(ABC):
    """A text tower of ``depth`` blocks of ``width`` units that reads ``context_length`` tokens.

    Attributes:
        depth: number of blocks; 0 where a tower cannot be walked (it still encodes).
        width: units of the residual stream.
        context_length: tokens a caption may have, start and end tokens included.
        prefixes: which names of the model's state dict belong to the text side.
        trims: whether tokens beyond :meth:`lengths` can be left out without changing the result.
        blocks: the modules of the blocks, for adapters to find.
    """

    depth: int
    width: int
    context_length: int
    prefixes: tuple[str, ...]
    trims: bool
    blocks: Sequence[nn.Module]

    @abstractmethod
    def tokenize(self, texts: Sequence[str]) -> tuple[Tensor, int]:
        """Token ids ``(N, context_length)``, int64, and how many texts were cut to fit."""

    @abstractmethod
    def summary_positions(self, ids: Tensor) -> Tensor:
        """Place of each caption's summary token in the hidden sequence: ``(B, L) → (B,)``."""

    @abstractmethod
    def lengths(self, ids: Tensor) -> Tensor:
        """Tokens of each caption that can bear on its vector: ``(B, L) → (B,)``."""

    @abstractmethod
    def embed_tokens(self, ids: Tensor) -> tuple[Tensor, Tensor | None]:
        """What the first block reads ``(B, L', width)``, and the mask that all blocks share."""

    @abstractmethod
    def block(self, layer: int, hidden: Tensor, mask: Tensor | None) -> Tensor:
        """Run one block: ``(B, L', width) → (B, L', width)``."""

    @abstractmethod
    def pool(self, hidden: Tensor, ids: Tensor, summary: Tensor) -> Tensor:
        """The caption's vector ``(B, d)``, not normalised, from the last block's output."""

    @property
    @abstractmethod
    def identity(self) -> str:
        """What the weights do not say of how text becomes a vector: tokens, activation, pooling."""

    def run(self, ids: Tensor, hook: LayerHook | None = None) -> Tensor:
        """Encode token ids ``(B, L)`` to vectors ``(B, d)``, not normalised.

        Args:
            ids: token ids on the tower's device; differentiable with respect to the weights.
            hook: sees, and may replace, the summary tokens' states after each block.
        """
        summary = self.summary_positions(ids)
        rows = torch.arange(len(ids), device=ids.device)
        hidden, mask = self.embed_tokens(ids)
        for layer in range(self.depth):
            hidden = self.block(layer, hidden, mask)
            if hook is not None:
                changed = hook(layer, hidden[rows, summary])
                if changed is not None:
                    hidden = hidden.index_put((rows, summary), changed.to(hidden.dtype))
        return self.pool(hidden, ids, summary)

    def batches(
        self, ids: Tensor, batch_size: int, max_tokens: int | None = None
    ) -> Iterator[tuple[Tensor, Tensor]]:
        """Split ``(N, L)`` into ``(rows, ids)`` batches of like length, each cut to its longest.

        Args:
            ids: token ids.
            batch_size: captions of a batch at most.
            max_tokens: of a batch at most, padding counted, but for a single caption.
        """
        if not self.trims:
            for rows in torch.split(torch.arange(len(ids)), batch_size):
                yield rows, ids[rows]
            return
        lengths = self.lengths(ids)
        order = lengths.argsort(descending=True, stable=True)
        start = 0
        while start < len(order):
            longest = int(lengths[order[start]])
            fits = batch_size if max_tokens is None else max(1, max_tokens // longest)
            rows = order[start : start + min(batch_size, fits)]
            yield rows, ids[rows, :longest]
            start += len(rows)

    def run_all(self, ids: Tensor, batch_size: int, max_tokens: int | None = None) -> Tensor:
        """As :meth:`run`, in the batches of :meth:`batches`: ``(N, L)`` → ``(N, d)``, in order."""
        rows, parts = zip(
            *((rows, self.run(part)) for rows, part in self.batches(ids, batch_size, max_tokens)),
            strict=True,
        )
        return torch.cat(parts)[torch.cat(rows).argsort()]


class CountingTokenizer:
    """A tokenizer that says how many captions it cut.

    Args:
        tokenize: ``tokenize(texts, length)`` → ids ``(N, length)``, filled up with ``pad_id``.
        context_length: tokens of a row.
        pad_id: the id that fills rows up.
        identity: names vocabulary and cleaning, for fingerprints.
    """

    def __init__(
        self,
        tokenize: Callable[[list[str], int], Tensor],
        context_length: int,
        pad_id: int,
        identity: str,
    ) -> None:
        self.tokenize = tokenize
        self.context_length = context_length
        self.pad_id = pad_id
        self.identity = f"{identity}/{context_length}"

    @classmethod
    def of_open_clip(cls, tokenizer: Any, context_length: int) -> "CountingTokenizer":
        """Any of ``open_clip``'s tokenizers, or one like them that names itself (``identity``)."""
        identity = getattr(tokenizer, "identity", None)
        if identity is not None:
            return cls(tokenizer, context_length, 0, identity)
        inner = getattr(tokenizer, "tokenizer", tokenizer)
        size = getattr(inner, "vocab_size", None)
        clean = getattr(getattr(tokenizer, "clean_fn", None), "__name__", "")
        pad_id = getattr(inner, "pad_token_id", None) or 0
        return cls(tokenizer, context_length, pad_id, f"{type(tokenizer).__name__}/{size}/{clean}")

    def __call__(self, texts: Sequence[str]) -> tuple[Tensor, int]:
        """Token ids ``(N, context_length)`` and the number of captions that were cut."""
        ids = self.tokenize(list(texts), self.context_length)
        # A caption was cut if a row with one more place holds one more token. Only rows that
        # leave none free can be such, or one: some vocabularies end captions with the pad token.
        full = (ids[:, -2:] != self.pad_id).any(1).nonzero().flatten()
        if not len(full):
            return ids, 0
        longer = self.tokenize([texts[i] for i in full.tolist()], self.context_length + 1)
        cut = (longer != self.pad_id).sum(1) > (ids[full] != self.pad_id).sum(1)
        return ids, int(cut.sum())


def activation_name(module: nn.Module) -> str:
    """The activations a tower uses: weights do not tell QuickGELU from GELU."""
    names = set()
    for part in module.modules():
        if re.search("gelu|silu|relu", type(part).__name__, re.IGNORECASE):
            names.add(type(part).__name__ + getattr(part, "approximate", "none"))
    return "+".join(sorted(names))
