"""``litotes filter`` and ``vector``; exclusions, examples and vectors from elsewhere in others."""

import csv
import io
import json
import os
import runpy
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner, Result

from litotes import strategies
from litotes.cli import app
from litotes.errors import DataError, PhotoIndexError
from litotes.language import parse
from litotes.search import PhotoIndex

StandIn = runpy.run_path(str(Path(__file__).parents[1] / "search" / "stand_in.py"))["StandIn"]
Litotes = Callable[..., Result]
ODD = b"caf\xe9\n\x1b[31m.png"

pytestmark = pytest.mark.filterwarnings("ignore::litotes.LitotesWarning")


@pytest.fixture
def litotes(monkeypatch: pytest.MonkeyPatch) -> Litotes:
    monkeypatch.setattr("litotes.backbones.registry.load", lambda *a, **options: StandIn())

    def run(*arguments: Any) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return run


@pytest.fixture
def colors(tmp_path: Path, litotes: Litotes) -> Path:
    """Sixty indexed pictures: fifty of noise, and ten in one colour, in a folder of their own."""
    folder = tmp_path / "colors"
    (folder / "plain").mkdir(parents=True)
    rng = np.random.default_rng(0)
    for i in range(50):
        Image.fromarray(rng.integers(0, 256, (8, 8, 3), dtype=np.uint8)).save(folder / f"{i}.png")
    for i in range(5):
        for color in ("red", "blue"):
            Image.new("RGB", (30, 20 + i), color).save(folder / "plain" / f"{color}{i}.png")
    (folder / "plain" / "red4.png").rename(folder / "plain" / os.fsdecode(ODD))
    assert litotes("index", folder).exit_code == 0
    return folder


def expected(folder: Path, *query: Any, **beside: Any) -> list[Any]:
    return PhotoIndex.open(folder, StandIn()).filter(*query, **beside)


# ---- filter


def test_paths_are_raw_and_best_first(litotes: Litotes, colors: Path) -> None:
    found = expected(colors, "a red picture", 0.5)
    assert {"red0.png", os.fsdecode(ODD)} <= {r.path.name for r in found}
    assert len(found) < 30
    for options, end in (([], b"\n"), (["-0"], b"\0"), (["--null"], b"\0")):
        result = litotes("filter", colors, "a red picture", "--min-probability", 0.5, *options)
        assert result.exit_code == 0, result.output
        assert result.stdout_bytes == b"".join(os.fsencode(r.path) + end for r in found)
        assert not result.stderr


def test_no_match_is_status_one(litotes: Litotes, colors: Path) -> None:
    result = litotes("filter", colors, "a red picture", "--min-probability", 1)
    assert (result.exit_code, result.stdout, result.exception.code) == (1, "", 1)  # type: ignore[union-attr]
    # What it says of the surest is what one may ask for.
    surest = float(result.stderr.split()[-1])
    assert expected(colors, "a red picture", surest - 1e-3)
    assert not expected(colors, "a red picture", min(1, surest + 1e-3))
    result = litotes("filter", colors, "red", "--min-probability", 1, "--json")
    assert (result.exit_code, json.loads(result.stdout)["matches"]) == (1, [])


def test_table_of_probabilities(litotes: Litotes, colors: Path, tmp_path: Path) -> None:
    asked = ("filter", colors, "a red picture", "--not", "blue", "--min-probability", 0.3)
    result = litotes(*asked, "--csv", "-")
    assert result.exit_code == 0, result.output
    text = result.stdout_bytes.decode("utf-8", "surrogateescape")
    rows = list(csv.DictReader(io.StringIO(text, newline="")))
    found = expected(colors, "a red picture", 0.3, exclude=["blue"])
    assert [row["path"] for row in rows] == [str(r.path) for r in found]
    for row, result_ in zip(rows, found, strict=True):
        assert float(row["probability"]) == pytest.approx(result_.score, rel=1e-4)
        product = float(row["shows"]) * float(row["absent"])
        assert product == pytest.approx(result_.score, rel=1e-4)
    file = tmp_path / "table.csv"
    assert litotes(*asked, "--csv", file).stdout == ""
    assert file.read_bytes() == result.stdout_bytes
    (row, *_) = csv.DictReader(litotes("filter", colors, "red", "--csv", "-").stdout.splitlines())
    assert row["absent"] == ""
    assert litotes(*asked, "--csv", tmp_path / "no" / "table.csv").exit_code == 2


