"""Gradients of a large batch in the memory of a small one (GradCache, arXiv 2101.06983).

A contrastive loss is of a whole batch, but of its vectors alone. So a batch is encoded part by
part, keeping nothing but vectors; the loss gives the vectors' gradients; and part by part what was
encoded is encoded again, its share of the gradient passed on to the weights, and forgotten. That
is a checkpoint of torch's around each part: the second time it has the same random numbers and
the same autocast, so that gradients are those of encoding the same parts at once, to the digit,
on several devices too. Time is that of one more forward pass.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any, TypeVar

import torch
from torch import Tensor, nn
from torch.nn.modules.batchnorm import _BatchNorm
from torch.utils.checkpoint import checkpoint

from litotes.errors import ModelError

T = TypeVar("T")


def encode_cached(encode: Callable[[T], Tensor], batches: Iterable[tuple[Tensor, T]]) -> Tensor:
    """Vectors ``(N, d)`` in order, whose parts are encoded again when gradients reach them.

    Args:
        encode: gives the vectors ``(B, d)`` of a part. It may draw by lot, but must do the same
            when called again.
        batches: the parts, each with its rows ``(B,)`` among the ``N``.
    """
    rows, parts = zip(
        *((rows, checkpoint(encode, part, use_reentrant=False)) for rows, part in batches),
        strict=True,
    )
    return torch.cat(parts)[torch.cat(rows).argsort()]


def pixel_batches(pixels: Any, size: int) -> Iterator[tuple[Tensor, Any]]:
    """Parts of a batch of pixels, with their rows ``(B,)``.

    Args:
        pixels: a tensor ``(N, …)``, or a dict of such, as an image tower reads them.
        size: pictures of a part, at most.
    """
    count = len(next(iter(pixels.values())) if isinstance(pixels, dict) else pixels)
    for rows in torch.arange(count).split(size):
        part = slice(int(rows[0]), int(rows[-1]) + 1)
        if isinstance(pixels, dict):
            yield rows, {name: values[part] for name, values in pixels.items()}
        else:
            yield rows, pixels[part]


def require_parts_alike(model: nn.Module, prefixes: tuple[str, ...]) -> None:
    """Raise `ModelError` if some layer of a tower, in training, mixes a batch's items.

    Args:
        model: holds the tower.
        prefixes: which names of its modules belong to the tower.
    """
    for name, module in model.named_modules():
        if name.startswith(prefixes) and isinstance(module, _BatchNorm):
            raise ModelError(
                f"{name} normalises over the batch, which differs when it is encoded in parts: "
                f"set fit.chunk = 0, or train LoRA layers alone"
            )
