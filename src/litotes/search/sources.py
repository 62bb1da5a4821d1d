"""Vectors that were made elsewhere, read from a file a batch at a time."""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import lancedb
import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from litotes.errors import DataError

#: Rows that are held at once.
BATCH = 16_384
_ID_COLUMNS = ("path", "id")

Ids = list[bytes | None]


@dataclass(frozen=True)
class Source:
    """Vectors with their paths or ids, in one order.

    Attributes:
        name: of the file, for errors.
        count: how many rows.
        ids: gives the paths or ids, a batch at a time; None where one is missing.
        batches: gives them with their vectors ``(B, d)``.
    """

    name: Path
    count: int
    ids: Callable[[], Iterator[Ids]]
    batches: Callable[[], Iterator[tuple[Ids, NDArray[Any]]]]


def open_source(
    vectors: Path, dim: int, paths: Path | None, column: str | None, id_column: str | None
) -> Source:
    """Vectors in a ``.npy`` file, a Parquet file or the folder of a LanceDB table.

    Args:
        vectors: the file or folder; its ending says which it is.
        dim: length that the vectors must have.
        paths: of a ``.npy`` file: a text file with the path of each row on a line, or each ended
            by a zero byte.
        column: of a table: the column of vectors; by default the only column of lists of numbers.
        id_column: its column of paths or ids; by default the one called path, or id.

    Raises:
        DataError: a file cannot be read, is of another kind, or does not hold what it should.
    """
    if vectors.suffix == ".npy":
        if paths is None:
            raise DataError(f"{vectors}: say which pictures it is of: --paths FILE, a path a line")
        if column is not None or id_column is not None:
            raise DataError(f"{vectors}: has no columns; its paths are in the file of --paths")
        return _from_numpy(vectors, dim, paths)
    if vectors.suffix not in (".parquet", ".lance"):
        raise DataError(
            f"{vectors}: is of no kind that is known here: .npy, .parquet, or the folder of a "
            f"LanceDB table, NAME.lance"
        )
    if paths is not None:
        raise DataError(f"{vectors}: has paths of its own; --paths goes with a .npy file")
    with _reading(vectors):
        if vectors.suffix == ".parquet":
            return _from_parquet(vectors, dim, column, id_column)
        return _from_lance(vectors, dim, column, id_column)


def _from_numpy(file: Path, dim: int, paths: Path) -> Source:
    with _reading(file):
        array = np.load(file, mmap_mode="r", allow_pickle=False)
    if not isinstance(array, np.ndarray) or array.ndim != 2 or array.dtype.kind not in "fiu":
        found = f"{array.dtype} {array.shape}" if isinstance(array, np.ndarray) else "an archive"
        raise DataError(f"{file}: holds {found}; it must hold numbers of shape (N, {dim})")
    _check_dim(file, array.shape[1], dim)
    with _reading(paths):
        lines = sum(1 for _ in _lines(paths))
    if lines != len(array):
        raise DataError(f"{paths}: has {lines} paths, and {file} has {len(array)} vectors")

    def ids() -> Iterator[Ids]:
        batch: Ids = []
        for line in _lines(paths):
            batch.append(line)
            if len(batch) == BATCH:
                yield batch
                batch = []
        if batch:
            yield batch

    def batches() -> Iterator[tuple[Ids, NDArray[Any]]]:
        start = 0
        for batch in ids():
            yield batch, array[start : start + len(batch)]
            start += len(batch)

    return Source(file, len(array), ids, batches)


def _from_parquet(file: Path, dim: int, column: str | None, id_column: str | None) -> Source:
    # Its own handle each time: two passes read it.
    with pq.ParquetFile(file) as table:
        names = _columns(file, table.schema_arrow, dim, column, id_column)
        count = table.metadata.num_rows

    def batches(*columns: str) -> Iterator[Any]:
        with pq.ParquetFile(file) as table:
            yield from table.iter_batches(BATCH, columns=list(columns))

    return _from_batches(file, count, dim, names, batches)


def _from_lance(folder: Path, dim: int, column: str | None, id_column: str | None) -> Source:
    if not folder.is_dir():
        raise DataError(f"{folder}: there is no such folder of a LanceDB table")
    table = lancedb.connect(folder.absolute().parent).open_table(folder.stem)
    names = _columns(folder, table.schema, dim, column, id_column)

    def batches(*columns: str) -> Iterator[Any]:
        yield from table.search().select(list(columns)).to_batches(BATCH)

    return _from_batches(folder, table.count_rows(), dim, names, batches)


