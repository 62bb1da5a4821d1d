"""Things that captions name: what each photograph shows, and what it surely lacks.

Captions are no annotations: what a caption does not say may still be there. A thing counts as
shown where two captions name it and none makes a verb of it ("slides into base"), and as lacking
where no caption names it or hints at it; all else is left open. As no word net is at hand, hints
come from the corpus itself:

- a word that contains the thing's word or is contained in it ("puppies" and "pup", "snowy" and
  "snow");
- a near-substitute: a noun that is said of the same photographs, but by other captions ("puppy"
  where another says "dog"), whereas things that stand side by side are named together;
- a word in whose company the thing goes unsaid: among its photographs, so many have the thing
  named by a lone caption that some must have it named by none ("surfer" and "wave").

The last is an estimate in the manner of Good (Biometrika 1953): what was seen just once tells of
what was never seen. By the same measure, things that people do not name reliably, such as trees
and hair, are never said to be lacking at all.
"""

import re
from collections import Counter
from collections.abc import Sequence, Set
from dataclasses import dataclass
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.feature_extraction.text import CountVectorizer

from litotes.errors import DataError
from litotes.language import has_negation
from litotes.language.lexicon import ANIMALS, BEINGS, MASS_NOUNS, POSITIONS, listed
from litotes.language.parse import PIPELINE_LOCK, pipeline
from litotes.language.phrasing import with_article
from litotes.language.statements import Wording

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token

#: The class of all words for people; a photograph of a boy shows a person.
PERSON = "person"
#: A thing's mentions by a lone caption, as a share of all its mentions.
MAX_LONE = 0.25
#: Photographs of a word where a lone caption names the thing, for each one where none does.
MAX_MISSED = 0.15
#: Evidence below which nothing is concluded from a word: photographs of the word, those of them
#: where the thing is named, and meetings in one caption that chance would give.
MIN_PHOTOGRAPHS = 4
MIN_NAMED = 2
MIN_MEETINGS = 3.0
#: Substitutes meet in one caption at most so often, as a share of what chance would give.
MAX_MEETING = 0.5
#: Meetings that every lift is given beforehand, so that rare words tell little.
LIFT_PRIOR = 3.0
#: Nouns that mean a thing only together with the word before ("bathing suit", "ice cream") have
#: one in this share of their uses; parts of something else have an owner ("its mouth").
MAX_COMPOUND = 0.5
MAX_OWNED = 0.5
#: A noun that is in no list of mass nouns is one from so many uses without an article on.
MIN_BARE = 20
#: From this share of plural uses on, a thing is spoken of in the plural ("jeans", "flowers").
MIN_PLURAL = 0.75


#: Many of something, perhaps of people: hints, but no names.
_GROUPS = listed("band couple crowd family group herd pack pair team")
_PEOPLE = (BEINGS - ANIMALS - _GROUPS) | listed(
    """
    bicyclist bowler boxer boyfriend bystander canoeist catcher cheerleader dad daughter diner
    fireman girlfriend goalie golfer grandma grandpa groom gymnast human individual kayaker mom
    newborn nurse onlooker pitcher policewoman priest queen rollerblader sibling skydiver
    snorkeler son sportsman stranger tot wakeboarder waterskier windsurfer
    """
)
_PEOPLE_PRONOUNS = listed("he she him her his hers himself herself someone somebody")
_PEOPLE_ENDINGS = ("man", "men", "woman", "women", "boy", "boys", "girl", "girls")
_AGENT = re.compile(r"(?P<stem>\w{3,}?)(?:er|or|ist)s?")

