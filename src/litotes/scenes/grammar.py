"""English for claims about scenes: noun phrases, relations, and the forms of sentences.

A form is a sentence with slots; a statement is said by choosing a form that has its shape. The same
tables are read backwards by :mod:`litotes.scenes.reading`.
"""

from collections.abc import Sequence
from random import Random

from litotes.language.phrasing import indefinite_article
from litotes.scenes.graph import Phrase, Region, Relation
from litotes.scenes.kinds import BACKGROUNDS, CATEGORIES, KINDS
from litotes.scenes.world import pick

NUMBERS = {2: "two", 3: "three", 4: "four", 5: "five"}
SIZE_WORDS = {"small": ("small", "little"), "large": ("big", "large")}

RELATION_WORDS: dict[Relation, tuple[str, ...]] = {
    "left": ("to the left of", "left of", "on the left of", "on the left side of"),
    "right": ("to the right of", "right of", "on the right of", "on the right side of"),
    "above": ("above", "over", "higher up than"),
    "below": ("below", "under", "lower down than"),
    "next to": ("next to", "beside", "close to", "right by"),
}
"""How ``a`` stands to ``b``."""

INVERSE_WORDS: dict[Relation, tuple[str, ...]] = {
    "left": ("to its left", "on its left"),
    "right": ("to its right", "on its right"),
    "above": ("above it", "over it"),
    "below": ("below it", "under it"),
    "next to": ("next to it", "beside it"),
}
"""The same of something that was just named: "b with a to its left"."""

REGION_WORDS: dict[Region, tuple[str, ...]] = {
    "left": ("on the left", "on the left-hand side", "in the left half"),
    "right": ("on the right", "on the right-hand side", "in the right half"),
    "top": ("at the top", "in the upper half"),
    "bottom": ("at the bottom", "in the lower half"),
    "middle": ("in the middle", "in the centre"),
}

DENIALS = (
    ", no {bare}",
    " and no {bare}",
    " but no {bare}",
    " without {word}",
    ", not {word}",
    ", there are no {them}",
)
"""What now and then follows a caption: something that is not there."""

LIST_FORMS = (
    "{list}",
    "a picture of {list}",
    "a photo of {list}",
    "an image of {list}",
    "a drawing of {list}",
    "a view of {list}",
    "there {there} {list}",
    "here {there} {list}",
    "this picture shows {list}",
    "the image shows {list}",
    "we see {list}",
    "you can see {list}",
    "one can spot {list}",
    "{list} can be seen",
    "a scene with {list}",
    "a picture with {list} in it",
    "look, {list}",
    "among other things, {list}",
    "it has {list} in it",
)
PLACE_FORMS = (
    "{list} {where}",
    "{where}, {list}",
    "{where} there {there} {list}",
    "{scene} with {list}",
    "a picture of {list} {where}",
    "a photo of {list} {where}",
    "a drawing of {list} {where}",
    "there {there} {list} {where}",
    "{list} seen {where}",
    "{list} can be seen {where}",
    "{scene} and {list}",
    "we see {list} {where}",
    "{where} we see {list}",
    "{scene} where one can see {list}",
    "this is {scene} with {list}",
    "{list} {are} {where}",
    "the picture shows {scene} with {list}",
    "{scene}, with {list} in it",
    "{where} one finds {list}",
    "{list} found {where}",
    "an image of {scene} that has {list}",
)
RELATION_FORMS = (
    "{a} {relation} {b}",
    "{a} is {relation} {b}",
    "there is {a} {relation} {b}",
    "a picture of {a} {relation} {b}",
    "{relation} {b} there is {a}",
    "{relation} {b}, {a}",
    "{a} placed {relation} {b}",
    "{a} can be seen {relation} {b}",
    "{relation} {b} you can see {a}",
    "we see {a} {relation} {b}",
    "this picture shows {a} {relation} {b}",
    "{b} with {a} {inverse}",
    "{b} has {a} {inverse}",
    "{b}, and {a} {inverse}",
)
RELATION_PLACE_FORMS = (
    "{a} {relation} {b} {where}",
    "{where}, {a} is {relation} {b}",
    "{scene} with {a} {relation} {b}",
    "{a} {where}, {relation} {b}",
    "a photo of {a} {relation} {b} {where}",
    "{where} there is {a} {relation} {b}",
    "{b} {where}, with {a} {inverse}",
)
RELATION_MORE_FORMS = (
    "{a} {relation} {b}, and {c}",
    "{c}, and {a} {relation} {b}",
    "there is {a} {relation} {b}; we also see {c}",
    "{b} with {a} {inverse}, and {c}",
    "besides {c}, there is {a} {relation} {b}",
)
RELATION_MORE_PLACE_FORMS = (
    "{where}, {a} {relation} {b}, and {c}",
    "{scene} with {c}, and {a} {relation} {b}",
    "{a} {relation} {b}, and {c}, {where}",
    "{where} there is {a} {relation} {b}; we also see {c}",
)
BETWEEN_FORMS = (
    "{a} between {b} and {c}",
    "{a} is between {b} and {c}",
    "between {b} and {c} there is {a}",
    "we see {a} between {b} and {c}",
    "{b} and {c} with {a} between them",
)
FORMS = (
    *(LIST_FORMS + PLACE_FORMS + RELATION_FORMS + RELATION_PLACE_FORMS),
    *(RELATION_MORE_FORMS + RELATION_MORE_PLACE_FORMS + BETWEEN_FORMS),
)
"""All forms of captions."""


