"""Hard negatives and questions: each is what it says, by the scene graph."""

import re
from collections import Counter
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from litotes.scenes.graph import SIDE, truth
from litotes.scenes.kinds import KINDS
from litotes.scenes.pairs import (
    PAIR_KINDS,
    QUESTION_KINDS,
    WINOGROUND_KINDS,
    hard_negative,
    question,
)
from litotes.scenes.reading import read
from litotes.scenes.world import scene_graph

numbers = st.integers(0, 10**6)


@settings(max_examples=150)
@given(numbers, st.booleans())
def test_hard_negatives_are_false_and_true_of_their_picture(number, uncommon):
    graph = scene_graph("dev", 1, number, uncommon=uncommon)
    for kind in PAIR_KINDS:
        made = hard_negative(graph, kind, Random(number))
        if made is None:
            continue
        # By the sentences as they are read back, not by what their maker says they claim.
        assert truth(read(made.caption.text), graph) is True
        assert truth(read(made.negative.text), graph) is False
        assert truth(read(made.negative.text), made.picture) is True
        # What only adds leaves the first caption true.
        assert truth(read(made.caption.text), made.picture) is kind.startswith("add")
        for thing in made.picture.things:
            assert thing.colour in KINDS[thing.kind].colours
            assert thing.side // 2 <= thing.x <= SIDE - thing.side // 2
            assert thing.side // 2 <= thing.y <= SIDE - thing.side // 2
        assert len(made.picture.things) <= 5


@settings(max_examples=150)
@given(numbers)
def test_swaps_are_of_the_same_words(number):
    graph = scene_graph("test", 1, number)
    for kind in WINOGROUND_KINDS:
        made = hard_negative(graph, kind, Random(number))
        if made:
            words = [
                Counter("a" if w == "an" else w for w in re.findall(r"\w+", c.text))
                for c in (made.caption, made.negative)
            ]
            assert words[0] == words[1]
            assert truth(made.caption.statement, made.picture) is False


@settings(max_examples=150)
@given(numbers)
def test_of_four_answers_the_first_alone_is_true(number):
    graph = scene_graph("train", 1, number)
    for kind in QUESTION_KINDS:
        asked = question(graph, kind, Random(number))
        assert [truth(read(option.text), graph) for option in asked.options] == [
            True,
            *[False] * 3,
        ]


@pytest.mark.parametrize("kind", PAIR_KINDS)
def test_every_kind_of_hard_negative_is_often_possible(kind):
    made = [hard_negative(scene_graph("dev", 0, n), kind, Random(n)) for n in range(200)]
    assert sum(each is not None for each in made) > 40
