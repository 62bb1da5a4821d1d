"""A written grammar of negation scope: which words each cue excludes, and how to say them.

One rule a kind of cue reads the words after it (or before it) and gives an :class:`Exclusion`:
the tokens to cut from the caption, and the excluded things worded affirmatively. The patterns are
over a :class:`~litotes.language.reading.Reading`'s letters.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from litotes.language.cues import Kind
from litotes.language.lexicon import HOLDING_VERBS, LESS_WORDS, POSITIONS, UN_WORDS, WEATHER_VERBS
from litotes.language.phrasing import (
    CUT,
    caption,
    gerund,
    indefinite_article,
    is_countable_singular,
    names_content,
)
from litotes.language.reading import ADJECTIVES, BASE, NOUN_PHRASE, CueSpan, Reading, Span
from litotes.language.wording import (
    described,
    nearest_text,
    predicate_text,
    subject_of,
    text_of,
    thing_text,
)

if TYPE_CHECKING:
    from spacy.tokens import Token

_ADJECTIVES = re.compile(ADJECTIVES)
_ADJECTIVE_PREDICATE = re.compile(r"r*[ap](?:h[anpg])*(?=$|[^n])")
_PLACE = re.compile(rf"i+(?:{BASE}(?:f{BASE})*|o)")
_DEFINITE_PLACE = re.compile(rf"i({BASE})")
#: What may follow "nobody" and "nothing": "nobody in the street", "nothing red".
_PLACES_AND_ADJECTIVES = re.compile(rf"(?:[ra]|{_PLACE.pattern})*")
_COMPLEMENT = re.compile(rf"(?:[if]{BASE})*")
_LIST_JOINT = re.compile(r",?[&|]|,")
_NEXT_IN_LIST = re.compile(rf"&{BASE}(?!x)")
_NEXT_PREDICATE = re.compile(r"&[xvgp]")
#: Where a finite verb behind a noun shows that the main clause goes on.
_MAIN_VERB = re.compile(r"(?<=n)[vx]")
_MAIN_VERB_OR_ACTION = re.compile(r"(?<=n)[gvx]")
#: What stands before "no" where its noun is the subject.
_SUBJECT_PLACE = re.compile(r"(?:^|[.:,bw])[bw&,]*$")
_CLAUSE_START = re.compile(r"(?:^|[.:,bw&])[^.:,bw&]*$")

_LEADING_WORDS = frozenset({"with", "having", "plus", "even", "being", "just"})
_LEADING_VERBS = frozenset({"have", "seem", "appear"})
_DROPPED_ADVERBS = frozenset({"also", "even", "actually", "really", "currently", "exactly"})
#: Prepositions that may end a clause: "with no shirt on".
_STRANDED = frozenset({"on", "inside", "outside"})
#: Said behind an excluded thing without adding to it.
_TRAILERS = frozenset(
    tuple(trailer.split())
    for trailer in (
        "in sight", "in view", "in it", "on it", "in them", "on them", "with it", "near it",
        "around it", "at all", "to be seen", "is involved", "are involved", "is present",
        "are present", "is visible", "are visible", "anywhere in sight", "in the frame",
        "in the shot", "nearby", "around", "anywhere", "whatsoever", "present", "visible",
        "available", "there", "left",
    )
)  # fmt: skip
_LONGEST_TRAILER = max(map(len, _TRAILERS))


@dataclass(frozen=True, slots=True)
class Exclusion:
    """What one cue excludes: tokens ``start`` to ``end`` leave the caption, phrases say it."""

    start: int
    end: int
    phrases: tuple[str, ...]


def exclusions(reading: Reading) -> list[Exclusion]:
    """Apply each cue's rule; a cue that no rule can read is left out."""
    found: list[Exclusion] = []
    for cue in reading.cues:
        if found and cue.start < found[-1].end:
            continue
        exclusion = _RULES[cue.kind](reading, cue)
        if exclusion is not None:
            found.append(exclusion)
    return found


def affirmed(reading: Reading, found: Iterable[Exclusion]) -> str:
    """The caption without the excluded words; ``""`` where nothing is left."""
    gone = {place for exclusion in found for place in range(exclusion.start, exclusion.end)}
    kept = (f" {CUT} " if token.i in gone else token.text_with_ws for token in reading.doc)
    text = caption("".join(kept))
    return text if names_content(text) else _presupposed(reading, found)


