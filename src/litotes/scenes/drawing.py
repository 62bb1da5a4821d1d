"""Pictures of scene graphs, byte for byte the same on every machine.

Each kind is an SVG file of ours, rasterised once at its three sizes into ``drawings.npz``
(:mod:`litotes.scenes.atlas`). Its colour is a slot: shades of the slot are affine in the colour, so
a pixel is ``base + weight · colour`` and any colour can be put in exactly, with whole numbers only.
"""

from functools import cache
from importlib.resources import files
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from litotes.scenes.graph import SceneGraph, Thing
from litotes.scenes.kinds import BACKGROUNDS, COLOURS, KINDS

Pixels: TypeAlias = NDArray[np.uint8]

ATLAS = "drawings.npz"
_INDEX = {name: i for i, name in enumerate(KINDS)}
_PLACES = {name: i for i, name in enumerate(BACKGROUNDS)}


def draw(graph: SceneGraph) -> Pixels:
    """A scene's picture, ``(96, 96, 3)``, RGB."""
    picture = _background(graph.background, graph.mirrored, graph.light).copy()
    for thing in graph.things:
        _paint(picture, thing)
    return picture


def _paint(picture: Pixels, thing: Thing) -> None:
    ink, rest = _sprite(thing.kind, thing.colour, thing.size, thing.mirrored)
    left, top = thing.x - thing.side // 2, thing.y - thing.side // 2
    spot = picture[top : top + thing.side, left : left + thing.side]
    spot[:] = _div255(ink + spot * rest)


def _div255(values: NDArray[np.uint16]) -> NDArray[np.uint16]:
    """Division by 255, rounded, of whole numbers up to 255²."""
    more = values + np.uint16(128)
    return (more + (more >> np.uint16(8))) >> np.uint16(8)


@cache
def _atlas() -> dict[str, NDArray[Any]]:
    with np.load(str(files("litotes.scenes") / ATLAS), allow_pickle=False) as arrays:
        return dict(arrays)


@cache
def _background(name: str, mirrored: bool, light: int) -> Pixels:
    picture = _atlas()["backgrounds"][_PLACES[name]]
    lit = np.clip(picture.astype(np.int16) + light, 0, 255).astype(np.uint8)
    return lit[:, ::-1] if mirrored else lit


@cache
def _sprite(
    kind: str, colour: str, size: str, mirrored: bool
) -> tuple[NDArray[np.uint16], NDArray[np.uint16]]:
    """Colour times opacity ``(s, s, 3)``, and transparency ``(s, s, 1)``, both times 255."""
    atlas, row = _atlas(), _INDEX[kind]
    base = atlas[f"{size} base"][row].astype(np.uint32)
    weight = atlas[f"{size} weight"][row].astype(np.uint32)[..., None]
    colours = np.minimum(
        255, base[..., :3] + (weight * np.array(COLOURS[colour], np.uint32) + 127) // 255
    )
    opacity = base[..., 3:]
    ink, rest = (colours * opacity).astype(np.uint16), (255 - opacity).astype(np.uint16)
    return (ink[:, ::-1], rest[:, ::-1]) if mirrored else (ink, rest)
