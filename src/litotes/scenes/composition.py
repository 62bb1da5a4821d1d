"""What Slipform trains on, drawn: scenes, captions with a word changed, and scenes to match."""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from functools import cached_property
from itertools import count, islice
from random import Random
from typing import NamedTuple

from PIL import Image
from torch import Tensor

from litotes.backbones.encoder import DualEncoder
from litotes.backbones.vectors import drawn_vectors
from litotes.data.concrete_pairs import KeywordKind
from litotes.language.concreteness import Ratings, load_ratings
from litotes.scenes.captions import caption, description
from litotes.scenes.drawing import draw
from litotes.scenes.graph import Exists, Related, SceneGraph
from litotes.scenes.negation import negation_pair
from litotes.scenes.pairs import HardNegative, PairKind, hard_negative
from litotes.scenes.world import scene_graph
from litotes.training.adapt import shuffled_batches
from litotes.training.fit import Anchor, Batch
from litotes.training.recipe import SlipformRecipe
from litotes.training.slipform import ConcreteBatch, cement_batch

SEED_OFFSET = 2000
LONG = 0.25
"""Of so many scenes a long description is an anchor beside a caption."""
SWAPS: tuple[PairKind, ...] = ("swap object", "swap attribute", "swap relation")
KINDS_OF_PAIRS: tuple[PairKind, ...] = (
    "replace object",
    "replace attribute",
    "replace relation",
    *SWAPS,
)
"""What is changed; where two things change places in a relation, the keyword is a thing."""


class Changed(NamedTuple):
    """A scene, a caption of it, both changed, and how concrete the changed word is."""

    graph: SceneGraph
    pair: HardNegative
    score: float


class SceneExamples:
    """Scenes of the train split, of which a caption can be changed.

    Other scenes than those that the model `scenes` was trained on.

    Args:
        recipe: how many scenes, which word is changed, and which loss.
    """

    def __init__(self, recipe: SlipformRecipe) -> None:
        self.recipe = recipe
        self.fingerprint = f"scenes {SEED_OFFSET}"
        self.rows = shuffled_batches(recipe.count, recipe.batch_size, recipe.fit.seed)

    @cached_property
    def made(self) -> list[Changed]:
        """The scenes and what was changed."""
        seed = SEED_OFFSET + self.recipe.fit.seed
        graphs = (scene_graph("train", seed, n) for n in count())
        plant = self.recipe.plant
        ratings = load_ratings(plant.score)
        made = changes(graphs, plant.kinds, plant.choice, ratings, self._rng)
        return list(islice(made, self.recipe.count))

    def batch(self, step: int) -> Batch:
        """The next scenes."""
        rows = self.rows(step)
        made = [self.made[row] for row in rows]
        paired = self.recipe.negatives == "pairs"
        batch = cement_batch(
            ConcreteBatch(
                rows,
                [one.pair.caption.text for one in made],
                [one.pair.negative.text for one in made],
                [one.score for one in made],
                [len(self.made) + row for row in rows] if paired else (),
            ),
            self.recipe,
        )
        rng = self._rng(step, -1)
        others = [
            (description if rng.random() < LONG else caption)(one.graph, rng).text for one in made
        ]
        return Batch(
            batch.pictures, batch.texts, batch.loss, [*batch.anchors, *map(Anchor, others)]
        )

    def pictures(self, numbers: Sequence[int]) -> list[Image.Image]:
        """The scenes, drawn; behind them the changed ones."""
        return [Image.fromarray(draw(self._graphs[number])) for number in numbers]

    def vectors(self, encoder: DualEncoder) -> Tensor:
        """Vectors ``(N, d)`` of all pictures, not normalised."""
        paired = self.recipe.negatives == "pairs"
        return drawn_vectors(encoder, self._graphs[: None if paired else len(self.made)], draw)

    def negation_pairs(self, count: int) -> list[tuple[str, str]]:
        """Captions and negated ones."""
        made = (
            negation_pair(one.graph, self._rng(row, -2))
            for row, one in enumerate(self.made[:count])
        )
        return [(affirmed.text, negated.text) for affirmed, negated in made]

    @cached_property
    def _graphs(self) -> list[SceneGraph]:
        return [*(one.graph for one in self.made), *(one.pair.picture for one in self.made)]

    def _rng(self, *numbers: int) -> Random:
        return Random(f"{self.recipe.fit.seed} {numbers}")


def changes(
    graphs: Iterable[SceneGraph],
    kinds: Collection[KeywordKind],
    choice: str,
    ratings: Ratings,
    rng: Callable[[int], Random],
) -> Iterator[Changed]:
    """A change of each scene that can be changed.

    Args:
        graphs: scenes.
        kinds: as of :func:`changed`.
        choice: as of :func:`changed`.
        ratings: as of :func:`changed`.
        rng: random numbers for the scene of a number, from 0.
    """
    made = (changed(graph, kinds, choice, ratings, rng(n)) for n, graph in enumerate(graphs))
    return filter(None, made)


def changed(
    graph: SceneGraph,
    kinds: Collection[KeywordKind],
    choice: str,
    ratings: Ratings,
    rng: Random,
) -> Changed | None:
    """One change of a scene, chosen by how concrete the changed word is.

    Args:
        graph: the scene.
        kinds: of what is changed, or changes places; scenes have objects, attributes, relations.
        choice: "hc", "lc" or "random", as `litotes plant` chooses; "negclip" exchanges words only.
        ratings: how concrete words are.
        rng: draws among those that are as good.

    Returns:
        None if nothing that can be said of the scene can be changed so.
    """
    among = SWAPS if choice == "negclip" else KINDS_OF_PAIRS
    among = tuple(kind for kind in among if kind.split()[1] in kinds)
    found = [pair for kind in among if (pair := hard_negative(graph, kind, rng))]
    if not found:
        return None
    scores = {pair.kind: _score(pair, ratings) for pair in found}
    if choice in ("hc", "lc"):
        best = (max if choice == "hc" else min)(scores[pair.kind] for pair in found)
        found = [pair for pair in found if scores[pair.kind] == best]
    pair = rng.choice(found)
    return Changed(graph, pair, scores[pair.kind])


def _score(pair: HardNegative, ratings: Ratings) -> float:
    word = _keyword(pair)
    rating = ratings.of(word.split(), word.split())
    assert rating, word
    return rating.score


def _keyword(pair: HardNegative) -> str:
    """The first word that was changed."""
    claim = pair.caption.statement[0]
    if isinstance(claim, Related) and pair.kind == "replace relation":
        return claim.relation
    assert isinstance(claim, Related | Exists)
    phrase = claim.a if isinstance(claim, Related) else claim.phrase
    return str(phrase.colour if pair.kind.endswith("attribute") else phrase.kind)
