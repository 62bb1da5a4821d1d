"""SugarCrepe's kinds of pairs for one's own photographs, by edits learned from SugarCrepe itself.

Of each photograph and kind at most one caption is changed into one that is false of it. What is put
in or added was chosen by the language model that made SugarCrepe (arXiv 2306.14610), where it was
put in the place of the same words; things and attributes that change places need no such example.
It must be named or hinted at in none of the photograph's captions, and fit its place by the grammar
of all captions. No edit is used often, and what is put in is as often taken out, as far as can be,
so that little can be told without the photograph.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, NamedTuple

from litotes.errors import DataError
from litotes.evaluation.choice import fingerprint
from litotes.evaluation.make import write_new
from litotes.evaluation.pairs.add import added_looks, added_things
from litotes.evaluation.pairs.edits import Edits, learn
from litotes.evaluation.pairs.evidence import Evidence
from litotes.evaluation.pairs.photograph import Change, Photograph
from litotes.evaluation.pairs.replace import (
    replaced_looks,
    replaced_relations,
    replaced_things,
)
from litotes.evaluation.pairs.swap import swapped_looks, swapped_things
from litotes.evaluation.sugarcrepe import SPLITS
from litotes.language.sentences import read

#: An edit is used once for so many photographs, and what is added, so much more often. What is put
#: in, or taken out, is so half as much more often than the other way.
PHOTOGRAPHS_AN_EDIT = 100
USES_OF_AN_ADDITION = 2
PASSES = 4
#: Swaps are seldom possible: from a photograph's captions up to so many are made.
PAIRS_OF_SWAPS = 2

SWAPS = ("swap_att", "swap_obj")
ADDITIONS = ("add_att", "add_obj")
LOG = "make_pairs.json"

_FINDERS: dict[str, Callable[[Photograph, Edits], Iterable[Change]]] = {
    "add_att": added_looks,
    "add_obj": added_things,
    "replace_att": replaced_looks,
    "replace_obj": replaced_things,
    "replace_rel": replaced_relations,
    "swap_att": lambda photograph, _: swapped_looks(photograph),
    "swap_obj": lambda photograph, _: swapped_things(photograph),
}


class Pair(NamedTuple):
    """A photograph, a caption of it, and one that is false of it."""

    image: str
    caption: str
    negative_caption: str


@dataclass(frozen=True)
class Pairs:
    """What was made: the pairs of each of SugarCrepe's files, and the log."""

    kinds: Mapping[str, Sequence[Pair]]
    log: dict[str, Any]


@dataclass(frozen=True)
class Source:
    """What pairs are made by, once for any number of splits.

    Attributes:
        edits: SugarCrepe's.
        evidence: of all captions.
    """

    edits: Edits
    evidence: Evidence

    @classmethod
    def read(cls, folder: Path, captions: Iterable[Sequence[str]]) -> "Source":
        """Learn from SugarCrepe and from captions.

        Args:
            folder: SugarCrepe's files.
            captions: of each photograph, of all splits; the more, the better it is known what may
                be there though unsaid, and what goes with what.

        Raises:
            DataError: a file is missing or malformed.
        """
        edits = learn(folder)
        texts = list(captions)
        docs = read([text for group in texts for text in group])
        return cls(edits, Evidence.read(docs, [len(group) for group in texts], edits.sources))


def make_pairs(captions: Mapping[str, Sequence[str]], source: Source, *, seed: int = 0) -> Pairs:
    """Make pairs; the same captions, source and seed make the same.

    Args:
        captions: of each photograph.
        source: edits and evidence.
        seed: of the choice among equally good changes.

    Raises:
        DataError: a kind has no pair.
    """
    docs = iter(read([text for texts in captions.values() for text in texts]))
    photographs = {
        image: Photograph(list(islice(docs, len(texts))), source.evidence)
        for image, texts in captions.items()
    }
    kinds, left_out = {}, {}
    for kind in SPLITS:
        kinds[kind], left_out[kind] = _choose(kind, photographs, source, seed)
        if not kinds[kind]:
            raise DataError(
                f"no caption can be changed by {kind}: more photographs are needed, and more "
                f"captions of each"
            )
    report = {
        "seed": seed,
        "photographs": len(captions),
        "pairs": {kind: len(pairs) for kind, pairs in kinds.items()},
        "left_out": left_out,
        "told_by_words": {
            kind: _told_by_words(pairs, source.evidence) for kind, pairs in kinds.items()
        },
    }
    return Pairs(kinds, report)


