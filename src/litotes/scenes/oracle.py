"""A judge of scenes that is never wrong, because it knows what was drawn."""

import hashlib
import os
from collections.abc import Iterable
from typing import Literal, TypeAlias

import numpy as np
from PIL import Image

from litotes.data.images import open_image
from litotes.errors import DataError
from litotes.scenes.drawing import Pixels, draw
from litotes.scenes.graph import SIDE, SceneGraph, Truth, truth
from litotes.scenes.reading import read, read_question

Answer: TypeAlias = Literal["yes", "no", "unclear"]
Picture: TypeAlias = str | os.PathLike[str] | Image.Image | Pixels
"""A file without loss (PNG), an opened picture, or pixels ``(96, 96, 3)``, uint8, RGB."""

_ANSWERS: dict[Truth, Answer] = {True: "yes", False: "no", None: "unclear"}


class OracleJudge:
    """Answers questions about pictures of known scenes from their graphs.

    A scene is known by the hash of its pixels. Of graphs that draw the same picture the first one
    counts: they differ in nothing one can see, such as the order of things that do not overlap.
    """

    def __init__(self, graphs: Iterable[SceneGraph]) -> None:
        self._graphs: dict[bytes, SceneGraph] = {}
        for graph in graphs:
            self._graphs.setdefault(_key(draw(graph)), graph)

    def ask(self, image: Picture, question: str) -> Answer:
        """The answer to a question of :func:`litotes.scenes.reading.read_question`.

        "unclear" is the answer where an honest viewer could say either.

        Raises:
            DataError: the picture is of no scene the judge knows, or the question cannot be read.
            ImageError: the file cannot be read as a picture.
        """
        return _ANSWERS[truth(read_question(question), self._graph(image))]

    def holds(self, image: Picture, caption: str) -> Truth:
        """Whether a sentence of :func:`litotes.scenes.reading.read` is true of a picture.

        Raises:
            DataError: the picture is of no scene the judge knows, or the caption cannot be read.
            ImageError: the file cannot be read as a picture.
        """
        return truth(read(caption), self._graph(image))

    def _graph(self, image: Picture) -> SceneGraph:
        opened = open_image(image) if isinstance(image, str | os.PathLike) else image
        pixels = np.asarray(opened.convert("RGB") if isinstance(opened, Image.Image) else opened)
        drawn = pixels.shape == (SIDE, SIDE, 3) and pixels.dtype == np.uint8
        graph = self._graphs.get(_key(pixels)) if drawn else None
        if graph is None:
            name = image if isinstance(image, str | os.PathLike) else "the picture"
            raise DataError(
                f"{name} ({'×'.join(map(str, pixels.shape))}, {pixels.dtype}) is not one of the "
                f"{len(self._graphs)} scenes this judge knows: it has to be exactly as drawn, "
                f"{SIDE}×{SIDE}×3 uint8, in a file without loss such as PNG"
            )
        return graph


def _key(pixels: Pixels) -> bytes:
    return hashlib.sha256(pixels.tobytes()).digest()
