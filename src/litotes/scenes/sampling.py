"""Scenes to use: graph, picture and captions, by number; and folders of them on disk."""

import csv
import io
import json
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from random import Random
from typing import overload

from PIL import Image

from litotes.data.files import write_atomically
from litotes.errors import DataError
from litotes.scenes.captions import Caption, caption, description
from litotes.scenes.drawing import Pixels, draw
from litotes.scenes.graph import SceneGraph
from litotes.scenes.negation import negation_pair
from litotes.scenes.world import SPLITS, Split, scene_graph

CAPTIONS = 5
PAIRS = 10_000
"""So many pairs at most are written for a direction to be fitted on."""


@dataclass(frozen=True)
class Scene:
    """A scene: what is in it, how it looks, and what people might say of it.

    Attributes:
        name: names it among all scenes, as ``test-0-000017``.
        graph: everything that is in it.
    """

    name: str
    graph: SceneGraph

    @cached_property
    def image(self) -> Pixels:
        """The picture, ``(96, 96, 3)``, uint8, RGB."""
        return draw(self.graph)

    @cached_property
    def captions(self) -> tuple[Caption, ...]:
        """Five true captions, each of which names some of what is there."""
        return tuple(
            caption(self.graph, Random(f"{self.name} {number}")) for number in range(CAPTIONS)
        )

    @cached_property
    def description(self) -> Caption:
        """A true description of 60 to 150 words."""
        return description(self.graph, Random(f"{self.name} long"))


@dataclass(frozen=True)
class Scenes(Sequence[Scene]):
    """Scenes of a split, made when they are asked for; any of them alone is the same."""

    length: int
    seed: int
    split: Split
    uncommon: bool

    def __len__(self) -> int:
        return self.length

    @overload
    def __getitem__(self, index: int) -> Scene: ...

    @overload
    def __getitem__(self, index: slice) -> "Sequence[Scene]": ...

    def __getitem__(self, index: int | slice) -> "Scene | Sequence[Scene]":
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(self.length))]
        if not -self.length <= index < self.length:
            raise IndexError(f"there are {self.length} scenes, none of number {index}")
        number = index % self.length
        graph = scene_graph(self.split, self.seed, number, uncommon=self.uncommon)
        return Scene(self.name(number), graph)

    def name(self, number: int) -> str:
        """What the scene of that number is called."""
        world = "-uncommon" if self.uncommon else ""
        return f"{self.split}{world}-{self.seed}-{number:06d}"


def sample(n: int, seed: int = 0, split: Split = "train", *, uncommon: bool = False) -> Scenes:
    """Draw scenes by lot.

    Args:
        n: how many; they are made one by one, so a million takes no memory.
        seed: another seed gives other scenes; the first scenes do not depend on ``n``.
        split: "train", "dev" or "test".
        uncommon: scenes that each hold a combination (object and colour, object and background,
            two objects) which the common world never shows.

    Raises:
        DataError: there is no such split, or ``n`` is negative.
    """
    if split not in SPLITS:
        raise DataError(f"there is no split {split!r}: choose from {', '.join(SPLITS)}")
    if n < 0:
        raise DataError(f"a number of scenes cannot be {n}")
    return Scenes(n, seed, split, uncommon)


def write_scenes(scenes: Scenes, folder: Path) -> Iterator[Scene]:
    """Write ``images/*.png``, ``captions.csv``, ``graphs.jsonl`` and ``negation_pairs.json``.

    The pairs are what a negation direction is fitted on. Yields each scene when its picture is
    there. Pictures that are there already are not drawn again, so that what was stopped goes on;
    the other files appear when all pictures are there.

    Raises:
        DataError: the folder holds other pictures, which would pass for scenes of these.
    """
    if (folder / "images").is_symlink() or (
        (folder / "captions.csv").exists() and not (folder / "graphs.jsonl").exists()
    ):
        raise DataError(f"{folder} holds other captions or pictures: choose another folder")
    (folder / "images").mkdir(parents=True, exist_ok=True)
    names = {f"{scenes.name(number)}.png" for number in range(len(scenes))}
    for found in (folder / "images").iterdir():
        if found.suffix == ".png" and found.name not in names:
            raise DataError(
                f"{folder / 'images'} holds other pictures ({found.name}): choose another folder"
            )
    pairs: dict[str, str] = {}
    captions, graphs = folder / "captions.csv", folder / "graphs.jsonl"
    with (
        _part(captions).open("w", newline="", encoding="utf-8") as table,
        _part(graphs).open("w") as lines,
    ):
        rows = csv.writer(table)
        rows.writerow(["image", "split", "caption"])
        for scene in scenes:
            name = f"{scene.name}.png"
            picture = folder / "images" / name
            if not picture.exists():
                write_atomically(picture, png(scene.image))
            rows.writerows([name, scenes.split, said.text] for said in scene.captions)
            lines.write(json.dumps({"image": name, **asdict(scene.graph)}) + "\n")
            if len(pairs) < PAIRS:
                affirmed, negated = negation_pair(scene.graph, Random(f"{scene.name} pair"))
                pairs[affirmed.text] = negated.text
            yield scene
    write_atomically(folder / "negation_pairs.json", json.dumps(pairs, indent=0))
    for file in (graphs, captions):
        _part(file).replace(file)


def _part(file: Path) -> Path:
    return file.with_name(f"{file.name}.part")


def png(picture: Pixels) -> bytes:
    """A picture as the content of a PNG file."""
    buffer = io.BytesIO()
    Image.fromarray(picture).save(buffer, format="PNG")
    return buffer.getvalue()
