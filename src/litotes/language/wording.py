"""Saying an excluded thing affirmatively, out of the words of a :class:`Reading`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from litotes.language.lexicon import WEATHER_VERBS
from litotes.language.phrasing import (
    CUT,
    caption,
    gerund,
    indefinite_article,
    is_countable_singular,
)
from litotes.language.reading import NOUN_PHRASE, Reading, Span

if TYPE_CHECKING:
    from spacy.tokens import Token

_DROPPED_DETERMINERS = frozenset({"any", "single", "either", "visible"})
_PRONOUNS_OF_BEINGS = frozenset({"he", "she", "they", "him", "her", "who"})
_PLACES = frozenset({"in", "on", "at", "near", "by", "under", "inside", "outside", "next", "to"})
_DETERMINERS = re.compile(r"d*")


def text_of(reading: Reading, span: Span, *, resolve: int | None = None) -> str:
    """The words of a span without any cue; "it" becomes what stands before token ``resolve``."""
    inside_cues = {place for cue in reading.cues for place in range(cue.start, cue.end)}
    text = "".join(
        _word(reading, token, resolve) + token.whitespace_
        for token in reading.doc[span.start : span.end]
        if token.i not in inside_cues
    )
    return caption(_lower_first(text) if span.start == 0 else text)


def thing_text(reading: Reading, span: Span) -> str:
    """An excluded thing with a natural article: "ball" gives "a ball", "any cups" gives "cups"."""
    start = span.start
    while start < span.end and reading.lower[start] in _DROPPED_DETERMINERS:
        start += 1
    text = _name_ones(reading, Span(start, span.end))
    core = reading.match(NOUN_PHRASE, start)
    if core is None or core.end > span.end or not text:
        return text
    if reading.letter(start) == "d" or not reading.is_singular(core):
        return text
    return f"{indefinite_article(text.split()[0])} {text}"


def predicate_text(reading: Reading, start: int, end: int) -> str:
    """A predicate worded to follow its subject: "is swimming" gives "swimming"."""
    while start < end and reading.letter(start) in "xr":
        start += 1
    if start >= end:
        return ""
    token = reading.doc[start]
    text = text_of(reading, Span(start, end), resolve=start)
    perfect = token.tag_ in ("VBN", "VBD") and any(
        child.lemma_ == "have" and child.dep_ == "aux" for child in token.children
    )
    if perfect or (reading.letter(start) == "v" and token.tag_ not in ("VBD", "VBN")):
        return gerund(str(token.lemma_).lower()) + text[len(token.text) :]
    return text


def described(reading: Reading, subject: Span, adjective: str) -> str:
    """The subject with an adjective: "a dog" and "red" give "a red dog"."""
    determiners = reading.match(_DETERMINERS, subject.start)
    nouns = determiners.end if determiners else subject.start
    determiner = text_of(reading, Span(subject.start, nouns))
    return caption(f"{determiner} {CUT} {adjective} {text_of(reading, Span(nouns, subject.end))}")


def subject_of(
    reading: Reading, place: int, *, for_being: bool, pronoun: Token | None = None
) -> Span | None:
    """The noun phrase that the predicate at ``place`` speaks of.

    ``pronoun`` is the word that stands for it in its clause, if any; ``for_being`` says that
    only people and animals do such a thing.
    """
    before = reading.phrases_before(place)
    if not before or (pronoun is not None and reading.doc[place].lemma_ in WEATHER_VERBS):
        return None
    beings = [span for span in before if reading.is_being(span)]
    nearest = before[-1]
    adjacent = not reading.letters[nearest.end : place].strip("xrXN")
    if adjacent and for_being and nearest in beings:
        return nearest
    if adjacent and pronoun is None and reading.letter(place) in "ap":
        return nearest  # "buildings not yet finished"
    if pronoun is not None:
        return _meant_by(pronoun, before, beings)
    parsed = _parsed_subject(reading, place, before)
    if for_being and parsed not in beings and beings:
        return beings[0]
    return parsed or before[0]


def nearest_text(reading: Reading, place: int, *, people: bool) -> str | None:
    """The nearest thing (or person) before, rather not one that only says where."""
    before = [s for s in reading.phrases_before(place) if reading.is_person(s) == people]
    central = [s for s in before if not s.start or reading.lower[s.start - 1] not in _PLACES]
    return text_of(reading, (central or before)[-1]) if before else None


def _meant_by(pronoun: Token, before: list[Span], beings: list[Span]) -> Span:
    if pronoun.lower_ in _PRONOUNS_OF_BEINGS:
        return (beings or before)[-1]
    if pronoun.lower_ in ("that", "which"):
        return before[-1]
    things = [span for span in before if span not in beings]
    return (things or before)[-1]


def _parsed_subject(reading: Reading, place: int, before: list[Span]) -> Span | None:
    """Follow the dependency parse up from the predicate to its noun."""
    token = reading.doc[place]
    while True:
        subject = next((c for c in token.children if c.dep_ in ("nsubj", "nsubjpass")), None)
        if subject is not None and reading.letter(subject.i) == "n" and subject.i < place:
            token = subject
        elif token.head.i == token.i:  # the root
            return None
        else:
            token = token.head
        if reading.letter(token.i) == "n" and token.i < place:
            return next((span for span in before if span.start <= token.i < span.end), None)


def _word(reading: Reading, token: Token, resolve: int | None) -> str:
    if token.lower_ == "any":
        head = token.head
        singular = head.i > token.i and is_countable_singular(head.text, head.tag_)
        return indefinite_article(reading.lower[token.i + 1]) if singular else CUT
    if resolve is not None and token.lower_ in ("it", "them") and token.tag_ == "PRP":
        return nearest_text(reading, resolve, people=False) or str(token.text)
    return str(token.text)


def _lower_first(text: str) -> str:
    acronym = text[:2].isalpha() and text[:2].isupper() and len(text) > 1
    return text if acronym else text[:1].lower() + text[1:]


def _name_ones(reading: Reading, span: Span) -> str:
    """Name what "ones" are: in "cars except red ones", cars."""
    text = text_of(reading, span, resolve=span.start)
    last = reading.lower[span.end - 1]
    before = reading.phrases_before(span.start)
    if last not in ("one", "ones") or not before:
        return text
    noun = reading.head(before[0])
    return text[: -len(last)] + str(noun.text if last == "ones" else noun.lemma_)