#: Nouns that name no thing that a photograph could lack: how and where it is, what goes on in it,
#: shapes, amounts, colours, the camera that everyone looks into, and words too vague to deny.
_NO_THINGS = POSITIONS | listed(
    """
    act action activity angle area arrangement base bunch camera celebration class climb closeup
    color colour competition concert contest crossing dance day daytime dive drink edge evening
    event exercise exhibit expression fall feature fight flight flip formation fun game gear half
    handstand item jump kick kind landscape leap length level line look lot match meal midair
    midday moment morning motion move movement music night number object one other outdoors part
    party pattern performance piece pile place play playing portion pose position practice process
    race reflection ride round row run scenery season section self set shade shadow shape show
    sight silhouette size slice smile something sort space splash sport spot spring stack stance
    stand standing state step stunt style summer sunset surface swim thing throw time touch trick
    trip turn type variety walk weather wedding while winter work world
    baseball basketball cricket football golf hockey lacrosse rugby soccer tennis volleyball
    black blonde blue brown gold gray green grey orange pink purple red silver tan white yellow
    board field land lawn site yard
    """
)
#: Parts of people, animals and things, and what people wear and carry, or what hangs about in
#: streets and rooms: they are there, said or unsaid.
_UNSAID = listed(
    """
    ankle arm beak beard belly body cheek chest chin ear elbow eye eyebrow face feather finger
    fist foot forehead fur hair hand head hip hoof horn jaw knee lap leg lip mouth muscle nail neck
    nose palm paw shoulder skin stomach tail thigh thumb toe tongue tooth tusk waist wing wrist
    bark blade branch button ceiling chain cushion door doorway floor grip handle handlebar hood
    knob leaf lid pedal petal pocket roof root seat sleeve stem strap string tire trunk twig tyre
    wall wheel window windshield
    blouse bra clothe clothes clothing garment jean jeans pant pants shirt shoe short shorts sock
    sweater trouser trousers underwear
    backpack bag book bottle bracelet cellphone cup earring jewelry lamp light logo necklace paper
    phone pole post poster purse ring sign watch
    """
)
#: What is said of things alone: colours, patterns and materials.
_LOOKS = listed(
    """
    black blond blonde blue brass brick bronze brown checkered clay concrete cotton glass gold
    golden gray green grey leather metal orange pink plaid plastic purple red rubber rusty sandy
    silver spotted steel stone striped tan white wood wooden woolen yellow
    """
)


class Noun(NamedTuple):
    """The head of a noun chunk; see :func:`read_words`."""

    lemma: str
    form: str
    plural: bool
    article: bool  # "a" or "an"
    bare: bool  # singular, nothing that determines it
    owned: bool  # "his", "the dog's"
    compound: bool  # a noun before it belongs to it
    joined: str  # written as one with the noun before it: "sidecar" of "side car"
    look: bool  # a colour or material is said of it


class CaptionWords(NamedTuple):
    """What one caption says.

    Attributes:
        heads: of its noun chunks; none where the caption holds a negation.
        words: its nouns, pronouns, verbs and adjectives, as they stand and as lemmas.
        nouns: those of ``words`` that are nouns.
        verbs: the lemmas of its verbs.
        joined: neighbouring nouns written as one ("skate board").
    """

    heads: tuple[Noun, ...]
    words: frozenset[str]
    nouns: frozenset[str]
    verbs: frozenset[str]
    joined: frozenset[str]


class Thing(NamedTuple):
    """A thing and how to say it: "a dog", "water", "flowers".

    Attributes:
        name: its lemma.
        bare: behind "no".
        phrase: with its article, if it wants one.
        plural: whether its verb is in the plural.
    """

    name: str
    bare: str
    phrase: str
    plural: bool

    @property
    def wording(self) -> Wording:
        """How statements say it."""
        return Wording(self.bare, self.phrase, self.plural)


@dataclass(frozen=True)
class Content:
    """What photographs show and lack.

    Attributes:
        things: reliably named, in alphabetical order.
        shown: ``(photographs, things)``, bool.
        lacking: ``(photographs, things)``, bool.
        company: ``(photographs, things)``: how usual each thing is beside what the photograph's
            captions name: the geometric mean of its lifts over their nouns.
        dropped: the words that are frequent but no such things, by reason.
    """

    things: Sequence[Thing]
    shown: NDArray[np.bool_]
    lacking: NDArray[np.bool_]
    company: NDArray[np.float64]
    dropped: dict[str, list[str]]


def find_content(captions: Sequence[Sequence[str]], min_images: int) -> Content:
    """Find what photographs show and lack by their captions.

    Args:
        captions: of each photograph.
        min_images: photographs that must show a thing.

    Raises:
        DataError: no photograph has two captions, or no thing is found.
    """
    if max(map(len, captions), default=0) < 2:
        raise DataError(
            "every photograph has one caption: what a single caption leaves out may still be "
            "there, so at least two a photograph are needed"
        )
    corpus = _Corpus.read(captions)
    frequent, dropped = _frequent_things(corpus, min_images)
    lone = _lone_share(corpus, frequent)
    names = [name for name in frequent if lone[name] <= MAX_LONE]
    dropped["seldom agreed on"] = [name for name in frequent if lone[name] > MAX_LONE]
    if not names:
        raise DataError(
            f"no thing is named by two captions of at least {min_images} photographs and agreed "
            "on by most: more photographs, more captions each, or a lower least number are needed"
        )
    related = _alike(corpus, names) | _substitutes(corpus, names)
    hints = related | _in_whose_company_unsaid(corpus, related)
    hinted = (corpus.words @ hints.astype(np.int32)) > 0
    return Content(
        things=[_wording(name, corpus.uses[name]) for name in names],
        shown=corpus.shown(names),
        lacking=~hinted & (corpus.sizes >= 2)[:, None],
        company=_company(corpus, names),
        dropped=dropped,
    )


