"""Retrieval: ranks against a plain count, and the record."""

from importlib.metadata import version
from pathlib import Path

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image
from torch.nn.functional import normalize

from litotes.backbones import vectors
from litotes.data.captions import read_captions
from litotes.errors import DataError
from litotes.evaluation import retrieval
from litotes.evaluation.retrieval import RetrievalTask, retrieval_ranks


@settings(max_examples=60)
@given(st.integers(0, 10_000), st.integers(2, 6), st.integers(1, 4), st.integers(1, 5))
def test_ranks_are_those_of_a_plain_count(seed, images, captions, chunk):
    generator = torch.Generator().manual_seed(seed)
    owner = torch.arange(images).repeat(captions)
    texts = normalize(torch.randn(len(owner), 4, generator=generator), dim=1)
    pictures = normalize(torch.randn(images, 4, generator=generator), dim=1)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(retrieval, "CHUNK", chunk)
        to_image, to_text = retrieval_ranks(texts, pictures, owner, [""] * len(owner))
    scores = texts @ pictures.T
    for i, rank in enumerate(to_image):
        assert rank == sum(s > scores[i, owner[i]] for s in scores[i])
    for j, rank in enumerate(to_text):
        best = scores[owner == j, j].max()
        assert rank == sum(s > best for s in scores[owner != j, j])


def test_a_tie_is_not_a_hit():
    same = normalize(torch.ones(3, 4), dim=1)
    to_image, to_text = retrieval_ranks(same, same, torch.arange(3), ["a", "b", "c"])
    assert to_image.tolist() == [2, 2, 2]
    assert to_text.tolist() == [2, 2, 2]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.setenv("LITOTES_CACHE", str(tmp_path / "cache"))
    (tmp_path / "images").mkdir()
    lines = ["image,split,caption"]
    for i, colour in enumerate(("red", "green", "blue", "white")):
        Image.new("RGB", (40, 30), colour).save(tmp_path / "images" / f"{i}.png")
        lines += [f"{i}.png,dev,a {colour} card", f'{i}.png,dev,"{colour}, all over"']
    (tmp_path / "captions.csv").write_text("\n".join(lines) + "\n")
    return tmp_path


def test_a_record_says_all_that_is_needed(folder, tiny_encoder):
    record = RetrievalTask.read(folder, "dev").run(tiny_encoder)[0]
    assert set(record.metrics) == {
        *(f"{way} R@{k}" for way in ("text→image", "image→text") for k in (1, 5, 10)),
        "rSum",
    }
    assert record.metrics["text→image R@10"].value == 1
    recalls = [m.value for name, m in record.metrics.items() if name != "rSum"]
    assert record.metrics["rSum"].value == pytest.approx(100 * sum(recalls))
    assert record.image_fingerprint == tiny_encoder.image_fingerprint
    assert record.versions["torch"] == version("torch")


def test_vectors_are_computed_once(folder, tiny_encoder, monkeypatch):
    paths = sorted((folder / "images").iterdir())
    first = vectors.image_vectors(tiny_encoder, paths)
    monkeypatch.setattr(type(tiny_encoder), "encode_images", None)
    assert torch.equal(vectors.image_vectors(tiny_encoder, paths), first)


def test_missing_pictures_are_those_that_are_no_files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a" / "b.jpg").mkdir(parents=True)
    names = ["1.jpg", "a/2.jpg", "a/3.jpg"]
    for name in names:
        (tmp_path / name).touch()
    (tmp_path / "a" / "link.jpg").symlink_to("2.jpg")
    (tmp_path / "a" / "broken.jpg").symlink_to("gone.jpg")
    there = [*map(Path, names), Path("a/link.jpg"), Path("a/../1.jpg"), tmp_path / "1.jpg"]
    vectors.require_pictures(there)
    missing = [Path(n) for n in ("a/b.jpg", "a/broken.jpg", "gone/4.jpg", "5.jpg", "5.jpg")]
    with pytest.raises(DataError, match=r"^4 of 10 pictures are missing; the first is a/b\.jpg$"):
        vectors.require_pictures([*there, *missing])


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("image,caption\na.jpg,x\n", "line 1: the column 'split' is missing"),
        ("image,split,caption\na.jpg,dev\n", "line 2"),
        ("image,split,caption\na.jpg,dev,x\nb.jpg,dev,y,z\n", "line 3"),
        ("image,split,caption\na.jpg,train,x\n", "no split 'dev': it has train"),
        ("image,split,caption\na.jpg,dev,\xff\n", "UTF-8"),
    ],
)
def test_a_malformed_file_says_where(tmp_path, content, problem):
    (tmp_path / "captions.csv").write_bytes(content.encode("latin-1"))
    with pytest.raises(DataError, match=problem):
        read_captions(tmp_path, "dev")
