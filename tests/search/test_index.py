"""The photo index against brute force, changes of the folder, kills and other faults."""

import fcntl
import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from PIL import Image

from litotes.errors import DataError, LitotesError, LitotesWarning, PhotoIndexError
from litotes.language import Query
from litotes.search import ModelSpec, PhotoIndex, build
from litotes.search.store import IndexInfo, Store, to_numpy, to_rows

Save = Callable[[Path, int], None]


def index_of(folder: Path, encoder: Any, **options: Any) -> Any:
    return PhotoIndex.build(folder, encoder, batch_size=4, progress=False, **options)


def rows_of(folder: Path, location: Path | None = None) -> dict[str, tuple[Any, ...]]:
    """All that an index holds, by path; fails if a path is there twice."""
    store = Store.open(location or folder / ".litotes")
    assert store is not None
    table = store.table.to_arrow()
    vectors = to_numpy(table["vector"])
    rows = {}
    for row, vector in zip(table.drop_columns(["vector"]).to_pylist(), vectors, strict=True):
        path = os.fsdecode(row.pop("path"))
        assert path not in rows
        rows[path] = (row, vector)
    return rows


def assert_same(found: dict[str, tuple[Any, ...]], expected: dict[str, tuple[Any, ...]]) -> None:
    assert found.keys() == expected.keys()
    for path, (row, vector) in expected.items():
        assert found[path][0] == row
        np.testing.assert_allclose(found[path][1], vector, atol=1e-6)


def fresh_rows(folder: Path, encoder: Any, tmp_path: Path) -> dict[str, tuple[Any, ...]]:
    """What an index made from nothing holds."""
    location = tmp_path / "fresh"
    index_of(folder, encoder, location=location, rebuild=True)
    return rows_of(folder, location)


# ---- what an index holds


def test_every_photo_is_there_with_its_vector(photos: Path, encoder: Any) -> None:
    report = index_of(photos, encoder)
    assert (report.added, report.total, report.encoded, report.reused) == (40, 40, 37, 3)
    assert not report.skipped
    rows = rows_of(photos)
    assert rows.keys() == {path.relative_to(photos).as_posix() for path in photos.rglob("*.png")}
    for path, (row, vector) in rows.items():
        with Image.open(photos / path) as image:
            assert (row["width"], row["height"]) == image.size
            pixels = encoder.image.preprocess(image.convert("RGB"))
        status = (photos / path).stat()
        assert (row["size"], row["mtime_ns"]) == (status.st_size, status.st_mtime_ns)
        np.testing.assert_allclose(vector, encoder.encode_images([pixels])[0], atol=1e-6)


def test_vectors_streams_all(photos: Path, encoder: Any) -> None:
    index_of(photos, encoder)
    index = PhotoIndex.open(photos, encoder)
    batches = list(index.vectors(batch_size=16))
    assert len(index) == 40
    assert sorted(path for paths, _ in batches for path in paths) == sorted(photos.rglob("*.png"))
    assert sum(len(vectors) for _, vectors in batches) == 40
    assert max(len(vectors) for _, vectors in batches) <= 16


def test_second_run_reads_no_file(photos: Path, encoder: Any, monkeypatch: Any) -> None:
    index_of(photos, encoder)
    encoder.calls.clear()
    version = Store.open(photos / ".litotes").table.version
    monkeypatch.setattr(build, "open_file", lambda path: pytest.fail(f"{path} was read"))
    report = index_of(photos, encoder)
    assert (report.unchanged, report.added, report.encoded) == (40, 0, 0)
    assert not encoder.calls
    assert Store.open(photos / ".litotes").table.version == version


