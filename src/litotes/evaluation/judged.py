"""Retrieval with "not" as a judge sees it (arXiv 2603.20554): are the pictures found right?

Of each of the first five pictures that are found for a query, the judge is asked q_r, whether what
the query asks for is there, and only if it is, q_n, whether what the query excludes is there. A
picture is right in retrieval if q_r is answered with yes, and right in retrieval and negation
("ret.+neg.") if then each q_n is answered with no. Top-1: the first picture is right; Avg.5: the
mean over the five; Top-5: any of them is right. A picture whose question got no clear answer is
not right, and counted as unclear.
"""

import hashlib
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, ClassVar, Literal, NamedTuple, Self, TypeAlias, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from pydantic import BaseModel, Field, StringConstraints, TypeAdapter
from torch import Tensor

from litotes.backbones.encoder import DualEncoder
from litotes.backbones.vectors import image_vectors
from litotes.data.images import find_images
from litotes.data.json_files import read_json, read_text
from litotes.data.retrieval_files import reroot
from litotes.errors import DataError
from litotes.evaluation.judges.base import Answer, Judge
from litotes.evaluation.judges.questions import JudgedQuery, questions_by_rule
from litotes.evaluation.record import Record
from litotes.evaluation.task import query_scores, strategy_settings
from litotes.strategies import Images, Strategy

TOP = 5
KS = (1, 3, 5)
# Scores held at once.
_AT_ONCE = 1 << 24

T = TypeVar("T")
Verdict: TypeAlias = Literal["right", "wrong", "unclear"]
Case: TypeAlias = tuple[JudgedQuery, Path]
"""A query and a picture that was found for it."""
Outcomes: TypeAlias = dict[str, NDArray[np.float64]]
_Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]

_YES_IS_RIGHT: dict[Answer, Verdict] = {"yes": "right", "no": "wrong", "unclear": "unclear"}
_NO_IS_RIGHT: dict[Answer, Verdict] = {"yes": "wrong", "no": "right", "unclear": "unclear"}


class Verdicts(NamedTuple):
    """What a judge makes of a picture: by q_r alone, and by q_r and each q_n."""

    retrieval: Verdict
    both: Verdict


@dataclass(frozen=True)
class JudgedTask:
    """Queries of one's own over the pictures of a folder.

    Attributes:
        queries: with their questions; see
            :func:`~litotes.evaluation.judges.questions.questions_by_rule`.
        images: the folder; pictures in folders below it count.
        split: how the record calls the data.
    """

    queries: Sequence[JudgedQuery]
    images: Path
    split: str = "own"

    name: ClassVar[str] = "judged"

    @classmethod
    def read(cls, file: Path, images: Path) -> Self:
        """Read a text file with one query a line; their questions are made by rule.

        Blank lines and lines that begin with ``#`` are passed over.

        Raises:
            DataError: it cannot be read, or holds no query.
        """
        lines = read_text(file).splitlines()
        queries = [line.strip() for line in lines if line.strip() and line.strip()[0] != "#"]
        if not queries:
            raise DataError(f"{file} holds no query: each line must be one")
        return cls(questions_by_rule(queries), images)

    def pictures(self) -> list[Path]:
        """All of the folder, sorted.

        Raises:
            DataError: there are fewer than five.
        """
        pictures = find_images(self.images)
        if len(pictures) < TOP:
            raise DataError(f"{self.images} has {len(pictures)} pictures, and needs {TOP} or more")
        return pictures

    def run(
        self, encoder: DualEncoder, strategies: Sequence[Strategy], judge: Judge
    ) -> list[Record]:
        """One record a strategy, with intervals over the queries.

        Pictures of all strategies are judged together, each question once.

        Raises:
            DataError: the folder has fewer than five pictures, or a score is not a finite number.
            JudgeError: the judge cannot be asked.
        """
        pictures = self.pictures()
        names = [str(path.relative_to(self.images)) for path in pictures]
        tops = [top_pictures(encoder, s, self.queries, pictures) for s in strategies]
        return [
            Record.make(
                encoder,
                task=self.name,
                split=self.split,
                data=_fingerprint(self.queries, names),
                outcomes=outcomes,
                strategy=strategy.name,
                settings=strategy_settings(strategy) | {"judge": judge.identity},
            )
            for strategy, outcomes in zip(
                strategies, judged_outcomes(judge, self.queries, tops), strict=True
            )
        ]


@dataclass(frozen=True)
class SimpleNegTask(JudgedTask):
    """SimpleNeg (arXiv 2603.20554): 900 queries over any folder of pictures; the paper's is COCO.

    Attributes:
        queries: with their questions from the file.
        images: the folder; pictures in folders below it count.
        split: how the record calls the data.
    """

    split: str = "test"

    name: ClassVar[str] = "simpleneg"

    @classmethod
    def read(cls, file: Path, images: Path) -> Self:
        """Read ``simpleneg.json``: a list of [query, question about what it excludes, question
        about what it asks for].

        Raises:
            DataError: missing or malformed; says where.
        """
        triples = _read(file, TypeAdapter(list[tuple[_Text, _Text, _Text]]))
        return cls([JudgedQuery(query, shown, (out,)) for query, out, shown in triples], images)


