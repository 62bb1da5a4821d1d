"""Folders of drawn pictures: killed and damaged ones go on to what one run gives."""

import hashlib
import json
import resource
import signal
import subprocess
import sys
from collections import Counter
from dataclasses import asdict
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from litotes.data.concrete_pairs import ConcretePair, read_concrete_pairs
from litotes.errors import DataError
from litotes.mining.drawing import draw_pairs, picture_seed
from litotes.mining.planting import Dropped


class Noise:
    """Draws noise of the seed, and no ghosts. Its rounding depends on the batch, as a GPU's may."""

    def __init__(self, size=32):
        self.settings = {"model": "noise", "size": size}
        self.batches = []

    def __call__(self, captions, seeds):
        self.batches.append(list(captions))
        return [self._draw(*pair, len(captions)) for pair in zip(captions, seeds, strict=True)]

    def _draw(self, caption, seed, company):
        if "ghost" in caption:
            return Dropped("it is a ghost")
        noise = np.random.default_rng([seed, company, len(caption)])
        size = self.settings["size"]
        return Image.fromarray(noise.integers(0, 256, (size, size, 3), dtype=np.uint8))


def pair(i):
    thing = "ghost" if i % 5 == 2 else "cat"
    return ConcretePair(
        image=f"{i}.jpg",
        caption=f"a dog, number {i}",
        changed=f"a {thing}, number {i}",
        keyword="dog",
        replacement=thing,
        kind="object",
        way="replace",
        score=5.0,
        source="word",
    )


def write_pairs(file, count=11):
    file.write_text("".join(json.dumps(asdict(pair(i))) + "\n" for i in range(count)))
    return file


def content(folder):
    """All files but those a killed run may leave beside them, which are hidden."""
    files = (file for file in folder.rglob("[!.]*") if file.is_file())
    return {file.relative_to(folder).as_posix(): file.read_bytes() for file in files}


@pytest.fixture(scope="module")
def pairs(tmp_path_factory):
    return write_pairs(tmp_path_factory.mktemp("pairs") / "in.jsonl")


@pytest.fixture(scope="module")
def whole(pairs, tmp_path_factory):
    out = tmp_path_factory.mktemp("whole")
    draw_pairs(pairs, out, Noise(), batch_size=4)
    return content(out)


def test_every_changed_caption_has_its_picture(pairs, tmp_path):
    noise, told = Noise(), []
    drawn = draw_pairs(pairs, tmp_path / "a" / "out", noise, batch_size=4, on_drawn=told.append)
    assert drawn == (9, {"it is a ghost": [3, 8]})
    assert told == [4, 8, 11]
    assert [len(batch) for batch in noise.batches] == [4, 4, 3]
    out = tmp_path / "a" / "out"
    written = read_concrete_pairs(out / "pairs.jsonl")
    for i, made in enumerate(written):
        assert asdict(made) == {**asdict(pair(i)), "picture": made.picture}
        if i in (2, 7):
            assert not made.picture
            continue
        assert made.picture.startswith(f"pictures/{i + 1:06d}-")
        seed = int.from_bytes(hashlib.sha256(f"0 {i + 1}".encode()).digest()[:8], "big") // 2
        expected = noise._draw(made.changed, seed, 3 if i > 7 else 4)
        found = Image.open(out / made.picture)
        assert (found.format, found.size) == ("JPEG", (32, 32))
        # JPEG spares noise less than any other picture.
        assert (
            np.corrcoef(np.ravel(found.convert("L")), np.ravel(expected.convert("L")))[0, 1] > 0.9
        )
    log = json.loads((out / "draw.log.json").read_text())
    assert log["drawn"] == 9
    assert log["left_out"] == {"it is a ghost": [3, 8]}
    assert (log["seed"], log["renderer"]) == (0, {"model": "noise", "size": 32})


def test_seeds_differ(pairs, whole, tmp_path):
    seeds = Counter(picture_seed(seed, number) for seed in range(30) for number in range(1, 100))
    assert max(seeds.values()) == 1
    assert min(seeds) >= 0
    assert max(seeds) < 2**63
    draw_pairs(pairs, tmp_path, Noise(), seed=1, batch_size=4)
    other = content(tmp_path)
    assert len(other) == len(whole)
    assert {k for k in other if k in whole} == {"draw.log.json", "pairs.jsonl"}


