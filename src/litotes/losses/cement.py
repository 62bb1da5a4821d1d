"""Slipform's objective: InfoNCE whose hard negatives carry a margin (arXiv 2604.13313).

N pictures ``v`` with captions ``t``, and of each caption one with a keyword changed, ``t'``, with
the picture ``v'`` that it is true of or without. Every sample has a changed caption: one whose
caption holds no keyword to change has to be left out of the data. Of a batch spread over
processes, gather all vectors with their gradients first: the loss is over the whole batch.
"""

import torch
from torch import Tensor, nn
from torch.nn.functional import cross_entropy, normalize

from litotes.geometry.poincare import full_precision
from litotes.losses.hanclip import LossParts


def fermi_dirac_margin(
    concreteness: Tensor,
    m_min: float,
    m_max: float,
    threshold: float = 4.0,
    temperature: float = 0.15,
) -> Tensor:
    """Margins ``m̂_i = m_min + (m_max − m_min) / (1 + exp((c̃ − c_i)/τ_m))``: of the shape given.

    Args:
        concreteness: ``c``, how concrete the changed keywords are, 1 to 5, ``(...)``.
        m_min: margin of the least concrete, in logits.
        m_max: margin of the most concrete, in logits.
        threshold: ``c̃``, at which the margin is halfway.
        temperature: ``τ_m``, how wide the step is.
    """
    return m_min + (m_max - m_min) * ((concreteness - threshold) / temperature).sigmoid()


class CementLoss(nn.Module):
    """InfoNCE with ``m̂_i`` added to the logit of each row's own hard negative.

    - With ``v'`` the table is 2N × 2N and every pair is a positive: ``(v_i, t_i)`` has ``t'_i`` and
      ``v'_i`` as its hard negatives, ``(v'_i, t'_i)`` has ``t_i`` and ``v_i``, all with a margin.
    - Without, pictures look for their captions among 2N, with a margin on ``t'_i``, and captions
      for their pictures among N, without, as in NegCLIP.

    With ``m_min = m_max`` the margin is the same for all; where both are 0 this is InfoNCE.

    Args:
        m_min: margin of the least concrete keywords, in logits.
        m_max: margin of the most concrete keywords, in logits.
        temperature: τ, what cosines are divided by.
        threshold: the concreteness at which the margin is halfway.
        margin_temperature: how wide that step is.
    """

    def __init__(
        self,
        *,
        m_min: float,
        m_max: float,
        temperature: float = 0.01,
        threshold: float = 4.0,
        margin_temperature: float = 0.15,
    ) -> None:
        super().__init__()
        self.m_min, self.m_max = m_min, m_max
        self.temperature = temperature
        self.threshold, self.margin_temperature = threshold, margin_temperature

    @full_precision
    def forward(
        self,
        images: Tensor,
        texts: Tensor,
        changed_texts: Tensor,
        concreteness: Tensor,
        changed_images: Tensor | None = None,
    ) -> LossParts:
        """The mean of both directions, ``image_to_text`` and ``text_to_image``.

        Args:
            images: ``v``, ``(N, d)``, not normalised.
            texts: ``t``, ``(N, d)``, not normalised.
            changed_texts: ``t'``, ``(N, d)``, not normalised.
            concreteness: ``c``, ``(N,)``, 1 to 5; gets no gradient.
            changed_images: ``v'``, ``(N, d)``, not normalised.
        """
        logits = self.logits(images, texts, changed_texts, concreteness, changed_images)
        target = torch.arange(len(logits), device=logits.device)
        parts = {
            "image_to_text": cross_entropy(logits, target),
            "text_to_image": cross_entropy(logits[:, : len(logits)].T, target),
        }
        return LossParts((parts["image_to_text"] + parts["text_to_image"]) / 2, parts)

    @full_precision
    def logits(
        self,
        images: Tensor,
        texts: Tensor,
        changed_texts: Tensor,
        concreteness: Tensor,
        changed_images: Tensor | None = None,
    ) -> Tensor:
        """Cosines over τ, with the margins: ``v``, then ``v'``, by ``t``, then ``t'``.

        Arguments as :meth:`forward`'s.

        Returns:
            ``(N, 2N)``, or ``(2N, 2N)`` with ``v'``.
        """
        seen = images if changed_images is None else torch.cat([images, changed_images])
        said = torch.cat([texts, changed_texts])
        logits = (normalize(seen, dim=-1) / self.temperature) @ normalize(said, dim=-1).T
        count = len(images)
        # In place: adding a constant changes no gradient, and a second table would take time.
        with torch.no_grad():
            margins = fermi_dirac_margin(
                concreteness, self.m_min, self.m_max, self.threshold, self.margin_temperature
            )
            logits.diagonal(count).add_(margins)
            if changed_images is not None:
                logits.diagonal(-count).add_(margins)
        return logits
