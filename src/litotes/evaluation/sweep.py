"""The settings that are tried when a strategy's defaults are chosen; on train or dev only."""

from litotes.backbones.encoder import DualEncoder
from litotes.errors import DirectionError
from litotes.steering import bundled_direction
from litotes.strategies import Plain, Steer, Strategy, Subtract

BETAS = (0.0, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0)
PROMPTS = ("{}", "a photo of {}")
ALPHAS = (0.05, 0.13, 0.25, 0.4)


def settings_to_sweep(encoder: DualEncoder) -> list[Strategy]:
    """Plain; subtract for every prompt and β; steer for every α and choice of blocks."""
    tried: list[Strategy] = [Plain()]
    tried += [Subtract(beta, prompt) for prompt in PROMPTS for beta in BETAS]
    try:
        direction = bundled_direction(encoder)
    except DirectionError:
        return tried
    depth = encoder.text.depth
    blocks = [None, tuple(range(depth // 2)), tuple(range(depth // 2, depth))]
    blocks += [(layer,) for layer in range(depth)]
    return tried + [Steer(direction, alpha, layers) for layers in blocks for alpha in ALPHAS]
