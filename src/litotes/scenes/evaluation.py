"""Exact evaluation: on drawn scenes every right answer counts, and no wrong one does.

What is measured beside understanding of "not": plain retrieval of short and long captions,
classification, and presence of objects, so that a method's cost shows beside its gain.
"""

import hashlib
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
from random import Random
from typing import Any, TypeVar, cast

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.metrics import roc_auc_score
from torch import Tensor
from torch.nn.functional import normalize

from litotes.backbones.encoder import DualEncoder
from litotes.backbones.vectors import drawn_vectors
from litotes.evaluation.choice import choice_scores
from litotes.evaluation.classification import probe
from litotes.evaluation.exclusion import TOP, top_shares
from litotes.evaluation.record import Record
from litotes.evaluation.retrieval import KS, retrieval_ranks
from litotes.evaluation.task import check_finite, query_scores, query_vectors, strategy_settings
from litotes.language import Query, parse_all
from litotes.scenes.captions import Caption, caption, description, relations, shuffled
from litotes.scenes.drawing import draw
from litotes.scenes.grammar import noun_phrase
from litotes.scenes.graph import (
    Exists,
    Not,
    Phrase,
    Relation,
    SceneGraph,
    Statement,
    Thing,
    Truth,
    truth,
)
from litotes.scenes.kinds import KINDS
from litotes.scenes.negation import (
    exclude_colour,
    exclude_kind,
    exclude_relation,
    negated_caption,
)
from litotes.scenes.pairs import (
    PAIR_KINDS,
    QUESTION_KINDS,
    WINOGROUND_KINDS,
    HardNegative,
    PairKind,
    hard_negative,
    question,
)
from litotes.scenes.world import Split, scene_graph, single_scene
from litotes.strategies import ByVector, Images, Strategy

K = TypeVar("K", bound=Any)
Outcomes = dict[str, NDArray[np.float64]]
"""Of each metric the values of its units (a scene, a question, a query)."""

EXCLUSION_SCENES = 4000
"""So many scenes at least are searched by queries that exclude, so that each can be violated."""
EXCLUSION_QUERIES = 100
"""Queries of each kind."""
PROBE_SCENES = 2000
"""So many scenes a linear probe is fitted on."""


class _World:
    """Scenes and their vectors, made once for all measures and strategies."""

    def __init__(self, task: "ScenesTask", encoder: DualEncoder) -> None:
        self.task = task
        self.encoder = encoder
        numbers = range(max(EXCLUSION_SCENES, task.count))
        self.many = [scene_graph(task.split, task.seed, n, uncommon=task.uncommon) for n in numbers]
        self.graphs = self.many[: task.count]
        self.vectors = self.images(self.graphs)
        self.seen = Images(self.vectors)
        said = [caption(graph, self.rng("caption", n)).text for n, graph in enumerate(self.graphs)]
        drawn = hashlib.sha256(json.dumps(said).encode())
        drawn.update(np.stack([draw(graph) for graph in self.graphs[:8]]).tobytes())
        self.fingerprint = drawn.hexdigest()[:16]
        self.captions = said
        self._queries: dict[str, Query] = {}
        self._exclusions: dict[str, list[_Exclusion]] = {}

    @cached_property
    def many_seen(self) -> Images:
        """The many scenes, which few measures look at."""
        return Images(self.images(self.many))

    @cached_property
    def singles(self) -> list[SceneGraph]:
        """Scenes of one thing each."""
        task = self.task
        return [
            single_scene(task.split, task.seed, n, uncommon=task.uncommon)
            for n in range(task.count)
        ]

    def rng(self, what: str, number: int) -> Random:
        """Random numbers for one unit of a measure, whatever the others draw."""
        return Random(f"{what} {self.task.split} {self.task.seed} {number}")

    def parsed(self, texts: Sequence[str]) -> list[Query]:
        """The texts as queries: each is taken apart once, whatever the strategies."""
        new = [text for text in dict.fromkeys(texts) if text not in self._queries]
        self._queries |= zip(new, parse_all(new), strict=True)
        return [self._queries[text] for text in texts]

    def exclusions(self, name: str) -> "list[_Exclusion]":
        """The queries of a kind, and what each scene is to them."""
        if name not in self._exclusions:
            queries = _EXCLUSION_QUERIES[name](self)
            self._exclusions[name] = [_exclusion(query, self.many) for query in queries]
        return self._exclusions[name]

    def chosen(self, found: Iterable[K]) -> list[K]:
        """At most so many of what can be asked, by lot."""
        return shuffled(sorted(found), self.rng("chosen", 0))[:EXCLUSION_QUERIES]

    def rows_by(self, key: Callable[[Thing], K]) -> dict[K, set[int]]:
        """In which of the many scenes there is a thing of each key."""
        rows: dict[K, set[int]] = {}
        for row, graph in enumerate(self.many):
            for thing in graph.things:
                rows.setdefault(key(thing), set()).add(row)
        return rows

    def hard_negatives(self, kind: PairKind) -> list[tuple[int, HardNegative]]:
        """Those that the scenes give, with their scenes' rows."""
        made = (
            (row, hard_negative(graph, kind, self.rng(kind, row)))
            for row, graph in enumerate(self.graphs)
        )
        return [(row, found) for row, found in made if found]

    def images(self, graphs: Sequence[SceneGraph]) -> Tensor:
        """Unit vectors ``(N, d)`` of the scenes' pictures."""
        return normalize(drawn_vectors(self.encoder, graphs, draw), dim=-1)


