"""Bringing a photo index up to date with its folder.

What is there already is told by path, size and time of change, without reading a file. Of the
rest each file is hashed, and a content that is known, because the file was moved, copied or
touched, keeps its vector. Only what is new goes through the encoder.
"""

import hashlib
import os
import sys
import time
import warnings
from collections import deque
from collections.abc import Generator, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from io import BufferedReader
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from rich.console import Console
from rich.progress import (
    MofNCompleteColumn,
    Progress,
    SpinnerColumn,
    TaskID,
    TimeRemainingColumn,
)
from torch import Tensor

from litotes.backbones.encoder import DualEncoder
from litotes.data.images import FoundImage, decode_image, open_file, scan_images
from litotes.errors import ImageError, LitotesWarning, PhotoIndexError
from litotes.search.store import HASH_BYTES, Store, to_numpy, to_rows

# A kill loses the work since the last commit. Rows are committed every few seconds, and later
# every hundredth of the time run so far, so that a long run does not end with thousands of tiny
# fragments.
COMMIT_SECONDS = 5.0
MAX_COMMIT_SECONDS = 30.0
MAX_COMMIT_ROWS = 16_384


class Skipped(NamedTuple):
    """A file that could not be indexed, and why."""

    path: Path
    reason: str


@dataclass
class IndexReport:
    """What a run did. ``added + updated + unchanged`` is the number of photos in the index.

    Attributes:
        added: photos that are new in the index.
        updated: photos whose content changed.
        unchanged: photos with the content they had.
        removed: photos that are no longer there, or can no longer be read.
        encoded: pictures that went through the image encoder.
        reused: photos moved, copied or touched, which kept the vector of their content.
        elsewhere: vectors of what is no photo in the folder.
        skipped: files that could not be read; they are tried again in the next run.
        seconds: how long it took.
    """

    added: int = 0
    updated: int = 0
    unchanged: int = 0
    removed: int = 0
    encoded: int = 0
    reused: int = 0
    elsewhere: int = 0
    skipped: list[Skipped] = field(default_factory=list)
    seconds: float = 0.0

    @property
    def total(self) -> int:
        """Photos now in the index."""
        return self.added + self.updated + self.unchanged


@dataclass(slots=True)
class _Photo:
    """A file that was read. ``pixels`` is None where the content's vector is there already."""

    path: str
    size: int
    mtime_ns: int
    digest: bytes
    width: int = 0
    height: int = 0
    pixels: Tensor | dict[str, Tensor] | None = None


