"""Ways to answer a query that holds "not"; which one is best is measured, see the README."""

from litotes.errors import LitotesError
from litotes.strategies.base import Strategy
from litotes.strategies.plain import Plain
from litotes.strategies.steer import Steer
from litotes.strategies.subtract import Subtract

NAMES = ("plain", "steer", "subtract")
DEFAULT = "subtract"

__all__ = ["DEFAULT", "NAMES", "Plain", "Steer", "Strategy", "Subtract", "get"]


def get(name: str) -> Strategy:
    """The strategy of that name with its default settings; ``"default"`` is the best measured.

    Raises:
        LitotesError: there is none of that name.
    """
    strategies: dict[str, Strategy] = {s.name: s for s in (Plain(), Steer(), Subtract())}
    chosen = strategies.get(DEFAULT if name == "default" else name)
    if chosen is None:
        raise LitotesError(f"no strategy is called {name!r}: choose from {', '.join(NAMES)}")
    return chosen