@dataclass(frozen=True)
class _Answer:
    """How a strategy answers texts about a world."""

    world: _World
    encoder: DualEncoder
    strategy: Strategy

    def vectors(self, texts: Sequence[str]) -> Tensor:
        """Unit vectors ``(T, d)``."""
        return query_vectors(self.encoder, self.strategy, texts, self.world.parsed)

    def scores(self, texts: Sequence[str], images: Images) -> Tensor:
        """How well each image answers each text ``(T, N)``."""
        return query_scores(self.encoder, self.strategy, texts, images, self.world.parsed)

    def choices(self, options: Sequence[Sequence[str]]) -> Tensor:
        """How well each option describes its scene, the first of the world's ``(N, M)``."""
        rows = torch.arange(len(options))
        return choice_scores(
            self.encoder, self.strategy, self.world.seen, rows, options, self.world.parsed
        )


def _multiple_choice(world: _World, answer: _Answer) -> Outcomes:
    """Four captions, one true; of equal scores the true one gets its share."""
    outcomes: Outcomes = {}
    for kind in QUESTION_KINDS:
        asked = [
            question(graph, kind, world.rng(f"question {kind}", n))
            for n, graph in enumerate(world.graphs)
        ]
        scores = answer.choices([[option.text for option in q.options] for q in asked])
        outcomes[f"mcq {kind}"] = _share_of_best(scores)
    outcomes["mcq macro"] = np.mean(list(outcomes.values()), axis=0)
    return outcomes


def _own_scores(texts: Tensor, images: Tensor, names: Sequence[str]) -> Tensor:
    scores = (texts * images).sum(-1)
    check_finite(scores[:, None], names)
    return scores


def _share_of_best(scores: Tensor) -> NDArray[np.float64]:
    """Per row, what the first option gets of 1 that the best ones share."""
    best = scores == scores.max(1, keepdim=True).values
    return (best[:, 0].double() / best.sum(1)).numpy()