def read_words(texts: Sequence[str]) -> list[CaptionWords]:
    """The words of captions, tagged in batches."""
    with PIPELINE_LOCK:
        return [_words_of(doc) for doc in pipeline().pipe(texts, batch_size=256)]


def _words_of(doc: "Doc") -> CaptionWords:
    content = [token for token in doc if token.is_alpha and token.pos_ in _CONTENT]
    nouns = [token for token in content if token.pos_ in ("NOUN", "PROPN")]
    pairs = [(a, b) for a, b in pairwise(nouns) if a.i + 1 == b.i]
    chunks = () if has_negation(doc.text) else doc.noun_chunks
    heads = (c.root for c in chunks if c.root.pos_ in ("NOUN", "PROPN"))
    return CaptionWords(
        heads=tuple(map(_noun, heads)),
        words=frozenset(form for token in content for form in _forms(token)),
        nouns=frozenset(form for token in nouns for form in _forms(token)),
        verbs=frozenset(token.lemma_.lower() for token in content if token.pos_ == "VERB"),
        joined=frozenset(a.lower_ + form for a, b in pairs for form in _forms(b)),
    )


_CONTENT = ("NOUN", "PROPN", "PRON", "VERB", "ADJ")


def _forms(token: "Token") -> tuple[str, str]:
    return token.lower_, token.lemma_.lower()


def _noun(token: "Token") -> Noun:
    before = list(token.lefts)
    words = {left.lower_ for left in before}
    plural = token.tag_ in ("NNS", "NNPS")
    kinds = {left.dep_ for left in before}
    return Noun(
        lemma=token.lemma_.lower(),
        form=token.lower_,
        plural=plural,
        article=bool(words & {"a", "an"}),
        bare=not plural and not kinds & {"det", "poss", "nummod"},
        owned="poss" in kinds,
        compound="compound" in kinds and not words & _LOOKS,
        joined=token.nbor(-1).lower_ + token.lemma_.lower() if token.i else "",
        look=bool(words & _LOOKS),
    )


@dataclass(frozen=True)
class _Corpus:
    """Captions as tables; a word is a column.

    Attributes:
        column: of each word.
        nouns: the words that occur as nouns.
        said: ``(captions, words)``, sparse: which caption says which word.
        words: ``(photographs, words)``, sparse: how many captions of each say it.
        owner: ``(captions, photographs)``, sparse: whose each caption is.
        uses: every noun's uses as the head of a chunk.
        named: how many captions of a photograph name each noun, as the head of a chunk; none
            where a caption makes a verb of it.
        sizes: captions of each photograph.
    """

    column: dict[str, int]
    nouns: NDArray[np.bool_]
    said: Any
    words: Any
    owner: Any
    uses: dict[str, list[Noun]]
    named: list[Counter[str]]
    sizes: NDArray[np.int64]

    @classmethod
    def read(cls, captions: Sequence[Sequence[str]]) -> "_Corpus":
        tagged = read_words([text for texts in captions for text in texts])
        known = {word for caption in tagged for word in caption.nouns}
        read = _with_people([_as_one(caption, known) for caption in tagged])
        if not any(caption.words for caption in read):
            raise DataError("no caption holds a noun, a verb or an adjective: no thing is named")
        said, column = _incidence([caption.words for caption in read])
        nouns = np.zeros(len(column), dtype=bool)
        nouns[[column[word] for caption in read for word in caption.nouns]] = True
        sizes = np.array([len(texts) for texts in captions])
        # Numbers of equal width: columns are in alphabetical order.
        owner, _ = _incidence([{f"{i:012d}"} for i, size in enumerate(sizes) for _ in range(size)])
        uses: dict[str, list[Noun]] = {}
        named: list[Counter[str]] = []
        following = iter(read)
        for size in sizes:
            group = list(islice(following, size))
            verbs = {verb for caption in group for verb in caption.verbs}
            named.append(
                Counter(n for c in group for n in {noun.lemma for noun in c.heads} - verbs)
            )
            for noun in (noun for caption in group for noun in caption.heads):
                uses.setdefault(noun.lemma, []).append(noun)
        return cls(column, nouns, said, owner.T @ said, owner, uses, named, sizes)

    def shown(self, names: Sequence[str]) -> NDArray[np.bool_]:
        """``(photographs, names)``: named by two captions, or by the only one."""
        counts = np.array([[named[name] for name in names] for named in self.named])
        return counts >= np.minimum(self.sizes, 2)[:, None]

    def columns(self, names: Sequence[str]) -> list[int]:
        return [self.column[name] for name in names]


