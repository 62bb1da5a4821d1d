"""``litotes index`` and ``litotes search``, with a tiny encoder in place of a model."""

import json
import os
import re
import runpy
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from typer.testing import CliRunner, Result

from litotes import strategies
from litotes.cli import app
from litotes.errors import PhotoIndexError

StandIn = runpy.run_path(str(Path(__file__).parents[1] / "search" / "stand_in.py"))["StandIn"]
Litotes = Callable[..., Result]
COLORS = ("red", "green", "blue", "white", "black")


@pytest.fixture
def loaded(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """What models were asked for; any name gives the tiny encoder, "other" a different one."""
    asked: list[tuple[Any, ...]] = []

    def load(name: str, pretrained: str | None = None, **options: Any) -> Any:
        asked.append((name, pretrained, options["adapter"], options["device"]))
        return StandIn("other" if name == "other" else "grid")

    monkeypatch.setattr("litotes.backbones.registry.load", load)
    return asked


@pytest.fixture
def litotes(loaded: list[Any]) -> Litotes:
    def run(*arguments: Any) -> Result:
        return CliRunner().invoke(app, [str(argument) for argument in arguments])

    return run


@pytest.fixture
def colors(tmp_path: Path) -> Path:
    folder = tmp_path / "colors"
    folder.mkdir()
    for color in COLORS:
        Image.new("RGB", (30, 20), color).save(folder / f"{color}.png")
    return folder


def test_index_and_search(litotes: Litotes, colors: Path) -> None:
    result = litotes("index", colors)
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("5 photos in the index: 5 added (")
    assert not result.stderr

    result = litotes("search", colors, "a blue picture", "-k", 2)
    assert result.exit_code == 0, result.output
    lines = result.stdout.splitlines()
    assert lines[0].split() == ["score", "photo"]
    assert lines[1].split()[:2] == ["1", "1.000"]
    assert "blue.png" in result.stdout.replace("\n", "").replace(" ", "")


def test_search_as_json(litotes: Litotes, colors: Path) -> None:
    litotes("index", colors)
    result = litotes("search", colors, "green without a person", "--json", "-k", 3, "--compare")
    document = json.loads(result.stdout)
    assert document["query"] == "green without a person"
    assert document["parsed"]["negated"] == ["a person"]
    assert document["strategy"] == strategies.DEFAULT
    assert [record["rank"] for record in document["results"]] == [1, 2, 3]
    assert document["results"][0].keys() == {"rank", "path", "score", "width", "height"}
    assert document["plain"][0]["path"] == str(colors / "green.png")
    affirmed = json.loads(litotes("search", colors, "green", "--json").stdout)
    assert affirmed["strategy"] == "plain"
    assert (document["plain"][0]["width"], document["plain"][0]["height"]) == (30, 20)


def test_index_as_json_lists_what_was_skipped(litotes: Litotes, colors: Path) -> None:
    (colors / "broken.jpg").write_text("no picture")
    result = litotes("index", colors, "--json")
    assert result.exit_code == 0
    document = json.loads(result.stdout)
    assert (document["total"], document["added"]) == (5, 5)
    assert document["skipped"] == [
        {"path": str(colors / "broken.jpg"), "reason": "is not a picture in a known format"}
    ]
    assert result.stderr == f"skipped {colors}/broken.jpg: is not a picture in a known format\n"


def test_nothing_could_be_indexed(litotes: Litotes, tmp_path: Path) -> None:
    (tmp_path / "broken.jpg").write_text("no picture")
    result = litotes("index", tmp_path)
    assert result.exit_code == 1
    assert "none of the 1 files could be indexed" in str(result.exception)


def test_model_is_that_of_the_index(
    litotes: Litotes, loaded: list[Any], colors: Path, tmp_path: Path
) -> None:
    weights, adapter = tmp_path / "weights.pt", tmp_path / "adapter"
    weights.touch()
    litotes("index", colors)
    litotes("index", colors, "--model", "ViT-B-32", "--pretrained", weights, "--device", "cpu")
    litotes("search", colors, "red")
    litotes("search", colors, "red", "--adapter", adapter)
    litotes("index", colors, "--adapter", adapter)
    litotes("search", colors, "red")
    assert loaded == [
        ("mini", None, None, None),
        ("ViT-B-32", str(weights), None, "cpu"),
        ("ViT-B-32", str(weights), None, None),
        *[("ViT-B-32", str(weights), str(adapter), None)] * 3,
    ]


def test_other_model_needs_rebuild(litotes: Litotes, colors: Path, tmp_path: Path) -> None:
    place = tmp_path / "place"
    assert litotes("index", colors, "--index", place).exit_code == 0
    command = f"litotes index {colors} --model other --index {place} --rebuild"
    for arguments in (("index", colors), ("search", colors, "red")):
        result = litotes(*arguments, "--model", "other", "--index", place)
        assert isinstance(result.exception, PhotoIndexError)
        assert str(result.exception).endswith(command)
    assert litotes(*command.split()[1:]).exit_code == 0
    assert litotes("search", colors, "red", "--index", place).exit_code == 0


def test_paths_only_gives_the_names_as_they_are(litotes: Litotes, colors: Path) -> None:
    name = b"caf\xe9 \x1b[31m.png"
    (colors / "red.png").rename(colors / os.fsdecode(name))
    litotes("index", colors)
    result = litotes("search", colors, "red", "-k", 1, "--paths-only")
    assert result.exit_code == 0, result.output
    assert result.stdout_bytes == os.fsencode(colors) + b"/" + name + b"\n"


def test_names_cannot_steer_the_terminal(litotes: Litotes, colors: Path) -> None:
    for i, name in enumerate([b"\x1b[31m[bold]x[red].png", b"caf\xe9\n.png"]):
        Image.new("RGB", (9, 9), (i, 0, 0)).save(colors / "new.png")
        (colors / "new.png").rename(colors / os.fsdecode(name))
    (colors / "\x1b[32m.jpg").write_text("no picture")
    result = litotes("index", colors)
    assert "\\x1b[32m.jpg" in result.stderr
    assert "\x1b" not in result.output
    for options in ([], ["--compare"]):
        result = litotes("search", colors, "black", *options)
        assert result.exit_code == 0, result.output
        assert "\x1b" not in result.output
        squeezed = re.sub(r"\s", "", result.output)
        assert "\\x1b[31m[bold]x[red].png" in squeezed
        assert "caf\\udce9\\n.png" in squeezed
    records = json.loads(litotes("search", colors, "black", "--json").stdout)["results"]
    assert all(Path(record["path"]).is_file() for record in records)


def test_contact_sheet(litotes: Litotes, colors: Path, tmp_path: Path) -> None:
    sheet = tmp_path / "sheet.html"
    evil = 'evil "<img src=x onerror=alert(1)>&.png'
    Image.new("RGB", (2000, 100), "red").save(colors / evil)
    (colors / "red.png").rename(colors / os.fsdecode(b"caf\xe9.png"))
    litotes("index", colors)
    (colors / "green.png").unlink()
    result = litotes("search", colors, "<b>red</b> & no people", "--html", sheet, "--compare")
    assert result.exit_code == 0, result.output
    page = sheet.read_text(encoding="utf-8")
    assert "<h1>&lt;b&gt;red&lt;/b&gt; &amp; no people</h1>" in page
    assert "<b>not</b> people" in page
    assert "<img src=x" not in page
    assert "evil &quot;&lt;img src=x onerror=alert(1)&gt;&amp;.png" in page
    assert re.findall("<h2>(.*?)</h2>", page) == ["plain", strategies.DEFAULT]
    assert page.count('src="data:image/jpeg;base64,') == 2 * 5
    assert page.count('<div class="missing">does not exist</div>') == 2
    assert not re.search(r'(src|href)="(?!data:)', page)
    assert [path.name for path in tmp_path.iterdir() if "sheet" in path.name] == ["sheet.html"]


def test_wrong_usage(litotes: Litotes, colors: Path, tmp_path: Path) -> None:
    litotes("index", colors)
    for arguments in (
        ("search", colors, "red", "-k", 0),
        ("search", tmp_path / "nowhere", "red"),
        ("index", tmp_path / "nowhere"),
        ("index", colors / "red.png"),
        ("search", colors, "red", "--json", "--paths-only"),
        ("search", colors, "red", "--strategy", "plain", "--direction", __file__),
        ("search", colors, "red", "--direction", tmp_path / "none.safetensors"),
        ("search", colors, "red", "--strategy", "clever"),
        ("search", colors, "red", "--not", "no people"),
        ("search", colors, "red", "--html", tmp_path / "nowhere" / "sheet.html"),
        ("search", colors),
    ):
        assert litotes(*arguments).exit_code == 2, arguments


def test_wrong_words_and_places_are_told_before_a_model_is_loaded(
    litotes: Litotes, loaded: list[Any], colors: Path, tmp_path: Path
) -> None:
    litotes("index", colors)
    loaded.clear()
    for arguments in (
        ("red", "--not", "no people"),
        ("red", "--like", tmp_path / "none.png"),
        ("red", "--html", tmp_path),
        ("red", "--direction", tmp_path / "none.safetensors"),
    ):
        assert litotes("search", colors, *arguments).exit_code == 2, arguments
    assert not loaded


def test_index_at_an_impossible_place(litotes: Litotes, colors: Path) -> None:
    for place in (colors / "red.png" / "index", colors / ("x" * 300)):
        message = str(litotes("index", colors, "--index", place).exception)
        assert "choose another place" in message, message
        assert "--rebuild" not in message


def test_interrupt(litotes: Litotes, colors: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def stop(*arguments: Any, **options: Any) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr("litotes.search.build.Builder.run", stop)
    result = litotes("index", colors)
    assert result.exit_code == 130
    assert result.stderr == "stopped; what is done is kept, and the same command goes on there\n"


def run_main(*arguments: Any, **options: Any) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from litotes.cli import main; main()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, check=False, **options)


def test_error_is_one_line_without_a_traceback(colors: Path) -> None:
    result = run_main("search", colors, "red")
    assert (result.returncode, result.stdout) == (1, "")
    assert result.stderr == (
        f"litotes: {colors}: has no photo index at {colors}/.litotes; "
        f"make one: litotes index {colors}\n"
    )


def test_reader_that_leaves_is_no_error() -> None:
    command = f"{sys.executable} -c 'from litotes.cli import main; main()' --help | true"
    result = subprocess.run(command, shell=True, capture_output=True, text=True, check=False)
    assert (result.stdout, result.stderr) == ("", "")


def test_version_and_help_import_nothing_heavy() -> None:
    code = (
        "import sys\nfrom litotes.cli import app\n"
        "app(['index', '--help'], standalone_mode=False)\n"
        "assert not {'torch', 'lancedb', 'spacy', 'PIL', 'numpy'} & set(sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
