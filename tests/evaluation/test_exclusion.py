"""The exclusion task: its shares against a plain count, ties, NaN, and malformed files."""

import json
import math

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from litotes.errors import DataError
from litotes.evaluation.exclusion import ExclusionPair, ExclusionTask, strategy_settings
from litotes.evaluation.record import Metric
from litotes.strategies import ByVector, Images, Plain, Subtract

NAMES = [f"{i}.jpg" for i in range(30)]
ROW = {name: i for i, name in enumerate(NAMES)}


class FixedScores(ByVector):
    """A strategy whose vectors are given: with unit image vectors, they are the scores."""

    name = "fixed"

    def __init__(self, scores):
        self.scores = torch.tensor(scores)

    def vectors(self, queries, encoder):
        return self.scores.expand(len(queries), -1)


def shares(scores, kinds):
    """Outcome of one pair with one query, scores and kinds (0 violating, 1 other, 2 right)."""
    lists = [[n for n, k in zip(NAMES, kinds, strict=True) if k == kind] for kind in range(3)]
    pair = ExclusionPair(
        shown="a",
        excluded="b",
        queries=["a, no b"],
        violating=lists[0],
        not_shown=lists[1],
        right=lists[2],
    )
    task = ExclusionTask(None, [pair], None, "dev")
    return tuple(task.outcomes(None, FixedScores(scores), NAMES, Images(torch.eye(30)))[0])


@given(
    st.permutations(range(30)),
    st.lists(st.sampled_from([0, 1, 2, None]), min_size=30, max_size=30),
)
def test_shares_are_those_of_a_plain_count(order, kinds):
    """Photographs of unknown content are taken out before ranking."""
    kinds = [1] * 10 + kinds[10:]
    scores = [float(s) for s in order]
    known = sorted((i for i in range(30) if kinds[i] is not None), key=lambda i: -scores[i])
    top = [kinds[i] for i in known[:10]]
    assert shares(scores, kinds) == pytest.approx((top.count(0) / 10, top.count(2) / 10))


def test_a_tie_never_counts_as_right():
    kinds = [2] * 10 + [0] * 6 + [1] * 14
    assert shares([0.5] * 30, kinds) == pytest.approx((0.6, 0.0))


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_score_that_is_no_number_is_an_error_that_names_the_query(value):
    with pytest.raises(DataError, match="'a, no b'"):
        shares([value] + [0.0] * 29, [2] * 10 + [1] * 20)


def task_file(tmp_path, content):
    (tmp_path / "exclusion_dev.json").write_text(content)
    return tmp_path


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("not json", "exclusion_dev.json"),
        ('[{"shown": "dog"}]', "excluded"),
        (
            json.dumps(
                [
                    {
                        "shown": "dog",
                        "excluded": "ball",
                        "queries": ["q"],
                        "right": [],
                        "violating": [],
                        "not_shown": [],
                    }
                ]
            ),
            "'dog', 'ball' needs",
        ),
    ],
)
def test_a_malformed_file_says_what_is_wrong(tmp_path, content, problem):
    with pytest.raises(DataError, match=problem):
        ExclusionTask.read(task_file(tmp_path, content), "dev")


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(DataError, match=r"exclusion_test\.json"):
        ExclusionTask.read(tmp_path, "test")


def test_a_file_is_read_as_its_folder_is(tmp_path):
    pair = {"shown": "dog", "excluded": "ball", "queries": ["q"], "violating": [], "not_shown": []}
    folder = task_file(tmp_path, json.dumps([pair | {"right": NAMES[:10]}]))
    file = folder / "exclusion_dev.json"
    assert ExclusionTask.read(file, "dev") == ExclusionTask.read(folder, "dev")
    assert ExclusionTask.read(file, "dev", tmp_path / "photos").images == tmp_path / "photos"


def test_missing_photographs_are_named_and_counted(tmp_path, tiny_encoder):
    pair = {
        "shown": "dog",
        "excluded": "ball",
        "queries": ["a dog, no ball"],
        "right": NAMES[:10],
        "violating": NAMES[10:20],
        "not_shown": NAMES[20:],
    }
    task = ExclusionTask.read(task_file(tmp_path, json.dumps([pair])), "dev")
    with pytest.raises(DataError, match=r"30 of 30 .* first is .*0\.jpg"):
        task.run(tiny_encoder, [Plain()])


def test_settings_are_part_of_the_record():
    assert strategy_settings(Subtract(0.4, "{}")) == {"beta": 0.4, "prompt": "{}"}
    assert strategy_settings(Plain()) == {}


@settings(max_examples=50)
@given(st.lists(st.floats(0, 1), min_size=2, max_size=40))
def test_an_interval_holds_its_mean(values):
    metric = Metric.of(np.array(values))
    assert metric.value == pytest.approx(np.mean(values))
    assert metric.low - 1e-9 <= metric.value <= metric.high + 1e-9


def test_an_interval_covers_the_truth_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    draws = [Metric.of(rng.random(50)) for _ in range(200)]
    assert 0.88 <= np.mean([m.low <= 0.5 <= m.high for m in draws]) <= 0.99


@pytest.mark.parametrize("values", [[], [0.5, math.nan]])
def test_a_metric_of_nothing_or_of_nan_is_refused(values):
    with pytest.raises(ValueError, match="finite"):
        Metric.of(np.array(values))
