"""Edits that make a caption false, learned from the pairs of SugarCrepe (arXiv 2306.14610).

A pair of which one run of words differs teaches what was put in the place of what ("cat" for "dog",
"wooden" for "metal", "standing beside" for "sitting on"), or what was added ("a fountain" behind
"and", "near" or "with"; "spotted" before "dog"). What a language model once took for its opposite
is so both ways: contrasts are learned in both directions, by which either word is as often on the
true side as on the false one. Words are kept as lemmas, each with the words before its head.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, TypeVar

from pydantic import BaseModel, TypeAdapter

from litotes.data.json_files import read_json
from litotes.language.lexicon import listed
from litotes.language.sentences import read

if TYPE_CHECKING:
    from spacy.tokens import Doc, Token


class Relation(NamedTuple):
    """A verb or none, as a lemma, and the particles and prepositions behind it."""

    verb: str
    rest: str


class Thing(NamedTuple):
    """A thing that was added: its lemma, with the words before it, and its number."""

    name: str
    plural: bool


Alternatives: TypeAlias = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Edits:
    """What was learned.

    Attributes:
        nouns: of each noun, as a lemma, its alternatives; in alphabetical order, as all are.
        looks: of each attribute, its alternatives.
        relations: likewise of verbs and prepositions.
        things: that were added, by the word that joins them: "and", "with", "near", "next to".
        added_looks: attributes that were added, and before which nouns.
        sources: captions of the true sides, parsed.
    """

    nouns: Mapping[str, Sequence[str]]
    looks: Mapping[str, Sequence[str]]
    relations: Mapping[Relation, Sequence[Relation]]
    things: Mapping[str, Sequence[Thing]]
    added_looks: Mapping[str, Sequence[str]]
    sources: Sequence[Doc] = ()


class _Pair(BaseModel):
    caption: str
    negative_caption: str


T = TypeVar("T")
U = TypeVar("U")
_PAIRS = TypeAdapter(dict[str, _Pair])
_Run: TypeAlias = "list[Token]"

#: Words of prepositions, of one word or more ("in front of"), and particles of verbs.
_RELATING = listed(
    """
    above across against ahead along alongside among around at away behind below beneath beside
    between by down from front in inside into near next of off on onto opposite out outside over
    past through to top toward towards under underneath up upon with
    """
)
#: What joins a thing that was added.
LINKS = ("and", "with", "near", "next to")


def learn(folder: Path) -> Edits:
    """Learn the edits of SugarCrepe's files.

    Args:
        folder: holds ``replace_obj.json``, ``replace_att.json``, ``replace_rel.json``,
            ``add_obj.json`` and ``add_att.json``.

    Raises:
        DataError: a file is missing or malformed; says where.
    """
    sources: list[Doc] = []

    def runs(name: str) -> list[tuple[_Run, _Run]]:
        return list(_read(folder / name, sources))

    added = [after for before, after in runs("add_att.json") if not before]
    looks = [(_look(run), run[-1].head.lemma_.lower()) for run in added if run]
    return Edits(
        nouns=_contrasts((_noun(a), _noun(b)) for a, b in runs("replace_obj.json")),
        looks=_contrasts((_look(a), _look(b)) for a, b in runs("replace_att.json")),
        relations=_contrasts((_relation(a), _relation(b)) for a, b in runs("replace_rel.json")),
        things=_table({t for a, b in runs("add_obj.json") if not a for t in _thing(b)}),
        added_looks=_table({(look, noun) for look, noun in looks if look is not None}),
        sources=sources,
    )


def _read(file: Path, sources: list[Doc]) -> Iterator[tuple[_Run, _Run]]:
    """The runs of words that differ in pairs where only one does; keeps the true captions."""
    pairs = list(read_json(file, _PAIRS).values())
    true = read([pair.caption for pair in pairs])
    false = read([pair.negative_caption for pair in pairs])
    sources += true
    for a, b in zip(true, false, strict=True):
        run = _differing(a, b)
        if run is not None:
            yield run


def _differing(a: Doc, b: Doc) -> tuple[_Run, _Run] | None:
    """The one run of words in which two texts differ; articles' forms and stops do not count."""
    x, y = ([t for t in doc if not t.is_punct] for doc in (a, b))
    matcher = SequenceMatcher(None, [*map(_same, x)], [*map(_same, y)], autojunk=False)
    runs = [code for code in matcher.get_opcodes() if code[0] != "equal"]
    if len(runs) != 1:
        return None
    _, i, j, k, m = runs[0]
    return x[i:j], y[k:m]


