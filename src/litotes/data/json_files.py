"""JSON from files, with errors that say where in the file it is wrong."""

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from litotes.data.problems import problems
from litotes.errors import DataError

T = TypeVar("T")

# Characters read at first of a list of which only the beginning is wanted.
_PIECE = 1 << 22
_SPACE = re.compile(r"[ \t\r\n]*")
_DECODER = json.JSONDecoder()


def read_text(file: Path) -> str:
    """A file of text in UTF-8, with or without a byte order mark.

    Raises:
        DataError: it cannot be read, or is no such text.
    """
    try:
        return file.read_text(encoding="utf-8-sig")
    except OSError as error:
        raise DataError(f"cannot read {file}: {error}") from error
    except UnicodeDecodeError as error:
        raise _no_text(file, error) from error


def read_json(file: Path, form: TypeAdapter[T]) -> T:
    """What a JSON file holds.

    Raises:
        DataError: it cannot be read, is no JSON, or is not of the form; says the line and column.
    """
    return read_json_and_text(file, form)[0]


def read_json_and_text(file: Path, form: TypeAdapter[T]) -> tuple[T, str]:
    """What a JSON file holds, and its text for :func:`place_of`; raises as :func:`read_json`."""
    text = read_text(file)
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _no_json(file, error) from error
    return _validated(file, text, content, form), text


def read_first_items(file: Path, count: int, form: TypeAdapter[list[T]]) -> tuple[list[T], str]:
    """The first items of a JSON list, and as much of the file's text as holds them.

    Not all is read: ShareGPT4V's list is of 1.5 GB, of which one part in a thousand is wanted.

    Raises:
        DataError: as :func:`read_json`.
    """
    text, size = "", _PIECE
    try:
        with file.open(encoding="utf-8-sig") as stream:
            while True:
                piece = stream.read(size)
                text, size = text + piece, 2 * size
                try:
                    return _validated(file, text, _items(text, count), form), text
                except json.JSONDecodeError as error:
                    if not piece:
                        raise _no_json(file, error) from error
    except OSError as error:
        raise DataError(f"cannot read {file}: {error}") from error
    except UnicodeDecodeError as error:
        raise _no_text(file, error) from error
    except (ValueError, RecursionError) as error:
        raise _no_json(file, error) from error


def place_of(text: str, path: Sequence[int | str]) -> str:
    """Line and column, from 1, of a value in JSON, or of what holds it if it is not there.

    Args:
        text: valid JSON, at least up to the value.
        path: names and indices that lead to the value.
    """
    at = _skip(text, 0)
    for step in path:
        member = _member(text, at, step)
        if member is None:
            break
        at = member
    return f"line {text.count(chr(10), 0, at) + 1}, column {at - text.rfind(chr(10), 0, at)}"


def _no_text(file: Path, error: UnicodeDecodeError) -> DataError:
    return DataError(f"{file} is no text in UTF-8: {error}")


def _no_json(file: Path, error: Exception) -> DataError:
    if isinstance(error, json.JSONDecodeError):
        place = f"line {error.lineno}, column {error.colno}"
        return DataError(f"{file}, {place}: is no JSON: {error.msg}")
    return DataError(f"{file} is no JSON: {error}")


def _validated(file: Path, text: str, content: Any, form: TypeAdapter[T]) -> T:
    try:
        return form.validate_python(content)
    except ValidationError as error:
        place = place_of(text, error.errors(include_url=False)[0]["loc"])
        raise DataError(f"{file}, {place}: {problems(error)}") from error


def _items(text: str, count: int) -> list[Any]:
    """The first items of a JSON list.

    Raises:
        json.JSONDecodeError: the text is no list, or it is cut short before these items end.
    """
    at, items = _skip(text, 0), list[Any]()
    if text[at : at + 1] != "[":
        raise json.JSONDecodeError("must be a list", text, at)
    at = _skip(text, at + 1)
    while len(items) < count and text[at : at + 1] != "]":
        if items:
            if text[at : at + 1] != ",":
                raise json.JSONDecodeError("Expecting ',' delimiter", text, at)
            at = _skip(text, at + 1)
        item, at = _DECODER.raw_decode(text, at)
        items.append(item)
        at = _skip(text, at)
    return items


def _member(text: str, at: int, step: int | str) -> int | None:
    """Where the value under a name or index starts, of an object or list that starts at ``at``."""
    opening = text[at]
    if opening not in "{[":
        return None
    at, index = _skip(text, at + 1), 0
    while text[at] not in "}]":
        name: int | str = index
        if opening == "{":
            name, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)
        if name == step:
            return at
        _, at = _DECODER.raw_decode(text, at)
        at, index = _skip(text, at), index + 1
        if text[at] == ",":
            at = _skip(text, at + 1)
    return None


def _skip(text: str, at: int) -> int:
    """Where white space from ``at`` on ends."""
    match = _SPACE.match(text, at)
    return match.end() if match else at
