"""Hard negatives of a scene, in words and as a picture; and questions with several answers.

The kinds are SugarCrepe's (arXiv 2306.14610), and relations beside objects and attributes.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from random import Random
from typing import Literal, TypeAlias

from litotes.scenes.captions import Caption, absent_kind, relations, shuffled
from litotes.scenes.grammar import say_list, say_negated, say_relation
from litotes.scenes.graph import (
    OPPOSITE,
    SIDE,
    Exists,
    Not,
    Phrase,
    Related,
    Relation,
    SceneGraph,
    Statement,
    Thing,
    truth,
)
from litotes.scenes.kinds import KINDS
from litotes.scenes.world import pick, place

PairKind: TypeAlias = Literal[
    "swap object",
    "swap attribute",
    "swap relation",
    "replace object",
    "replace attribute",
    "replace relation",
    "add object",
    "add attribute",
    "add relation",
]
QuestionKind: TypeAlias = Literal["positive", "negative", "hybrid"]
QUESTION_KINDS: tuple[QuestionKind, ...] = ("positive", "negative", "hybrid")


@dataclass(frozen=True, slots=True)
class HardNegative:
    """A true caption and a false one that is nearly the same.

    Attributes:
        kind: what was changed.
        caption: true of the scene. False of ``picture`` too, but where something was added.
        negative: false of the scene, true of ``picture``.
        picture: the scene, changed as the caption was.
    """

    kind: PairKind
    caption: Caption
    negative: Caption
    picture: SceneGraph


@dataclass(frozen=True, slots=True)
class Question:
    """One true caption among false ones; the first is the true one."""

    kind: QuestionKind
    options: tuple[Caption, ...]


def hard_negative(graph: SceneGraph, kind: PairKind, rng: Random) -> HardNegative | None:
    """A hard negative of that kind, or None if the scene gives none."""
    made = _MAKERS[kind](graph, rng)
    if made is None:
        return None
    caption, negative, picture = made
    held = (
        truth(caption.statement, graph) is True
        and truth(negative.statement, graph) is False
        and truth(negative.statement, picture) is True
        and (kind.startswith("add") or truth(caption.statement, picture) is False)
    )
    return HardNegative(kind, caption, negative, picture) if held else None


def question(graph: SceneGraph, kind: QuestionKind, rng: Random) -> Question:
    """A question with four answers, in the manner of NegBench's (arXiv 2501.09425)."""
    present = [Phrase(name) for name in _shuffled_kinds(graph, rng)]
    absent = Phrase(absent_kind(graph, rng))
    shown = present[0]
    deny = _denying([], shown, rng)
    if kind == "positive":
        if len(present) > 1:
            right = _affirming(present[:2], rng)
            wrong = (_denying([shown], present[1], rng), deny, _affirming([absent, shown], rng))
        else:
            right = _affirming([shown], rng)
            wrong = (_denying([absent], shown, rng), deny, _affirming([absent], rng))
    elif kind == "negative":
        right = _denying([], absent, rng)
        wrong = (deny, _affirming([absent], rng), _denying([absent], shown, rng))
    else:
        right = _denying([shown], absent, rng)
        wrong = (_denying([absent], shown, rng), _affirming([shown, absent], rng), deny)
    return Question(kind, (right, *wrong))


Made: TypeAlias = tuple[Caption, Caption, SceneGraph] | None


def _affirming(phrases: Sequence[Phrase], rng: Random) -> Caption:
    return Caption(say_list(phrases, None, rng), tuple(map(Exists, phrases)))


def _denying(affirmed: Sequence[Phrase], denied: Phrase, rng: Random) -> Caption:
    claims: Statement = (*map(Exists, affirmed), Not(Exists(denied)))
    return Caption(say_negated(affirmed, denied, rng), claims)


def _shuffled_kinds(graph: SceneGraph, rng: Random) -> list[str]:
    return shuffled(list(dict.fromkeys(thing.kind for thing in graph.things)), rng)


