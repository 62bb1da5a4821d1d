"""Pairs made from captions, and settings chosen on them."""

from dataclasses import replace

import numpy as np
import pytest
from PIL import Image
from tests.conftest import make_tiny_encoder

from litotes.errors import DataError
from litotes.evaluation.exclusion import ExclusionTask
from litotes.evaluation.make_exclusion import TOGETHER, make_exclusion
from litotes.evaluation.tune import GRIDS, Tuned, tries, tune, tuned_strategy
from litotes.language import parse
from litotes.strategies import Calibrated, Plain, Subtract

THINGS = ("dog", "ball", "bench", "boat", "horse")


def caption(things):
    return " and ".join(f"a brown {thing}" for thing in things)


@pytest.fixture(scope="module")
def captions():
    """Photographs of each set of two things, and of each thing alone."""
    sets = [(a,) for a in THINGS] + [(a, b) for a in THINGS for b in THINGS if a < b]
    return {
        f"{'-'.join(things)}-{n}.png": [
            f"There is {caption(things)} .",
            f"A photo shows {caption(things)} .",
        ]
        for things in sets
        for n in range(12)
    }


def test_what_is_made_is_true_of_the_photographs(captions):
    pairs = make_exclusion(captions)
    assert pairs
    for pair in pairs:
        assert len(set(pair.violating) & {n for n in captions if pair.shown in n}) >= TOGETHER
        for name in pair.right:
            assert pair.shown in name
            assert pair.excluded not in name
        for name in pair.violating:
            assert pair.excluded in name
        for name in pair.not_shown:
            assert pair.shown not in name
            assert pair.excluded not in name
        assert len(set(pair.queries)) == 5
        for text in pair.queries:
            query = parse(text)
            assert pair.shown in query.affirmed
            assert pair.excluded in " ".join(query.negated)


def test_the_same_seed_makes_the_same(captions):
    assert make_exclusion(captions, seed=3) == make_exclusion(captions, seed=3)
    assert make_exclusion(captions, seed=3) != make_exclusion(captions, seed=4)


def test_single_captions_and_few_photographs_are_errors(captions):
    with pytest.raises(DataError, match="one caption"):
        make_exclusion({name: texts[:1] for name, texts in captions.items()})
    with pytest.raises(DataError):
        make_exclusion(dict(list(captions.items())[:12]))


@pytest.fixture(scope="module")
def task(captions, tmp_path_factory):
    folder = tmp_path_factory.mktemp("photos")
    rng = np.random.default_rng(0)
    for name in captions:
        Image.fromarray(rng.integers(0, 256, (32, 32, 3), dtype=np.uint8)).save(folder / name)
    return ExclusionTask("made", make_exclusion(captions)[:4], folder, "train")


def test_what_is_chosen_is_no_worse_than_the_defaults(task, tiny_encoder):
    count = 0

    def tried():
        nonlocal count
        count += 1

    tuned = tune(tiny_encoder, task, None, tried)
    assert count <= tries(None)
    assert set(tuned.settings) == {kind.name for kind in GRIDS} - {"steer"}
    assert tuned.reached[tuned.best] == max(tuned.reached.values())
    records = task.run(tiny_encoder, [Plain(), Subtract(), Calibrated()])
    for record in records:
        default = record.metrics["right@10"].value - record.metrics["violating@10"].value
        assert tuned.reached[record.strategy] >= default - 1e-9


def test_settings_are_kept_and_are_of_one_model(task, tiny_encoder, tmp_path):
    tuned = tune(tiny_encoder, replace(task, pairs=task.pairs[:1]), None)
    tuned.save(tmp_path)
    assert Tuned.read(tmp_path, tiny_encoder) == tuned
    strategy = tuned_strategy(tmp_path, tiny_encoder, "subtract")
    assert strategy == Subtract(**tuned.settings["subtract"])
    assert tuned_strategy(tmp_path, tiny_encoder).name == tuned.best
    assert tuned_strategy(tmp_path, tiny_encoder, "plain") == Plain()
    with pytest.raises(DataError, match="was not tuned: choose from plain, subtract"):
        tuned_strategy(tmp_path, tiny_encoder, "steer")
    with pytest.raises(DataError, match="not for tiny"):
        tuned_strategy(tmp_path, make_tiny_encoder(seed=1))
    with pytest.raises(DataError, match=r"tuned\.json"):
        tuned_strategy(tmp_path / "none", tiny_encoder)