def test_changes_of_the_folder(photos: Path, encoder: Any, save: Save, tmp_path: Path) -> None:
    index_of(photos, encoder)
    encoder.calls.clear()
    os.utime(photos / "album0" / "03.png", ns=(1, 1))  # touched
    save(photos / "album1" / "04.png", 104)  # changed
    (photos / "album2" / "05.png").unlink()  # removed
    (photos / "album0" / "06.png").rename(photos / "moved ä.png")  # moved
    shutil.copy(photos / "album1" / "07.png", photos / "copy.png")  # copied
    save(photos / "new" / "200.png", 200)  # new
    a, b = photos / "album2" / "08.png", photos / "album2" / "11.png"  # swapped
    content = a.read_bytes()
    a.write_bytes(b.read_bytes())
    b.write_bytes(content)
    for path in (a, b):
        os.utime(path, ns=(2, 2))

    report = index_of(photos, encoder)
    assert sum(encoder.calls) == report.encoded == 2
    assert (report.added, report.updated, report.removed, report.unchanged) == (3, 3, 2, 35)
    assert report.reused == 5
    assert_same(rows_of(photos), fresh_rows(photos, encoder, tmp_path))


def test_original_and_copy_change_places(photos: Path, encoder: Any, tmp_path: Path) -> None:
    index_of(photos, encoder)
    shutil.rmtree(photos / "album2")
    shutil.copytree(photos / "album1", photos / "elsewhere" / "album1")
    shutil.rmtree(photos / "album1")
    encoder.calls.clear()
    index_of(photos, encoder)
    assert not encoder.calls
    assert_same(rows_of(photos), fresh_rows(photos, encoder, tmp_path))


def test_many_small_runs_leave_few_files(photos: Path, encoder: Any, save: Save) -> None:
    for i in range(40):
        save(photos / f"{i}.png", 300 + i)
        index_of(photos, encoder)
    assert len(PhotoIndex.open(photos, encoder)) == 80
    assert len(list((photos / ".litotes" / "photos.lance" / "data").iterdir())) < 40


def test_index_at_another_place(photos: Path, encoder: Any, tmp_path: Path) -> None:
    place = tmp_path / "a place%20#1 ä"
    index_of(photos, encoder, location=place)
    assert not (photos / ".litotes").exists()
    assert len(PhotoIndex.open(photos, encoder, location=place)) == 40


def test_folder_may_move(photos: Path, encoder: Any) -> None:
    index_of(photos, encoder)
    moved = photos.rename(photos.with_name("moved"))
    encoder.calls.clear()
    assert index_of(moved, encoder).unchanged == 40
    (result,) = PhotoIndex.open(moved, encoder).search("a red picture", k=1)
    assert result.path.is_relative_to(moved)


def test_odd_names(tmp_path: Path, encoder: Any, save: Save) -> None:
    names = [b"caf\xe9.png", "é'\"\\%_.png".encode(), b"new\nline.png", b"a\x1b[31m.png", b"-r.png"]
    root = tmp_path / "photos"
    for i, name in enumerate(names):
        save(root / "plain.png", i)
        (root / "plain.png").rename(root / os.fsdecode(name))
    assert index_of(root, encoder).added == len(names)
    (root / os.fsdecode(names[0])).unlink()
    save(root / os.fsdecode(names[1]), 50)
    report = index_of(root, encoder)
    assert (report.removed, report.updated, report.unchanged) == (1, 1, len(names) - 2)
    found = {result.path for result in PhotoIndex.open(root, encoder).search("red")}
    assert {os.fsencode(path.name) for path in found} == set(names[1:])
    assert all(path.is_file() for path in found)


# ---- files that cannot be read


def test_unreadable_files_are_named_and_skipped(photos: Path, encoder: Any, save: Save) -> None:
    (photos / "empty.jpg").touch()
    (photos / "text.jpg").write_text("no picture")
    (photos / "text copy.jpg").write_text("no picture")
    (photos / "cut.png").write_bytes((photos / "album0" / "00.png").read_bytes()[:100])
    (photos / "x.jpg").mkdir()
    (photos / "link.jpg").symlink_to("nowhere.jpg")
    report = index_of(photos, encoder)
    assert report.added == 40
    skipped = {path.name: reason for path, reason in report.skipped}
    assert skipped.keys() == {"empty.jpg", "text.jpg", "text copy.jpg", "cut.png", "link.jpg"}
    assert "zero bytes" in skipped["empty.jpg"]
    assert skipped["text.jpg"] == skipped["text copy.jpg"] == "is not a picture in a known format"
    assert "cut short" in skipped["cut.png"]

    save(photos / "empty.jpg.png", 77)
    (photos / "empty.jpg.png").rename(photos / "empty.jpg")
    report = index_of(photos, encoder)
    assert (report.added, len(report.skipped)) == (1, 4)


