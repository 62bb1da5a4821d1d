"""Captions to which a thing or an attribute is added that the photograph lacks."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from litotes.evaluation.pairs.edits import Edits, Thing
from litotes.evaluation.pairs.evidence import Evidence, place_of
from litotes.evaluation.pairs.photograph import (
    PEOPLE,
    VAGUE,
    Change,
    Photograph,
    has_any,
    looks_of,
)
from litotes.language.edits import Edit, edited
from litotes.language.lexicon import BEINGS, MASS_NOUNS, POSITIONS, listed
from litotes.language.phrasing import with_article

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token


#: What one can tell from a photograph, and would say of it.
_TELLING = listed(
    """
    spotted striped glowing bald blindfolded masked plaid polka dotted dot floral
    printed flowery double decker graffiti covered graffitied broken frozen snowy muddy
    marble wicker rainbow colored neon green elderly twirling illuminated
    flashing glittery transparent heart dinosaur shaped flower filled flowering burnt
    foggy rusty rusted sequined cowboy hat wearing speckled dappled
    """
)
_PARTS = listed(
    "crowd pair top side front back kind arm leg hand group part piece bunch line row lot number"
)
_NO_LOOKS = listed("much many few several other more very dark light bright same own whole")
_HAIR = listed("hair haired blond blonde brunette curly ponytail braids mohawk")
#: Attributes go unsaid more often than things.
MAX_UNSAID_LOOK = 0.02
_COLOURS = listed(
    "black blue brown gray green grey orange pink purple red white yellow tan beige silver gold "
    "golden blond blonde"
)
_NO_PLACES = (
    POSITIONS
    | _COLOURS
    | listed(
        """
        something someone anything nose paw foot feet mouth hand hands head face hair arm arms leg
        legs air trick jump
        """
    )
)
#: What nobody has with them, and what often goes unsaid.
_FARAWAY = listed(
    "rainbow cheerleader jump pier park mountain beach plant bag backpack purse bottle tree orange "
    "helmet sock shoe rock sunglass glass glove branch bush sand stick leaf flower"
)
#: Where one may say what is near.
_PLACING = listed("in on at along through across down up over into onto")
_SEVERAL = listed("group crowd people team family children men women boys girls others friends")


def added_looks(photograph: Photograph, edits: Edits) -> Iterator[Change]:
    """Of "a dog" make "a spotted dog"."""
    for doc, things in photograph.things:
        for chunk in things:
            for look, nouns in edits.added_looks.items():
                if _lacks_look(photograph, chunk.root, look, nouns):
                    at = _before_looks(chunk)
                    if at is not None:
                        yield Change(doc.text, edited(doc, Edit(at, at, look)), "", look)


def _lacks_look(photograph: Photograph, noun: Token, look: str, nouns: Sequence[str]) -> bool:
    name = noun.lemma_.lower()
    if name in _PARTS or (look == "bald" and has_any(noun.doc, _HAIR)):
        return False
    if look in _COLOURS:
        return _is_other_colour(photograph, noun, look)
    if not _TELLING.issuperset(look.split()):
        return False
    fits = name in nouns or photograph.evidence.may_look(name, look)
    return fits and photograph.surely_lacks(look, [name], MAX_UNSAID_LOOK)


def _is_other_colour(photograph: Photograph, noun: Token, look: str) -> bool:
    """Whether this caption is silent on the colour, and others tell of another one."""
    name = noun.lemma_.lower()
    uses = [[t for t in doc if t.lemma_.lower() == name] for doc in photograph.docs]
    one_sort = all(len(nouns) <= 1 and all(t.tag_ == noun.tag_ for t in nouns) for nouns in uses)
    told = any(c.lower_ in _COLOURS for nouns in uses for t in nouns for c in looks_of(t))
    silent = not any(t.lower_ in _COLOURS for t in noun.subtree)
    return (
        told
        and one_sort
        and silent
        and name not in PEOPLE
        and not photograph.hints_at(look)
        and photograph.evidence.may_look(name, look)
    )


def _before_looks(chunk: Span) -> int | None:
    """Behind the article and the number, if all else is plain attributes."""
    looks = [t.i for t in looks_of(chunk.root) if t.dep_ != "nummod"]
    at = min([*looks, chunk.root.i])
    plain = all(
        t.i in looks and t.is_alpha and not list(t.lefts) and t.lower_ not in _NO_LOOKS
        for t in chunk.doc[at : chunk.root.i]
    )
    hyphen = at > 0 and chunk.doc[at - 1].text == "-"
    return at if plain and not hyphen else None


# --- things -----------------------------------------------------------------------------------


def added_things(photograph: Photograph, edits: Edits) -> Iterator[Change]:
    """Of "a man with a ball" make "a man with a ball and an umbrella"."""
    places = list(_places(photograph))
    for link, added in edits.things.items():
        for thing in added:
            phrase = _phrase(photograph.evidence, thing)
            if phrase is not None and _lacks(photograph, thing):
                for doc, noun in places:
                    if _suits(photograph.evidence, link, thing, noun):
                        edit = Edit(noun.i, noun.i + 1, f"{noun.text} {link} {phrase}")
                        yield Change(doc.text, edited(doc, edit), "", thing.name)


def _lacks(photograph: Photograph, thing: Thing) -> bool:
    if thing.name in VAGUE or thing.name.split()[-1] in _FARAWAY:
        return False
    if thing.name in PEOPLE:
        return photograph.contradicts_person(thing.name) and not photograph.words & _SEVERAL
    return photograph.surely_lacks(thing.name)


def _phrase(evidence: Evidence, thing: Thing) -> str | None:
    form = evidence.inflected(thing.name, "NNS" if thing.plural else "NN")
    if form is None or thing.plural:
        return form
    if evidence.goes_bare(thing.name):
        return form if thing.name in MASS_NOUNS else None
    return with_article(form)


def _places(photograph: Photograph) -> Iterator[tuple[Doc, Token]]:
    """The nouns behind which something may be added."""
    for doc, things in photograph.things:
        for noun in (chunk.root for chunk in things):
            if _takes_more(noun):
                yield doc, noun


def _takes_more(noun: Token) -> bool:
    """Whether something may be added behind a noun that would not be read otherwise."""
    goes_on = any(t.lower_ == "of" or t.dep_ == "relcl" for t in noun.rights)
    no_place = {noun.lower_, noun.lemma_.lower()} & _NO_PLACES
    return not (goes_on or no_place or list(noun.conjuncts) or noun.dep_ == "appos")


def _is_last(noun: Token) -> bool:
    doc = noun.doc
    return bool(noun.i == len(doc) - (2 if doc[-1].is_punct else 1))


def _has_finite_verb(noun: Token) -> bool:
    """Whether its verb tells its number."""
    if noun.dep_ not in ("nsubj", "nsubjpass"):
        return False
    verbs = [noun.head, *(t for t in noun.head.lefts if t.dep_ in ("aux", "auxpass"))]
    return noun.tag_ == "NN" and any(t.tag_ in ("VBZ", "VBP") for t in verbs)


def _may_have_verb(evidence: Evidence, noun: Token) -> bool:
    """Whether what is read as a plural may be the verb of a noun: "a boy in red kicks a ball"."""
    return any(
        t.tag_ in ("NNS", "VBZ", "VBP") and t.lower_ in evidence.finite
        for t in noun.doc[noun.i + 1 :]
    )


def _suits(evidence: Evidence, link: str, thing: Thing, noun: Token) -> bool:
    """Whether the thing is known in such a place, and beside such a thing."""
    lemma, last = noun.lemma_.lower(), thing.name.split()[-1]
    if not evidence.go_together(last, lemma):
        return False
    if link in ("near", "next to"):
        placed = noun.dep_ == "pobj" and noun.head.lower_ in _PLACING
        return placed and _is_last(noun) and evidence.seen["pobj", link, thing.name] > 0
    misread = noun.lower_ in evidence.finite and any(c.dep_ == "compound" for c in noun.lefts)
    if misread or _has_finite_verb(noun):
        return False
    if link == "with":
        return evidence.seen["pobj", f"{lemma} with", thing.name] > 0
    kind, head = place_of(noun)
    alike = (lemma in BEINGS | PEOPLE) == (last in BEINGS | PEOPLE)
    known = evidence.seen[kind, head, thing.name] > 1
    if kind in ("nsubj", "nsubjpass") and noun.tag_ == "NN" and _may_have_verb(evidence, noun):
        return False
    return bool(kind) and alike and known and "of" not in head.split()
