"""Captioned photographs: a CSV with the columns ``image``, ``split`` and ``caption``."""

import csv
import json
from pathlib import Path

from litotes.errors import DataError

COLUMNS = ("image", "split", "caption")


def read_captions(place: Path, split: str) -> dict[str, list[str]]:
    """Captions of each image of a split, in the file's order.

    Args:
        place: a file, or a folder that holds ``captions.csv``.
        split: as the ``split`` column has it.

    Raises:
        DataError: missing, malformed (with its line), or without such a split.
    """
    file = place / "captions.csv" if place.is_dir() else place
    captions: dict[str, list[str]] = {}
    splits = set()
    try:
        with file.open(newline="", encoding="utf-8-sig") as lines:
            reader = csv.DictReader(lines, strict=True)
            if missing := [c for c in COLUMNS if c not in (reader.fieldnames or ())]:
                raise DataError(
                    f"{file}, line 1: the column {missing[0]!r} is missing; "
                    f"the columns must be {', '.join(COLUMNS)}"
                )
            for row in reader:
                if None in row or any(not row[column] for column in COLUMNS):
                    raise DataError(
                        f"{file}, line {reader.line_num}: a row needs {', '.join(COLUMNS)}, "
                        f"none of them empty"
                    )
                splits.add(row["split"])
                if row["split"] == split:
                    captions.setdefault(row["image"], []).append(row["caption"])
    except OSError as error:
        raise DataError(f"cannot read {file}: {error}") from error
    except (csv.Error, UnicodeDecodeError) as error:
        raise DataError(f"{file} is no CSV file in UTF-8: {error}") from error
    if not captions:
        found = ", ".join(sorted(splits)) or "no rows at all"
        raise DataError(f"{file} has no split {split!r}: it has {found}")
    return captions


def read_negation_pairs(file: Path) -> list[tuple[str, str]]:
    """Caption pairs ``(affirmative, negated)`` from a JSON object or a list of two-item lists.

    Raises:
        DataError: missing or malformed; says where.
    """
    try:
        content = json.loads(file.read_bytes())
    except OSError as error:
        raise DataError(f"cannot read {file}: {error}") from error
    except (ValueError, RecursionError) as error:
        raise DataError(f"{file} is no JSON: {error}") from error
    pairs = list(content.items()) if isinstance(content, dict) else content
    if not isinstance(pairs, list):
        raise DataError(f"{file} must hold an object or a list of caption pairs")
    for i, pair in enumerate(pairs):
        if (
            not isinstance(pair, list | tuple)
            or len(pair) != 2
            or not all(isinstance(caption, str) and caption for caption in pair)
        ):
            raise DataError(
                f"{file}, pair {i + 1}: must be an affirmative caption and its negated one"
            )
    return [(affirmative, negated) for affirmative, negated in pairs]
