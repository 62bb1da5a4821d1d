"""The query vector itself is trained, for each query: DEO (arXiv 2603.09185)."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch import Tensor
from torch.nn.functional import normalize

from litotes.backbones.encoder import DualEncoder
from litotes.language import Query
from litotes.strategies.base import ByVector
from litotes.strategies.parts import encoded_parts
from litotes.strategies.plain import Plain


@dataclass(frozen=True)
class Deo(ByVector):
    """A few steps of gradient descent bring a query vector to its parts; the model stays.

    It begins at the whole query's vector q₀ and lessens ``−log(e^{q·a/τ} / (e^{q·a/τ} +
    Σ e^{q·n/τ})) + λ (1 − q·q₀)``, where a is the unit vector of what is affirmed and n that of
    each thing excluded. This is the idea of the paper's abstract; steps, rate and weights are ours.

    Attributes:
        steps: of descent.
        lr: length of a step.
        temperature: τ.
        anchor: λ, how much it stays at the whole query.
        prompt: what each part is put into.
    """

    steps: int = 30
    lr: float = 0.1
    temperature: float = 0.1
    anchor: float = 0.5
    prompt: str = "a photo of {}"

    name = "deo"

    def vectors(self, queries: Sequence[Query], encoder: DualEncoder) -> Tensor:
        """Unit query vectors ``(Q, d)``, float32."""
        vectors = Plain().vectors(queries, encoder)
        rows = [i for i, query in enumerate(queries) if query.is_negated]
        if rows:
            asked = [queries[i] for i in rows]
            wanted, unwanted = encoded_parts(asked, encoder, self.prompt, self.prompt)
            excluded = torch.nn.utils.rnn.pad_sequence(list(unwanted), batch_first=True)
            counts = torch.tensor([len(parts) for parts in unwanted])
            there = torch.arange(excluded.shape[1]) < counts[:, None]
            vectors[rows] = self._descend(vectors[rows], wanted, excluded, there)
        return vectors

    @torch.enable_grad()
    def _descend(self, start: Tensor, wanted: Tensor, excluded: Tensor, there: Tensor) -> Tensor:
        query = start.detach().clone().requires_grad_()
        for _ in range(self.steps):
            unit = normalize(query, dim=-1)
            right = (unit * wanted).sum(-1) / self.temperature
            wrong = torch.einsum("qd,qnd->qn", unit, excluded) / self.temperature
            wrong = wrong.masked_fill(~there, -torch.inf)
            told = torch.logsumexp(torch.cat([right[:, None], wrong], 1), 1) - right
            loss = (told + self.anchor * (1 - (unit * start).sum(-1))).sum()
            (slope,) = torch.autograd.grad(loss, query)
            with torch.no_grad():
                query -= self.lr * slope
        return normalize(query.detach(), dim=-1)
