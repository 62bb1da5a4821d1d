"""What HANCLIP trains on, drawn: quadruplets, and statements of which the truth is known."""

from collections.abc import Sequence
from functools import cached_property
from random import Random
from typing import NamedTuple

from PIL import Image
from torch import Tensor

from litotes.backbones.encoder import DualEncoder
from litotes.backbones.vectors import drawn_vectors
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
from litotes.scenes.grammar import joined, noun_phrase, say_relation
from litotes.scenes.graph import OPPOSITE, Exists, Fact, Not, Phrase, Related, SceneGraph
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
from litotes.training.adapt import shuffled_batches, with_bank
from litotes.training.fit import ANYTHING, Anchor, Batch
from litotes.training.hanclip import Captions, loss_of, quadruplet_batch, statement_batch
from litotes.training.recipe import HanclipRecipe, TruthLossSettings

SEED_OFFSET = 1000
LONG = 0.25
"""Of so many scenes a long description is an anchor, of the others a mere name."""


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
        if self.recipe.loss:
            return quadruplet_batch(rows, list(map(self.captions, rows)), loss_of(self.recipe.loss))
        settings = self.recipe.truth
        assert settings
        said = [scene_statements(self.graphs[row], settings, self._rng(row, step)) for row in rows]
        pictures = with_bank(rows, len(self.graphs), settings.bank, self._rng(step))
        statements = [c.statement for made in said for c in made.captions]
        table = truth_table(statements, [self.graphs[row] for row in pictures])
        texts = [[c.text for c in made.captions] for made in said]
        anchors = [anchor for made in said for anchor in made.anchors]
        return statement_batch(pictures, texts, table, settings, anchors)

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
        return drawn_vectors(encoder, self.graphs, draw)

    def _rng(self, *numbers: int) -> Random:
        return Random(f"{self.recipe.fit.seed} {numbers}")


class Said(NamedTuple):
    """Statements about a scene, and texts of which it is known where they should be."""

    captions: list[Caption]
    anchors: list[Anchor]


def scene_statements(graph: SceneGraph, settings: TruthLossSettings, rng: Random) -> Said:
    """Statements, true and false, of every form that affirms, denies, or does both."""
    true = _affirmative(graph, rng)
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
    # Long descriptions take as long as all statements of a scene, and move less.
    if rng.random() < LONG:
        other = description(graph, rng).text
    else:
        other = noun_phrase(Phrase(pick(rng, list(KINDS))), rng)
    anchors = [_excluding(caption, settings, rng) for caption in made if _denied(caption)]
    return Said(made, [Anchor(true.text), Anchor(other), *anchors])


def _denied(caption: Caption) -> list[Fact]:
    return [claim.claim for claim in caption.statement if isinstance(claim, Not)]


def _excluding(caption: Caption, settings: TruthLossSettings, rng: Random) -> Anchor:
    """Where a caption should be that denies: away from what is denied."""
    (denied,) = _denied(caption)
    if isinstance(denied, Related):
        excluded = say_relation(denied.a, denied.relation, denied.b, [], None, rng)
    else:
        assert isinstance(denied, Exists)
        excluded = noun_phrase(denied.phrase, rng)
    affirmed = [c.phrase for c in caption.statement if isinstance(c, Exists)]
    if not affirmed:
        return Anchor(caption.text, ANYTHING, excluded, settings.denial_beta)
    named = joined([noun_phrase(phrase, rng) for phrase in affirmed])
    return Anchor(caption.text, named, excluded, settings.beta)


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
