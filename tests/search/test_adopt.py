"""Vectors that were made elsewhere: what an index of them holds, and what is refused."""

import fcntl
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import lancedb
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image
from tests.search.test_index import assert_same, index_of, rows_of

from litotes.errors import DataError, PhotoIndexError
from litotes.search import PhotoIndex, sources

Adopt = Callable[..., Any]


@pytest.fixture
def adopt(encoder: Any, tmp_path: Path) -> Adopt:
    """Adopts an array, by way of a ``.npy`` file and a list of paths."""

    def run(folder: Path, vectors: Any, paths: list[Any], **options: Any) -> Any:
        np.save(tmp_path / "given.npy", vectors)
        lines = [path if isinstance(path, bytes) else str(path).encode() for path in paths]
        (tmp_path / "given.txt").write_bytes(b"".join(line + b"\n" for line in lines))
        return PhotoIndex.adopt(
            folder,
            encoder,
            tmp_path / "given.npy",
            paths=tmp_path / "given.txt",
            progress=False,
            **options,
        )

    return run


def made(folder: Path, encoder: Any, place: Path) -> tuple[list[str], Any, Any]:
    """An index's own paths, vectors and rows."""
    index_of(folder, encoder, location=place)
    rows = rows_of(folder, place)
    return list(rows), np.stack([vector for _, vector in rows.values()]), rows


def spread(vectors: Any, kind: str) -> Any:
    """The same directions, of other lengths and another type."""
    rng = np.random.default_rng(0)
    return (vectors * rng.uniform(0.5, 3, (len(vectors), 1))).astype(kind)


# ---- what an index holds


@pytest.mark.parametrize("form", ["npy", "parquet", "lance", "lists"])
@pytest.mark.parametrize("kind", ["float16", "float32", "float64"])
def test_an_adopted_index_is_as_if_it_was_made_here(
    photos: Path, encoder: Any, tmp_path: Path, adopt: Adopt, form: str, kind: str, monkeypatch: Any
) -> None:
    monkeypatch.setattr(sources, "BATCH", 7)
    Image.new("RGB", (9, 5), "red").save(photos / "turned.jpg", exif=turned())
    paths, vectors, rows = made(photos, encoder, tmp_path / "own")
    given_vectors = spread(vectors, kind)
    encoder.calls.clear()
    if form == "npy":
        report = adopt(photos, given_vectors, paths)
    else:
        table = pa.table({"path": paths, "vec": listed(given_vectors, fixed=form != "lists")})
        report = PhotoIndex.adopt(
            photos, encoder, written(table, tmp_path, "lance" if form == "lance" else "parquet")
        )
    assert (report.added, report.elsewhere, report.encoded) == (41, 0, 0)
    found = rows_of(photos)
    assert found.keys() == rows.keys()
    for path, (row, vector) in rows.items():
        assert found[path][0] == row
        np.testing.assert_allclose(found[path][1], vector, atol=1e-3)
        assert np.linalg.norm(found[path][1]) == pytest.approx(1, abs=1e-6)
    report = index_of(photos, encoder)
    assert (report.unchanged, report.encoded, report.removed) == (41, 0, 0)
    assert not encoder.calls


def turned() -> Image.Exif:
    exif = Image.Exif()
    exif[0x0112] = 6
    return exif


def listed(vectors: Any, *, fixed: bool) -> Any:
    values = pa.array(vectors.reshape(-1))
    if fixed:
        return pa.FixedSizeListArray.from_arrays(values, vectors.shape[1])
    offsets = np.arange(0, len(values) + 1, vectors.shape[1], dtype=np.int32)
    return pa.ListArray.from_arrays(pa.array(offsets), values)


def written(table: Any, folder: Path, kind: str) -> Path:
    if kind == "parquet":
        pq.write_table(table, folder / "given.parquet", row_group_size=5)
    else:
        lancedb.connect(folder).create_table("given", table, mode="overwrite")
    return folder / f"given.{kind}"


def test_paths_are_known_however_they_are_written(
    photos: Path, encoder: Any, tmp_path: Path, adopt: Adopt
) -> None:
    paths, vectors, rows = made(photos, encoder, tmp_path / "own")
    ways = [
        path if i % 3 == 0 else f"./{path}" if i % 3 == 1 else photos.absolute() / path
        for i, path in enumerate(paths)
    ]
    assert adopt(photos, vectors, ways).elsewhere == 0
    assert_same(rows_of(photos), rows)


