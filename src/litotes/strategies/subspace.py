"""Between what is asked for and what is excluded: SpaceVLM (arXiv 2511.12331)."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from torch import Tensor
from torch.nn.functional import normalize

from litotes.backbones.encoder import DualEncoder
from litotes.language import Query
from litotes.strategies.base import ByVector
from litotes.strategies.parts import answered


@dataclass(frozen=True)
class Subspace(ByVector):
    """The middle of the part of a cap around ``e_a`` that lies outside the cap around ``e_n``.

    With θ the angle between the two unit text vectors and α = arccos t that of the caps, it is the
    unit vector along ``sin(α + θ/2)/sin θ · e_a − sin(α − θ/2)/sin θ · e_n``. Several excluded
    things are the mean direction of their vectors. Where θ is 2α or more the caps do not meet, and
    the formula would add what it should take away: then it is ``e_a``, unless ``raw``; likewise
    where the two point the same or the opposite way.

    Attributes:
        threshold: t, the cosine at the rim of a cap. The paper's 0.90 to 0.95 suits CLIP, whose
            text vectors fill a narrow cone; the default is chosen on dev for `mini`.
        raw: the formula whatever the angle, as a control.
        prompt: what each part is put into.
    """

    threshold: float = 0.5
    raw: bool = False
    prompt: str = "a photo of {}"

    name = "subspace"

    def vectors(self, queries: Sequence[Query], encoder: DualEncoder) -> Tensor:
        """Unit query vectors ``(Q, d)``, float32."""

        def combine(wanted: Tensor, unwanted: Tensor) -> Tensor:
            return self.between(wanted, normalize(unwanted.sum(0), dim=-1))

        return answered(queries, encoder, self.prompt, combine)

    def between(self, wanted: Tensor, unwanted: Tensor) -> Tensor:
        """The unit vector ``(d,)`` for two unit vectors ``(d,)``."""
        cosine = float((wanted.double() @ unwanted.double()).clamp(-1, 1))
        theta, alpha = math.acos(cosine), math.acos(self.threshold)
        parallel = math.sin(theta) < 1e-3
        if parallel or (theta >= 2 * alpha and not self.raw):
            return wanted
        along = math.sin(alpha + theta / 2) * wanted - math.sin(alpha - theta / 2) * unwanted
        return normalize(along, dim=-1)
