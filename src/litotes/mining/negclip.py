"""NegCLIP's hard negatives: two words of a caption change places (arXiv 2210.01936)."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations

from litotes.language.edits import Edit, edited
from litotes.mining.planting import Dropped, Rewrite, Rewritten, Seed

#: Nouns, verbs, adjectives and adverbs.
_SWAPPED = ("NN", "NNS", "VBG", "VBZ", "VBN", "JJ", "RB")


class WordSwapper:
    """Exchanges two words of the same part of speech, whatever that makes of the caption.

    So the paper does it; the caption may stay true ("a cat and a dog"), and is often odd.
    """

    def __call__(self, seeds: Sequence[Seed]) -> list[Rewritten]:
        """Change each caption at one of its keywords."""
        return [_swapped(seed) for seed in seeds]


def _swapped(seed: Seed) -> Rewritten:
    doc = seed.doc
    # A word stands for its keyword, whose score it carries; that of a phrase is its last one.
    heads = {keyword.end - 1: keyword for keyword in seed.keywords}
    found = [
        (doc[a], doc[b])
        for a, b in combinations(sorted(heads), 2)
        if doc[a].tag_ == doc[b].tag_ in _SWAPPED and doc[a].lower_ != doc[b].lower_
    ]
    if not found:
        return Dropped("no two words of a kind")
    first, second = seed.rng.choice(found)
    keyword = heads[first.i]._replace(start=first.i, end=first.i + 1)
    edits = [Edit(a.i, a.i + 1, b.lower_) for a, b in ((first, second), (second, first))]
    return Rewrite(edited(doc, *edits), keyword, second.text, "swap")