def _unique(graph: SceneGraph, rng: Random) -> list[Thing]:
    """The things that are the only ones of their kind, in random order."""
    kinds = [thing.kind for thing in graph.things]
    return shuffled([t for t in graph.things if kinds.count(t.kind) == 1], rng)


def _changed(graph: SceneGraph, *changes: tuple[Thing, Thing]) -> SceneGraph:
    """The scene with things put in the place of others."""
    things = list(graph.things)
    for old, new in changes:
        things[things.index(old)] = new
    return replace(graph, things=tuple(things))


def _turned(graph: SceneGraph, relation: Relation) -> SceneGraph:
    """The scene with left and right, or above and below, exchanged."""
    if relation in ("left", "right"):
        things = (replace(t, x=SIDE - t.x, mirrored=not t.mirrored) for t in graph.things)
    else:
        things = (replace(t, y=SIDE - t.y) for t in graph.things)
    return replace(graph, things=tuple(things))


def _coloured(thing: Thing) -> Phrase:
    return Phrase(thing.kind, thing.colour)


def _other_colour(thing: Thing, rng: Random) -> str | None:
    others = [colour for colour in KINDS[thing.kind].colours if colour != thing.colour]
    return pick(rng, others) if others else None


def _lists(before: Sequence[Phrase], after: Sequence[Phrase], rng: Random) -> list[Caption]:
    """Two captions of the same form and wording, but for the phrases."""
    seed = rng.random()
    return [_affirming(phrases, Random(seed)) for phrases in (before, after)]


def _related(
    before: tuple[Phrase, Relation, Phrase], after: tuple[Phrase, Relation, Phrase], rng: Random
) -> list[Caption]:
    seed = rng.random()
    return [
        Caption(say_relation(*claim, [], None, Random(seed)), (Related(*claim),))
        for claim in (before, after)
    ]


def _sided(graph: SceneGraph, rng: Random) -> tuple[Thing, Relation, Thing] | None:
    """A relation other than nearness between things that are the only ones of their kinds."""
    alone = _unique(graph, rng)
    found = [r for r in relations(graph) if r[1] != "next to" and r[0] in alone and r[2] in alone]
    return pick(rng, found) if found else None


def _swap_relation(graph: SceneGraph, rng: Random) -> Made:
    found = _sided(graph, rng)
    if not found:
        return None
    a, relation, b = Phrase(found[0].kind), found[1], Phrase(found[2].kind)
    caption, negative = _related((a, relation, b), (b, relation, a), rng)
    return caption, negative, _turned(graph, relation)


def _replace_relation(graph: SceneGraph, rng: Random) -> Made:
    found = _sided(graph, rng)
    if not found:
        return None
    a, relation, b = Phrase(found[0].kind), found[1], Phrase(found[2].kind)
    caption, negative = _related((a, relation, b), (a, OPPOSITE[relation], b), rng)
    return caption, negative, _turned(graph, relation)


def _add_relation(graph: SceneGraph, rng: Random) -> Made:
    found = _sided(graph, rng)
    if not found:
        return None
    a, wrong, b = Phrase(found[0].kind), OPPOSITE[found[1]], Phrase(found[2].kind)
    claim = Related(a, wrong, b)
    negative = Caption(say_relation(a, wrong, b, [], None, rng), (claim,))
    return _affirming([a, b], rng), negative, _turned(graph, wrong)


def _exchangeable(graph: SceneGraph, rng: Random) -> list[tuple[Thing, Thing]]:
    """Pairs of different colour of which each can have the other's."""
    return [
        (a, b)
        for a, b in permutations(_unique(graph, rng), 2)
        if a.colour != b.colour
        and a.colour in KINDS[b.kind].colours
        and b.colour in KINDS[a.kind].colours
    ]