class _NCocoQuery(BaseModel):
    query: _Text
    question_negated: _Text
    question_positive: _Text
    positives: list[_Text] = Field(min_length=1)
    distractors: list[_Text]


@dataclass(frozen=True)
class NCocoTask:
    """N-COCO (arXiv 2603.20554): uncommon queries, each with its own positives and distractors.

    Each query is ranked over its own pictures only. R@k: one of its positives is among the first
    k. Among pictures of equal score the order is taken as drawn by lot, and the value is the
    chance of a hit.

    Attributes:
        queries: with their questions.
        candidates: of each query its pictures, the positives first.
        positives: of each query, how many of its pictures are positives.
        file: what was read.
    """

    queries: Sequence[JudgedQuery]
    candidates: Sequence[Sequence[Path]]
    positives: Sequence[int]
    file: Path

    @classmethod
    def read(cls, file: Path, images: Path) -> "NCocoTask":
        """Read a JSON list of objects, one a query.

        The form is our own::

            [{"query": "a bathroom with no toilet",
              "question_negated": "Is there a toilet?",
              "question_positive": "Is this a bathroom?",
              "positives": ["000000000139.jpg", …], "distractors": ["000000000285.jpg", …]}, …]

        Args:
            file: the list.
            images: where the pictures are; see :func:`litotes.data.retrieval_files.reroot`.

        Raises:
            DataError: missing or malformed, a picture is named twice for a query, or a query has
                fewer than five; says where.
        """
        entries = _read(file, TypeAdapter(list[_NCocoQuery]))
        for number, entry in enumerate(entries, 1):
            names = [*entry.positives, *entry.distractors]
            if len(set(names)) < len(names) or len(names) < TOP:
                raise DataError(
                    f"{file}, query {number} ({entry.query!r}): needs {TOP} or more different "
                    f"pictures, positives and distractors together"
                )
        return cls(
            [JudgedQuery(e.query, e.question_positive, (e.question_negated,)) for e in entries],
            [[reroot(images, name) for name in (*e.positives, *e.distractors)] for e in entries],
            [len(e.positives) for e in entries],
            file,
        )

    def run(
        self, encoder: DualEncoder, strategies: Sequence[Strategy], judge: Judge | None = None
    ) -> list[Record]:
        """One record a strategy: R@1/3/5, what chance reaches, and with a judge its measures.

        Raises:
            DataError: pictures are missing, or a score is not a finite number.
            JudgeError: the judge cannot be asked.
        """
        scores = [self.scores(encoder, strategy) for strategy in strategies]
        outcomes = [self._recalls(rows) for rows in scores]
        if judge is not None:
            tops = [[_best(*pair) for pair in zip(r, self.candidates, strict=True)] for r in scores]
            judged = judged_outcomes(judge, self.queries, tops)
            outcomes = [a | b for a, b in zip(outcomes, judged, strict=True)]
        return [
            Record.make(
                encoder,
                task="ncoco",
                split="test",
                data=self.file,
                outcomes=values,
                strategy=strategy.name,
                settings=strategy_settings(strategy) | ({"judge": judge.identity} if judge else {}),
            )
            for strategy, values in zip(strategies, outcomes, strict=True)
        ]

    def scores(self, encoder: DualEncoder, strategy: Strategy) -> list[Tensor]:
        """Of each query the scores of its pictures.

        Raises:
            DataError: pictures are missing, or a score is not a finite number.
        """
        texts = [query.query for query in self.queries]
        pictures = dict.fromkeys(path for paths in self.candidates for path in paths)
        row = {path: place for place, path in enumerate(pictures)}
        images = Images(image_vectors(encoder, list(row)))
        scores = query_scores(encoder, strategy, texts, images)
        return [
            line[torch.tensor([row[path] for path in paths])]
            for line, paths in zip(scores, self.candidates, strict=True)
        ]

    def _recalls(self, scores: Sequence[Tensor]) -> Outcomes:
        outcomes = {}
        for k in KS:
            pairs = list(zip(scores, self.positives, strict=True))
            outcomes[f"R@{k}"] = np.array([hit_share(row, n, k) for row, n in pairs])
            alike = [hit_share(torch.zeros_like(row), n, k) for row, n in pairs]
            outcomes[f"chance R@{k}"] = np.array(alike)
        return outcomes


def hit_share(scores: Tensor, positives: int, k: int) -> float:
    """The chance that a positive is among the first k, if equal scores are ordered by lot.

    Args:
        scores: of N pictures ``(N,)``, the positives first.
        positives: how many of them are.
        k: at most N.
    """
    last = scores.topk(k).values[-1]
    if bool((scores[:positives] > last).any()):
        return 1.0
    tied = int((scores == last).sum())
    wrong = int((scores[positives:] == last).sum())
    places = k - int((scores > last).sum())
    return 1 - math.comb(wrong, places) / math.comb(tied, places)


