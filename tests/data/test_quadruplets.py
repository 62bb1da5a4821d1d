"""Files of quadruplets and contrasts, and files that are made in steps."""

import json
from dataclasses import asdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from litotes.data.json_lines import as_lines
from litotes.data.quadruplets import (
    Contrast,
    Quadruplet,
    read_contrasts,
    read_quadruplets,
)
from litotes.data.resumable import Made, write_resumably
from litotes.errors import DataError

QUADRUPLET = Quadruplet("a.jpg", "A dog.", "No doubt: a dog.", "No dog.", "object")
texts = st.text(min_size=1)


@given(st.lists(st.builds(Quadruplet, texts, texts, texts, texts, st.text()), min_size=1))
def test_quadruplets_are_read_as_they_were_written(tmp_path_factory, quadruplets):
    file = tmp_path_factory.mktemp("data") / "q.jsonl"
    file.write_text(as_lines(quadruplets))
    assert read_quadruplets(file) == quadruplets


@given(st.lists(st.builds(Contrast, texts, *[st.tuples(texts, texts)] * 2), min_size=1))
def test_contrasts_are_read_as_they_were_written(tmp_path_factory, contrasts):
    file = tmp_path_factory.mktemp("data") / "c.jsonl"
    file.write_text(as_lines(contrasts))
    assert read_contrasts(file) == contrasts


def test_a_kind_need_not_be_said(tmp_path):
    fields = asdict(QUADRUPLET)
    del fields["kind"]
    (tmp_path / "q.jsonl").write_text(f"\ufeff{json.dumps(fields)}\r\n\r\n")
    assert read_quadruplets(tmp_path / "q.jsonl")[0].kind == ""


@pytest.mark.parametrize(
    ("line", "problem"),
    [
        ('{"image": "a.jpg",', r"q\.jsonl, line 2, column 19: is no JSON"),
        ("[" * 100_000, r"line 2: is no JSON"),
        ("[]", r"q\.jsonl, line 2: .*"),
        ("3", r"line 2: "),
        (json.dumps(asdict(QUADRUPLET) | {"positive": 3}), r"line 2: positive: .*string"),
        (json.dumps(asdict(QUADRUPLET) | {"negative": ""}), r"line 2: negative: "),
        (json.dumps(asdict(QUADRUPLET) | {"other": "x"}), r"line 2: other: "),
        (json.dumps({"image": "a.jpg"}), r"line 2: positive: .*; and|line 2: positive: Field"),
    ],
)
def test_a_malformed_line_is_named(tmp_path, line, problem):
    file = tmp_path / "q.jsonl"
    file.write_text(as_lines([QUADRUPLET]) + line + "\n")
    with pytest.raises(DataError, match=problem):
        read_quadruplets(file)


@pytest.mark.parametrize("content", [b"", b"\n\n", b"\xff\xfe{}"])
def test_a_file_without_records_is_refused(tmp_path, content):
    (tmp_path / "q.jsonl").write_bytes(content)
    with pytest.raises(DataError, match=r"q\.jsonl"):
        read_quadruplets(tmp_path / "q.jsonl")
    with pytest.raises(DataError, match="none"):
        read_contrasts(tmp_path / "none.jsonl")


# --- in steps ---------------------------------------------------------------------------------


class KilledError(Exception):
    pass


def odd_numbers(start, end=100):
    """Of the numbers the odd ones make a line."""
    return (Made(n, json.dumps({"n": n})) for n in range(start, end) if n % 2)


def dying(after):
    def make(start):
        for i, made in enumerate(odd_numbers(start)):
            if i == after:
                raise KilledError
            yield made

    return make


@pytest.mark.parametrize("torn", [0, 1, 5])
@pytest.mark.parametrize("after", [0, 1, 7])
def test_a_killed_run_goes_on_to_the_same_file(tmp_path, after, torn):
    whole, out = tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
    expected = write_resumably(whole, {"seed": 0}, odd_numbers, 20)
    for _ in range(2):
        with pytest.raises(KilledError):
            write_resumably(out, {"seed": 0}, dying(after), 20)
        assert not out.exists()
        part = tmp_path / "out.jsonl.part"
        if torn and after:
            with part.open("r+b") as file:
                file.truncate(part.stat().st_size - torn)
    seen = []
    assert write_resumably(out, {"seed": 0}, odd_numbers, 20, seen.append) == expected
    assert out.read_bytes() == whole.read_bytes()
    assert expected.lines == seen[-1] == 20
    assert expected.left_out == 20
    assert {f.name for f in tmp_path.iterdir()} == {"whole.jsonl", "out.jsonl"}


def test_another_run_is_not_gone_on_with(tmp_path):
    out = tmp_path / "out.jsonl"
    with pytest.raises(KilledError):
        write_resumably(out, {"seed": 0}, dying(3), 20)
    with pytest.raises(DataError, match=r"out\.jsonl\.part was begun with other settings"):
        write_resumably(out, {"seed": 1}, odd_numbers, 20)
    (tmp_path / "out.jsonl.part").write_bytes(b"\x00\xff\n")
    with pytest.raises(DataError, match="damaged"):
        write_resumably(out, {"seed": 0}, odd_numbers, 20)


def test_nothing_is_written_over_and_nothing_empty_is_written(tmp_path):
    out = tmp_path / "out.jsonl"
    with pytest.raises(DataError, match="nothing could be made"):
        write_resumably(out, {}, lambda start: iter(()), 20)
    assert not list(tmp_path.iterdir())
    out.write_text("mine")
    with pytest.raises(DataError, match="exists"):
        write_resumably(out, {}, odd_numbers, 20)
    assert out.read_text() == "mine"
