"""Photo search: an index of a folder, and queries that understand "not"."""

from litotes.search.build import IndexReport, Skipped
from litotes.search.index import PhotoIndex, Result
from litotes.search.store import ModelSpec

__all__ = ["IndexReport", "ModelSpec", "PhotoIndex", "Result", "Skipped"]
