"""Sentences about scenes read back into what they claim: the inverse of the sayers.

A sentence is read in two steps. First its noun phrases become marks, such as ``A0`` for "a red
car"; then it is held against the forms of :mod:`litotes.scenes.grammar`, each of them a regular
expression in which slots match marks, relations and places.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import TypeAlias

from litotes.errors import DataError
from litotes.scenes.captions import SETTING, STYLE
from litotes.scenes.grammar import (
    CLOTHES_EXCLUSION_FORMS,
    COLOUR_EXCLUSION_FORMS,
    DENIALS,
    DESCRIPTION_FORMS,
    EMPTY_PLACE_FORMS,
    FORMS,
    HYBRID_FORMS,
    INVERSE_WORDS,
    LIST_FORMS,
    NEGATED_POSITIVE_FORMS,
    NEGATIVE_FORMS,
    NUMBERS,
    PLACE_FORMS,
    QUESTIONS,
    REGION_WORDS,
    RELATION_EXCLUSION_FORMS,
    RELATION_WORDS,
    SIZE_WORDS,
    noun,
    wears,
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
    Statement,
)
from litotes.scenes.kinds import BACKGROUNDS, CATEGORIES, COLOURS, KINDS

_FIXED = frozenset(text.lower().removesuffix(".") for text in (*SETTING.values(), *STYLE))
"""Sentences of descriptions that claim nothing."""

_COUNTS = {"exactly one": 1, **{word: number for number, word in NUMBERS.items()}}
_SIZES = {word: size for size, words in SIZE_WORDS.items() for word in words}
_COUNTABLE = (*KINDS, *(name for name, plural in CATEGORIES.items() if plural))
_SINGULAR = {noun(kind): kind for kind in _COUNTABLE}
_PLURAL = {noun(kind, plural=True): kind for kind in _COUNTABLE}
_RELATIONS: dict[str, Relation] = {
    word: relation
    for table in (RELATION_WORDS, INVERSE_WORDS)
    for relation, words in table.items()
    for word in words
}
_REGIONS: dict[str, Region] = {
    word: region for region, words in REGION_WORDS.items() for word in words
}
_PLACES = {words: b.name for b in BACKGROUNDS.values() for words in (b.where, b.scene)}


def _any_of(words: Iterable[str]) -> str:
    """A pattern for one of several words, the longest that fits."""
    return "|".join(map(re.escape, sorted(words, key=len, reverse=True)))


_NOUNS = {**_SINGULAR, **_PLURAL}
_NOUN_PHRASE = re.compile(
    rf"\b(?:(?P<number>an?|{_any_of(_COUNTS)}) )?"
    rf"(?:(?P<size>{_any_of(_SIZES)}) )?"
    rf"(?:(?P<person>{_any_of(n for n, kind in _NOUNS.items() if wears(kind))})\b"
    rf"(?: in (?P<clothes>{_any_of(COLOURS)}))?"
    rf"|(?:(?P<colour>{_any_of(COLOURS)}) )?"
    rf"(?P<noun>{_any_of(n for n, kind in _NOUNS.items() if not wears(kind))}))\b"
)

# Marks: A with an article, C counted exactly, S a singular without article, P a plural.
_ONE = r"[AC]\d+"
_LIST = rf"(?:{_ONE}(?:, {_ONE})* and )?{_ONE}"
_SLOTS = {
    "list": _LIST,
    "a": _ONE,
    "b": _ONE,
    "c": _LIST,
    "relation": _any_of(word for words in RELATION_WORDS.values() for word in words),
    "inverse": _any_of(word for words in INVERSE_WORDS.values() for word in words),
    "region": _any_of(_REGIONS),
    "where": _any_of(place.where for place in BACKGROUNDS.values()),
    "scene": _any_of(place.scene for place in BACKGROUNDS.values()),
    "there": "is|are",
    "are": "is|are",
    "one": r"A\d+",
    "bare": r"[SP]\d+",
    "plural": r"P\d+",
    "word": r"[AP]\d+",
    "them": r"P\d+",
    "colour": _any_of(COLOURS),
    "claim": ".+",
}
_DENIED = ("one", "bare", "plural", "word", "them")


@dataclass(frozen=True, slots=True)
class _Words:
    """What the slots of a form hold, and the phrases that the marks stand for."""

    slots: Mapping[str, str]
    marked: Sequence[Phrase]

    def phrases(self, *slots: str) -> list[Phrase]:
        text = " ".join(self.slots.get(slot, "") for slot in slots)
        return [self.marked[int(index)] for index in re.findall(r"\d+", text)]

    def either(self, *slots: str) -> str | None:
        return next((self.slots[slot] for slot in slots if slot in self.slots), None)


_Sense: TypeAlias = Callable[[_Words], Statement | None]
_Rule: TypeAlias = tuple[re.Pattern[str], _Sense]


def read(text: str) -> Statement:
    """What a sentence, or a description of several, claims.

    Capitals, the last full stop, and the choice between "a" and "an" do not matter.

    Args:
        text: a sentence of :mod:`litotes.scenes.grammar`, :mod:`~litotes.scenes.captions` or
            :mod:`~litotes.scenes.negation`, or several.

    Returns:
        The statement that its sayer returned with it.

    Raises:
        DataError: a sentence is none of these; the message names it and says what is wrong.
    """
    sentences = re.split(r"(?<=\.)\s+", text.strip())
    return tuple(claim for sentence in sentences for claim in _read_sentence(sentence))


def read_question(text: str) -> Statement:
    """What has to be true if the answer is to be yes.

    Questions that ask for a list ("does the picture show a dog and a cat?") may hold any sentence
    of :func:`read` in its place ("does the picture show a dog but no cat?"), and "in the picture"
    may be left out.

    Raises:
        DataError: it is no question of :data:`litotes.scenes.grammar.QUESTIONS`.
    """
    words = _normal(text.strip().removesuffix("?"))
    words = re.sub(r"^does this picture\b", "does the picture", words)
    words = words.replace(" in this picture", " in the picture")
    statement = _apply(_question_rules(), *_mark(words))
    if statement is None:
        raise _failure(text, words, "question", "Is there a red car in the picture?")
    return statement


def _read_sentence(text: str) -> Statement:
    words = _normal(text.removesuffix("."))
    if words in _FIXED:
        return ()
    statement = _apply(_sentence_rules(), *_mark(words))
    if statement is None:
        raise _failure(text, words, "sentence", "a red car and two dogs on the beach")
    return statement


def _normal(text: str) -> str:
    return " ".join(text.lower().split())


def _mark(text: str) -> tuple[str, list[Phrase]]:
    """Put marks for noun phrases; one whose number does not fit its noun stays as it is."""
    phrases: list[Phrase] = []

    def mark(match: re.Match[str]) -> str:
        number, name = match["number"], match["person"] or match["noun"]
        count = _COUNTS.get(number)
        is_plural = name in _PLURAL if number is None else count is not None and count > 1
        kind = (_PLURAL if is_plural else _SINGULAR).get(name)
        if kind is None:
            return match[0]
        colour = match["clothes"] or match["colour"]
        phrases.append(Phrase(kind, colour, _SIZES.get(match["size"]), count))
        sort = "C" if count else "A" if number else "P" if is_plural else "S"
        return f"{sort}{len(phrases) - 1}"

    return _NOUN_PHRASE.sub(mark, text), phrases


def _apply(rules: Iterable[_Rule], marked: str, phrases: Sequence[Phrase]) -> Statement | None:
    """The sense of the first form that fits, if one does."""
    for pattern, sense in rules:
        if match := pattern.fullmatch(marked):
            statement = sense(_Words(match.groupdict(), phrases))
            if statement is not None:
                return statement
    return None


def _sentence_forms() -> list[tuple[str, _Sense]]:
    denials = [form + denial for form in LIST_FORMS + PLACE_FORMS for denial in DENIALS]
    tables: tuple[tuple[_Sense, Iterable[str]], ...] = (
        (_plain, (*FORMS, *HYBRID_FORMS, *NEGATIVE_FORMS, *NEGATED_POSITIVE_FORMS)),
        (_plain, (*EMPTY_PLACE_FORMS, *DESCRIPTION_FORMS, *denials)),
        (_colour_exclusion, COLOUR_EXCLUSION_FORMS + CLOTHES_EXCLUSION_FORMS),
        (_relation_exclusion, RELATION_EXCLUSION_FORMS),
    )
    return [(form, sense) for sense, forms in tables for form in forms]


@cache
def _sentence_rules() -> tuple[_Rule, ...]:
    return _rules(_sentence_forms())


@cache
def _question_rules() -> tuple[_Rule, ...]:
    forms = {f for form in QUESTIONS for f in (form, form.removesuffix(" in the picture"))}
    return _rules(
        (form.replace("{list}", "{claim}"), _claim if "{list}" in form else _plain)
        for form in sorted(forms)
    )


def _rules(forms: Iterable[tuple[str, _Sense]]) -> tuple[_Rule, ...]:
    """Rules of forms, those with the most words of their own first."""
    ordered = sorted(forms, key=lambda pair: len(_own_words(pair[0])), reverse=True)
    return tuple((re.compile(_pattern(form)), sense) for form, sense in ordered)


def _own_words(form: str) -> str:
    return re.sub(r"\{\w+\}", "", form)


def _pattern(form: str) -> str:
    # Only one thing is at each end of "between", while `c` elsewhere is a list.
    slots = {**_SLOTS, "c": _ONE} if "between" in form else _SLOTS
    parts = re.split(r"\{(\w+)\}", form)
    return "".join(
        f"(?P<{part}>{slots[part]})" if i % 2 else re.escape(part) for i, part in enumerate(parts)
    )


def _plain(words: _Words) -> Statement:
    """Each slot's claim, in the order of the sayers."""
    claims: list[Claim] = list(map(Exists, words.phrases("list")))
    if relation := words.either("relation", "inverse"):
        a, b, *more = words.phrases("a", "b", "c")
        claims += [Related(a, _RELATIONS[relation], b), *map(Exists, more)]
    elif region := words.either("region"):
        (a,) = words.phrases("a")
        claims.append(Placed(a, _REGIONS[region]))
    elif ends := words.phrases("b", "c"):
        claims.append(Between(*words.phrases("a"), *ends))
    if place := words.either("where", "scene"):
        claims.append(Located(_PLACES[place]))
    claims += [Not(Exists(phrase)) for phrase in words.phrases(*_DENIED)]
    return tuple(claims)


