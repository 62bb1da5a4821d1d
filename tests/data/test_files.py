"""Files are written whole or not at all."""

from pathlib import Path

import pytest

from litotes.data.captions import read_negation_pairs
from litotes.data.files import new_folder, write_atomically
from litotes.errors import DataError


def test_what_stood_there_is_replaced(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("old")
    write_atomically(file, "neü")
    assert file.read_bytes() == "neü".encode()
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_a_failed_write_leaves_no_trace(tmp_path):
    file = tmp_path / "a.txt"
    file.write_text("old")
    with pytest.raises(UnicodeEncodeError):
        write_atomically(file, "\udcff")
    with pytest.raises(TypeError):
        write_atomically(file, 3)
    assert file.read_text() == "old"
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]


def test_a_link_is_followed_and_a_folder_refused(tmp_path):
    (tmp_path / "real.txt").write_text("old")
    (tmp_path / "link.txt").symlink_to("real.txt")
    write_atomically(tmp_path / "link.txt", "new")
    assert (tmp_path / "real.txt").read_text() == "new"
    assert (tmp_path / "link.txt").is_symlink()
    with pytest.raises(IsADirectoryError):
        write_atomically(tmp_path, "new")
    write_atomically("/dev/null", "new")
    assert not Path("/dev/null").is_file()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link.txt", "real.txt"]


def test_a_file_keeps_its_permissions_and_a_missing_folder_is_named(tmp_path):
    file = tmp_path / "file"
    file.write_text("old")
    file.chmod(0o600)
    write_atomically(file, "new")
    assert file.stat().st_mode & 0o777 == 0o600
    with pytest.raises(FileNotFoundError) as error:
        write_atomically(tmp_path / "no" / "file", "new")
    assert error.value.filename == str(tmp_path / "no" / "file")


def test_pairs_come_as_an_object_or_a_list(tmp_path):
    (tmp_path / "o.json").write_text('{"a dog": "no dog"}')
    (tmp_path / "l.json").write_text('[["a dog", "no dog"]]')
    assert read_negation_pairs(tmp_path / "o.json") == [("a dog", "no dog")]
    assert read_negation_pairs(tmp_path / "l.json") == [("a dog", "no dog")]


@pytest.mark.parametrize(
    ("content", "problem"),
    [
        ("{", "no JSON"),
        ("3", "object or a list"),
        ('["ab"]', "pair 1"),
        ("[3]", "pair 1"),
        ('{"a": 1}', "pair 1"),
        ('[["a", "b"], ["a"]]', "pair 2"),
    ],
)
def test_malformed_pairs_say_where(tmp_path, content, problem):
    (tmp_path / "p.json").write_text(content)
    with pytest.raises(DataError, match=problem):
        read_negation_pairs(tmp_path / "p.json")


def write_half(folder: Path) -> None:
    (folder / "half").touch()
    folder.write_text("a folder is no file")


def test_a_folder_takes_its_place_whole(tmp_path: Path) -> None:
    place = tmp_path / "above" / "folder"
    with pytest.raises(IsADirectoryError), new_folder(place) as made:
        write_half(made)
    assert not list(place.parent.iterdir())
    for content in ("one", "two"):
        with new_folder(place, replaced=["file"]) as made:
            (made / "file").write_text(content)
            assert made.parent.parent == place.parent
        assert [path.name for path in place.parent.iterdir()] == ["folder"]
        assert (place / "file").read_text() == content


def test_a_folder_takes_no_other_things_place(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("old")
    for place in (tmp_path, tmp_path / "file"):
        with pytest.raises(DataError, match="holds file: give the name"), new_folder(place):
            pass
    assert (tmp_path / "file").read_text() == "old"