def test_photo_that_breaks_is_dropped(photos: Path, encoder: Any) -> None:
    index_of(photos, encoder)
    (photos / "album0" / "00.png").write_bytes(b"broken")
    report = index_of(photos, encoder)
    assert (report.removed, report.unchanged, len(report.skipped)) == (1, 39, 1)
    assert "album0/00.png" not in rows_of(photos)


def test_photos_behind_an_unreadable_folder_are_kept(
    photos: Path, encoder: Any, monkeypatch: Any
) -> None:
    index_of(photos, encoder)
    scandir = os.scandir

    def denied(path: Any) -> Any:
        if Path(path).name == "album1":
            raise PermissionError(13, "Permission denied", str(path))
        return scandir(path)

    monkeypatch.setattr(os, "scandir", denied)
    report = index_of(photos, encoder)
    assert (report.removed, report.total) == (0, 40)
    assert [(path.name, reason) for path, reason in report.skipped] == [
        ("album1", "Permission denied")
    ]
    assert len(rows_of(photos)) == 40


def test_picture_without_a_finite_vector_is_skipped(photos: Path, encoder: Any) -> None:
    encode = encoder.encode_images

    def with_nan(images: Any, **options: Any) -> torch.Tensor:
        vectors = encode(images, **options)
        vectors[0] = float("nan")
        return vectors

    encoder.encode_images = with_nan
    report = index_of(photos, encoder)
    assert {reason for _, reason in report.skipped} == {"the encoder gives no finite vector for it"}
    assert report.total == len(rows_of(photos)) == 40 - len(report.skipped)


def test_folder_without_pictures_leaves_the_index(photos: Path, encoder: Any) -> None:
    index_of(photos, encoder)
    for album in photos.glob("album*"):
        shutil.rmtree(album)
    with pytest.raises(PhotoIndexError, match="no pictures found"):
        index_of(photos, encoder)
    assert len(rows_of(photos)) == 40
    with pytest.raises(DataError, match="nowhere: is not a folder"):
        index_of(photos / "nowhere", encoder)


# ---- one index, one encoder


def test_other_image_encoder_is_refused(photos: Path, make_encoder: Any) -> None:
    index_of(photos, make_encoder())
    other = make_encoder("other")
    spec = ModelSpec("ViT-B-32", "my weights.pt")
    command = f"litotes index {photos} --model ViT-B-32 --pretrained 'my weights.pt' --rebuild"
    for work in (index_of, PhotoIndex.open):
        options = {"model": spec}
        with pytest.raises(PhotoIndexError, match="another image encoder") as caught:
            work(photos, other, **options)
        assert command in str(caught.value)
    report = index_of(photos, other, model=spec, rebuild=True)
    assert (report.added, report.encoded) == (40, 37)
    index = PhotoIndex.open(photos, other)
    assert (len(index), index.model) == (40, spec)


def test_index_open_while_it_is_made_anew(photos: Path, make_encoder: Any) -> None:
    index_of(photos, make_encoder())
    index = PhotoIndex.open(photos, make_encoder())
    index_of(photos, make_encoder(), rebuild=True)
    assert len(index.search("red")) == 10
    index_of(photos, make_encoder("other"), rebuild=True)
    with pytest.raises(PhotoIndexError, match="made anew with another model"):
        index.search("red")


def test_text_side_does_not_matter_and_is_remembered(photos: Path, make_encoder: Any) -> None:
    index_of(photos, make_encoder(), model=ModelSpec("a"))
    tuned = make_encoder()
    tuned.text_fingerprint = "tuned"
    spec = ModelSpec("a", None, "adapter")
    report = index_of(photos, tuned, model=spec)
    assert (report.unchanged, report.encoded) == (40, 0)
    assert PhotoIndex.open(photos, tuned).model == spec
    index_of(photos, tuned)
    assert PhotoIndex.open(photos).model == spec


def test_no_index(photos: Path, encoder: Any) -> None:
    with pytest.raises(PhotoIndexError, match=f"litotes index {photos}"):
        PhotoIndex.open(photos, encoder)


