"""Captions as sentences: cleaned, parsed in batches, and said as a clause behind "that"."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from litotes.language.parse import MAX_CHARACTERS, PIPELINE_LOCK, pipeline
from litotes.language.phrasing import is_countable_singular

if TYPE_CHECKING:
    from spacy.tokens import Doc, Span, Token

#: Larger batches are parsed faster, up to about here.
BATCH = 1000

# Tokenised captions have "a man 's hat ."
_DETACHED = re.compile(r" (?=(?:'s|'re|n't)\b|[,.;:!?](?:\s|$))")
_SENTENCE_END = re.compile(r"[.!?]\s+\S")
_OF_A_NATION = re.compile(r"[A-Z][a-z]+(?:ian|ican|ese)")
_DETERMINERS = frozenset({"det", "poss", "nummod", "predet"})
_SUBJECTS = frozenset({"nsubj", "nsubjpass", "expl"})
# Past tenses are left out: most are participles that were mistaken ("a dog covered in snow").
_FINITE = frozenset({"VBZ", "VBP", "MD"})


def clean(text: str) -> str:
    """A caption with single spaces, and without those before "'s" and before stops."""
    return _DETACHED.sub("", " ".join(text.split()))


def read(texts: Sequence[str]) -> list[Doc]:
    """Cleaned captions, parsed in batches; what is too long for a caption is read as empty."""
    cleaned = (clean(text) if len(text) <= MAX_CHARACTERS else "" for text in texts)
    with PIPELINE_LOCK:
        return list(pipeline().pipe(cleaned, batch_size=BATCH))


def root_of(doc: Doc) -> Token:
    """The root of the first sentence."""
    return next(token for token in doc if token.head.i == token.i)


def subject_of(verb: Token) -> Token | None:
    """The subject of a verb, if it stands before it."""
    return next((t for t in verb.lefts if t.dep_ in _SUBJECTS), None)


def is_sentence(doc: Doc) -> bool:
    """Whether a text is a sentence with subject and verb ("a dog is running"), no noun phrase."""
    root = root_of(doc)
    helped = any(t.dep_ in ("aux", "auxpass") and t.tag_ in _FINITE for t in root.lefts)
    return subject_of(root) is not None and (helped or root.tag_ in _FINITE)


def opening_phrase(doc: Doc) -> Span | None:
    """The noun phrase that a text starts with, if the text can stand behind "there is"."""
    chunk = next(iter(doc.noun_chunks), None)
    if chunk is None or chunk.start != 0 or chunk.root.tag_ == "PRP" or _has_main_verb(doc):
        return None
    determined = any(token.dep_ in _DETERMINERS for token in chunk)
    # The tagger takes many a first word for a name.
    if (
        not determined
        and not is_plural(chunk.root)
        and is_countable_singular(chunk.root.lower_, "NN")
    ):
        return None  # "Dog on grass": headlines want an article
    return None if has_false_number(chunk) else chunk


def has_false_number(chunk: Span) -> bool:
    """Whether it was misread: in "a dog runs", "runs" is no plural noun."""
    return chunk[0].lower_ in ("a", "an") and is_plural(chunk.root)


def _has_main_verb(doc: Doc) -> bool:
    """Whether a verb is in the present tense, and in no clause that describes something else."""
    verbs = (t.head if t.dep_ in ("aux", "auxpass") else t for t in doc if t.tag_ in _FINITE)
    return any(verb.dep_ not in ("relcl", "advcl", "conj") for verb in verbs)


def clause(doc: Doc) -> str | None:
    """The text as it stands behind "that": "a dog runs", or "the picture shows a dog on grass".

    None where it is more than one sentence, or neither a sentence nor a noun phrase.
    """
    text = doc.text.rstrip(" .!?")
    if not text or _SENTENCE_END.search(doc.text):
        return None
    if is_sentence(doc):
        return lower_first(doc)[: len(text)]
    return f"the picture shows {lower_first(doc)[: len(text)]}" if opening_phrase(doc) else None


def lower_first(doc: Doc) -> str:
    """The text with a small first letter, unless it begins with a name."""
    return lower_word(doc[0]) + doc.text[len(doc[0]) :]


def lower_word(first: Token) -> str:
    """The first word of a text as it stands within a sentence."""
    text = str(first.text)
    is_name = first.tag_ in ("NNP", "NNPS") and text.istitle()
    is_name = is_name or bool(_OF_A_NATION.fullmatch(text))
    keep = text == "I" or is_name or (len(text) > 1 and text.isupper())
    return text if keep else text[:1].lower() + text[1:]


def is_plural(noun: Token) -> bool:
    """Whether a noun takes "are"."""
    return noun.tag_ in ("NNS", "NNPS") or noun.lower_ in ("people", "police", "cattle")
