"""Captions made false by a negation: something that the caption asserts is denied.

:func:`negate` chooses by the dependency parse what to deny (a thing, a look, an action, a relation)
and words it in one of many ways, all else kept: "A dog runs with a ball" becomes "A dog runs
without a ball", "A dog isn't running with a ball", "No dog runs with a ball", "A dog runs with a
stick, not a ball". Whatever alternative is named, the sentence denies what is there, so it is false
wherever the caption is true.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain
from random import Random
from typing import TYPE_CHECKING, NamedTuple, TypeAlias

from litotes.language.cues import has_negation
from litotes.language.lexicon import ANIMALS, BEINGS, POSITIONS, listed
from litotes.language.phrasing import (
    CUT,
    caption,
    gerund,
    indefinite_article,
    is_countable_singular,
)
from litotes.language.sentences import (
    has_false_number,
    is_plural,
    is_sentence,
    lower_word,
    opening_phrase,
    read,
    root_of,
    subject_of,
)

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token


class Negated(NamedTuple):
    """A caption made false.

    Attributes:
        text: the false caption.
        kind: what was denied: "object", "attribute", "action" or "relation".
        what: the denied words of the caption.
    """

    text: str
    kind: str
    what: str


Role: TypeAlias = tuple[str, bool, bool]
"""What a noun phrase does in its sentence: its place, whether it is alive, whether it is plural."""
Alternatives: TypeAlias = Mapping[Role, Sequence[str]]
"""Noun phrases that may stand in each other's place, from :func:`find_alternatives`."""

KINDS = ("object", "attribute", "action", "relation")


class _Edit(NamedTuple):
    """Tokens ``start`` up to ``end`` and what stands there instead."""

    start: int
    end: int
    text: str


_Wording: TypeAlias = tuple[_Edit, ...]


class _Option(NamedTuple):
    """One part of the caption that can be denied, and the edits that may do so."""

    what: str
    wordings: Iterator[_Wording]


#: Looks that one can say of a thing that it "is not".
_COLOURS = listed(
    "black blue brown gray green grey orange pink purple red tan white yellow golden blond blonde"
)
_LOOKS = _COLOURS | listed(
    """
    adult bald bare beautiful big bright checkered clean colorful colourful crowded dark dead
    dirty dry elderly empty fancy fat flowered fluffy furry giant grassy happy heavy hooded huge
    icy large leafy little long metal muddy narrow old older open plaid plastic pretty rocky round
    rusty sandy shaggy shallow shiny short skinny small snowy spotted steep striped sunny tall thin
    tiny wet wide wooden young younger
    """
)
#: Postures and movements, no two of which are done at once.
_POSTURES = (
    *("climbing", "jumping", "lying down", "running", "sitting", "sleeping"),
    *("standing", "swimming", "walking"),
)
_POSTURE_LEMMAS = listed("climb jump lie lay run sit sleep stand swim walk leap rest")
#: Prepositions that say where, or what one has on.
_PLACES = listed(
    """
    above across against along alongside among around at behind below beneath beside between by in
    inside near on onto outside over past through throughout under underneath
    """
)
_OPPOSITES = {
    "above": "below", "below": "above", "behind": "in front of", "inside": "outside",
    "outside": "inside", "on": "under", "under": "on", "underneath": "on", "beneath": "on",
    "over": "under",
}  # fmt: skip
_KEPT_NOUNS = POSITIONS | listed(
    """
    afternoon air area attempt bit day daytime dusk dawn end evening fun game group kind lot
    midair mid moment morning motion nap night number other others pair picture place row rest
    ride set side something someone sort sunset time turn type variety walk while
    """
)
#: Determiners that give way to "no".
_INDEFINITE = listed("a an some one two three four five six several many few the")
_CLAUSE_TAGS = frozenset({"CC", "WDT", "WP", "WRB", "VBZ", "VBP", "VBD", "VBG", "MD"})
_TRIES = 8
#: Uses from which on a noun phrase is an alternative.
MIN_USES = 2