def _presupposed(reading: Reading, found: Iterable[Exclusion]) -> str:
    """The place taken for granted: "no one is swimming in the pool" still asks for the pool."""
    for exclusion in found:
        for match in _DEFINITE_PLACE.finditer(reading.letters, exclusion.start, exclusion.end):
            place = Span(*match.span(1))
            if reading.lower[place.start] == "the" and reading.head(place).lower_ not in POSITIONS:
                return text_of(reading, place)
    return ""


# --- "without", "no" --------------------------------------------------------------------------


def _read_without(reading: Reading, cue: CueSpan) -> Exclusion | None:
    if reading.letter(cue.end) == "g":
        return _read_predicate(reading, cue)
    return _read_things(reading, cue)


def _read_things(reading: Reading, cue: CueSpan) -> Exclusion | None:
    things = _things(reading, cue)
    if not things:
        return None
    things = _with_modifiers(reading, cue, things)
    return _exclude(reading, cue, things[-1].end, [thing_text(reading, thing) for thing in things])


def _read_no(reading: Reading, cue: CueSpan) -> Exclusion | None:
    things = _things(reading, cue)
    if not things:
        return None
    if reading.letter(cue.start - 1) == "d" and len(things) == 1:
        return _read_attribute_with_no(cue, things[0], reading)
    subject_place = _SUBJECT_PLACE.search(reading.letters[: cue.start])
    # Behind "and" only an auxiliary tells: "a hat and no shoes lies there" has no such subject.
    predicate = "x" if reading.letter(cue.start - 1) == "&" else "xv"
    if subject_place and reading.letter(things[-1].end) in predicate:
        return _read_negated_subject(reading, cue, things)
    if cue.start > 1 and reading.letter(cue.start - 1) in "gvp":
        return _read_negated_object(reading, cue, _with_modifiers(reading, cue, things))
    return _read_things(reading, cue)


def _read_attribute_with_no(cue: CueSpan, thing: Span, reading: Reading) -> Exclusion | None:
    """As in "a no sleeve shirt": the last noun is the owner."""
    lacking = thing if reading.letter(thing.end) == "a" else Span(thing.start, thing.end - 1)
    if lacking.end <= lacking.start:
        return None
    return Exclusion(cue.start, lacking.end, (thing_text(reading, lacking),))


def _read_negated_subject(reading: Reading, cue: CueSpan, things: list[Span]) -> Exclusion:
    """As in "no dog is running on the beach": the predicate is excluded along."""
    start = things[-1].end
    end = reading.clause_end(start)
    trails = _trail_end(reading, start) >= end
    predicate = "" if trails else predicate_text(reading, start, end)
    phrases = [f"{thing_text(reading, thing)} {predicate}".strip() for thing in things]
    return _exclude(reading, cue, end, phrases)


def _read_negated_object(reading: Reading, cue: CueSpan, things: list[Span]) -> Exclusion:
    """As in "a man wearing no shirt": the verb is part of what is excluded."""
    verb = reading.doc[cue.start - 1]
    subject = subject_of(reading, verb.i, for_being=True)
    owner = text_of(reading, subject) if subject else ""
    doing = verb.text if verb.tag_ in ("VBG", "VBN") else gerund(verb.lemma_)
    phrases = [f"{owner} {doing} {thing_text(reading, thing)}".strip() for thing in things]
    end = things[-1].end
    if reading.letter(end) == "&" and reading.thing_at(end + 1):
        return Exclusion(cue.start, end + 1, tuple(phrases))  # "wearing [no shirt and] a hat"
    return _exclude(reading, replace(cue, start=verb.i), end, phrases)


# --- "nobody", "nothing", "none" --------------------------------------------------------------


def _read_nobody(reading: Reading, cue: CueSpan) -> Exclusion:
    anything = "something" if cue.kind is Kind.NOTHING else "a person"
    start = cue.end + (reading.letter(cue.end) == "w")
    if reading.letter(start) in "xvgp":
        end = reading.clause_end(start)
        rest = predicate_text(reading, start, end)
    else:
        follows = reading.match(_PLACES_AND_ADJECTIVES, start)
        end = follows.end if follows else start
        rest = text_of(reading, Span(start, end), resolve=cue.start)
    if cue.kind is Kind.NOBODY and reading.words(start, end) in _TRAILERS:
        rest = ""
    return _exclude(reading, cue, end, [f"{anything} {rest}".strip()])


def _read_none(reading: Reading, cue: CueSpan) -> Exclusion | None:
    """As in "none of the people are wearing hats"."""
    members = reading.thing_at(cue.end + 1) if reading.letter(cue.end) == "f" else None
    if members is None:
        return None
    named = text_of(reading, members).removeprefix("the ")
    if reading.letter(members.start) == "o":  # "none of them"
        named = nearest_text(reading, cue.start, people=True) or named
    end = reading.clause_end(members.end)
    phrase = f"{named} {predicate_text(reading, members.end, end)}".strip()
    return _exclude(reading, cue, end, [phrase])