def test_matches_as_json(litotes: Litotes, colors: Path) -> None:
    blue = colors / "plain" / "blue0.png"
    result = litotes(
        *("filter", colors, "red", "--not", "green", "--unlike", blue),
        *("--min-probability", 0.2, "--json"),
    )
    document = json.loads(result.stdout)
    assert document["parsed"] == {
        "affirmed": "red",
        "negated": ["green"],
        "like": [],
        "unlike": [str(blue)],
    }
    assert (document["photos"], document["min_probability"]) == (60, 0.2)
    match = document["matches"][0]
    green, blue_ = match["each_absent"]
    assert (green["not"], blue_["unlike"]) == ("green", str(blue))
    assert match["absent"] == pytest.approx(green["probability"] * blue_["probability"])
    assert match["probability"] == pytest.approx(match["shows"] * match["absent"])
    assert Path(match["path"]).is_file()


def test_matches_are_gathered(litotes: Litotes, colors: Path, tmp_path: Path) -> None:
    found = expected(colors, "red", 0.5)
    for option, word in (("--copy", "copied"), ("--link", "linked")):
        to = tmp_path / word
        asked = ("filter", colors, "red", "--min-probability", 0.5, option, to)
        result = litotes(*asked)
        assert (result.exit_code, result.stdout) == (0, ""), result.output
        assert result.stderr == f"{len(found)} {word} to {to}\n"
        assert {path.relative_to(to) for path in to.rglob("*.png")} == {
            r.path.relative_to(colors) for r in found
        }
        (to / "plain" / "red0.png").unlink()
        (to / "plain" / "red0.png").write_bytes(b"mine")
        result = litotes(*asked)
        assert result.stderr.splitlines()[-1] == (
            f"0 {word} to {to}, {len(found) - 1} were there already, 1 left out"
        )
        assert (to / "plain" / "red0.png").read_bytes() == b"mine"


def test_wrong_usage_of_filter(litotes: Litotes, colors: Path) -> None:
    for arguments in (
        (),
        ("",),
        ("red", "--min-probability", 1.5),
        ("red", "--csv", "-", "--json"),
        ("red", "-0", "--json"),
        ("red", "--csv", ""),
        ("red", "--csv", colors / "none" / "table.csv"),
        ("red", "--copy", ""),
        ("red", "--copy", colors / "plain" / "red"),
        ("red", "--link", colors),
        ("red", "--not", "no people"),
        ("red", "--like", colors / "none.png"),
    ):
        assert litotes("filter", colors, *arguments).exit_code == 2, arguments


# ---- vector


def test_vector_of_a_query(litotes: Litotes, tmp_path: Path) -> None:
    asked_for = ("vector", "a red picture", "--not", "blue")
    result = litotes(*asked_for)
    assert result.exit_code == 0, result.output
    asked = parse("a red picture without blue")
    assert asked.negated == ("blue",)
    values = strategies.get("default").vectors([asked], StandIn())[0]
    np.testing.assert_allclose(json.loads(result.stdout), values.numpy(), atol=1e-6)
    assert np.linalg.norm(json.loads(result.stdout)) == pytest.approx(1, abs=1e-6)

    file = tmp_path / "vector.npy"
    result = litotes(*asked_for, "--out", file)
    assert result.stdout == ""
    array = np.load(file)
    assert (array.dtype, array.shape) == (np.float32, values.shape)
    np.testing.assert_array_equal(array, values.numpy())
    assert [path.name for path in tmp_path.iterdir()] == ["vector.npy"]


def test_vector_by_strategy_and_of_exclusions_alone(litotes: Litotes) -> None:
    plain, calibrated = (
        json.loads(litotes("vector", "red, no blue", "--strategy", name).stdout)
        for name in ("plain", "calibrated")
    )
    assert plain != calibrated
    assert len(json.loads(litotes("vector", "--not", "blue").stdout)) == len(plain)


def test_wrong_usage_of_vector(litotes: Litotes, tmp_path: Path) -> None:
    for arguments in (
        (),
        ("",),
        ("red", "--out", tmp_path / "no" / "vector.npy"),
        ("red", "--out", tmp_path),
        ("red", "--strategy", "plain", "--direction", __file__),
        ("red", "--strategy", "clever"),
        ("red", "--not", " "),
    ):
        assert litotes("vector", *arguments).exit_code == 2, arguments


# ---- search: exclusions, examples, explanations


def test_search_with_exclusions_and_no_query(litotes: Litotes, colors: Path) -> None:
    result = litotes("search", colors, "red", "--not", "blue", "--not", "green", "--json")
    assert json.loads(result.stdout)["parsed"] == {"affirmed": "red", "negated": ["blue", "green"]}
    result = litotes("search", colors, "--not", "blue", "-k", 100)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("anything, without: blue\n")
    assert len(result.stdout.splitlines()) >= 62


