"""CSV files: their rows, and what is wrong with them and where."""

import csv
import io

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from litotes.data.csv_files import read_rows
from litotes.errors import DataError

FILLED = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1).filter(str.strip)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.tuples(FILLED, st.text("x,\n"), FILLED)), st.sampled_from(["", "\ufeff"]))
def test_what_was_written_is_read(tmp_path, rows, mark):
    """Values of several lines too, and columns that nobody asked for."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([("a", "other", "b"), *rows])
    (tmp_path / "t.csv").write_text(mark + text.getvalue(), encoding="utf-8", newline="")
    found = list(read_rows(tmp_path / "t.csv", ("b", "a")))
    assert [(row["a"], row["b"]) for _, row in found] == [(a, b) for a, _, b in rows]
    assert all(set(row) == {"a", "b"} for _, row in found)


def test_a_row_has_the_line_on_which_it_starts(tmp_path):
    (tmp_path / "t.csv").write_text('a\n"x\ny"\nz\n\n"u\r\nv"\n', newline="")
    assert [line for line, _ in read_rows(tmp_path / "t.csv", ["a"])] == [2, 4, 6]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "line 1: the column 'a' is missing; the columns must be a, b"),
        (b"a,c\n", "line 1: the column 'b' is missing"),
        (b"a,b\nx,y\nx\n", "line 3: the row must have 2 values"),
        (b"a,b\nx,y,z\n", "line 2: the row must have 2 values"),
        (b'a,b\n"x\n",y\n \t,y\n', "line 4, column 'a': is empty"),
        (b'a,b\nx,y\n"x,y\n', "the row from line 3 on is no CSV"),
        (b'"a,b\n', "the row from line 1 on is no CSV"),
        (b"a,b\nx,\xff\n", "is no text in UTF-8"),
    ],
)
def test_a_malformed_file_says_where(tmp_path, content, problem):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(DataError, match=rf"t\.csv.*{problem}"):
        list(read_rows(tmp_path / "t.csv", ("a", "b")))


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    for file in (tmp_path / "gone.csv", tmp_path):
        with pytest.raises(DataError, match=f"cannot read .*{file.name}"):
            list(read_rows(file, ("a",)))
