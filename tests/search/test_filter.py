"""Every match: which photos are judged, and what is gathered of them."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from litotes.errors import DataError
from litotes.search import ModelSpec, PhotoIndex, Result, judging
from litotes.search import index as index_module
from litotes.search.gather import gather
from litotes.search.store import IndexInfo, Store, to_rows
from litotes.strategies import Calibrated, Images
from litotes.strategies.calibrated import SUITED

COUNT = 700


@pytest.fixture(scope="module")
def clustered(tmp_path_factory: pytest.TempPathFactory) -> tuple[PhotoIndex, list[str], Any]:
    """An index of made-up vectors, some of which lie around the colours' texts."""
    from tests.search.conftest import StandIn

    root = tmp_path_factory.mktemp("clustered")
    encoder = StandIn()
    encoder.name = "scenes"  # its settings have no votes, which depend on what is judged together
    rng = np.random.default_rng(0)
    texts = encoder.encode_texts(["red", "green", "blue"]).numpy()
    mean = encoder.encode_texts(["a photo"]).numpy()
    vectors = rng.normal(size=(COUNT, encoder.dim)) * 0.15 + mean
    vectors[:200] += texts[rng.integers(0, 3, 200)] * rng.uniform(0.2, 1.5, (200, 1))
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    vectors = vectors.astype(np.float32)
    names = [f"{i:04}.jpg" for i in rng.permutation(COUNT)]
    store = Store.create(root / ".litotes", IndexInfo("grid", encoder.dim, ModelSpec("none")))
    columns = {
        "path": [name.encode() for name in names],
        **{name: [1] * COUNT for name in ("width", "height", "size", "mtime_ns")},
        "hash": [bytes(16)] * COUNT,
    }
    store.add(to_rows(store, columns, vectors))
    return PhotoIndex.open(root, encoder), names, vectors


