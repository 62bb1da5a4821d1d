"""The commands that measure, on drawn scenes: from pictures to a page of results."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from litotes.cli import app
from litotes.errors import DataError

Litotes = Callable[..., Result]


@pytest.fixture(scope="module")
def litotes() -> Litotes:
    def run(*arguments: Any) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return run


@pytest.fixture(scope="module")
def folder(litotes: Litotes, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("scenes")
    result = litotes("scenes", folder, "-n", 60, "--split", "test")
    assert result.exit_code == 0, result.output
    assert result.stdout == f"wrote 60 scenes to {folder}\n"
    return folder


@pytest.fixture(scope="module")
def records(litotes: Litotes, folder: Path) -> Path:
    file = folder / "records.jsonl"
    result = litotes(
        *("eval", "retrieval", f"negbench-retrieval={folder / 'negated.csv'}"),
        *("--data", folder, "--images", folder / "images", "--split", "test"),
        *("--model", "scenes", "--out", file),
    )
    assert result.exit_code == 0, result.output
    return file


@pytest.fixture(scope="module", autouse=True)
def negated(folder: Path) -> None:
    """A file in NegBench's form."""
    names = sorted(path.name for path in (folder / "images").iterdir())
    lines = [f"images/{name},\"['a picture, no zebra {i}']\"" for i, name in enumerate(names)]
    (folder / "negated.csv").write_text("\n".join(["filepath,captions", *lines]) + "\n")


def test_several_tasks_at_once_write_one_file(records: Path) -> None:
    written = [json.loads(line) for line in records.open()]
    assert {record["task"] for record in written} == {"retrieval", "negbench-retrieval"}
    assert {record["strategy"] for record in written} == {"plain", "steer", "subtract"}
    assert all(record["model"] == "scenes" for record in written)


def test_affirmative_captions_are_answered_alike_by_every_strategy(records: Path) -> None:
    written = [json.loads(line) for line in records.open()]
    affirmative = [r for r in written if r["task"] == "retrieval"]
    assert len(affirmative) == 3
    assert affirmative[0]["metrics"]["text→image R@10"]["value"] > 0.8


def test_records_are_compared_and_reported(litotes: Litotes, records: Path) -> None:
    result = litotes("compare", records, records, "--strategy", "plain:subtract", "--json")
    assert result.exit_code == 0, result.output
    tasks = {found["task"] for found in json.loads(result.stdout)}
    assert tasks == {"retrieval", "negbench-retrieval"}
    page, text = records.with_suffix(".html"), records.with_suffix(".md")
    result = litotes("report", records, "--html", page, "--md", text)
    assert result.exit_code == 0, result.output
    assert page.read_text().startswith("<!DOCTYPE html>")
    assert "negbench-retrieval" in text.read_text()


def test_captions_are_converted(litotes: Litotes, folder: Path, tmp_path: Path) -> None:
    source = folder / "negated.csv"
    arguments = ("convert", source, tmp_path / "out", "--kind", "negbench")
    result = litotes(*arguments, "--images", folder / "images", "--split", "test")
    assert result.exit_code == 0, result.output
    assert result.stdout == "wrote 60 captions of 60 pictures (test 60)\n"
    result = litotes("eval", "retrieval", "--data", tmp_path / "out", "--split", "test", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)[0]["task"] == "retrieval"


def test_wrong_usage_says_what_would_be_right(litotes: Litotes, folder: Path) -> None:
    for arguments, problem in (
        (("eval", "retrievel"), "there is no task 'retrievel'"),
        (("eval", "exclusion"), "needs data"),
        (("eval", "simpleneg", "--data", folder), "needs a judge"),
        (("eval", "scenes", "--plot", "x.svg"), "--sweep"),
        (("eval", "scenes", "--split", "validation"), "no split 'validation'"),
        (("eval", "scenes", "--judge-url", "http://localhost"), "--judge MODEL"),
        (("train", Path("recipes/scenes.toml"), "--run", folder, "--data", folder), "own data"),
    ):
        result = litotes(*arguments)
        assert result.exit_code == 2, arguments
        assert problem in " ".join(result.output.replace("│", " ").split()), result.output
    assert isinstance(litotes("compare", folder / "x", folder / "x").exception, DataError)
