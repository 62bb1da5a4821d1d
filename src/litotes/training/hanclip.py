"""HANCLIP (arXiv 2606.23843): what a batch of quadruplets, or of statements, is judged by."""

from collections.abc import Sequence
from typing import NamedTuple

import torch
from torch import Tensor

from litotes.losses.hanclip import HanclipLoss, LossParts, NegationContrast
from litotes.losses.truth import TruthContrast
from litotes.training.fit import Anchor, Batch
from litotes.training.recipe import HanclipLossSettings, TruthLossSettings


class Captions(NamedTuple):
    """The captions of one quadruplet: P, P′ and N of arXiv 2606.23843."""

    positive: str
    negated_positive: str
    negative: str


def loss_of(settings: HanclipLossSettings) -> HanclipLoss:
    """The loss that a recipe asks for."""
    contrast = NegationContrast(**settings.model_dump(exclude={"alpha"}))
    return HanclipLoss(settings.alpha, contrast)


def quadruplet_batch(
    pictures: Sequence[int], captions: Sequence[Captions], loss: HanclipLoss
) -> Batch:
    """A batch of quadruplets: every picture with its three captions."""
    positives, negated, negatives = zip(*captions, strict=True)

    def judged(images: Tensor, texts: Tensor) -> LossParts:
        return loss(images, *texts.split(len(captions)))

    anchors = [Anchor(text) for text in positives]
    return Batch(pictures, [*positives, *negated, *negatives], judged, anchors)


def statement_batch(
    pictures: Sequence[int],
    statements: Sequence[Sequence[str]],
    truth: Tensor,
    settings: TruthLossSettings,
    anchors: Sequence[Anchor],
) -> Batch:
    """A batch of statements.

    Args:
        pictures: numbers of ``B`` pictures; there are statements about the first of them.
        statements: those about each picture, ``S`` in all.
        truth: of each statement about each picture ``(S, B)``: 1, 0, or -1 if not known.
        settings: of the loss.
        anchors: texts, of the statements and others, of which it is known where they should be.
    """
    loss = TruthContrast(settings.temperature)
    counts = torch.tensor([len(texts) for texts in statements])
    owner = torch.arange(len(statements)).repeat_interleave(counts)
    own = torch.where(owner[:, None] == torch.arange(len(statements)), truth[:, : len(counts)], -1)

    def judged(images: Tensor, texts: Tensor) -> LossParts:
        table = truth.to(images.device)
        by_text, _ = loss(images, texts, table)
        about = images[: len(statements)]
        _, by_image = loss(about, texts, table[:, : len(statements)])
        _, by_own = loss(about, texts, own.to(images.device))
        total = by_text + settings.image_to_text * by_image + settings.own * by_own
        parts = {"text to image": by_text, "image to text": by_image, "own statements": by_own}
        return LossParts(total, parts)

    return Batch(pictures, [text for texts in statements for text in texts], judged, anchors)
