"""Keywords of captions: words that name what a picture shows, and how concrete they are.

By part of speech and role: an object heads a noun phrase, with the nouns that make one thing of it
("tennis ball"); an attribute describes a noun; an action is a main verb; a relation a preposition
of place; a count a number of things. Words of other use, those that are rated nowhere, and those
that the parser may have misread are passed over, as what replaces them would read badly.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from functools import lru_cache
from random import Random
from typing import TYPE_CHECKING, Literal, TypeAlias

from litotes.data.concrete_pairs import KEYWORD_KINDS, KeywordKind
from litotes.language.concreteness import Ratings
from litotes.language.cues import has_negation
from litotes.language.lexicon import ANIMALS, BEINGS, POSITIONS, listed
from litotes.language.parse import PIPELINE_LOCK, pipeline
from litotes.language.phrasing import gerund
from litotes.language.sentences import is_plural
from litotes.mining.planting import Keyword

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

Choice: TypeAlias = Literal["hc", "lc", "random"]
"""Which keywords come first: those of high or of low concreteness, or in a drawn order."""

_Part: TypeAlias = tuple[int, int]
"""Numbers of the first token and of the one behind the last."""


_COLOURS = listed(
    """
    beige black blond blonde blue brown colored coloured dark gold golden gray green grey light
    maroon navy orange pink purple red silver tan teal turquoise violet white yellow
    """
)
_SHADES = listed("bright dark light neon pale")
_MATERIALS = listed(
    """
    brass brick bronze cardboard cement cobblestone concrete denim fur glass granite leather marble
    metal paper plaid plastic rubber satin silk steel stone straw velvet wood wool
    """
)
#: Adjectives that describe a thing without making another of it, as "hot" does of a dog.
_LOOKS = (
    (_COLOURS - {"golden"})  # "golden retriever"
    | _MATERIALS
    | listed(
        """
        adult bare big bright clean cold curly dead dirty dry elderly empty fancy fat furry heavy
        huge large little long lit male female muddy narrow old older open pretty rough round
        sandy shaggy shallow sharp shiny short skinny small snowy spotted steep striped tall thick
        thin tiled tiny wet wide wooden young younger
        """
    )
)
#: Adjectives that tell how many, which one, or nothing that can be seen.
_NO_LOOKS = listed(
    """
    able additional another apparent available certain close different double due entire extra
    few first former full future fourth general half individual last latter left likely main many
    more most much multiple near nearby next numerous only opposite other outstretched own past
    particular possible previous ready real right same second several similar single solo some
    specific such third total unknown upcoming various visible whole
    """
)
#: Nouns that name no thing of their own: where, when and how it is, how many, or the picture.
_NO_OBJECTS = POSITIONS | listed(
    """
    act action activity afternoon amount angle anyone area array arrangement attempt base bit
    bunch camera class close close-up closeup collection color colour couple crowd day daytime
    direction dozen dusk dawn edge end evening everyone everything event fall front
    fun game group half height herd image jump kind lap leap length line lot lots mid mid-air
    midair middle moment morning motion nap night nobody noon none number object one other others
    pack pair part piece place play pose position practice progress rest ride row section series set
    sight size sort someone something sort space spot stunt style sunset surface team thing time
    trick trip turn type use variety walk way weather while work
    """
)
_TIMES = listed(
    """
    afternoon autumn celebration concert dawn day daytime dusk evening fall game march match
    morning night noon parade party performance race season spring springtime summer summertime
    sunset time tournament weather wedding winter wintertime year
    """
)
#: Verbs that say nothing by themselves, or speak of the picture.
_NO_ACTIONS = listed(
    """
    allow appear attach attempt base be become begin call come compete consist contain continue
    cause cover depict do dress enjoy feature fill finish get go happen have help include involve
    keep know let like locate look make match need participate perform picture prepare remain
    resemble say see seem show start stay take try turn use want wait watch
    """
)
#: Verbs that take an object behind their particle.
_PHRASAL = listed("blow clean cut hold kick knock lift pick pull put set throw")
_NO_ACTION_ROLES = listed("amod aux auxpass compound nsubj nsubjpass pobj dobj pcomp npadvmod")
_RELATIONS = listed(
    """
    above across against along alongside amid among around at atop behind below beneath beside
    between by down in inside into near off on onto outside over past through toward towards under
    underneath up
    """
)
_LONG_RELATIONS = frozenset(
    tuple(text.split())
    for text in (
        *("in front of", "on top of", "next to", "close to", "out of", "away from"),
        *("inside of", "outside of", "ahead of"),
    )
)
_OPENINGS = frozenset(words[0] for words in _LONG_RELATIONS)
#: Words that ask for their preposition: "looks at", "covered in", "full of".
_BOUND_BY = listed(
    """
    aim arrive bark bite clothe coat come cover dress engage engross fill focus glance go growl grin
    interest involve laugh look lead nibble participate point pose put shoot smile soak specialize
    splash stare wave work yell attack part type kind picture
    """
)
_CLOTHES = listed(
    """
    apron attire bikini blouse boot cap clothe clothes clothing coat collar costume dress gear glass
    gown harness hat helmet hoodie jacket jean jeans jersey outfit overall pajama pant pants robe
    shirt shoe short shorts skirt sock suit sunglass sunglasses sweater sweatshirt swimsuit t-shirt
    tee tie top trouser trunk tuxedo underwear uniform vest wetsuit
    """
)
_PEOPLE = BEINGS - ANIMALS
_PLURALS = ("NNS", "NNPS")
_NOUNS = ("NN", "NNP", *_PLURALS)
#: What the head of a noun phrase is in its sentence.
_HEADS = listed("nsubj dobj nsubjpass pcomp pobj dative appos attr ROOT oprd conj")


def candidates(
    doc: Doc, ratings: Ratings, kinds: Collection[KeywordKind] = KEYWORD_KINDS
) -> list[Keyword]:
    """The rated keywords of a caption, in the order of the caption; they may share words.

    Args:
        doc: a caption, parsed by :func:`litotes.language.sentences.read`.
        ratings: from :func:`litotes.language.concreteness.load_ratings`.
        kinds: of keywords.

    Returns:
        None of a caption that holds a negation.
    """
    if has_negation(doc.text):
        return []
    tokens = list(doc)
    things = list(_things(tokens, ratings))
    parts: dict[KeywordKind, Iterable[_Part]] = {
        "object": things,
        "attribute": _attributes(tokens, things),
        "action": _actions(tokens),
        "relation": _relations(tokens),
        "count": _counts(tokens),
    }
    found = []
    for kind in kinds:
        for start, end in parts[kind]:
            rating = ratings.of(*_forms(tokens[start:end]))
            if rating is not None:
                found.append(Keyword(start, end, kind, *rating))
    return sorted(found)


def order(keywords: Sequence[Keyword], choice: Choice, rng: Random) -> list[Keyword]:
    """Keywords in the order in which they are to be tried.

    Args:
        keywords: of a caption.
        choice: "hc", those of the highest score first, "lc", of the lowest, or "random".
        rng: draws the order, or that of equal scores.
    """
    drawn = rng.sample(keywords, len(keywords))
    if choice == "random":
        return drawn
    return sorted(drawn, key=lambda keyword: keyword.score, reverse=choice == "hc")


def lemma_of(token: Token) -> str:
    """The lemma in lower case; the lemmatizer takes "rides" and "riding" for forms of "rid"."""
    lemma, form = str(token.lemma_).lower(), str(token.lower_)
    if token.tag_ == "VBZ" and form == f"{lemma}es" and gerund(lemma) != f"{lemma}ing":
        return f"{lemma}e"
    if token.tag_ == "VBG" and gerund(lemma) != form == gerund(f"{lemma}e"):
        return f"{lemma}e"
    return lemma


def _forms(tokens: Sequence[Token]) -> tuple[list[str], list[str]]:
    """Words and lemmas; "t-shirt", three tokens, is one word."""
    words, lemmas = list[str](), list[str]()
    joined = False
    for token in tokens:
        form, lemma = str(token.lower_), lemma_of(token)
        if joined:
            lemmas[-1] = words[-1] + lemma
            words[-1] += form
        else:
            words.append(form)
            lemmas.append(lemma)
        joined = not token.whitespace_
    return words, lemmas


def _start_of_word(tokens: Sequence[Token], at: int) -> int:
    """Where the word begins that a token ends: "t" of "t-shirt"."""
    while at >= 2 and tokens[at - 1].text == "-" and not tokens[at - 1].whitespace_:
        at -= 2
    return at


def _text_at(tokens: Sequence[Token], at: int) -> str:
    return str(tokens[at].lower_) if 0 <= at < len(tokens) else ""


# --- objects ----------------------------------------------------------------------------------


def _things(tokens: Sequence[Token], ratings: Ratings) -> Iterator[_Part]:
    for token in tokens:
        if token.tag_ in _NOUNS and _names_thing(tokens, token):
            start = _start_of_thing(tokens, token, ratings)
            if start is not None:
                yield start, token.i + 1


def _names_thing(tokens: Sequence[Token], noun: Token) -> bool:
    first = tokens[noun.left_edge.i]
    return (
        noun.dep_ in _HEADS
        and noun.lower_ not in _NO_OBJECTS
        and noun.lemma_ not in _NO_OBJECTS
        and noun.lower_ not in _COLOURS
        # In "a dog runs", "runs" is no plural noun, and in "a man in green climbs a rock" no noun.
        and not (first.lower_ in ("a", "an") and is_plural(noun))
        and not (_has_object(tokens, noun) and noun.lemma_.lower() in _verbs())
        # "A bottle of water", "a dog's nose", "a man-made lake".
        and _text_at(tokens, noun.i + 1) not in ("of", "'s", "'", "-")
        and not (noun.head.lower_ == "of" and _text_at(tokens, noun.head.i - 1) == "body")
    )


def _has_object(tokens: Sequence[Token], noun: Token) -> bool:
    return noun.i + 1 < len(tokens) and tokens[noun.i + 1].tag_ in ("DT", "PRP$")


def _start_of_thing(tokens: Sequence[Token], head: Token, ratings: Ratings) -> int | None:
    """Where the words begin that name one thing together; None if they may be misread."""
    start = _start_of_word(tokens, head.i)
    while start:
        before = tokens[start - 1]
        if before.dep_ not in ("amod", "compound") or before.head.i < start:
            break
        at = _start_of_word(tokens, start - 1)
        look = before.lower_ in _LOOKS
        rated = ratings.of_whole(*_forms(tokens[at : head.i + 1])) is not None
        if not rated and (before.lower_ in BEINGS or not look) and _may_be_verb(before, head):
            return None
        # "Red ball" and "brick house" are two keywords, "hot dog" and "brick wall" are one.
        adjective = before.dep_ == "amod"
        if (look and adjective) or (not rated and (look or adjective)):
            break
        start = at
    return start


def _may_be_verb(before: Token, head: Token) -> bool:
    """Whether "dog leaps" and "dogs leap" is no compound but a sentence."""
    if before.lower_ in POSITIONS:
        return True
    if before.tag_ not in _NOUNS and before.lower_ not in BEINGS:
        return False
    differ = (before.tag_ in _PLURALS) != (head.tag_ in _PLURALS)
    return head.lower_.endswith("ing") or (differ and head.lemma_.lower() in _verbs())


@lru_cache(maxsize=1)
def _verbs() -> Collection[str]:
    """The infinitives that the lemmatizer knows."""
    with PIPELINE_LOCK:
        lookups = pipeline().get_pipe("lemmatizer").lookups
    return frozenset(lookups.get_table("lemma_index")["verb"])


# --- the others -------------------------------------------------------------------------------


def _attributes(tokens: Sequence[Token], things: Sequence[_Part]) -> Iterator[_Part]:
    parts = {at for start, end in things for at in range(start, end)}
    for token in tokens:
        if not _describes(tokens, token):
            continue
        if token.i in parts and token.lower_ not in _MATERIALS:
            continue  # "hot" of "hot dog"
        start = _start_of_word(tokens, token.i)
        if token.lower_ in _COLOURS and _text_at(tokens, start - 1) in _SHADES:
            start -= 1
        yield start, token.i + 1


def _describes(tokens: Sequence[Token], token: Token) -> bool:
    """Whether a word says how a thing looks."""
    dep, tag, word = token.dep_, token.tag_, token.lower_
    if dep not in ("acomp", "amod", "compound") or word in _NO_LOOKS:
        return False
    noun = token.head
    if dep == "acomp":
        return bool(noun.lemma_ == "be" and tag == "JJ" and not any(token.rights))
    of_kind = word in _COLOURS or word in _MATERIALS
    if not (of_kind or (dep == "amod" and tag in ("JJ", "VBN", "VBG"))):
        return False
    if any(t.dep_ == "npadvmod" for t in token.lefts) and token.nbor(-1).text != "-":
        return False  # "Snow covered"
    if tag == "VBG" and token.i and tokens[token.i - 1].lemma_ == "be":
        return False  # "Is holding binoculars"
    following = _text_at(tokens, token.i + 1)
    shade = word in _SHADES and following in _COLOURS
    race = word in _COLOURS and noun.lower_ in _PEOPLE
    return noun.i > token.i and noun.tag_ in _NOUNS and following != "-" and not shade and not race


def _actions(tokens: Sequence[Token]) -> Iterator[_Part]:
    for token in tokens:
        if token.pos_ != "VERB" or token.dep_ in _NO_ACTION_ROLES:
            continue
        lemma, after = lemma_of(token), list(token.rights)
        if lemma in _NO_ACTIONS or any(t.dep_ == "xcomp" for t in after):
            continue
        # "Walks down a road" is no phrasal verb, whatever the parser says.
        phrasal = lemma in _PHRASAL or not any(t.dep_ == "dobj" for t in after)
        particle = bool(after) and after[0].dep_ == "prt" and after[0].i == token.i + 1
        particle = particle and _text_at(tokens, token.i + 2) != "to"
        yield token.i, token.i + (2 if particle and phrasal else 1)


def _relations(tokens: Sequence[Token]) -> Iterator[_Part]:
    for token in tokens:
        if token.lower_ in _OPENINGS or (token.dep_ == "prep" and token.lower_ in _RELATIONS):
            size = _length_of_relation(tokens, token)
            if size and _says_where(token, tokens[token.i + size - 1]):
                yield token.i, token.i + size


def _length_of_relation(tokens: Sequence[Token], token: Token) -> int:
    for size in (3, 2):
        if tuple(t.lower_ for t in tokens[token.i : token.i + size]) in _LONG_RELATIONS:
            return size
    return int(token.dep_ == "prep" and token.lower_ in _RELATIONS)


def _says_where(first: Token, last: Token) -> bool:
    """Whether a preposition places one thing by another, and does not belong to its verb."""
    thing = next((t for t in last.rights if t.dep_ == "pobj"), None)
    if thing is None or thing.lower_ in _COLOURS:
        return False
    forms = {thing.lower_, thing.lemma_}
    worn = first.lower_ == "in" and forms & _CLOTHES
    return not worn and not forms & (_TIMES | _NO_OBJECTS) and lemma_of(first.head) not in _BOUND_BY


def _counts(tokens: Sequence[Token]) -> Iterator[_Part]:
    for token in tokens:
        if token.tag_ == "CD" and token.dep_ == "nummod":
            noun = token.head
            if noun.i > token.i and noun.tag_ in _NOUNS and noun.lemma_ not in _TIMES:
                yield token.i, token.i + 1
