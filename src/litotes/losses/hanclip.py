"""HANCLIP's objective: contrast in hyperbolic space, and angles of triplets (arXiv 2606.23843).

Four lists of B vectors each, row by row of one picture: the picture ``I``, its caption ``P``, the
caption said with a negation and still true ``P'``, and a negated caption that is false ``N``. Of a
batch spread over processes, gather all four with their gradients first: the losses are over the
whole batch. All is computed in float32 at least, whatever autocast says.
"""

from dataclasses import dataclass, field
from typing import Literal, NamedTuple

import torch
from torch import Tensor
from torch.nn.functional import cosine_similarity, cross_entropy, normalize

from litotes.geometry.poincare import full_precision, pairwise_distance_exp0, pairwise_euclidean

# Differences below this share of both vectors' lengths are rounding and have no direction.
ROUNDING = 1e-6


class LossParts(NamedTuple):
    """A loss to follow down, and what it is made of by name, each a scalar."""

    total: Tensor
    parts: dict[str, Tensor]


@dataclass(frozen=True)
class NegationContrast:
    """Three InfoNCE terms with negated captions, the mean over the batch (equations 5 to 7).

    - ``negated_to_image``: ``p'_i`` finds ``v_i`` among all pictures;
    - ``image_to_text``: ``v_i`` finds ``p'_i`` among all ``p'_k`` and ``n_k``;
    - ``negated_to_text``: ``p'_i`` finds ``p_i`` among all ``p_k`` and ``n_k``.

    The equations as printed reward distance (``exp(+D/τ)``) and contrast matching pairs alone; the
    text says what is done here. With normalised vectors all points lie on one sphere, where the
    hyperbolic distance is a monotone function of the cosine.

    Attributes:
        geometry: what logits are. ``hyperbolic``: ``-D(exp_0(a), exp_0(b))/τ``. Two controls that
            differ in nothing else: ``euclidean``, ``-2‖a-b‖/τ``, which is what the former tends to
            as the curvature goes to 0, and ``cosine``, ``cos(a, b)/τ``.
        temperature: τ.
        curvature: c of the Poincaré ball; for ``hyperbolic`` alone.
        normalize: whether vectors are ℓ2-normalised first. The paper's embeddings are, unless it
            says otherwise, and it does not here. The hierarchy by radius that it claims can only
            show without.
        negatives: whether a row is contrasted with the ``n_k`` of the whole ``batch``, as in the
            paper, or with its ``own`` alone: another picture's ``n_k`` may be true of this one.
    """

    geometry: Literal["hyperbolic", "euclidean", "cosine"] = "hyperbolic"
    temperature: float = 0.01
    curvature: float = 0.1
    normalize: bool = True
    negatives: Literal["batch", "own"] = "batch"

    @full_precision
    def __call__(
        self, images: Tensor, positives: Tensor, negated_positives: Tensor, negatives: Tensor
    ) -> LossParts:
        """The sum of the three terms.

        Args:
            images: ``v``, ``(B, d)``, not normalised.
            positives: ``p``, ``(B, d)``.
            negated_positives: ``p'``, ``(B, d)``.
            negatives: ``n``, ``(B, d)``.
        """
        batch = len(images)
        vectors = [images, positives, negated_positives, negatives]
        if self.normalize or self.geometry == "cosine":
            vectors = [normalize(x, dim=-1) for x in vectors]
        v, p, q, n = vectors
        by_image, by_text = self.logits(q, torch.cat([v, p, n])).split([batch, 2 * batch], 1)
        false = self.logits(v, n)
        if self.negatives == "own":
            by_text = torch.cat([by_text[:, :batch], by_text[:, batch:].diagonal()[:, None]], 1)
            false = false.diagonal()[:, None]
        target = torch.arange(batch, device=v.device)
        parts = {
            "negated_to_image": cross_entropy(by_image, target),
            "image_to_text": cross_entropy(torch.cat([by_image.T, false], 1), target),
            "negated_to_text": cross_entropy(by_text, target),
        }
        return LossParts(torch.stack(list(parts.values())).sum(), parts)

    def logits(self, a: Tensor, b: Tensor) -> Tensor:
        """Likeness over temperature of all rows of ``a`` to all of ``b``, ``(B, M)``.

        For ``cosine`` vectors have to be normalised.
        """
        match self.geometry:
            case "hyperbolic":
                return pairwise_distance_exp0(a, b, self.curvature) / -self.temperature
            case "euclidean":
                return pairwise_euclidean(a, b) * (-2 / self.temperature)
            case "cosine":
                return a @ b.T / self.temperature


