"""Captions in which a thing, an attribute or a relation is replaced."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from litotes.evaluation.pairs.edits import Edits, Relation
from litotes.evaluation.pairs.evidence import (
    Evidence,
    alike,
    compounds,
    noun_name,
    place_of,
    preposition,
)
from litotes.evaluation.pairs.photograph import (
    OF_A_SEX,
    PEOPLE,
    SEX,
    VAGUE,
    Change,
    Photograph,
    count,
    has_any,
    looks_of,
)
from litotes.language.edits import Edit, edited
from litotes.language.lexicon import POSITIONS, listed
from litotes.language.phrasing import gerund

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token


#: Words that name too much, or nothing that one could tell from the photograph.
_TOO_WIDE = VAGUE | listed(
    "animal vehicle food fruit treat thing room view place toy insect star beak hand head"
)


def replaced_things(photograph: Photograph, edits: Edits) -> Iterator[Change]:
    """Of "a dog runs" make "a cat runs"."""
    for doc, things in photograph.things:
        for chunk in things:
            name = noun_name(chunk.root)
            if count(doc, chunk.root.lemma_.lower()) == 1:
                for other in edits.nouns.get(name, ()):
                    if _is_false(photograph, doc, name, other):
                        yield from _replaced(photograph.evidence, doc, chunk, other)


def _is_false(photograph: Photograph, doc: Doc, name: str, other: str) -> bool:
    if other in _TOO_WIDE or name in VAGUE | _TOO_WIDE or (name in PEOPLE) != (other in PEOPLE):
        return False
    if other not in PEOPLE:
        return photograph.surely_lacks(other)
    if has_any(doc, _YOUNG) and not photograph.contradicts_sex(other):
        return False
    sexes = SEX.get(name) != SEX.get(other)
    return photograph.contradicts_person(other) and not (sexes and has_any(doc, OF_A_SEX))


def _replaced(evidence: Evidence, doc: Doc, chunk: Span, other: str) -> Iterator[Change]:
    noun = chunk.root
    if any(t.lower_ == "of" for t in noun.rights):
        return
    kind, head = place_of(noun)
    form = evidence.inflected(other, noun.tag_)
    fits = evidence.seen[kind, head, other] and all(
        evidence.seen["look", other.split()[-1], look.lower_]
        for look in looks_of(noun)
        if look not in compounds(noun)
    )
    if form is None or not fits or not _keeps_article(evidence, noun, other):
        return
    start = noun.i - len(compounds(noun))
    yield Change(doc.text, edited(doc, Edit(start, noun.i + 1, form)), noun_name(noun), other)


def _keeps_article(evidence: Evidence, noun: Token, other: str) -> bool:
    """Whether another noun may stand behind the article of this one, or behind none."""
    if noun.tag_ != "NN":
        return True
    before = {t.lower_ for t in noun.lefts}
    if before & {"a", "an"}:
        return evidence.takes_article(other)
    if any(t.dep_ in ("det", "poss") for t in noun.lefts):
        return True
    return evidence.goes_bare(other)


#: Beside these a girl may be a young woman.
_YOUNG = listed("young younger teenage little")

# --- attributes -------------------------------------------------------------------------------

#: Of words of a line no two are true of one thing.
_EXCLUSIVE = [
    listed(line)
    for line in (
        "black blue brown gray green grey orange pink purple red white yellow tan beige silver "
        "gold golden blond blonde brunette",
        "big giant gigantic huge large little small tiny larger smaller",
        "elderly old older young younger",
        "brick cement concrete glass iron metal plastic steel stone wooden porcelain paper leather",
        "long short",
        "tall short",
        "open closed",
        "wet dry",
        "full empty crowded",
        "deep shallow",
        "thick thin",
        "indoor outdoor",
        "left right",
        "front back rear",
        "dark light bright",
        "real stuffed toy",
        "sunny cloudy rainy",
        "first last",
        "steep gentle flat",
        "high low",
        "dirty clean",
    )
]
_NUMBERS = listed("two three four five six seven eight nine ten 2 3 4 5 6 7 8")
_MANY = listed("one another group several many couple pair trio few crowd some both others other")
#: Of people these tell their origin; others say nothing of looks.
_NOT_SAID_OF_PEOPLE = listed("black white brown")
_SHADES = listed("light dark bright very pale deep neon")


def replaced_looks(photograph: Photograph, edits: Edits) -> Iterator[Change]:
    """Of "a red ball" make "a blue ball"."""
    for doc, things in photograph.things:
        for chunk in things:
            for look in looks_of(chunk.root):
                for other in edits.looks.get(look.lower_, ()):
                    if _is_plain(look) and _is_false_look(photograph, look, other):
                        said = edited(doc, Edit(look.i, look.i + 1, other))
                        yield Change(doc.text, said, look.lower_, other)


def _is_plain(look: Token) -> bool:
    """Whether an attribute is neither shaded nor part of a word with a hyphen."""
    before = look.nbor(-1) if look.i else None
    after = look.nbor(1)
    return (
        after.text not in ("-", ",")
        and (before is None or (before.text != "-" and before.lower_ not in _SHADES))
        and not any(t.dep_ == "advmod" for t in look.lefts)
        and count(look.doc, look.lemma_.lower()) == 1
    )


def _is_false_look(photograph: Photograph, look: Token, other: str) -> bool:
    noun = look.head.lemma_.lower()
    if not photograph.evidence.may_look(noun, other):
        return False
    if noun in (PEOPLE | VAGUE) and {look.lower_, other} & _NOT_SAID_OF_PEOPLE:
        return False
    if {look.lower_, other} & _NUMBERS:
        return _is_other_number(photograph, look, other)
    exclusive = any({look.lower_, other} <= group for group in _EXCLUSIVE)
    if exclusive and other not in alike(look.lower_):
        return not photograph.hints_at(other)
    return False


def _is_other_number(photograph: Photograph, look: Token, other: str) -> bool:
    """Whether the captions agree on a number and say no other."""
    if other not in _NUMBERS or photograph.words & ((_NUMBERS - {look.lower_}) | _MANY):
        return False
    return sum(look.lower_ in {t.lower_ for t in doc} for doc in photograph.docs) >= 3


# --- relations --------------------------------------------------------------------------------

#: What something is by which it also is in or on.
_NEVER_FALSE = listed(
    "between among with near by around at along close past alongside through of from to"
)
#: Nouns that make a phrase of their own with a preposition.
_NO_PLACES = listed(
    "air row line circle camera race game group way time fun play action body motion midair "
    "practice"
)
#: What is said of many a place.
_LOOSE = listed("at by near around with for from along past of close")
#: Prepositions for one and the same place.
_SAME = [
    listed("in inside into within on"),
    listed("beside next under underneath beneath below"),
    listed("on onto over across atop"),
    listed("in on at through along across around down up"),
    listed("beside by near next alongside along around"),
    listed("under below beneath underneath"),
    listed("above over"),
    listed("outside by near beside off out away in"),
    listed("behind front near by beside next against"),
    listed("near on in"),
    listed("with next beside on in"),
    listed("toward towards to"),
]
#: Of prepositions of more words, the one that tells.
_TELLING = {"in front of": "front", "next to": "next", "on top of": "on", "out of": "out"}
_TELLING |= {"far from": "far", "away from": "away", "close to": "close"}
_RELATING_TAGS = ("IN", "TO", "RP")


def replaced_relations(photograph: Photograph, edits: Edits) -> Iterator[Change]:
    """Of "a dog sits on a bench" make "a dog sits under a bench" or "a dog stands on a bench"."""
    for doc in photograph.usable:
        for token in doc:
            for before in _relations_at(token, edits):
                for after in edits.relations[before]:
                    yield from _related(photograph, doc, token, before, after)


def _relations_at(token: Token, edits: Edits) -> Iterator[Relation]:
    """What may be replaced that begins with a word; of prepositions only whole ones."""
    is_verb = token.pos_ == "VERB" and token.tag_ in ("VBG", "VBZ", "VBP")
    verb = token.lemma_.lower() if is_verb else ""
    if not verb and token.dep_ not in ("prep", "advmod"):
        return
    rests = [""] if verb else []
    start = token.i + 1 if verb else token.i
    rests += [token.doc[start : start + n].text.lower() for n in (1, 2, 3)]
    for rest in dict.fromkeys(rests):
        relation = Relation(verb, rest)
        if relation in edits.relations and _is_whole(token, start, rest):
            yield relation


def _is_whole(token: Token, start: int, rest: str) -> bool:
    """Whether no particle or preposition goes on before or behind."""
    doc, end = token.doc, start + len(rest.split())
    if end < len(doc) and doc[end].tag_ in _RELATING_TAGS and (rest or doc[end].dep_ == "prt"):
        return False
    if end < len(doc) and doc[end].lower_ in ("top", "front", "next", "each"):
        return False
    return start != token.i or start == 0 or doc[start - 1].tag_ not in _RELATING_TAGS


def _related(
    photograph: Photograph, doc: Doc, token: Token, before: Relation, after: Relation
) -> Iterator[Change]:
    if bool(before.verb) != bool(after.verb):
        return
    length = len(before.rest.split())
    end = token.i + length + (1 if before.verb else 0)
    place = _place(doc, end - 1) if before.rest else None
    if "with" in (before.rest, after.rest):
        return
    if before.verb == after.verb:
        fits = place is not None and _is_false_place(photograph, before.rest, after.rest, place)
    else:
        fits = _is_false_action(photograph, token, before, after, place)
    said = _say(photograph.evidence, token, after) if fits else None
    if said is not None:
        yield Change(
            doc.text,
            edited(doc, Edit(token.i, end, said)),
            " ".join(before).strip(),
            " ".join(after).strip(),
        )


def _place(doc: Doc, last: int) -> Token | None:
    """The noun behind a preposition."""
    noun = next((t for t in doc[last].children if t.dep_ == "pobj"), None)
    if noun is None or noun.tag_ not in ("NN", "NNS") or noun.lower_ in POSITIONS:
        return None
    return noun if count(doc, noun.lemma_.lower()) == 1 else None


def _say(evidence: Evidence, token: Token, after: Relation) -> str | None:
    if not after.verb:
        return after.rest
    form = evidence.forms.get((after.verb, token.tag_))
    if token.tag_ == "VBG":
        form = form or gerund(after.verb)
    return None if form is None else f"{form} {after.rest}".strip()


def _is_false_place(photograph: Photograph, before: str, after: str, place: Token) -> bool:
    old, new = _TELLING.get(before, before), _TELLING.get(after, after)
    if place.lemma_.lower() in _NO_PLACES or "off" in (old, new):
        return False
    if old in _LOOSE and new not in ("far", "away"):
        return False
    if " " in new or new in _NEVER_FALSE or any({old, new} <= group for group in _SAME):
        return False
    noun = place.lemma_.lower()
    if photograph.evidence.seen["pobj", after, noun] < 2:
        return False
    if new not in ("in", "on") and photograph.hints_at(new):
        return False
    like = next((group for group in _SAME if new in group), frozenset()) | {new}
    return not any(
        t.dep_ == "pobj"
        and t.lemma_.lower() in alike(noun)
        and _TELLING.get(preposition(t.head), preposition(t.head)) in like
        for doc in photograph.docs
        for t in doc
    )


#: Of a line, nobody does two at once.
_ACTIONS = [
    listed(line)
    for line in (
        "sit stand lie lay walk run jump leap swim sleep nap kneel crawl climb fly squat rest ski",
        "hold throw drop kick toss bury bounce",
        "ride push walk carry pull park drag repair fix wash",
        "hold wear wash fold",
        "smile cry frown scowl laugh yell",
        "chase lead ignore",
        "play sleep fight eat",
        "eat cook throw feed sell",
        "stand sit dance lie lay sleep",
        "surf swim ski row kayak snowboard skateboard skate bike",
        "look sleep",
        "watch sleep ignore",
        "climb descend slide",
        "open close",
        "push pull",
        "drink pour spill",
        "enter leave exit",
        "read write sleep",
        "sing dance sleep",
        "catch throw drop hit miss",
        "jump fall sit stand",
    )
]


def _is_false_action(
    photograph: Photograph, token: Token, before: Relation, after: Relation, place: Token | None
) -> bool:
    evidence, verb = photograph.evidence, after.verb
    if any(t.dep_ in ("auxpass", "prt", "agent") for t in token.children) and not before.rest:
        return False
    if count(token.doc, before.verb) != 1:
        return False
    exclusive = any({verb, before.verb} <= group for group in _ACTIONS)
    if not exclusive or photograph.hints_at(verb) or verb in alike(before.verb):
        return False
    subject = _subject(token)
    if subject is None or not evidence.seen["nsubj", verb, subject]:
        return False
    return _takes(evidence, token, before, after, place)


def _subject(verb: Token) -> str | None:
    """The lemma of who acts."""
    if verb.dep_ in ("acl", "relcl"):
        return str(verb.head.lemma_.lower())
    noun = next((t for t in verb.lefts if t.dep_ == "nsubj"), None)
    if noun is None and verb.dep_ in ("conj", "advcl", "ccomp", "xcomp"):
        return _subject(verb.head) if verb.head.pos_ in ("VERB", "AUX") else None
    return None if noun is None else str(noun.lemma_.lower())


def _takes(
    evidence: Evidence, token: Token, before: Relation, after: Relation, place: Token | None
) -> bool:
    """Whether the new verb takes what stands behind the old one."""
    verb = after.verb
    behind = {t.dep_: t for t in reversed(list(token.rights))}
    if behind.keys() & {"acomp", "advmod", "oprd", "ccomp", "xcomp", "dative"} and not before.rest:
        return False
    thing = behind.get("dobj")
    if place is not None and after.rest and not _is_particle(after.rest):
        name = place.lemma_.lower()
        known = evidence.seen["pobj", f"{verb} {after.rest}", name] > 0
        return thing is None and known and name not in _NO_PLACES
    if (before.rest and not _is_particle(before.rest)) or (thing is not None and after.rest):
        return False
    if not (after.rest == "" or _is_particle(after.rest)):
        return False
    if thing is not None:
        return evidence.seen["dobj", verb, thing.lemma_.lower()] > 0
    alone = evidence.seen["no object", verb, ""] > evidence.seen["object", verb, ""]
    places = [t for t in token.subtree if t.dep_ == "pobj" and t.head.head == token]
    if any(t.lemma_.lower() in _NO_PLACES for t in places):
        return False
    return alone and all(
        evidence.seen["pobj", f"{verb} {preposition(t.head)}", t.lemma_.lower()] for t in places[:1]
    )


def _is_particle(rest: str) -> bool:
    return rest in ("down", "up", "around", "over", "away", "off", "out")
