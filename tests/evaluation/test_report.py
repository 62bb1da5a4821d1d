"""Tables and the blocks of Markdown files they stand in."""

import pytest

from litotes.errors import DataError
from litotes.evaluation.report import update_block


def test_a_block_is_replaced_and_the_rest_kept(tmp_path):
    file = tmp_path / "README.md"
    file.write_text("before\n<!-- t -->\nold\n<!-- /t -->\nafter\n")
    update_block(file, "t", "| new |")
    assert file.read_text() == "before\n<!-- t -->\n| new |\n<!-- /t -->\nafter\n"
    update_block(file, "t", "| newer |")
    assert file.read_text() == "before\n<!-- t -->\n| newer |\n<!-- /t -->\nafter\n"


@pytest.mark.parametrize("text", ["nothing", "<!-- t --> open", "<!-- /t -->"])
def test_a_file_without_the_markers_is_left_as_it_is(tmp_path, text):
    file = tmp_path / "README.md"
    file.write_text(text)
    with pytest.raises(DataError, match="<!-- t -->"):
        update_block(file, "t", "x")
    assert file.read_text() == text