def top_pictures(
    encoder: DualEncoder,
    strategy: Strategy,
    queries: Sequence[JudgedQuery],
    pictures: Sequence[Path],
) -> list[list[Path]]:
    """Of each query the first five pictures, best first; equal ones in an order drawn by lot.

    Raises:
        DataError: pictures are missing, or a score is not a finite number.
    """
    shuffled = _shuffled(pictures)
    images = Images(image_vectors(encoder, shuffled))
    texts = [query.query for query in queries]
    rows = max(1, _AT_ONCE // len(shuffled))
    tops = []
    for start in range(0, len(texts), rows):
        scores = query_scores(encoder, strategy, texts[start : start + rows], images)
        best = scores.argsort(dim=1, descending=True, stable=True)[:, :TOP]
        tops += [[shuffled[i] for i in row] for row in best.tolist()]
    return tops


def judged_outcomes(
    judge: Judge, queries: Sequence[JudgedQuery], tops: Sequence[Sequence[Sequence[Path]]]
) -> list[Outcomes]:
    """The measures of several rankings, with each question asked once for all of them.

    Args:
        judge: who is asked.
        queries: Q of them.
        tops: of each ranking, of each query, the first five pictures, best first.

    Returns:
        Of each ranking, of each measure, the values of the queries ``(Q,)``. "unclear" is the
        share of a query's five pictures of which the judge could not say that they are right or
        wrong.

    Raises:
        JudgeError: the judge cannot be asked.
    """
    ranked = [pair for top in tops for pair in zip(queries, top, strict=True)]
    found = verdicts(judge, [(query, path) for query, paths in ranked for path in paths])
    return [_measures(queries, top, found) for top in tops]


def verdicts(judge: Judge, cases: Iterable[Case]) -> dict[Case, Verdicts]:
    """The sequential protocol: q_n is asked only where the answers before it were right.

    Raises:
        JudgeError: the judge cannot be asked.
    """
    unique = list(dict.fromkeys(cases))
    shown: dict[Case, Verdict] = dict.fromkeys(unique, "right")
    shown |= _ask(judge, {case: case[0].shown for case in unique if case[0].shown}, _YES_IS_RIGHT)
    both = dict(shown)
    for step in range(max((len(query.excluded) for query, _ in unique), default=0)):
        open_ = [c for c in unique if both[c] == "right" and len(c[0].excluded) > step]
        both |= _ask(judge, {case: case[0].excluded[step] for case in open_}, _NO_IS_RIGHT)
    return {case: Verdicts(shown[case], both[case]) for case in unique}


def _ask(
    judge: Judge, questions: Mapping[Case, str], means: Mapping[Answer, Verdict]
) -> dict[Case, Verdict]:
    """What the answers mean; one question about one picture is asked once, whatever the query."""
    pairs = {case: (case[1], question) for case, question in questions.items()}
    unique = list(dict.fromkeys(pairs.values()))
    answers = dict(zip(unique, judge.ask_all(unique), strict=True))
    return {case: means[answers[pair]] for case, pair in pairs.items()}


def _measures(
    queries: Sequence[JudgedQuery],
    tops: Sequence[Sequence[Path]],
    found: Mapping[Case, Verdicts],
) -> Outcomes:
    rows = [[found[query, path] for path in top] for query, top in zip(queries, tops, strict=True)]
    right = {
        "retrieval": np.array([[v.retrieval == "right" for v in row] for row in rows]),
        "ret.+neg.": np.array([[v.both == "right" for v in row] for row in rows]),
    }
    outcomes = {}
    for name, hits in right.items():
        outcomes[f"{name} Top-1"] = hits[:, 0].astype(float)
        outcomes[f"{name} Avg.{TOP}"] = hits.mean(1)
        outcomes[f"{name} Top-{TOP}"] = hits.any(1).astype(float)
    outcomes["unclear"] = np.array([[v.both == "unclear" for v in row] for row in rows]).mean(1)
    return outcomes


def _best(scores: Tensor, pictures: Sequence[Path]) -> list[Path]:
    """The first five of few pictures, equal ones in an order drawn by lot."""
    order = _shuffled(range(len(pictures)))
    best = scores[torch.tensor(order)].argsort(descending=True, stable=True)[:TOP]
    return [pictures[order[i]] for i in best.tolist()]


def _shuffled(items: Sequence[T]) -> list[T]:
    return [items[i] for i in np.random.default_rng(0).permutation(len(items))]


def _fingerprint(queries: Sequence[JudgedQuery], names: Sequence[str]) -> str:
    """Names the queries, their questions and the pictures."""
    text = repr(([(q.query, q.shown, q.excluded) for q in queries], sorted(names)))
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]


def _read(file: Path, form: TypeAdapter[list[T]]) -> list[T]:
    content = read_json(file, form)
    if not content:
        raise DataError(f"{file} holds no query")
    return content
