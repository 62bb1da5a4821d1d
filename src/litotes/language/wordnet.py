"""Kinship of nouns by WordNet, for those who have its files (Debian's ``wordnet-base``)."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import Any

from litotes.errors import DataError, LitotesError

_FILES = ("data.noun", "index.noun", "noun.exc", "data.adj", "data.verb", "data.adv", "cntlist.rev")
#: Names of the files that WordNet was made of; Debian leaves the list out.
_LEXNAMES = """
adj.all adj.pert adv.all noun.Tops noun.act noun.animal noun.artifact noun.attribute noun.body
noun.cognition noun.communication noun.event noun.feeling noun.food noun.group noun.location
noun.motive noun.object noun.person noun.phenomenon noun.plant noun.possession noun.process
noun.quantity noun.relation noun.shape noun.state noun.substance noun.time verb.body verb.change
verb.cognition verb.communication verb.competition verb.consumption verb.contact verb.creation
verb.emotion verb.motion verb.perception verb.possession verb.social verb.stative verb.weather
adj.ppl
"""
#: Senses of a noun that may be meant, the most usual first.
SENSES = 4


@dataclass(frozen=True)
class Kinship:
    """Nouns and their kin among the nouns that were asked for.

    Attributes:
        siblings: of the same next wider sense, in the most usual sense of each; one that may be
            the same, or wider or narrower, is none.
        related: of the same, a wider or a narrower sense, in any usual one.
    """

    siblings: Mapping[str, frozenset[str]] = field(default_factory=dict)
    related: Mapping[str, frozenset[str]] = field(default_factory=dict)


def kinship(folder: Path, nouns: Iterable[str]) -> Kinship:
    """What WordNet tells of nouns.

    Args:
        folder: of WordNet 3's files.
        nouns: lemmas in lower case.

    Raises:
        LitotesError: its reader is not installed.
        DataError: the folder holds no WordNet.
    """
    reader = _reader(folder)
    senses = {noun: _senses(reader, noun) for noun in sorted(set(nouns))}
    senses = {noun: found for noun, found in senses.items() if found}
    wider = {noun: {s for sense in found for s in _wider(sense)} for noun, found in senses.items()}
    holders = dict[Any, set[str]]()
    families = dict[Any, set[str]]()
    for noun, found in senses.items():
        for sense in found:
            holders.setdefault(sense, set()).add(noun)
        for parent in found[0].hypernyms():
            families.setdefault(parent, set()).add(noun)
    related = {noun: set[str]() for noun in senses}
    for noun in senses:
        for sense in wider[noun]:
            for other in holders.get(sense, ()):
                related[noun].add(other)
                related[other].add(noun)
    siblings = {
        noun: frozenset(other for parent in found[0].hypernyms() for other in families[parent])
        - related[noun]
        for noun, found in senses.items()
    }
    return Kinship(
        {noun: found for noun, found in siblings.items() if found},
        {noun: frozenset(found) for noun, found in related.items()},
    )


def _senses(reader: Any, noun: str) -> list[Any]:
    return list(islice(reader.synsets(noun, "n"), SENSES))


def _wider(sense: Any) -> set[Any]:
    return {sense, *sense.closure(lambda s: s.hypernyms() + s.instance_hypernyms())}


def _reader(folder: Path) -> Any:
    try:
        import nltk
        from nltk.corpus.reader.wordnet import WordNetCorpusReader
    except ImportError as error:
        raise LitotesError(
            "WordNet is read by nltk, which is not installed: pip install 'litotes[wordnet]'"
        ) from error
    missing = [name for name in _FILES if not (folder / name).is_file()]
    if missing:
        raise DataError(
            f"{folder} is no folder of WordNet's files: it lacks {', '.join(missing)}; Debian's "
            "package wordnet-base puts them into /usr/share/wordnet"
        )

    class Reader(WordNetCorpusReader):  # type: ignore[misc]
        def open(self, file: str) -> Any:
            if file == "lexnames":
                return io.StringIO(
                    "".join(f"{i:02d} {n} 0\n" for i, n in enumerate(_LEXNAMES.split()))
                )
            return super().open(file)

        def map_wn(self, version: str = "wordnet") -> None:
            """No map to other versions, for which a copy of nltk's own would be asked."""

    place = str(folder.resolve())
    # Of late nltk reads from known folders alone.
    if place not in nltk.data.path:
        nltk.data.path.append(place)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # other languages are missing
        return Reader(place, None)