class AngularTripletNegation:
    """Angles between differences of Euclidean vectors, the mean over the batch.

    - ``angle_positive``: ``1 - cos(p - n, p' - n)``, for true captions to lie the same way from
      the false one;
    - ``angle_negative``: ``cos(n - p', p - p')``, for false and true to lie opposite ways.

    A difference of zero, of two captions with one vector, has no direction: its cosine counts as 0
    and asks for nothing.
    """

    @full_precision
    def __call__(
        self, positives: Tensor, negated_positives: Tensor, negatives: Tensor
    ) -> LossParts:
        """The sum of both terms, of ``p``, ``p'`` and ``n``, each ``(B, d)``."""
        from_false = cosine(
            direction(positives, negatives), direction(negated_positives, negatives)
        )
        from_negated = cosine(
            direction(negatives, negated_positives), direction(positives, negated_positives)
        )
        parts = {"angle_positive": 1 - from_false.mean(), "angle_negative": from_negated.mean()}
        return LossParts(parts["angle_positive"] + parts["angle_negative"], parts)


@dataclass(frozen=True)
class HanclipLoss:
    """The contrast plus ``alpha`` times the angles.

    Attributes:
        alpha: weight of the angles; the paper finds 1 the best.
        contrast: the contrast. Where it normalises vectors, so do the angles.
    """

    alpha: float = 1.0
    contrast: NegationContrast = field(default_factory=NegationContrast)

    @full_precision
    def __call__(
        self, images: Tensor, positives: Tensor, negated_positives: Tensor, negatives: Tensor
    ) -> LossParts:
        """Total and all five parts, unweighted, of four ``(B, d)``."""
        contrast = self.contrast(images, positives, negated_positives, negatives)
        texts = [positives, negated_positives, negatives]
        if self.contrast.normalize:
            texts = [normalize(text, dim=-1) for text in texts]
        angles = AngularTripletNegation()(*texts)
        total = contrast.total + self.alpha * angles.total
        return LossParts(total, contrast.parts | angles.parts)


@full_precision
def preservation(adapted: Tensor, original: Tensor) -> Tensor:
    """How far vectors of true captions turned from what they were, mean ``1 - cos``: a scalar.

    Args:
        adapted: ``(B, d)``.
        original: those of the encoder before training, ``(B, d)``; gets no gradient.
    """
    return 1 - cosine_similarity(adapted, original.detach(), dim=-1).mean()


@full_precision
def told_apart(adapted: Tensor, targets: Tensor, temperature: float = 0.05) -> Tensor:
    """InfoNCE of each vector's own target among all targets: a scalar.

    Targets of one form lie close together, so that their middle is near all of them; here it is
    the difference that counts. Equal targets are no wrong ones.

    Args:
        adapted: ``(B, d)``.
        targets: where they should be, ``(B, d)``; gets no gradient.
        temperature: what cosines are divided by.
    """
    targets = normalize(targets.detach(), dim=-1)
    same = targets @ targets.T > 1 - ROUNDING * 10
    same.fill_diagonal_(False)
    scores = normalize(adapted, dim=-1) @ targets.T / temperature
    own = torch.arange(len(targets), device=targets.device)
    return cross_entropy(scores.masked_fill(same, -torch.inf), own)


def direction(a: Tensor, b: Tensor) -> Tensor:
    """Unit vectors of ``a - b``, 0 and without gradient where that is only rounding: ``(B, d)``."""
    difference = a - b
    length = torch.linalg.vector_norm(difference, dim=-1, keepdim=True)
    sizes = [torch.linalg.vector_norm(x.detach(), dim=-1, keepdim=True) for x in (a, b)]
    known = length > ROUNDING * (sizes[0] + sizes[1])
    return torch.where(known, difference / torch.where(known, length, 1), 0)


def cosine(a: Tensor, b: Tensor) -> Tensor:
    """Cosines of unit vectors, row by row: ``(B,)``."""
    return (a * b).sum(-1)
