"""The settings that are tried when a strategy's defaults are chosen; on train or dev only."""

from pathlib import Path

from litotes.backbones.encoder import DualEncoder
from litotes.errors import DirectionError
from litotes.steering import NegationDirection, bundled_direction
from litotes.strategies import Plain, Steer, Strategy, Subtract

BETAS = (0.0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0)
PROMPTS = ("{}", "a photo of {}")
ALPHAS = (0.05, 0.13, 0.25, 0.4)


def available_direction(encoder: DualEncoder, file: Path | None) -> NegationDirection | None:
    """The direction in a file, or else the one that ships for an encoder, if one does.

    Raises:
        DirectionError: the file holds no direction.
    """
    if file is not None:
        return NegationDirection.load(file)
    try:
        return bundled_direction(encoder)
    except DirectionError:
        return None


def settings_to_sweep(encoder: DualEncoder, direction: NegationDirection | None) -> list[Strategy]:
    """Plain; subtract for every prompt and β; steer for every α and choice of blocks."""
    tried: list[Strategy] = [Plain()]
    tried += [Subtract(beta, prompt) for prompt in PROMPTS for beta in BETAS]
    if direction is None:
        return tried
    depth = encoder.text.depth
    blocks = [None, tuple(range(depth // 2)), tuple(range(depth // 2, depth))]
    blocks += [(layer,) for layer in range(depth)]
    return tried + [Steer(direction, alpha, layers) for layers in blocks for alpha in ALPHAS]
