"""What HANCLIP trains on, drawn: quadruplets, and statements of which the truth is known."""

from collections.abc import Sequence
from functools import cached_property
from random import Random
from typing import NamedTuple

import torch
from PIL import Image
from torch import Tensor

from litotes.backbones.encoder import DualEncoder
from litotes.scenes.captions import (
    Caption,
    absent_kind,
    caption,
    description,
    relations,
    shuffled,
)
from litotes.scenes.drawing import draw
from litotes.scenes.evaluation import truth_table
from litotes.scenes.grammar import noun_phrase
from litotes.scenes.graph import OPPOSITE, Not, Phrase, SceneGraph
from litotes.scenes.kinds import KINDS
from litotes.scenes.negation import (
    exclude_colour,
    exclude_kind,
    exclude_relation,
    negated_caption,
    negation_pair,
    quadruplet,
)
from litotes.scenes.pairs import QUESTION_KINDS, question
from litotes.scenes.world import pick, scene_graph
from litotes.training.fit import Anchor, Batch
from litotes.training.hanclip import (
    Captions,
    loss_of,
    quadruplet_batch,
    shuffled_batches,
    statement_batch,
)
from litotes.training.recipe import HanclipRecipe

SEED_OFFSET = 1000
AT_ONCE = 512


class SceneExamples:
    """Scenes of the train split, and captions of them.

    Other scenes than those that the model `scenes` was trained on.

    Args:
        recipe: how many scenes, which captions and which loss.
    """

    def __init__(self, recipe: HanclipRecipe) -> None:
        self.recipe = recipe
        self.fingerprint = f"scenes {SEED_OFFSET}"
        self.rows = shuffled_batches(recipe.count, recipe.batch_size, recipe.fit.seed)

    @cached_property
    def graphs(self) -> list[SceneGraph]:
        seed = SEED_OFFSET + self.recipe.fit.seed
        return [scene_graph("train", seed, n) for n in range(self.recipe.count)]

    def batch(self, step: int) -> Batch:
        """Quadruplets or statements, as the recipe says."""
        rows = self.rows(step)
        graphs = [self.graphs[row] for row in rows]
        if self.recipe.loss:
            return quadruplet_batch(rows, list(map(self.captions, rows)), loss_of(self.recipe.loss))
        assert self.recipe.truth
        said = [scene_statements(self.graphs[row], self._rng(row, step)) for row in rows]
        table = truth_table([c.statement for made in said for c in made.captions], graphs)
        texts = [[c.text for c in made.captions] for made in said]
        anchors = [anchor for made in said for anchor in made.anchors]
        return statement_batch(rows, texts, table, self.recipe.truth, anchors)

    def made(self, row: int) -> tuple[Caption, Caption, Caption]:
        """The quadruplet of a scene, with what its captions claim."""
        return quadruplet(self.graphs[row], self._rng(row))

    def captions(self, row: int) -> Captions:
        """The quadruplet of a scene."""
        return Captions(*(caption.text for caption in self.made(row)))

    def negation_pairs(self, count: int) -> list[tuple[str, str]]:
        """Captions and negated ones."""
        made = (negation_pair(g, self._rng(row, -1)) for row, g in enumerate(self.graphs[:count]))
        return [(affirmed.text, negated.text) for affirmed, negated in made]

    def pictures(self, numbers: Sequence[int]) -> list[Image.Image]:
        """The scenes, drawn."""
        return [Image.fromarray(draw(self.graphs[number])) for number in numbers]

    def vectors(self, encoder: DualEncoder) -> Tensor:
        """Vectors ``(N, d)`` of all scenes, not normalised."""
        numbers = range(len(self.graphs))
        return torch.cat(
            [
                encoder.encode_images(self.pictures(numbers[i : i + AT_ONCE]), normalize=False)
                for i in range(0, len(numbers), AT_ONCE)
            ]
        )

    def _rng(self, *numbers: int) -> Random:
        return Random(f"{self.recipe.fit.seed} {numbers}")


class Said(NamedTuple):
    """Statements about a scene, and texts of which it is known where they should be."""

    captions: list[Caption]
    anchors: list[Anchor]


def scene_statements(graph: SceneGraph, rng: Random) -> Said:
    """Statements, true and false, of every form that affirms, denies, or does both."""
    true, long = _affirmative(graph, rng), description(graph, rng)
    kinds = shuffled(sorted({thing.kind for thing in graph.things}), rng)
    absent = absent_kind(graph, rng)
    made = [
        true,
        *(option for kind in QUESTION_KINDS for option in question(graph, kind, rng).options),
        negated_caption(graph, rng),
        exclude_kind(kinds[0], absent, rng),
        exclude_kind(absent, kinds[0], rng),
        *_colour_statements(graph, rng),
        *_relation_statements(graph, rng),
    ]
    named = noun_phrase(Phrase(pick(rng, list(KINDS))), rng)
    return Said(made, [Anchor(text) for text in (true.text, long.text, named)])


def _affirmative(graph: SceneGraph, rng: Random) -> Caption:
    """A caption that denies nothing, as few of them do."""
    while True:
        made = caption(graph, rng)
        if not any(isinstance(claim, Not) for claim in made.statement):
            return made


def _colour_statements(graph: SceneGraph, rng: Random) -> list[Caption]:
    """Of one thing: that it does not have the colour that it has, or one that it has not."""
    thing = pick(rng, graph.things)
    others = [colour for colour in KINDS[thing.kind].colours if colour != thing.colour]
    colours = [thing.colour, *([pick(rng, others)] if others else [])]
    return [exclude_colour(thing.kind, colour, rng) for colour in colours]


def _relation_statements(graph: SceneGraph, rng: Random) -> list[Caption]:
    """Of two things: that one does not stand to the other as it does, or as it does not."""
    found = relations(graph)
    if not found:
        return []
    a, relation, b = pick(rng, found)
    names = [relation, OPPOSITE[relation]] if relation in OPPOSITE else [relation]
    return [exclude_relation(a.kind, name, b.kind, rng) for name in names]
