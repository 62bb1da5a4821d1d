"""An index of vectors that were made elsewhere, such as those of a vector database.

Nothing is encoded. The new index is made beside an old one, and takes its place when it is whole.
"""

import hashlib
import os
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from PIL.ExifTags import Base
from rich.progress import Progress

from litotes.data.images import FoundImage, open_file, scan_images
from litotes.errors import DataError, ImageError
from litotes.search.asked import unit_rows
from litotes.search.build import IndexReport, content_hash, tidy
from litotes.search.sources import Ids, Source
from litotes.search.store import ELSEWHERE, HASH_BYTES, Store, to_rows

# Of EXIF orientation: from here on width and height change places.
_FIRST_TURNED = 5
_HASH = hashlib.blake2b


class Facts(NamedTuple):
    """What an index says of a file beside its path."""

    width: int = 0
    height: int = 0
    size: int = ELSEWHERE
    mtime_ns: int = 0
    hash: bytes = bytes(HASH_BYTES)


def adopt(store: Store, folder: Path, source: Source, bar: Progress) -> IndexReport:
    """Fill an index that was begun, from a source.

    Args:
        store: where to.
        folder: of the photos, as far as there are any.
        source: of vectors of the index's length.
        bar: shows how far it is.

    Raises:
        DataError: a path is missing or there twice, or a vector is zero or not finite.
    """
    started = time.monotonic()
    looking = bar.add_task("Looking for pictures", total=None)
    photos = {found.path: found for found in scan_images(folder)}
    bar.remove_task(looking)
    names = Names(folder, photos)
    _check_ids(source, names)
    report = IndexReport()
    task = bar.add_task("Storing", total=source.count)
    with ThreadPoolExecutor() as pool:
        for ids, vectors in source.batches():
            paths = [names.of(name) for name in ids if name]
            unit = _unit_rows(source, ids, vectors, report.added)
            found = [photos.get(os.fsdecode(path)) for path in paths]
            read = pool.map(lambda photo: _facts(folder, photo), filter(None, found))
            facts = [next(read) if photo else Facts() for photo in found]
            columns: dict[str, Any] = {
                name: [getattr(fact, name) for fact in facts] for name in Facts._fields
            }
            store.add(to_rows(store, {"path": paths, **columns}, unit))
            report.added += len(paths)
            report.elsewhere += sum(photo is None for photo in found)
            bar.advance(task, len(paths))
    tidy(store)
    report.seconds = time.monotonic() - started
    return report


class Names:
    """Paths as an index keeps them: below its folder, if there is such a photo."""

    def __init__(self, folder: Path, photos: dict[str, FoundImage]) -> None:
        self.folder = str(folder.absolute())
        self.photos = photos

    def of(self, name: bytes) -> bytes:
        """The path below the folder, or the name as it stands."""
        text = os.fsdecode(name)
        if text in self.photos:
            return name
        is_absolute = text.startswith("/")
        below = os.path.relpath(text, self.folder) if is_absolute else os.path.normpath(text)
        return os.fsencode(below) if below in self.photos else name


def _check_ids(source: Source, names: Names) -> None:
    """That each row has a path, and no two have the same one.

    Of each path only a hash is kept: there may be very many.
    """
    digests = bytearray()
    for row, name in enumerate(_each_id(source), start=1):
        if not name:
            raise DataError(f"{source.name}, row {row}: has no path or id")
        digests += _HASH(names.of(name), digest_size=16).digest()
    if not digests:
        raise DataError(f"{source.name}: is empty")
    first, second = np.frombuffer(digests, np.uint64).reshape(-1, 2).T
    order = np.lexsort((second, first))
    same = (np.diff(first[order]) == 0) & (np.diff(second[order]) == 0)
    if same.any():
        # Equal ones stand in their order, as the sort is stable.
        pairs = np.stack([order[:-1][same], order[1:][same]], axis=1)
        one, other = pairs[pairs[:, 1].argmin()].tolist()
        name = next(n for row, n in enumerate(_each_id(source)) if row == other)
        raise DataError(
            f"{source.name}, rows {one + 1} and {other + 1}: both are "
            f"{os.fsdecode(name or b'')!r}; each path or id may stand once"
        )


def _each_id(source: Source) -> Iterator[bytes | None]:
    for ids in source.ids():
        yield from ids


def _unit_rows(source: Source, ids: Ids, vectors: NDArray[Any], before: int) -> NDArray[np.float32]:
    unit, wrong = unit_rows(vectors)
    if len(wrong):
        row = int(wrong[0])
        norm = np.linalg.norm(np.asarray(vectors[row], dtype=np.float64))
        what = "is zero" if norm == 0 else "holds what is no finite number"
        raise DataError(
            f"{source.name}, row {before + row + 1} ({os.fsdecode(ids[row] or b'')!r}): "
            f"its vector {what}"
        )
    return unit


def _facts(folder: Path, photo: FoundImage) -> Facts:
    """As an indexing run would note them; as far as the file can be read."""
    path = folder / photo.path
    try:
        with open_file(path) as file:
            status = os.fstat(file.fileno())
            digest = content_hash(file)
            width, height = _upright_size(file)
        return Facts(width, height, status.st_size, status.st_mtime_ns, digest)
    except (ImageError, OSError):
        return Facts(size=photo.size, mtime_ns=photo.mtime_ns)


def _upright_size(file: Any) -> tuple[int, int]:
    """Width and height in pixels, of the file's head alone; 0 where it is not read."""
    # Broken files make Pillow raise nearly anything.
    with suppress(Exception):
        file.seek(0)
        with Image.open(file) as image:
            width, height = image.size
            turned = image.getexif().get(Base.Orientation, 1) in range(_FIRST_TURNED, 9)
            return (height, width) if turned else (width, height)
    return 0, 0