# --- "not" ------------------------------------------------------------------------------------


def _read_not(reading: Reading, cue: CueSpan) -> Exclusion | None:
    place = cue.end
    while reading.words(place, place + 1) and reading.lower[place] in _DROPPED_ADVERBS:
        place += 1
    if reading.letter(place) == "f":  # "not of a dog"
        place += 1
    cue = replace(cue, end=place)
    if reading.letter(cue.start - 1) == "d":
        return _read_attribute_with_not(reading, cue) or _read_predicate(reading, cue)
    if reading.letter(place) in "do" or reading.match(NOUN_PHRASE, place):
        return _read_things(reading, cue) or _read_predicate(reading, cue)
    return _read_predicate(reading, cue)


def _read_attribute_with_not(reading: Reading, cue: CueSpan) -> Exclusion | None:
    """As in "a not very big dog"."""
    thing = reading.match(NOUN_PHRASE, cue.end)
    adjectives = reading.match(_ADJECTIVES, cue.end)
    if thing is None or adjectives is None:
        return None
    return Exclusion(cue.start, adjectives.end, (thing_text(reading, thing),))


def _read_predicate(reading: Reading, cue: CueSpan) -> Exclusion | None:
    """As in "not wearing a helmet", "not red", "not on the sofa"."""
    place = cue.end
    if reading.letter(place) == "$":
        return None
    end = _predicate_end(reading, place)
    if end <= place:
        return None
    start = _lead_start(reading, cue.start)
    pronoun = next(
        (token for token in reading.doc[start : cue.start] if token.tag_ in ("PRP", "WP", "WDT")),
        None,
    )
    phrase = _predicate_phrase(reading, cue, end, pronoun)
    adjective = reading.match(_ADJECTIVE_PREDICATE, place)
    if adjective and reading.letter(end) == "b" and start < cue.start:
        return Exclusion(cue.start, end + 1, (phrase,))  # "that is [not red but] blue"
    repeated = _repeated_subject_start(reading, cue.start)
    return Exclusion(start if repeated is None else repeated, _trail_end(reading, end), (phrase,))


def _predicate_phrase(reading: Reading, cue: CueSpan, end: int, pronoun: Token | None) -> str:
    place = cue.end
    letter = reading.letter(place)
    subject = subject_of(reading, place, for_being=letter in "gvx", pronoun=pronoun)
    if subject is None and reading.doc[place].lemma_ in WEATHER_VERBS:
        return str(reading.doc[place].lemma_)
    adjective = reading.match(_ADJECTIVE_PREDICATE, place)
    if adjective and adjective.end == end and subject:
        return described(reading, subject, text_of(reading, Span(place, end)))
    owner = text_of(reading, subject) if subject else ""
    if letter in "gpvx":
        predicate = predicate_text(reading, place, end)
    else:
        predicate = text_of(reading, Span(place, end), resolve=cue.start)
    return f"{owner} {predicate}".strip()


def _predicate_end(reading: Reading, place: int) -> int:
    limit = reading.clause_end(place)
    letter = reading.letter(place)
    if letter == "a" and (adjective := reading.match(_ADJECTIVE_PREDICATE, place)):
        complement = reading.match(_COMPLEMENT, adjective.end)
        return min(limit, (complement or adjective).end)
    if reading.doc[place].lemma_ in HOLDING_VERBS:
        verb = CueSpan(place, place + 1, Kind.WITHOUT, "")
        things = _things(reading, verb)
        if things:
            return _with_modifiers(reading, verb, things)[-1].end
    goes_on = _MAIN_VERB_OR_ACTION if letter in "pi" else _MAIN_VERB
    main = goes_on.search(reading.letters, place + 1, limit)
    return main.start() if main else limit


def _repeated_subject_start(reading: Reading, start: int) -> int | None:
    """A subject named before goes with its predicate: "…, but the woman is not smiling"."""
    place = start
    while reading.letter(place - 1) in "xt":
        place -= 1
    subject = next((span for span in reading.noun_phrases if span.end == place), None)
    if subject is None or place == start:
        return None
    noun = reading.head(subject).lemma_
    if any(reading.head(span).lemma_ == noun for span in reading.phrases_before(subject.start)):
        return _lead_start(reading, subject.start)
    return None


# --- cues behind the thing --------------------------------------------------------------------


