"""Scenes drawn by lot: which objects, in which company, where; and combinations kept back.

A scene depends on its split, seed and number alone, through :class:`random.Random`, whose numbers
are the same on every machine. Some combinations of object and colour, object and background, and
two objects never occur in the common world; each scene of the uncommon world holds one at least
(as N-COCO is to COCO, arXiv 2603.20554, section 5).
"""

import hashlib
from collections.abc import Sequence
from functools import cache
from itertools import combinations
from random import Random
from typing import Literal, TypeAlias, TypeVar

from litotes.scenes.graph import SIDE, SceneGraph, Thing
from litotes.scenes.kinds import BACKGROUNDS, KINDS, SIZES, THEMES

T = TypeVar("T")
Split: TypeAlias = Literal["train", "dev", "test"]
SPLITS: tuple[Split, ...] = ("train", "dev", "test")

_HOW_MANY = (1, 2, 2, 3, 3, 3, 3, 4, 4, 4, 5, 5)
_SIZES = ("small", "small", "medium", "medium", "medium", "large")
_CROWDED_SIZES = ("small", "small", "medium", "medium")
_TRIES = 30


def scene_graph(split: Split, seed: int, number: int, *, uncommon: bool = False) -> SceneGraph:
    """The graph of one scene."""
    rng = Random(f"{split} {seed} {number} {uncommon}")
    while True:
        graph = _draw(rng, uncommon)
        if uncommon:
            graph = _make_uncommon(graph, rng)
        if (held_out(graph) != set()) == uncommon:
            return graph


def single_scene(split: Split, seed: int, number: int, *, uncommon: bool = False) -> SceneGraph:
    """The graph of a scene with one thing in it."""
    rng = Random(f"single {split} {seed} {number} {uncommon}")
    while True:
        graph = _draw(rng, uncommon, count=1)
        if (held_out(graph) != set()) == uncommon:
            return graph


def pick(rng: Random, among: Sequence[T]) -> T:
    """One of a sequence: `Random.choice` need not draw alike in every version of Python."""
    return among[int(rng.random() * len(among))]


def held_out(graph: SceneGraph) -> set[str]:
    """Which kinds of held-out combination a scene shows: "colour", "background", "pair"."""
    kinds = sorted({thing.kind for thing in graph.things})
    found = set()
    if any(thing.colour in held_out_colours(thing.kind) for thing in graph.things):
        found.add("colour")
    if any(graph.background in held_out_backgrounds(kind) for kind in kinds):
        found.add("background")
    if any(is_held_out_pair(a, b) for a, b in combinations(kinds, 2)):
        found.add("pair")
    return found


@cache
def held_out_colours(kind: str) -> frozenset[str]:
    """Colours in which the common world never shows a kind."""
    colours = sorted(KINDS[kind].colours, key=lambda colour: _hash(kind, colour))
    return frozenset(colours[: 2 if len(colours) > 6 else 1])


@cache
def held_out_backgrounds(kind: str) -> frozenset[str]:
    """Backgrounds before which the common world never shows a kind."""
    home = min(THEMES[KINDS[kind].theme], key=lambda name: _hash(kind, "home", name))
    others = sorted(set(BACKGROUNDS) - {home}, key=lambda name: _hash(kind, "place", name))
    return frozenset(others[:2])


@cache
def is_held_out_pair(a: str, b: str) -> bool:
    """Whether the common world never shows two kinds together."""
    return a != b and _hash(*sorted((a, b))) % 8 == 0


@cache
def _of_theme(theme: str) -> tuple[str, ...]:
    return tuple(name for name, kind in KINDS.items() if kind.theme == theme)


_NAMES = tuple(KINDS)
_PLACES = tuple(BACKGROUNDS)
_THEME_NAMES = tuple(THEMES)


def _hash(*words: str) -> int:
    return int.from_bytes(hashlib.sha256("|".join(words).encode()).digest()[:8], "big")


def _draw(rng: Random, anything: bool, count: int | None = None) -> SceneGraph:
    """A scene; of the common world's combinations unless anything goes."""
    theme = pick(rng, _THEME_NAMES)
    background = pick(rng, THEMES[theme] if rng.random() < 0.6 else _PLACES)
    count = count or pick(rng, _HOW_MANY)
    things: list[Thing] = []
    for _ in range(count):
        before = things[-1] if things else None
        if before and rng.random() < 0.2:
            kind = before.kind
            colour = before.colour if rng.random() < 0.7 else _colour(kind, rng, anything)
        else:
            kind = _kind(theme, background, things, rng, anything)
            colour = _colour(kind, rng, anything)
        thing = place(kind, colour, things, rng, crowded=count > 3)
        if thing:
            things.append(thing)
    mirrored, light = rng.random() < 0.5, int(rng.random() * 33) - 16
    return SceneGraph(background, tuple(things), mirrored, light)


def _kind(theme: str, background: str, things: Sequence[Thing], rng: Random, anything: bool) -> str:
    while True:
        kind = pick(rng, _of_theme(theme) if rng.random() < 0.6 else _NAMES)
        if anything:
            return kind
        if background not in held_out_backgrounds(kind) and not any(
            is_held_out_pair(kind, thing.kind) for thing in things
        ):
            return kind


def _colour(kind: str, rng: Random, anything: bool) -> str:
    while True:
        colour = pick(rng, KINDS[kind].colours)
        if anything or colour not in held_out_colours(kind):
            return colour


def place(
    kind: str, colour: str, others: Sequence[Thing], rng: Random, *, crowded: bool = False
) -> Thing | None:
    """A thing of that kind where there is room for it, or None if there seems to be none."""
    size = pick(rng, _CROWDED_SIZES if crowded else _SIZES)
    mirrored = rng.random() < 0.5
    for attempt in range(2 * _TRIES):
        if attempt == _TRIES:
            size = "small"
        half = SIZES[size] // 2
        span = SIDE - 2 * half + 1
        x, y = half + int(rng.random() * span), half + int(rng.random() * span)
        thing = Thing(kind, colour, size, x, y, mirrored)
        if fits(thing, others):
            return thing
    return None


def fits(thing: Thing, others: Sequence[Thing]) -> bool:
    """Whether a thing's square overlaps no other by more than a tenth of their sides."""
    return all(
        20 * max(abs(thing.x - o.x), abs(thing.y - o.y)) >= 9 * (thing.side + o.side)
        for o in others
    )


def _make_uncommon(graph: SceneGraph, rng: Random) -> SceneGraph:
    """Put a held-out combination into a scene."""
    index = int(rng.random() * len(graph.things))
    things = list(graph.things)
    thing = things[index]
    way = pick(rng, ("colour", "background", "pair"))
    if way == "background":
        background = pick(rng, sorted(held_out_backgrounds(thing.kind)))
        return SceneGraph(background, graph.things, graph.mirrored, graph.light)
    if way == "colour":
        colour = pick(rng, sorted(held_out_colours(thing.kind)))
        things[index] = Thing(thing.kind, colour, thing.size, thing.x, thing.y, thing.mirrored)
    else:
        partners = [kind for kind in _NAMES if is_held_out_pair(kind, thing.kind)]
        if partners:
            kind = pick(rng, partners)
            added = place(kind, _colour(kind, rng, anything=True), things, rng, crowded=True)
            if added:
                # No sixth thing.
                things = [*things[:4], added] if index < 4 else [*things[1:], added]
    return SceneGraph(graph.background, tuple(things), graph.mirrored, graph.light)