def test_other_format_and_other_table(photos: Path, encoder: Any, monkeypatch: Any) -> None:
    location = photos / ".litotes"
    with monkeypatch.context() as later:
        later.setattr("litotes.search.store.FORMAT", 99)
        Store.create(location, IndexInfo("grid", 48, ModelSpec("stand-in"), format=99))
    with pytest.raises(PhotoIndexError, match="format 99"):
        PhotoIndex.open(photos, encoder)
    assert index_of(photos, encoder, rebuild=True).added == 40


def test_damaged_index_says_how_to_go_on(photos: Path, encoder: Any) -> None:
    index_of(photos, encoder)
    for path in (photos / ".litotes" / "photos.lance").rglob("*.manifest"):
        path.write_bytes(b"\0" * 100)
    with pytest.raises(PhotoIndexError, match="--rebuild"):
        PhotoIndex.open(photos, encoder)
    assert index_of(photos, encoder, rebuild=True).added == 40


# ---- search


@pytest.fixture(scope="module")
def searchable(tmp_path_factory: pytest.TempPathFactory) -> tuple[PhotoIndex, Any, Any]:
    """An index of 500 made-up vectors, a fifth of them equal, in several commits."""
    root = tmp_path_factory.mktemp("searchable")
    rng = np.random.default_rng(1)
    vectors = rng.normal(size=(500, 16)).astype(np.float32)
    vectors[::5] = vectors[0]
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    names = [f"{i:03}.jpg" for i in rng.permutation(500)]
    store = Store.create(root / ".litotes", IndexInfo("grid", 16, ModelSpec("none")))
    for rows in np.array_split(np.arange(500), 7):
        count = len(rows)
        columns = {
            "path": [names[row].encode() for row in rows],
            **{name: [1] * count for name in ("width", "height", "size", "mtime_ns")},
            "hash": [bytes(16)] * count,
        }
        store.replace([], to_rows(store, columns, vectors[rows]))
    return PhotoIndex.open(root), np.array(names), vectors


@given(
    seed=st.integers(0, 10**6),
    k=st.sampled_from([1, 2, 10, 99, 100, 101, 499, 500, 501, 10_000]),
    tied=st.booleans(),
)
@settings(max_examples=40, suppress_health_check=[HealthCheck.too_slow])
def test_search_equals_brute_force(
    searchable: tuple[PhotoIndex, Any, Any], seed: int, k: int, tied: bool
) -> None:
    index, names, vectors = searchable
    query = np.random.default_rng(seed).normal(size=16) + (20 * vectors[0] if tied else 0)
    results = index.search_vector(query, k)

    scores = vectors.astype(np.float64) @ (query / np.linalg.norm(query))
    score_of = dict(zip(names.tolist(), scores.tolist(), strict=True))
    found = [result.path.name for result in results]
    assert [result.rank for result in results] == list(range(1, min(k, 500) + 1))
    assert len(set(found)) == len(found)
    given_scores = [result.score for result in results]
    np.testing.assert_allclose(given_scores, np.sort(scores)[::-1][:k], atol=1e-6)
    np.testing.assert_allclose(given_scores, [score_of[name] for name in found], atol=1e-6)
    assert results == sorted(results, key=lambda result: (-result.score, result.path))


class Odd:
    """Finds candidates along a direction, and likes those best that are least along it."""

    name = "odd"

    def __init__(self, direction: Any) -> None:
        self.direction = torch.from_numpy(direction)

    def vectors(self, queries: Any, encoder: Any) -> Any:
        return self.direction.expand(len(queries), -1)

    def scores(self, queries: Any, encoder: Any, images: Any) -> Any:
        assert len(images.background.vectors) == 500
        return (-(self.direction @ images.vectors.T)).expand(len(queries), -1)


