"""``litotes draw``, with a tiny random pipeline saved as real ones are."""

import json
import runpy
from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner

from litotes.cli import app
from litotes.data.concrete_pairs import read_concrete_pairs
from litotes.errors import DataError, LitotesError

MINING = Path(__file__).parents[1] / "mining"
TINY = runpy.run_path(str(MINING / "tiny_pipeline.py"))
PAIRS = runpy.run_path(str(MINING / "test_drawing.py"))


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    return TINY["save_tiny_sdxl"](tmp_path_factory.mktemp("sdxl"))


@pytest.fixture
def pairs(tmp_path):
    file = PAIRS["write_pairs"](tmp_path / "in.jsonl", 5)
    file.write_text(file.read_text().replace("a ghost", "a naked ghost"))
    return file


def draw(*arguments):
    return CliRunner().invoke(app, ["draw", *map(str, arguments)])


def test_draw(model, pairs, tmp_path):
    options = ("--model", model, "--size", 64, "--batch-size", 2, "--device", "cpu")
    out = tmp_path / "out"
    result = draw(pairs, out, *options, "--safety-checker", "none")
    assert result.exit_code == 0, result.output
    assert result.stdout.splitlines() == [
        f"drew 4 pictures in {out}",
        "left out 1: caption has an unsafe word",
    ]
    assert not result.stderr
    written = read_concrete_pairs(out / "pairs.jsonl")
    assert [bool(pair.picture) for pair in written] == [True, True, False, True, True]
    assert {Image.open(out / p.picture).size for p in written if p.picture} == {(64, 64)}
    log = json.loads((out / "draw.log.json").read_text())
    assert log["left_out"] == {"caption has an unsafe word": [3]}
    assert log["renderer"]["model"] == str(model)
    assert (log["renderer"]["steps"], log["renderer"]["safety_checker"]) == (1, None)

    checker = TINY["save_tiny_checker"](tmp_path / "checker", -1.0)
    flagged = tmp_path / "flagged"
    result = draw(pairs, flagged, *options, "--safety-checker", checker)
    assert result.stdout.splitlines() == [
        f"drew 0 pictures in {flagged}",
        "left out 4: picture was flagged by the safety checker",
        "left out 1: caption has an unsafe word",
    ]
    assert not list(flagged.rglob("*.jpg"))


def test_what_is_wrong_is_said(model, pairs, tmp_path):
    out = tmp_path / "out"
    # Before any model is looked for.
    result = draw(tmp_path / "none.jsonl", out, "--model", "no/such")
    assert isinstance(result.exception, DataError)
    result = draw(pairs, out, "--model", model, "--size", 65)
    assert isinstance(result.exception, LitotesError)
    assert "multiple of 8" in str(result.exception)
    assert draw(pairs, "", "--model", model).exit_code == 2
    assert draw(pairs, out, "--steps", 0).exit_code == 2
    assert not out.exists()
