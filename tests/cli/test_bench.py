"""`litotes bench` and `litotes tune` on drawn scenes, in the folders that they expect."""

import csv
import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from litotes.cli import app
from litotes.evaluation.record import read_records

Litotes = Callable[..., Result]


@pytest.fixture(scope="module")
def litotes() -> Litotes:
    def run(*arguments: Any) -> Result:
        result = CliRunner().invoke(app, [str(argument) for argument in arguments])
        assert result.exit_code == 0, (result.output, result.exception)
        return result

    return run


@pytest.fixture(scope="module")
def data(litotes: Litotes, tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("data")
    flickr = data / "flickr8k"
    litotes("scenes", flickr, "-n", 150, "--split", "dev")
    names = sorted(path.name for path in (flickr / "images").iterdir())
    pair = {
        "shown": "a dog",
        "excluded": "a cat",
        "queries": ["a dog, no cat", "a dog without a cat"],
        "right": names[:20],
        "violating": names[20:40],
        "not_shown": names[40:],
    }
    (flickr / "exclusion_dev.json").write_text(json.dumps([pair]))
    with (flickr / "mcq_dev.csv").open("w", newline="") as file:
        options = [f"caption_{n}" for n in range(4)]
        table = csv.writer(file)
        table.writerow(["image_path", "correct_answer", *options, "correct_answer_template"])
        for name, kind in zip(names, ("positive", "negative", "hybrid") * 5, strict=False):
            said = ["There is a dog.", "There is no dog.", "There is a cat.", "A cat, but no dog."]
            table.writerow([f"images/{name}", 0, *said, kind])
    lines = [f"images/{name},\"['a dog, no cat {n}']\"" for n, name in enumerate(names)]
    text = "\n".join(["filepath,captions", *lines]) + "\n"
    (flickr / "negated_retrieval_dev.csv").write_text(text)
    for label in ("cat", "dog"):
        (data / "cifar10" / label).mkdir(parents=True)
        for name in names[:12]:
            shutil.copy(flickr / "images" / name, data / "cifar10" / label / name)
    return data


def test_a_suite_is_measured_once_and_shown(litotes: Litotes, data: Path, tmp_path: Path) -> None:
    out, page, text = tmp_path / "r.jsonl", tmp_path / "page.html", tmp_path / "board.md"
    text.write_text("<!-- negation-scenes-dev -->\n<!-- /negation-scenes-dev -->\n")
    asked = ("bench", "--data", data, "--model", "scenes", "--out", out)
    two = ("--strategy", "plain", "--strategy", "calibrated")
    first = litotes(*asked, *two, "--html", page, "--into", text)
    records = read_records(out)
    tasks = {"exclusion", "multiple choice", "negbench-retrieval", "retrieval", "latency"}
    assert {r.task for r in records} == tasks | {"not-class", "kind-not-class"}
    assert len(records) == 2 * 7
    table = first.stdout.strip().splitlines()
    assert [line.split("|")[2].strip() for line in table[2:]] == ["plain", "calibrated"]
    assert "\n".join(table) in text.read_text()
    shown = page.read_text()
    assert "a dog, no cat" in shown
    assert shown.count('class="wrong"') + shown.count('class="right"') > 0
    written = out.stat().st_mtime_ns
    again = litotes(*asked, *two)
    assert again.stdout.strip().splitlines() == table
    assert out.stat().st_mtime_ns == written
    more = litotes(*asked, *two, "--strategy", "subtract")
    assert len(read_records(out)) == 3 * 7
    assert "subtract" in more.stdout


def test_adapters_added_up_are_steered_by_a_direction_of_their_own(
    litotes: Litotes, data: Path, tmp_path: Path
) -> None:
    both, file, out = "hanclip+slipform", tmp_path / "both.safetensors", tmp_path / "r.jsonl"
    of_both = ("--model", "scenes", "--adapter", both)
    pairs = data / "flickr8k" / "negation_pairs.json"
    litotes("direction", "fit", "--pairs", pairs, "--out", file, *of_both)
    asked = ("bench", "--data", data, *of_both, "--strategy", "steer", "--out", out)
    result = litotes(*asked, "--direction", file)
    models = {record.model for record in read_records(out)}
    assert models == {"scenes", "scenes + hanclip + slipform"}
    assert not result.stderr
    unused = litotes(*asked[:3], "--model", "scenes", *asked[-4:], "--direction", file)
    assert "is of none of these models" in unused.stderr


def test_settings_are_tuned_and_used(litotes: Litotes, data: Path, tmp_path: Path) -> None:
    tuned, captions = tmp_path / "tuned", tmp_path / "captions.csv"
    things = ("dog", "cat", "horse", "boat", "tree")
    sets = [(a,) for a in things] + [(a, b) for a in things for b in things if a < b]
    names = sorted(path.name for path in (data / "flickr8k" / "images").iterdir())
    with captions.open("w", newline="") as file:
        table = csv.writer(file)
        table.writerow(["image", "split", "caption"])
        for number, name in enumerate(names):
            said = " and ".join(f"a red {thing}" for thing in sets[number % len(sets)])
            for caption in (f"There is {said}.", f"A photo shows {said}."):
                table.writerow([name, "dev", caption])
    pictures = data / "flickr8k" / "images"
    asked = ("tune", "--captions", captions, "--images", pictures, "--split", "dev")
    asked += ("--model", "scenes")
    result = litotes(*asked, "--out", tuned, "--json")
    chosen = json.loads(result.stdout)
    assert chosen["best"] in chosen["reached"]
    assert chosen["reached"][chosen["best"]] == max(chosen["reached"].values())
    assert (tuned / "tuned.json").is_file()
    assert (tuned / "direction.safetensors").is_file()
    litotes("index", pictures, "--model", "scenes", "--index", tmp_path / "index")
    search = ("search", pictures, "a dog, no cat", "--index", tmp_path / "index", "--json")
    found = json.loads(litotes(*search, "--tuned", tuned).stdout)
    assert found["strategy"] == chosen["best"]
    named = json.loads(litotes(*search, "--tuned", tuned, "--strategy", "subtract").stdout)
    assert named["strategy"] == "subtract"