@pytest.mark.parametrize("k", [1, 10, 100, 700])
def test_a_strategy_that_scores_judges_its_candidates(
    searchable: tuple[PhotoIndex, Any, Any], k: int
) -> None:
    index, names, vectors = searchable
    index.encoder = object()  # type: ignore[assignment]
    direction = vectors[7]
    alike = vectors @ direction
    results = index.search(Query("a", ("b",), "a, no b"), k, Odd(direction))  # type: ignore[arg-type]
    # Equal ones may be candidates or not.
    candidates = np.sort(alike)[::-1][: max(100, 5 * k)]
    expected = np.exp(-candidates[::-1][:k])
    np.testing.assert_allclose([result.score for result in results], expected, atol=1e-6)
    of_name = dict(zip(names.tolist(), np.exp(-alike).tolist(), strict=True))
    found = [of_name[result.path.name] for result in results]
    np.testing.assert_allclose(found, expected, atol=1e-6)
    plain = index.search(Query("a", (), "a"), k, Odd(direction))  # type: ignore[arg-type]
    assert [r.path for r in plain] == [r.path for r in index.search_vector(direction, k)]


def test_ties_are_broken_by_path(searchable: tuple[PhotoIndex, Any, Any]) -> None:
    index, names, vectors = searchable
    equal = sorted(names[::5])
    for k in (1, 7, 99, 100):
        assert [r.path.name for r in index.search_vector(vectors[0], k)] == equal[:k]


@pytest.mark.parametrize(
    "vector",
    [np.full(16, np.nan), np.zeros(16), np.full(16, np.inf), np.ones(15), np.ones((1, 16))],
)
def test_vectors_without_direction_are_refused(
    searchable: tuple[PhotoIndex, Any, Any], vector: Any
) -> None:
    with pytest.raises(ValueError, match="the vector"):
        searchable[0].search_vector(vector)


def test_k_below_one(searchable: tuple[PhotoIndex, Any, Any]) -> None:
    with pytest.raises(ValueError, match="k is 0"):
        searchable[0].search_vector(np.ones(16), 0)


def test_torch_vectors_and_any_scale(searchable: tuple[PhotoIndex, Any, Any]) -> None:
    index, _, vectors = searchable
    expected = index.search_vector(vectors[3])
    assert index.search_vector(torch.from_numpy(vectors[3])) == expected
    scaled = index.search_vector(1e-20 * vectors[3].astype(np.float64))
    assert [r.path for r in scaled] == [r.path for r in expected]


def test_empty_index(tmp_path: Path) -> None:
    Store.create(tmp_path / ".litotes", IndexInfo("grid", 16, ModelSpec("none")))
    with pytest.raises(PhotoIndexError, match="is empty"):
        PhotoIndex.open(tmp_path).search_vector(np.ones(16))


def test_search_in_words(tmp_path: Path, encoder: Any) -> None:
    for color in ("red", "green", "blue"):
        Image.new("RGB", (30, 20), color).save(tmp_path / f"{color}.png")
    index_of(tmp_path, encoder)
    index = PhotoIndex.open(tmp_path, encoder)
    first, *others = index.search("a blue picture", k=5, strategy="plain")
    assert (first.rank, first.path, first.width, first.height) == (1, tmp_path / "blue.png", 30, 20)
    assert first.score == pytest.approx(1, abs=1e-6)
    assert len(others) == 2
    with pytest.raises(LitotesError, match="clever"):
        index.search("red", strategy="clever")
    judged = index.search("a picture that is not blue", k=5, strategy="calibrated")
    assert len(judged) == 3
    assert all(0 <= result.score <= 1 for result in judged)
    assert [r.score for r in judged] == sorted((r.score for r in judged), reverse=True)


def test_reading_needs_no_write_permission(photos: Path, encoder: Any) -> None:
    index_of(photos, encoder)
    before = sorted(photos.rglob("*"))
    times = [path.stat().st_mtime_ns for path in before]
    PhotoIndex.open(photos, encoder).search("red")
    assert sorted(photos.rglob("*")) == before
    assert [path.stat().st_mtime_ns for path in before] == times


# ---- kills, locks and full disks


