"""Exclusions among labelled pictures: against labels counted by hand."""

import numpy as np
import pytest
from PIL import Image

from litotes.errors import DataError
from litotes.evaluation.class_exclusion import KINDS, read_class_exclusions
from litotes.language import parse
from litotes.strategies import Plain, Subtract

LABELS = ("cat", "dog", "frog", "ship", "truck")
EACH = 4


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    for label in LABELS:
        (tmp_path / label).mkdir()
        for number in range(EACH):
            pixels = rng.integers(0, 256, (32, 32, 3), dtype=np.uint8)
            Image.fromarray(pixels).save(tmp_path / label / f"{number}.png")
    return tmp_path


def test_every_picture_is_right_violating_or_of_another_kind(folder):
    alone, within = read_class_exclusions(folder, "cifar10")
    assert [pair.excluded for pair in alone.pairs] == list(LABELS)
    assert [pair.excluded for pair in within.pairs] == list(LABELS)
    for task in (alone, within):
        for pair in task.pairs:
            violating = {name.split("/")[0] for name in pair.violating}
            right = {name.split("/")[0] for name in pair.right}
            rest = {name.split("/")[0] for name in pair.not_shown}
            kind = set(KINDS.get(pair.shown, LABELS))
            assert violating == {pair.excluded}
            assert right == (set(LABELS) & kind) - violating
            assert rest == set(LABELS) - right - violating
            assert len(pair.violating + pair.right + pair.not_shown) == EACH * len(LABELS)


def test_queries_are_read_as_they_are_meant(folder):
    for task in read_class_exclusions(folder, "cifar10"):
        for pair in task.pairs:
            for text in pair.queries:
                query = parse(text)
                assert query.affirmed == ("" if pair.shown == "anything" else pair.shown)
                assert [part.split()[-1] for part in query.negated] == [pair.excluded]


def test_it_is_measured_as_any_exclusion_is(folder, tiny_encoder):
    alone, within = read_class_exclusions(folder)
    records = [r for t in (alone, within) for r in t.run(tiny_encoder, [Plain(), Subtract()])]
    assert [r.task for r in records] == ["not-class"] * 2 + ["kind-not-class"] * 2
    for record in records:
        shares = record.metrics["violating@10"].value + record.metrics["right@10"].value
        assert shares == pytest.approx(1) if record.task == "not-class" else shares <= 1
    again = read_class_exclusions(folder)[0].run(tiny_encoder, [Plain()])[0]
    assert again.data_fingerprint == records[0].data_fingerprint


def test_too_few_pictures_are_an_error(tmp_path):
    for label in ("cat", "dog"):
        (tmp_path / label).mkdir()
        Image.new("RGB", (8, 8)).save(tmp_path / label / "a.png")
    with pytest.raises(DataError, match="holds 2 pictures"):
        read_class_exclusions(tmp_path)
