"""Comparing records: by hand, by enumeration, by simulation and against SciPy."""

import itertools
import json
import math
import re
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import typer
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

from litotes.cli import app
from litotes.cli.compare import compare as command
from litotes.errors import DataError
from litotes.evaluation.compare import FLIPS, compare, holm, matched
from litotes.evaluation.record import Record, add_records, read_records, write_records


def record(outcomes, *, averages=None, **changes):
    facts = {"task": "t", "split": "dev", "data": "0" * 16, "strategy": "plain", **changes}
    encoder = SimpleNamespace(label="tiny", image_fingerprint="i", text_fingerprint="t")
    values = {name: np.array(units, dtype=float) for name, units in outcomes.items()}
    return Record.make(encoder, outcomes=values, averages=averages, **facts)


def only(a, b):
    return compare(record({"m": a}), record({"m": b})).differences["m"]


def exact_p(*groups):
    """Over every choice of signs, of a mean of the groups' means."""
    observed = np.mean([g.mean() for g in groups])
    splits = np.cumsum([len(g) for g in groups])[:-1]
    means = [
        np.mean([(s * g).mean() for s, g in zip(np.split(signs, splits), groups, strict=True)])
        for signs in map(np.array, itertools.product((-1, 1), repeat=sum(map(len, groups))))
    ]
    return np.mean(np.abs(means) >= abs(observed) - 1e-9)


def test_identical_records_do_not_differ():
    found = only([0, 1, 1, 0, 1], [0, 1, 1, 0, 1])
    assert (found.change, found.low, found.high, found.p, found.p_holm) == (0, 0, 0, 1, 1)


def test_a_constant_shift_is_certain():
    units = np.linspace(0, 0.5, 30)
    found = only(units, units + 0.25)
    assert (found.change, found.low, found.high) == pytest.approx((0.25, 0.25, 0.25))
    assert found.p == 1 / (FLIPS + 1)
    assert found.units == 30


def test_changes_that_cancel_are_no_change():
    found = only([0, 0, 0.3], [0.1, 0.2, 0])
    assert found.change == pytest.approx(0)
    assert found.p == 1


@settings(max_examples=25)
@given(
    st.lists(st.tuples(st.floats(0, 1), st.floats(0, 1)), min_size=4, max_size=25),
    st.integers(1, 3),
)
def test_the_other_way_round_is_the_negative(pairs, first):
    names = ["x"] * first + ["y"] * (len(pairs) - first)
    sides = [
        record(
            {key: [p[side] for p, n in zip(pairs, names, strict=True) if n == key] for key in "xy"},
            averages={"macro": ["x", "y"]},
        )
        for side in (0, 1)
    ]
    there, back = compare(*sides).differences, compare(*sides[::-1]).differences
    assert list(there) == ["x", "y", "macro"]
    for name, found in there.items():
        other = back[name]
        assert found.change == pytest.approx(found.b - found.a, abs=1e-5)
        assert (found.change, found.low, found.high) == pytest.approx(
            (-other.change, -other.high, -other.low)
        )
        assert (found.p, found.p_holm) == (other.p, other.p_holm)


def test_p_is_that_of_scipy():
    stats = pytest.importorskip("scipy.stats")
    rng = np.random.default_rng(1)
    for shift in (0, 0.2, 0.5):
        a, b = rng.random(10), rng.random(10) + shift
        exact = stats.permutation_test(
            (a, b),
            lambda x, y, axis: np.mean(y - x, axis=axis),
            permutation_type="samples",
            n_resamples=np.inf,
            vectorized=True,
        )
        assert only(a, b).p == pytest.approx(exact.pvalue, abs=0.02)


def test_a_macro_average_weighs_its_groups_alike():
    a = {"few": [0, 0, 1], "many": [0, 1, 0, 0, 1, 1, 0]}
    b = {"few": [1, 0, 1], "many": [1, 1, 1, 0, 1, 0, 1]}
    averages = {"macro": ["few", "many"]}
    found = compare(record(a, averages=averages), record(b, averages=averages)).differences["macro"]
    assert found.change == pytest.approx((1 / 3 + 2 / 7) / 2)
    assert found.units == 10
    changes = [np.array(b[name]) - np.array(a[name]) for name in a]
    assert found.p == pytest.approx(exact_p(*changes), abs=0.02)
    sides = record(a, averages=averages), record(b, averages=averages)
    alone = compare(*sides, only={"macro"}).differences
    assert alone == {"macro": replace(found, p_holm=found.p)}


def test_groups_of_one_size_are_of_units_of_their_own():
    """A macro average of equal groups is the mean of all units, and is tested as it is."""
    rng = np.random.default_rng(2)
    a, b = rng.integers(0, 2, (2, 60)).astype(float)
    b = np.maximum(b, a * rng.integers(0, 2, 60))
    groups = {f"g{i}": slice(20 * i, 20 * i + 20) for i in range(3)}
    sides = [
        record(
            {"overall": units, **{name: units[part] for name, part in groups.items()}},
            averages={"macro": list(groups)},
        )
        for units in (a, b)
    ]
    found = compare(*sides).differences
    macro, overall = found["macro"], found["overall"]
    assert (macro.change, macro.units) == (pytest.approx(overall.change), overall.units)
    assert macro.p == pytest.approx(overall.p, abs=0.02)
    assert (macro.low, macro.high) == pytest.approx((overall.low, overall.high), abs=0.03)


