"""Input that a tester broke things with: refused with what is wrong, or read as it is meant."""

import json

import pytest

from litotes.data.csv_files import read_rows
from litotes.data.retrieval_files import read_pictures
from litotes.errors import DataError
from litotes.evaluation.exclusion import ExclusionTask
from litotes.evaluation.report import update_block
from litotes.mining.things import find_content


def test_a_photograph_in_two_lists_of_an_exclusion_pair_is_refused(tmp_path):
    names = [f"{i}.jpg" for i in range(10)]
    pair = {"shown": "dog", "excluded": "ball", "queries": ["a dog, no ball"], "not_shown": []}
    file = tmp_path / "exclusion_dev.json"
    for right, violating in ((names, names), ([names[0]] * 5, names[5:])):
        file.write_text(json.dumps([{**pair, "right": right, "violating": violating}]))
        with pytest.raises(DataError, match=r"names '0\.jpg' more than once"):
            ExclusionTask.read(tmp_path, "dev")


def test_an_image_number_that_stands_twice_in_coco_is_refused(tmp_path):
    file = tmp_path / "captions.json"
    images = [{"id": 1, "file_name": "a.jpg"}, {"id": 1, "file_name": "b.jpg"}]
    file.write_text(
        json.dumps({"images": images, "annotations": [{"image_id": 1, "caption": "a dog"}]})
    )
    with pytest.raises(DataError, match="image 1 stands there twice"):
        read_pictures("coco", file, tmp_path)


def test_long_captions_are_read_and_a_column_that_stands_twice_is_refused(tmp_path):
    file = tmp_path / "captions.csv"
    file.write_text(f"image,caption\na.jpg,{'dog ' * 50_000}\n")
    assert len(next(read_rows(file, ["image", "caption"]))[1]["caption"]) == 200_000
    file.write_text("image,image,caption\na.jpg,b.jpg,a dog\n")
    with pytest.raises(DataError, match="column 'image' stands there twice"):
        list(read_rows(file, ["image", "caption"]))


def test_a_markdown_file_keeps_its_line_ends(tmp_path):
    file = tmp_path / "page.md"
    file.write_bytes(b"# Title\r\n<!-- t -->\r\n<!-- /t -->\r\nend\r\n")
    update_block(file, "t", "table")
    assert file.read_bytes() == b"# Title\r\n<!-- t -->\ntable\n<!-- /t -->\r\nend\r\n"


def test_captions_without_a_word_name_no_thing():
    with pytest.raises(DataError, match="no thing is named"):
        find_content([["!!!", "..."]], 1)