OPENING_FORMS = ("this picture shows {scene}", "the scene is set {where}")
THERE_FORMS = ("there is {list}", "one can make out {list}", "we also find {list}")
PLACED_FORMS = (
    "there is {a} {region} of the picture",
    "{region} of the scene we find {a}",
    "{a} can be seen {region} of the image",
    "{region} of the drawing there is {a}",
)
RELATION_SENTENCES = (
    "{a} is {relation} {b}",
    "{a} can be seen {relation} {b}",
    "there is {a} {relation} {b}",
)
DESCRIPTION_FORMS = OPENING_FORMS + THERE_FORMS + PLACED_FORMS
"""Sentences of long descriptions."""

HYBRID_FORMS = (
    "{list}, no {bare}",
    "{list} but no {bare}",
    "{list} and no {bare}",
    "{list} without {one}",
    "{list}, not {one}",
    "{list} with no {bare}",
    "{list}, but there is no {bare}",
    "{list}, but there are no {plural}",
    "{list} but not {one}",
    "{list}, without any {plural}",
    "there {there} {list} but no {bare}",
    "a picture of {list} without {one}",
    "a picture of {list} and no {plural}",
    "a scene with {list} but without {one}",
    "although there {there} {list}, there is no {bare}",
    "this picture shows {list} but does not show {one}",
    "this picture shows {list} but lacks {one}",
    "{list}, and {one} is missing",
)
"""What is there, and one thing that is not."""

NEGATIVE_FORMS = (
    "there is no {bare}",
    "there are no {plural}",
    "no {bare}",
    "no {plural}",
    "a picture without {one}",
    "a scene with no {plural}",
    "no {bare} in the picture",
    "{one} is missing",
    "{plural} are absent",
    "this picture does not show {one}",
    "the image does not contain {one}",
    "a picture that lacks {one}",
    "there isn't {one} here",
    "there aren't any {plural}",
    "this is not a picture of {one}",
)
"""One thing that is not there."""

EMPTY_PLACE_FORMS = (
    "{scene} without {plural}",
    "{scene} without {one}",
    "{scene} with no {plural}",
    "{scene} but no {plural}",
    "{scene}, no {plural}",
)
"""A place, and one thing that is not there."""

NEGATED_POSITIVE_FORMS = (
    "there is no doubt that there {there} {list}",
    "it is not false that there {there} {list}",
    "nothing contradicts that there {there} {list}",
    "no one can deny that there {there} {list}",
    "it is not impossible to see {list}",
    "this picture does not lack {list}",
    "this picture is not without {list}",
    "you cannot miss {list}",
    "{list}, without any doubt",
    "{list}, without any contradiction",
    "who could deny that there {there} {list}",
    "it would not be wrong to say that there {there} {list}",
    "never doubt that there {there} {list}",
)
"""True and affirmative, though said with a negation (arXiv 2606.23843's P')."""

COLOUR_EXCLUSION_FORMS = (
    "{one} that is not {colour}",
    "{one} which is not {colour}",
    "{one} that isn't {colour}",
    "{one} but not a {colour} one",
    "{one}, not a {colour} one",
)
CLOTHES_EXCLUSION_FORMS = (
    "{one} who is not in {colour}",
    "{one} not in {colour}",
    "{one} who isn't in {colour}",
    "{one} but not one in {colour}",
    "{one}, not one in {colour}",
)
RELATION_EXCLUSION_FORMS = (
    "{a}, not {relation} {b}",
    "{a} that is not {relation} {b}",
    "{a} which is not {relation} {b}",
    "{a} but not {relation} {b}",
    "{a} that isn't {relation} {b}",
)
QUESTIONS = (
    "is there {list} in the picture",
    "are there {list} in the picture",
    "does the picture show {list}",
    "can you see {list}",
    "is {a} {relation} {b}",
    "is {a} {region}",
    "is {a} between {b} and {c}",
    "is there no {bare}",
    "is this {scene}",
    "is the scene {where}",
)
"""What a judge may be asked; a question mark follows."""