def negate(
    text: Doc | str, rng: Random, alternatives: Alternatives | None = None
) -> Negated | None:
    """Make a caption false by denying something it asserts.

    Args:
        text: an affirmative caption, or one parsed by :func:`litotes.language.sentences.read`,
            which is faster for many.
        rng: draws what is denied and how; the same state draws the same.
        alternatives: for wordings such as "a chair, not a tree"; none are used without.

    Returns:
        None where the caption holds a negation, or nothing that the rules can deny.
    """
    doc = read([text])[0] if isinstance(text, str) else text
    original = doc.text
    if not original or has_negation(original):
        return None
    for kind in rng.sample(KINDS, len(KINDS)):
        options = list(_FINDERS[kind](doc, alternatives or {}, rng))
        for option in rng.sample(options, len(options)):
            wordings = list(option.wordings)
            if not wordings:
                continue
            said = _apply(doc, rng.choice(wordings))
            if has_negation(said) and said != original:
                return Negated(said, kind, option.what)
    return None


def negation_pairs(captions: Sequence[str]) -> list[tuple[str, str]]:
    """Captions with their negations, one each, of those that can be negated by rule."""
    made = ((doc.text, negate(doc, Random(n))) for n, doc in enumerate(read(captions)))
    return [(text, negated.text) for text, negated in made if negated]


def find_alternatives(docs: Iterable[Doc]) -> dict[Role, list[str]]:
    """Noun phrases that captions use in the same role twice or more, in the order they are met.

    Those that are used once only may be misread.
    """
    found: dict[Role, Counter[str]] = {}
    for doc in docs:
        for chunk in doc.noun_chunks:
            if _is_simple(chunk) and len(chunk) <= 3 and chunk.root.lower_ not in _ANYONE:
                found.setdefault(_role(chunk), Counter())[_indefinite(chunk)] += 1
    return {
        role: [phrase for phrase, count in phrases.items() if count >= MIN_USES]
        for role, phrases in found.items()
    }


def _apply(doc: Doc, edits: Sequence[_Edit]) -> str:
    """The caption with edits, its stop and its capital letter kept."""
    parts, at = list[str](), 0
    for edit in sorted(edits):
        parts += [doc[at : edit.start].text, edit.text or CUT]
        at = edit.end
    parts.append(doc[at : _end(doc)].text)
    text = caption(" ".join(parts))
    if doc[0].text[0].isupper():
        text = text[:1].upper() + text[1:]
    stop = doc[len(doc) - 1].text
    return text + (stop if stop in (".", "!") else "")


def _end(doc: Doc) -> int:
    """Where the words end and the closing stops begin."""
    end = len(doc)
    while end and doc[end - 1].is_punct:
        end -= 1
    return end


# --- things -----------------------------------------------------------------------------------


def _objects(doc: Doc, alternatives: Alternatives, rng: Random) -> Iterator[_Option]:
    for chunk in doc.noun_chunks:
        if _is_simple(chunk):
            wordings = chain(
                _without(chunk),
                _no_object(chunk),
                _no_subject(doc, chunk),
                _taken_out(doc, chunk),
                _exchanged(doc, chunk, alternatives, rng),
            )
            yield _Option(_bare(chunk), wordings)


def _without(chunk: Span) -> Iterator[_Wording]:
    """Of "with a ball" make "without a ball"."""
    before = chunk[0].nbor(-1) if chunk.start else None
    if chunk.root.dep_ != "pobj" or before is None or before.lower_ != "with":
        return
    yield (_Edit(before.i, before.i + 1, "without"),)
    yield (_Edit(before.i, chunk.end, f"with no {_bare(chunk)}"),)
    yield (_Edit(before.i, chunk.end, f"without any {_bare(chunk)}"),)
    yield (_Edit(before.i, chunk.end, f"lacking {_indefinite(chunk)}"),)


