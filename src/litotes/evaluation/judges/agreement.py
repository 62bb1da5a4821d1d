"""How far two judges agree, and what a judge's errors do to a score."""

import hashlib
import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from litotes.evaluation.judges.base import (
    ANSWERS,
    Answer,
    Judge,
    Keep,
    Picture,
    Reply,
    identify,
    image_key,
)

_OTHER: dict[Answer, Answer] = {"yes": "no", "no": "yes"}


@dataclass(frozen=True)
class Agreement:
    """How two judges answered the same questions.

    Attributes:
        table: how often, ``(3, 3)``, int64: the first judge's answers down, the second's across,
            in the order of :data:`~litotes.evaluation.judges.base.ANSWERS`.
    """

    table: NDArray[np.int64]

    @classmethod
    def of(cls, first: Sequence[Answer], second: Sequence[Answer]) -> "Agreement":
        """Of answers to the same questions in the same order.

        Raises:
            ValueError: there are not as many of one as of the other, or none.
        """
        if len(first) != len(second) or not first:
            raise ValueError(f"needs answers to the same questions: {len(first)}, {len(second)}")
        table = np.zeros((len(ANSWERS), len(ANSWERS)), dtype=np.int64)
        for a, b in zip(first, second, strict=True):
            table[ANSWERS.index(a), ANSWERS.index(b)] += 1
        return cls(table)

    @property
    def share(self) -> float:
        """Share of the questions that both answered alike."""
        return float(np.trace(self.table) / self.table.sum())

    @property
    def kappa(self) -> float:
        """Cohen's κ (1960) over the three answers: agreement beyond chance; 1 is complete.

        NaN where both always gave one and the same answer, which says nothing of agreement.
        """
        total = self.table.sum()
        by_chance = float(self.table.sum(0) @ self.table.sum(1)) / float(total) ** 2
        return math.nan if by_chance == 1 else (self.share - by_chance) / (1 - by_chance)

    def markdown(self) -> str:
        """The table, the first judge's answers down and the second's across."""
        rows: list[list[str]] = [["", *ANSWERS], ["---", *("---:" for _ in ANSWERS)]]
        rows += [[a, *map(str, row)] for a, row in zip(ANSWERS, self.table, strict=True)]
        return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def agreement(first: Judge, second: Judge, pairs: Sequence[tuple[Picture, str]]) -> Agreement:
    """Ask two judges the same questions; raises as they do."""
    return Agreement.of(first.ask_all(pairs), second.ask_all(pairs))


def flipped(judge: Judge, rate_yes_to_no: float, rate_no_to_yes: float, seed: int = 0) -> Judge:
    """A judge that errs at known rates, to see how a judge's errors move a score.

    Which answers are wrong is drawn by picture and question: it does not depend on the order, and
    who asks the same again gets the same wrong answer. "unclear" stays.

    Args:
        judge: one that is right, such as the scenes' oracle.
        rate_yes_to_no: share of its yes that become no.
        rate_no_to_yes: share of its no that become yes.
        seed: of the drawing.
    """
    return _FlippedJudge(judge, {"yes": rate_yes_to_no, "no": rate_no_to_yes}, seed)


class _FlippedJudge(Judge):
    def __init__(self, judge: Judge, rates: dict[Answer, float], seed: int) -> None:
        name = f"{judge.name}, flipped {rates['yes']:g} / {rates['no']:g}"
        super().__init__(name, identify(name, judge.identity, seed))
        self._judge = judge
        self._rates = rates
        self._seed = seed

    def replies(self, pairs: Sequence[tuple[Picture, str]], keep: Keep) -> None:
        def take(place: int, reply: Reply) -> None:
            answer = reply.answer
            if self._draw(*pairs[place]) < self._rates.get(answer, 0.0):
                answer = _OTHER[answer]
            keep(place, Reply(answer, reply.text, reply.failed))

        self._judge.replies(pairs, take)

    def _draw(self, image: Picture, question: str) -> float:
        """A number from 0 to 1, without 1, that belongs to a picture and a question."""
        text = f"{self._seed}\0{question}".encode(errors="surrogatepass")
        digest = hashlib.sha256(image_key(image) + text).digest()
        return int.from_bytes(digest[:6]) / 2**48