def _from_batches(
    file: Path,
    count: int,
    dim: int,
    names: tuple[str, str],
    read: Callable[..., Iterator[Any]],
) -> Source:
    id_name, vector_name = names

    def ids() -> Iterator[Ids]:
        with _reading(file):
            for batch in read(id_name):
                yield _ids(batch[id_name])

    def batches() -> Iterator[tuple[Ids, NDArray[Any]]]:
        row = 0
        with _reading(file):
            for batch in read(id_name, vector_name):
                yield _ids(batch[id_name]), _vectors(file, batch[vector_name], dim, row)
                row += len(batch)

    return Source(file, count, ids, batches)


def _columns(
    file: Path, schema: Any, dim: int, column: str | None, id_column: str | None
) -> tuple[str, str]:
    """The names of the columns of ids and of vectors."""
    lists = [field.name for field in schema if _is_vectors(field.type)]
    ids = [field.name for field in schema if _is_id(field.type)]
    if column is None:
        if len(lists) != 1:
            raise DataError(
                f"{file}: has {_listed(lists)} of lists of numbers: say which one holds the "
                f"vectors: --column NAME"
            )
        (column,) = lists
    elif column not in lists:
        raise DataError(
            f"{file}: has no column {column!r} of lists of numbers, but {_listed(lists)}"
        )
    if id_column is None:
        id_column = next((name for name in _ID_COLUMNS if name in ids), None)
        if id_column is None:
            raise DataError(
                f"{file}: has no column path or id of texts, bytes or whole numbers: say which one "
                f"names the pictures, of {_listed(ids)}: --id-column NAME"
            )
    elif id_column not in ids:
        raise DataError(f"{file}: has no column {id_column!r} of names, but {_listed(ids)}")
    kind = schema.field(column).type
    if pa.types.is_fixed_size_list(kind):
        _check_dim(file, kind.list_size, dim)
    return id_column, column


def _is_vectors(kind: Any) -> bool:
    is_list = (
        pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    )
    return is_list and (
        pa.types.is_floating(kind.value_type) or pa.types.is_integer(kind.value_type)
    )


def _is_id(kind: Any) -> bool:
    types = pa.types
    return bool(
        types.is_string(kind)
        or types.is_large_string(kind)
        or types.is_string_view(kind)
        or types.is_binary(kind)
        or types.is_large_binary(kind)
        or types.is_integer(kind)
    )


def _ids(column: Any) -> Ids:
    return [
        name if name is None or isinstance(name, bytes) else str(name).encode()
        for name in column.to_pylist()
    ]


def _vectors(file: Path, column: Any, dim: int, start: int) -> NDArray[Any]:
    """A column of lists as an array ``(B, d)``; numbers that are missing become NaN."""
    if column.null_count:
        row = pc.index(pc.is_null(column), True).as_py()
        raise DataError(f"{file}, row {start + row + 1}: has no vector")
    if not pa.types.is_fixed_size_list(column.type):
        lengths = pc.list_value_length(column).to_numpy(zero_copy_only=False)
        wrong = np.flatnonzero(lengths != dim)
        if len(wrong):
            raise DataError(
                f"{file}, row {start + wrong[0] + 1}: its vector has {lengths[wrong[0]]} numbers; "
                f"the model's have {dim}"
            )
    values: NDArray[Any] = column.flatten().to_numpy(zero_copy_only=False)
    return values.reshape(-1, dim)


def _check_dim(file: Path, found: int, dim: int) -> None:
    if found != dim:
        raise DataError(
            f"{file}: its vectors have {found} numbers, and the model's have {dim}: name the "
            f"model that made them: --model NAME"
        )


def _lines(file: Path) -> Iterator[bytes]:
    """Lines, or what zero bytes end where there are any: names may hold line ends."""
    with file.open("rb") as lines:
        head = lines.read(1 << 16)
        lines.seek(len(b"\xef\xbb\xbf") if head.startswith(b"\xef\xbb\xbf") else 0)
        if b"\0" not in head:
            for line in lines:
                yield line.removesuffix(b"\n").removesuffix(b"\r")
            return
        rest = b""
        while part := lines.read(1 << 20):
            *whole, rest = (rest + part).split(b"\0")
            yield from whole
        if rest:
            yield rest


def _listed(names: list[str]) -> str:
    return "the columns " + ", ".join(names) if names else "no column"


@contextlib.contextmanager
def _reading(file: Path) -> Iterator[None]:
    """Errors of NumPy, Arrow and Lance as one that says which file cannot be read."""
    try:
        yield
    except (OSError, RuntimeError, ValueError, EOFError) as error:
        reason = getattr(error, "strerror", None) or str(error).splitlines()[0]
        raise DataError(f"{file}: cannot be read ({reason})") from error
