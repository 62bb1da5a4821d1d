"""Photo search: an index of a folder, and queries that understand "not"."""

from litotes.search.build import IndexReport, Skipped
from litotes.search.candidates import Ranked, rerank
from litotes.search.index import PhotoIndex, Result
from litotes.search.judging import Explanation
from litotes.search.store import ModelSpec

__all__ = [
    "Explanation",
    "IndexReport",
    "ModelSpec",
    "PhotoIndex",
    "Ranked",
    "Result",
    "Skipped",
    "rerank",
]