def test_recalls_of_a_sum_are_of_the_same_units():
    rng = np.random.default_rng(3)
    a, b = rng.integers(0, 2, (2, 30)).astype(float)
    sides = [record({"x": u, "y": u}, averages={"rSum": ["x", "y"]}) for u in (a, b)]
    found = compare(*sides).differences
    assert found["rSum"].units == 30
    assert found["rSum"].p == found["x"].p
    assert found["rSum"].low == pytest.approx(200 * found["x"].low)


def test_records_that_are_alike_seldom_look_different():
    """Interval and test hold what they promise, on differences of shares with many ties."""
    rng = np.random.default_rng(0)
    found = [only(*rng.integers(0, 2, (2, 40))) for _ in range(100)]
    assert np.mean([d.low <= 0 <= d.high for d in found]) >= 0.88
    assert np.mean([d.p < 0.05 for d in found]) <= 0.1


def test_an_interval_holds_the_true_difference_about_as_often_as_it_says():
    rng = np.random.default_rng(0)
    a = rng.random((100, 40))
    found = [only(x, x + rng.normal(0.1, 0.2, 40)) for x in a]
    assert 0.88 <= np.mean([d.low <= 0.1 <= d.high for d in found]) <= 0.995
    assert np.mean([d.p < 0.05 for d in found]) > 0.7


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])
    assert holm([0.5, 0.9]) == [1, 1]


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_keeps_the_order_and_lowers_nothing(p):
    corrected = holm(p)
    assert all(raw <= c <= 1 for raw, c in zip(p, corrected, strict=True))
    order = np.argsort(p, kind="stable")
    assert (np.diff(np.array(corrected)[order]) >= 0).all()


@pytest.mark.parametrize(
    ("other", "problem"),
    [
        ({"task": "u"}, "task is t and u"),
        ({"split": "test"}, "split is dev and test"),
        ({"data": "1" * 16}, "data fingerprint is 0+ and 1+"),
        ({"outcomes": {"m": [0, 1]}}, "m has 3 units and 2"),
        ({"outcomes": {"n": [0, 1, 1]}}, "share no metric"),
        ({"weights": {"m": np.array([1, 2, 1])}}, "units of m weigh differently"),
    ],
)
def test_records_of_different_data_are_refused(other, problem):
    one = {"outcomes": {"m": [0, 1, 1]}}
    with pytest.raises(DataError, match=problem):
        compare(record(**one), record(**(one | other)))


def test_units_that_do_not_count_alike_are_drawn_and_flipped_with_their_weights():
    weights = np.array([1, 1, 4, 2, 2, 7, 1, 3.0])
    a, b = np.array([0, 1, 0.5, 1, 0, 0.3, 1, 0]), np.array([1, 1, 0.75, 0, 1, 0.9, 1, 1.0])
    sides = [
        record({"x": units, "y": units[:3]}, weights={"x": weights}, averages={"rSum": ["x", "y"]})
        for units in (a, b)
    ]
    found = compare(*sides).differences
    assert found["x"].change == pytest.approx(np.average(b - a, weights=weights))
    assert found["x"].p == pytest.approx(exact_p((b - a) * weights / weights.mean()), abs=0.02)
    assert -1 <= found["x"].low <= found["x"].high <= 1
    assert found["rSum"].change == pytest.approx(100 * (found["x"].change + found["y"].change))
    assert found["rSum"].change == pytest.approx(found["rSum"].b - found["rSum"].a, abs=1e-3)
    bad = [side.model_copy(update={"weights": {"x": [0.0] * 8}}) for side in sides]
    with pytest.raises(DataError, match="weights of x must be positive"):
        compare(*bad)


def test_records_by_different_judges_are_refused():
    """What needs no judge is compared with a record that has none."""
    none, one, other = (
        record({"m": [0, 1]}, settings={"judge": judge} if judge else {})
        for judge in ("", "one:1", "other:2")
    )
    assert compare(one, one).differences
    assert compare(none, one).differences
    with pytest.raises(DataError, match="different judges, one:1 and other:2"):
        compare(one, other)


def test_an_outcome_that_is_no_number_is_refused():
    bad = record({"m": [0, 1]}).model_copy(update={"outcomes": {"m": [0.0, float("nan")]}})
    with pytest.raises(DataError, match=r"units of m .* finite"):
        compare(record({"m": [0, 1]}), bad)


