"""A parsed sentence as the grammar sees it: one letter a token.

spaCy tags and parses the sentence; every token is then written as one letter (:data:`_TAG_LETTERS`,
with capital letters for the cues), so that phrases are regular expressions over that string, token
for letter: ``d*n`` is a determiner and its noun.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING

from litotes.language.cues import Kind, find_cues
from litotes.language.lexicon import ANIMALS, BEINGS, ING_NOUNS, KIN, OTHER_BEINGS, listed
from litotes.language.phrasing import is_countable_singular

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

# d determiner, a adjective, r adverb, n noun, g "-ing" form, p participle, v finite verb,
# x auxiliary, i preposition, f "of", t "to", & "and", | "or", b "but", e "there", o pronoun,
# w relative word, h hyphen, s possessive.
_TAG_LETTERS = {
    "DT": "d", "PDT": "d", "PRP$": "d", "WP$": "d", "CD": "d",
    "JJ": "a", "JJR": "a", "JJS": "a", "AFX": "a",
    "RB": "r", "RBR": "r", "RBS": "r", "RP": "r",
    "NN": "n", "NNS": "n", "NNP": "n", "NNPS": "n", "FW": "n",
    "VBG": "g", "VBN": "p", "VBD": "v", "VBZ": "v", "VBP": "v", "VB": "v", "MD": "x",
    "IN": "i", "TO": "t", "CC": "&", "EX": "e", "PRP": "o", "WP": "w", "WDT": "w", "WRB": "w",
    "HYPH": "h", "POS": "s", ",": ",", ".": ".", ":": ":", "-LRB-": ",", "-RRB-": ",",
}  # fmt: skip
#: Words whose part in the grammar is their own.
_WORD_LETTERS = {
    "of": "f", "or": "|", "nor": "|", "but": "b", "yet": "b", "though": "b", "although": "b",
    "while": "b", "whereas": "b", "because": "b", "who": "w", "which": "w", "where": "w",
    "something": "n", "someone": "n", "anyone": "n", "anything": "n", "everyone": "n",
    "inside": "i", "outside": "i", "nearby": "r", "today": "r", "tonight": "r",
    ";": ".", "/": "|", "-": "h", "–": ":", "—": ":",
}  # fmt: skip
_CUE_LETTERS = {
    Kind.WITHOUT: "W",
    Kind.NO: "N",
    Kind.WITH_NO: "N",
    Kind.NOT: "X",
    Kind.DOES_NOT: "X",
    Kind.NOBODY: "B",
    Kind.NOTHING: "B",
    Kind.NONE: "O",
    Kind.MISSING: "M",
    Kind.ABSENT: "Z",
    Kind.LESS: "a",
    Kind.FREE: "a",
    Kind.UN: "a",
}

_ADJECTIVE = r"r*a(?:h[anp])*"
ADJECTIVES = rf"{_ADJECTIVE}(?:[,&]?{_ADJECTIVE})*"
#: A noun phrase without "of": "his old dog's red t-shirt".
BASE = rf"d*(?:{ADJECTIVES})?n(?:hn|hp|n|s(?:{ADJECTIVES})?n)*"
NOUN_PHRASE = re.compile(rf"{BASE}(?:f{BASE})*")
#: What stands in for a noun phrase where the tagger saw none ("without orange").
_NOUN_LIKE = re.compile(r"d*r*[agpv](?:h[anpg])*|o|d")
#: Where a clause ends: at a stop, "but", a relative word, a cue, "and" before another predicate,
#: or a comma that separates no list.
_CLAUSE_END = re.compile(r"[.:bwWNXBOMZ]|&(?=[gvpxiWNXB])|&(?=d*a*n[vx])|,(?![^.:bgvxw]*\|)|$")

#: Adverbs that follow a noun, so that the noun ends before them ("no dog nearby").
_FOLLOWING_ADVERBS = listed(
    "above again ahead alone anymore anywhere apart around away behind below close down either "
    "everywhere far here indoors inside left nearby next now off on outdoors outside overhead "
    "there today together tonight too underneath up yet"
)
_BEINGS = BEINGS | OTHER_BEINGS
_PERSON_ENDINGS = ("woman", "women", "man", "men", "person", "girl", "boy", "boys", "girls")
_PRONOUNS = listed(
    "i me you he him she her it we us they them one himself herself itself themselves myself "
    "yourself mine yours his hers ours theirs"
)
# Present tenses, and what the tagger takes them for.
_PRESENT = frozenset({"VB", "VBP", "VBZ", "NN", "NNS"})
#: More nouns in "-ing", where no object follows: "icing", not "icing a cake".
_FOOD_AND_DECOR = listed(
    "bedding dressing edging filling flooring frosting icing lighting lining padding piercing "
    "roofing seasoning stitching stuffing topping writing"
)
_OBJECT_STARTS = frozenset({"DT", "PRP$", "JJ", "NN", "NNS"})
_ADJECTIVES_LIKE_VERBS = listed("clean clear close complete cool dry empty free open warm wet")
_HELPERS = frozenset({"do", "does", "did", "can", "could", "will", "would"})


@dataclass(frozen=True, slots=True)
class Span:
    """Tokens ``start`` up to ``end``."""

    start: int
    end: int


@dataclass(frozen=True, slots=True)
class CueSpan(Span):
    """The tokens of a cue, its kind, and the word it stands in, in lower case."""

    kind: Kind
    word: str


class Reading:
    """A parsed sentence, its letters and its cues."""

    def __init__(self, doc: Doc) -> None:
        self.doc = doc
        self.lower = tuple(token.lower_ for token in doc)
        self.cues = list(_locate_cues(doc))
        self.letters = "".join(_letters(doc, self.cues))

    def letter(self, place: int) -> str:
        """The letter at a place; "^" before the sentence and "$" after it."""
        if place < 0:
            return "^"
        return self.letters[place] if place < len(self.letters) else "$"

    def words(self, start: int, end: int) -> tuple[str, ...]:
        """The words of a span, in lower case."""
        return self.lower[start:end]

    @cached_property
    def noun_phrases(self) -> list[Span]:
        """All noun phrases, in order."""
        return [Span(*match.span()) for match in NOUN_PHRASE.finditer(self.letters)]

    def match(self, pattern: re.Pattern[str], start: int) -> Span | None:
        """The span a pattern of letters covers from ``start`` on, if it covers any token."""
        match = pattern.match(self.letters, start)
        return Span(*match.span()) if match and match.end() > start else None

    def thing_at(self, start: int) -> Span | None:
        """The noun phrase that starts here, or what may stand in for one."""
        return self.match(NOUN_PHRASE, start) or self.match(_NOUN_LIKE, start)

    def phrases_before(self, place: int) -> list[Span]:
        """Noun phrases that end before ``place``, nearest last."""
        return [span for span in self.noun_phrases if span.end <= place]

    def clause_end(self, start: int) -> int:
        """Where the clause that goes on at ``start`` ends at the latest."""
        match = _CLAUSE_END.search(self.letters, start)
        return match.start() if match else len(self.letters)

    def head(self, span: Span) -> Token:
        """The head noun: the last noun before any "of"."""
        letters = self.letters[span.start : span.end].partition("f")[0]
        return self.doc[span.start + max(letters.rfind("n"), 0)]

    def is_singular(self, span: Span) -> bool:
        """Whether the head is a singular noun of something countable."""
        head = self.head(span)
        return is_countable_singular(head.text, head.tag_)

    def is_being(self, span: Span) -> bool:
        """Whether the phrase names people or animals ("a group of children")."""
        return any(
            self.letters[i] == "n"
            and self.letter(i + 1) not in "ns"  # a dog bowl, a child's bed
            and names_being(self.doc[i])
            for i in range(span.start, span.end)
        )

    def is_person(self, span: Span) -> bool:
        """Whether the phrase names people."""
        return self.is_being(span) and self.head(span).lemma_.lower() not in ANIMALS


def names_being(noun: Token) -> bool:
    """Whether a noun is one for people or animals."""
    words = {noun.lower_, noun.lemma_.lower()}
    return not words.isdisjoint(_BEINGS) or noun.lower_.endswith(_PERSON_ENDINGS)


def _takes_object(verb: Token) -> bool:
    following = verb.i + 1
    return following < len(verb.doc) and verb.doc[following].tag_ in _OBJECT_STARTS


def _locate_cues(doc: Doc) -> Iterator[CueSpan]:
    for cue in find_cues(doc.text):
        span = doc.char_span(cue.start, cue.end, alignment_mode="expand")
        if span is not None:
            word = doc.text[cue.start : cue.end].lower()
            yield CueSpan(span.start, span.end, cue.kind, word)


def _letters(doc: Doc, cues: list[CueSpan]) -> list[str]:
    letters = [_letter(token) for token in doc]
    _correct_ing(doc, letters)
    if letters[-1:] == ["b"]:
        letters[-1] = "r"  # "that cannot walk yet"
    for cue in cues:
        letters[cue.start : cue.end] = _CUE_LETTERS[cue.kind] * (cue.end - cue.start)
    for cue in cues:
        _correct_beside(doc, letters, cue)
    for first, second in pairwise(cues):
        both = first.kind is second.kind is Kind.NOT and second.end < len(doc)
        if both and letters[first.end] == "v" and doc[second.end].tag_ in _PRESENT:
            letters[second.end] = "v"  # "neither flies nor sings"
    return letters


def _letter(token: Token) -> str:
    own = _WORD_LETTERS.get(token.lower_)
    if own:
        return own
    counted_one = token.lower_ == "one" and token.i and token.nbor(-1).tag_ in ("DT", "JJ")
    if token.lower_ in ING_NOUNS | KIN or counted_one:
        return "n"
    if token.lower_ in _FOOD_AND_DECOR and not _takes_object(token):
        return "n"
    if token.tag_ in ("VBG", "VBN") and token.dep_ == "amod":
        return "a"
    if token.pos_ == "AUX" or token.lemma_ == "be":
        return "x"
    if token.tag_ == "PRP" and token.lower_ not in _PRONOUNS:
        return "n"  # "bookshelf", at the start
    return _TAG_LETTERS.get(token.tag_, ",")


def _correct_ing(doc: Doc, letters: list[str]) -> None:
    """Mend "-ing" forms: "dad fishing" does so, and "running shoes" are shoes."""
    for token in doc:
        if not token.lower_.endswith("ing") or token.lower_ in ING_NOUNS:
            continue
        before = letters[token.i - 1] if token.i else "^"
        after = letters[token.i + 1] if token.i + 1 < len(doc) else "$"
        if letters[token.i] == "n" and before == "n":
            being = names_being(token.nbor(-1))
            if (being and after != "n") or (not being and _goes_on(doc, token.i)):
                letters[token.i] = "g"
        elif letters[token.i] == "g" and before in "^d" and after == "n":
            letters[token.i] = "a"


def _goes_on(doc: Doc, place: int) -> bool:
    """As in "a man without a shirt playing volleyball": it is the man who does so."""
    return (
        place > 2
        and doc[place - 2].lower_ in ("a", "an")
        and any(token.pos_ == "NOUN" and names_being(token) for token in doc[: place - 2])
    )


def _correct_beside(doc: Doc, letters: list[str], cue: CueSpan) -> None:
    """Mend the tagger's guesses where a cue leaves one reading only."""
    after = letters[cue.end : cue.end + 2]
    if cue.start == 1 and letters[0] == "v":
        letters[0] = "n"  # "leaves not green"
    if cue.kind in (Kind.NO, Kind.WITH_NO, Kind.WITHOUT) and after[:1] in (
        ["v"],
        ["x"],
        ["r"],
        ["p"],
    ):
        letters[cue.end] = "n"  # "no surfboard"
    noun = cue.end + (after[:1] == ["d"])
    if (
        cue.kind in (Kind.NO, Kind.WITH_NO, Kind.WITHOUT)
        and letters[noun : noun + 2] == ["n", "r"]
        and doc[noun + 1].lower_ not in _FOLLOWING_ADVERBS
    ):
        letters[noun + 1] = "n"  # "no fire hydrant"
    if cue.kind is Kind.NOT and after[:1] == ["v"]:
        letters[cue.end] = _after_bare_not(doc, cue)
    if after[:1] == ["n"] and _is_helped(doc, cue):
        letters[cue.end] = "v"  # "does not surf"
    if cue.kind is Kind.ABSENT and cue.start and letters[cue.start - 1] == "v":
        letters[cue.start - 1] = "n"  # "fork not visible"


def _is_helped(doc: Doc, cue: CueSpan) -> bool:
    return cue.kind is Kind.NOT and cue.start > 0 and doc[cue.start - 1].lower_ in _HELPERS


def _after_bare_not(doc: Doc, cue: CueSpan) -> str:
    """No present-tense verb can follow "not" alone: it is a noun ("not benches") or "open"."""
    token = doc[cue.end]
    helped = cue.start and (
        doc[cue.start - 1].pos_ in ("AUX", "PART") or doc[cue.start - 1].tag_ == "MD"
    )
    relative = cue.start and doc[cue.start - 1].tag_ in ("WDT", "WP")
    if helped or relative or cue.word == "never":
        return "v"
    if token.lower_ in _ADJECTIVES_LIKE_VERBS:
        return "a"
    return "p" if token.tag_ == "VBD" else "n"
