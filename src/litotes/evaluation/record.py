"""Results are records: what was measured, on what, with what, and how sure it is."""

import hashlib
import platform
from collections.abc import Mapping
from importlib.metadata import version
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict

from litotes.backbones.encoder import DualEncoder
from litotes.data.files import write_atomically


class Metric(BaseModel):
    """A share or a score, with its 95 % bootstrap interval."""

    model_config = ConfigDict(frozen=True)

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, values: NDArray[np.floating[Any]], *, seed: int = 0, draws: int = 2000) -> Self:
        """Mean of ``values`` (one a unit: a pair, an image) and its percentile interval.

        Args:
            values: shape ``(units,)``; a NaN is an error, never a score.
            seed: of the resampling.
            draws: how many times to resample the units.

        Raises:
            ValueError: no value, or one that is not finite.
        """
        if not len(values) or not np.isfinite(values).all():
            raise ValueError("a metric needs at least one value, all of them finite")
        rng = np.random.default_rng(seed)
        means = [
            values[rng.integers(0, len(values), (block, len(values)))].mean(1)
            for block in np.diff(np.linspace(0, draws, 21).astype(int))
        ]
        low, high = np.quantile(np.concatenate(means), [0.025, 0.975])
        return cls(value=float(values.mean()), low=float(low), high=float(high))


class Record(BaseModel):
    """One evaluation: everything needed to make it again, and what came out."""

    model_config = ConfigDict(frozen=True)

    task: str
    split: str
    model: str
    image_fingerprint: str
    text_fingerprint: str
    strategy: str
    settings: dict[str, Any]
    data_fingerprint: str
    seed: int
    metrics: dict[str, Metric]
    versions: dict[str, str]

    @classmethod
    def make(
        cls,
        encoder: DualEncoder,
        *,
        task: str,
        split: str,
        data: Path | str,
        metrics: Mapping[str, Metric],
        strategy: str = "plain",
        settings: Mapping[str, Any] | None = None,
        seed: int = 0,
    ) -> Self:
        """A record of what ``encoder`` reached on the file ``data``, or on data of that name."""
        if isinstance(data, Path):
            data = hashlib.sha256(data.read_bytes()).hexdigest()[:16]
        return cls(
            task=task,
            split=split,
            model=encoder.name,
            image_fingerprint=encoder.image_fingerprint,
            text_fingerprint=encoder.text_fingerprint,
            strategy=strategy,
            settings=dict(settings or {}),
            data_fingerprint=data,
            seed=seed,
            metrics=dict(metrics),
            versions={
                "python": platform.python_version(),
                **{name: version(name) for name in ("litotes", "torch", "transformers")},
            },
        )


def write_records(path: Path, records: list[Record]) -> None:
    """Write records as JSON lines, atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, "".join(record.model_dump_json() + "\n" for record in records))