def test_records_are_matched_by_task_split_and_strategy():
    plain, steer = record({"m": [0]}), record({"m": [1]}, strategy="steer")
    test = record({"m": [1]}, split="test")
    assert matched([plain, steer], [steer, test, plain]) == [(plain, plain), (steer, steer)]
    assert matched([plain, steer], [plain, steer], "steer") == [(steer, steer)]
    assert matched([plain, steer], [plain, steer], "plain:steer") == [(plain, steer)]
    with pytest.raises(DataError, match=r"there are t dev plain, and there are t test plain"):
        matched([plain], [test])
    with pytest.raises(DataError, match="B holds 2 records of t dev plain, by tiny"):
        matched([plain], [plain, plain])


@pytest.fixture
def run(tmp_path):
    app = typer.Typer()
    app.command()(command)
    units = np.zeros(40)
    write_records(tmp_path / "a", [record({"violating@10": units, "right@10": units})])
    write_records(tmp_path / "b", [record({"violating@10": units + 0.5, "right@10": units})])
    return lambda *options: CliRunner().invoke(
        app, [str(tmp_path / "a"), str(tmp_path / "b"), *options], catch_exceptions=False
    )


def test_the_command_prints_a_table_and_json(run):
    lines = [" ".join(line.split()) for line in run().stdout.splitlines()]
    assert "violating@10 0.0 50.0 ▲ 50.0 [50.0, 50.0] 0.0001 0.0002 40" in lines
    document = json.loads(run("--json").stdout)
    assert document[0]["metrics"]["right@10"]["p"] == 1
    assert document[0]["b"]["model"] == "tiny"
    with pytest.raises(DataError, match="no record"):
        run("--strategy", "steer")
    wrong = run("--strategy", "plain:ster")
    assert wrong.exit_code == 2
    assert "no strategy 'ster'" in " ".join(wrong.output.replace("│", " ").split())


def changed(**fields):
    """A record as a line of a file, with fields that no program of ours writes."""
    return json.dumps(record({"m": [0, 1]}).model_dump() | fields).encode()


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "holds no record"),
        (b"\n\n", "holds no record"),
        (b"\x93\x00\xff" * 50, "is no text in UTF-8"),
        (bytes(300), "line 1: is no record: Invalid JSON"),
        (b"[1, 2]\n", "line 1: is no record: Input should be an object"),
        (b"[" * 100_000, "line 1: is no record: .*recursion"),
        (b'{"task": "t"}', "line 1: is no record: split: Field required"),
        (changed() + b"\n" + changed()[:200], "line 2: is no record: .*EOF"),
        (changed(outcomes={"m": [0, math.nan]}), "outcomes.m.1: .*finite"),
        (changed(metrics={"m": {"value": math.inf, "low": 0, "high": 1}}), "m.value: .*finite"),
        (changed(metrics={}), "lack 'm'"),
        (changed(averages={"macro": ["m"]}), "lack 'macro'"),
        (changed(settings={"chance": "half"}), "chance must be a number"),
        (changed(settings={"chance": {"m": [0.5]}}), "chance must be a number"),
    ],
)
def test_a_file_that_holds_no_records_says_what_is_wrong(tmp_path, content, problem):
    good, bad = tmp_path / "good.jsonl", tmp_path / "bad.jsonl"
    write_records(good, [record({"m": [0, 1]})])
    bad.write_bytes(content)
    for arguments in (["compare", good, bad], ["compare", bad, good], ["report", good, bad]):
        error = CliRunner().invoke(app, [str(argument) for argument in arguments]).exception
        assert isinstance(error, DataError)
        assert re.search(rf"bad\.jsonl.*{problem}", str(error)), error


def test_records_are_added_and_those_made_again_replaced(tmp_path):
    file = tmp_path / "new" / "r.jsonl"
    layers = {"strategy": "steer", "settings": {"layers": (1, 2)}}
    first = [record({"m": [0, 1]}), record({"m": [0, 0]}, **layers)]
    add_records(file, first)
    more = [
        record({"m": [1, 1]}, **layers),
        record({"m": [1, 0]}, split="test"),
        record({"m": [1, 0]}, data="1" * 16),
        record({"m": [1, 0]}, settings={"beta": 1}),
        record({"m": [1, 0]}).model_copy(update={"text_fingerprint": "other"}),
    ]
    add_records(file, more)
    assert [r.outcomes for r in read_records(file)] == [r.outcomes for r in (first[0], *more)]
    (tmp_path / "empty").touch()
    add_records(tmp_path / "empty", first)
    assert len(read_records(tmp_path / "empty")) == 2
    (tmp_path / "thesis.txt").write_text("four years of work\n")
    with pytest.raises(DataError, match="is no record"):
        add_records(tmp_path / "thesis.txt", first)
    assert (tmp_path / "thesis.txt").read_text() == "four years of work\n"


def test_lines_of_other_systems_are_read(tmp_path):
    (tmp_path / "a.jsonl").write_bytes(b"\xef\xbb\xbf" + changed() + b"\r\n" + changed() + b"\r\n")
    assert read_records(tmp_path / "a.jsonl") == [record({"m": [0, 1]})] * 2