def _colour_exclusion(words: _Words) -> Statement:
    (phrase,) = words.phrases("one")
    excluded = Phrase(phrase.kind, words.slots["colour"], phrase.size)
    return (Exists(phrase), Not(Exists(excluded)))


def _relation_exclusion(words: _Words) -> Statement:
    a, b = words.phrases("a", "b")
    return (Exists(a), Not(Related(a, _RELATIONS[words.slots["relation"]], b)))


def _claim(words: _Words) -> Statement | None:
    return _apply(_sentence_rules(), words.slots["claim"], words.marked)


@cache
def _vocabulary() -> frozenset[str]:
    forms = (*(form for form, _ in _sentence_forms()), *QUESTIONS)
    words = (*_COUNTS, *_SIZES, *COLOURS, *_NOUNS, *_RELATIONS, *_REGIONS, *_PLACES, "is", "are")
    return frozenset(_split(" ".join((*map(_own_words, forms), *words))))


def _split(text: str) -> list[str]:
    return re.findall(r"[^\s,;.?]+", text)


def _failure(text: str, words: str, sort: str, example: str) -> DataError:
    strange = [word for word in dict.fromkeys(_split(words)) if word not in _vocabulary()]
    why = (
        f"no sentence about scenes has the word {strange[0]!r}"
        if strange
        else f"no form of {sort} fits it"
    )
    return DataError(f"cannot read the {sort} {text!r}: {why}; one that can be read: {example!r}")
