"""Kinship of nouns by WordNet's files; here, files of five nouns in its format."""

import builtins
import os
from pathlib import Path

import pytest

from litotes.errors import DataError, LitotesError
from litotes.language.wordnet import kinship

#: Each noun's words and wider noun.
_NOUNS = {
    "entity": (["entity"], None),
    "animal": (["animal", "beast"], "entity"),
    "dog": (["dog", "hound"], "animal"),
    "cat": (["cat"], "animal"),
    "puppy": (["puppy"], "dog"),
}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A folder as Debian's, which holds no list of lexical files."""
    offsets = {name: 200 * (i + 1) for i, name in enumerate(_NOUNS)}
    narrower = {n: [m for m, (_, wider) in _NOUNS.items() if wider == n] for n in _NOUNS}
    data, index = "", []
    for name, (words, wider) in _NOUNS.items():
        pointers = [f"@ {offsets[wider]:08d} n 0000"] if wider else []
        pointers += [f"~ {offsets[other]:08d} n 0000" for other in narrower[name]]
        senses = " ".join(f"{word} 0" for word in words)
        line = f"{offsets[name]:08d} 05 n {len(words):02x} {senses} {len(pointers):03d} "
        data = data.ljust(offsets[name] - 1) + "\n" if data else " " * (offsets[name] - 1) + "\n"
        data += line + " ".join(pointers) + " | a noun"
        symbols = ["@"] * bool(wider) + ["~"] * bool(narrower[name])
        index += [
            f"{word} n 1 {len(symbols)} {' '.join(symbols)} 1 1 {offsets[name]:08d}  "
            for word in words
        ]
    (tmp_path / "data.noun").write_text(data + "\n")
    (tmp_path / "index.noun").write_text("\n".join(sorted(index)) + "\n")
    for name in ("adj", "adv", "verb"):
        for kind in ("data", "index"):
            (tmp_path / f"{kind}.{name}").write_text("  1 WordNet 3.0 Copyright 2006  \n")
    for name in ("noun.exc", "adj.exc", "adv.exc", "verb.exc", "cntlist.rev"):
        (tmp_path / name).write_text("")
    return tmp_path


def test_siblings_and_kin(folder: Path) -> None:
    found = kinship(folder, ["dog", "hound", "puppy", "cat", "animal", "unheard"])
    assert found.siblings == {
        "dog": frozenset({"cat"}),
        "hound": frozenset({"cat"}),
        "cat": frozenset({"dog", "hound"}),
    }
    assert found.related["dog"] == {"dog", "hound", "puppy", "animal"}
    assert "cat" not in found.related["puppy"]
    assert "unheard" not in found.related


def test_a_folder_of_something_else(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"lacks data\.noun.*wordnet-base"):
        kinship(tmp_path, ["dog"])


def test_without_its_reader(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    imported = builtins.__import__

    def refuse(name: str, *rest: object, **more: object) -> object:
        if name.startswith("nltk"):
            raise ImportError(name)
        return imported(name, *rest, **more)  # type: ignore[arg-type]

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(LitotesError, match=r"pip install 'litotes\[wordnet\]'"):
        kinship(folder, ["dog"])


@pytest.mark.skipif("LITOTES_WORDNET" not in os.environ, reason="needs WordNet's own files")
def test_wordnet_itself() -> None:
    found = kinship(Path(os.environ["LITOTES_WORDNET"]), ["guitar", "banjo", "dog", "puppy"])
    assert "banjo" in found.siblings["guitar"]
    assert "puppy" in found.related["dog"]
