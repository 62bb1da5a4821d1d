"""A photograph by its captions: what they say, what they contradict, and how to change one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from litotes.evaluation.pairs.evidence import Evidence, alike, words_of
from litotes.language.cues import has_negation
from litotes.language.lexicon import listed
from litotes.language.sentences import has_false_number, is_plural

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

#: The chance that what is put in or added is there, though unsaid.
MAX_UNSAID = 0.04


_MALE = listed(
    """man men boy boys guy guys male males gentleman gentlemen dude he his him himself father dad
    son brother grandfather boyfriend husband groom cowboy fireman policeman fisherman businessman
    beard bearded mustache shirtless"""
)
_FEMALE = listed(
    """woman women girl girls lady ladies female females she her hers herself mother mom daughter
    sister grandmother girlfriend wife bride cheerleader cheerleaders ballerina waitress bikini
    bikinis dress dresses skirt blouse gal cowgirl lesbian bra"""
)
_CHILD = listed(
    """boy boys girl girls child children kid kids baby babies infant infants toddler toddlers son
    daughter youngster youngsters youth teen teens teenager teenagers teenage young younger little
    small newborn tot adolescent school preschool schoolboy schoolgirl student students childs"""
)
_ADULT = listed(
    """man men woman women guy guys lady ladies gentleman gentlemen adult adults mother mom father
    dad parent parents grandmother grandfather old older elderly couple dude people male female"""
)
#: The words for people whose sex and age are known: words that would contradict, words that hint.
SEX = {
    **dict.fromkeys(("man", "boy", "guy", "gentleman", "father"), (_FEMALE, _MALE)),
    **dict.fromkeys(("woman", "girl", "lady", "mother", "grandmother", "bride"), (_MALE, _FEMALE)),
}
AGE = {
    **dict.fromkeys(("boy", "girl", "child", "kid", "baby", "toddler"), (_ADULT, _CHILD)),
    **dict.fromkeys(
        ("man", "woman", "guy", "lady", "gentleman", "adult", "mother", "father", "grandmother"),
        (_CHILD, _ADULT),
    ),
}
PEOPLE = frozenset(SEX) | frozenset(AGE)
#: Many people or nobody in particular.
VAGUE = listed(
    """people person couple family group crowd team celebrity alien clown robot somebody someone
    everyone bystander teammate spectator audience human individual friend player"""
)
#: The sexes' own clothes and the like, and pronouns, which would have to change too.
OF_A_SEX = listed(
    """he him his himself she her hers herself beard bearded mustache shirtless bald bikini bra
    dress skirt blouse pregnant topless male female goatee moustache ponytail heels"""
)


class Change(NamedTuple):
    """A caption and one made false of it.

    Attributes:
        caption: the true one.
        false: the false one.
        out: the words that were taken out; for swaps, one of the two.
        into: the words that were put in; for swaps, the other.
    """

    caption: str
    false: str
    out: str
    into: str


@dataclass(frozen=True)
class Photograph:
    """A photograph's captions.

    Attributes:
        docs: each caption, parsed.
        evidence: of all captions.
    """

    docs: Sequence[Doc]
    evidence: Evidence

    @cached_property
    def words(self) -> frozenset[str]:
        """All words of all captions, as they stand and as lemmas."""
        return frozenset().union(*map(words_of, self.docs))

    @cached_property
    def usable(self) -> list[Doc]:
        """Captions of one sentence that deny nothing."""
        return [doc for doc in self.docs if _is_usable(doc)]

    @cached_property
    def things(self) -> list[tuple[Doc, list[Span]]]:
        """The usable captions and the things that each names."""
        return [(doc, [c for c in doc.noun_chunks if _is_thing(c)]) for doc in self.usable]

    def hints_at(self, phrase: str) -> bool:
        """Whether any caption says a word of a phrase, one like it, or one that contains it."""
        return any(self._hints_at(word) for word in phrase.split())

    def _hints_at(self, word: str) -> bool:
        if alike(word) & self.words:
            return True
        return any(_contains(word, said) for said in self.words)

    def surely_lacks(
        self, phrase: str, beside: Iterable[str] | None = None, most: float = MAX_UNSAID
    ) -> bool:
        """Whether no caption hints at a phrase, and what it names seldom goes unsaid.

        Args:
            phrase: whose last word names it.
            beside: the words beside which it must not go unsaid; all that are said by default.
            most: the chance that it is there though unsaid.
        """
        if self.hints_at(phrase):
            return False
        others = self.words if beside is None else beside
        return self.evidence.unsaid(phrase.split()[-1], others) <= most

    def contradicts_sex(self, noun: str) -> bool:
        """Whether the captions tell of another sex, and never of this one."""
        others, own = SEX.get(noun, (frozenset(), frozenset()))
        return bool(self.words & others) and not self.words & own

    def contradicts_person(self, noun: str) -> bool:
        """Whether the captions tell of another sex or another age, and never of this one."""
        others, own = AGE.get(noun, (frozenset(), frozenset()))
        return self.contradicts_sex(noun) or bool(self.words & others and not self.words & own)


def _is_usable(doc: Doc) -> bool:
    stops = [t.i for t in doc if t.text in (".", "!", "?", ";", '"', ":")]
    return (
        4 <= len([t for t in doc if not t.is_punct]) <= 25
        and not has_negation(doc.text)
        and all(i == len(doc) - 1 for i in stops)
        and sum(t.dep_ == "ROOT" for t in doc) == 1
    )


def _contains(word: str, said: str) -> bool:
    short, long = sorted((word, said), key=len)
    return len(short) >= 4 and (long.startswith(short) or long.endswith(short))


def _is_thing(chunk: Span) -> bool:
    """Whether a noun chunk is of a common noun, and was read rightly."""
    root, doc = chunk.root, chunk.doc
    if root.tag_ not in ("NN", "NNS") or chunk.end != root.i + 1:
        return False
    if is_plural(root) and has_false_number(chunk):
        return False
    return chunk.end == len(doc) or doc[chunk.end].tag_ not in ("NN", "NNS", "POS", "HYPH")


def count(doc: Doc, lemma: str) -> int:
    """How often a caption says a lemma."""
    return sum(t.lemma_.lower() == lemma for t in doc)


def has_any(doc: Doc, words: frozenset[str]) -> bool:
    """Whether a caption says any of some words."""
    return any(t.lower_ in words for t in doc)


def looks_of(noun: Token) -> list[Token]:
    """The attributes that stand before a noun."""
    kinds = ("amod", "compound", "nummod")
    return [t for t in noun.lefts if t.dep_ in kinds]
