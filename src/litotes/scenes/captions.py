"""True captions of a scene: short ones like those of the web, and long descriptions."""

from collections.abc import Sequence
from dataclasses import dataclass
from random import Random
from typing import TypeVar

from litotes.language.phrasing import with_article
from litotes.scenes.grammar import (
    DENIALS,
    OPENING_FORMS,
    PLACED_FORMS,
    REGION_WORDS,
    RELATION_SENTENCES,
    RELATION_WORDS,
    THERE_FORMS,
    finished,
    noun,
    noun_phrase,
    place_words,
    say_between,
    say_list,
    say_relation,
    sentence,
)
from litotes.scenes.graph import (
    Between,
    Claim,
    Exists,
    Located,
    Not,
    Phrase,
    Placed,
    Region,
    Related,
    Relation,
    SceneGraph,
    Statement,
    Thing,
    in_region,
    lies_between,
    matches,
    relation_holds,
)
from litotes.scenes.kinds import CATEGORIES, KINDS, THEMES
from litotes.scenes.world import pick

T = TypeVar("T")

NEGATED_SHARE = 0.005
"""So many captions of the web deny something: 187 of 40,455 in Flickr8k."""


@dataclass(frozen=True, slots=True)
class Caption:
    """A sentence, and what it claims."""

    text: str
    statement: Statement


def caption(graph: SceneGraph, rng: Random) -> Caption:
    """A true caption that names some of what is there, never all."""
    groups = groups_of(graph)
    shown = shuffled(groups, rng)[: _how_many(len(groups), rng)]
    # What is never all: with every object named, the place is left unsaid.
    whole = len(shown) == len(groups)
    background = None if whole and rng.random() < 0.45 else graph.background
    if background and rng.random() < 0.2:
        background = None
    if len(shown) > 1 and rng.random() < 0.45:
        made = _relation_caption(graph, shown, background, rng)
        if made:
            return made
    phrases = [describe(group, graph, rng) for group in shown]
    if whole and background:
        # Something else is left unsaid, then.
        phrases[0] = Phrase(phrases[0].kind, None, None, phrases[0].count)
    claims: list[Claim] = [Exists(phrase) for phrase in phrases]
    if background:
        claims.append(Located(background))
    text = say_list(phrases, background, rng)
    if rng.random() < NEGATED_SHARE:
        missing = absent_kind(graph, rng)
        claims.append(Not(Exists(Phrase(missing))))
        word = noun(missing, plural=rng.random() < 0.5)
        text += pick(rng, DENIALS).format(
            bare=word, word=word_with(word), them=noun(missing, plural=True)
        )
    return Caption(sentence(text, rng), tuple(claims))


def word_with(word: str) -> str:
    """A bare noun after "without": singulars take an article."""
    singular = word in KINDS and KINDS[word].plural != word
    return with_article(word) if singular else word


def describe(group: Sequence[Thing], graph: SceneGraph, rng: Random) -> Phrase:
    """A phrase for things of one kind: with a count that is exact, colour and size if they fit."""
    thing = group[0]
    colour = thing.colour if len({t.colour for t in group}) == 1 else None
    if rng.random() > 0.85:
        colour = None
    sizes = {t.size for t in group}
    size = thing.size if len(sizes) == 1 and thing.size != "medium" else None
    if rng.random() > 0.2:
        size = None
    kind = thing.kind
    if len(group) == 1 and CATEGORIES[KINDS[kind].category] and rng.random() < 0.03:
        kind = KINDS[kind].category
    if len(group) == 1:
        return Phrase(kind, colour, size)
    # "Two small dogs" beside a dog of medium size could be disputed: then without the size.
    phrase = Phrase(kind, colour, size, len(group))
    if size and any(matches(phrase, t) is None for t in graph.things):
        phrase = Phrase(kind, colour, None, len(group))
    return phrase


def absent_kind(graph: SceneGraph, rng: Random) -> str:
    """A kind that is not there; mostly one that keeps company with what is, or is at home there."""
    present = {thing.kind for thing in graph.things}
    themes = {KINDS[kind].theme for kind in present}
    themes |= {name for name, places in THEMES.items() if graph.background in places}
    near = [k for k, kind in KINDS.items() if k not in present and kind.theme in themes]
    if near and rng.random() < 0.8:
        return pick(rng, near)
    return pick(rng, [kind for kind in KINDS if kind not in present])


def relations(graph: SceneGraph) -> list[tuple[Thing, Relation, Thing]]:
    """Every clear relation between things of different kinds; of the two axes the longer one."""
    found: list[tuple[Thing, Relation, Thing]] = []
    for a in graph.things:
        for b in graph.things:
            if a.kind == b.kind:
                continue
            dx, dy = b.x - a.x, b.y - a.y
            names: tuple[Relation, Relation] = (
                ("left", "right") if abs(dx) >= abs(dy) else ("above", "below")
            )
            found += [(a, name, b) for name in names if relation_holds(a, name, b)]
            if relation_holds(a, "next to", b):
                found.append((a, "next to", b))
    return found


def single(thing: Thing, graph: SceneGraph, rng: Random) -> Phrase:
    """A phrase with "a" for one thing."""
    return describe([thing], graph, rng)


def groups_of(graph: SceneGraph) -> list[list[Thing]]:
    """Things of each kind."""
    groups: dict[str, list[Thing]] = {}
    for thing in graph.things:
        groups.setdefault(thing.kind, []).append(thing)
    return list(groups.values())


