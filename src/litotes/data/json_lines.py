"""Records in files of JSON objects, one a line."""

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pydantic import TypeAdapter, ValidationError

from litotes.data.json_files import read_text
from litotes.data.problems import problems
from litotes.errors import DataError

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

T = TypeVar("T")


def as_lines(records: "Iterable[DataclassInstance]") -> str:
    """What the file of some records holds; to be written with :mod:`litotes.data.files`."""
    return "".join(f"{as_line(record)}\n" for record in records)


def as_line(record: "DataclassInstance") -> str:
    """One record's line, without its end. ASCII, as file names need not be valid text."""
    return json.dumps(asdict(record))


def digest(records: "Iterable[DataclassInstance]") -> str:
    """A name for what records hold: 16 hexadecimal digits."""
    return hashlib.sha256(as_lines(records).encode()).hexdigest()[:16]


def read_lines(file: Path, form: TypeAdapter[T]) -> list[T]:
    """Records from a file.

    Raises:
        DataError: missing, empty or malformed; says the line, and the column or field.
    """
    # Other line ends than these may stand within a JSON string.
    lines = read_text(file).split("\n")
    records = [_record(file, i, line, form) for i, line in enumerate(lines, 1) if line.strip()]
    if not records:
        raise DataError(f"{file} is empty: it must hold a JSON object a line")
    return records


def _record(file: Path, number: int, line: str, form: TypeAdapter[T]) -> T:
    try:
        # Says where it is wrong, which pydantic does not say of a line.
        json.loads(line)
    except json.JSONDecodeError as error:
        place = f"line {number}, column {error.colno}"
        raise DataError(f"{file}, {place}: is no JSON: {error.msg}") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{file}, line {number}: is no JSON: {error}") from error
    try:
        return form.validate_json(line)
    except ValidationError as error:
        raise DataError(f"{file}, line {number}: {problems(error)}") from error
