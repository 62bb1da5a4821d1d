"""Rasterise the drawings: ``python -m litotes.scenes.atlas`` after an SVG file was changed.

For those who change a drawing; it needs the ``resvg-py`` package, which users do not.
"""

import io
from importlib.resources import files
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from litotes.scenes.drawing import ATLAS
from litotes.scenes.graph import SIDE
from litotes.scenes.kinds import BACKGROUNDS, KINDS, SIZES

SHADE, LIGHT = 0.72, 0.45
"""A shade is so much of the colour; a light one goes so far from it to white."""


def build() -> dict[str, NDArray[np.uint8]]:
    """The atlas: per size, kinds with the slot black ``base`` (K, s, s, 4) and the slot's
    ``weight`` (K, s, s); and the backgrounds (B, 96, 96, 3).
    """
    arrays: dict[str, Any] = {}
    for size, side in SIZES.items():
        black = [_raster(_filled(_source(name), 0), side) for name in KINDS]
        white = [_raster(_filled(_source(name), 255), side) for name in KINDS]
        arrays[f"{size} base"] = np.stack(black)
        gain = np.stack(white)[..., :3].astype(int) - np.stack(black)[..., :3]
        arrays[f"{size} weight"] = gain.mean(-1).round().clip(0, 255).astype(np.uint8)
    places = [_raster(_source(f"background_{name}"), SIDE)[..., :3] for name in BACKGROUNDS]
    arrays["backgrounds"] = np.stack(places)
    return arrays


def _source(name: str) -> str:
    file = files("litotes.scenes") / "drawings" / f"{name.replace(' ', '_')}.svg"
    return file.read_text(encoding="utf-8")


def _filled(svg: str, level: int) -> str:
    values = {
        "COLOUR": level,
        "SHADE": round(SHADE * level),
        "LIGHT": round(level + LIGHT * (255 - level)),
    }
    for slot, value in values.items():
        svg = svg.replace(slot, f"#{value:02x}{value:02x}{value:02x}")
    return svg


def _raster(svg: str, side: int) -> NDArray[np.uint8]:
    import resvg_py

    png = bytes(resvg_py.svg_to_bytes(svg_string=svg, width=side, height=side))
    return np.asarray(Image.open(io.BytesIO(png)).convert("RGBA"))


if __name__ == "__main__":
    arrays: Any = build()
    np.savez_compressed(str(files("litotes.scenes") / ATLAS), **arrays)
