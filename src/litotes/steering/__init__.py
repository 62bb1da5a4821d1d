"""Steering a text encoder along its own negation direction (arXiv 2603.20554)."""

from litotes.steering.bundled import bundled_direction
from litotes.steering.direction import NegationDirection

__all__ = ["NegationDirection", "bundled_direction"]
