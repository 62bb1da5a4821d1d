"""Where a photo index lies: one Lance table, the facts it is bound to, and a lock.

Every commit to a Lance table is atomic, so a process killed at any moment leaves the last commit.
The facts (:class:`IndexInfo`) are kept in the table's own schema, so they cannot disagree with
its rows. A table is made under another name and renamed, so that one that is there is whole.
"""

import contextlib
import errno
import fcntl
import json
import os
import shlex
import shutil
import warnings
from collections.abc import Collection, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import timedelta
from pathlib import Path
from typing import Any, Self

import lancedb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from litotes.errors import PhotoIndexError

FORMAT = 1
FOLDER_NAME = ".litotes"
HASH_BYTES = 16

_TABLE = "photos"
_UNFINISHED = "unfinished"
_DISCARDED = "discarded"
# Each commit leaves a version and mostly a fragment; tidying rewrites small fragments, so it
# waits until there is something to gain.
_VERSIONS_BEFORE_TIDY = 32
_IDS_A_DELETE = 10_000
#: No index can lie there, however often it is made anew.
_NO_PLACE = (errno.EROFS, errno.EACCES, errno.ENOTDIR, errno.ENAMETOOLONG, errno.ELOOP)

ELSEWHERE = -1
"""The size of what has a vector, but no photo in the folder."""


@dataclass(frozen=True)
class ModelSpec:
    """A model as it was asked for: the arguments of :func:`litotes.load`."""

    name: str
    pretrained: str | None = None
    adapter: str | None = None

    def __str__(self) -> str:
        """As options of the command line."""
        options = ["--model", self.name]
        if self.pretrained is not None:
            options += ["--pretrained", self.pretrained]
        if self.adapter is not None:
            options += ["--adapter", self.adapter]
        return shlex.join(options)


@dataclass(frozen=True)
class IndexInfo:
    """What an index is bound to.

    Attributes:
        image_fingerprint: of the encoder that made the vectors.
        dim: length of the vectors.
        model: how that encoder is loaded again; a text-side adapter may differ from run to run.
        format: of the table.
    """

    image_fingerprint: str
    dim: int
    model: ModelSpec
    format: int = FORMAT


