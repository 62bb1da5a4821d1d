"""Contrast between statements and images of which it is known whether each is true."""

import torch
from torch import Tensor, nn
from torch.nn.functional import normalize, softplus


class TruthContrast(nn.Module):
    """InfoNCE over a table of truth, in both directions: our addition to arXiv 2606.23843.

    HANCLIP's negatives are the false caption of each image; whether another image's caption is
    false as well is not asked. Here every statement is contrasted with just those images that it
    is false of, and every image with just the statements that are false of it. What is not known
    takes no part. Each true pair stands alone against all false ones, so that several true ones
    do not compete.

    Args:
        temperature: what cosines are divided by.
    """

    def __init__(self, temperature: float = 0.05) -> None:
        super().__init__()
        self.temperature = temperature

    def forward(self, images: Tensor, texts: Tensor, truth: Tensor) -> tuple[Tensor, Tensor]:
        """Mean over statements, and mean over images; 0 where nothing can be contrasted.

        Args:
            images: ``(B, d)``.
            texts: ``(S, d)``.
            truth: ``(S, B)``: 1 true, 0 false, -1 not known.
        """
        with torch.autocast(images.device.type, enabled=False):
            texts, images = normalize(texts.float(), dim=-1), normalize(images.float(), dim=-1)
            scores = texts @ images.T / self.temperature
            return _contrast(scores, truth), _contrast(scores.T, truth.T)


def _contrast(scores: Tensor, truth: Tensor) -> Tensor:
    """−log of each true score's share among itself and its row's false ones; mean over rows."""
    true, false = truth == 1, truth == 0
    rows = true.any(1) & false.any(1)
    if not rows.any():
        return scores.sum() * 0
    scores, true, false = scores[rows], true[rows], false[rows]
    wrong = scores.masked_fill(~false, -torch.inf).logsumexp(1, keepdim=True)
    losses = softplus(wrong - scores).masked_fill(~true, 0)
    return (losses.sum(1) / true.sum(1)).mean()
