"""Scenes and captions with a word changed, for Slipform."""

from random import Random

import pytest
import torch
from PIL import Image

import litotes
from litotes.data.concrete_pairs import KEYWORD_KINDS
from litotes.language.concreteness import load_ratings
from litotes.scenes.composition import (
    KINDS_OF_PAIRS,
    SWAPS,
    SceneExamples,
    changed,
)
from litotes.scenes.graph import truth
from litotes.scenes.pairs import hard_negative
from litotes.scenes.world import scene_graph
from litotes.training.recipe import FitSettings, SlipformRecipe

GRAPHS = [scene_graph("dev", 5, n) for n in range(120)]


def recipe(**changes: object) -> SlipformRecipe:
    """A small one."""
    settings = {
        "method": "slipform", "model": "scenes", "count": 24, "batch_size": 8,
        "negatives": "pairs", "fit": FitSettings(steps=2, lr=1e-3),
    }  # fmt: skip
    return SlipformRecipe.model_validate(settings | changes)


@pytest.mark.parametrize("choice", ["hc", "lc", "random", "negclip"])
def test_a_changed_caption_is_false_of_the_scene_and_true_of_the_changed_one(choice: str) -> None:
    ratings = load_ratings("concreteness")
    kinds = set()
    for n, graph in enumerate(GRAPHS):
        made = changed(graph, KEYWORD_KINDS, choice, ratings, Random(n))
        if made is None:
            continue
        pair = made.pair
        kinds.add(pair.kind)
        assert truth(pair.caption.statement, graph) is True
        assert truth(pair.negative.statement, graph) is False
        assert truth(pair.negative.statement, pair.picture) is True
        assert truth(pair.caption.statement, pair.picture) is False
        assert 1 <= made.score <= 5
    expected = {
        "hc": {"replace object", "swap object", "swap relation"},
        "lc": {"replace relation", "replace attribute"},
        "random": set(KINDS_OF_PAIRS),
        "negclip": set(SWAPS),
    }[choice]
    assert expected <= kinds if choice in ("hc", "lc") else kinds == expected


def test_the_most_and_the_least_concrete_word_are_chosen() -> None:
    ratings = load_ratings("concreteness")
    for n, graph in enumerate(GRAPHS):
        high, low = (
            changed(graph, KEYWORD_KINDS, choice, ratings, Random(n)) for choice in ("hc", "lc")
        )
        anything = changed(graph, KEYWORD_KINDS, "random", ratings, Random(n))
        if high and low and anything:
            # The same random numbers make the same changes to choose from.
            assert low.score <= anything.score <= high.score


def test_only_some_kinds_of_words_are_changed() -> None:
    ratings = load_ratings("concreteness")
    some = [changed(graph, ("attribute",), "random", ratings, Random(0)) for graph in GRAPHS]
    assert {made.pair.kind for made in some if made} == {"replace attribute", "swap attribute"}
    plant = {"choice": "random", "kinds": ["relation"]}
    made = SceneExamples(recipe(plant=plant)).made
    assert {one.pair.kind for one in made} == {"replace relation", "swap relation"}


def test_a_batch_has_both_captions_and_both_pictures() -> None:
    examples = SceneExamples(recipe())
    batch = examples.batch(0)
    assert len(batch.pictures) == 16
    assert len(batch.texts) == 16
    pictures = examples.pictures(batch.pictures)
    assert all(isinstance(picture, Image.Image) for picture in pictures)
    for place, number in enumerate(batch.pictures[:8]):
        made = examples.made[number]
        assert batch.texts[place] == made.pair.caption.text
        assert batch.texts[8 + place] == made.pair.negative.text
        assert batch.pictures[8 + place] == len(examples.made) + number
    again = SceneExamples(recipe()).batch(0)
    assert again.texts == batch.texts
    assert again.anchors == batch.anchors


def test_vectors_are_those_of_the_pictures() -> None:
    encoder = litotes.load("scenes")
    for negatives, count in (("pairs", 48), ("text", 24)):
        examples = SceneExamples(recipe(negatives=negatives))
        vectors = examples.vectors(encoder)
        assert len(vectors) == count
        some = [0, count - 1]
        direct = encoder.encode_images(examples.pictures(some), normalize=False)
        torch.testing.assert_close(vectors[some], direct, atol=1e-4, rtol=1e-4)


def test_the_world_is_rated() -> None:
    for measure in ("concreteness", "visual"):
        ratings = load_ratings(measure)
        for n, graph in enumerate(GRAPHS[:40]):
            for kind in KINDS_OF_PAIRS:
                if hard_negative(graph, kind, Random(n)):
                    assert changed(graph, KEYWORD_KINDS, "random", ratings, Random(n))
