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

from litotes.language.cues import Kind, substance
from litotes.language.lexicon import (
    HOLDING_VERBS,
    LESS_WORDS,
    MATERIALS,
    POSITIONS,
    SURROUNDINGS,
    UN_WORDS,
    WEATHER_VERBS,
)
from litotes.language.phrasing import (
    CUT,
    caption,
    gerund,
    indefinite_article,
    names_content,
    with_article,
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
_ONE_ADJECTIVE = r"r*[ap](?:h[anpg])*"
#: "Red or orange": the tagger takes some colours for nouns.
_ADJECTIVE_LIST = re.compile(
    rf"{_ONE_ADJECTIVE}(?:,{_ONE_ADJECTIVE})*,?\|(?:{_ONE_ADJECTIVE}|n)(?!n)"
)
_LISTED_NOUN = re.compile(r"(?<=\|)n(?!n)")
#: Between two attributes of one noun: "big [but] not heavy boxes".
_AFTER_ATTRIBUTE = re.compile(r"(?<=a)[,b&]+$")
_ATTRIBUTE = re.compile(rf"{ADJECTIVES},?(?=n)")
_FINITE_VERB = re.compile(r"[xv]")
_PLACE = re.compile(rf"i+(?:{BASE}(?:f{BASE})*|o)")
_DEFINITE_PLACE = re.compile(rf"i({BASE})")
#: What may follow "nobody" and "nothing": "nobody in the street", "nothing red".
_PLACES_AND_ADJECTIVES = re.compile(rf"(?:[ra]|{_PLACE.pattern})*")
_COMPLEMENT = re.compile(rf"(?:[if]{BASE})*")
_LIST_JOINT = re.compile(r",?[&|]|,")
_LIST_JOINT_OR_NOT = re.compile(r",?[&|]?X+(?=d*[an])|,?[&|]|,")
_NEXT_IN_LIST = re.compile(rf"[&b]{BASE}(?!x)")
_NEXT_PREDICATE = re.compile(r"&[xvgp]")
#: Where a finite verb behind a noun shows that the main clause goes on.
_MAIN_VERB = re.compile(r"(?<=n)[vx]")
_MAIN_VERB_OR_ACTION = re.compile(r"(?<=n)[gvx]")
#: What stands before "no" where its noun is the subject.
_SUBJECT_PLACE = re.compile(r"(?:^|[.:,bw])[bw&,]*$")
_CLAUSE_START = re.compile(r"(?:^|[.:,bw&])[^.:,bw&]*$")

_LEADING_WORDS = frozenset(
    {
        "with", "having", "plus", "even", "being", "just", "absolutely", "certainly", "clearly",
        "completely", "definitely", "entirely", "ideally", "literally", "obviously", "please",
        "preferably", "really", "totally", "almost", "nearly", "practically", "virtually",
    }
)  # fmt: skip
#: Says of what is asked for that there is nothing else, which the exclusions say.
_ONLY = re.compile(r"^(?:only|just) ", re.IGNORECASE)
#: Before a clause of its own: "before there was no fence".
_CONJUNCTIONS = frozenset({("after",), ("as",), ("before",), ("if",), ("since",), ("until",)})
_BRACKETS = {"(": ")", "[": "]"}
_CLOSING_QUOTES = frozenset("\"”’'")
_LEADING_VERBS = frozenset({"have", "seem", "appear"})
#: Nouns of places that are in any picture, or in none.
_NOWHERE = POSITIONS | {"camera"}
#: Said behind what is no longer, or not yet so.
_UNTIL_NOW = frozenset({("yet",), ("anymore",), ("any", "more"), ("any", "longer"), ("at", "all")})
_DROPPED_ADVERBS = frozenset({"also", "even", "actually", "really", "currently", "exactly"})
#: What things do that are lacking: "no smoke coming from the chimney".
_VERBS_OF_THINGS = frozenset(
    {
        "block", "blow", "burn", "come", "cover", "drip", "fall", "float", "flow", "glow", "grow",
        "hang", "lead", "pour", "rise", "shine", "show", "stick", "surround",
    }
)  # fmt: skip
_PARTS = frozenset({"top", "front", "back", "side", "bottom", "lid"})
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
        "available", "there", "left", "yet", "anymore", "any more", "any longer",
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
    """Apply each cue's rule; of a cue that no rule can read only its own words are cut."""
    found: list[Exclusion] = []
    for cue in reading.cues:
        if found and cue.start < found[-1].end:
            continue
        exclusion = _RULES[cue.kind](reading, cue)
        if exclusion is None:
            found.append(Exclusion(cue.start, cue.end, ()))
        else:
            found.append(_rounded(reading, exclusion))
    return found


def _rounded(reading: Reading, exclusion: Exclusion) -> Exclusion:
    """Cut a bracket with its partner, and a conjunction that joins nothing any more."""
    end = exclusion.end
    opened = _BRACKETS.keys() & set(reading.words(exclusion.start, end))
    if any(reading.words(end, end + 1) == (_BRACKETS[bracket],) for bracket in opened):
        end += 1
    if reading.letter(end) == "b" and reading.letter(end + 1) in "gi":
        end += 1  # "while riding", "but with a door"
    if reading.letter(end) == "&" and reading.letter(end + 1) == "i":
        end += 1  # "and with a door"
    if reading.letter(end) == reading.letter(exclusion.start) == ",":
        end += reading.letter(end + 1) in "xv"  # "a man, who is not smiling, is sitting"
    return replace(exclusion, end=end)


def affirmed(reading: Reading, found: Iterable[Exclusion]) -> str:
    """The caption without the excluded words; ``""`` where nothing is left."""
    gone = {place for exclusion in found for place in range(exclusion.start, exclusion.end)}
    kept = (f" {CUT} " if token.i in gone else token.text_with_ws for token in reading.doc)
    text = _ONLY.sub("", caption("".join(kept)))
    return text if names_content(text) else _presupposed(reading, found)


def _presupposed(reading: Reading, found: Iterable[Exclusion]) -> str:
    """The place taken for granted: "no one is swimming in the pool" still asks for the pool."""
    for exclusion in found:
        for match in _DEFINITE_PLACE.finditer(reading.letters, exclusion.start, exclusion.end):
            place = Span(*match.span(1))
            if reading.lower[place.start] == "the" and reading.head(place).lower_ not in _NOWHERE:
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
    return _exclude(reading, cue, things[-1].end, _thing_texts(reading, things))


def _thing_texts(reading: Reading, things: list[Span]) -> list[str]:
    """Each thing with an article; in "red or blue cars", both are cars."""
    last = things[-1]
    adjectives = reading.match(_ADJECTIVES, last.start)
    if adjectives is None or reading.match(NOUN_PHRASE, last.start) is None:
        return [thing_text(reading, thing) for thing in things]
    nouns = text_of(reading, Span(adjectives.end, last.end))
    article = reading.is_singular(last)
    texts = []
    for thing in things[:-1]:
        text = thing_text(reading, thing)
        if _is_bare_attribute(reading, thing):
            text = f"{text} {nouns}"
            text = with_article(text) if article else text
        texts.append(text)
    return [*texts, thing_text(reading, last)]


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
        if _lacks_object(reading, cue, start, end):
            rest = f"{rest} {text_of(reading, reading.phrases_before(cue.start)[-1])}"
    else:
        follows = reading.match(_PLACES_AND_ADJECTIVES, start)
        end = follows.end if follows else start
        rest = text_of(reading, Span(start, end), resolve=cue.start)
    if cue.kind is Kind.NOBODY and reading.words(start, end) in _TRAILERS:
        rest = ""
    if cue.kind is Kind.NOBODY and reading.words(start, start + 1) == ("else",):
        anything, rest = "another person", rest.removeprefix("else")
    return _exclude(reading, cue, end, [f"{anything} {rest.strip()}".strip()])


def _lacks_object(reading: Reading, cue: CueSpan, start: int, end: int) -> bool:
    """As in "a chair nobody sits on", "a chair that nobody is using"."""
    relative = reading.words(cue.start - 1, cue.start) in (("that",), ("which",))
    bare = reading.letters[start:end].lstrip("x") in ("g", "v", "p")
    behind_noun = reading.letter(cue.start - 1 - relative) == "n"
    return behind_noun and (reading.letter(end - 1) == "i" or (relative and bare))


def _read_none(reading: Reading, cue: CueSpan) -> Exclusion | None:
    """As in "none of the people are wearing hats", "people, none wearing a hat"."""
    of = reading.letter(cue.end) == "f"
    members = reading.thing_at(cue.end + 1) if of else None
    start = members.end if members else cue.end + 2 * of
    if members is None or reading.letter(members.start) == "o":  # "none of whom", "none of them"
        of_people = nearest_text(reading, cue.start, people=True)
        named = of_people or nearest_text(reading, cue.start, people=False) or ""
    else:
        named = text_of(reading, members).removeprefix("the ")
    end = reading.clause_end(start)
    if not named or end <= start:
        return None
    phrase = f"{named} {predicate_text(reading, start, end)}".strip()
    return _exclude(reading, cue, end, [phrase])


# --- "not" ------------------------------------------------------------------------------------


def _read_not(reading: Reading, cue: CueSpan) -> Exclusion | None:
    place = cue.end
    while reading.words(place, place + 1) and reading.lower[place] in _DROPPED_ADVERBS:
        place += 1
    if reading.letter(place) == "f":
        if reading.letter(place + 1) in "ow":  # "neither of them"
            return _read_none(reading, cue)
        place += 1  # "not of a dog"
    if reading.words(place, place + 1) in (("been",), ("be",)) and reading.letter(place + 1) == "p":
        place += 1  # "has not been washed", "can not be opened"
    cue = replace(cue, end=place)
    if reading.letter(cue.start - 1) == "d":
        return _read_attribute_with_not(reading, cue) or _read_predicate(reading, cue)
    if reading.letter(place + (reading.words(place, place + 1) == ("either",))) in ".$":
        return _read_ellipsis(reading, cue)
    return _read_second_attribute(reading, cue) or (
        _read_not_things(reading, cue)
        if reading.letter(place) in "do" or reading.match(NOUN_PHRASE, place)
        else _read_predicate(reading, cue)
    )


def _read_not_things(reading: Reading, cue: CueSpan) -> Exclusion | None:
    things = _things(reading, cue)
    if not things or (reading.letter(cue.start - 1) == "x" and _description(reading, cue.end)):
        return _read_predicate(reading, cue)
    if reading.letter(cue.start - 1) == "g":  # "wearing neither shoes nor socks"
        return _read_negated_object(reading, cue, things)
    subject_place = _SUBJECT_PLACE.search(reading.letters[: cue.start])
    if subject_place and reading.letter(things[-1].end) in "xv":  # "neither dog is running"
        return _read_negated_subject(reading, cue, things)
    return _read_things(reading, cue)


def _read_ellipsis(reading: Reading, cue: CueSpan) -> Exclusion | None:
    """As in "a dog is running but a cat is not": what is said before is excluded of the cat."""
    verb = cue.start
    while reading.letter(verb - 1) == "x":
        verb -= 1
    before = reading.phrases_before(verb)
    if verb == cue.start or not before or before[-1].end != verb:
        return None
    subject = before[-1]
    start = _lead_start(reading, subject.start)
    said = _FINITE_VERB.search(reading.letters, 0, start)
    phrase = thing_text(reading, subject)
    if said and _description(reading, said.end()):
        predicate = text_of(reading, Span(said.end(), start))
        phrase = described(reading, subject, predicate)
    elif said:
        phrase = f"{phrase} {predicate_text(reading, said.start(), start)}"
    end = cue.end + (reading.words(cue.end, cue.end + 1) == ("either",))
    return Exclusion(start, end, (phrase,))


def _read_second_attribute(reading: Reading, cue: CueSpan) -> Exclusion | None:
    """As in "big but not heavy boxes", "a red, not green, apple"."""
    joint = _AFTER_ATTRIBUTE.search(reading.letters[: cue.start])
    attribute = reading.match(_ATTRIBUTE, cue.end)
    if joint is None or attribute is None:
        return None
    adjectives = reading.match(_ADJECTIVES, cue.end) or attribute
    nouns = reading.match(NOUN_PHRASE, attribute.end) or attribute
    phrase = " ".join(text_of(reading, span) for span in (adjectives, nouns))
    if reading.is_singular(nouns):
        phrase = with_article(phrase)
    return Exclusion(joint.start(), attribute.end, (phrase,))


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
    if place >= len(reading.letters):
        return None
    end = _predicate_end(reading, place)
    if end <= place:
        return None
    start = _lead_start(reading, cue.start)
    pronoun = next(
        (token for token in reading.doc[start : cue.start] if token.tag_ in ("PRP", "WP", "WDT")),
        None,
    )
    said = _said_parts(reading, place, end)
    phrases = tuple(_predicate_phrase(reading, cue, part, pronoun) for part in said)
    described_so = reading.match(_ADJECTIVE_PREDICATE, place)
    if described_so and reading.letter(end) == "b" and start < cue.start:
        return Exclusion(cue.start, end + 1, phrases)  # "that is [not red but] blue"
    joined = reading.letter(end) == "&" and reading.letter(end + 1) in "xv"
    if joined and reading.letter(start) in "xw":
        # "A woman who [is not sitting and] is reading"
        return Exclusion(start + (reading.letter(start) == "w"), end + 1, phrases)
    own = _own_subject_start(reading, cue)
    return Exclusion(start if own is None else own, _trail_end(reading, end), phrases)


def _said_parts(reading: Reading, place: int, end: int) -> list[Span]:
    """What is denied: each adjective of "red or orange", and no "yet" at the end."""
    if reading.match(_ADJECTIVE_LIST, place) == Span(place, end):
        ends = [i for i in range(place, end) if reading.letter(i) in ",|"]
        starts = [place, *(i + 1 for i in ends)]
        pairs = zip(starts, [*ends, end], strict=True)
        return [Span(*pair) for pair in pairs if pair[0] < pair[1]]
    for length in (1, 2):
        if end - length > place and reading.words(end - length, end) in _UNTIL_NOW:
            return [Span(place, end - length)]
    return [Span(place, end)]


def _predicate_phrase(reading: Reading, cue: CueSpan, said: Span, pronoun: Token | None) -> str:
    letter = reading.letter(said.start)
    subject = subject_of(reading, cue.end, for_being=letter in "gvx", pronoun=pronoun)
    if subject is None and reading.doc[said.start].lemma_ in WEATHER_VERBS:
        return str(reading.doc[said.start].lemma_)
    if subject and _description(reading, said.start) == said:
        return described(reading, subject, text_of(reading, said))
    owner = text_of(reading, subject) if subject else ""
    if letter in "gpvx":
        predicate = predicate_text(reading, said.start, said.end, subject)
    else:
        predicate = text_of(reading, said, resolve=cue.start, owner=subject)
    return f"{owner} {predicate}".strip()


def _description(reading: Reading, place: int) -> Span | None:
    """An adjective, or what something is made of: "red", "leather"."""
    if reading.letter(place) == "n" and reading.lower[place] in MATERIALS:
        return None if reading.letter(place + 1) == "n" else Span(place, place + 1)
    return reading.match(_ADJECTIVE_PREDICATE, place) or reading.match(_LISTED_NOUN, place)


def _predicate_end(reading: Reading, place: int) -> int:
    limit = reading.clause_end(place)
    letter = reading.letter(place)
    if several := reading.match(_ADJECTIVE_LIST, place):
        return several.end
    if letter == "n" and (material := _description(reading, place)):
        return material.end
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


def _own_subject_start(reading: Reading, cue: CueSpan) -> int | None:
    """Where a subject starts that goes with its predicate.

    It is named before ("…, but the woman is not smiling"), or belongs to what is ("a man whose
    hair is not grey", "a cat, eyes not blue").
    """
    place = cue.start
    while reading.letter(place - 1) in "xt":
        place -= 1
    subject = next((span for span in reading.noun_phrases if span.end == place), None)
    if subject is None:
        return None
    if reading.lower[subject.start] == "whose":
        return subject.start
    if reading.letter(subject.start - 1) == "w":  # "a street where cars are not allowed"
        return _lead_start(reading, subject.start)
    added = reading.letter(subject.start - 1) == "," and reading.letter(subject.start) != "d"
    if place == cue.start:
        return subject.start if added else None
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
    withs = [place for place in range(start, end) if reading.lower[place] in ("with", "whose")]
    return withs[-1] + 1 if withs else start


# --- cues inside a word -----------------------------------------------------------------------


def _read_less(reading: Reading, cue: CueSpan) -> Exclusion:
    bare = cue.word.removesuffix("less").rstrip("-")
    noun = LESS_WORDS.get(f"{bare}less") or with_article(bare)
    return _exclude_attribute(reading, cue, noun)


def _read_free(reading: Reading, cue: CueSpan) -> Exclusion:
    return _exclude_attribute(reading, cue, substance(cue.word.removesuffix("-free")))


def _read_un(reading: Reading, cue: CueSpan) -> Exclusion:
    adjective = UN_WORDS[cue.word]
    touching = (s for s in reading.noun_phrases if s.start <= cue.start <= s.end)
    owner = next(touching, None) or subject_of(reading, cue.start, for_being=False)
    if owner is None:
        return _exclude_attribute(reading, cue, f"something {adjective}")
    nouns = re.sub(r"^(?:an?|the|some) ", "", text_of(reading, owner))
    if owner.start <= cue.start < owner.end:
        nouns = text_of(reading, Span(cue.end, owner.end))
    bare = reading.letter(owner.start) != "d" or not reading.is_singular(owner)
    article = "" if bare else f"{indefinite_article(adjective)} "
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
        # "In which there are", "one of whom is"
        start -= {"i": 2, "f": 3}.get(reading.letter(start - 2), 1)
    if reading.letter(start) in "NB" and reading.words(start - 1, start) in (("in",), ("on",)):
        start -= 1  # "a man in no hat"
    if reading.words(start - 1, start) == ("whose",):
        start -= 1
    if reading.letter(start) in "ex" and reading.words(start - 1, start) in _CONJUNCTIONS:
        start -= 1
    while start and _leads(reading, start - 1):
        start -= 1
    if reading.words(start - 1, start) in (("anything",), ("everything",)):
        start -= reading.letter(start - 2) == ","  # "shoes, anything but boots"
    return start


def _leads(reading: Reading, place: int) -> bool:
    """Whether a word only leads to the cue behind it."""
    word = reading.lower[place]
    joins = reading.letter(place) in ",b&|" and word not in _CLOSING_QUOTES
    return joins or word in _LEADING_WORDS


def _trail_end(reading: Reading, end: int) -> int:
    for length in range(_LONGEST_TRAILER, 0, -1):
        if reading.words(end, end + length) in _TRAILERS:
            place = reading.match(_PLACE, end + length)
            of_owner = place and reading.doc[place.start + 1].tag_ in ("PRP", "PRP$")
            return place.end if place and of_owner else end + length  # "left on its branches"
    stranded = reading.words(end, end + 1) and reading.lower[end] in _STRANDED
    return end + 1 if stranded and not reading.match(NOUN_PHRASE, end + 1) else end


def _things(reading: Reading, cue: CueSpan) -> list[Span]:
    """The things a cue excludes: "a hat, glasses or a beard"."""
    first = reading.thing_at(cue.end + 2 * (reading.words(cue.end, cue.end + 2) == ("any", "of")))
    if first is None:
        return []
    things = [first]
    pending: list[Span] = []
    joints = _LIST_JOINT_OR_NOT if cue.kind is Kind.NOT else _LIST_JOINT
    while joint := reading.match(joints, (pending or things)[-1].end):
        following = reading.thing_at(joint.end)
        if following is None:
            break
        pending.append(following)
        last_joint = reading.letter(joint.end - 1)
        if last_joint == ",":
            continue
        if not _joins(reading, cue, first, following, last_joint):
            break
        if last_joint == "&" and any(_is_bare_attribute(reading, thing) for thing in pending):
            break  # "without a hat, black and white"
        things += pending
        pending = []
    return things


def _is_bare_attribute(reading: Reading, thing: Span) -> bool:
    return reading.match(_ADJECTIVES, thing.start) == thing


def _joins(reading: Reading, cue: CueSpan, first: Span, last: Span, joint: str) -> bool:
    """Whether the things behind "and" / "or" are excluded along with the first."""
    if joint == "X":
        return True
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
        by_itself = reading.doc[thing.end].lemma_.lower() in _VERBS_OF_THINGS
        to_owner = reading.words(thing.end + 1, thing.end + 2) in (("it",), ("them",))
        belongs = to_owner or ((being or by_itself) and not owner_is_being)
        return reading.clause_end(thing.end) if belongs else thing.end
    place = reading.match(_PLACE, thing.end)
    if place is None:
        return thing.end
    words = reading.doc[place.start : place.end]
    if len(words) == 2 and words[1].lower_ in _PARTS:
        return place.end  # "without candles on top"
    if words[-1].lower_ in SURROUNDINGS:
        return thing.end
    if being and not owner_is_being:
        belongs = not any(token.lower_ in ("a", "an") for token in words)
    else:
        possessive = any(token.tag_ in ("PRP$", "PRP") for token in words)
        belongs = possessive or (
            not owner_is_being and "the" in reading.words(place.start, place.end)
        )
    return place.end if belongs else thing.end
