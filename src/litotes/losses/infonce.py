"""Contrast between matching vectors of a batch."""

import torch
from torch import Tensor
from torch.nn.functional import cross_entropy, normalize


def info_nce(images: Tensor, texts: Tensor, scale: Tensor) -> Tensor:
    """Symmetric InfoNCE, as CLIP is trained (arXiv 2103.00020, figure 3): a scalar.

    Args:
        images: vectors ``(B, d)``, not normalised.
        texts: the vector of each image's caption, ``(B, d)``, not normalised.
        scale: what cosines are multiplied by, 1/τ, a scalar.
    """
    logits = scale * normalize(images, dim=-1) @ normalize(texts, dim=-1).T
    target = torch.arange(len(logits), device=logits.device)
    return (cross_entropy(logits, target) + cross_entropy(logits.T, target)) / 2