def test_odd_names(tmp_path: Path, encoder: Any, save: Any) -> None:
    names = [b"caf\xe9.png", b"new\nline.png", b"a\x1b[31m.png", b" spaces .png"]
    root = tmp_path / "photos"
    for i, name in enumerate(names):
        save(root / "plain.png", i)
        (root / "plain.png").rename(root / os.fsdecode(name))
    paths, vectors, rows = made(root, encoder, tmp_path / "own")
    np.save(tmp_path / "v.npy", vectors)
    (tmp_path / "names").write_bytes(b"".join(os.fsencode(path) + b"\0" for path in paths))
    PhotoIndex.adopt(root, encoder, tmp_path / "v.npy", paths=tmp_path / "names")
    assert_same(rows_of(root), rows)


def test_windows_line_ends_and_byte_order_marks(photos: Path, encoder: Any, tmp_path: Path) -> None:
    paths, vectors, rows = made(photos, encoder, tmp_path / "own")
    np.save(tmp_path / "v.npy", vectors)
    (tmp_path / "paths").write_bytes(b"\xef\xbb\xbf" + "\r\n".join(paths).encode())
    PhotoIndex.adopt(photos, encoder, tmp_path / "v.npy", paths=tmp_path / "paths")
    assert_same(rows_of(photos), rows)


def test_ids_of_nothing_on_disk(tmp_path: Path, encoder: Any, photos: Path, adopt: Adopt) -> None:
    paths, vectors, _ = made(photos, encoder, tmp_path / "own")
    ids = ["s3://bucket//a/../x.jpg", "42", *paths[2:]]
    assert adopt(photos, vectors, ids).elsewhere == 2
    index = PhotoIndex.open(photos, encoder)
    found = {result.id: result for result in index.search_vector(vectors[0], 40)}
    other, photo = found[ids[0]], found[paths[5]]
    assert (other.label, other.is_photo, other.width) == (ids[0], False, 0)
    assert (photo.label, photo.is_photo) == (str(photos / paths[5]), True)
    before = rows_of(photos)
    with pytest.raises(PhotoIndexError, match=r"2 vectors of what is no photo .* --rebuild"):
        index_of(photos, encoder)
    assert_same(rows_of(photos), before)
    assert index_of(photos, encoder, rebuild=True).added == 40


def test_a_folder_without_photos(tmp_path: Path, encoder: Any, adopt: Adopt) -> None:
    root = tmp_path / "empty"
    root.mkdir()
    vectors = np.random.default_rng(0).normal(size=(60, encoder.dim))
    report = adopt(root, vectors, list(range(60)))
    assert (report.total, report.elsewhere) == (60, 60)
    index = PhotoIndex.open(root, encoder)
    assert [r.label for r in index.search_vector(vectors[7], 1)] == ["7"]
    found = index.filter("a red thing, no blue", 0, progress=False)
    assert {r.label for r in found} == set(map(str, range(60)))
    with pytest.raises(PhotoIndexError, match="60 vectors of what is no photo"):
        index_of(root, encoder)


def test_numbers_as_ids_and_named_columns(tmp_path: Path, encoder: Any) -> None:
    vectors = np.random.default_rng(0).normal(size=(5, encoder.dim))
    table = pa.table(
        {
            "text": listed(vectors[::-1].copy(), fixed=True),
            "image": listed(vectors, fixed=True),
            "number": pa.array([3, 1, 4, 15, 9]),
        }
    )
    file = written(table, tmp_path, "parquet")
    PhotoIndex.adopt(tmp_path, encoder, file, column="image", id_column="number")
    index = PhotoIndex.open(tmp_path, encoder)
    assert [r.label for r in index.search_vector(vectors[2], 1)] == ["4"]


def test_files_that_cannot_be_read_keep_their_vectors(
    photos: Path, encoder: Any, tmp_path: Path, adopt: Adopt
) -> None:
    paths, vectors, _ = made(photos, encoder, tmp_path / "own")
    (photos / paths[0]).write_bytes(b"broken")
    assert adopt(photos, vectors, paths).elsewhere == 0
    row, _ = rows_of(photos)[paths[0]]
    assert (row["width"], row["size"]) == (0, 6)
    assert index_of(photos, encoder).unchanged == 40


def test_photos_without_a_vector_are_indexed_later(
    photos: Path, encoder: Any, tmp_path: Path, adopt: Adopt
) -> None:
    paths, vectors, rows = made(photos, encoder, tmp_path / "own")
    adopt(photos, vectors[:30], paths[:30])
    report = index_of(photos, encoder)
    assert (report.added, report.unchanged) == (10, 30)
    assert_same(rows_of(photos), rows)