def _read_missing(reading: Reading, cue: CueSpan) -> Exclusion | None:
    following = reading.match(NOUN_PHRASE, cue.end)
    if following is None:
        return _read_absent(reading, cue)
    if reading.letter(cue.start - 1) in "da":  # "with a missing sign"
        return _exclude(
            reading,
            replace(cue, start=cue.start - 1),
            following.end,
            [thing_text(reading, following)],
        )
    return _read_without(reading, cue)


def _read_absent(reading: Reading, cue: CueSpan) -> Exclusion | None:
    """As in "a hat absent", "but the kite is not visible in her hand"."""
    if reading.letter(cue.start - 1) != "n" and reading.match(NOUN_PHRASE, cue.end):
        return _read_without(reading, cue)  # "absent a hat"
    end = cue.start - (reading.letter(cue.start - 1) == "w")
    thing = Span(_thing_start(reading, end), end)
    if thing.start >= thing.end:
        return None
    phrase = thing_text(reading, thing)
    if reading.words(cue.end, cue.end + 1) == ("from",):  # the owner stays: "from the car"
        return Exclusion(_lead_start(reading, thing.start), cue.end + 1, (phrase,))
    place = reading.match(_PLACE, cue.end)
    end = place.end if place else cue.end
    while reading.letter(end) == "r":
        end += 1
    where = text_of(reading, Span(cue.end, end)) if place else ""
    return _exclude(reading, replace(cue, start=thing.start), end, [f"{phrase} {where}".strip()])


def _thing_start(reading: Reading, end: int) -> int:
    """Where the thing starts that the cue behind it calls absent."""
    clause = _CLAUSE_START.search(reading.letters, 0, end)
    start = clause.start() if clause else 0
    while start < end and reading.letter(start) in ".:,bw&":
        start += 1
    withs = [place for place in range(start, end) if reading.lower[place] == "with"]
    return withs[-1] + 1 if withs else start


# --- cues inside a word -----------------------------------------------------------------------


def _read_less(reading: Reading, cue: CueSpan) -> Exclusion:
    bare = cue.word.removesuffix("less").rstrip("-")
    noun = LESS_WORDS.get(f"{bare}less") or f"{indefinite_article(bare)} {bare}"
    return _exclude_attribute(reading, cue, noun)


def _read_free(reading: Reading, cue: CueSpan) -> Exclusion:
    noun = cue.word.removesuffix("-free")
    return _exclude_attribute(
        reading, cue, f"{noun}s" if is_countable_singular(noun, "NN") else noun
    )


def _read_un(reading: Reading, cue: CueSpan) -> Exclusion:
    adjective = UN_WORDS[cue.word]
    touching = (s for s in reading.noun_phrases if s.start <= cue.start <= s.end)
    owner = next(touching, None) or subject_of(reading, cue.start, for_being=False)
    if owner is None:
        return _exclude_attribute(reading, cue, f"something {adjective}")
    nouns = re.sub(r"^(?:an?|the|some) ", "", text_of(reading, owner))
    if owner.start <= cue.start < owner.end:
        nouns = text_of(reading, Span(cue.end, owner.end))
    article = f"{indefinite_article(adjective)} " if reading.is_singular(owner) else ""
    return _exclude_attribute(reading, cue, f"{article}{adjective} {nouns}")


def _exclude_attribute(reading: Reading, cue: CueSpan, phrase: str) -> Exclusion:
    if any(span.start <= cue.start < span.end for span in reading.noun_phrases):
        return Exclusion(cue.start, cue.end, (phrase,))
    start, end = _lead_start(reading, cue.start), cue.end
    if start < cue.start and reading.match(_NEXT_PREDICATE, end):
        end += 1  # "is shirtless and runs"
    return Exclusion(start, end, (phrase,))


_RULES: dict[Kind, Callable[[Reading, CueSpan], Exclusion | None]] = {
    Kind.WITHOUT: _read_without,
    Kind.NO: _read_no,
    Kind.WITH_NO: _read_things,
    Kind.NOT: _read_not,
    Kind.DOES_NOT: _read_not,
    Kind.NOBODY: _read_nobody,
    Kind.NOTHING: _read_nobody,
    Kind.NONE: _read_none,
    Kind.MISSING: _read_missing,
    Kind.ABSENT: _read_absent,
    Kind.LESS: _read_less,
    Kind.FREE: _read_free,
    Kind.UN: _read_un,
}


# --- how far a cue reaches --------------------------------------------------------------------