def _no_object(chunk: Span) -> Iterator[_Wording]:
    """Of "holding a ball" make "holding no ball"."""
    verb = chunk.root.head
    if verb.i != chunk.start - 1 or not (chunk.root.dep_ == "dobj" or _is_there(chunk, verb)):
        return
    yield (_Edit(chunk.start, chunk.end, f"no {_bare(chunk)}"),)
    if verb.lemma_ in ("wear", "hold", "carry", "have"):
        if verb.tag_ == "VBG" and not _auxiliary(verb) and verb.dep_ in ("acl", "advcl", "ROOT"):
            yield (_Edit(verb.i, chunk.end, f"without {_indefinite(chunk)}"),)
        if verb.tag_ == "VBZ":
            yield (_Edit(verb.i, chunk.end, f"lacks {_indefinite(chunk)}"),)


def _is_there(chunk: Span, verb: Token) -> bool:
    """Whether a noun phrase stands behind "there is"."""
    subject = subject_of(verb)
    return chunk.root.dep_ == "attr" and subject is not None and subject.dep_ == "expl"


def _no_subject(doc: Doc, chunk: Span) -> Iterator[_Wording]:
    """Of "A dog runs" make "No dog runs", and "A dog running" "There is no dog running"."""
    if chunk.start != 0 or list(chunk.root.conjuncts):
        return
    bare, root = _bare(chunk), root_of(doc)
    sentence = is_sentence(doc)
    subject = subject_of(root)
    if sentence and (subject is None or subject.i != chunk.root.i):
        return
    if not sentence and opening_phrase(doc) is None:
        return
    are = "are" if is_plural(chunk.root) else "is"
    no = [f"no {bare}"] if is_plural(chunk.root) else [f"no {bare}", f"not a single {bare}"]
    if not is_countable_singular(chunk.root.text, chunk.root.tag_):
        no = no[:1]
    yield from (((_Edit(0, chunk.end, word)),) for word in no)
    if not sentence:
        yield from ((_Edit(0, chunk.end, f"there {are} {word}"),) for word in no)
        yield (_Edit(0, chunk.end, f"the picture does not show {_indefinite(chunk)}"),)
    auxiliary = _auxiliary(root)
    if sentence and root.tag_ == "VBG" and auxiliary is not None:
        gone = _Edit(auxiliary.i, auxiliary.i + 1, "")
        yield from ((_Edit(0, chunk.end, f"there {are} {word}"), gone) for word in no)
    if sentence and are == "is" and chunk.root.lower_ in _PEOPLE and len(chunk) < 3:
        yield (_Edit(0, chunk.end, "nobody"),)
        yield (_Edit(0, chunk.end, "no one"),)


def _taken_out(doc: Doc, chunk: Span) -> Iterator[_Wording]:
    """Of "A man on a bike in a street" make "A man in a street, but no bike"."""
    place = _place_of(chunk)
    if place is None or not _may_go(doc, place):
        return
    bare, phrase = _bare(chunk), _indefinite(chunk)
    if chunk.root.lemma_ in {t.lemma_ for t in doc if t.i not in range(place.start, place.end)}:
        return
    is_, isnt = ("are", "aren't") if is_plural(chunk.root) else ("is", "isn't")
    end = _end(doc)
    for said in (
        f", but no {bare}",
        f", but there {is_} no {bare}",
        f", with no {bare} in sight",
        f", and {phrase} {is_} nowhere to be seen",
        f", but {phrase} {is_} not visible",
        f", and there {isnt} any {bare}" if is_plural(chunk.root) else f", without {phrase}",
        f", in a scene that lacks {phrase}",
        f", where no {bare} can be seen",
        *([f", in a place free of {bare}"] if phrase == bare else []),
    ):
        yield _moved(place, end, said)
    first = lower_word(doc[0])
    gone = _Edit(place.start, place.end, "")
    yield (_Edit(0, 1, f"no {bare} here: {first}"), gone)
    if is_sentence(doc):
        yield (_Edit(0, 1, f"without {phrase}, {first}"), gone)


