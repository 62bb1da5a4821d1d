"""What every evaluation task is, and what tasks share."""

from collections.abc import Sequence
from dataclasses import fields, is_dataclass
from typing import Any, Protocol

import torch
from torch import Tensor

from litotes.backbones.encoder import DualEncoder
from litotes.evaluation.record import Record
from litotes.evaluation.vectors import text_vectors
from litotes.language import parse_all
from litotes.steering import NegationDirection
from litotes.strategies import Plain, Strategy


class Task(Protocol):
    """Data that was read, and a way to measure an encoder on it."""

    def run(self, encoder: DualEncoder, strategies: Sequence[Strategy]) -> list[Record]:
        """One record a strategy, measured on the same data.

        Raises:
            DataError: pictures are missing, or a score is not a finite number.
        """
        ...


def query_vectors(encoder: DualEncoder, strategy: Strategy, texts: Sequence[str]) -> Tensor:
    """Unit vectors ``(N, d)`` of texts as a strategy answers them, as `parse` reads them.

    A text that is given more than once is encoded once.
    """
    if isinstance(strategy, Plain):
        return text_vectors(encoder, texts)
    place = {text: i for i, text in enumerate(dict.fromkeys(texts))}
    vectors = strategy.vectors(parse_all(list(place)), encoder)
    return vectors[torch.tensor([place[text] for text in texts])]


def strategy_settings(strategy: Strategy) -> dict[str, Any]:
    """A strategy's settings as JSON has them; a direction by its fingerprint."""
    anything: Any = strategy
    if not is_dataclass(anything):
        return {}
    values = {field.name: getattr(anything, field.name) for field in fields(anything)}
    return {
        name: value.fingerprint if isinstance(value, NegationDirection) else value
        for name, value in values.items()
    }
