"""Vectors of drawn scenes and of scenes changed, to ask who pushes in a contrastive gradient."""

from itertools import count as numbers
from itertools import islice
from random import Random

import torch

from litotes.backbones.encoder import DualEncoder
from litotes.backbones.vectors import drawn_vectors, text_vectors
from litotes.data.concrete_pairs import KEYWORD_KINDS
from litotes.evaluation.gradients import PairVectors
from litotes.language.concreteness import load_ratings
from litotes.scenes.composition import changes
from litotes.scenes.drawing import draw
from litotes.scenes.world import Split, scene_graph


def scene_vectors(
    encoder: DualEncoder, count: int, seed: int = 0, split: Split = "dev"
) -> PairVectors:
    """Scenes of which a caption's most concrete word can be changed, and pictures of the change.

    Args:
        encoder: encodes, or its vectors are in the cache.
        count: scenes.
        seed: another seed, other scenes.
        split: of the scenes.

    Raises:
        LitotesError: the package of ratings is not installed.
    """
    graphs = (scene_graph(split, seed, n) for n in numbers())

    def rng(number: int) -> Random:
        return Random(f"gradients {seed} {number}")

    found = changes(graphs, KEYWORD_KINDS, "hc", load_ratings(), rng)
    made = list(islice(found, count))
    return PairVectors(
        drawn_vectors(encoder, [one.graph for one in made], draw),
        text_vectors(encoder, [one.pair.caption.text for one in made]),
        text_vectors(encoder, [one.pair.negative.text for one in made]),
        torch.tensor([one.score for one in made]),
        drawn_vectors(encoder, [one.pair.picture for one in made], draw),
    )