def _exclude(reading: Reading, cue: CueSpan, end: int, phrases: Sequence[str]) -> Exclusion:
    """Cut from the connecting words before the cue to ``end`` and what trails it."""
    end = _trail_end(reading, end)
    next_thing = reading.match(_NEXT_IN_LIST, end)
    if cue.kind in (Kind.NO, Kind.WITH_NO) and next_thing and not reading.is_being(next_thing):
        return Exclusion(cue.end - 1, end + 1, tuple(phrases))  # "with [no hat and] a scarf"
    return Exclusion(_lead_start(reading, cue.start), end, tuple(phrases))


def _lead_start(reading: Reading, start: int) -> int:
    """Walk left over "but", "that is", "there are", "with", "having" and their like."""
    while reading.letter(start - 1) in "xte":
        start -= 1
    if reading.letter(start - 1) == "o" and reading.letter(start - 2) in "^,b&|.w":
        start -= 1
    if reading.letter(start - 1) == "v" and reading.doc[start - 1].lemma_ in _LEADING_VERBS:
        start -= 1
    if reading.letter(start - 1) == "w":
        start -= 2 if reading.letter(start - 2) == "i" else 1  # "in which there are"
    if reading.letter(start) in "NB" and reading.words(start - 1, start) in (("in",), ("on",)):
        start -= 1  # "a man in no hat"
    while start and (
        reading.letter(start - 1) in ",b&|" or reading.lower[start - 1] in _LEADING_WORDS
    ):
        start -= 1
    return start


def _trail_end(reading: Reading, end: int) -> int:
    for length in range(_LONGEST_TRAILER, 0, -1):
        if reading.words(end, end + length) in _TRAILERS:
            return end + length
    stranded = reading.words(end, end + 1) and reading.lower[end] in _STRANDED
    return end + 1 if stranded and not reading.match(NOUN_PHRASE, end + 1) else end


def _things(reading: Reading, cue: CueSpan) -> list[Span]:
    """The things a cue excludes: "a hat, glasses or a beard"."""
    first = reading.thing_at(cue.end)
    if first is None:
        return []
    things = [first]
    pending: list[Span] = []
    while joint := reading.match(_LIST_JOINT, (pending or things)[-1].end):
        following = reading.thing_at(joint.end)
        if following is None:
            break
        pending.append(following)
        last_joint = reading.letter(joint.end - 1)
        if last_joint == ",":
            continue
        if not _joins(reading, cue, first, following, last_joint):
            break
        things += pending
        pending = []
    return things


def _joins(reading: Reading, cue: CueSpan, first: Span, last: Span, joint: str) -> bool:
    """Whether the things behind "and" / "or" are excluded along with the first."""
    if reading.letter(last.end) in "vx":
        return False
    if joint == "|":
        return True
    if cue.kind is Kind.NOT or reading.doc[last.start].tag_ == "CD":
        return False
    if reading.is_being(last) and not reading.is_being(first):
        return False
    if cue.kind is Kind.WITHOUT:
        return True
    # "no" does not reach over "and" to "a lunchbox", nor from one shirt to white shorts.
    determined = reading.letter(last.start) == "d" and reading.doc[last.start].tag_ != "PRP$"
    return not determined and reading.is_singular(first) == reading.is_singular(last)


def _with_modifiers(reading: Reading, cue: CueSpan, things: list[Span]) -> list[Span]:
    """Stretch the last thing over a place or an action behind it, where that belongs to it.

    In "a room with no pictures on the wall" it does; in "a man without a helmet on a bike" the
    bike is still asked for.
    """
    last = things[-1]
    if _trail_end(reading, last.end) > last.end:
        return things
    return [*things[:-1], Span(last.start, _modifiers_end(reading, cue, last))]


def _modifiers_end(reading: Reading, cue: CueSpan, thing: Span) -> int:
    before = reading.phrases_before(cue.start)
    if not before:
        return reading.clause_end(thing.end)
    owner_is_being = reading.is_being(before[-1])
    being = reading.is_being(thing)
    if reading.letter(thing.end) in "gp":
        return reading.clause_end(thing.end) if being and not owner_is_being else thing.end
    place = reading.match(_PLACE, thing.end)
    if place is None:
        return thing.end
    words = reading.doc[place.start : place.end]
    if being and not owner_is_being:
        belongs = not any(token.lower_ in ("a", "an") for token in words)
    else:
        possessive = any(token.tag_ in ("PRP$", "PRP") for token in words)
        belongs = possessive or (
            not owner_is_being and "the" in reading.words(place.start, place.end)
        )
    return place.end if belongs else thing.end