def _negated_retrieval(world: _World, answer: _Answer) -> Outcomes:
    """Captions that affirm and deny; each scene a caption fits, and each caption that fits."""
    captions = [
        negated_caption(graph, world.rng("negated", n)) for n, graph in enumerate(world.graphs)
    ]
    texts = [c.text for c in captions]
    to_text = answer.vectors(texts) @ world.vectors.T
    check_finite(to_text, texts)
    by_vector = isinstance(answer.strategy, ByVector)
    to_image = to_text if by_vector else answer.scores(texts, world.seen)
    fits = truth_table([c.statement for c in captions], world.graphs) == 1
    hits: Outcomes = {}
    for way, ordered, right in (("t→i", to_image, fits), ("i→t", to_text.T, fits.T)):
        # Among equal scores a wrong one ranks first.
        best = ordered.masked_fill(~right, -torch.inf).max(1, keepdim=True).values
        ahead = ((ordered >= best) & ~right).sum(1)
        hits |= {f"negated {way} R@{k}": (ahead < k).double().numpy() for k in KS}
    total = 100 * np.sum(list(hits.values()), axis=0)
    return {"negated t→i R@1": hits["negated t→i R@1"], "negated rSum": total}


def truth_table(statements: Sequence[Statement], graphs: Sequence[SceneGraph]) -> Tensor:
    """Truth of each statement about each scene ``(S, N)``, int8: 1 true, 0 false, -1 unclear."""
    holders: dict[str, list[int]] = {}
    for row, graph in enumerate(graphs):
        for name in {n for t in graph.things for n in (t.kind, KINDS[t.kind].category)}:
            holders.setdefault(name, []).append(row)
    table = torch.zeros(len(statements), len(graphs), dtype=torch.int8)
    for line, statement in enumerate(statements):
        # What affirms a kind can only hold where the kind is.
        kinds = [claim.phrase.kind for claim in statement if isinstance(claim, Exists)]
        rows = holders.get(kinds[0], []) if kinds else range(len(graphs))
        for row in rows:
            table[line, row] = _code(truth(statement, graphs[row]))
    return table


def _code(value: Truth) -> int:
    return -1 if value is None else int(value)


@dataclass(frozen=True)
class _Exclusion:
    """A query and what each scene is to it: 0 violating, 1 not shown, 2 right, -1 unclear."""

    query: Caption
    states: Tensor


def _exclusions(world: _World, answer: _Answer) -> Outcomes:
    """Queries "X without Y": the shares of the first ten that violate it, and that are right.

    Scenes about which a query is unclear are left out before ranking.
    """
    outcomes: Outcomes = {}
    for name in _EXCLUSION_QUERIES:
        asked = world.exclusions(name)
        if not asked:
            # Too few scenes for any query to be violated often enough.
            continue
        texts = [exclusion.query.text for exclusion in asked]
        scores = answer.scores(texts, world.many_seen)
        shares = []
        for exclusion, row in zip(asked, scores, strict=True):
            known = exclusion.states >= 0
            shares.append(top_shares(row[None, known], exclusion.states[known]))
        table = np.array(shares)
        outcomes[f"exclude {name}: violating@10"] = table[:, 0]
        outcomes[f"exclude {name}: right@10"] = table[:, 1]
    return outcomes


def _exclusion(query: Caption, graphs: Sequence[SceneGraph]) -> _Exclusion:
    wanted, unwanted = query.statement
    excluded = cast(Not, unwanted).claim
    states = torch.ones(len(graphs), dtype=torch.long)
    for row, graph in enumerate(graphs):
        bad, good = truth([excluded], graph), truth([wanted], graph)
        if bad is None or good is None:
            states[row] = -1
        elif bad or good:
            states[row] = 0 if bad else 2
    return _Exclusion(query, states)


def _object_queries(world: _World) -> Iterator[Caption]:
    """A kind, and one that is often with it."""
    rows = world.rows_by(lambda thing: thing.kind)
    found = [
        (a, b) for a, b in permutations(rows, 2) if _enough(rows[a] & rows[b], rows[a] - rows[b])
    ]
    for number, (a, b) in enumerate(world.chosen(found)):
        yield exclude_kind(a, b, world.rng("exclude object", number))


