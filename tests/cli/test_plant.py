"""``litotes plant``: what it writes, going on after it was stopped, and what it refuses."""

import json
import signal
import subprocess
import sys
import time
from collections import Counter

import pytest
from typer.testing import CliRunner

from litotes.cli import app
from litotes.data.concrete_pairs import read_concrete_pairs
from litotes.errors import DataError
from litotes.language import has_negation
from litotes.mining import plant as planting

NOUNS = ("dog", "cat", "boy", "girl", "horse", "woman")
COLOURS = ("brown", "white", "black", "yellow", "grey")
WHERE = ("under", "behind", "beside", "on")
PLACES = ("bench", "car", "tree", "table", "wall", "fence", "house")


@pytest.fixture
def captions(tmp_path):
    rows = ["image,split,caption", "x.jpg,dev,A man on a bike ."]
    for i in range(120):
        a, b, place = NOUNS[i % 6], NOUNS[(i // 6 + 1) % 6], PLACES[i % 7]
        colour, where = COLOURS[i % 5], WHERE[i // 6 % 4]
        rows += [
            f"{i}.jpg,train,A {colour} {a} is sitting {where} a {place} and a {b} .",
            f"{i}.jpg,train,{'There is no' if i % 10 == 0 else 'The'} {a} standing by a {place} .",
        ]
    file = tmp_path / "captions.csv"
    file.write_text("\n".join(rows) + "\n")
    return file


def litotes(*arguments):
    return CliRunner().invoke(app, ["plant", *map(str, arguments)])


def test_pairs_and_a_log_of_what_was_dropped(captions, tmp_path):
    out = tmp_path / "out.jsonl"
    result = litotes(captions, out, "--seed", 3)
    assert result.exit_code == 0, result.output
    pairs = read_concrete_pairs(out)
    assert len({(pair.image, pair.caption) for pair in pairs}) == len(pairs) > 100
    assert not any(has_negation(pair.caption) or "man" in pair.caption.split() for pair in pairs)
    assert all(pair.changed != pair.caption for pair in pairs)
    log = json.loads((tmp_path / "out.log.json").read_text())
    assert log["captions"] == 240
    assert log["made"] == len(pairs)
    assert log["made"] + sum(log["dropped"].values()) == 240
    assert log["dropped"]["a negation"] == 12
    assert Counter(one["reason"] for one in log["left_out"]) == log["dropped"]
    left_out = {(one["image"], one["caption"]) for one in log["left_out"]}
    assert left_out.isdisjoint((pair.image, pair.caption) for pair in pairs)
    assert all(
        ("no" in one["caption"].split()) == (one["reason"] == "a negation")
        for one in log["left_out"]
    )
    assert log["kinds"] == Counter(pair.kind for pair in pairs)
    assert log["ways"] == Counter(pair.way for pair in pairs)
    assert log["settings"]["seed"] == 3
    assert log["settings"]["choice"] == "hc"
    dropped = sum(log["dropped"].values())
    assert f"wrote {len(pairs)} changed captions" in result.output
    assert f"{dropped} captions were left out" in result.output
    again = litotes(captions, out)
    assert isinstance(again.exception, DataError)
    assert "exists" in str(again.exception)


def test_options(captions, tmp_path):
    out = tmp_path / "out.jsonl"
    options = ("--kind", "attribute", "--kind", "relation", "--choice", "lc", "--score", "visual")
    result = litotes(captions, out, "-n", 30, *options)
    assert result.exit_code == 0, result.output
    pairs = read_concrete_pairs(out)
    assert len(pairs) == 30
    assert {pair.kind for pair in pairs} <= {"attribute", "relation"}
    settings = json.loads((tmp_path / "out.log.json").read_text())["settings"]
    assert settings["kinds"] == ["attribute", "relation"]
    assert (settings["choice"], settings["measure"]) == ("lc", "visual")


class StoppedError(Exception):
    """Stands in for whatever ends a run."""


@pytest.mark.parametrize("after", [1, 60, 120])
def test_a_stopped_run_goes_on_to_the_same_file_and_log(captions, tmp_path, monkeypatch, after):
    whole, out = tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
    assert litotes(captions, whole, "-n", 150).exit_code == 0
    plant = planting.plant

    def stopping(*arguments, **options):
        for i, planted in enumerate(plant(*arguments, **options)):
            if i == after:
                raise StoppedError
            yield planted

    with monkeypatch.context() as patch:
        patch.setattr(planting, "plant", stopping)
        stopped = litotes(captions, out, "-n", 150)
    assert isinstance(stopped.exception, StoppedError)
    assert not out.exists()
    assert not (tmp_path / "out.log.json").exists()
    result = litotes(captions, out, "-n", 150)
    assert result.exit_code == 0, result.output
    assert out.read_bytes() == whole.read_bytes()
    logs = [(tmp_path / f"{name}.log.json").read_text() for name in ("whole", "out")]
    assert logs[0] == logs[1]
    assert not (tmp_path / "out.jsonl.part").exists()


def test_a_killed_command_with_processes_goes_on_to_the_same_file(captions, tmp_path):
    whole, out = tmp_path / "whole.jsonl", tmp_path / "out.jsonl"
    assert litotes(captions, whole).exit_code == 0
    command = [sys.executable, "-m", "litotes", "plant", captions, out, "--processes", "2"]
    part = tmp_path / "out.jsonl.part"
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    deadline = time.monotonic() + 300
    while not part.exists() and process.poll() is None and time.monotonic() < deadline:
        time.sleep(0.01)
    process.send_signal(signal.SIGKILL)
    process.communicate()
    assert not out.exists()
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert out.read_bytes() == whole.read_bytes()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--rewriter", "llm"), "go together"),
        (("--llm", "x"), "go together"),
        (("--llm-url", "http://localhost:1"), "--rewriter llm"),
        (("--rewriter", "llm", "--llm", "x", "--processes", "2"), "--rewriter rule"),
        (("--kind", "colour"), "colour"),
        (("--choice", "high"), "high"),
        (("--processes", "0"), "equal to 1"),
        (("--wordnet", "nowhere"), "nowhere"),
    ],
)
def test_wrong_usage(captions, tmp_path, options, said):
    result = litotes(captions, tmp_path / "out.jsonl", *options)
    assert result.exit_code == 2, result.output
    assert said in result.output
    assert not list(tmp_path.glob("out*"))


def test_errors_say_what_is_wrong(captions, tmp_path):
    out = tmp_path / "out.jsonl"
    for arguments, said in (
        ((captions, out, "--split", "test"), "no split 'test'"),
        ((captions, out, "--wordnet", tmp_path), "WordNet"),
    ):
        result = litotes(*arguments)
        assert isinstance(result.exception, DataError), result.output
        assert said in str(result.exception)
    (tmp_path / "out.jsonl.part").write_text('{"seed": 1}\n')
    result = litotes(captions, out)
    assert "was begun with other settings" in str(result.exception)
    assert not out.exists()


def test_a_caption_too_long_for_one_is_left_out(captions, tmp_path):
    with captions.open("a") as file:
        file.write("long.jpg,train," + "A dog runs on the grass near a cat . " * 3000 + "\n")
    out = tmp_path / "out.jsonl"
    result = litotes(captions, out)
    assert result.exit_code == 0, result.output
    assert "long.jpg" not in {pair.image for pair in read_concrete_pairs(out)}


def test_where_no_file_can_be_written(captions, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for out, said in (
        (tmp_path, "is a folder"),
        (".", "is a folder"),
        (tmp_path / "no" / "out.jsonl", "there is no folder"),
    ):
        result = litotes(captions, out)
        assert result.exit_code == 2
        # The box around it breaks lines.
        assert said in " ".join(result.output.replace("│", " ").split())