class Store:
    """The table of an index, at one place.

    Raises:
        PhotoIndexError: from every method, when the table cannot be read or written.
    """

    def __init__(self, location: Path, table: Any) -> None:
        self.location = location
        self.table = table
        self.info = _read_info(location, table)

    @classmethod
    def open(cls, location: Path) -> Self | None:
        """The index at a place; None if there is none."""
        # A writer that was killed between two names may have left the old table under the second.
        with errors(location, "read"):
            names = [n for n in (_TABLE, _DISCARDED) if _table_path(location, n).is_dir()]
            if not names:
                return None
            return cls(location, lancedb.connect(location).open_table(names[0]))

    @classmethod
    def create(cls, location: Path, info: IndexInfo) -> Self:
        """An empty index at a place, instead of the one that may be there."""
        return cls.begin(location, info).publish()

    @classmethod
    def begin(cls, location: Path, info: IndexInfo) -> Self:
        """An empty index that nobody sees before it is published."""
        restore(location)
        with errors(location, "written"):
            for leftover in (_UNFINISHED, _DISCARDED):
                _remove(_table_path(location, leftover))
            table = lancedb.connect(location).create_table(_UNFINISHED, schema=_schema(info))
            return cls(location, table)

    def publish(self) -> Self:
        """Put an index that was begun in the place of the one that may be there."""
        with errors(self.location, "written"):
            current = _table_path(self.location, _TABLE)
            if current.exists():
                current.rename(_table_path(self.location, _DISCARDED))
            _table_path(self.location, _UNFINISHED).rename(current)
            _remove(_table_path(self.location, _DISCARDED))
            return type(self)(self.location, lancedb.connect(self.location).open_table(_TABLE))

    def remember(self, model: ModelSpec) -> None:
        """Note that the index is to be searched with this model from now on."""
        info = IndexInfo(self.info.image_fingerprint, self.info.dim, model)
        with errors(self.location, "written"):
            self.table.update_field_metadata({"path": "vector", "metadata": _to_metadata(info)})
        self.info = info

    def frozen(self) -> Self:
        """The table as it is now: rows deleted later can still be read from it."""
        with errors(self.location, "read"):
            table = lancedb.connect(self.location).open_table(_TABLE)
            table.checkout(self.table.version)
            return type(self)(self.location, table)

    def count(self, which: str | None = None) -> int:
        """How many rows there are, of all or of those that an SQL condition names."""
        with errors(self.location, "read"):
            return int(self.table.count_rows(which))

    def read(self, *columns: str) -> Any:
        """Columns of all rows as an Arrow table, with ``_rowid``."""
        with errors(self.location, "read"):
            return self.table.search().select(list(columns)).with_row_id(True).to_arrow()

    def take(self, row_ids: Sequence[int], *columns: str) -> Any:
        """Columns of chosen rows as an Arrow table, in no set order."""
        with errors(self.location, "read"):
            return self.table.take_row_ids(list(row_ids)).select(list(columns)).to_arrow()

    def of_paths(self, paths: Collection[bytes], *columns: str) -> Any:
        """Columns of the rows of some paths as an Arrow table, in no set order."""
        rows = self.read("path")
        ids = rows["_rowid"].filter(pc.is_in(rows["path"], pa.array(paths, pa.binary())))
        return self.take(ids.to_pylist(), *columns)

    def replace(self, row_ids: Sequence[int], rows: Any) -> None:
        """Delete rows and add others. A kill in between loses rows, and never doubles one."""
        self.delete(row_ids)
        self.add(rows)

    def add(self, rows: Any) -> None:
        """Add rows."""
        with errors(self.location, "written"):
            self.table.add(rows)

    def delete(self, row_ids: Sequence[int]) -> None:
        """Delete rows."""
        with errors(self.location, "written"):
            for start in range(0, len(row_ids), _IDS_A_DELETE):
                ids = ", ".join(map(str, row_ids[start : start + _IDS_A_DELETE]))
                self.table.delete(f"_rowid IN ({ids})")

    def nearest(self, vector: NDArray[np.float32], limit: int, *more: str) -> Any:
        """The rows of largest dot product with a vector, by a scan of all of them.

        Args:
            vector: ``(d,)``.
            limit: how many rows.
            more: columns, beside the path, the sizes and the distance.
        """
        return (
            self.table.search(vector, vector_column_name="vector")
            .distance_type("dot")
            .select(["path", "width", "height", "size", "_distance", *more])
            .limit(limit)
            .to_arrow()
        )

    def ranked(
        self, vector: NDArray[np.float32], limit: int
    ) -> tuple[NDArray[np.uint64], NDArray[np.float32]]:
        """Row ids of largest dot product with a vector, best first, and those products."""
        with errors(self.location, "read"):
            rows = (
                self.table.search(vector, vector_column_name="vector")
                .distance_type("dot")
                .select(["_distance"])
                .with_row_id(True)
                .limit(limit)
                .to_arrow()
            )
        return rows["_rowid"].to_numpy(), 1 - rows["_distance"].to_numpy()

    def elsewhere(self) -> int:
        """How many rows have no photo in the folder."""
        return self.count(f"size = {ELSEWHERE}")

    def tidy(self) -> None:
        """Merge small fragments and drop old versions, if there are many. Needs the lock."""
        with errors(self.location, "tidied"), warnings.catch_warnings():
            if len(self.table.list_versions()) < _VERSIONS_BEFORE_TIDY:
                return
            # It warns that other writers would be disturbed; the lock keeps them out, and
            # searches open the table anew.
            warnings.filterwarnings("ignore", message=r"optimize\(cleanup_older_than")
            self.table.optimize(cleanup_older_than=timedelta(0), delete_unverified=True)


def to_rows(store: Store, columns: dict[str, Any], vectors: NDArray[np.float32]) -> Any:
    """An Arrow table of the store's schema.

    Args:
        store: where the rows are to go.
        columns: all but ``vector``, by name.
        vectors: ``(N, d)``.
    """
    values = pa.array(np.ascontiguousarray(vectors, dtype=np.float32).reshape(-1))
    column = pa.FixedSizeListArray.from_arrays(values, store.info.dim)
    return pa.table({**columns, "vector": column}, schema=_schema(store.info))


def to_numpy(vectors: Any) -> NDArray[np.float32]:
    """The ``vector`` column of an Arrow table or batch as an array ``(N, d)``."""
    column = vectors.combine_chunks() if isinstance(vectors, pa.ChunkedArray) else vectors
    dim = column.type.list_size
    array: NDArray[np.float32] = column.flatten().to_numpy(zero_copy_only=False).reshape(-1, dim)
    return array