@given(
    query=st.sampled_from([None, "a red thing", "green"]),
    exclude=st.sampled_from([(), ("blue",), ("green", "blue")]),
    least=st.sampled_from([0.0, 0.05, 0.5, 0.9, 0.999, 1.0]),
    together=st.sampled_from([16, 64, 1000]),
)
@settings(
    max_examples=40,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
def test_filter_is_brute_force_as_far_as_matches_go(
    clustered: Any, query: str | None, exclude: Any, least: float, together: int
) -> None:
    if query is None and not exclude:
        return
    index, names, vectors = clustered
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(judging, "TOGETHER", together)
        patch.setattr(index_module, "SAMPLE", 300)
        index._sampled = None
        found = index.filter(query, least, exclude=exclude, progress=False)
        judge = index._judge(query, "default", exclude, (), ())
    chances = np.array([why.probability for why in judge.explain(vectors)])
    order = np.argsort(-(vectors.astype(np.float64) @ judge.vector), kind="stable")
    limit = min(together, COUNT)
    while limit < COUNT and (chances[order[limit * 4 // 5 : limit]] >= least).any():
        limit = min(limit * 4, COUNT)
    expected = {names[i]: chances[i] for i in order[:limit] if chances[i] >= least}
    near = {names[i] for i in order if abs(chances[i] - least) < 1e-5}
    assert {r.id for r in found} ^ expected.keys() <= near
    assert [r.rank for r in found] == list(range(1, len(found) + 1))
    assert found == sorted(found, key=lambda r: (-r.score, r.id))
    for result in found:
        assert result.score == pytest.approx(chances[names.index(result.id)], rel=1e-3, abs=1e-6)
        assert result.explanation is not None
        assert result.explanation.probability == pytest.approx(result.score)


def test_the_chances_are_those_of_calibrated(clustered: Any) -> None:
    index, names, vectors = clustered
    index._sampled = None
    found = index.filter("a red thing, no blue", 0, progress=False)
    from litotes.language import parse

    strategy = SUITED["scenes"]
    assert isinstance(strategy, Calibrated)
    scores = strategy.scores(
        [parse("a red thing, no blue")], index.encoder, Images(torch.from_numpy(vectors))
    )
    expected = dict(zip(names, scores[0].exp().tolist(), strict=True))
    assert len(found) == COUNT
    for result in found:
        assert result.score == pytest.approx(expected[result.id], rel=1e-3, abs=1e-7)


def test_all_are_judged_once_with_votes(clustered: Any, monkeypatch: Any) -> None:
    index, _, _ = clustered
    monkeypatch.setattr(judging, "TOGETHER", 50)
    monkeypatch.setattr(index.encoder, "name", "stand-in")
    index._sampled = None
    found = index.filter("a red thing", 0, progress=False)
    assert len({r.id for r in found}) == len(found) == COUNT


@pytest.mark.parametrize("least", [-0.1, 1.1, float("nan")])
def test_chances_out_of_range(clustered: Any, least: float) -> None:
    with pytest.raises(ValueError, match="between 0 and 1"):
        clustered[0].filter("red", least)


# ---- gathering


def results_of(folder: Path) -> list[Result]:
    paths = sorted(path for path in folder.rglob("*") if path.is_file())
    return [
        Result(i, path, 1.0, 9, 9, os.fsdecode(path.relative_to(folder)))
        for i, path in enumerate(paths, 1)
    ]


@pytest.fixture
def named(tmp_path: Path) -> Path:
    root = tmp_path / "named"
    for i, name in enumerate([b"a/x.jpg", b"b/x.jpg", b"caf\xe9\n.jpg"]):
        path = root / os.fsdecode(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"%d" % i)
    return root


@pytest.mark.parametrize("link", [False, True])
def test_photos_keep_their_places(named: Path, tmp_path: Path, link: bool) -> None:
    results, to = results_of(named), tmp_path / "deep" / "to"
    first = gather(results, to, link=link)
    assert (first.made, first.there, first.left_out) == (3, 0, [])
    for result in results:
        made = to / result.id
        assert made.read_bytes() == result.path.read_bytes()
        assert made.is_symlink() == link
    again = gather(results, to, link=link)
    assert (again.made, again.there, again.left_out) == (0, 3, [])
    assert len([path for path in to.rglob("*") if not path.is_dir()]) == 3


@pytest.mark.parametrize("link", [False, True])
def test_another_file_is_never_written_over(named: Path, tmp_path: Path, link: bool) -> None:
    to = tmp_path / "to"
    (to / "a").mkdir(parents=True)
    (to / "a" / "x.jpg").write_bytes(b"mine")
    (to / "b").mkdir()
    (to / "b" / "x.jpg").symlink_to("nowhere")
    gathered = gather(results_of(named), to, link=link)
    assert gathered.made == 1
    assert [Path(label).parent.name for label, _ in gathered.left_out] == ["a", "b"]
    assert (to / "a" / "x.jpg").read_bytes() == b"mine"
    assert (to / "b" / "x.jpg").readlink() == Path("nowhere")


def test_what_is_no_photo_is_left_out(named: Path, tmp_path: Path) -> None:
    (named / "a" / "x.jpg").unlink()
    gone = Result(1, named / "a" / "x.jpg", 1.0, 9, 9, "a/x.jpg")
    other = Result(2, Path("s3:/b/x"), 1.0, 0, 0, "s3://b/x", is_photo=False)
    gathered = gather([gone, other], tmp_path / "to", link=False)
    assert gathered.left_out == [
        (str(named / "a" / "x.jpg"), "there is no such file"),
        ("s3://b/x", "there is no such file"),
    ]


def test_a_place_that_cannot_be_made(named: Path, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(DataError, match="cannot be made"):
        gather(results_of(named), tmp_path / "file" / "to", link=False)
    (tmp_path / "to").mkdir()
    (tmp_path / "to" / "a").touch()
    with pytest.raises(DataError, match="to/a"):
        gather(results_of(named), tmp_path / "to", link=True)
