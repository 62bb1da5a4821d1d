"""Directions that ship with the package, or with an adapter."""

from importlib.resources import files
from pathlib import Path

from litotes.backbones.adapters import DIRECTION, adapter_names, find_adapter
from litotes.backbones.encoder import DualEncoder
from litotes.errors import DirectionError
from litotes.steering.direction import NegationDirection


def bundled_direction(encoder: DualEncoder) -> NegationDirection:
    """The direction that ships for an encoder's text side, or with the adapter attached to it.

    Raises:
        DirectionError: there is none; says how to fit one.
    """
    for file in _candidates(encoder):
        direction = NegationDirection.load(file)
        if direction.text_fingerprint == encoder.text_fingerprint:
            return direction
    adapter = "" if encoder.adapter is None else f" --adapter {encoder.adapter}"
    raise DirectionError(
        f"no negation direction ships for {encoder.label}: fit one with `litotes direction fit "
        f"--model {encoder.name}{adapter} --pairs FILE` and pass it with --direction"
    )


def _candidates(encoder: DualEncoder) -> list[Path]:
    found = sorted((Path(str(files("litotes.steering"))) / "directions").glob("*.safetensors"))
    if encoder.adapter is not None:
        folders = [find_adapter(encoder, name) for name in adapter_names(encoder.adapter)]
        found = [*(folder / DIRECTION for folder in folders), *found]
    return [file for file in found if file.is_file()]
