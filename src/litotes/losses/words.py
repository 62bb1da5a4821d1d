"""Predict a caption's words from a vector: a start for towers that know nothing yet."""

from collections.abc import Sequence

import torch
from torch import Tensor, nn
from torch.nn.functional import log_softmax, normalize


class WordPrediction(nn.Module):
    """Cross-entropy between a vector's cosines to word vectors and a caption's words.

    Words count by their inverse document frequency, as in SuperClass (arXiv 2411.03313, section
    3.2). Both towers share the word vectors, which draws them into one space long before contrast
    alone would: it has to find both sides of a word at once.

    Args:
        idf: weight of each token, ``(V,)``; 0 for tokens that are no words.
        dim: units of the vectors.
    """

    def __init__(self, idf: Tensor, dim: int) -> None:
        super().__init__()
        self.idf = idf
        self.words = nn.Parameter(torch.randn(len(idf), dim) * dim**-0.5)

    def forward(self, vectors: Tensor, ids: Tensor, scale: float = 14.0) -> Tensor:
        """A scalar.

        Args:
            vectors: ``(B, d)``, not normalised.
            ids: the tokens of each one's caption, ``(B, L)``, int64.
            scale: what cosines are multiplied by.
        """
        said = torch.zeros(len(ids), len(self.idf), device=ids.device).scatter_(1, ids, 1.0)
        weights = said * self.idf
        weights = weights / weights.sum(1, keepdim=True).clamp(min=1e-6)
        logits = scale * normalize(vectors, dim=-1) @ normalize(self.words, dim=-1).T
        return -(weights * log_softmax(logits, -1)).sum(1).mean()


def inverse_document_frequency(rows: Sequence[Tensor], tokens: int, ignored: set[int]) -> Tensor:
    """``log(N / n)`` of tokens that ``n`` of ``N`` captions hold, ``(V,)``; 0 for ignored ones.

    Args:
        rows: token ids of each caption.
        tokens: how many there are.
        ignored: padding, start and end.
    """
    counts = torch.zeros(tokens)
    for row in rows:
        counts[row.unique()] += 1
    idf = torch.log(len(rows) / counts.clamp(min=1)).clamp(min=0)
    idf[list(ignored)] = 0
    return idf