def test_killed_runs_end_where_one_run_ends(
    photos: Path, encoder: Any, tmp_path: Path, stand_in_script: Path
) -> None:
    expected = fresh_rows(photos, encoder, tmp_path)
    killed = [
        *(("encode", count) for count in (1, 2, 9)),
        *(("replace", count) for count in (1, 4)),
        *(("delete", 6), ("create", 1), ("rename", 1), ("frozen", 2), ("tidy", 1)),
    ]
    places = [tmp_path / f"{point}{count}" for point, count in killed]
    scenarios = [
        f"{place}:{point}:{count}" for place, (point, count) in zip(places, killed, strict=True)
    ]
    # Killed from outside, three times in one place, at times that add up to less than its three
    # seconds.
    anytime = tmp_path / "anytime"
    rng = np.random.default_rng()
    scenarios += [f"{anytime}:slow:{seconds:.2f}" for seconds in rng.uniform(0, 0.6, 3)]
    ended = subprocess.run(
        [sys.executable, stand_in_script, photos, *scenarios],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    assert ended == [str(-signal.SIGKILL)] * len(scenarios), scenarios
    for place in [*places, anytime]:
        report = index_of(photos, encoder, location=place)
        assert report.total == 40
        assert_same(rows_of(photos, place), expected)


def test_killed_update_ends_where_one_run_ends(
    photos: Path, encoder: Any, tmp_path: Path, stand_in_script: Path, save: Save
) -> None:
    killed = [("delete", 1), ("delete", 3), ("replace", 2)]
    places = [tmp_path / f"{point}{count}" for point, count in killed]
    for place in places:
        index_of(photos, encoder, location=place)
    for i in range(0, 37, 2):
        save(photos / f"album{i % 3}" / f"{i:02}.png", 500 + i)
    (photos / "album1" / "01.png").rename(photos / "moved.png")
    (photos / "album0" / "03.png").unlink()
    expected = fresh_rows(photos, encoder, tmp_path)
    scenarios = [
        f"{place}:{point}:{count}" for place, (point, count) in zip(places, killed, strict=True)
    ]
    ended = subprocess.run(
        [sys.executable, stand_in_script, photos, *scenarios],
        check=True,
        capture_output=True,
        text=True,
    ).stdout.split()
    assert ended == [str(-signal.SIGKILL)] * len(scenarios)
    for place in places:
        index_of(photos, encoder, location=place)
        assert_same(rows_of(photos, place), expected)


def test_second_run_at_once_is_refused(photos: Path, encoder: Any) -> None:
    index_of(photos, encoder)
    with (photos / ".litotes" / "lock").open("r+") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(PhotoIndexError, match=r"another process .* is indexing"):
            index_of(photos, encoder)
        assert len(PhotoIndex.open(photos, encoder).search("red")) == 10
    assert index_of(photos, encoder).unchanged == 40


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A disk of 400 kB; needs the right to mount one."""
    disk = tmp_path / "disk"
    disk.mkdir()
    mounted = (
        shutil.which("mount")
        and not subprocess.run(
            ["mount", "-t", "tmpfs", "-o", "size=400k", "none", disk],
            capture_output=True,
            check=False,
        ).returncode
    )
    if not mounted:
        pytest.skip("needs the right to mount a file system")
    yield disk
    subprocess.run(["umount", disk], check=True)


def test_full_disk(
    photos: Path, encoder: Any, small_disk: Path, monkeypatch: Any, tmp_path: Path
) -> None:
    monkeypatch.setattr(build, "COMMIT_SECONDS", 0)
    place = small_disk / "index"
    ballast = small_disk / "ballast"
    index_of(photos / "album0", encoder, location=place)
    ballast.write_bytes(bytes(40_000))
    while shutil.disk_usage(small_disk).free > 20_000:
        with ballast.open("ab") as file:
            file.write(bytes(4096))
    with pytest.raises(PhotoIndexError, match=r"disk is full. What was stored before is safe"):
        index_of(photos, encoder, location=place)
    ballast.unlink()
    index_of(photos, encoder, location=place)
    assert_same(rows_of(photos, place), fresh_rows(photos, encoder, tmp_path))


def test_disk_too_full_to_tidy_is_only_a_warning(
    photos: Path, encoder: Any, monkeypatch: Any
) -> None:
    def full(store: Store) -> None:
        raise PhotoIndexError("the disk is full")

    monkeypatch.setattr(Store, "tidy", full)
    with pytest.warns(LitotesWarning, match="all rows are stored, but: the disk is full"):
        assert index_of(photos, encoder).added == 40


def test_place_that_cannot_be_written(photos: Path, encoder: Any, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(PhotoIndexError, match=r"--index PATH|--rebuild"):
        index_of(photos, encoder, location=tmp_path / "file" / "index")
