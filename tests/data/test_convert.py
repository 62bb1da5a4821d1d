"""Conversion: what is written is read again as it was, and nothing of the user's is lost."""

import json
import os

import pytest

from litotes.data.captions import read_captions
from litotes.data.convert import convert
from litotes.data.retrieval_files import read_pictures
from litotes.errors import DataError

CAPTIONS = ['A "dog", no cat', "two\nlines", "a\rb", "tab\tand #1", "ünïcödé 猫", "='1'"]


@pytest.fixture
def source(tmp_path):
    """Karpathy's form, with captions that CSV must quote."""
    images = [
        {"filename": f"{split}.jpg", "split": split, "sentences": [{"raw": c} for c in captions]}
        for split, captions in {"train": CAPTIONS, "restval": ["A cow"], "test": ["A cat"]}.items()
    ]
    (tmp_path / "dataset.json").write_text(json.dumps({"images": images}))
    (tmp_path / "photos").mkdir()
    for split in ("train", "restval", "test"):
        (tmp_path / "photos" / f"{split}.jpg").touch()
    return tmp_path / "dataset.json"


def test_what_was_written_is_read_again(source, tmp_path):
    out = tmp_path / "new" / "out"
    done = convert(source, "karpathy", tmp_path / "photos", out)
    assert done == (3, 8, {"train": 2, "test": 1}, ())
    assert read_captions(out, "train") == {"train.jpg": CAPTIONS, "restval.jpg": ["A cow"]}
    assert read_captions(out, "test") == {"test.jpg": ["A cat"]}
    assert (out / "images" / "test.jpg").is_file()
    assert sorted(path.name for path in out.iterdir()) == ["captions.csv", "images"]


def test_one_split_alone(source, tmp_path):
    done = convert(source, "karpathy", tmp_path / "photos", tmp_path / "out", "test")
    assert (done.pictures, done.splits) == (1, {"test": 1})


def test_flickr8k_speaks_of_a_picture_nobody_has(tmp_path):
    (tmp_path / "Flickr8k.token.txt").write_text("1.jpg#0\tA dog\n2.jpg.1#0\tA cat\n")
    (tmp_path / "1.jpg").touch()
    done = convert(tmp_path / "Flickr8k.token.txt", "flickr", None, tmp_path / "out", "all")
    assert done == (1, 1, {"all": 1}, (tmp_path / "2.jpg.1",))
    assert read_captions(tmp_path / "out", "all") == {"1.jpg": ["A dog"]}


def test_a_folder_of_pictures_becomes_a_set_in_its_place(tmp_path):
    images = tmp_path / "images"
    (images / "s").mkdir(parents=True)
    (images / "s" / "1.jpg").touch()
    (images / "s" / "1.txt").write_text("A dog\nDogs\n")
    with pytest.raises(DataError, match="has no splits: say which"):
        convert(images, "folder", None, tmp_path)
    convert(images, "folder", None, tmp_path, "test")
    assert read_captions(tmp_path, "test") == {"s/1.jpg": ["A dog", "Dogs"]}
    assert not images.is_symlink()


def test_the_real_captions_come_back(shared_data, tmp_path):
    real = shared_data / "flickr8k"
    captions = read_captions(real, "dev")
    lines = [f"{name}#{i}\t{c}\n" for name, texts in captions.items() for i, c in enumerate(texts)]
    (tmp_path / "Flickr8k.token.txt").write_text("".join(lines), encoding="utf-8")
    done = convert(
        tmp_path / "Flickr8k.token.txt", "flickr", real / "images", tmp_path / "out", "dev"
    )
    assert (done.pictures, done.captions, done.missing) == (1000, 5000, ())
    assert read_captions(tmp_path / "out", "dev") == captions


def test_again_is_the_same_and_other_files_are_kept(source, tmp_path):
    out = tmp_path / "out"
    convert(source, "karpathy", tmp_path / "photos", out)
    convert(source, "karpathy", tmp_path / "photos", out)
    before = (out / "captions.csv").read_bytes()
    with pytest.raises(DataError, match="holds other captions"):
        convert(source, "karpathy", tmp_path / "photos", out, "test")
    assert (out / "captions.csv").read_bytes() == before


@pytest.mark.parametrize("make", [lambda p: p.mkdir(), lambda p: p.symlink_to("nowhere")])
def test_other_pictures_are_kept(source, tmp_path, make):
    (tmp_path / "out").mkdir()
    make(tmp_path / "out" / "images")
    with pytest.raises(DataError, match=r"images is not .*photos"):
        convert(source, "karpathy", tmp_path / "photos", tmp_path / "out")
    assert not (tmp_path / "out" / "captions.csv").exists()


def test_without_any_picture_nothing_is_written(source, tmp_path):
    with pytest.raises(DataError, match=r"none of 3 pictures is there; the first is .*train\.jpg"):
        convert(source, "karpathy", tmp_path, tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_a_folder_that_cannot_be_made_is_an_error(source, tmp_path):
    (tmp_path / "out").touch()
    with pytest.raises(DataError, match=r"cannot write to .*out"):
        convert(source, "karpathy", tmp_path / "photos", tmp_path / "out")


def test_a_name_that_is_not_utf8_is_refused(tmp_path):
    name = os.fsdecode(b"caf\xe9")
    (tmp_path / f"{name}.jpg").touch()
    (tmp_path / f"{name}.txt").write_text("A café")
    assert len(read_pictures("folder", tmp_path)) == 1
    with pytest.raises(DataError, match="cannot be written in UTF-8"):
        convert(tmp_path, "folder", None, tmp_path / "out", "test")
