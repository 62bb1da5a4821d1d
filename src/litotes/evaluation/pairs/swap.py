"""Captions in which two things, or two attributes, have changed places."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import combinations
from typing import TYPE_CHECKING

from litotes.evaluation.pairs.evidence import (
    Evidence,
    alike,
    noun_name,
    place_of,
    preposition,
    role_of,
)
from litotes.evaluation.pairs.photograph import (
    PEOPLE,
    VAGUE,
    Change,
    Photograph,
    count,
    has_any,
    looks_of,
)
from litotes.language.edits import Edit, as_inside, edited
from litotes.language.lexicon import ANIMALS, BEINGS, POSITIONS, listed

if TYPE_CHECKING:
    from spacy.tokens import Span, Token


#: What is said of both alike.
_MUTUAL = listed(
    """
    with near next beside by alongside against together between around of opposite from while
    play fight wrestle kiss hug race face meet talk dance embrace touch share pose box spar connect
    attach give
    """
)
_HUMAN = PEOPLE | (BEINGS - ANIMALS) | listed("someone somebody people person")
_ANYONE = listed("someone somebody person people individual other")
_GROUPS = listed("crowd group pack herd flock team band couple audience guard something")
_MUTUAL_OF_THINGS = _MUTUAL | listed("in wear have ride rid")
_PRONOUNS = listed(
    """
    he him his himself she her hers herself it its itself they them their themselves other another
    who whose which that
    """
)


def swapped_things(photograph: Photograph) -> Iterator[Change]:
    """Of "a man watches a woman" make "a woman watches a man"."""
    for doc, things in photograph.things:
        chunks = [chunk for chunk in things if _is_simple(chunk)]
        for a, b in combinations(chunks, 2):
            if _may_swap(photograph, a, b):
                said = edited(
                    doc,
                    Edit(a.start, a.end, as_inside(doc, b.start, b.end)),
                    Edit(b.start, b.end, as_inside(doc, a.start, a.end)),
                )
                yield Change(doc.text, said, noun_name(a.root), noun_name(b.root))


def _is_simple(chunk: Span) -> bool:
    return (
        chunk.root.lemma_.lower() not in _GROUPS
        and len(chunk) <= 4
        and chunk.root.lower_ not in POSITIONS
        and not any(t.dep_ == "poss" for t in chunk)
        and (chunk.start == 0 or chunk.doc[chunk.start - 1].pos_ != "ADJ")
        and not any(t.lower_ == "of" for t in (chunk.root.head, *chunk.root.rights))
        and count(chunk.doc, chunk.root.lemma_.lower()) == 1
    )


def _may_swap(photograph: Photograph, a: Span, b: Span) -> bool:
    one, two = noun_name(a.root), noun_name(b.root)
    alive = _is_being(one), _is_being(two)
    if alive[0] != alive[1] or one == two or (two in alike(one) and not {one, two} <= PEOPLE):
        return False
    if a.root.tag_ != b.root.tag_ and (_tells_number(a.root) or _tells_number(b.root)):
        return False
    if alive[0] and has_any(a.doc, _PRONOUNS):
        return False
    if alive[0] and {one, two} & _ANYONE and {one, two} <= _HUMAN:
        return False
    if a.root in b.root.conjuncts or a.doc[a.end : b.start].text in ("and", ",", ", and"):
        return alive[0] and _are_told_apart(photograph, a.root, b.root)
    if list(a.root.conjuncts) or list(b.root.conjuncts):
        return False
    tell = role_of if alive[0] else place_of
    first, second = tell(a.root), tell(b.root)
    if first == second or not first[0] or not second[0] or _is_mutual(a.root, b.root):
        return False
    if not alive[0] and any(_MUTUAL_OF_THINGS & set(role[1].split()) for role in (first, second)):
        return False
    return _fits(photograph, tell, a.root, two) and _fits(photograph, tell, b.root, one)


def _tells_number(noun: Token) -> bool:
    """Whether a verb agrees with a noun."""
    if noun.dep_ == "attr":
        return True
    if noun.dep_ not in ("nsubj", "nsubjpass"):
        return False
    helping = [t for t in noun.head.lefts if t.dep_ in ("aux", "auxpass")]
    return any(t.tag_ in ("VBZ", "VBP") for t in (noun.head, *helping))


def _are_told_apart(photograph: Photograph, a: Token, b: Token) -> bool:
    """Whether each of "a man in a hat and a woman in a dress" has something of its own."""
    own = [
        next((t for t in noun.rights if t.dep_ in ("prep", "acl", "relcl")), None)
        for noun in (a, b)
    ]
    if own[0] is None or own[1] is None or list(a.conjuncts) != [b]:
        return False
    apart = {t.lemma_.lower() for t in own[0].subtree} != {t.lemma_.lower() for t in own[1].subtree}
    return apart and own[0].i < b.i


def _is_being(name: str) -> bool:
    return name.split()[-1] in BEINGS | PEOPLE | VAGUE


def _is_mutual(a: Token, b: Token) -> bool:
    """Whether what joins two things holds both ways."""
    joining = [b.head, *([b.head.head] if b.dep_ == "pobj" else [])]
    if preposition(b.head) in ("next to", "close to"):
        return True
    if b.dep_ == "pobj" and b.head.head.lemma_ in ("look", "stare", "smile"):
        return True
    return any(t.lower_ in _MUTUAL or t.lemma_.lower() in _MUTUAL for t in joining)


def _fits(
    photograph: Photograph, tell: Callable[[Token], tuple[str, str]], noun: Token, name: str
) -> bool:
    """Whether a thing is known in the place of a noun, and no caption tells it there."""
    role = tell(noun)
    human = {noun.lemma_.lower(), name} <= _HUMAN
    if not human and not photograph.evidence.seen[(*role, name)]:
        return False
    same, general = alike(name), role_of(noun)
    return not any(
        t.lemma_.lower() in same and role_of(t) == general for doc in photograph.docs for t in doc
    )


# --- attributes -------------------------------------------------------------------------------

#: A thing has one of each line.
_KINDS = (
    listed(
        "black blue brown gray green grey orange pink purple red white yellow tan blond blonde "
        "gold silver golden beige maroon"
    ),
    listed("big giant huge large little small tiny"),
    listed("old older elderly young younger"),
    listed("long short tall"),
    listed("wooden metal plastic brick stone concrete leather glass"),
    listed("striped spotted plaid checkered"),
    listed("two three four five six"),
)
_OF_PEOPLE = listed("black white brown")


def swapped_looks(photograph: Photograph) -> Iterator[Change]:
    """Of "a red ball and a blue hat" make "a blue ball and a red hat"."""
    for doc, things in photograph.things:
        looks = [
            (look, kind)
            for chunk in things
            for look in looks_of(chunk.root)
            for kind in _KINDS
            if look.lower_ in kind and _is_only(look, kind)
        ]
        for (a, kind), (b, other) in combinations(looks, 2):
            if kind == other and _may_exchange(photograph, a, b):
                said = edited(doc, Edit(a.i, a.i + 1, b.lower_), Edit(b.i, b.i + 1, a.lower_))
                yield Change(doc.text, said, a.lower_, b.lower_)


def _is_only(look: Token, kind: frozenset[str]) -> bool:
    """Whether a noun has no other attribute of the kind, and this one no shade."""
    noun, doc = look.head, look.doc
    span = doc[min(t.i for t in noun.subtree if t.i <= look.i) : noun.i]
    before = doc[look.i - 1].lower_ if look.i else ""
    return (
        sum(t.lower_ in kind for t in span) == 1
        and before not in ("light", "dark", "bright", "-", "and")
        and doc[look.i + 1].text not in ("-", ",")
        and not list(look.conjuncts)
    )


def _may_exchange(photograph: Photograph, a: Token, b: Token) -> bool:
    one, two = a.head.lemma_.lower(), b.head.lemma_.lower()
    if b.lower_ in alike(a.lower_) or any(_goes_on(look) for look in (a, b)):
        return False
    if two in alike(one):
        return _are_apart(a, b)
    if _OF_PEOPLE & {a.lower_, b.lower_} and (PEOPLE | VAGUE) & {one, two}:
        return False
    return _suits(photograph, b.lower_, one) and _suits(photograph, a.lower_, two)


def _goes_on(look: Token) -> bool:
    """Whether an attribute is the second of "a black and a white dog"."""
    before = look.doc[max(0, look.i - 3) : look.i]
    return len(before) == 3 and before[1].lower_ == "and" and before[0].pos_ in ("ADJ", "DET")


def _are_apart(a: Token, b: Token) -> bool:
    """Whether two things of a sort differ in more than one attribute.

    In who has them ("a man in a red hat, a woman in a blue hat"), in another attribute ("a large
    brown dog and a small white dog"), or in what they do ("a brown dog chases a white dog").
    """
    one, two = a.head, b.head
    between = {t.lower_ for t in a.doc[one.i + 1 : b.i]}
    if between <= {"and", ",", "a", "an", "the"}:
        return False
    if one.dep_ == two.dep_ == "pobj" and one.head.lower_ == two.head.lower_ == "in":
        return one.head.head.tag_[:2] == two.head.head.tag_[:2] == "NN" and (
            one.head.head.lemma_ != two.head.head.lemma_
        )
    others = [{t.lower_ for t in looks_of(look.head) if t != look} for look in (a, b)]
    if others[0] and others[1] and not others[0] & others[1]:
        return True
    if {one.dep_, two.dep_} & {"conj", "appos"} or list(one.conjuncts) or list(two.conjuncts):
        return False
    first, second = role_of(one), role_of(two)
    return bool(first[0] and second[0]) and first != second and not _is_mutual(one, two)


def _suits(photograph: Photograph, look: str, noun: str) -> bool:
    """Whether a noun may look so, and no caption says it does."""
    evidence: Evidence = photograph.evidence
    same, nouns = alike(look), alike(noun)
    known = evidence.seen["look", noun, look] > 1
    if noun in ANIMALS:
        known = evidence.may_look(noun, look)
    return known and not any(
        t.lower_ in same
        and t.dep_ in ("amod", "compound", "nummod", "conj", "acomp")
        and (t.head.lemma_.lower() in nouns or t.head.head.lemma_.lower() in nouns)
        for doc in photograph.docs
        for t in doc
    )
