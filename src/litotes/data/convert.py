"""Published caption files to the project's own form: ``captions.csv`` beside ``images/``."""

import csv
import os
from collections import Counter
from collections.abc import Sequence
from io import StringIO
from pathlib import Path
from typing import NamedTuple

from litotes.data.captions import COLUMNS
from litotes.data.files import write_atomically
from litotes.data.retrieval_files import (
    CaptionedPicture,
    image_folder,
    pictures_of_split,
    read_pictures,
)
from litotes.errors import DataError


class Converted(NamedTuple):
    """What was written, and what was not.

    Attributes:
        pictures: how many.
        captions: how many.
        splits: of each split, how many pictures.
        missing: pictures the file speaks of that are not there; they were left out.
    """

    pictures: int
    captions: int
    splits: dict[str, int]
    missing: tuple[Path, ...]


def convert(
    source: Path, kind: str, images: Path | None, out: Path, split: str | None = None
) -> Converted:
    """Write ``captions.csv`` and a link ``images`` to the pictures, which stay where they are.

    Pictures that are not there are left out and named in the result: Flickr8k's captions speak of
    one that nobody has.

    Args:
        source: a file or folder as published.
        kind: see :mod:`litotes.data.retrieval_files`.
        images: folder of the pictures; by default beside the file, or the folder itself.
        out: folder to write to; it is made if need be.
        split: which part of the file, by default all, each under its own name. A file without
            parts needs one: its pictures are then in a split of that name.

    Raises:
        DataError: the source is missing or malformed, none of its pictures is there, no split is
            given where one is needed, or ``out`` holds other captions or pictures.
    """
    images = images or image_folder(kind, source)
    pictures = read_pictures(kind, source, images)
    if split is not None:
        pictures = pictures_of_split(source, pictures, split)
    if not all(picture.split for picture in pictures):
        raise DataError(
            f"{source} has no splits: say which one its pictures are, as in --split test"
        )
    there = [picture for picture in pictures if picture.path.is_file()]
    missing = tuple(picture.path for picture in pictures if not picture.path.is_file())
    if not there:
        raise DataError(f"none of {len(missing)} pictures is there; the first is {missing[0]}")
    _write(out, images, _table(there, images))
    return Converted(
        pictures=len(there),
        captions=sum(len(picture.captions) for picture in there),
        splits=dict(Counter(picture.split for picture in there)),
        missing=missing,
    )


def _table(pictures: Sequence[CaptionedPicture], images: Path) -> bytes:
    lines = StringIO()
    writer = csv.writer(lines)
    writer.writerow(COLUMNS)
    for picture in pictures:
        name = picture.path.relative_to(images).as_posix()
        writer.writerows((name, picture.split, caption) for caption in picture.captions)
    try:
        return lines.getvalue().encode()
    except UnicodeEncodeError as error:
        text = error.object[error.start : error.end]
        raise DataError(
            f"a name or caption cannot be written in UTF-8: it holds {text!r}"
        ) from error


def _write(out: Path, images: Path, table: bytes) -> None:
    file, link = out / "captions.csv", out / "images"
    try:
        if file.exists() and file.read_bytes() != table:
            raise DataError(f"{file} holds other captions: remove it, or choose another folder")
        if os.path.lexists(link) and not (link.exists() and link.samefile(images)):
            raise DataError(f"{link} is not {images}: remove it, or choose another folder")
        out.mkdir(parents=True, exist_ok=True)
        if not link.exists():
            link.symlink_to(images.resolve(), target_is_directory=True)
        write_atomically(file, table)
    except OSError as error:
        raise DataError(f"cannot write to {out}: {error}") from error
