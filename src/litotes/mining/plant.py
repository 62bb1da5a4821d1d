"""ConcretePlant (arXiv 2604.13313): captions with one concrete keyword changed.

A captioned photograph gives a pair for each caption at most. Their order is drawn by a seed; what
is made of each depends on the seed and its place alone, so a run may go on from any place, and be
spread over processes.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ProcessPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from dataclasses import dataclass
from functools import lru_cache
from multiprocessing import get_context
from random import Random
from typing import NamedTuple

from litotes.data.concrete_pairs import KEYWORD_KINDS, ConcretePair, KeywordKind
from litotes.errors import LitotesError
from litotes.language.concreteness import Measure, load_ratings
from litotes.language.cues import has_negation
from litotes.language.parse import PIPELINE_LOCK, pipeline
from litotes.language.sentences import BATCH, read
from litotes.mining.keywords import Choice, candidates, lemma_of, order
from litotes.mining.planting import Dropped, Rewriter, Rewritten, Seed
from litotes.mining.quadruplets import drawn_order

#: Batches that are made ahead of the one that is wanted, for each process.
_AHEAD = 2
_WORD = re.compile(r"[^\W_]+(?:[-'’][^\W_]+)*")
_USES = (("NOUN", "NNS"), ("VERB", "VBZ"), ("VERB", "VBG"), ("ADJ", "JJ"))
_JOINT = re.compile(r"[-'’]")


class Planted(NamedTuple):
    """What was made of the caption of a number, from 0."""

    number: int
    made: ConcretePair | Dropped


class _Captioned(NamedTuple):
    """An image, one of its captions, and all of them."""

    image: str
    caption: str
    captions: Sequence[str]


class _Batch(NamedTuple):
    """Captions that are parsed together, the number of the first, and the first to be changed."""

    first: int
    start: int
    items: Sequence[_Captioned]


def plant(
    captions: Mapping[str, Sequence[str]],
    rewriter: Rewriter,
    *,
    choice: Choice = "hc",
    measure: Measure = "concreteness",
    kinds: Collection[KeywordKind] = KEYWORD_KINDS,
    seed: int = 0,
    start: int = 0,
    processes: int = 1,
) -> Iterator[Planted]:
    """What becomes of every caption, in an order drawn by the seed.

    Args:
        captions: of each image.
        rewriter: changes the captions.
        choice: which keywords are tried first: "hc", the most concrete, "lc", the least, "random".
        measure: by which ratings; see :func:`litotes.language.concreteness.load_ratings`.
        kinds: of keywords.
        seed: of the order, and of all that is drawn.
        start: the number of the caption to begin with.
        processes: to spread the work over; for more than one the rewriter must be picklable, and
            a script must guard its main part by ``if __name__ == "__main__"``. They change nothing
            of what is made.

    Raises:
        LitotesError: the ratings are not installed, or a process was ended from outside.
    """
    chosen = tuple(kind for kind in KEYWORD_KINDS if kind in kinds)
    planter = _Planter(rewriter, choice, measure, chosen, seed)
    pairs = drawn_order(captions, seed)
    batches = (
        _Batch(at, max(at, start), [_Captioned(*p, captions[p[0]]) for p in pairs[at : at + BATCH]])
        # Always the same captions are parsed together, as that may change how they are read.
        for at in range(start - start % BATCH, len(pairs), BATCH)
    )
    if processes > 1:
        yield from _spread(planter, batches, processes)
    else:
        for batch in batches:
            yield from planter(batch)


@dataclass(frozen=True)
class _Planter:
    """Changes batches of captions; arguments as those of :func:`plant`."""

    rewriter: Rewriter
    choice: Choice
    measure: Measure
    kinds: Sequence[KeywordKind]
    seed: int

    def __call__(self, batch: _Batch) -> list[Planted]:
        ratings = load_ratings(self.measure)
        docs = read([item.caption for item in batch.items])
        made = dict[int, ConcretePair | Dropped]()
        seeds = dict[int, Seed]()
        for number, (doc, item) in enumerate(zip(docs, batch.items, strict=True), batch.first):
            if number < batch.start:
                continue
            found = candidates(doc, ratings, self.kinds)
            if found:
                rng = Random(f"{self.seed} {number} plant")
                keywords = order(found, self.choice, rng)
                seeds[number] = Seed(doc, keywords, said(item.captions), rng)
            else:
                made[number] = Dropped("a negation" if has_negation(doc.text) else "no keyword")
        for number, result in zip(seeds, self.rewriter(list(seeds.values())), strict=True):
            image = batch.items[number - batch.first].image
            made[number] = _pair(image, seeds[number], result)
        return [Planted(number, made[number]) for number in sorted(made)]


def _pair(image: str, seed: Seed, result: Rewritten) -> ConcretePair | Dropped:
    if isinstance(result, Dropped):
        return result
    word = result.keyword
    return ConcretePair(
        image=image,
        caption=seed.doc.text,
        changed=result.text,
        keyword=seed.doc[word.start : word.end].text,
        replacement=result.replacement,
        kind=word.kind,
        way=result.way,
        score=word.score,
        source=word.source,
    )


def said(captions: Sequence[str]) -> frozenset[str]:
    """All words of captions, their parts ("t-shirt" and "shirt"), and all lemmas they may have."""
    words = set(_WORD.findall("\n".join(captions).lower()))
    return frozenset().union(*map(_forms, words))


@lru_cache(maxsize=1 << 16)
def _forms(word: str) -> frozenset[str]:
    """A word, its parts, and the lemmas of each in any use."""
    # Slow to load.
    from spacy.tokens import Doc

    forms = {word, *filter(None, _JOINT.split(word))}
    uses = [(form, *use) for form in forms for use in _USES]
    words, poses, tags = zip(*uses, strict=True)
    with PIPELINE_LOCK:
        language = pipeline()
        doc = Doc(language.vocab, words=words, pos=poses, tags=tags)
        lemmas = {lemma_of(token) for token in language.get_pipe("lemmatizer")(doc)}
    return frozenset(forms | lemmas)


# --- several processes ------------------------------------------------------------------------

_planter: _Planter
"""Of a process that was begun by :func:`_spread`."""


def _begin(planter: _Planter) -> None:
    global _planter
    _planter = planter


def _planted(batch: _Batch) -> list[Planted]:
    return _planter(batch)


def _spread(planter: _Planter, batches: Iterable[_Batch], processes: int) -> Iterator[Planted]:
    """What the planter makes of the batches, in their order."""
    pool = ProcessPoolExecutor(processes, get_context("spawn"), _begin, (planter,))
    waiting = deque[Future[list[Planted]]]()
    try:
        for batch in batches:
            waiting.append(pool.submit(_planted, batch))
            if len(waiting) > _AHEAD * processes:
                yield from waiting.popleft().result()
        while waiting:
            yield from waiting.popleft().result()
    except BrokenProcessPool as error:
        raise LitotesError(
            "a process ended before its work was done, perhaps for lack of memory: try fewer "
            "processes"
        ) from error
    finally:
        pool.shutdown(cancel_futures=True)
