"""Pairs "A without B" of one's own photographs, from their captions alone."""

from collections import Counter
from collections.abc import Mapping, Sequence
from random import Random

import numpy as np

from litotes.errors import DataError
from litotes.evaluation.exclusion import TOP, ExclusionPair
from litotes.language.statements import HYBRID, say
from litotes.mining.things import find_content

PAIRS = 40
WORDINGS = 5
USES = 3
"""So many pairs at most ask for a thing, or exclude it."""
TOGETHER = 5
"""So many photographs at least show both: else there is nothing to get wrong."""


def make_exclusion(
    captions: Mapping[str, Sequence[str]], *, seed: int = 0, min_images: int = TOP
) -> list[ExclusionPair]:
    """Pairs of things that are often together, and what each photograph is to them.

    As captions are no annotations, a thing counts as shown and as lacking with care, and
    photographs of which that is not known are in no list: see :mod:`litotes.mining.things`.

    Args:
        captions: of each photograph.
        seed: of the wordings.
        min_images: photographs that must show a thing.

    Raises:
        DataError: no photograph has two captions, or no two things are often enough together and
            apart.
    """
    content = find_content(list(captions.values()), min_images)
    shown, lacking = content.shown.astype(int), content.lacking.astype(int)
    both, apart = shown.T @ shown, shown.T @ lacking
    np.fill_diagonal(both, 0)
    possible = np.argwhere((both >= TOGETHER) & (apart >= TOP)).tolist()
    asked, excluded = Counter[int](), Counter[int]()
    chosen: list[tuple[int, int]] = []
    for a, b in sorted(possible, key=lambda pair: (-both[pair[0], pair[1]], pair)):
        if asked[a] < USES and excluded[b] < USES and len(chosen) < PAIRS:
            asked[a] += 1
            excluded[b] += 1
            chosen.append((a, b))
    if not chosen:
        raise DataError(
            f"no two things are shown together by {TOGETHER} photographs, and the one without the "
            f"other by {TOP}: more photographs are needed, or more captions of each"
        )
    rng, names = Random(seed), list(captions)

    def pair(a: int, b: int) -> ExclusionPair:
        said = [content.things[i].wording for i in (a, b)]
        bad = content.shown[:, b]
        good = content.shown[:, a] & content.lacking[:, b]
        other = content.lacking[:, a] & content.lacking[:, b]
        return ExclusionPair(
            shown=content.things[a].name,
            excluded=content.things[b].name,
            queries=[say(form, *said, sentence=False) for form in rng.sample(HYBRID, WORDINGS)],
            **{
                name: [names[i] for i in np.flatnonzero(rows)]
                for name, rows in (("right", good), ("violating", bad), ("not_shown", other))
            },
        )

    return [pair(a, b) for a, b in chosen]
