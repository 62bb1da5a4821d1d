"""The commands that measure, on drawn scenes: from pictures to a page of results."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from litotes import strategies
from litotes.cli import app
from litotes.cli.common import StrategyName
from litotes.cli.convert import Kind
from litotes.cli.evaluate import ClassSet, Templates
from litotes.data.retrieval_files import KINDS
from litotes.errors import DataError
from litotes.evaluation.classification import CIFAR, PROMPTS
from litotes.evaluation.sugarcrepe import SPLITS

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
    assert {record["strategy"] for record in written} == set(strategies.NAMES)
    assert all(record["model"] == "scenes" for record in written)


def test_affirmative_captions_are_answered_alike_by_every_strategy(records: Path) -> None:
    written = [json.loads(line) for line in records.open()]
    affirmative = [r for r in written if r["task"] == "retrieval"]
    assert len(affirmative) == len(strategies.NAMES)
    assert all(record["metrics"] == affirmative[0]["metrics"] for record in affirmative)
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
        (("eval", "scenes", "--strategy", "sterr"), "'sterr' is not one of 'plain'"),
        (("eval", "scenes", "--sweep", "--plot", "x.foo"), "must end in .svg or .png"),
        (("convert", folder, folder, "--kind", "koko"), "'koko' is not one of 'flickr'"),
        (("train", Path("recipes/scenes.toml"), "--run", folder, "--data", folder), "own data"),
    ):
        result = litotes(*arguments)
        assert result.exit_code == 2, arguments
        assert problem in " ".join(result.output.replace("│", " ").split()), result.output
    assert isinstance(litotes("compare", folder / "x", folder / "x").exception, DataError)
    assert isinstance(litotes("eval", f"exclusion={folder / 'x'}").exception, DataError)


def test_choices_of_the_command_line_are_those_of_the_library() -> None:
    assert list(StrategyName) == [*strategies.NAMES, "default"]
    assert set(Kind) == set(KINDS)
    assert set(ClassSet) == {"imagenet", *CIFAR}
    assert set(Templates) == set(PROMPTS)


def test_what_is_no_file_of_records_is_refused_before_anything_is_measured(
    litotes: Litotes, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "thesis.txt").write_text("four years of work\n")
    result = litotes(
        *("eval", "retrieval", "--data", folder, "--split", "test"),
        *("--out", tmp_path / "thesis.txt", "--model", tmp_path / "no-model"),
    )
    assert isinstance(result.exception, DataError)
    assert "is no record" in str(result.exception)


def test_dev_of_karpathys_files_is_their_val(litotes: Litotes, folder: Path) -> None:
    name = min(path.name for path in (folder / "images").iterdir())
    image = {"filename": name, "split": "val", "sentences": [{"raw": "a picture"}]}
    (folder / "dataset_coco.json").write_text(json.dumps({"images": [image]}))
    task = f"karpathy={folder / 'dataset_coco.json'}"
    result = litotes("eval", task, "--model", "scenes", "--strategy", "plain", "--json")
    assert result.exit_code == 0, result.output
    assert json.loads(result.stdout)[0]["split"] == "dataset_coco-val"


@pytest.mark.parametrize(
    "arguments",
    [
        ("scenes", ""),
        ("index", ""),
        ("search", "", "a dog"),
        ("compare", "", "b"),
        ("report", ""),
        ("report", "a", "--html", ""),
        ("convert", "a", "", "--kind", "coco"),
        ("make-benchmark", "captions.csv", ""),
        ("eval", "scenes", "--out", ""),
        ("eval", "retrieval", "--data", ""),
    ],
)
def test_an_empty_path_is_not_the_current_folder(litotes: Litotes, arguments: tuple[str]) -> None:
    result = litotes(*arguments)
    assert result.exit_code == 2
    assert "the path is empty" in result.output


@pytest.mark.parametrize("split", ["../dev", "a/b", "a\\b", "/tmp/dev", ""])
def test_a_split_is_a_name(litotes: Litotes, folder: Path, tmp_path: Path, split: str) -> None:
    result = litotes(
        *("make-benchmark", folder / "captions.csv", folder / "images"),
        *("--out", tmp_path / "out", "--split", split),
    )
    assert result.exit_code == 2
    assert "a split is a name" in result.output
    assert not (tmp_path / "out").exists()


def test_missing_pictures_are_known_before_a_model_is_loaded(
    litotes: Litotes, folder: Path, tmp_path: Path
) -> None:
    (tmp_path / "captions.csv").write_bytes((folder / "captions.csv").read_bytes())
    (tmp_path / "images").mkdir()
    names = sorted(path.name for path in (folder / "images").iterdir())
    for name in names[2:]:
        (tmp_path / "images" / name).symlink_to(folder / "images" / name)
    pairs = [{"filename": name, "caption": "a", "negative_caption": "b"} for name in names]
    for split in SPLITS:
        content = {str(i): pair for i, pair in enumerate(pairs)}
        (tmp_path / f"{split}.json").write_text(json.dumps(content))
    for task in ("retrieval", "sugarcrepe", f"negbench-retrieval={folder / 'negated.csv'}"):
        result = litotes(
            *("eval", task, "--data", tmp_path, "--images", tmp_path / "images"),
            *("--split", "test", "--model", tmp_path / "no-model"),
        )
        assert isinstance(result.exception, DataError), result.exception
        assert "2 of 60 pictures are missing; the first is" in str(result.exception)
        assert names[0] in str(result.exception)