def _incidence(sets: Sequence[Set[str]]) -> tuple[Any, dict[str, int]]:
    """``(sets, words)``, sparse, int32: which set holds which word; and each word's column."""
    vectorizer = CountVectorizer(analyzer=sorted, dtype=np.int32)
    table = vectorizer.fit_transform(sets)
    return table, {str(word): int(place) for word, place in vectorizer.vocabulary_.items()}


def _as_one(caption: CaptionWords, known: Set[str]) -> CaptionWords:
    """Take "side car" for "sidecar", if others write it so."""
    joined = caption.joined & known
    heads = tuple(
        noun._replace(lemma=noun.joined, compound=False) if noun.joined in joined else noun
        for noun in caption.heads
    )
    return caption._replace(heads=heads, words=caption.words | joined, nouns=caption.nouns | joined)


def _with_people(captions: list[CaptionWords]) -> list[CaptionWords]:
    """Call every person a person; words that may mean one also say so, but name none."""
    stems = {word for caption in captions for word in caption.words}

    def hinting(caption: CaptionWords) -> bool:
        return bool(caption.words & (_PEOPLE | _GROUPS | _PEOPLE_PRONOUNS)) or any(
            _may_be_person(noun, stems) for noun in caption.nouns
        )

    def with_people(caption: CaptionWords) -> CaptionWords:
        if not hinting(caption):
            return caption
        return caption._replace(
            heads=tuple(
                noun._replace(lemma=PERSON) if noun.lemma in _PEOPLE else noun
                for noun in caption.heads
            ),
            words=caption.words | {PERSON},
            nouns=caption.nouns | {PERSON},
        )

    return [with_people(caption) for caption in captions]


def _may_be_person(noun: str, stems: set[str]) -> bool:
    if noun.endswith(_PEOPLE_ENDINGS):
        return True
    agent = _AGENT.fullmatch(noun)
    if agent is None:
        return False
    stem = agent["stem"]
    doubled = stem[:-1] if stem[-1] == stem[-2] else stem
    return bool({stem, f"{stem}e", doubled} & stems)


def _frequent_things(corpus: _Corpus, min_images: int) -> tuple[list[str], dict[str, list[str]]]:
    """Nouns that enough photographs show and that name a thing; and those that do not, by why."""
    dropped: dict[str, list[str]] = {"too few photographs": [], "no thing": []}
    dropped |= {"no look": [], "part of another": [], "kind unsaid": []}
    kept = []
    counts = Counter(
        name
        for named, size in zip(corpus.named, corpus.sizes, strict=True)
        for name, count in named.items()
        if count >= min(size, 2)
    )
    for name, uses in sorted(corpus.uses.items()):
        reason = _why_no_thing(name, uses)
        if name not in corpus.column or counts[name] < min_images:
            dropped["too few photographs"].append(name)
        elif reason:
            dropped[reason].append(name)
        else:
            kept.append(name)
    return kept, dropped


def _why_no_thing(name: str, uses: list[Noun]) -> str | None:
    def share(count: int) -> float:
        return count / len(uses)

    if name == PERSON:
        return None
    if name in _NO_THINGS or name in _GROUPS or not name.isalpha():
        return "no thing"
    if name in _UNSAID:
        return "part of another"
    if not any(noun.look for noun in uses):
        return "no look"
    if share(sum(noun.owned for noun in uses)) > MAX_OWNED:
        return "part of another"
    if share(sum(noun.compound for noun in uses)) > MAX_COMPOUND:
        return "kind unsaid"
    return None