def _moved(place: Span, end: int, said: str) -> _Wording:
    """Take words out, and say something else at the end."""
    if place.end == end:
        return (_Edit(place.start, end, said),)
    return (_Edit(place.start, place.end, ""), _Edit(end, end, said))


def _exchanged(
    doc: Doc, chunk: Span, alternatives: Alternatives, rng: Random
) -> Iterator[_Wording]:
    """Of "a dog" make "a cat, not a dog"."""
    other = _alternative(doc, chunk, alternatives, rng)
    if other is None:
        return
    comma = "" if chunk.end == _end(doc) else ","
    phrase = _indefinite(chunk)
    yield (_Edit(chunk.start, chunk.end, f"{other}, not {phrase}{comma}"),)
    yield (_Edit(chunk.start, chunk.end, f"{other} but not {phrase}"),)
    yield (_Edit(chunk.start, chunk.end, f"{other} instead of {phrase}"),)
    if chunk.root.dep_ != "pobj":
        yield (_Edit(chunk.start, chunk.end, f"not {phrase} but {other}"),)


def _alternative(doc: Doc, chunk: Span, alternatives: Alternatives, rng: Random) -> str | None:
    root, role = chunk.root, _role(chunk)
    # Of dead subjects many are living ones that the lists do not know.
    usable = root.lower_ not in _ANYONE and (role[1] or root.dep_ in ("pobj", "dobj"))
    phrases = alternatives.get(role, ()) if usable else ()
    said = {form for token in doc for form in (token.lower_, token.lemma_.lower())}
    said -= {"a", "an", "some"}
    for _ in range(_TRIES if phrases else 0):
        phrase = rng.choice(phrases)
        if not said & set(phrase.split()):
            return phrase
    return None


# --- looks ------------------------------------------------------------------------------------


def _attributes(doc: Doc, alternatives: Alternatives, rng: Random) -> Iterator[_Option]:
    for token in doc:
        if token.lower_ not in _LOOKS or list(token.conjuncts):
            continue
        noun = token.head
        if token.dep_ == "acomp" and noun.lemma_ == "be" and noun.tag_ in ("VBZ", "VBP"):
            yield _Option(token.text, _not_after(noun))
        elif token.dep_ in ("amod", "compound") and _describes(token, noun):
            yield _Option(f"{token.lower_} {noun.text}", _not_such(doc, token, noun, rng))


def _describes(look: Token, noun: Token) -> bool:
    """Whether a look belongs to the noun behind it, and no shade or hyphen is in between."""
    between = look.doc[look.i + 1 : noun.i]
    plain = all(t.dep_ in ("amod", "compound") and t.tag_ in ("JJ", "NN") for t in between)
    shaded = look.i > 0 and look.nbor(-1).lower_ in ("light", "dark", "bright", "very", "-")
    return (
        look.i < noun.i
        and plain
        and not shaded
        and noun.tag_ in ("NN", "NNS")
        and noun.lower_ not in _KEPT_NOUNS
        and not any(t.text == "-" for t in between)
        and not list(noun.conjuncts)
        and _ends_phrase(noun)
    )


def _ends_phrase(noun: Token) -> bool:
    following = noun.nbor(1) if noun.i + 1 < len(noun.doc) else None
    return following is None or (following.tag_ not in ("NN", "NNS", "POS", "HYPH", "WDT", "WP"))


def _not_such(doc: Doc, look: Token, noun: Token, rng: Random) -> Iterator[_Wording]:
    """Of "a red ball" make "a ball that is not red", "a ball, but not a red one"."""
    one = "ones" if is_plural(noun) else "one"
    article = "" if is_plural(noun) else f"{indefinite_article(look.lower_)} "
    gone, at = _Edit(look.i, look.i + 1, ""), noun.i + 1
    comma = "" if at >= _end(doc) else ","
    for said in (
        f"{_who_is(noun)} not {look.lower_}",
        f"{_who_is(noun)}n't {look.lower_}",
        *([f", but not {article}{look.lower_} {one}{comma}"] if _counts(noun) else []),
    ):
        yield (gone, _Edit(at, at, said))
    if look.lower_ in _COLOURS:
        others = sorted({"black", "blue", "brown", "green", "red", "white"} - {look.lower_})
        other = rng.choice(others)
        yield (gone._replace(text=f"{CUT} {other}, not {look.lower_},"),)
        if _counts(noun):
            said = f", not {article}{look.lower_} {one}{comma}"
            yield (gone._replace(text=f"{CUT} {other}"), _Edit(at, at, said))