def test_what_is_there_is_not_drawn_again(pairs, whole, tmp_path):
    draw_pairs(pairs, tmp_path, Noise(), batch_size=4)
    noise = Noise()
    assert draw_pairs(pairs, tmp_path, noise, batch_size=4) == (9, {"it is a ghost": [3, 8]})
    assert noise.batches == []
    assert content(tmp_path) == whole
    # Also from the file that names the pictures.
    draw_pairs(tmp_path / "pairs.jsonl", tmp_path, noise, batch_size=4)
    assert noise.batches == []
    assert (tmp_path / "pairs.jsonl").read_bytes() == whole["pairs.jsonl"]


@settings(max_examples=25)
@given(data=st.data())
def test_damaged_and_missing_files_are_made_anew(data, pairs, whole, tmp_path_factory):
    out = tmp_path_factory.mktemp("damaged")
    for name, made in whole.items():
        (out / name).parent.mkdir(exist_ok=True)
        kept = data.draw(st.sampled_from(["whole", "cut", "empty", "other", "none"]))
        is_picture = name.endswith(".jpg")
        if kept == "whole" or (kept != "none" and not is_picture):
            (out / name).write_bytes(made)
        elif kept != "none":
            share = data.draw(st.floats(0, 0.95))
            wrong = {"cut": made[: int(share * len(made))], "empty": b"", "other": b"<html>"}
            (out / name).write_bytes(wrong[kept])
    noise = Noise()
    draw_pairs(pairs, out, noise, batch_size=4)
    assert content(out) == whole
    assert len(noise.batches) <= 3


def test_pictures_of_other_settings_or_captions_are_not_taken_for_these(pairs, tmp_path):
    draw_pairs(pairs, tmp_path, Noise(), batch_size=4)
    before = content(tmp_path)
    draw_pairs(pairs, tmp_path, Noise(size=48), batch_size=4)
    found = read_concrete_pairs(tmp_path / "pairs.jsonl")
    assert {Image.open(tmp_path / p.picture).size for p in found if p.picture} == {(48, 48)}
    lines = pairs.read_text().replace("number 5", "number five")
    (changed := tmp_path / "in.jsonl").write_text(lines)
    noise = Noise()
    draw_pairs(changed, tmp_path, noise, batch_size=4)
    assert [len(batch) for batch in noise.batches] == [4]
    assert {k: v for k, v in content(tmp_path).items() if k in before and "pict" in k} == {
        k: v for k, v in before.items() if "pict" in k
    }


# Kills itself after the bytes of a file are written and before it has its place.
KILLED = """
import os, runpy, signal, sys
from pathlib import Path
from litotes.mining.drawing import draw_pairs
Noise = runpy.run_path(sys.argv[1])["Noise"]
left, fsync = int(sys.argv[4]), os.fsync
def sync(file):
    global left
    left -= 1
    if left == 0:
        os.kill(os.getpid(), signal.SIGKILL)
    fsync(file)
os.fsync = sync
draw_pairs(Path(sys.argv[2]), Path(sys.argv[3]), Noise(), batch_size=4)
"""


@pytest.mark.parametrize("writes", [6, 13])
def test_a_killed_run_goes_on_to_the_same_files(pairs, whole, tmp_path, writes):
    command = [sys.executable, "-c", KILLED, __file__, pairs, tmp_path, str(writes)]
    killed = subprocess.run(command, check=False, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    left = content(tmp_path)
    assert len(left) == writes - 1
    assert left.items() < whole.items()
    draw_pairs(pairs, tmp_path, Noise(), batch_size=4)
    assert content(tmp_path) == whole


def test_where_a_file_cannot_be_written_whole_there_is_none(pairs, whole, tmp_path):
    largest = max(len(made) for made in whole.values())
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (largest - 1, limits[1]))
    try:
        with pytest.raises(OSError, match="large"):
            draw_pairs(pairs, tmp_path, Noise(), batch_size=4)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
    assert content(tmp_path).items() < whole.items()
    assert not list(tmp_path.rglob(".*"))
    draw_pairs(pairs, tmp_path, Noise(), batch_size=4)
    assert content(tmp_path) == whole


def test_wrong_files_and_folders_are_named(pairs, tmp_path):
    with pytest.raises(DataError, match="none"):
        draw_pairs(tmp_path / "none.jsonl", tmp_path / "out", Noise())
    assert not (tmp_path / "out").exists()
    (tmp_path / "file").write_text("")
    for out in (tmp_path / "file", tmp_path / "file" / "out"):
        with pytest.raises(DataError, match="file"):
            draw_pairs(pairs, out, Noise())


def test_links_of_pictures_are_relative_to_the_file(pairs, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    draw_pairs(pairs, Path("out"), Noise())
    for made in read_concrete_pairs(Path("out/pairs.jsonl")):
        assert not made.picture or (tmp_path / "out" / made.picture).is_file()