def _lone_share(corpus: _Corpus, names: Sequence[str]) -> dict[str, float]:
    """Of each thing's mentions, by any noun like its own, the share by a lone caption."""
    related = _alike(corpus, names) & corpus.nouns[:, None]
    counts = _mentions(corpus, related)[corpus.sizes >= 2]
    shares = (counts == 1).sum(axis=0) / np.maximum(counts.sum(axis=0), 1)
    return dict(zip(names, shares.tolist(), strict=True))


def _alike(corpus: _Corpus, names: Sequence[str]) -> NDArray[np.bool_]:
    """``(words, names)``: one begins or ends with the other."""
    table = np.zeros((len(corpus.column), len(names)), dtype=bool)
    for word, row in corpus.column.items():
        # "Carry" has nothing of a car, but most nouns in "car-" have.
        least = 3 if corpus.nouns[row] else 4
        table[row] = [word == name or _contains(word, name, least) for name in names]
    return table


def _contains(word: str, name: str, least: int) -> bool:
    short, long = sorted((word, name), key=len)
    return len(short) >= least and (long.startswith(short) or long.endswith(short))


def _substitutes(corpus: _Corpus, names: Sequence[str]) -> NDArray[np.bool_]:
    """``(words, names)``: nouns said of the same photographs, but not by the same captions."""
    columns = corpus.columns(names)
    met = (corpus.said.T @ corpus.said[:, columns]).toarray()
    rates = corpus.words.multiply(1 / corpus.sizes[:, None]).tocsr()
    expected = (rates.T @ corpus.words[:, columns]).toarray()
    there = _there(corpus)
    spread = _spread(corpus)
    together = (there.T @ there[:, columns]).toarray()
    drawn = together * len(corpus.sizes) > np.outer(spread, spread[columns])
    apart = (expected >= MIN_MEETINGS) & (met < MAX_MEETING * expected)
    return np.asarray(apart & drawn & corpus.nouns[:, None])


def _in_whose_company_unsaid(corpus: _Corpus, related: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """``(words, names)``: words in whose company a thing is often named by one caption alone."""
    there = _there(corpus)
    counts = _mentions(corpus, related)
    named = there.T @ (counts > 0).astype(np.int32)
    lone = there.T @ (counts == 1).astype(np.int32)
    photographs = _spread(corpus)[:, None]
    return np.asarray(
        (photographs >= MIN_PHOTOGRAPHS)
        & (named >= MIN_NAMED)
        # One more, as the next photograph may be the first.
        & (lone + 1 > MAX_MISSED * (photographs - named))
    )


def _mentions(corpus: _Corpus, related: NDArray[np.bool_]) -> NDArray[np.int64]:
    """``(photographs, names)``: captions that say a related word ``(words, names)``."""
    said = (corpus.said @ related.astype(np.int32)) > 0
    return np.asarray(corpus.owner.T @ said.astype(np.int64))


def _company(corpus: _Corpus, names: Sequence[str]) -> NDArray[np.float64]:
    """``(photographs, names)``; see :class:`Content`."""
    there, columns = _there(corpus), corpus.columns(names)
    spread = _spread(corpus)
    together = (there.T @ there[:, columns]).toarray()
    chance = np.outer(spread, spread[columns]) / len(corpus.sizes)
    lift = (together + LIFT_PRIOR) / (chance + LIFT_PRIOR)
    nouns = np.maximum(there @ corpus.nouns.astype(np.int32), 1)[:, None]
    return np.asarray(np.exp((there @ (np.log(lift) * corpus.nouns[:, None])) / nouns))


def _there(corpus: _Corpus) -> Any:
    """``(photographs, words)``, sparse, int32: whether any caption says the word."""
    return (corpus.words > 0).astype(np.int32)


def _spread(corpus: _Corpus) -> NDArray[np.float64]:
    """``(words,)``: photographs of which each word is said."""
    return np.asarray(_there(corpus).sum(axis=0), dtype=float).ravel()


def _wording(name: str, uses: Sequence[Noun]) -> Thing:
    plurals = Counter(noun.form for noun in uses if noun.plural)
    if name != PERSON and plurals.total() >= MIN_PLURAL * len(uses):
        form = plurals.most_common(1)[0][0]
        return Thing(name, form, form, plural=True)
    articles = sum(noun.article for noun in uses)
    bare = sum(noun.bare for noun in uses)
    # "In suit and tie" makes no mass of a suit.
    mass = bare >= articles if name in MASS_NOUNS else bare > articles and bare >= MIN_BARE
    if mass:
        return Thing(name, name, name, plural=False)
    return Thing(name, name, with_article(name), plural=False)
