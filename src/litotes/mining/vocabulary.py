"""What captions say, and how: their words by form and role, and what they tell of one picture.

All of it is counted in captions that are parsed once, so that rewriting needs look-ups alone.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from itertools import chain
from typing import TYPE_CHECKING, Literal, NamedTuple, TypeAlias

from litotes.mining.keywords import lemma_of

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

Tag: TypeAlias = str
"""A Penn tag: form and part of speech."""
Role: TypeAlias = tuple[str, ...]
"""What governs a noun, and how."""
Determined: TypeAlias = Literal["a", "bare", "other"]
"""What stands before a noun: an indefinite article, nothing, or any other determiner."""

#: A word is a hint at another if it is said of pictures of which so large a share names the other,
#: and so many times as large as of all; or, however small it is, so many more times as large.
HINTED = 0.15
LIFT = 2.0
HIGH_LIFT = 10.0
#: Pictures of a word from which on it hints at anything, and those of them that name the other.
MIN_PICTURES = 5
MIN_TOGETHER = 3

_NOUNS = ("NN", "NNS")
_CONTENT = ("NOUN", "PROPN", "VERB", "ADJ")
_DETERMINERS = ("det", "poss", "nummod")
_LISTED = ("conj", "appos")


class Frame(NamedTuple):
    """What a verb takes: an object, a particle, a preposition."""

    object: bool
    particle: str
    preposition: str
    passive: bool


@dataclass(frozen=True)
class Vocabulary:
    """Counts; see :func:`learn`.

    Attributes:
        forms: the most usual form of each lemma, by tag.
        uses: how often each lemma is used, by tag.
        determined: how often each singular noun is used so.
        roles: how often nouns stand in a role, by tag.
        pairs: how often a word stands right before a noun that it describes, by lemma.
        frames: how often verbs are used in a frame.
        prepositions: nouns and the prepositions right before them.
        lone: of the pictures of which a word is said, the share where a lone caption of several
            says it: what people do not name reliably may be there unsaid.
        hints: the words of whose pictures a large share has captions that say a word.
    """

    forms: Mapping[Tag, Mapping[str, str]]
    uses: Mapping[Tag, Mapping[str, int]]
    determined: Mapping[str, Mapping[Determined, int]]
    roles: Mapping[tuple[Tag, Role], Mapping[str, int]]
    pairs: Mapping[tuple[str, str], int]
    frames: Mapping[Frame, Mapping[str, int]]
    prepositions: Mapping[tuple[str, str], int]
    lone: Mapping[str, float]
    hints: Mapping[str, frozenset[str]]

    def share(self, noun: str, how: Determined) -> float:
        """The share of a singular noun's uses that are determined so."""
        uses = self.determined.get(noun, {})
        return uses.get(how, 0) / max(sum(uses.values()), 1)

    def is_rather_verb(self, lemma: str) -> bool:
        """Whether a word is used as a verb more often than as a noun, so that it may be misread."""
        verb, noun = (
            sum(uses.get(lemma, 0) for tag, uses in self.uses.items() if tag.startswith(kind))
            for kind in ("VB", "NN")
        )
        return verb > noun


def learn(pictures: Iterable[Sequence[Doc]]) -> Vocabulary:
    """Count what the captions of pictures say.

    Args:
        pictures: the parsed captions of each.
    """
    surfaces = dict[Tag, dict[str, Counter[str]]]()
    determined = dict[str, Counter[Determined]]()
    roles = dict[tuple[Tag, Role], Counter[str]]()
    pairs, prepositions = Counter[tuple[str, str]](), Counter[tuple[str, str]]()
    said, lone = Counter[str](), Counter[str]()
    frames = dict[Frame, Counter[str]]()
    named = list[Counter[str]]()
    for docs in pictures:
        named.append(Counter(chain.from_iterable(map(_content, docs))))
        if len(docs) > 1:
            said.update(sorted(named[-1]))
            lone.update(word for word, count in named[-1].items() if count == 1)
        for token in chain.from_iterable(docs):
            if not token.is_alpha:
                continue
            lemma = lemma_of(token)
            surfaces.setdefault(token.tag_, {}).setdefault(lemma, Counter())[token.lower_] += 1
            if token.tag_ in _NOUNS:
                for role in roles_of(token):
                    roles.setdefault((token.tag_, role), Counter())[lemma] += 1
                for other in token.lefts:
                    pairs[other.lower_, lemma] += 1
                if token.tag_ == "NN" and token.dep_ != "compound":
                    determined.setdefault(lemma, Counter())[determiner_of(token)] += 1
                if token.dep_ == "pobj":
                    prepositions[token.head.lower_, lemma] += 1
            elif token.pos_ == "VERB":
                frames.setdefault(frame_of(token), Counter())[lemma] += 1
    return Vocabulary(
        forms={tag: _usual(lemmas) for tag, lemmas in surfaces.items()},
        uses={tag: {k: v.total() for k, v in lemmas.items()} for tag, lemmas in surfaces.items()},
        determined=determined,
        roles=roles,
        pairs=pairs,
        frames=frames,
        prepositions=prepositions,
        lone={word: count / said[word] for word, count in lone.items()},
        hints=_hints([frozenset(words) for words in named]),
    )


def determiner_of(noun: Token) -> Determined:
    """What determines a noun."""
    for left in noun.lefts:
        if left.dep_ in _DETERMINERS:
            return "a" if left.lower_ in ("a", "an") else "other"
    return "bare"


def roles_of(noun: Token) -> list[Role]:
    """The roles of a noun, the most special first; a subject or the like has none."""
    first = noun
    while first.dep_ in _LISTED and first.head.i < first.i:
        first = first.head
    head = first.head
    if first.dep_ == "dobj":
        return [("dobj", lemma_of(head)), ("dobj", "")]
    if first.dep_ == "pobj":
        kind = determiner_of(noun)
        owner = lemma_of(head.head)
        return [("pobj", owner, head.lower_), ("pobj", "", head.lower_, kind)]
    return []


def frame_of(verb: Token) -> Frame:
    """What a verb takes."""
    rights = list(verb.rights)
    return Frame(
        object=any(t.dep_ in ("dobj", "dative") for t in rights),
        particle=next((t.lower_ for t in rights if t.dep_ == "prt"), ""),
        preposition=next((t.lower_ for t in rights if t.dep_ == "prep"), ""),
        passive=any(t.dep_ in ("auxpass", "agent") for t in verb.children),
    )


def _usual(lemmas: Mapping[str, Counter[str]]) -> dict[str, str]:
    return {lemma: max(sorted(forms), key=forms.__getitem__) for lemma, forms in lemmas.items()}


def _content(doc: Doc) -> set[str]:
    return {lemma_of(t) for t in doc if t.is_alpha and t.pos_ in _CONTENT}


def _hints(named: Sequence[Set[str]]) -> dict[str, frozenset[str]]:
    """The words that hint at each word."""
    pictures = Counter(chain.from_iterable(map(sorted, named)))
    usual = {word for word, count in pictures.items() if count >= MIN_PICTURES}
    together = dict[str, Counter[str]]()
    for words in named:
        told = sorted(words & usual)
        for word in told:
            together.setdefault(word, Counter()).update(told)
    hints = dict[str, set[str]]()
    for word, others in together.items():
        for other, count in others.items():
            share, usual_share = count / pictures[word], pictures[other] / len(named)
            usually = share >= max(HINTED, LIFT * usual_share)
            if count >= MIN_TOGETHER and (usually or share >= HIGH_LIFT * usual_share):
                hints.setdefault(other, set()).add(word)
    return {word: frozenset(found) for word, found in hints.items()}
