"""A run's folder."""

import pytest

from litotes.errors import DataError
from litotes.training.run import bind_run


def test_a_run_is_bound_to_what_it_is_made_of(tmp_path):
    bind_run(tmp_path / "run", {"recipe": "wörter"})
    bind_run(tmp_path / "run", {"recipe": "wörter"})
    for content in (b"", b"{}", b"\xff\xfe\x00 no text", bytes(50)):
        (tmp_path / "run" / "run.json").write_bytes(content)
        with pytest.raises(DataError, match="another recipe"):
            bind_run(tmp_path / "run", {"recipe": "wörter"})
