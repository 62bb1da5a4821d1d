"""Negated captions of a scene, true and false ones, and queries that exclude."""

from random import Random

from litotes.scenes.captions import Caption, absent_kind, describe, groups_of, shuffled
from litotes.scenes.grammar import (
    CLOTHES_EXCLUSION_FORMS,
    COLOUR_EXCLUSION_FORMS,
    EMPTY_PLACE_FORMS,
    NEGATED_POSITIVE_FORMS,
    RELATION_EXCLUSION_FORMS,
    RELATION_WORDS,
    denied_words,
    list_words,
    noun_phrase,
    place_words,
    say_list,
    say_negated,
    sentence,
    wears,
)
from litotes.scenes.graph import (
    Exists,
    Located,
    Not,
    Phrase,
    Related,
    Relation,
    SceneGraph,
    Statement,
)
from litotes.scenes.world import pick

HYBRID_SHARE = 0.7
"""Of a quadruplet's false captions; the others affirm nothing."""


def negated_caption(graph: SceneGraph, rng: Random, *, hybrid: bool = True) -> Caption:
    """A true caption that denies something absent, beside something that is there if hybrid."""
    affirmed = _some(graph, rng) if hybrid else []
    denied = Phrase(absent_kind(graph, rng))
    return _negated(affirmed, denied, rng)


def false_negated_caption(graph: SceneGraph, rng: Random, *, hybrid: bool = True) -> Caption:
    """A false caption: it denies something that is there.

    A hybrid one also affirms something else, which is there as well if the scene has two kinds,
    and absent otherwise.
    """
    present = [Phrase(group[0].kind) for group in shuffled(groups_of(graph), rng)]
    if not hybrid:
        return _negated([], present[0], rng)
    other = present[1] if len(present) > 1 else Phrase(absent_kind(graph, rng))
    return _negated([other], present[0], rng)


def negated_positive_caption(graph: SceneGraph, rng: Random) -> Caption:
    """A true caption that affirms what is there with the help of a negation."""
    phrases = _some(graph, rng)
    text = pick(rng, NEGATED_POSITIVE_FORMS).format(**list_words(phrases, rng))
    return Caption(sentence(text, rng), tuple(map(Exists, phrases)))


def quadruplet(graph: SceneGraph, rng: Random) -> tuple[Caption, Caption, Caption]:
    """HANCLIP's three captions (arXiv 2606.23843): true, true with a negation, false with one."""
    phrases = _some(graph, rng)
    background = graph.background if rng.random() < 0.5 else None
    claims = tuple(map(Exists, phrases))
    place = (Located(background),) if background else ()
    positive = Caption(sentence(say_list(phrases, background, rng), rng), (*claims, *place))
    form = pick(rng, NEGATED_POSITIVE_FORMS)
    negated = Caption(sentence(form.format(**list_words(phrases, rng)), rng), claims)
    hybrid = rng.random() < HYBRID_SHARE
    return positive, negated, false_negated_caption(graph, rng, hybrid=hybrid)


def negation_pair(graph: SceneGraph, rng: Random) -> tuple[Caption, Caption]:
    """An affirmative caption and a negated one, to fit a negation direction on.

    Half of the negated ones deny something beside what the first affirms, the others deny that.
    """
    phrases = _some(graph, rng)
    if rng.random() < 0.5:
        affirmed, negated = phrases, _negated(phrases, Phrase(absent_kind(graph, rng)), rng)
    else:
        kind = phrases[0].kind
        affirmed, negated = [Phrase(kind)], _negated([], Phrase(kind), rng)
    text = sentence(say_list(affirmed, None, rng), rng)
    return Caption(text, tuple(map(Exists, affirmed))), negated


def exclude_kind(shown: str, excluded: str, rng: Random) -> Caption:
    """A query "A without B"."""
    return _negated([Phrase(shown)], Phrase(excluded), rng, plain=True)


def exclude_from_place(background: str, excluded: str, rng: Random) -> Caption:
    """A query "a beach without umbrellas"."""
    denied = Phrase(excluded)
    form = pick(rng, EMPTY_PLACE_FORMS)
    text = form.format(**place_words(background), **denied_words(denied, rng))
    return Caption(text, (Located(background), Not(Exists(denied))))


def exclude_colour(kind: str, colour: str, rng: Random) -> Caption:
    """A query "a dog that is not red": there is a dog, and no red one."""
    forms = CLOTHES_EXCLUSION_FORMS if wears(kind) else COLOUR_EXCLUSION_FORMS
    # "a orange one" would not do.
    usable = [form for form in forms if "a {colour}" not in form or colour[0] not in "aeiou"]
    text = pick(rng, usable).format(one=noun_phrase(Phrase(kind), rng), colour=colour)
    return Caption(text, (Exists(Phrase(kind)), Not(Exists(Phrase(kind, colour)))))


def exclude_relation(a: str, relation: Relation, b: str, rng: Random) -> Caption:
    """A query "a car, not next to a tree": there is a car, and none is next to a tree."""
    first, second = Phrase(a), Phrase(b)
    text = pick(rng, RELATION_EXCLUSION_FORMS).format(
        a=noun_phrase(first, rng),
        b=noun_phrase(second, rng),
        relation=pick(rng, RELATION_WORDS[relation]),
    )
    return Caption(text, (Exists(first), Not(Related(first, relation, second))))


def _some(graph: SceneGraph, rng: Random) -> list[Phrase]:
    """One or two phrases for what is there."""
    groups = shuffled(groups_of(graph), rng)[: 1 if rng.random() < 0.6 else 2]
    return [describe(group, graph, rng) for group in groups]


def _negated(
    affirmed: list[Phrase], denied: Phrase, rng: Random, *, plain: bool = False
) -> Caption:
    text = say_negated(affirmed, denied, rng)
    claims: Statement = (*map(Exists, affirmed), Not(Exists(denied)))
    return Caption(text if plain else sentence(text, rng), claims)