def _counts(noun: Token) -> bool:
    """Whether one may call it "one" or "ones"."""
    named = noun.lower_ in BEINGS or noun.lemma_ in BEINGS
    people = named and noun.lemma_ not in ANIMALS
    return not people and (is_plural(noun) or is_countable_singular(noun.text, noun.tag_))


# --- actions ----------------------------------------------------------------------------------


def _actions(doc: Doc, alternatives: Alternatives, rng: Random) -> Iterator[_Option]:
    for token in doc:
        if token.pos_ == "VERB" and token.lemma_ != "be" and token.dep_ not in _NO_PREDICATES:
            wordings = chain(_not_doing(token), _doing_else(doc, token, rng))
            yield _Option(_gerund(token), wordings)


_NO_PREDICATES = listed("amod compound pobj xcomp ccomp")


def _not_doing(verb: Token) -> Iterator[_Wording]:
    auxiliary, subject = _auxiliary(verb), subject_of(verb)
    if verb.tag_ in ("VBG", "VBN") and auxiliary is not None:
        yield from _not_after(auxiliary)
    elif subject is not None and not list(verb.conjuncts) and _agrees(verb, subject):
        does, be = ("does", "is") if verb.tag_ == "VBZ" else ("do", "are")
        lemma, here = _base(verb), _Edit(verb.i, verb.i + 1, "")
        yield (here._replace(text=f"{does} not {lemma}"),)
        yield (here._replace(text=f"{does}n't {lemma}"),)
        if lemma != "have":
            yield (here._replace(text=f"{be} not {gerund(lemma)}"),)
            yield (here._replace(text=f"{be}n't {gerund(lemma)}"),)
            yield (here._replace(text=f"{be} no longer {gerund(lemma)}"),)
    elif verb.tag_ == "VBG" and _follows_noun(verb):
        who_is = _who_is(verb.nbor(-1))
        at = _Edit(verb.i, verb.i, "")
        yield (at._replace(text="not"),)
        yield (at._replace(text=f"{who_is} not"),)
        yield (at._replace(text=f"{who_is}n't"),)
    elif verb.tag_ == "VBG" and verb.dep_ == "advcl" and verb.head.i < verb.i:
        marked = verb.nbor(-1).dep_ == "mark"  # "while wearing"
        for word in ("not",) if marked else ("without", "but not"):
            yield (_Edit(verb.i, verb.i, word),)


def _not_after(auxiliary: Token) -> Iterator[_Wording]:
    """Of "is" make "is not" and "isn't"."""
    at = _Edit(auxiliary.i, auxiliary.i + 1, "")
    yield (at._replace(text=f"{auxiliary.text} not"),)
    if auxiliary.lower_ in ("is", "are"):
        yield (at._replace(text=f"{auxiliary.text}n't"),)


def _doing_else(doc: Doc, verb: Token, rng: Random) -> Iterator[_Wording]:
    """Of "is running" make "is sleeping, not running"."""
    done = verb.text.lower()
    goes_on = any(t.dep_ in ("dobj", "prt", "xcomp", "advmod") for t in verb.rights)
    if verb.tag_ != "VBG" or verb.lemma_ not in _POSTURE_LEMMAS or goes_on:
        return
    if _auxiliary(verb) is None and not _follows_noun(verb):
        return
    other = rng.choice([posture for posture in _POSTURES if posture.split()[0] != done])
    comma = "" if verb.i + 1 >= _end(doc) else ","
    yield (_Edit(verb.i, verb.i + 1, f"{other}, not {done}{comma}"),)
    yield (_Edit(verb.i, verb.i + 1, f"{other} instead of {done}"),)


