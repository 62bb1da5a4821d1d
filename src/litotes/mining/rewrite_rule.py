"""Captions changed at one keyword by rule, so that they are false, and read as well as before.

A replacement is drawn from the corpus: a word of the same form that captions use in the same role
(:mod:`litotes.mining.vocabulary`). Near in meaning it is by a table of words that exclude each
other (:mod:`litotes.mining.exclusive`), else by WordNet, where its files are given, else by the
very role. It is drawn as often as captions use it so: no word tells by itself that a caption was
changed. What any caption of the picture says or hints at is no replacement, as it may be there.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, TypeAlias

from litotes.data.concrete_pairs import KeywordKind
from litotes.language.edits import Edit, edited
from litotes.language.lexicon import ANIMALS, BEINGS, POSITIONS, listed
from litotes.language.sentences import read
from litotes.language.wordnet import Kinship, kinship
from litotes.mining.exclusive import (
    ACTIONS,
    ADJECTIVES,
    COUNTS,
    DEEDS,
    NOUNS,
    RELATIONS,
    WIDE_NOUNS,
)
from litotes.mining.keywords import lemma_of
from litotes.mining.planting import Dropped, Keyword, Rewrite, Rewritten, Seed
from litotes.mining.swaps import swap
from litotes.mining.vocabulary import (
    Role,
    Tag,
    Vocabulary,
    determiner_of,
    frame_of,
    learn,
    roles_of,
)

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

#: Captions that are parsed to learn from, a minute on one core; more change little.
READ = 20_000
#: Of the keywords that can change places with something else, the share that do.
SWAPPED = 0.25
#: Uses of a word, in all and in its role, from which on it is a replacement; less may be misread.
MIN_USES = 3
MIN_IN_ROLE = 2
#: A noun counts things, or is a mass, if such a share of its uses is with "a", or bare.
DETERMINED = 0.2
#: Objects of a verb from which on those it takes are known.
KNOWN = 20
#: Of what stands beside something, a picture may hold more than is said: an alternative is named by
#: several captions of a picture, if it is there, but for this share.
MAX_LONE = 0.5

_Options: TypeAlias = Iterator[tuple[str, float]]
"""Replacements and their weights."""


#: Where they are said, more people are there than any caption describes.
_MANY = listed(
    """
    audience bunch crowd family group many multiple numerous other others pack parade people player
    several spectator team various
    """
)
_MANY_COLOURS = listed(
    "color colored colorful colour coloured colourful multi multicolored multiple rainbow tri"
)
_GENDERED = listed(
    """
    man guy gentleman boy dude father dad brother son grandfather grandpa groom woman lady girl
    mother mom sister daughter grandmother grandma bride baby infant toddler child kid
    """
)
#: How old and how large they are is a matter of opinion.
_CHILDREN = listed("baby boy child girl infant kid toddler")
_GENDERED_PRONOUNS = listed("he she him her his hers himself herself")
_COLOURS = listed(
    """
    beige black blond blonde blue brown gold golden gray green grey maroon orange pink purple red
    silver tan teal turquoise violet white yellow
    """
)
#: Of an animal's coat, each may be said for another; of water, any may.
_COATS = listed("beige blond blonde brown gold golden orange red tan yellow")
_WATERS = listed("lake ocean pool river sea sky stream water wave")
#: What may be said of anything.
_PLAIN = _COLOURS | listed("big large small little tiny huge giant young old older wet dirty")
_ONE = listed("a an another each every one")
_SOME = listed("enough less more much some")
_NOUN_TAGS = ("NN", "NNS")
_PARTS = listed(
    """
    ankle arm beak ear elbow eye face finger fist foot hand head knee leg lip mouth neck nose paw
    shoulder tail tongue tooth
    """
)
#: A hard hat is a helmet, and of a "long sleeve shirt" not the shirt is long.
_PARTED = listed("hard sleeve")
#: Verbs and the like of which any noun may be the object.
_LIGHT = listed("be do get give have include make put see show take use with")
_WAYS = listed("into onto off") | {"out of"}
_MOVING = listed(
    """
    climb come crawl dive fall fly get go hop jump leap ride run skate ski slide step swim wade walk
    """
)
#: Things to which, in a picture, one stands as much the other way.
_LEVEL = listed(
    "aisle beach court field hall hallway lane path road sidewalk street track trail walkway"
)
_WIDE = listed("backdrop building equipment fence net structure wall")
_UNPLACED = {
    **dict.fromkeys(("up", "down"), _LEVEL),
    **dict.fromkeys(("behind", "in front of"), _WIDE),
    "in": listed("air sky"),
}
#: They speak of how many there are in another way than by a number.
_NUMBERED = listed("both either neither third fourth older younger")
_AWAY = listed("backdrop background distance foreground nearby")
_BESIDE = listed("at behind beside by from near past to toward towards")
#: A word that begins or ends with another may mean the same ("snow" and "snowy"), from this length.
_PART = 4


@dataclass(frozen=True)
class RuleRewriter:
    """Changes captions by rule; see the module.

    Attributes:
        vocabulary: what captions say.
        near: for nouns by tag, the words that may stand in their place.
        signs: for each replacement, the words that say that it is or may be in the picture.
    """

    vocabulary: Vocabulary
    near: Mapping[Tag, Mapping[str, Sequence[str]]]
    signs: Mapping[str, frozenset[str]]

    @classmethod
    def from_captions(
        cls, captions: Mapping[str, Sequence[str]], wordnet: Path | None = None, seed: int = 0
    ) -> RuleRewriter:
        """Learn from the captions of images that a seed draws, :data:`READ` captions at most.

        Args:
            captions: of each image.
            wordnet: the folder of WordNet's files, such as Debian's ``/usr/share/wordnet``.
            seed: draws the images.

        Raises:
            LitotesError: WordNet's reader is not installed.
            DataError: the folder holds no WordNet.
        """
        images = sorted(captions)
        Random(seed).shuffle(images)
        texts, sizes = list[str](), list[int]()
        for image in images:
            if texts and len(texts) + len(captions[image]) > READ:
                break
            texts += captions[image]
            sizes.append(len(captions[image]))
        docs = iter(read(texts))
        return cls.from_docs((list(islice(docs, size)) for size in sizes), wordnet)

    @classmethod
    def from_docs(
        cls, pictures: Iterable[Sequence[Doc]], wordnet: Path | None = None
    ) -> RuleRewriter:
        """Learn from the parsed captions of each picture; raises as :meth:`from_captions` does."""
        vocabulary = learn(pictures)
        nouns = {
            noun
            for tag in _NOUN_TAGS
            for noun, uses in vocabulary.uses.get(tag, {}).items()
            if uses >= MIN_USES
        }
        kin = Kinship({}, {}) if wordnet is None else kinship(wordnet, nouns)
        return cls(
            vocabulary,
            {tag: _near(vocabulary, kin, tag) for tag in _NOUN_TAGS},
            _signs(vocabulary, nouns),
        )

    def __call__(self, seeds: Sequence[Seed]) -> list[Rewritten]:
        """Change each caption at the first of its keywords that can be changed."""
        return [self._rewrite(seed) for seed in seeds]

    def _rewrite(self, seed: Seed) -> Rewritten:
        for keyword in seed.keywords:
            swapped = seed.rng.random() < SWAPPED and swap(seed, keyword)
            changed = swapped or self._replaced(seed, keyword)
            if changed:
                return changed
        return Dropped("no replacement" if seed.keywords else "no keyword")

    def _replaced(self, seed: Seed, keyword: Keyword) -> Rewrite | None:
        options = dict(_FINDERS[keyword.kind](self, seed, keyword))
        if not options:
            return None
        drawn = seed.rng.choices(list(options), list(options.values()))[0]
        text = edited(seed.doc, Edit(keyword.start, keyword.end, drawn))
        return Rewrite(text, keyword, drawn)

    # --- things ---------------------------------------------------------------------------

    def _nouns(self, seed: Seed, keyword: Keyword) -> _Options:
        noun = seed.doc[keyword.end - 1]
        lemma, tag = lemma_of(noun), self._tag_of(noun)
        if tag not in _NOUN_TAGS or _is_unsure(seed, noun, lemma) or _is_had(noun):
            return
        if any(token.tag_ == "VBG" for token in seed.doc[keyword.start + 1 : keyword.end]):
            return  # misread: "sits on the field drinking water"
        if lemma not in NOUNS.others and self.vocabulary.is_rather_verb(lemma):
            return
        before = [t for t in noun.lefts if t.i < keyword.start]
        forms = self.vocabulary.forms[tag]
        for word, weight in self._in_role(noun, lemma, tag, seed.said).items():
            if self._fits_number(word, lemma, noun, tag) and self._fits(before, word):
                yield forms[word], weight

    def _tag_of(self, noun: Token) -> Tag:
        """The tagger takes many a noun for a name."""
        tag = str(noun.tag_)
        common = tag.replace("NNP", "NN")
        return common if lemma_of(noun) in self.near.get(common, ()) else tag

    def _in_role(self, noun: Token, lemma: str, tag: Tag, said: frozenset[str]) -> dict[str, int]:
        """Nouns near another that are not in the picture, and their uses in its role."""
        roles, near, least = roles_of(noun), self.near[tag].get(lemma), MIN_IN_ROLE
        if near is None:
            roles, least = [role for role in roles[:1] if role[1] not in _LIGHT], MIN_USES
            near = self._with_role(tag, roles, lemma)
        absent = [word for word in near if said.isdisjoint(self.signs[word])]
        if _is_beside(noun, roles):
            absent = [word for word in absent if self.vocabulary.lone.get(word, 0) <= MAX_LONE]
        if not roles:
            return {word: self.vocabulary.uses[tag][word] for word in absent}
        for role in roles:
            counts = self.vocabulary.roles.get((tag, role), {})
            found = {word: counts[word] for word in absent if counts.get(word, 0) >= least}
            known = role[0] == "dobj" and sum(counts.values()) >= KNOWN
            if found or known or role[-1] == "of":  # a pile of rocks, but not of shops
                return found
        return {}

    def _with_role(self, tag: Tag, roles: Sequence[Role], lemma: str) -> Sequence[str]:
        """Known things of a role, for a noun that no table knows."""
        if not roles or lemma in WIDE_NOUNS | BEINGS | POSITIONS:
            return ()
        if self.vocabulary.uses[tag].get(lemma, 0) < MIN_USES:
            return ()
        things = self.vocabulary.roles.get((tag, roles[0]), {})
        return [word for word in things if word in NOUNS.others and word not in BEINGS | _COLOURS]

    def _fits_number(self, word: str, lemma: str, noun: Token, tag: Tag) -> bool:
        """Whether a noun takes the determiner of another, or none as that does."""
        before = {left.lower_ for left in noun.lefts}
        if tag == "NNS" or not (determiner_of(noun) == "bare" or before & (_ONE | _SOME)):
            return True
        share = self.vocabulary.share
        if before & _ONE:
            return share(word, "a") >= DETERMINED
        if before & _SOME or self._is_mass(lemma):
            return self._is_mass(word)
        # Headlines leave out articles ("dog runs on road"), idioms are of their own ("play ball").
        first = next((t for t in noun.doc if t.pos_ in ("NOUN", "PROPN")), noun)
        headline = first.tag_ in ("NN", "NNP") and determiner_of(first) == "bare"
        return (headline or noun.dep_ == "conj") and share(word, "a") >= DETERMINED

    def _is_mass(self, noun: str) -> bool:
        """Whether it rather has nothing than "a" before it: "grass", but not "dog" or "ocean"."""
        bare = self.vocabulary.share(noun, "bare")
        return bare >= DETERMINED and bare > self.vocabulary.share(noun, "a")

    def _fits(self, before: Sequence[Token], word: str) -> bool:
        """Whether what describes a noun is also said of another."""
        pairs = self.vocabulary.pairs
        return all(
            pairs.get((token.lower_, word), 0) > (token.dep_ == "compound")
            for token in before
            if token.dep_ in ("amod", "compound", "nmod") and token.lower_ not in _PLAIN
        )

    # --- all else -------------------------------------------------------------------------

    def _attributes(self, seed: Seed, keyword: Keyword) -> _Options:
        look = seed.doc[keyword.end - 1]
        colour = look.lower_ in _COLOURS
        noun = lemma_of(_described(look))
        many = _MANY | _MANY_COLOURS
        if noun in _CHILDREN or (colour and (noun in _WATERS or seed.said & many)):
            return
        words = [w for w in sorted(ADJECTIVES.others.get(look.lower_, ())) if self._is_new(w, seed)]
        if noun in ANIMALS and look.lower_ in _COATS:
            words = [word for word in words if word not in _COATS]
        weights = {word: self.vocabulary.pairs.get((word, noun), 0) for word in words}
        if colour and not any(weights.values()):
            uses = self.vocabulary.uses.get("JJ", {})
            weights = {word: uses.get(word, 0) for word in words}
        yield from ((word, weight) for word, weight in weights.items() if weight)

    def _is_new(self, word: str, seed: Seed) -> bool:
        """Whether no caption of the picture says or hints at a word of the tables."""
        return word in self.signs and seed.said.isdisjoint(self.signs[word])

    def _actions(self, seed: Seed, keyword: Keyword) -> _Options:
        verb = seed.doc[keyword.start]
        forms = self.vocabulary.forms.get(verb.tag_, {})
        frame = frame_of(verb)
        uses = self.vocabulary.frames.get(frame, {})
        if seed.said & _MANY or any(t.dep_ == "ccomp" for t in verb.rights):
            return
        things = [lemma_of(t) for t in verb.rights if t.dep_ == "dobj" and t.tag_ in _NOUN_TAGS]
        particle = " ".join(t.lower_ for t in seed.doc[keyword.start + 1 : keyword.end])
        for other in sorted((DEEDS if frame.object else ACTIONS).others.get(lemma_of(verb), ())):
            fits = other in forms and uses.get(other, 0) >= MIN_IN_ROLE
            if (
                fits
                and self._is_new(other, seed)
                and all(self._takes(other, thing) for thing in things)
            ):
                yield f"{forms[other]} {particle}".rstrip(), uses[other]

    def _takes(self, verb: str, thing: str) -> bool:
        roles = self.vocabulary.roles
        return any(roles.get((tag, ("dobj", verb)), {}).get(thing, 0) for tag in _NOUN_TAGS)

    def _relations(self, seed: Seed, keyword: Keyword) -> _Options:
        relation = seed.doc[keyword.start : keyword.end]
        words = relation.text.lower()
        thing = next((t for t in relation[-1].rights if t.dep_ == "pobj"), None)
        moves = words not in _WAYS or lemma_of(relation[0].head) in _MOVING
        if (
            thing is None
            or not moves
            or lemma_of(thing) in _UNPLACED.get(relation.text.lower(), ())
        ):
            return
        for other in RELATIONS.get(words, ()):
            uses = self.vocabulary.prepositions.get((other.split()[-1], lemma_of(thing)), 0)
            if uses >= MIN_IN_ROLE and other not in seed.said:
                yield other, uses

    def _counts(self, seed: Seed, keyword: Keyword) -> _Options:
        uses = self.vocabulary.uses.get("CD", {})
        many = _MANY - {"people", "player", "family", "team"}
        if seed.said & (many | _NUMBERED):
            return
        for other in sorted(COUNTS.others.get(seed.doc[keyword.start].lower_, ())):
            if uses.get(other, 0) >= MIN_USES and other not in seed.said:
                yield other, uses[other]


_FINDERS: Mapping[KeywordKind, Callable[[RuleRewriter, Seed, Keyword], _Options]] = {
    "object": RuleRewriter._nouns,
    "attribute": RuleRewriter._attributes,
    "action": RuleRewriter._actions,
    "relation": RuleRewriter._relations,
    "count": RuleRewriter._counts,
}


def _near(vocabulary: Vocabulary, kin: Kinship, tag: Tag) -> dict[str, tuple[str, ...]]:
    """The nouns that exclude each noun, by the table or else by WordNet."""
    uses = vocabulary.uses.get(tag, {})
    return {
        noun: tuple(
            word
            for word in sorted(others)
            if uses.get(word, 0) >= MIN_USES
            and word not in WIDE_NOUNS
            and word not in kin.related.get(noun, ())
        )
        for noun, others in ({**kin.siblings, **NOUNS.others}).items()
        if noun not in WIDE_NOUNS
    }


def _signs(vocabulary: Vocabulary, nouns: Iterable[str]) -> dict[str, frozenset[str]]:
    """The words that say that each word is or may be in the picture."""
    words = {lemma for uses in vocabulary.uses.values() for lemma in uses}
    words |= {form for forms in vocabulary.forms.values() for form in forms.values()}
    tables = (NOUNS, ACTIONS, DEEDS, ADJECTIVES)
    known = frozenset(nouns).union(*(table.alike for table in tables))
    signs = {word: {word} | vocabulary.hints.get(word, frozenset()) for word in known}
    for word in words:
        for at in range(_PART, len(word)):
            for part in (word[:at], word[-at:]):
                if part in signs:
                    signs[part].add(word)
                    if word in signs:
                        signs[word].add(part)
    for table in tables:
        for word, alike in table.alike.items():
            signs[word] |= alike
    return {word: frozenset(found) for word, found in signs.items()}


def _is_beside(noun: Token, roles: Sequence[Role]) -> bool:
    """Whether a noun only names what is near, or far behind."""
    if any(token.lower_ in _AWAY for token in noun.doc):
        return True
    return any(r[0] == "pobj" and (r[2] in _BESIDE or r[1] in ("front", "middle")) for r in roles)


def _is_unsure(seed: Seed, noun: Token, lemma: str) -> bool:
    """Whether another one may be meant, or a pronoun would not agree."""
    if sum(token.lower_ == noun.lower_ for token in seed.doc) > 1:
        return True
    if any(left.lower_ in _PARTED or left.tag_ == "NNS" for left in noun.lefts):
        return True
    if lemma not in _GENDERED:
        return False
    return bool(seed.said & _MANY) or any(t.lower_ in _GENDERED_PRONOUNS for t in seed.doc)


def _is_had(noun: Token) -> bool:
    """Whether it is a part that all of a kind have, such as another part: "with its tongue out"."""
    return noun.lemma_ in _PARTS and noun.head.lemma_ in ("with", "have", "show")


def _described(look: Token) -> Token:
    """The noun that a look is said of."""
    if look.dep_ == "acomp":
        return next((t for t in look.head.lefts if t.dep_ == "nsubj"), look.head)
    return look.head