@dataclass
class _Uses:
    """How often edits were used, and what the pairs give away by their words.

    Attributes:
        kind: of the pairs.
        limit: an edit is used so often at most.
        evidence: how usual words are.
        edits: how often each was used.
        excess: how much more often each was put in than taken out.
        rarer: how many more false captions have rarer words than have more usual ones.
    """

    kind: str
    limit: int
    evidence: Evidence
    edits: Counter[tuple[str, str]] = field(default_factory=Counter)
    excess: Counter[str] = field(default_factory=Counter)
    rarer: int = 0

    def allows(self, change: Change) -> bool:
        """Whether a change may be made yet."""
        if self.edits[change.out, change.into] >= self.limit:
            return False
        if self.kind in SWAPS:
            return True
        if self.kind in ADDITIONS:
            return self.excess[change.into] < USES_OF_AN_ADDITION * self.limit
        least = max(1, self.limit // 2)
        evens = self.rarer * self._rarer(change) < self.limit
        return evens and self.excess[change.into] < least and self.excess[change.out] > -least

    def best(self, changes: Sequence[Change], rng: Random) -> Change:
        """The change that best evens out how often words are put in and taken out; counts it."""

        def unevenness(change: Change) -> tuple[int, int, float]:
            out, into = change.out, change.into
            return self.excess[into] - self.excess[out], self.edits[out, into], rng.random()

        best = min(changes, key=unevenness)
        self.edits[best.out, best.into] += 1
        self.excess[best.into] += 1
        self.excess[best.out] -= 1
        self.rarer += self._rarer(best)
        return best

    def _rarer(self, change: Change) -> int:
        """1 if the words became rarer, -1 if more usual, else 0."""
        difference = self.evidence.usual(change.caption) - self.evidence.usual(change.false)
        return (difference > 0) - (difference < 0)


def _choose(
    kind: str, photographs: Mapping[str, Photograph], source: Source, seed: int
) -> tuple[list[Pair], dict[str, int]]:
    """A change of each photograph, or a few; and how many have none, by why."""
    rng = Random(f"{seed} {kind}")
    limit = max(1, len(photographs) // PHOTOGRAPHS_AN_EDIT)
    uses = _Uses(kind, limit, source.evidence)
    changes = {
        image: sorted(set(_FINDERS[kind](photographs[image], source.edits)))
        for image in rng.sample(list(photographs), len(photographs))
    }
    made: dict[str, list[Change]] = {image: [] for image in photographs}
    # What is put in makes room for what is taken out, so that those without get another turn.
    for _ in range(PASSES):
        for image, possible in changes.items():
            said = {change.caption for change in made[image]}
            allowed = [c for c in possible if c.caption not in said and uses.allows(c)]
            if allowed and len(said) < (PAIRS_OF_SWAPS if kind in SWAPS else 1):
                made[image].append(uses.best(allowed, rng))
    left_out = Counter(
        "edits used often enough" if changes[image] else "nothing can be changed"
        for image, chosen in made.items()
        if not chosen
    )
    pairs = [Pair(image, c.caption, c.false) for image, chosen in made.items() for c in chosen]
    return sorted(pairs), dict(sorted(left_out.items()))


def _told_by_words(pairs: Sequence[Pair], evidence: Evidence) -> dict[str, float]:
    """What blind rules would get right: the shares of pairs whose false caption differs so."""

    def share(differences: Sequence[float]) -> float:
        signs = [1.0 if d > 0 else 0.5 if d == 0 else 0.0 for d in differences]
        return round(sum(signs) / max(1, len(signs)), 3)

    return {
        "false is longer": share([len(p.negative_caption) - len(p.caption) for p in pairs]),
        "false has rarer words": share(
            [evidence.usual(p.caption) - evidence.usual(p.negative_caption) for p in pairs]
        ),
    }


def write_pairs(pairs: Pairs, folder: Path) -> str:
    """Write the seven files as SugarCrepe has them, and the log beside them.

    Args:
        pairs: what was made.
        folder: made if it is not there.

    Returns:
        The fingerprint of the seven files, as records of the task have it.

    Raises:
        DataError: a file of that name holds something else.
        OSError: a file cannot be written; none is ever half written.
    """
    contents = {f"{kind}.json": _as_json(made) for kind, made in pairs.kinds.items()}
    write_new(folder, contents | {LOG: json.dumps(pairs.log, indent=2)})
    return fingerprint(*(folder / name for name in contents))


def _as_json(pairs: Sequence[Pair]) -> str:
    content = {
        str(i): {"filename": p.image, "caption": p.caption, "negative_caption": p.negative_caption}
        for i, p in enumerate(pairs)
    }
    return json.dumps(content, indent=2, ensure_ascii=False) + "\n"
