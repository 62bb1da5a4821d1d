"""Changing words of a parsed caption, all else kept: articles agree, capitals stay."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from litotes.language.phrasing import indefinite_article
from litotes.language.sentences import lower_word

if TYPE_CHECKING:
    from spacy.tokens import Doc


class Edit(NamedTuple):
    """Tokens ``start`` up to ``end``, none if they are equal, and what stands there instead."""

    start: int
    end: int
    text: str


def edited(doc: Doc, *edits: Edit) -> str:
    """The caption with edits that do not overlap; articles right before them agree."""
    parts, at = list[str](), 0
    for start, end, text in sorted(edits):
        parts += [token.text_with_ws for token in doc[at:start]]
        if start and doc[start - 1].lower_ in ("a", "an") and text:
            article = indefinite_article(text)
            parts[-1] = (article.capitalize() if doc[start - 1].text[0] == "A" else article) + " "
        parts.append(text + (doc[end - 1].whitespace_ if end > start else " "))
        at = end
    parts += [token.text_with_ws for token in doc[at:]]
    if edits[0].end == 0:
        parts[1] = lower_word(doc[0]) + doc[0].whitespace_
    said = "".join(parts)
    return said[:1].upper() + said[1:] if doc[0].text[0].isupper() else said


def as_inside(doc: Doc, start: int, end: int) -> str:
    """Tokens ``start`` up to ``end`` as they stand within a sentence."""
    text = str(doc[start:end].text)
    return text if start else lower_word(doc[0]) + text[len(doc[0]) :]
