"""`NegationDirection`: where a text encoder keeps negation, found with a linear probe.

Source: Sammani et al., arXiv 2603.20554. For each text-encoder block l, a logistic regression
tells negated from affirmative captions by the residual stream ``h_l`` at the summary token; its
unit weight ``w_l`` is the direction. Steering pushes ``h_l`` along it:
``h_l ← (1 − α) h_l + α ‖h_l‖ w_l``.
"""

import hashlib
import json
import math
import os
import warnings
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from litotes.backbones.encoder import DualEncoder
from litotes.backbones.text import LayerHook
from litotes.data.files import write_atomically
from litotes.errors import DirectionError

Features = Literal["raw", "scaled"]
CHANCE = 0.55
"""A probe that is right no more often than this on held-out captions has found nothing."""
_FORMAT = "litotes-negation-direction-1"


@dataclass(frozen=True)
class NegationDirection:
    """A negation direction for each block of one text encoder.

    Attributes:
        weights: unit rows ``w_l``, shape ``(depth, width)``, float32.
        biases: what each block's probe adds to ``h_l · w_l``, shape ``(depth,)``; steering does
            not use them.
        accuracy: held-out accuracy of each block's probe, shape ``(depth,)``, 0 to 1.
        text_fingerprint: of the encoder's text side it was fitted on.
        settings: how it was fitted: model, features, pairs, seed and the rest.
    """

    weights: Tensor
    biases: Tensor
    accuracy: Tensor
    text_fingerprint: str
    settings: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def fit(
        cls,
        encoder: DualEncoder,
        pairs: Sequence[tuple[str, str]],
        *,
        features: Features = "raw",
        held_out: float = 0.2,
        seed: int = 0,
        progress: bool | None = None,
    ) -> "NegationDirection":
        """Fit a direction on caption pairs; one pass over the captions reads every block.

        Args:
            encoder: whose text side is read; it is not changed.
            pairs: ``(affirmative, negated)`` captions.
            features: ``"raw"``, logistic regression without intercept on ``h_l`` as the paper
                does; or ``"scaled"``, each unit centred and divided by its spread first and the
                weight mapped back, which post-norm encoders (BERT) need for L-BFGS to converge.
            held_out: share of the pairs, both captions of each, kept for ``accuracy``.
            seed: draws the held-out pairs.
            progress: show a progress bar; by default at a terminal.

        Raises:
            DirectionError: too few pairs, a text tower that cannot be walked, or a block on
                which nothing could be fitted.
        """
        if not encoder.text.depth:
            raise DirectionError(
                f"the text tower of {encoder.name} cannot be walked block by block, "
                f"so it has no residual stream to fit a direction on"
            )
        held = round(len(pairs) * held_out)
        if held < 1 or len(pairs) - held < 2:
            raise DirectionError(
                f"{len(pairs)} pairs are too few to fit on and hold {held_out:.0%} out: "
                f"give at least 10, better some thousands"
            )
        flat = [caption for pair in pairs for caption in pair]
        states = encoder.text_states(flat, progress=progress).unflatten(0, (-1, 2))
        order = torch.randperm(len(pairs), generator=torch.Generator().manual_seed(seed))
        test, train = states[order[:held]], states[order[held:]]
        fitted = [
            _fit_block(layer, train[:, :, layer], test[:, :, layer], features)
            for layer in range(encoder.text.depth)
        ]
        return cls(
            weights=torch.stack([weight for weight, _, _ in fitted]),
            biases=torch.tensor([bias for _, bias, _ in fitted]),
            accuracy=torch.tensor([accuracy for _, _, accuracy in fitted]),
            text_fingerprint=encoder.text_fingerprint,
            settings={
                "model": encoder.name,
                "features": features,
                "pairs": len(pairs),
                "pairs_sha256": hashlib.sha256("\n".join(flat).encode()).hexdigest()[:16],
                "held_out": held_out,
                "seed": seed,
            },
        )

    @property
    def fingerprint(self) -> str:
        """Names the direction's content."""
        return hashlib.sha256(self.weights.numpy().tobytes()).hexdigest()[:16]

    @property
    def best_layer(self) -> int:
        """The block whose probe is most accurate, counted from 0; the earliest of equals."""
        return int(self.accuracy.argmax())

    def hook(
        self, encoder: DualEncoder, alpha: float = 0.13, layers: Iterable[int] | None = None
    ) -> LayerHook:
        """What steers ``encoder``: see :meth:`litotes.backbones.DualEncoder.steered`.

        Raises:
            DirectionError: the direction was fitted on another text encoder.
            ValueError: ``alpha`` is not within 0 to 1, or a layer does not exist.
        """
        self.check(encoder)
        if not 0 <= alpha <= 1:
            raise ValueError(f"alpha is {alpha}: steering takes a share from 0 to 1")
        depth = len(self.weights)
        chosen = frozenset(range(depth) if layers is None else layers)
        if unknown := sorted(chosen - set(range(depth))):
            raise ValueError(f"layers {unknown} do not exist: this encoder has 0 to {depth - 1}")
        weights = self.weights.to(encoder.device)

        def steer(layer: int, states: Tensor) -> Tensor | None:
            if layer not in chosen:
                return None
            h = states.float()
            return (1 - alpha) * h + alpha * h.norm(dim=-1, keepdim=True) * weights[layer]

        return steer

    def says_negated(self, encoder: DualEncoder, texts: Sequence[str]) -> list[bool]:
        """What the best block's probe says of each text: the gate that needs no word list.

        Raises:
            DirectionError: the direction was fitted on another text encoder.
        """
        self.check(encoder)
        layer = self.best_layer
        states = encoder.text_states(texts)[:, layer]
        scores = states @ self.weights[layer] + self.biases[layer]
        return [bool(score > 0) for score in scores]

    def check(self, encoder: DualEncoder) -> None:
        """Raise `DirectionError` unless this direction was fitted on the encoder's text side."""
        if self.text_fingerprint != encoder.text_fingerprint:
            raise DirectionError(
                f"this direction was fitted on {self.settings.get('model', 'another model')} "
                f"(text fingerprint {self.text_fingerprint}) and does not suit {encoder.name} "
                f"({encoder.text_fingerprint}): fit one with `litotes direction fit --model "
                f"{encoder.name} --pairs FILE`"
            )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one safetensors file, the settings as JSON in its header; atomic."""
        header = {
            "format": _FORMAT,
            "text_fingerprint": self.text_fingerprint,
            "settings": json.dumps(dict(self.settings), sort_keys=True),
        }
        tensors = {
            name: getattr(self, name).contiguous() for name in ("weights", "biases", "accuracy")
        }
        write_atomically(path, save(tensors, header))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> "NegationDirection":
        """Read what :meth:`save` wrote.

        Raises:
            DirectionError: no such file, or not a direction.
        """
        try:
            with safe_open(Path(path), framework="pt") as file:
                header = file.metadata() or {}
                if header.get("format") != _FORMAT:
                    raise DirectionError(
                        f"{path} holds no negation direction: `litotes direction fit` writes one"
                    )
                return cls(
                    weights=file.get_tensor("weights"),
                    biases=file.get_tensor("biases"),
                    accuracy=file.get_tensor("accuracy"),
                    text_fingerprint=header["text_fingerprint"],
                    settings=json.loads(header["settings"]),
                )
        except OSError as error:
            raise DirectionError(f"cannot read the direction {path}: {error}") from error
        except (SafetensorError, KeyError, ValueError) as error:
            raise DirectionError(f"{path} is damaged, or no negation direction: {error}") from error


def _fit_block(
    layer: int, train: Tensor, test: Tensor, features: Features
) -> tuple[Tensor, float, float]:
    """Unit weight ``(width,)``, bias and held-out accuracy, of states ``(pairs, 2, width)``."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    x, y = train.flatten(0, 1), torch.tensor([0, 1]).repeat(len(train))
    if not torch.isfinite(x).all():
        raise DirectionError(f"block {layer}: the encoder's states are not finite")
    mean, spread = torch.zeros(x.shape[1]), torch.ones(x.shape[1])
    if features == "scaled":
        mean, spread = x.mean(0), x.std(0)
        spread[spread == 0] = 1
    probe = LogisticRegression(fit_intercept=False, max_iter=1000)
    with warnings.catch_warnings():
        # What did not converge is judged by the held-out captions below.
        warnings.simplefilter("ignore", ConvergenceWarning)
        probe.fit(((x - mean) / spread).numpy(), y.numpy())
    weight = torch.from_numpy(probe.coef_[0]).float() / spread
    norm = float(weight.norm())
    if not math.isfinite(norm) or norm == 0:
        raise DirectionError(f"block {layer}: logistic regression found no direction")
    weight = weight / norm
    bias = -float(weight @ mean)
    held, labels = test.flatten(0, 1), torch.tensor([0, 1]).repeat(len(test))
    accuracy = float(((held @ weight + bias > 0).long() == labels).float().mean())
    if accuracy <= CHANCE:
        raise DirectionError(
            f"block {layer}: the probe tells {accuracy:.0%} of held-out captions apart, which is "
            f"chance: there is no direction"
            + ("; try features='scaled'" if features == "raw" else "")
        )
    return weight, bias, accuracy
