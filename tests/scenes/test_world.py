"""The drawn world: the same on every machine, in order, and true to its splits."""

import csv
import hashlib
import io
import json
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from litotes.data.captions import read_captions, read_negation_pairs
from litotes.errors import DataError
from litotes.scenes import sample, write_scenes
from litotes.scenes.atlas import build
from litotes.scenes.drawing import _atlas, draw
from litotes.scenes.graph import SIDE
from litotes.scenes.kinds import BACKGROUNDS, CATEGORIES, COLOURS, KINDS, SIZES, THEMES
from litotes.scenes.world import (
    SPLITS,
    held_out,
    held_out_backgrounds,
    held_out_colours,
    scene_graph,
    single_scene,
)

# Of the pictures and captions of 100 scenes: they must not change by accident.
GOLDEN = "4c2d1bfb0a3af2c2"

numbers = st.integers(0, 10**6)


def test_scenes_are_the_same_on_every_machine():
    digest = hashlib.sha256()
    for scene in [*sample(60, 7, "test"), *sample(40, 7, "dev", uncommon=True)]:
        digest.update(scene.image.tobytes())
        digest.update("\n".join(c.text for c in scene.captions).encode())
        digest.update(scene.description.text.encode())
    assert digest.hexdigest()[:16] == GOLDEN


def test_the_world_is_as_large_as_it_says():
    assert len(KINDS) >= 80
    assert len(BACKGROUNDS) == 10
    assert len(SIZES) == 3
    assert len({colour for kind in KINDS.values() for colour in kind.colours}) >= 8
    for kind in KINDS.values():
        assert set(kind.colours) <= set(COLOURS)
        assert len(set(kind.colours) - held_out_colours(kind.name)) >= 1
        assert set(BACKGROUNDS) - held_out_backgrounds(kind.name) >= {
            min(
                THEMES[kind.theme],
                key=lambda name: hashlib.sha256(f"{kind.name}|home|{name}".encode()).digest()[:8],
            )
        }
        assert kind.category in CATEGORIES


def test_the_atlas_is_of_the_drawings():
    built, shipped = build(), _atlas()
    assert built.keys() == shipped.keys()
    for name, pixels in built.items():
        difference = np.abs(pixels.astype(int) - shipped[name])
        # Another version of the rasteriser may round otherwise, at edges.
        assert difference.mean() < 0.5, name


@settings(max_examples=300)
@given(numbers, st.integers(0, 99), st.sampled_from(SPLITS), st.booleans())
def test_a_scene_holds_one_to_five_things_that_hardly_overlap(number, seed, split, uncommon):
    graph = scene_graph(split, seed, number, uncommon=uncommon)
    assert 1 <= len(graph.things) <= 5
    for thing in graph.things:
        assert thing.colour in KINDS[thing.kind].colours
        half = thing.side // 2
        assert half <= thing.x <= SIDE - half
        assert half <= thing.y <= SIDE - half
    for a, b in combinations(graph.things, 2):
        overlap = [(a.side + b.side) / 2 - abs(d) for d in (a.x - b.x, a.y - b.y)]
        area = max(0, overlap[0]) * max(0, overlap[1])
        assert area <= 0.25 * min(a.side, b.side) ** 2


@settings(max_examples=300)
@given(numbers, st.sampled_from(SPLITS))
def test_the_common_world_never_shows_what_is_held_out_and_the_other_always(number, split):
    assert not held_out(scene_graph(split, 0, number))
    assert held_out(scene_graph(split, 0, number, uncommon=True))
    assert not held_out(single_scene(split, 0, number))


def test_every_kind_of_held_out_combination_occurs():
    found = [held_out(scene_graph("dev", 0, n, uncommon=True)) for n in range(300)]
    for kind in ("colour", "background", "pair"):
        assert sum(kind in each for each in found) > 30


def test_splits_and_seeds_share_no_scene_and_the_number_asked_for_changes_none():
    seen = [
        {scene_graph(split, seed, n) for n in range(300)} for split in SPLITS for seed in (0, 1)
    ]
    for a, b in combinations(seen, 2):
        assert not a & b
    assert [s.graph for s in sample(3, 5, "dev")] == [s.graph for s in sample(900, 5, "dev")[:3]]
    million = sample(10**6, 0, "train")
    assert million[-1].graph == scene_graph("train", 0, 10**6 - 1)
    with pytest.raises(IndexError):
        million[10**6]


def test_what_is_drawn_is_what_is_said_to_be_there():
    """An independent look: where a thing is drawn, and nowhere else, pixels differ."""
    for scene in sample(50, 3, "dev"):
        graph = scene.graph
        empty = draw(type(graph)(graph.background, (), graph.mirrored, graph.light))
        changed = (scene.image != empty).any(-1)
        covered = np.zeros((SIDE, SIDE), dtype=bool)
        for thing in graph.things:
            top, left = thing.y - thing.side // 2, thing.x - thing.side // 2
            spot = (slice(top, top + thing.side), slice(left, left + thing.side))
            covered[spot] = True
            assert changed[spot].mean() > 0.15, thing
        assert not changed[~covered].any()


def test_a_folder_of_scenes_is_read_as_any_captioned_photographs(tmp_path):
    scenes = sample(20, 0, "test")
    written = list(write_scenes(scenes, tmp_path))
    captions = read_captions(tmp_path, "test")
    assert list(captions) == [f"{scene.name}.png" for scene in written]
    assert all(len(said) == 5 for said in captions.values())
    graphs = [json.loads(line) for line in (tmp_path / "graphs.jsonl").open()]
    assert [g["background"] for g in graphs] == [scene.graph.background for scene in scenes]
    for scene in scenes:
        with Image.open(tmp_path / "images" / f"{scene.name}.png") as picture:
            assert np.array_equal(np.asarray(picture), scene.image)
    assert len(read_negation_pairs(tmp_path / "negation_pairs.json")) > 15
    before = {file: file.stat().st_mtime_ns for file in (tmp_path / "images").iterdir()}
    list(write_scenes(sample(21, 0, "test"), tmp_path))
    rows = list(csv.reader(io.StringIO((tmp_path / "captions.csv").read_text())))
    assert len(rows) == 1 + 21 * 5
    assert all(file.stat().st_mtime_ns == time for file, time in before.items())


@pytest.mark.parametrize(("n", "split"), [(3, "validation"), (-1, "dev")])
def test_what_cannot_be_sampled_is_an_error(n, split):
    with pytest.raises(DataError):
        sample(n, 0, split)


def test_scenes_are_not_mixed_with_others(tmp_path):
    list(write_scenes(sample(3, 0, "test"), tmp_path))
    for others in (sample(2, 0, "test"), sample(3, 1, "test"), sample(3, 0, "dev")):
        with pytest.raises(DataError, match="other pictures"):
            list(write_scenes(others, tmp_path))
    assert len(read_captions(tmp_path, "test")) == 3
