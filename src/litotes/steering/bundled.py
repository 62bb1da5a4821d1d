"""Directions that ship with the package."""

from importlib.resources import files

from litotes.backbones.encoder import DualEncoder
from litotes.errors import DirectionError
from litotes.steering.direction import NegationDirection


def bundled_direction(encoder: DualEncoder) -> NegationDirection:
    """The direction that ships for an encoder's text side.

    Raises:
        DirectionError: none ships for it; says how to fit one.
    """
    folder = files("litotes.steering") / "directions"
    for file in sorted(folder.iterdir(), key=lambda f: f.name) if folder.is_dir() else []:
        direction = NegationDirection.load(str(file))
        if direction.text_fingerprint == encoder.text_fingerprint:
            return direction
    raise DirectionError(
        f"no negation direction ships for {encoder.name}: fit one with `litotes direction fit "
        f"--model {encoder.name} --pairs FILE` and pass it with --direction"
    )
