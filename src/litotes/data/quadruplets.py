"""Files of quadruplets, and of contrasts: JSON objects, one a line.

A quadruplet (arXiv 2606.23843) is a photograph with its caption, the same said with a negation, and
a negated caption that is false. A contrast is a photograph with statements that are true of it and
false ones in the same words.
"""

import json
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated, TypeVar

from pydantic import ConfigDict, Field, TypeAdapter, ValidationError
from pydantic.dataclasses import dataclass

from litotes.data.json_files import read_text
from litotes.data.problems import problems
from litotes.errors import DataError

T = TypeVar("T")
_Text = Annotated[str, Field(min_length=1)]
_FORM = ConfigDict(extra="forbid", strict=True)


@dataclass(frozen=True, config=_FORM)
class Quadruplet:
    """A photograph and three captions of it.

    Attributes:
        image: path, relative to the folder of the photographs.
        positive: a true caption.
        negated_positive: the same, said with the help of a negation; as true.
        negative: false, as it denies something that is there.
        kind: what was denied: object, attribute, action or relation; or where it is from.
    """

    image: _Text
    positive: _Text
    negated_positive: _Text
    negative: _Text
    kind: str = ""


@dataclass(frozen=True, config=_FORM)
class Contrast:
    """A photograph, statements that are true of it, and as many false ones.

    Statements at the same place differ in what they affirm or deny, and in nothing else.

    Attributes:
        image: path, relative to the folder of the photographs.
        true: statements.
        false: statements.
    """

    image: _Text
    true: Annotated[tuple[_Text, ...], Field(min_length=1)]
    false: Annotated[tuple[_Text, ...], Field(min_length=1)]


def read_quadruplets(file: Path) -> list[Quadruplet]:
    """Quadruplets from a file.

    Raises:
        DataError: missing, empty or malformed; says the line, and the column or field.
    """
    return _read(file, TypeAdapter(Quadruplet))


def read_contrasts(file: Path) -> list[Contrast]:
    """Contrasts from a file; raises as :func:`read_quadruplets`."""
    return _read(file, TypeAdapter(Contrast))


def as_lines(records: Iterable[Quadruplet | Contrast]) -> str:
    """What the file of some records holds; to be written with :mod:`litotes.data.files`."""
    return "".join(f"{as_line(record)}\n" for record in records)


def as_line(record: Quadruplet | Contrast) -> str:
    """One record's line, without its end. ASCII, as file names need not be valid text."""
    return json.dumps(asdict(record))


def _read(file: Path, form: TypeAdapter[T]) -> list[T]:
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
