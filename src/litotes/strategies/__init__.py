"""Ways to answer a query that holds "not"; which one is best is measured, see the README."""

from litotes.errors import LitotesError
from litotes.strategies.base import ByVector, Images, Strategy, where_negated
from litotes.strategies.calibrated import SUITED, Calibrated
from litotes.strategies.deo import Deo
from litotes.strategies.plain import Plain
from litotes.strategies.steer import Steer
from litotes.strategies.subspace import Subspace
from litotes.strategies.subtract import Subtract

NAMES = ("plain", "steer", "subtract", "subspace", "deo", "calibrated")
DEFAULT = "calibrated"

__all__ = [
    "DEFAULT",
    "NAMES",
    "ByVector",
    "Calibrated",
    "Deo",
    "Images",
    "Plain",
    "Steer",
    "Strategy",
    "Subspace",
    "Subtract",
    "get",
    "where_negated",
]


def get(name: str, model: str | None = None) -> Strategy:
    """The strategy of that name; ``"default"`` is the best measured.

    Args:
        name: one of :data:`NAMES`.
        model: an encoder's name, for settings that suit it, where they are known.

    Raises:
        LitotesError: there is none of that name.
    """
    calibrated = SUITED.get(model or "", Calibrated())
    every = (Plain(), Steer(), Subtract(), Subspace(), Deo(), calibrated)
    strategies: dict[str, Strategy] = {strategy.name: strategy for strategy in every}
    chosen = strategies.get(DEFAULT if name == "default" else name)
    if chosen is None:
        raise LitotesError(f"no strategy is called {name!r}: choose from {', '.join(NAMES)}")
    return chosen