def _follows_noun(verb: Token) -> bool:
    """Whether a participle describes the noun right before it."""
    if not verb.i or _auxiliary(verb) is not None:
        return False
    noun = verb.nbor(-1)
    described = verb.head.i == noun.i and verb.dep_ == "acl"
    return described or (noun.head.i == verb.i and noun.dep_ == "nsubj" and verb.dep_ == "ROOT")


def _auxiliary(verb: Token) -> Token | None:
    """The "is" or "are" of "is running"."""
    forms = ("is", "are", "has", "have", "can")
    found = (t for t in verb.lefts if t.dep_ in ("aux", "auxpass") and t.lower_ in forms)
    return next(found, None)


def _agrees(verb: Token, subject: Token) -> bool:
    """Whether a verb is in the present tense and of its subject's number; else it was misread."""
    several = is_plural(subject) or bool(list(subject.conjuncts))
    return bool(verb.tag_ == "VBP" and several) or bool(verb.tag_ == "VBZ" and not several)


def _base(verb: Token) -> str:
    """The infinitive; the lemmatizer takes "rides" for a form of "rid"."""
    lemma = str(verb.lemma_).lower()
    if verb.lower_ == f"{lemma}es" and not lemma.endswith(("s", "x", "z", "ch", "sh", "o")):
        return f"{lemma}e"
    return lemma


def _gerund(verb: Token) -> str:
    return str(verb.lower_) if verb.tag_ in ("VBG", "VBN") else gerund(_base(verb))


# --- relations --------------------------------------------------------------------------------


def _relations(doc: Doc, alternatives: Alternatives, rng: Random) -> Iterator[_Option]:
    for chunk in doc.noun_chunks:
        place = _place_of(chunk)
        if place is not None and chunk.root.pos_ != "PRON":
            yield _Option(place.text, chain(_not_there(doc, place), _elsewhere(place)))


def _not_there(doc: Doc, place: Span) -> Iterator[_Wording]:
    """Of "runs on grass" make "runs, but not on grass", and "a dog on grass" "… not on grass"."""
    owner = place.root.head
    if owner.lemma_ == "be" and owner.i == place.start - 1 and owner.tag_ in ("VBZ", "VBP"):
        yield from _not_after(owner)
    elif owner.pos_ in ("NOUN", "PROPN") and owner.i == place.start - 1:
        yield (_Edit(place.start, place.start, f"{_who_is(owner)} not"),)
        yield (_Edit(place.start, place.start, f"{_who_is(owner)}n't"),)
    if not _may_go(doc, place):
        return
    for said in (f", but not {place.text}", f", though not {place.text}", f", not {place.text}"):
        yield _moved(place, _end(doc), said)


def _elsewhere(place: Span) -> Iterator[_Wording]:
    """Of "under a table" make "on and not under a table"."""
    word = place[0]
    opposite = _OPPOSITES.get(word.lower_)
    if opposite is not None and word.head.lower_ not in ("dressed", "covered"):
        yield (_Edit(word.i, word.i + 1, f"{opposite} and not {word.lower_}"),)


# --- what they share --------------------------------------------------------------------------


def _is_simple(chunk: Span) -> bool:
    """Whether "no" can deny a noun phrase: no names, pronouns, owners, or one of several."""
    root = chunk.root
    following = root.nbor(1) if root.i + 1 < len(root.doc) else None
    return (
        root.tag_ in ("NN", "NNS")
        and root.pos_ != "PRON"
        and root.lower_ not in _KEPT_NOUNS
        and root.lemma_ not in _KEPT_NOUNS
        and not list(root.conjuncts)
        and all(t.is_alpha and t.tag_ not in ("PRP$", "POS", "WDT") for t in chunk)
        and all(t.tag_ != "DT" or t.lower_ in _INDEFINITE for t in chunk)
        and not has_false_number(chunk)
        and all(t.tag_ != "CC" for t in chunk)
        and bool(_bare(chunk))
        and (not chunk.start or chunk[0].nbor(-1).lower_ != "-")
        and (following is None or following.lower_ not in ("of", "'s", "-"))
    )


