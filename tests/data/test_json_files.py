"""JSON files: what stands there, and what is wrong with it and where."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import TypeAdapter

from litotes.data.json_files import place_of, read_first_items, read_json, read_text
from litotes.errors import DataError

NUMBERS = TypeAdapter(list[int])
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def paths(value, above=()):
    """Ways to every value that a value holds."""
    yield above
    if isinstance(value, dict | list):
        steps = value if isinstance(value, dict) else range(len(value))
        for step in steps:
            yield from paths(value[step], (*above, step))


@given(VALUES, st.sampled_from([None, 1]), st.randoms())
def test_a_place_is_where_the_value_starts(value, indent, random):
    text = json.dumps(value, indent=indent)
    path = random.choice(list(paths(value)))
    for step in path:
        value = value[step]
    line, column = (int(part.split()[1]) for part in place_of(text, path).split(", "))
    rest = "\n".join(text.split("\n")[line - 1 :])[column - 1 :]
    assert json.JSONDecoder().raw_decode(rest)[0] == value


@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
def test_a_byte_order_mark_is_no_content(tmp_path, mark):
    file = tmp_path / "a.json"
    file.write_bytes(mark + b"[1, 2, 3]")
    assert read_json(file, NUMBERS) == [1, 2, 3]
    assert read_first_items(file, 2, NUMBERS)[0] == [1, 2]
    assert read_text(file) == "[1, 2, 3]"


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        (b"", "a.json, line 1, column 1: is no JSON"),
        (b"[1,\n 2", r"a.json, line 2, column 3: is no JSON: Expecting ',' delimiter"),
        (b"[" * 100_000, "a.json is no JSON: .*recursion"),
        (b"[" + b"9" * 5000 + b"]", "a.json is no JSON: .*digits"),
        (b"\xff\xfe[\x001\x00]\x00", "a.json is no text in UTF-8: .*position 0"),
        (b'[1,\n "x"]', r"a.json, line 2, column 2: 1: Input should be a valid integer"),
        (b'{"a": 1}', "a.json, line 1, column 1: |must be a list"),
    ],
)
def test_a_malformed_file_says_where(tmp_path, content, problem):
    file = tmp_path / "a.json"
    file.write_bytes(content)
    for read in (read_json, lambda file, form: read_first_items(file, 9, form)):
        with pytest.raises(DataError, match=problem):
            read(file, NUMBERS)


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    for file in (tmp_path / "gone.json", tmp_path):
        with pytest.raises(DataError, match=f"cannot read .*{file.name}"):
            read_json(file, NUMBERS)
        with pytest.raises(DataError, match=f"cannot read .*{file.name}"):
            read_first_items(file, 1, NUMBERS)
