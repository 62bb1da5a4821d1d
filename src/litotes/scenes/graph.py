"""What a scene holds, and what is true of it.

Truth has three values: true, false, and `None` where an honest viewer could say either (a car of
medium size is neither "big" nor clearly not). Captions only say what is true, their negations only
what is false, and evaluation leaves out what is neither.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeAlias

from litotes.scenes.kinds import KINDS, SIZES

SIDE = 96
"""A scene is a square of so many pixels."""

Truth: TypeAlias = bool | None
Relation: TypeAlias = Literal["left", "right", "above", "below", "next to"]
Region: TypeAlias = Literal["left", "right", "top", "bottom", "middle"]

OPPOSITE: dict[Relation, Relation] = {
    "left": "right",
    "right": "left",
    "above": "below",
    "below": "above",
    "next to": "next to",
}
"""How b stands to a when a stands so to b."""

APART = 12
"""Centres so many pixels apart stand clearly to the left, or above."""
NEAR, FAR = 6, 20
"""Squares with a gap of at most NEAR pixels are next to each other, from FAR on they are not."""


@dataclass(frozen=True, slots=True)
class Thing:
    """An object in a scene: centre in pixels from the left and from the top."""

    kind: str
    colour: str
    size: str
    x: int
    y: int
    mirrored: bool = False

    @property
    def side(self) -> int:
        """Side of its square in pixels."""
        return SIZES[self.size]


@dataclass(frozen=True, slots=True)
class SceneGraph:
    """Everything that is in a picture; nothing else is.

    Attributes:
        background: a name in `BACKGROUNDS`.
        things: the objects, in the order in which they are drawn.
        mirrored: whether the background is drawn mirrored.
        light: what is added to the background's pixels.
    """

    background: str
    things: tuple[Thing, ...]
    mirrored: bool = False
    light: int = 0


@dataclass(frozen=True, slots=True)
class Phrase:
    """What a noun phrase says of an object.

    Attributes:
        kind: a kind or a category.
        colour: or None, if it says none.
        size: "small" or "large", or None.
        count: None for "a", which one or more objects satisfy; else exactly so many.
    """

    kind: str
    colour: str | None = None
    size: str | None = None
    count: int | None = None


@dataclass(frozen=True, slots=True)
class Exists:
    """Something of that description is in the picture."""

    phrase: Phrase


@dataclass(frozen=True, slots=True)
class Located:
    """The scene has that background."""

    background: str


@dataclass(frozen=True, slots=True)
class Related:
    """Some ``a`` stands so to some ``b``."""

    a: Phrase
    relation: Relation
    b: Phrase


@dataclass(frozen=True, slots=True)
class Between:
    """Some ``a`` stands between some ``b`` and some ``c``."""

    a: Phrase
    b: Phrase
    c: Phrase


@dataclass(frozen=True, slots=True)
class Placed:
    """Something of that description is in that part of the picture."""

    phrase: Phrase
    region: Region


@dataclass(frozen=True, slots=True)
class Not:
    """The claim is false."""

    claim: "Fact"


Fact: TypeAlias = Exists | Located | Related | Between | Placed
Claim: TypeAlias = Fact | Not
Statement: TypeAlias = tuple[Claim, ...]
"""Claims that are all made."""


def truth(statement: Iterable[Claim], graph: SceneGraph) -> Truth:
    """Whether all claims hold of a scene."""
    return _all(_claim(claim, graph) for claim in statement)


def matches(phrase: Phrase, thing: Thing) -> Truth:
    """Whether a thing is of that description, its count aside."""
    if phrase.kind not in (thing.kind, KINDS[thing.kind].category):
        return False
    if phrase.colour not in (None, thing.colour):
        return False
    if phrase.size in (None, thing.size):
        return True
    return None if thing.size == "medium" else False


def relation_holds(a: Thing, relation: Relation, b: Thing) -> Truth:
    """Whether ``a`` stands so to ``b``."""
    if relation in ("right", "below"):
        return relation_holds(b, OPPOSITE[relation], a)
    if relation == "next to":
        gap = max(abs(a.x - b.x), abs(a.y - b.y)) - (a.side + b.side) // 2
        return True if gap <= NEAR else False if gap >= FAR else None
    distance = b.x - a.x if relation == "left" else b.y - a.y
    return True if distance >= APART else False if distance <= 0 else None


def lies_between(a: Thing, b: Thing, c: Thing) -> Truth:
    """Whether ``a`` stands on the way from ``b`` to ``c``; in whole numbers, so exact."""
    dx, dy, ax, ay = c.x - b.x, c.y - b.y, a.x - b.x, a.y - b.y
    length = dx * dx + dy * dy
    along, across = ax * dx + ay * dy, (ax * dy - ay * dx) ** 2
    if 5 * along >= length and 5 * along <= 4 * length and across <= 100 * length:
        return True if length >= 900 else None
    return False if along <= 0 or along >= length or across >= 625 * length else None


def in_region(thing: Thing, region: Region) -> Truth:
    """Whether a thing is in that part of the picture."""
    middle = SIDE // 2
    if region == "middle":
        off = max(abs(thing.x - middle), abs(thing.y - middle))
        return True if off <= 12 else False if off >= 24 else None
    place = thing.x if region in ("left", "right") else thing.y
    inward = middle - place if region in ("left", "top") else place - middle
    return True if inward >= 10 else False if inward <= 0 else None


def _claim(claim: Claim, graph: SceneGraph) -> Truth:
    if isinstance(claim, Not):
        value = _claim(claim.claim, graph)
        return None if value is None else not value
    if isinstance(claim, Located):
        return claim.background == graph.background
    things = graph.things
    if isinstance(claim, Exists):
        return _count(claim.phrase, things)
    if isinstance(claim, Placed):
        return _any(_all((matches(claim.phrase, t), in_region(t, claim.region))) for t in things)
    if isinstance(claim, Related):
        return _any(
            _all((matches(claim.a, a), matches(claim.b, b), relation_holds(a, claim.relation, b)))
            for a in things
            for b in things
            if a is not b
        )
    return _any(
        _all((matches(claim.a, a), matches(claim.b, b), matches(claim.c, c), lies_between(a, b, c)))
        for a in things
        for b in things
        for c in things
        if a is not b and a is not c and b is not c
    )


def _count(phrase: Phrase, things: Sequence[Thing]) -> Truth:
    found = [matches(phrase, thing) for thing in things]
    surely, perhaps = found.count(True), len(found) - found.count(False)
    if phrase.count is None:
        return True if surely else None if perhaps else False
    if surely == perhaps:
        return surely == phrase.count
    return None if surely <= phrase.count <= perhaps else False


def _all(values: Iterable[Truth]) -> Truth:
    unclear = False
    for value in values:
        if value is False:
            return False
        unclear |= value is None
    return None if unclear else True


def _any(values: Iterable[Truth]) -> Truth:
    unclear = False
    for value in values:
        if value:
            return True
        unclear |= value is None
    return None if unclear else False