def _same(token: Token) -> str:
    return "a" if token.lower_ == "an" else token.lower_


def _contrasts(pairs: Iterable[tuple[T | None, T | None]]) -> dict[T, list[T]]:
    """What was put in the place of what, both ways."""
    known = [(a, b) for a, b in pairs if a is not None and b is not None and a != b]
    return _table({*known, *((b, a) for a, b in known)})


def _table(pairs: set[tuple[T, U]]) -> dict[T, list[U]]:
    table: dict[T, list[U]] = {}
    for key, value in sorted(pairs):
        table.setdefault(key, []).append(value)
    return table


def _noun(run: _Run) -> str | None:
    """Of "a traffic light" take "traffic light"; none of what has attributes of its own."""
    while run and run[0].tag_ in ("DT", "PRP$"):
        run = run[1:]
    is_noun = bool(run) and all(t.tag_ in ("NN", "NNS") for t in run)
    if not is_noun or len(run) > 2 or run[-1].dep_ == "compound":
        return None
    return phrase(run)


def _look(run: _Run) -> str | None:
    """An attribute before its noun: "wooden", "double decker", "three"."""
    if not 1 <= len(run) <= 2 or not all(t.is_alpha for t in run):
        return None
    last = run[-1]
    stands = last.dep_ in ("amod", "compound", "nummod") and last.head.i > last.i
    if not stands or any(t.tag_ in ("DT", "IN", "PRP$") for t in run):
        return None
    return " ".join(t.lower_ for t in run)


def _relation(run: _Run) -> Relation | None:
    """Of "is standing next to the" take "stand" and "next to"."""
    if run and run[0].lemma_ == "be" and len(run) > 1:
        run = run[1:]
    if run and run[-1].tag_ == "DT":
        run = run[:-1]
    verb = ""
    if run and run[0].pos_ == "VERB" and run[0].tag_ in ("VBG", "VBZ", "VBP"):
        verb, run = run[0].lemma_.lower(), run[1:]
    rest = [t.lower_ for t in run]
    if not (verb or rest) or len(rest) > 3 or not _RELATING.issuperset(rest):
        return None
    return Relation(verb, " ".join(rest))


def _thing(run: _Run) -> Iterable[tuple[str, Thing]]:
    """Of "and a fire hydrant are" take "fire hydrant" behind "and"."""
    words = [t.lower_ for t in run]
    for link in LINKS:
        parts = link.split()
        if words[: len(parts)] == parts:
            rest = run[len(parts) :]
            break
        if link == "and" and "and" in words[1:]:  # "a fire hydrant and" before another thing
            rest = run[: words.index("and")]
            break
    else:
        return
    if rest and rest[-1].lemma_ == "be":
        rest = rest[:-1]
    has_article = bool(rest) and rest[0].lower_ in ("a", "an", "some", "the")
    rest = rest[1:] if has_article else rest
    if not 1 <= len(rest) <= 2 or not all(t.tag_ in ("NN", "NNS") for t in rest):
        return
    plural = rest[-1].tag_ == "NNS"
    yield link, Thing(phrase(rest), plural)


def phrase(tokens: Sequence[Token]) -> str:
    """Words as they stand, the last as its lemma."""
    return " ".join([*(t.lower_ for t in tokens[:-1]), tokens[-1].lemma_.lower()])
