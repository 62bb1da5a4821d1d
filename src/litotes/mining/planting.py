"""What ConcretePlant (arXiv 2604.13313) hands from step to step: keywords, seeds and rewrites."""

from __future__ import annotations

from collections.abc import Sequence
from random import Random
from typing import TYPE_CHECKING, Literal, NamedTuple, Protocol, TypeAlias

from litotes.data.concrete_pairs import KeywordKind

if TYPE_CHECKING:
    from spacy.tokens import Doc


class Keyword(NamedTuple):
    """Words of a caption that may be changed.

    Attributes:
        start: number of its first token.
        end: number behind its last one.
        kind: what it names.
        score: how concrete it is, 1 to 5.
        source: where the score is from.
    """

    start: int
    end: int
    kind: KeywordKind
    score: float
    source: str


class Seed(NamedTuple):
    """A caption that is to be changed.

    Attributes:
        doc: the caption, parsed.
        keywords: that may be changed, the one to be preferred first.
        said: all words of all captions of the picture, as they stand and as lemmas, in lower case;
            none of them may be a replacement, as it is or may be there.
        rng: its own random numbers.
    """

    doc: Doc
    keywords: Sequence[Keyword]
    said: frozenset[str]
    rng: Random


class Rewrite(NamedTuple):
    """A caption with one keyword changed.

    Attributes:
        text: the changed caption.
        keyword: which was changed.
        replacement: what stands in its place.
        way: whether it was replaced, or changed places with something else of the caption.
    """

    text: str
    keyword: Keyword
    replacement: str
    way: Literal["replace", "swap"] = "replace"


class Dropped(NamedTuple):
    """Why a caption could not be changed, such as "no replacement" or "answer is a synonym"."""

    reason: str


Rewritten: TypeAlias = Rewrite | Dropped


class Rewriter(Protocol):
    """Changes captions."""

    def __call__(self, seeds: Sequence[Seed]) -> list[Rewritten]:
        """Change each caption at one of its keywords; each by its own random numbers alone."""
        ...