class Folder:
    """What lies in a folder of photos.

    Raises:
        DataError: it is not a folder that can be read.
        PhotoIndexError: there is no picture in it.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.errors: list[tuple[str, OSError]] = []
        self.images = list(scan_images(root, lambda path, error: self.errors.append((path, error))))
        self.images.sort()
        if not self.images:
            raise PhotoIndexError(
                f"{root}: no pictures found here or in the folders below "
                f"(an index that is there is left as it is)"
            )

    def may_hold(self, path: str) -> bool:
        """Whether a file not found may yet be there, behind something that cannot be read."""
        return any(
            not isinstance(error, FileNotFoundError)
            and (path == blocked or path.startswith(f"{blocked}/"))
            for blocked, error in self.errors
        )


class Builder:
    """One run over a folder. The caller holds the lock of the index."""

    def __init__(
        self, store: Store, encoder: DualEncoder, folder: Folder, batch_size: int, bar: Progress
    ) -> None:
        self.store = store
        self.encoder = encoder
        self.folder = folder
        self.batch_size = batch_size
        self.bar = bar
        self.report = IndexReport()
        self.started = self.committed = time.monotonic()

        rows = store.read("path", "size", "mtime_ns", "hash")
        self.ids = rows["_rowid"].to_numpy()
        self.sizes, self.times = rows["size"].to_numpy(), rows["mtime_ns"].to_numpy()
        self.hashes = rows["hash"]
        self.row_of = {path: row for row, path in enumerate(rows["path"].to_pylist())}
        self.gone = set(self.row_of)

        self.known: dict[bytes, int] = {}
        self.failed: dict[bytes, str] = {}
        self.claimed: dict[bytes, str] = {}
        self.ready: list[_Photo] = []
        self.vectors: list[NDArray[np.float32]] = []
        self.copies: list[_Photo] = []

    def run(self) -> IndexReport:
        """Bring the index up to date; see :class:`IndexReport`."""
        todo = self._compare()
        task = self.bar.add_task("Indexing", total=len(todo))
        # The second time round, copies of a content that was encoded in the first take its vector.
        while todo:
            self.before = self.store.frozen()
            rows = self.before.read("hash")
            hashes, ids = rows["hash"].to_pylist(), rows["_rowid"].to_pylist()
            self.known = dict(zip(hashes, ids, strict=True))
            self.claimed.clear()
            todo = self._index(todo, task)
        self._remove_gone()
        tidy(self.store)
        self.report.seconds = time.monotonic() - self.started
        return self.report

    def _compare(self) -> list[FoundImage]:
        """The files that are not in the index as they are now."""
        for path, error in self.folder.errors:
            self._skip(path, error.strerror or str(error))
        todo = []
        for found in self.folder.images:
            encoded = os.fsencode(found.path)
            self.gone.discard(encoded)
            row = self.row_of.get(encoded)
            if row is not None and self._is_current(row, found):
                self.report.unchanged += 1
            else:
                todo.append(found)
        return todo

    def _is_current(self, row: int, found: FoundImage) -> bool:
        return bool(self.sizes[row] == found.size and self.times[row] == found.mtime_ns)

    def _index(self, todo: list[FoundImage], task: TaskID) -> list[FoundImage]:
        """Index files; those that wait for another file's vector are given back."""
        waiting: list[FoundImage] = []
        batch: list[_Photo] = []
        with closing(self._read_ahead(todo)) as files:
            for found, reading in files:
                try:
                    photo = reading.result()
                except ImageError as error:
                    self._skip(found.path, _reason(error, self._full(found.path)))
                else:
                    if photo is None:
                        waiting.append(found)
                        continue
                    (self.copies if photo.pixels is None else batch).append(photo)
                self.bar.advance(task)
                if len(batch) == self.batch_size:
                    self._encode(batch)
                    batch = []
                if self._is_due():
                    self._commit()
        self._encode(batch)
        self._commit()
        return waiting

    def _read_ahead(
        self, todo: Iterable[FoundImage]
    ) -> Generator[tuple[FoundImage, Future[_Photo | None]]]:
        """Files in order, read by threads a few batches ahead of the encoder."""
        pending: deque[tuple[FoundImage, Future[_Photo | None]]] = deque()
        pool = ThreadPoolExecutor()
        try:
            for found in todo:
                pending.append((found, pool.submit(self._read, found)))
                if len(pending) > 3 * self.batch_size:
                    yield pending.popleft()
            while pending:
                yield pending.popleft()
        finally:
            pool.shutdown(cancel_futures=True)

    def _read(self, found: FoundImage) -> _Photo | None:
        """A photo, or None if another file of this pass has the same content."""
        path = self._full(found.path)
        with open_file(path) as file:
            # Of the open file, and before it is read: what changes later is seen the next time.
            status = os.fstat(file.fileno())
            try:
                digest = content_hash(file)
            except OSError as error:
                raise ImageError(f"{path}: cannot be read ({error.strerror})") from error
            photo = _Photo(found.path, status.st_size, status.st_mtime_ns, digest)
            if digest in self.known:
                return photo
            if digest in self.failed:
                raise ImageError(f"{path}: {self.failed[digest]}")
            if self.claimed.setdefault(digest, found.path) != found.path:
                return None
            try:
                image = decode_image(file, path)
            except ImageError as error:
                self.failed[digest] = _reason(error, path)
                raise
        photo.width, photo.height = image.size
        photo.pixels = self.encoder.image.preprocess(image)
        return photo

    def _encode(self, batch: list[_Photo]) -> None:
        if not batch:
            return
        pixels = [photo.pixels for photo in batch if photo.pixels is not None]
        vectors = self.encoder.encode_images(pixels, batch_size=len(pixels), progress=False).numpy()
        self.report.encoded += len(batch)
        good = np.isfinite(vectors).all(axis=1) & vectors.any(axis=1)
        for photo, is_good in zip(batch, good, strict=True):
            photo.pixels = None
            if is_good:
                self.ready.append(photo)
            else:
                self.failed[photo.digest] = "the encoder gives no finite vector for it"
                self._skip(photo.path, self.failed[photo.digest])
        self.vectors.append(vectors[good])

    def _is_due(self) -> bool:
        now = time.monotonic()
        interval = min(max(COMMIT_SECONDS, (now - self.started) / 100), MAX_COMMIT_SECONDS)
        waiting = len(self.ready) + len(self.copies)
        return waiting >= MAX_COMMIT_ROWS or (waiting > 0 and now - self.committed > interval)

    def _commit(self) -> None:
        photos = self.ready + self.copies
        if photos:
            vectors = np.concatenate([*self.vectors, self._copied()])
            paths = [os.fsencode(photo.path) for photo in photos]
            columns = {
                "path": paths,
                "width": [photo.width for photo in photos],
                "height": [photo.height for photo in photos],
                "size": [photo.size for photo in photos],
                "mtime_ns": [photo.mtime_ns for photo in photos],
                "hash": [photo.digest for photo in photos],
            }
            old = [row for path in paths if (row := self.row_of.get(path)) is not None]
            self.store.replace(self.ids[old].tolist(), to_rows(self.store, columns, vectors))
            self._count(photos)
        self.ready, self.vectors, self.copies = [], [], []
        self.committed = time.monotonic()

    def _copied(self) -> NDArray[np.float32]:
        """Vectors ``(N, d)`` of the copies, whose sizes are noted too."""
        if not self.copies:
            return np.empty((0, self.store.info.dim), np.float32)
        ids = sorted({self.known[photo.digest] for photo in self.copies})
        rows = self.before.take(ids, "hash", "width", "height", "vector")
        row_of = {digest: row for row, digest in enumerate(rows["hash"].to_pylist())}
        widths, heights = rows["width"].to_pylist(), rows["height"].to_pylist()
        order = [row_of[photo.digest] for photo in self.copies]
        for photo, row in zip(self.copies, order, strict=True):
            photo.width, photo.height = widths[row], heights[row]
        return to_numpy(rows["vector"])[order]

    def _count(self, photos: list[_Photo]) -> None:
        self.report.reused += len(self.copies)
        for photo in photos:
            row = self.row_of.get(os.fsencode(photo.path))
            if row is None:
                self.report.added += 1
            elif self.hashes[row].as_py() == photo.digest:
                self.report.unchanged += 1
            else:
                self.report.updated += 1

    def _skip(self, path: str, reason: str) -> None:
        self.report.skipped.append(Skipped(self._full(path), reason))
        encoded = os.fsencode(path)
        if encoded in self.row_of:
            self.gone.add(encoded)

    def _remove_gone(self) -> None:
        gone = [path for path in self.gone if not self.folder.may_hold(os.fsdecode(path))]
        self.report.removed = len(gone)
        # Counted as there: what lies behind something that cannot be read.
        self.report.unchanged += len(self.gone) - len(gone)
        self.store.delete(self.ids[[self.row_of[path] for path in gone]].tolist())

    def _full(self, path: str) -> Path:
        return self.folder.root / path


def tidy(store: Store) -> None:
    """Tidy an index whose rows are all stored: if that fails, it is only slower."""
    try:
        store.tidy()
    except PhotoIndexError as error:
        warnings.warn(f"all rows are stored, but: {error}", LitotesWarning, stacklevel=2)


def progress_bar(progress: bool | None) -> Progress:
    """A bar on stderr; by default at a terminal."""
    shown = sys.stderr.isatty() if progress is None else progress
    return Progress(
        SpinnerColumn(),
        *Progress.get_default_columns()[:-1],
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        console=Console(stderr=True),
        transient=True,
        disable=not shown,
    )


def _reason(error: ImageError, path: Path) -> str:
    return str(error).removeprefix(f"{path}: ")


def content_hash(file: BufferedReader) -> bytes:
    """What tells a file's content from others."""
    return hashlib.file_digest(file, lambda: hashlib.blake2b(digest_size=HASH_BYTES)).digest()
