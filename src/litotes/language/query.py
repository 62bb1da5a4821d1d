"""What a search sentence asks for, and what it excludes."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Query:
    """A search sentence taken apart; both parts are worded affirmatively, ready to be embedded.

    Attributes:
        affirmed: What the picture should show; ``""`` when the sentence only excludes.
        negated: Each excluded thing, in the order of the sentence ("no hat" gives ``"a hat"``).
        raw: The sentence as the user wrote it.
    """

    affirmed: str
    negated: tuple[str, ...]
    raw: str

    @property
    def is_negated(self) -> bool:
        """Whether the sentence excludes anything."""
        return bool(self.negated)