def noun(kind: str, *, plural: bool = False) -> str:
    """The noun of a kind or of a category."""
    if kind in KINDS:
        return KINDS[kind].plural if plural else kind
    word = CATEGORIES[kind] if plural else kind
    assert word is not None, f"{kind} cannot be counted"
    return word


def bare(phrase: Phrase, rng: Random, *, plural: bool = False) -> str:
    """A noun phrase without article: "big red car", "men in blue"."""
    size = pick(rng, SIZE_WORDS[phrase.size]) if phrase.size else None
    name = noun(phrase.kind, plural=plural)
    if phrase.colour and wears(phrase.kind):
        return " ".join(filter(None, (size, name, "in", phrase.colour)))
    return " ".join(filter(None, (size, phrase.colour, name)))


def noun_phrase(phrase: Phrase, rng: Random) -> str:
    """A noun phrase: "a red car", "two small dogs", "a man in blue"."""
    if phrase.count is None or phrase.count == 1:
        text = bare(phrase, rng)
        number = "exactly one" if phrase.count else indefinite_article(text)
        return f"{number} {text}"
    return f"{NUMBERS[phrase.count]} {bare(phrase, rng, plural=True)}"


def wears(kind: str) -> bool:
    """Whether a kind's colour is that of its clothes."""
    return kind == "person" or (kind in KINDS and KINDS[kind].wears)


def joined(items: Sequence[str], last: str = "and") -> str:
    """Items as in "a", "a and b", "a, b and c"."""
    if len(items) == 1:
        return items[0]
    return f"{', '.join(items[:-1])} {last} {items[-1]}"


def is_plural(phrase: Phrase) -> bool:
    """Whether a verb after the phrase is plural."""
    return phrase.count is not None and phrase.count > 1


def say_list(phrases: Sequence[Phrase], background: str | None, rng: Random) -> str:
    """A sentence that some things are there, and where."""
    form = pick(rng, LIST_FORMS if background is None else PLACE_FORMS)
    return form.format(**list_words(phrases, rng), **place_words(background))


def say_relation(
    a: Phrase,
    relation: Relation,
    b: Phrase,
    more: Sequence[Phrase],
    background: str | None,
    rng: Random,
) -> str:
    """A sentence that ``a`` stands so to ``b``, and that more things are there, and where."""
    forms = {
        (False, False): RELATION_FORMS,
        (False, True): RELATION_PLACE_FORMS,
        (True, False): RELATION_MORE_FORMS,
        (True, True): RELATION_MORE_PLACE_FORMS,
    }[bool(more), background is not None]
    return pick(rng, forms).format(
        a=noun_phrase(a, rng),
        b=noun_phrase(b, rng),
        c=joined([noun_phrase(phrase, rng) for phrase in more]) if more else "",
        relation=pick(rng, RELATION_WORDS[relation]),
        inverse=pick(rng, INVERSE_WORDS[relation]),
        **place_words(background),
    )


def say_between(a: Phrase, b: Phrase, c: Phrase, rng: Random) -> str:
    """A sentence that ``a`` stands between ``b`` and ``c``."""
    words = [noun_phrase(phrase, rng) for phrase in (a, b, c)]
    return pick(rng, BETWEEN_FORMS).format(a=words[0], b=words[1], c=words[2])


def place_words(background: str | None) -> dict[str, str]:
    """What the slots of a place take."""
    if background is None:
        return {}
    place = BACKGROUNDS[background]
    return {"where": place.where, "scene": place.scene}


def sentence(text: str, rng: Random) -> str:
    """As captions are written: with a capital and a full stop, or without."""
    return finished(text) if rng.random() < 0.3 else text


def finished(text: str) -> str:
    """With a capital and a full stop."""
    return f"{text[0].upper()}{text[1:]}."


def say_negated(
    affirmed: Sequence[Phrase], denied: Phrase, rng: Random, forms: Sequence[str] | None = None
) -> str:
    """A sentence that some things are there, if any, and one is not."""
    form = pick(rng, forms or (HYBRID_FORMS if affirmed else NEGATIVE_FORMS))
    return form.format(**list_words(affirmed, rng), **denied_words(denied, rng))


def list_words(phrases: Sequence[Phrase], rng: Random) -> dict[str, str]:
    """What the slots of a list take."""
    if not phrases:
        return {}
    items = [noun_phrase(phrase, rng) for phrase in phrases]
    # "there is a dog and a cat", but "a dog and a cat are …".
    first = is_plural(phrases[0])
    return {
        "list": joined(items),
        "there": "are" if first else "is",
        "are": "are" if first or len(items) > 1 else "is",
    }


def denied_words(phrase: Phrase, rng: Random) -> dict[str, str]:
    """What the slots of a denied thing take."""
    return {
        "one": noun_phrase(phrase, rng),
        "bare": bare(phrase, rng),
        "plural": bare(phrase, rng, plural=True),
    }