def test_search_by_example(litotes: Litotes, colors: Path, tmp_path: Path) -> None:
    red, blue = colors / "plain" / "red0.png", colors / "plain" / "blue0.png"
    sheet = tmp_path / "sheet.html"
    result = litotes("search", colors, "--like", red, "--json", "--html", sheet)
    assert result.exit_code == 0, result.output
    document = json.loads(result.stdout)
    assert document["strategy"] == "calibrated"
    assert document["parsed"]["like"] == [str(red)]
    # Other red pictures are as near.
    assert "/plain/" in document["results"][0]["path"]
    assert "blue" not in document["results"][0]["path"]
    assert f"<h1>anything, like: {red}</h1>" in sheet.read_text()
    result = litotes("search", colors, "--unlike", blue, "-k", 60, "--json")
    assert "blue" in json.loads(result.stdout)["results"][-1]["path"]


@pytest.mark.parametrize("options", [[], ["--strategy", "calibrated"], ["--compare"]])
def test_search_is_explained(litotes: Litotes, colors: Path, options: list[str]) -> None:
    asked = ("search", colors, "red", "--not", "blue", "--explain", *options)
    document = json.loads(litotes(*asked, "--json").stdout)
    for record in [*document["results"], *document.get("plain", [])]:
        (blue,) = record["each_absent"]
        assert (blue["not"], blue["probability"]) == ("blue", record["absent"])
        assert 0 <= record["shows"] <= 1
    if document["strategy"] == "calibrated":
        record = document["results"][0]
        assert record["score"] == pytest.approx(record["shows"] * record["absent"], rel=1e-4)
    result = litotes(*asked)
    assert result.exit_code == 0, result.output
    read, header, *_ = result.stdout.splitlines()
    assert read == "red, without: blue"
    assert header.split()[:3] == ["score", "shows", "absent"]
    assert "\x1b" not in result.output
    result = litotes("search", colors, "a red picture", "--explain")
    assert result.stdout.startswith("a red picture\n")
    assert "–" in result.stdout


def test_wrong_usage_of_search(litotes: Litotes, colors: Path) -> None:
    red = colors / "plain" / "red0.png"
    for arguments in (
        ("", "--not", "blue"),
        ("red", "--explain", "--paths-only"),
        ("--like", red, "--compare"),
        ("--like", red, "--strategy", "subtract"),
        ("--like", ""),
        ("red", "--not", "  "),
    ):
        assert litotes("search", colors, *arguments).exit_code == 2, arguments


# ---- index: vectors from elsewhere


def test_vectors_from_elsewhere(litotes: Litotes, tmp_path: Path) -> None:
    folder = tmp_path / "photos"
    folder.mkdir()
    Image.new("RGB", (30, 20), "red").save(folder / "red.png")
    vectors = StandIn().encode_texts(["red", "blue"]).numpy()
    np.save(tmp_path / "v.npy", 3 * vectors)
    ids = b"red.png\ns3://bucket//\x1b[31m.jpg\n"
    (tmp_path / "ids.txt").write_bytes(ids)
    command = ("index", folder, "--vectors", tmp_path / "v.npy", "--paths", tmp_path / "ids.txt")
    assert litotes(*command).exit_code == 2  # no model
    result = litotes(*command, "--model", "mini")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith(
        "2 vectors in the index: 2 added, 1 of no photo in the folder ("
    )
    found = litotes("search", folder, "blue", "--paths-only")
    assert (
        found.stdout_bytes == b"s3://bucket//\x1b[31m.jpg\n" + os.fsencode(folder) + b"/red.png\n"
    )
    for options in ([], ["--compare"], ["--explain"], ["--html", tmp_path / "sheet.html"]):
        result = litotes("search", folder, "blue without red", *options)
        assert result.exit_code == 0, result.output
        assert "\x1b" not in result.output
    assert "does not exist" in (tmp_path / "sheet.html").read_text()
    result = litotes("index", folder)
    assert isinstance(result.exception, PhotoIndexError)
    assert "1 vectors of what is no photo" in str(result.exception)
    result = litotes(*command, "--model", "mini")
    assert "--rebuild" in str(result.exception)
    assert litotes(*command, "--model", "mini", "--rebuild", "--json").exit_code == 0


def test_wrong_usage_of_vectors(litotes: Litotes, tmp_path: Path) -> None:
    for arguments in (
        ("--paths", "x"),
        ("--column", "x"),
        ("--id-column", "x"),
        ("--vectors", "", "--model", "mini"),
    ):
        assert litotes("index", tmp_path, *arguments).exit_code == 2, arguments
    result = litotes("index", tmp_path, "--vectors", tmp_path / "v.csv", "--model", "mini")
    assert isinstance(result.exception, DataError)
