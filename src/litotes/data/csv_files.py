"""Tables from CSV files, with errors that say where in the file it is wrong."""

import csv
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

from litotes.errors import DataError

# Captions may be longer than the 131,072 characters that the module allows by itself.
csv.field_size_limit(2**30)


def read_rows(
    file: Path, columns: Sequence[str], check_names: Callable[[Sequence[str]], None] | None = None
) -> Iterator[tuple[int, dict[str, str]]]:
    """The line from 1 on which each row starts, and its values of the wanted columns.

    Other columns are passed over. No wanted value is blank.

    Args:
        file: in UTF-8, its first line the columns' names.
        columns: those that must be there.
        check_names: is given the names of all columns, before they are missed; may raise.

    Raises:
        DataError: the file cannot be read, is no CSV, lacks a column, or a row has a blank value,
            or more or fewer than there are columns; says the line.
    """
    try:
        with file.open(newline="", encoding="utf-8-sig") as lines:
            reader = csv.DictReader(lines, strict=True)
            names = reader.fieldnames or ()
            if twice := [name for name in columns if names.count(name) > 1]:
                raise DataError(f"{file}, line 1: the column {twice[0]!r} stands there twice")
            if check_names is not None:
                check_names(names)
            if missing := [column for column in columns if column not in names]:
                raise DataError(
                    f"{file}, line 1: the column {missing[0]!r} is missing; "
                    f"the columns must be {', '.join(columns)}"
                )
            for row in reader:
                yield _row(file, reader, row, columns)
    except OSError as error:
        raise DataError(f"cannot read {file}: {error}") from error
    except csv.Error as error:
        # The last row that was read ended there.
        line = reader.line_num + 1
        raise DataError(f"{file}, the row from line {line} on is no CSV: {error}") from error
    except UnicodeDecodeError as error:
        raise DataError(f"{file} is no text in UTF-8: {error}") from error


def _row(
    file: Path, reader: "csv.DictReader[str]", row: dict[Any, Any], columns: Sequence[str]
) -> tuple[int, dict[str, str]]:
    # So the reader marks values that are too many, and those that are not there.
    if None in row or None in row.values():
        raise DataError(
            f"{file}, line {reader.line_num}: the row must have "
            f"{len(reader.fieldnames or ())} values, as line 1 has names"
        )
    # Values may be of several lines; the error names the first.
    line = reader.line_num - sum(value.count("\n") for value in row.values())
    for column in columns:
        if not row[column].strip():
            raise DataError(f"{file}, line {line}, column {column!r}: is empty")
    return line, {column: row[column] for column in columns}
