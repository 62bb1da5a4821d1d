"""Quadruplets out of captioned photographs: negated positives by template, negatives by rule.

A captioned photograph gives a quadruplet for each caption at most. Their order is drawn by a seed;
each one's wordings depend on the seed and its place alone, so a run may go on from any place.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING, NamedTuple, Protocol, TypeAlias

from litotes.data.ccneg import EVALUATED, read_ccneg
from litotes.data.quadruplets import Quadruplet
from litotes.errors import DataError
from litotes.language.negator import Negated, find_alternatives, negate
from litotes.language.sentences import BATCH, clean, read
from litotes.language.templates import negated_positive

if TYPE_CHECKING:
    from spacy.tokens import Doc

#: Captions that alternatives ("a chair, not a tree") are taken from.
READ_FOR_ALTERNATIVES = 2000

Captioned: TypeAlias = tuple[str, str]
"""An image and one of its captions."""


class Numbered(NamedTuple):
    """A quadruplet and the number, from 0, of the caption it was made of."""

    number: int
    quadruplet: Quadruplet


class Negator(Protocol):
    """What makes captions false; of those where it cannot, it makes None."""

    def __call__(self, docs: Sequence["Doc"], rngs: Sequence[Random]) -> list[Negated | None]:
        """Negate parsed captions, each with its own random numbers."""
        ...


def drawn_order(captions: Mapping[str, Sequence[str]], seed: int) -> list[Captioned]:
    """Every caption of every image once, in an order drawn by the seed."""
    pairs = list(dict.fromkeys((i, text) for i, texts in captions.items() for text in texts))
    Random(seed).shuffle(pairs)
    return pairs


def rule_negator(pairs: Sequence[Captioned]) -> Negator:
    """Negation by rule; see :mod:`litotes.language.negator`. Alternatives are from these captions.

    Args:
        pairs: in a drawn order; the first are read.
    """
    alternatives = find_alternatives(read([text for _, text in pairs[:READ_FOR_ALTERNATIVES]]))

    def by_rule(docs: Sequence["Doc"], rngs: Sequence[Random]) -> list[Negated | None]:
        return [negate(doc, rng, alternatives) for doc, rng in zip(docs, rngs, strict=True)]

    return by_rule


def quadruplets(
    pairs: Sequence[Captioned], negator: Negator, *, seed: int = 0, start: int = 0
) -> Iterator[Numbered]:
    """Quadruplets of captioned images; captions that cannot be negated are passed over.

    Args:
        pairs: in the order of :func:`drawn_order`.
        negator: makes the negatives.
        seed: of the templates and wordings.
        start: the number of the pair to begin with.
    """
    for at in range(start, len(pairs), BATCH):
        batch = pairs[at : at + BATCH]
        docs = read([text for _, text in batch])
        negatives = negator(docs, [_rng(seed, at + i, "negative") for i in range(len(batch))])
        for i, (doc, negative) in enumerate(zip(docs, negatives, strict=True)):
            if negative is not None:
                positive = negated_positive(doc, _rng(seed, at + i, "positive"))
                made = Quadruplet(batch[i][0], doc.text, positive, negative.text, negative.kind)
                yield Numbered(at + i, made)


def ccneg_quadruplets(file: Path, *, seed: int = 0, start: int = 0) -> Iterator[Numbered]:
    """Quadruplets of CC-Neg's training part, with its own false captions, in a drawn order.

    Raises:
        DataError: the file is malformed, or holds no more than its evaluation split.
    """
    examples = read_ccneg(file, slice(None, -EVALUATED))
    if not examples:
        raise DataError(
            f"{file}: the last {EVALUATED:,} annotations are for evaluation, and there are no more"
        )
    Random(seed).shuffle(examples)
    for at in range(start, len(examples), BATCH):
        batch = examples[at : at + BATCH]
        for i, doc in enumerate(read([example.caption for example in batch])):
            image, _, negative = batch[i]
            positive = negated_positive(doc, _rng(seed, at + i, "positive"))
            yield Numbered(at + i, Quadruplet(image, doc.text, positive, clean(negative), "cc-neg"))


def _rng(seed: int, number: int, use: str) -> Random:
    return Random(f"{seed} {number} {use}")