# ---- what is refused


@given(rows=st.lists(st.integers(0, 30), min_size=2, max_size=2, unique=True))
@settings(max_examples=10, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_a_path_that_stands_twice_is_named(
    adopt: Adopt, tmp_path_factory: Any, encoder: Any, rows: list[int]
) -> None:
    root = tmp_path_factory.mktemp("empty")
    one, other = sorted(rows)
    paths = [f"{i}.jpg" for i in range(31)]
    paths[other] = paths[one]
    vectors = np.ones((31, encoder.dim))
    with pytest.raises(DataError, match=rf"rows {one + 1} and {other + 1}: both are '{one}\.jpg'"):
        adopt(root, vectors, paths)
    assert not list(root.glob(".litotes/photos.lance"))


def test_one_photo_by_two_names(photos: Path, encoder: Any, adopt: Adopt) -> None:
    with pytest.raises(DataError, match="rows 1 and 2: both are"):
        adopt(photos, np.ones((2, encoder.dim)), ["album0/00.png", "./album0/00.png"])


@pytest.mark.parametrize("wrong", [np.nan, np.inf, 0.0])
def test_a_vector_without_direction_is_named(
    photos: Path, encoder: Any, adopt: Adopt, wrong: float, monkeypatch: Any
) -> None:
    monkeypatch.setattr(sources, "BATCH", 4)
    index_of(photos, encoder)
    before = rows_of(photos)
    vectors = np.ones((10, encoder.dim))
    vectors[8] = wrong
    with pytest.raises(DataError, match=r"given\.npy, row 9 \('id8'\): its vector"):
        adopt(photos, vectors, [f"id{i}" for i in range(10)], rebuild=True)
    assert_same(rows_of(photos), before)


@pytest.mark.parametrize(
    ("vectors", "paths", "said"),
    [
        (np.ones((2, 7)), ["a", "b"], "vectors have 7 numbers, and the model's have 48"),
        (np.ones(48), ["a"], r"float64 \(48,\)"),
        (np.array([["x"] * 48]), ["a"], r"must hold numbers of shape \(N, 48\)"),
        (np.ones((2, 48)), ["a"], r"given\.txt: has 1 paths, and .*given\.npy has 2 vectors"),
        (np.ones((2, 48)), ["a", ""], "row 2: has no path or id"),
        (np.ones((0, 48)), [], r"given\.npy: is empty"),
    ],
)
def test_arrays_that_cannot_be_used(
    photos: Path, adopt: Adopt, vectors: Any, paths: list[str], said: str
) -> None:
    with pytest.raises(DataError, match=said):
        adopt(photos, vectors, paths)


@pytest.mark.parametrize(
    ("columns", "options", "said"),
    [
        ({"path": ["a"]}, {}, "has no column of lists of numbers"),
        ({"path": ["a"], "v": [[1.0] * 48], "w": [[1.0] * 48]}, {}, "the columns v, w .*--column"),
        ({"path": ["a"], "v": [[1.0] * 48]}, {"column": "x"}, "no column 'x' .* the columns v"),
        ({"file": ["a"], "v": [[1.0] * 48]}, {}, "no column path or id.*file: --id-column"),
        ({"path": ["a"], "v": [[1.0] * 48]}, {"id_column": "v"}, "no column 'v' of names"),
        ({"path": ["a", "b"], "v": [[1.0] * 48, [1.0] * 47]}, {}, "row 2: its vector has 47"),
        ({"path": ["a", "b"], "v": [[1.0] * 48, None]}, {}, "row 2: has no vector"),
        ({"path": ["a", None], "v": [[1.0] * 48] * 2}, {}, "row 2: has no path or id"),
        ({"path": ["a"], "v": [[1.0] * 47 + [None]]}, {}, r"row 1 \('a'\): .* no finite number"),
    ],
)
def test_tables_that_cannot_be_used(
    tmp_path: Path, encoder: Any, columns: Any, options: Any, said: str
) -> None:
    for kind in ("parquet", "lance"):
        file = written(pa.table(columns), tmp_path, kind)
        with pytest.raises(DataError, match=said):
            PhotoIndex.adopt(tmp_path, encoder, file, **options)


def test_files_that_cannot_be_read(tmp_path: Path, encoder: Any) -> None:
    (tmp_path / "paths").write_text("a\n")
    for name in ("bad.npy", "bad.parquet", "bad.lance", "bad.csv"):
        (tmp_path / name).write_bytes(b"\x93NUMPY garbage")
    (tmp_path / "folder.lance").mkdir()
    np.savez(tmp_path / "archive", a=np.ones((1, 48)))
    (tmp_path / "archive.npz").rename(tmp_path / "archive.npy")
    np.save(tmp_path / "objects.npy", np.array([{}]), allow_pickle=True)
    np.save(tmp_path / "good.npy", np.ones((1, 48)))
    names = ["bad.npy", "bad.parquet", "bad.lance", "folder.lance", "archive.npy", "objects.npy"]
    for name in [*names, "bad.csv", "none.npy", "none.parquet", "none.lance"]:
        paths = tmp_path / "paths" if name.endswith("npy") else None
        with pytest.raises(DataError, match=name.replace(".", r"\.")):
            PhotoIndex.adopt(tmp_path, encoder, tmp_path / name, paths=paths)
    with pytest.raises(DataError, match="--paths FILE"):
        PhotoIndex.adopt(tmp_path, encoder, tmp_path / "good.npy")
    with pytest.raises(DataError, match="nowhere"):
        PhotoIndex.adopt(tmp_path, encoder, tmp_path / "good.npy", paths=tmp_path / "nowhere")
    assert not (tmp_path / ".litotes").exists()


def test_an_index_that_is_there_is_replaced_only_if_asked(
    photos: Path, encoder: Any, adopt: Adopt
) -> None:
    index_of(photos, encoder)
    before = rows_of(photos)
    with pytest.raises(PhotoIndexError, match="already; say --rebuild"):
        adopt(photos, np.ones((1, encoder.dim)), ["a"])
    assert_same(rows_of(photos), before)
    with (photos / ".litotes" / "lock").open("r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(PhotoIndexError, match="another process"):
            adopt(photos, np.ones((1, encoder.dim)), ["a"], rebuild=True)
    adopt(photos, np.ones((1, encoder.dim)), ["a"], rebuild=True)
    assert rows_of(photos).keys() == {"a"}


def test_photos_and_vectors_in_many_fragments_are_tidied(
    tmp_path: Path, encoder: Any, adopt: Adopt, monkeypatch: Any
) -> None:
    monkeypatch.setattr(sources, "BATCH", 2)
    root = tmp_path / "root"
    root.mkdir()
    vectors = np.random.default_rng(0).normal(size=(101, encoder.dim))
    adopt(root, vectors, list(range(101)))
    assert len(rows_of(root)) == 101
    assert len(list((root / ".litotes" / "photos.lance" / "data").iterdir())) < 10


# ---- kills


KILLED = """
import runpy, sys
from pathlib import Path
import litotes.search.sources as sources
from litotes.search import PhotoIndex, store
stand_in = runpy.run_path(sys.argv[1])
folder, file, point, count = Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4], int(sys.argv[5])
sources.BATCH = 10
owner = store.Path if point == "rename" else store.Store
stand_in["die_after"](owner, point, count)
PhotoIndex.adopt(folder, stand_in["StandIn"](), file, rebuild=True)
"""


@pytest.mark.parametrize(
    ("point", "count"), [("add", 1), ("add", 4), ("tidy", 1), ("rename", 1), ("rename", 2)]
)
def test_a_kill_leaves_the_old_index_or_the_new(
    photos: Path, encoder: Any, tmp_path: Path, stand_in_script: Path, point: str, count: int
) -> None:
    paths, vectors, rows = made(photos, encoder, photos / ".litotes")
    table = pa.table({"id": [f"id{i}" for i in range(40)], "v": listed(vectors, fixed=True)})
    file = written(table, tmp_path, "parquet")
    command = [sys.executable, "-c", KILLED, stand_in_script, photos, file, point, str(count)]
    assert subprocess.run(command, check=False).returncode == -signal.SIGKILL
    found = PhotoIndex.open(photos, encoder).search_vector(vectors[0], 40)
    new = (point, count) == ("rename", 2)
    assert {r.id for r in found} == ({f"id{i}" for i in range(40)} if new else set(paths))
    if not new:
        # It may be updated as ever, and goes on under its own name.
        assert index_of(photos, encoder).unchanged == 40
        assert_same(rows_of(photos), rows)
    PhotoIndex.adopt(photos, encoder, file, rebuild=True)
    assert len(rows_of(photos)) == 40
    assert {path.name for path in (photos / ".litotes").iterdir()} == {"photos.lance", "lock"}
