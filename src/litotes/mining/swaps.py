"""Two parts of a caption that change places, so that it is false.

Looks: of "a black dog and a white cat", "a white dog and a black cat". Things: of "a man rides a
horse", "a horse rides a man", and of "a dog on a sofa", "a sofa on a dog"; what stands side by side
("a dog and a cat", "a dog beside a cat") is left alone, as the caption would still be true.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, TypeAlias

from litotes.language.edits import Edit, as_inside, edited
from litotes.language.lexicon import ING_NOUNS, listed
from litotes.language.sentences import has_false_number, is_plural
from litotes.mining.exclusive import ADJECTIVES
from litotes.mining.keywords import lemma_of
from litotes.mining.planting import Keyword, Rewrite, Seed
from litotes.mining.vocabulary import determiner_of

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token


_Part: TypeAlias = tuple[int, int]
"""Numbers of the first token and of the one behind the last."""

#: Prepositions of places that only one of two things can have of the other.
_ONE_WAY = listed("above atop behind below beneath in inside into on onto over under underneath")
#: Verbs that both may do to each other at once, those whose object is what is done, and "wear".
_NO_DEEDS = listed(
    """
    be do face feed fight get give go have hug include kiss look make meet overlook perform play
    pose race see show tackle take watch wear wrestle
    """
)
#: Clothes say how someone looks, wherever in the caption they stand.
_WORN = listed(
    """
    apron bikini cap clothing coat collar costume dress gear gown hat helmet hoodie jacket jersey
    outfit robe shirt skirt snowsuit suit sweater sweatshirt swimsuit top tuxedo uniform vest
    wetsuit
    """
)
_SUBJECTS = ("nsubj", "nsubjpass")


def swap(seed: Seed, keyword: Keyword) -> Rewrite | None:
    """Let a keyword change places with another part of its caption.

    Args:
        seed: the caption; of its things, those that are keywords are swapped.
        keyword: an object or an attribute; of the others, none is swapped.

    Returns:
        The first of the two is the keyword, the other its replacement; the score stays that of the
        given keyword. None where nothing can be swapped.
    """
    found = list[tuple[_Part, _Part]]()
    if keyword.kind == "attribute":
        found += _looks(seed.doc, keyword)
    elif keyword.kind == "object":
        found += _things(seed, keyword)
    if not found:
        return None
    doc = seed.doc
    first, second = sorted(seed.rng.choice(found))
    replacement = as_inside(doc, *second)
    text = edited(doc, Edit(*first, replacement), Edit(*second, as_inside(doc, *first)))
    at = keyword._replace(start=first[0], end=first[1])
    return Rewrite(text, at, replacement, "swap")


# --- looks ------------------------------------------------------------------------------------


def _looks(doc: Doc, keyword: Keyword) -> Iterator[tuple[_Part, _Part]]:
    look = doc[keyword.end - 1]
    excluded = ADJECTIVES.others.get(look.lower_, frozenset())
    if keyword.end - keyword.start == 1 and _is_sole_look(look):
        for other in doc:
            differs = other.lower_ in excluded and other.head.lemma_ != look.head.lemma_
            if differs and _is_sole_look(other):
                yield (look.i, look.i + 1), (other.i, other.i + 1)


def _is_sole_look(look: Token) -> bool:
    """Whether it is said of a noun alone, not with others such as "black and white"."""
    noun = look.head
    return (
        look.dep_ == "amod"
        and noun.i > look.i
        and noun.tag_ in ("NN", "NNS")
        and noun.dep_ != "compound"
        and not list(look.children)
        and sum(t.dep_ == "amod" for t in noun.lefts) == 1
        and (look.i == 0 or look.nbor(-1).text != "-")
        and look.nbor(1).text != "-"
    )


# --- things -----------------------------------------------------------------------------------


def _things(seed: Seed, keyword: Keyword) -> Iterator[tuple[_Part, _Part]]:
    heads = {k.end - 1 for k in seed.keywords if k.kind == "object"}
    chunks = {
        chunk.root.i: chunk
        for chunk in seed.doc.noun_chunks
        if chunk.root.i in heads and chunk.root.lemma_ not in _WORN and _is_plain(chunk)
    }
    for first, second in _arguments(chunks):
        if keyword.end - 1 in (first.root.i, second.root.i) and _may_swap(first, second):
            yield _named(first), _named(second)


def _arguments(chunks: Mapping[int, Span]) -> Iterator[tuple[Span, Span]]:
    """What does something, or is somewhere, and what it does so to, or where."""
    for second in chunks.values():
        first = _governor(second.root)
        if first is not None and first.i in chunks and first.i < second.root.i:
            yield chunks[first.i], second


def _governor(noun: Token) -> Token | None:
    """The subject whose object or place a noun is."""
    verb = noun.head
    if noun.dep_ == "pobj":
        if verb.lower_ not in _ONE_WAY:
            return None
        place, verb = verb, verb.head
        if verb.i + 1 == place.i and verb.dep_ in (*_SUBJECTS, "ROOT") and verb.pos_ == "NOUN":
            return verb
    elif noun.dep_ != "dobj":
        return None
    if verb.pos_ != "VERB" or lemma_of(verb) in _NO_DEEDS:
        return None
    if verb.dep_ == "acl" and verb.tag_ == "VBG":
        return verb.head
    return next((t for t in verb.lefts if t.dep_ in _SUBJECTS), None)


def _may_swap(first: Span, second: Span) -> bool:
    return (
        is_plural(first.root) == is_plural(second.root)
        and first.root.lemma_ != second.root.lemma_
        and determiner_of(first.root) == determiner_of(second.root)
    )


def _is_plain(chunk: Span) -> bool:
    """Whether it is one thing or kind of thing, with no owner and nothing beside it."""
    following = chunk.doc[chunk.end] if chunk.end < len(chunk.doc) else None
    return (
        chunk.root.tag_ in ("NN", "NNS")
        and chunk.root.i == chunk.end - 1
        and not has_false_number(chunk)
        and not list(chunk.root.conjuncts)
        and all(t.is_alpha and t.dep_ in ("det", "amod", "compound") for t in chunk[:-1])
        and not any(t.tag_ == "VBG" for t in chunk)
        and (not chunk.root.lower_.endswith("ing") or chunk.root.lower_ in ING_NOUNS)
        and (
            following is None
            or not (
                following.tag_.startswith(("NN", "W", "POS")) or following.lower_ in ("of", "-")
            )
        )
    )


def _named(chunk: Span) -> _Part:
    """What follows the determiner."""
    return chunk.start + (chunk[0].dep_ == "det"), chunk.end