def _how_many(groups: int, rng: Random) -> int:
    if groups <= 2:
        return groups if rng.random() < 0.9 else 1
    most = min(3, groups - 1)
    return most if rng.random() < 0.8 else most - 1


def shuffled(items: Sequence[T], rng: Random) -> list[T]:
    """The items in random order."""
    order = list(items)
    for i in range(len(order) - 1, 0, -1):
        j = int(rng.random() * (i + 1))
        order[i], order[j] = order[j], order[i]
    return order


def _relation_caption(
    graph: SceneGraph, shown: list[list[Thing]], background: str | None, rng: Random
) -> Caption | None:
    kinds = [group[0].kind for group in shown]
    if len(shown) > 2 and rng.random() < 0.3:
        between = _between_caption(graph, rng)
        if between:
            return between
    known = [
        found for found in relations(graph) if found[0].kind in kinds and found[2].kind in kinds
    ]
    if not known:
        return None
    thing, relation, other = pick(rng, known)
    a, b = single(thing, graph, rng), single(other, graph, rng)
    rest = [group for group in shown if group[0].kind not in (thing.kind, other.kind)]
    more = [describe(group, graph, rng) for group in rest]
    if len(shown) == len(groups_of(graph)) and background and rng.random() < 0.5:
        background = None
    claims: list[Claim] = [Related(a, relation, b), *map(Exists, more)]
    if background:
        claims.append(Located(background))
    text = say_relation(a, relation, b, more, background, rng)
    return Caption(sentence(text, rng), tuple(claims))


def _between_caption(graph: SceneGraph, rng: Random) -> Caption | None:
    things = graph.things
    found = [
        (a, b, c)
        for a in things
        for b in things
        for c in things
        if len({a.kind, b.kind, c.kind}) == 3 and lies_between(a, b, c)
    ]
    if not found:
        return None
    a, b, c = (single(thing, graph, rng) for thing in pick(rng, found))
    return Caption(sentence(say_between(a, b, c, rng), rng), (Between(a, b, c),))


SETTING = {
    "beach": "Pale sand lies before a band of calm sea, under a clear sky.",
    "snow": "Soft drifts of white snow cover the ground, and flakes hang in the cold air.",
    "kitchen": "Behind everything there is a tiled wall, a counter, and a chequered floor.",
    "street": "Grey asphalt with a dashed line runs past a row of plain tall buildings.",
    "night": "The sky is dark blue, with stars and a thin moon in one corner.",
    "meadow": "Gentle green hills with tufts of grass roll away under a light blue sky.",
    "forest": "Round green crowns and pale trunks stand close together over a mossy floor.",
    "desert": "Warm dunes of yellow sand rise and fall under a bright and dry sky.",
    "mountains": "Tall violet peaks with snow on their tops fill the space in the distance.",
    "room": "There is striped wallpaper, a wooden floor, and one plain window in the wall.",
}
STYLE = (
    "Everything is drawn in flat bright colours with dark outlines.",
    "The whole picture is a simple drawing, clean and cheerful.",
    "It looks like a page of a picture book for young children.",
    "All of it is painted in plain colours, as in a book for children.",
)
LONG_WORDS = (60, 150)


def description(graph: SceneGraph, rng: Random) -> Caption:
    """A true description in several sentences, 60 to 150 words."""
    claims: list[Claim] = [Located(graph.background)]
    opening = pick(rng, OPENING_FORMS).format(**place_words(graph.background))
    sentences = [finished(opening), SETTING[graph.background]]
    for thing in graph.things:
        text, more = _sentence_of(thing, graph, rng)
        sentences.append(text)
        claims += more
    known = relations(graph)
    while known and _words(sentences) < 120 and (_words(sentences) < 75 or rng.random() < 0.7):
        thing, relation, other = known.pop(int(rng.random() * len(known)))
        a, b = _full(thing), _full(other)
        words = pick(rng, RELATION_WORDS[relation])
        form = pick(rng, RELATION_SENTENCES)
        text = form.format(a=noun_phrase(a, rng), relation=words, b=noun_phrase(b, rng))
        sentences.append(finished(text))
        claims.append(Related(a, relation, b))
    style = list(STYLE)
    while style and (_words(sentences) < LONG_WORDS[0] or (rng.random() < 0.2 and len(style) > 3)):
        sentences.append(style.pop(int(rng.random() * len(style))))
    return Caption(" ".join(sentences), tuple(claims))


def _full(thing: Thing) -> Phrase:
    """Kind, colour and size of a thing."""
    return Phrase(thing.kind, thing.colour, None if thing.size == "medium" else thing.size)


def _sentence_of(thing: Thing, graph: SceneGraph, rng: Random) -> tuple[str, list[Claim]]:
    phrase = _full(thing)
    words = noun_phrase(phrase, rng)
    regions: list[Region] = [r for r in REGION_WORDS if in_region(thing, r)]
    if not regions:
        return finished(pick(rng, THERE_FORMS).format(list=words)), [Exists(phrase)]
    region = pick(rng, regions)
    form = pick(rng, PLACED_FORMS)
    text = form.format(a=words, region=pick(rng, REGION_WORDS[region]))
    return finished(text), [Placed(phrase, region)]


def _words(sentences: Sequence[str]) -> int:
    return sum(len(text.split()) for text in sentences)
