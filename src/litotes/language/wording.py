"""Saying an excluded thing affirmatively, out of the words of a :class:`Reading`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from litotes.language.lexicon import COUNTABLE_ING, KIN, MORE_MASS_NOUNS, WEATHER_VERBS
from litotes.language.phrasing import (
    CUT,
    caption,
    gerund,
    indefinite_article,
    is_countable_singular,
    with_article,
)
from litotes.language.reading import NOUN_PHRASE, Reading, Span

if TYPE_CHECKING:
    from spacy.tokens import Token

_DROPPED_DETERMINERS = frozenset({"any", "single", "either", "visible"})
_PRONOUNS_OF_BEINGS = frozenset({"he", "she", "they", "him", "her", "who"})
_PLACES = frozenset({"in", "on", "at", "near", "by", "under", "inside", "outside", "next", "to"})
_SOME = {"anything": "something", "anyone": "a person", "anybody": "a person"}
_BARE_NOUNS = MORE_MASS_NOUNS | KIN | _SOME.keys()
_DEPICTIONS = frozenset({"portrait", "drawing", "painting", "sketch", "illustration", "closeup"})
_DETERMINERS = re.compile(r"d*")


def text_of(
    reading: Reading, span: Span, *, resolve: int | None = None, owner: Span | None = None
) -> str:
    """The words of a span without any cue; "it" becomes what stands before token ``resolve``.

    ``owner`` is what the span is said of, which "it" cannot be.
    """
    inside_cues = {place for cue in reading.cues for place in range(cue.start, cue.end)}
    text = "".join(
        _word(reading, token, resolve, owner) + token.whitespace_
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
    if reading.words(start, start + 2) == ("a", "single"):
        text = text.removeprefix("a single ")
        return with_article(text)
    core = reading.match(NOUN_PHRASE, start)
    if reading.letters[start : span.end] == "v" and is_countable_singular(text, "NN"):
        return with_article(text)  # a noun that the tagger takes for a verb
    if core is None or core.end > span.end or not text:
        return text
    if reading.letter(start) == "d" or not reading.is_singular(core):
        return text
    noun = reading.head(core).lower_
    if noun in _BARE_NOUNS or (noun.endswith("ing") and noun not in COUNTABLE_ING):
        return text
    return f"{indefinite_article(text.split()[0])} {text}"


def predicate_text(reading: Reading, start: int, end: int, owner: Span | None = None) -> str:
    """A predicate worded to follow its subject: "is swimming" gives "swimming"."""
    while start < end and reading.letter(start) in "xrX":
        start += 1
    if start >= end:
        return ""
    token = reading.doc[start]
    text = text_of(reading, Span(start, end), resolve=start, owner=owner)
    helpers = {(child.lemma_, child.dep_) for child in token.children}
    perfect = token.tag_ in ("VBN", "VBD") and ("have", "aux") in helpers
    perfect = perfect and ("be", "auxpass") not in helpers  # "has not been washed"
    if perfect or (reading.letter(start) == "v" and token.tag_ not in ("VBD", "VBN")):
        return gerund(str(token.lemma_).lower()) + text[len(token.text) :]
    return text


def described(reading: Reading, subject: Span, adjective: str) -> str:
    """The subject with an adjective: "a dog" and "red" give "a red dog"."""
    determiners = reading.match(_DETERMINERS, subject.start)
    nouns = determiners.end if determiners else subject.start
    determiner = text_of(reading, Span(subject.start, nouns))
    determiner = "" if determiner == "whose" else determiner
    return caption(f"{determiner} {CUT} {adjective} {text_of(reading, Span(nouns, subject.end))}")


def subject_of(
    reading: Reading, place: int, *, for_being: bool, pronoun: Token | None = None
) -> Span | None:
    """The noun phrase that the predicate at ``place`` speaks of.

    ``pronoun`` is the word that stands for it in its clause, if any; ``for_being`` says that
    only people and animals do such a thing.
    """
    before = reading.phrases_before(place)
    if reading.doc[place].lemma_ in WEATHER_VERBS and (pronoun is not None or not before):
        return None
    if not before:
        return _following_subject(reading, place)
    return _depicted(reading, _named_before(reading, place, before, for_being, pronoun))


def _following_subject(reading: Reading, place: int) -> Span | None:
    """As in "not wearing a coat, a woman waits"."""
    end = reading.clause_end(place)
    return reading.match(NOUN_PHRASE, end + 1) if reading.letter(end) == "," else None


def _named_before(
    reading: Reading, place: int, before: list[Span], for_being: bool, pronoun: Token | None
) -> Span:
    beings = [span for span in before if reading.is_being(span)]
    nearest = before[-1]
    between = reading.letters[nearest.end : place]
    adjacent = not between.strip("xrXN")
    if adjacent and for_being and nearest in beings:
        return nearest
    if adjacent and "x" not in between and reading.letter(nearest.start - 1) == ",":
        return nearest  # "a family, the dog not with them"
    # In "the car on the left is not red" the left only says where.
    where = "x" in between and reading.letter(nearest.start - 1) == "i"
    if adjacent and not where and pronoun is None and reading.letter(place) in "ap":
        return nearest  # "buildings not yet finished"
    if pronoun is not None:
        return _meant_by(reading, pronoun, before, for_being)
    parsed = _parsed_subject(reading, place, before)
    if for_being and parsed not in beings and beings:
        return beings[0]
    return parsed or before[0]


def _depicted(reading: Reading, span: Span) -> Span:
    """Who acts in "a portrait of a woman": the woman."""
    of = reading.letters.find("f", span.start, span.end)
    inner = Span(of + 1, span.end)
    pictured = of >= 0 and reading.head(span).lower_ in _DEPICTIONS and reading.is_being(inner)
    return inner if pictured else span


def nearest_text(
    reading: Reading, place: int, *, people: bool, owner: Span | None = None
) -> str | None:
    """The nearest thing (or person) before, other than ``owner`` and rather not only a place."""
    before = [s for s in reading.phrases_before(place) if reading.is_person(s) == people]
    others = [s for s in before if s != owner] or before
    return text_of(reading, (_central(reading, others) or others)[-1]) if before else None


def _central(reading: Reading, spans: list[Span]) -> list[Span]:
    """Those that do not only say where something is."""
    return [s for s in spans if not s.start or reading.lower[s.start - 1] not in _PLACES]


def _meant_by(reading: Reading, pronoun: Token, before: list[Span], for_being: bool) -> Span:
    beings = [span for span in before if reading.is_being(span)]
    if pronoun.lower_ in _PRONOUNS_OF_BEINGS:
        return (beings or before)[-1]
    if pronoun.lower_ in ("that", "which"):
        return before[-1]
    animals = [span for span in beings if not reading.is_person(span)]
    if for_being and animals:
        return animals[-1]
    things = [span for span in before if span not in beings]
    return (_central(reading, things) or things or before)[-1]


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


def _word(reading: Reading, token: Token, resolve: int | None, owner: Span | None) -> str:
    if token.lower_ == "any":
        head = token.head
        singular = head.i > token.i and is_countable_singular(head.text, head.tag_)
        return indefinite_article(reading.lower[token.i + 1]) if singular else CUT
    if token.lower_ in _SOME:
        return _SOME[token.lower_]
    if resolve is not None and token.lower_ in ("it", "them") and token.tag_ == "PRP":
        of_things = nearest_text(reading, resolve, people=False, owner=owner)
        of_people = nearest_text(reading, resolve, people=True, owner=owner)
        return of_things or (of_people if token.lower_ == "them" else None) or str(token.text)
    return str(token.text)


def _lower_first(text: str) -> str:
    acronym = text[:2].isalpha() and text[:2].isupper() and len(text) > 1
    return text if acronym else text[:1].lower() + text[1:]


def _name_ones(reading: Reading, span: Span) -> str:
    """Name what "ones" and counts are of: in "cars except red ones", cars."""
    text = text_of(reading, span, resolve=span.start)
    before = reading.phrases_before(span.start)
    last = reading.doc[span.end - 1] if span.end > span.start else None
    if last is None or not before:
        return text
    noun = reading.head(before[0])
    if last.lower_ in ("one", "ones"):
        return text[: -len(last)] + str(noun.text if last.lower_ == "ones" else noun.lemma_)
    if last.tag_ == "CD" and reading.letter(last.i) == "d":  # "two dogs, not three"
        return f"{text} {noun.lemma_}s" if reading.is_singular(before[0]) else f"{text} {noun.text}"
    return text
