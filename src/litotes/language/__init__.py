"""What reads or rewrites captions: negation cues and their scope, and queries taken apart."""

from litotes.language.cues import has_negation
from litotes.language.parse import parse, parse_all
from litotes.language.query import Query

__all__ = ["Query", "has_negation", "parse", "parse_all"]
