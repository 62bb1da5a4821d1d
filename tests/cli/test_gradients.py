"""``litotes gradients``, on few drawn scenes and on a file of pairs."""

import json

import pytest
from PIL import Image
from typer.testing import CliRunner

from litotes.cli import app
from litotes.data.concrete_pairs import ConcretePair
from litotes.data.json_lines import as_lines


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LITOTES_CACHE", str(tmp_path / "cache"))


def gradients(*arguments):
    return CliRunner().invoke(app, ["gradients", "--draws", "2", *map(str, arguments)])


def test_drawn_scenes_as_table_plot_and_document(tmp_path):
    page = tmp_path / "page.md"
    page.write_text("# Page\n<!-- gradients-scenes -->\n<!-- /gradients-scenes -->\n")
    options = ("-n", 20, "--sizes", "16,4", "--device", "cpu")
    plots = [tmp_path / name for name in ("a.svg", "b.svg")]
    result = gradients(*options, "--into", page, "--plot", plots[0])
    assert result.exit_code == 0, result.output
    assert "InfoNCE, images" in result.stdout
    lines = page.read_text().splitlines()
    assert [line.split(" | ")[0] for line in lines[2:6]] == ["| N", "| ---:", "| 4", "| 16"]
    result = gradients(*options, "--json", "--plot", plots[1])
    document = json.loads(result.stdout)
    assert document["pictures"] == 20
    # What the model learned, and not a constant.
    assert document["temperature"] == pytest.approx(0.0248, abs=1e-3)
    shares = document["shares"]
    assert len(shares) == 2 * 2 * 2
    for share in shares:
        assert share["hard"]["value"] + share["easy"] == pytest.approx(1)
    assert plots[0].read_bytes() == plots[1].read_bytes()


def test_a_file_of_pairs_beside_its_photographs(tmp_path):
    (tmp_path / "images").mkdir()
    for n in range(5):
        Image.new("RGB", (96, 96), (50 * n, 90, 0)).save(tmp_path / "images" / f"{n}.png")
    pairs = [
        ConcretePair(
            f"{n}.png", f"{n} dogs", f"{n} cats", "dogs", "cats", "object", "replace", 4.9, "word"
        )
        for n in range(5)
    ]
    file = tmp_path / "pairs.jsonl"
    file.write_text(as_lines(pairs))
    options = ("--model", "scenes", "--device", "cpu", "--json", "--temperature", 0.05)
    result = gradients(file, *options, "--sizes", "4,8", "--m-min", 1, "--m-max", 1)
    assert result.exit_code == 0, result.output
    assert result.stderr == "there are 5 pictures: no batches of 8\n"
    document = json.loads(result.stdout)
    assert {share["rows"] for share in document["shares"]} == {"images"}
    assert {share["batch_size"] for share in document["shares"]} == {4}
    assert (document["temperature"], document["m_min"], document["m_max"]) == (0.05, 1, 1)


@pytest.mark.parametrize(
    ("arguments", "problem"),
    [
        (("--sizes", "64,x"), "whole numbers"),
        (("--sizes", "1"), "whole numbers"),
        (("--plot", "a.jpg"), ".svg or .png"),
    ],
)
def test_wrong_usage_is_said_before_anything_is_encoded(arguments, problem):
    result = gradients(*arguments)
    assert result.exit_code == 2
    assert problem in result.output
