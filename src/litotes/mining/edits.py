"""Changing words of a parsed caption, all else kept: articles agree, capitals stay."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from litotes.language.phrasing import indefinite_article

if TYPE_CHECKING:
    from spacy.tokens import Doc


class Edit(NamedTuple):
    """Tokens ``start`` up to ``end`` and what stands there instead, in lower case."""

    start: int
    end: int
    text: str


def edited(doc: Doc, edits: Sequence[Edit]) -> str:
    """The caption with edits that do not overlap, and with the articles right before them fit."""
    words = [token.text_with_ws for token in doc]
    for start, end, text in edits:
        words[start:end] = [text + doc[end - 1].whitespace_, *[""] * (end - start - 1)]
        if start and doc[start - 1].lower_ in ("a", "an"):
            words[start - 1] = indefinite_article(text) + doc[start - 1].whitespace_
    first = doc[0].text[0]
    changed = "".join(words)
    return changed[:1].upper() + changed[1:] if first.isupper() else changed