def _attribute_queries(world: _World) -> Iterator[Caption]:
    """A kind, and a colour it often has."""
    rows = world.rows_by(lambda thing: thing.kind)
    coloured = world.rows_by(lambda thing: (thing.kind, thing.colour))
    found = [key for key in coloured if _enough(coloured[key], rows[key[0]] - coloured[key])]
    for number, (kind, colour) in enumerate(world.chosen(found)):
        yield exclude_colour(kind, colour, world.rng("exclude attribute", number))


def _relation_queries(world: _World) -> Iterator[Caption]:
    """A kind, and how it often stands to another."""
    rows = world.rows_by(lambda thing: thing.kind)
    related: dict[tuple[str, Relation, str], set[int]] = {}
    for row, graph in enumerate(world.many):
        for one, relation, other in relations(graph):
            related.setdefault((one.kind, relation, other.kind), set()).add(row)
    # A relation between two kinds is rarer than either: half of the first ten can violate, then.
    found = [key for key in related if _enough(related[key], rows[key[0]] - related[key], TOP // 2)]
    for number, (a, relation, b) in enumerate(world.chosen(found)):
        yield exclude_relation(a, relation, b, world.rng("exclude relation", number))


def _enough(violating: set[int], right: set[int], least: int = TOP) -> bool:
    return min(len(violating), len(right)) >= least


def _pairs(world: _World, answer: _Answer) -> Outcomes:
    """SugarCrepe's question: does the picture suit the true caption better than the false one?"""
    outcomes: Outcomes = {}
    for kind in PAIR_KINDS:
        made = world.hard_negatives(kind)
        texts = [text for _, h in made for text in (h.caption.text, h.negative.text)]
        images = world.vectors[[row for row, _ in made]]
        scores = _own_scores(answer.vectors(texts), images.repeat_interleave(2, 0), texts)
        outcomes[kind] = _share_of_best(scores.view(-1, 2))
    return outcomes


def _winoground(world: _World, answer: _Answer) -> Outcomes:
    """Two pictures, two captions of the same words (arXiv 2204.03162); ties are wrong."""
    made = [pair for kind in WINOGROUND_KINDS for pair in world.hard_negatives(kind)]
    texts = (
        answer.vectors([h.caption.text for _, h in made]),
        answer.vectors([h.negative.text for _, h in made]),
    )
    images = world.vectors[[row for row, _ in made]], world.images([h.picture for _, h in made])
    right0, wrong0 = (texts[0] * images[0]).sum(1), (texts[1] * images[0]).sum(1)
    wrong1, right1 = (texts[0] * images[1]).sum(1), (texts[1] * images[1]).sum(1)
    by_text = (right0 > wrong0) & (right1 > wrong1)
    by_image = (right0 > wrong1) & (right1 > wrong0)
    return {
        "winoground text": by_text.double().numpy(),
        "winoground image": by_image.double().numpy(),
        "winoground group": (by_text & by_image).double().numpy(),
    }


def _retrieval(world: _World, answer: _Answer) -> Outcomes:
    return _recalls("", world.captions, world, answer)


def _long_retrieval(world: _World, answer: _Answer) -> Outcomes:
    said = [description(graph, world.rng("long", n)).text for n, graph in enumerate(world.graphs)]
    return _recalls("long ", said, world, answer)


def _recalls(name: str, texts: Sequence[str], world: _World, answer: _Answer) -> Outcomes:
    """One caption a scene, which asks for that scene alone, as the field's figures do."""
    owner = torch.arange(len(texts))
    to_image, to_text = retrieval_ranks(answer.vectors(texts), world.vectors, owner, texts)
    hits = {f"{name}t→i R@{k}": (to_image < k).double().numpy() for k in KS}
    hits |= {f"{name}i→t R@{k}": (to_text < k).double().numpy() for k in KS}
    total = 100 * np.sum(list(hits.values()), axis=0)
    kept = [f"{name}t→i R@1", f"{name}t→i R@10", f"{name}i→t R@1"]
    return {key: hits[key] for key in kept} | {f"{name}rSum": total}


def _classification(world: _World, answer: _Answer) -> Outcomes:
    """Pictures of one thing each, told among all kinds by CLIP's prompt."""
    scores = world.images(world.singles) @ answer.vectors(_PROMPTS).T
    right = torch.tensor([list(KINDS).index(kind) for kind in _kinds(world.singles)])
    return {"classification": (scores.argmax(1) == right).double().numpy()}


def _linear_probe(world: _World, answer: _Answer) -> Outcomes:
    """The same pictures, told by a logistic regression on vectors of others."""
    known = [single_scene("train", world.task.seed, n) for n in range(PROBE_SCENES)]
    held_out = PROBE_SCENES // 5
    parts = (
        (world.images(graphs).numpy(), np.array(_kinds(graphs)))
        for graphs in (known[held_out:], known[:held_out], world.singles)
    )
    return {"linear probe": probe(*parts)[0].astype(float)}


def _kinds(singles: Sequence[SceneGraph]) -> list[str]:
    return [graph.things[0].kind for graph in singles]


def _presence(world: _World, answer: _Answer) -> Outcomes:
    """Mean over kinds of the area under the curve of "is it there?"."""
    scores = (world.many_seen.vectors @ answer.vectors(_PROMPTS).T).numpy()
    rows = world.rows_by(lambda thing: thing.kind)
    areas = []
    for column, kind in enumerate(KINDS):
        there = np.zeros(len(world.many), dtype=bool)
        there[list(rows.get(kind, ()))] = True
        if there.any() and not there.all():
            areas.append(roc_auc_score(there, scores[:, column]))
    return {"presence AUROC": np.array(areas)}


_PROMPTS = [noun_phrase(Phrase(kind), Random(0)) for kind in KINDS]

_EXCLUSION_QUERIES: dict[str, Callable[[_World], Iterator[Caption]]] = {
    "object": _object_queries,
    "attribute": _attribute_queries,
    "relation": _relation_queries,
}
MEASURES: dict[str, Callable[[_World, _Answer], Outcomes]] = {
    "multiple choice": _multiple_choice,
    "negated retrieval": _negated_retrieval,
    "exclusion": _exclusions,
    "pairs": _pairs,
    "winoground": _winoground,
    "retrieval": _retrieval,
    "long retrieval": _long_retrieval,
    "classification": _classification,
    "presence": _presence,
    "linear probe": _linear_probe,
}
"""What can be measured."""
USUAL = tuple(name for name in MEASURES if name != "linear probe")
"""What strategies are told apart by: pictures' vectors are the same for all."""


@dataclass(frozen=True)
class ScenesTask:
    """Every measure of the drawn world.

    Attributes:
        split: which scenes; tune on dev, report on test.
        count: scenes of the retrieval tasks, and questions and pairs of each kind at most.
        seed: of the scenes and of what is asked.
        uncommon: whether scenes hold combinations that training never showed.
        measures: which, by their names in `MEASURES`.
    """

    split: Split = "dev"
    count: int = 1000
    seed: int = 0
    uncommon: bool = False
    measures: tuple[str, ...] = USUAL

    def run(self, encoder: DualEncoder, strategies: Sequence[Strategy]) -> list[Record]:
        """Measure strategies side by side; each reads queries as `parse` takes them apart.

        Raises:
            DataError: a score is not a finite number.
        """
        world = _World(self, encoder)
        return [self._record(encoder, strategy, world) for strategy in strategies]

    def _record(self, encoder: DualEncoder, strategy: Strategy, world: _World) -> Record:
        answer = _Answer(world, encoder, strategy)
        outcomes: Outcomes = {}
        for name in self.measures:
            outcomes |= MEASURES[name](world, answer)
        facts = {"count": self.count, "uncommon": self.uncommon}
        return Record.make(
            encoder,
            task="scenes-uncommon" if self.uncommon else "scenes",
            split=self.split,
            data=world.fingerprint,
            strategy=strategy.name,
            settings=strategy_settings(strategy) | facts,
            seed=self.seed,
            outcomes=outcomes,
        )
