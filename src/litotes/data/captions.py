"""Captioned photographs: a CSV with the columns ``image``, ``split`` and ``caption``."""

from pathlib import Path
from typing import Any

from pydantic import TypeAdapter

from litotes.data.csv_files import read_rows
from litotes.data.json_files import read_json
from litotes.errors import DataError

COLUMNS = ("image", "split", "caption")


def read_captions(place: Path, split: str | None) -> dict[str, list[str]]:
    """Captions of each image of a split, or of all, in the file's order.

    Args:
        place: a file, or a folder that holds ``captions.csv``.
        split: as the ``split`` column has it; None for all.

    Raises:
        DataError: missing, malformed (with its line), or without such a split.
    """
    file = place / "captions.csv" if place.is_dir() else place
    captions: dict[str, list[str]] = {}
    splits = set()
    for _, row in read_rows(file, COLUMNS):
        splits.add(row["split"])
        if split in (None, row["split"]):
            captions.setdefault(row["image"], []).append(row["caption"])
    if not captions:
        found = ", ".join(sorted(splits)) or "no rows at all"
        wanted = "captions" if split is None else f"split {split!r}"
        raise DataError(f"{file} has no {wanted}: it has {found}")
    return captions


def read_negation_pairs(file: Path) -> list[tuple[str, str]]:
    """Caption pairs ``(affirmative, negated)`` from a JSON object or a list of two-item lists.

    Raises:
        DataError: missing or malformed; says where.
    """
    content = read_json(file, TypeAdapter[Any](Any))
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