def _swap_attribute(graph: SceneGraph, rng: Random) -> Made:
    pairs = _exchangeable(graph, rng)
    if not pairs:
        return None
    a, b = pairs[0]
    new_a, new_b = replace(a, colour=b.colour), replace(b, colour=a.colour)
    caption, negative = _lists(
        [_coloured(a), _coloured(b)], [_coloured(new_a), _coloured(new_b)], rng
    )
    return caption, negative, _changed(graph, (a, new_a), (b, new_b))


def _swap_object(graph: SceneGraph, rng: Random) -> Made:
    """Two objects change places under their attributes."""
    pairs = _exchangeable(graph, rng)
    sides = {(a, b): relation for a, relation, b in relations(graph) if relation != "next to"}
    pairs = [pair for pair in pairs if pair in sides]
    if not pairs:
        return None
    a, b = pairs[0]
    new_a, new_b = replace(a, kind=b.kind), replace(b, kind=a.kind)
    relation = sides[a, b]
    caption, negative = _related(
        (_coloured(a), relation, _coloured(b)), (_coloured(new_a), relation, _coloured(new_b)), rng
    )
    return caption, negative, _changed(graph, (a, new_a), (b, new_b))


def _replace_object(graph: SceneGraph, rng: Random) -> Made:
    alone = _unique(graph, rng)
    if not alone:
        return None
    thing, others = alone[0], [_coloured(t) for t in alone[1:2]]
    kind = absent_kind(graph, rng)
    if thing.colour in KINDS[kind].colours:
        new = replace(thing, kind=kind)
        before, after = _coloured(thing), _coloured(new)
    else:
        new = replace(thing, kind=kind, colour=pick(rng, KINDS[kind].colours))
        before, after = Phrase(thing.kind), Phrase(kind)
    caption, negative = _lists([before, *others], [after, *others], rng)
    return caption, negative, _changed(graph, (thing, new))


def _replace_attribute(graph: SceneGraph, rng: Random) -> Made:
    return _recoloured(graph, rng, said_before=True)


def _add_attribute(graph: SceneGraph, rng: Random) -> Made:
    return _recoloured(graph, rng, said_before=False)


def _recoloured(graph: SceneGraph, rng: Random, *, said_before: bool) -> Made:
    alone = _unique(graph, rng)
    colour = _other_colour(alone[0], rng) if alone else None
    if colour is None:
        return None
    thing, others = alone[0], [_coloured(t) for t in alone[1:2]]
    new = replace(thing, colour=colour)
    before = _coloured(thing) if said_before else Phrase(thing.kind)
    caption, negative = _lists([before, *others], [_coloured(new), *others], rng)
    return caption, negative, _changed(graph, (thing, new))


def _add_object(graph: SceneGraph, rng: Random) -> Made:
    kind = absent_kind(graph, rng)
    added = place(kind, pick(rng, KINDS[kind].colours), graph.things, rng, crowded=True)
    if added is None or len(graph.things) > 4:
        return None
    phrases = [Phrase(name) for name in _shuffled_kinds(graph, rng)[:2]]
    more = Phrase(kind, added.colour) if rng.random() < 0.5 else Phrase(kind)
    caption, negative = _lists(phrases, [*phrases, more], rng)
    return caption, negative, replace(graph, things=(*graph.things, added))


_MAKERS: dict[PairKind, Callable[[SceneGraph, Random], Made]] = {
    "swap object": _swap_object,
    "swap attribute": _swap_attribute,
    "swap relation": _swap_relation,
    "replace object": _replace_object,
    "replace attribute": _replace_attribute,
    "replace relation": _replace_relation,
    "add object": _add_object,
    "add attribute": _add_attribute,
    "add relation": _add_relation,
}
PAIR_KINDS: tuple[PairKind, ...] = tuple(_MAKERS)
WINOGROUND_KINDS: tuple[PairKind, ...] = ("swap object", "swap attribute", "swap relation")
"""Pairs of two pictures and two captions of the same words."""