def _bare(chunk: Span) -> str:
    """A noun phrase without its determiner."""
    words = list(chunk)
    while len(words) > 1 and (words[0].lower_ in _INDEFINITE or words[0].tag_ == "CD"):
        words = words[1:]
    text = " ".join(token.text for token in words)
    return text if words[0].tag_ in ("NNP", "NNPS") else text[:1].lower() + text[1:]


def _indefinite(chunk: Span) -> str:
    """A noun phrase with "a" or "an", if it is one countable thing."""
    bare = _bare(chunk)
    if not is_countable_singular(chunk.root.text, chunk.root.tag_):
        return bare
    return f"{indefinite_article(bare.split()[0])} {bare}"


def _role(chunk: Span) -> Role:
    root = chunk.root
    place = str(root.head.lemma_ if root.dep_ == "dobj" else root.dep_)
    if root.dep_ == "pobj":
        # One is in a coat and in a street, but the one is no choice beside the other.
        place = f"{root.head.lower_}, worn" if root.lemma_ in _CLOTHES else root.head.lower_
    return place, _is_alive(root), is_plural(root)


def _is_alive(noun: Token) -> bool:
    return noun.lemma_.lower() in BEINGS or noun.lower_ in BEINGS


def _place_of(chunk: Span) -> Span | None:
    """The words that say where something is: "on a bench", "next to a bench"."""
    root = chunk.root
    before = root.head
    if root.dep_ != "pobj" or before.lower_ not in (*_PLACES, "to", "of"):
        return None
    start = before
    if before.lower_ == "to" and before.i and before.nbor(-1).lower_ == "next":
        start = before.nbor(-1)
    elif before.lower_ == "of" and before.head.lower_ in ("front", "top"):
        start = before.head.head
    elif before.lower_ not in _PLACES:
        return None
    subtree = [token.i for token in start.subtree]
    contiguous = subtree[-1] - subtree[0] + 1 == len(subtree) and subtree[0] == start.i
    return root.doc[subtree[0] : subtree[-1] + 1] if contiguous else None


def _may_go(doc: Doc, place: Span) -> bool:
    """Whether a place can be taken out and denied at the end.

    It can where it follows the main verb (or noun), and no other clause or list follows it.
    """
    root, end = root_of(doc), _end(doc)
    behind = doc[place.end : end]
    return (
        max(root.i, 1) < place.start < place.end <= end
        and not any(token.tag_ in _CLAUSE_TAGS or token.is_punct for token in behind)
        and not any(token.tag_ in _CLAUSE_TAGS for token in place)
        and not list(place.root.conjuncts)
        and root.lemma_ != "be"
    )


def _who_is(noun: Token) -> str:
    """Say "who is" of a person, and "that are" of things."""
    who = "who" if noun.lower_ in _PEOPLE or noun.lower_ in _PLURAL_PEOPLE else "that"
    return f"{who} {'are' if is_plural(noun) else 'is'}"


_CLOTHES = listed(
    """
    blouse bikini cap clothes clothing coat costume dress gear glove hat helmet hoodie jacket jean
    jersey outfit overall pajama pant robe shirt short shorts skirt sock suit sweater sweatshirt
    swimsuit swimwear t-shirt tie trouser trunk tuxedo underwear uniform vest wetsuit
    """
)
_ANYONE = frozenset({"person", "persons", "people", "human", "humans", "adult", "adults"})
_PEOPLE = listed("man woman boy girl person child kid guy lady teenager toddler player")
_PLURAL_PEOPLE = listed("men women boys girls people children kids guys ladies players")
_Finder: TypeAlias = Callable[["Doc", Alternatives, Random], Iterator[_Option]]
_FINDERS: Mapping[str, _Finder] = {
    "object": _objects,
    "attribute": _attributes,
    "action": _actions,
    "relation": _relations,
}