@contextlib.contextmanager
def locked(location: Path) -> Iterator[None]:
    """Hold the index at a place for writing; the place is made if it is not there.

    The lock is the operating system's, so that it ends with the process that holds it.

    Raises:
        PhotoIndexError: another process holds it, or the place cannot be written.
    """
    if location.exists() and not location.is_dir():
        raise PhotoIndexError(
            f"{location}: is a file, and an index needs a folder: choose one with --index PATH"
        )
    with errors(location, "written"):
        location.mkdir(parents=True, exist_ok=True)
        file = (location / "lock").open("a+")
    with file:
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            file.seek(0)
            raise PhotoIndexError(
                f"{location}: another process ({file.read() or 'unknown'}) is indexing into it; "
                f"wait until it is done"
            ) from None
        except OSError as error:
            raise PhotoIndexError(
                f"{location}: cannot be locked ({error.strerror}); "
                f"choose a place on another file system with --index PATH"
            ) from error
        file.truncate(0)
        file.write(str(os.getpid()))
        file.flush()
        yield


def restore(location: Path) -> None:
    """Give a table back its name that a killed writer took and gave to none. Needs the lock."""
    with errors(location, "written"):
        left, current = _table_path(location, _DISCARDED), _table_path(location, _TABLE)
        if left.exists() and not current.exists():
            left.rename(current)


@contextlib.contextmanager
def errors(location: Path, what: str) -> Iterator[None]:
    """Turn what the file system or Lance raises into an error that says what to do."""
    try:
        yield
    except PermissionError as error:
        raise PhotoIndexError(_unwritable(location, error)) from error
    except UnicodeEncodeError as error:
        raise PhotoIndexError(
            f"{os.fspath(location)!r}: an index cannot lie in a folder whose name is not valid "
            f"UTF-8; choose another place with --index PATH"
        ) from error
    except (OSError, RuntimeError, ValueError) as error:
        if isinstance(error, OSError) and error.errno in _NO_PLACE:
            raise PhotoIndexError(_unwritable(location, error)) from error
        raise PhotoIndexError(_describe(location, what, str(error))) from error


def _unwritable(location: Path, error: OSError) -> str:
    return (
        f"{location}: cannot be written ({error.strerror}); "
        f"choose another place for the index with --index PATH"
    )


def _describe(location: Path, what: str, reason: str) -> str:
    if os.strerror(errno.ENOSPC) in reason:
        return (
            f"{location}: the disk is full. What was stored before is safe: "
            f"free some space and run the same command again to go on"
        )
    return (
        f"{location}: cannot be {what} ({reason}). If it stays so, `litotes index` with --rebuild "
        f"makes the index anew"
    )


def _schema(info: IndexInfo) -> Any:
    vector = pa.field(
        "vector", pa.list_(pa.float32(), info.dim), nullable=False, metadata=_to_metadata(info)
    )
    return pa.schema(
        [
            # Bytes, because a file name need not be valid text.
            pa.field("path", pa.binary(), nullable=False),
            pa.field("width", pa.int32(), nullable=False),
            pa.field("height", pa.int32(), nullable=False),
            pa.field("size", pa.int64(), nullable=False),
            pa.field("mtime_ns", pa.int64(), nullable=False),
            pa.field("hash", pa.binary(HASH_BYTES), nullable=False),
            vector,
        ]
    )


def _to_metadata(info: IndexInfo) -> dict[str, str]:
    return {"litotes": json.dumps(asdict(info))}


def _read_info(location: Path, table: Any) -> IndexInfo:
    try:
        stored = json.loads(table.schema.field("vector").metadata[b"litotes"])
        found = stored["format"]
        if found == FORMAT:
            return IndexInfo(**{**stored, "model": ModelSpec(**stored["model"])})
    except (KeyError, TypeError, ValueError) as error:
        raise PhotoIndexError(
            f"{location}: holds no photo index that can be read; "
            f"`litotes index` with --rebuild makes it anew"
        ) from error
    raise PhotoIndexError(
        f"{location}: the index has format {found}, this version of Litotes reads {FORMAT}; "
        f"`litotes index` with --rebuild makes it anew"
    )


def _table_path(location: Path, name: str) -> Path:
    return location / f"{name}.lance"


def _remove(path: Path) -> None:
    if path.exists():
        shutil.rmtree(path)
