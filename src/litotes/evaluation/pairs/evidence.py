"""What captions tell about words: what may be there though unsaid, and what goes with what.

A word that no caption of a photograph says may be true of it all the same. How likely that is, is
estimated in the manner of Good (Biometrika 1953), as in :mod:`litotes.mining.things`: of the
photographs whose captions say another word, the share in which just one caption says this one.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from math import log
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer

from litotes.language.lexicon import MASS_NOUNS

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

#: Photographs of a word from which on something is concluded from it.
MIN_PHOTOGRAPHS = 20
#: The rare noun is taken for countable.
MIN_USES = 3
#: A noun that is in no list of mass nouns is one from so many uses without an article on.
MIN_BARE = 20
#: Words go together from such a share on of what chance would give.
MIN_LIFT = 0.7
#: Of a noun's attributes, the share from which on one is no slip.
MIN_SHARE = 0.003

#: Words of a line may be said of the same thing: where one is said, none of the others is false.
_ALIKE = """
bike bicycle cycle motorcycle motorbike dirtbike moped scooter biker cyclist bicyclist rider
car vehicle van truck suv jeep taxi auto automobile bus traffic pickup
boat kayak canoe raft ship sailboat rowboat paddle rafting kayaking canoeing row
ball basketball football baseball soccer volleyball tennis toy game
frisbee disc disk toy
dog puppy pup hound animal pet animals retriever labrador lab terrier poodle shepherd collie pug
cat kitten animal pet
animal cow bull calf cattle sheep goat lamb pony horse donkey
bird duck goose pigeon seagull gull swan chicken hawk eagle parrot flock
street road sidewalk pavement path highway city crosswalk alley curb driveway trail lot track
beach shore sand sandy ocean coast seashore shoreline
water ocean sea lake river pond pool stream creek wave surf puddle splash swim swimmer wade
field grass grassy lawn meadow yard park backyard garden pasture hay
mountain hill cliff rock peak slope hillside mountainside boulder rocky canyon ridge
forest wood woods wooded tree trees jungle leaf branch
snow snowy ice icy winter ski skier snowboard snowboarder sled snowball
building house home store shop church tower skyscraper structure city window castle
bench seat chair couch sofa stool armchair swing lap
table desk counter bar restaurant
hat cap helmet hood beanie headgear sunhat wig
glasses glass sunglasses goggles eyewear spectacle
jacket coat vest sweater hoodie sweatshirt shirt top suit uniform jersey
shirt t-shirt tee top jersey blouse tank tanktop
pants jeans shorts trousers khakis trunks
umbrella parasol canopy tent
picture painting photo photograph image poster mural graffiti
phone cellphone cell telephone mobile
plate bowl dish cup glass mug
food meal snack lunch dinner eat
bag backpack purse luggage suitcase
stick branch log twig wood
fence wall rail railing gate
flag banner
fountain sprinkler water
statue sculpture figure
musician guitar instrument band music drum
baby infant toddler newborn
skateboard skateboarder skateboarding skater skate board
surfboard surf surfer surfing board wave
ski skis skier skiing
big large huge giant enormous gigantic larger bigger great massive oversized
small little tiny miniature smaller short young puppy baby mini
tall high large big long
old older elderly aged senior gray-haired vintage antique worn
young younger little small youth teen teenage teenager boy girl child kid baby toddler youngster
red maroon orange pink rust rusty burgundy reddish
orange red rust peach
brown red rust reddish
yellow gold golden blond blonde orange tan cream neon
blue navy teal turquoise purple denim jean jeans
green teal turquoise camouflage lime olive
purple violet lavender pink blue
pink red purple rose
black dark gray grey
white light pale cream beige tan gray grey silver blond blonde
brown tan beige khaki golden brindle rust reddish chocolate
gray grey silver black white
tan brown beige khaki sand golden blond blonde cream
colorful multicolored colored multi rainbow bright colourful decorated patterned floral
striped spotted checkered plaid
spotted dalmatian spot spots speckled
wooden wood log plank timber
metal steel iron metallic chrome
stone rock rocky concrete cement brick cobblestone
wet water swim splash rain soaked pool muddy
dirty muddy mud dirt dust dusty
grassy grass lawn field green
sandy sand beach
dirt muddy mud dusty sand
crowded crowd busy many
empty alone
sunny sun sunlight sunset
snowy snow
run running jog sprint race chase dash gallop charge play
walk walking stroll hike step wander cross
sit sitting seat seated sits perch rest
stand standing wait pose lean
lie lay lying laying rest sleep asleep nap recline relax
jump jumping leap hop midair air dive bounce airborne trick
hold holding carry grab clutch have with
throw toss pitch fling
look watch stare gaze view see observe face
smile laugh grin happy
fly flying air soar
climb climbing climber scale
ride riding rider
eat chew bite feed
play playing game
wear dressed dress
push pull drag tow
beside next near by alongside along side edge bank adjacent close past
under underneath beneath below down
above over overhead atop
behind back background after
front ahead
inside indoors indoor in
outside outdoors outdoor
across opposite
away off far
out outside exit leave from
child kid boy girl baby toddler
flower flowers bouquet floral bloom plant garden
band drummer
kite fly flying
"""
_GROUPS = [frozenset(line.split()) for line in _ALIKE.strip().splitlines()]
_ALIKE_OF = {
    word: frozenset().union(*(group for group in _GROUPS if word in group))
    for group in _GROUPS
    for word in group
}
_WORD = re.compile(r"[a-z]+")


def alike(word: str) -> frozenset[str]:
    """The words that may be said of what this one is said of, itself among them."""
    return _ALIKE_OF.get(word, frozenset()) | {word}


def words_of(doc: Doc) -> set[str]:
    """All words of a caption, as they stand and as lemmas."""
    return {form for t in doc if t.is_alpha for form in (t.lower_, t.lemma_.lower())}


def role_of(noun: Token) -> tuple[str, str]:
    """How a noun stands in its sentence, and of which verb or preposition: ``("dobj", "hold")``."""
    head = noun.head
    if noun.dep_ == "pobj":
        return "pobj", preposition(head)
    if noun.dep_ == "conj":
        return role_of(head)
    if noun.dep_ in ("nsubj", "nsubjpass"):
        return "nsubj", head.lemma_.lower()
    if noun.dep_ == "ROOT" or noun.dep_ == "attr":
        # "A man riding a bike": what he does is said behind him.
        verb = next((t for t in noun.rights if t.dep_ in ("acl", "relcl")), None)
        return ("nsubj", verb.lemma_.lower()) if verb is not None else ("", "")
    return noun.dep_, head.lemma_.lower()


def place_of(noun: Token) -> tuple[str, str]:
    """As :func:`role_of`, but a preposition with what is there: ``("pobj", "sit on")``."""
    if noun.dep_ == "conj":
        return place_of(noun.head)
    if noun.dep_ != "pobj":
        return role_of(noun)
    last = preposition(noun.head)
    first = noun.head
    while first.dep_ in ("prep", "pobj", "pcomp") and first.lower_ != last.split()[0]:
        first = first.head
    return "pobj", f"{first.head.lemma_.lower()} {last}"


#: Prepositions of more words, by their last: "in front of", "next to".
_LONG = ("in front of", "on top of", "next to", "out of", "far from", "away from", "close to")


def preposition(last: Token) -> str:
    """A preposition, with the words before that belong to it."""
    before = last.doc[max(0, last.i - 2) : last.i + 1].text.lower()
    return next((long for long in _LONG if before.endswith(long)), last.lower_)


@dataclass(frozen=True)
class Evidence:
    """Counts over captions.

    Attributes:
        column: of each word.
        lone: ``(words, words)``, sparse: of the photographs whose captions say the row's word,
            in how many a lone caption says the column's.
        beside: likewise, in how many any caption says the column's.
        alone: ``(words,)``: in how many photographs a lone caption says each.
        size: the number of photographs.
        photographs: ``(words,)``: how many photographs' captions say each.
        seen: how often a noun stands in a role, an attribute before a noun, and the like.
        forms: the form of a lemma by Penn tag.
        bare: of singular nouns, how often with no article or the like.
        counted: how often with "a".
    """

    column: dict[str, int]
    lone: Any
    beside: Any
    alone: NDArray[np.int64]
    size: int
    photographs: NDArray[np.int64]
    seen: Counter[tuple[str, str, str]]
    forms: dict[tuple[str, str], str]
    bare: Counter[str]
    counted: Counter[str]
    _known: dict[str, NDArray[np.float64]] = field(default_factory=dict, repr=False)
    _near: dict[str, NDArray[np.int32]] = field(default_factory=dict, repr=False)

    @classmethod
    def read(cls, docs: Sequence[Doc], sizes: Sequence[int], more: Iterable[Doc]) -> Evidence:
        """Count.

        Args:
            docs: captions, parsed, those of a photograph together.
            sizes: how many captions each photograph has.
            more: captions of other pictures, whose grammar alone counts.
        """
        vectorizer = CountVectorizer(analyzer=sorted, dtype=np.int32)
        said = vectorizer.fit_transform(words_of(doc) for doc in docs)
        rows = np.repeat(np.arange(len(sizes)), sizes)
        owner = CountVectorizer(analyzer=list).fit_transform([[f"{i:09d}"] for i in rows])
        counts = (owner.T @ said).tocsr()
        there, once = (counts > 0).astype(np.int32), (counts == 1).astype(np.int32)
        seen, forms = Counter[tuple[str, str, str]](), Counter[tuple[str, str, str]]()
        bare, counted = Counter[str](), Counter[str]()
        for doc in [*docs, *more]:
            seen.update(_grammar(doc))
            forms.update((t.lemma_.lower(), t.tag_, t.lower_) for t in doc if t.is_alpha)
            for noun in doc:
                if noun.tag_ == "NN" and noun.dep_ != "compound":
                    _count_article(noun, bare, counted)
        return cls(
            {str(word): int(i) for word, i in vectorizer.vocabulary_.items()},
            (there.T @ once).tocsc(),
            (there.T @ there).tocsc(),
            np.asarray(once.sum(axis=0)).ravel(),
            len(sizes),
            np.asarray(there.sum(axis=0)).ravel(),
            seen,
            _most_usual(forms),
            bare,
            counted,
        )

    def go_together(self, word: str, other: str) -> bool:
        """Whether captions of a photograph say both words about as often as by chance, or more."""
        column, row = self.column.get(word), self.column.get(other)
        if column is None or row is None:
            return False
        if word not in self._near:
            self._near[word] = self.beside[:, [column]].toarray().ravel()
        met = int(self._near[word][row])
        chance = self.photographs[column] * self.photographs[row] / self.size
        return met >= 2 and met >= MIN_LIFT * chance

    def unsaid(self, word: str, beside: Iterable[str]) -> float:
        """The chance that a word is true though unsaid, by the worst of those that are said."""
        shares = self._shares(word)
        if shares is None:
            return 0.0
        rows = [self.column[other] for other in {word, *beside} if other in self.column]
        return float(shares[rows].max())

    def _shares(self, word: str) -> NDArray[np.float64] | None:
        """``(words,)``: of the photographs of each word, in how many a lone caption says this."""
        column = self.column.get(word)
        if column is None:
            return None
        if word not in self._known:
            lone = self.lone[:, [column]].toarray().ravel()
            enough = self.photographs >= MIN_PHOTOGRAPHS
            self._known[word] = np.where(enough, lone / self.photographs, 0.0)
            self._known[word][column] = self.alone[column] / self.size
        return self._known[word]

    def may_look(self, noun: str, look: str) -> bool:
        """Whether a noun is known with an attribute, and not by a slip."""
        uses = self.seen["look", noun, look]
        return uses >= MIN_USES and uses >= MIN_SHARE * self.looks[noun]

    @cached_property
    def looks(self) -> Counter[str]:
        """How often each noun has an attribute."""
        counts = Counter[str]()
        for (kind, noun, _), count in self.seen.items():
            if kind == "look":
                counts[noun] += count
        return counts

    def usual(self, text: str) -> float:
        """How usual the words of a text are: their mean log count of photographs."""
        words = [word for word in _WORD.findall(text.lower()) if word in self.column]
        counts = [self.photographs[self.column[word]] for word in words]
        return sum(map(log, counts)) / max(1, len(counts))

    @cached_property
    def finite(self) -> frozenset[str]:
        """All forms of verbs in the third person."""
        return frozenset(form for (_, tag), form in self.forms.items() if tag == "VBZ")

    def inflected(self, name: str, tag: str) -> str | None:
        """A phrase with its last word in the form of a tag, if that was ever seen."""
        *before, lemma = name.split()
        form = self.forms.get((lemma, tag))
        return None if form is None else " ".join([*before, form])

    def takes_article(self, name: str) -> bool:
        """Whether one says "a ..." of a noun in the singular, rather than no article."""
        lemma = name.split()[-1]
        bare, counted = self.bare[lemma], self.counted[lemma]
        return counted >= bare or bare < MIN_USES

    def goes_bare(self, name: str) -> bool:
        """Whether a noun in the singular stands without an article."""
        lemma = name.split()[-1]
        often = self.bare[lemma] >= MIN_BARE and self.bare[lemma] > 2 * self.counted[lemma]
        return lemma in MASS_NOUNS or often


def _most_usual(forms: Counter[tuple[str, str, str]]) -> dict[tuple[str, str], str]:
    usual: dict[tuple[str, str], str] = {}
    for (lemma, tag, form), _ in sorted(forms.items(), key=lambda item: (-item[1], item[0])):
        usual.setdefault((lemma, tag), form)
    return usual


def _grammar(doc: Doc) -> Iterator[tuple[str, str, str]]:
    for t in doc:
        if t.tag_ in ("NN", "NNS"):
            yield (*role_of(t), noun_name(t))
            if t.dep_ in ("pobj", "conj"):
                yield (*place_of(t), noun_name(t))
        if t.dep_ in ("amod", "compound", "nummod") and t.head.i > t.i:
            yield "look", t.head.lemma_.lower(), t.lower_
        if t.dep_ == "prep":
            yield "prep", t.head.lemma_.lower(), t.lower_
        if t.pos_ == "VERB":
            kinds = {c.dep_ for c in t.rights}
            yield "object" if "dobj" in kinds else "no object", t.lemma_.lower(), ""


def noun_name(noun: Token) -> str:
    """A noun's lemma, with the nouns right before that belong to it: "fire hydrant"."""
    return " ".join([*(t.lower_ for t in compounds(noun)), noun.lemma_.lower()])


def compounds(noun: Token) -> list[Token]:
    """Nouns right before a noun that belong to it."""
    found: list[Token] = []
    for t in reversed(list(noun.lefts)):
        if t.dep_ != "compound" or t.tag_ not in ("NN", "NNS") or t.i != noun.i - len(found) - 1:
            break
        found.insert(0, t)
    return found


def _count_article(noun: Token, bare: Counter[str], counted: Counter[str]) -> None:
    lefts = list(noun.lefts)
    if any(t.lower_ in ("a", "an") for t in lefts):
        counted[noun.lemma_.lower()] += 1
    elif not any(t.dep_ in ("det", "poss", "nummod") for t in lefts):
        bare[noun.lemma_.lower()] += 1
