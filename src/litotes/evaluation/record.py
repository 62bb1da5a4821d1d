"""Results are records: what was measured, on what, with what, and how sure it is."""

import hashlib
import json
import platform
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from litotes.data.files import write_atomically
from litotes.data.json_files import read_text
from litotes.data.problems import problems
from litotes.errors import DataError

if TYPE_CHECKING:
    from litotes.backbones.encoder import DualEncoder

Outcomes = Mapping[str, NDArray[np.floating[Any]]]
"""Of each metric, the values of its units: a picture, a question, a query."""
Weights = NDArray[np.floating[Any]]

DRAWS = 2000
"""Resamplings of a bootstrap."""


class Metric(BaseModel):
    """A share or a score, with its 95 % bootstrap interval."""

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)

    value: float
    low: float
    high: float

    @classmethod
    def of(
        cls,
        *groups: NDArray[np.floating[Any]],
        weights: Sequence[Weights | None] = (),
        factor: float = 1,
        alike: bool = False,
        seed: int = 0,
    ) -> Self:
        """Mean of the units' values and its percentile interval.

        Args:
            groups: values of one group of units ``(units,)``; or of several, of whose means the
                mean is taken (a macro average), each resampled by itself.
            weights: of each group how much its units count ``(units,)``, or None for all alike.
                Values and weights are resampled together, so that a weighted mean of shares stays
                a share.
            factor: multiplies the mean and its interval.
            alike: groups of equal size are the same units, and are drawn alike.
            seed: of the resampling.

        Raises:
            ValueError: no value, or one that is not finite: a NaN is never a score.
        """
        for values in groups:
            if not len(values) or not np.isfinite(values).all():
                raise ValueError("a metric needs at least one value, all of them finite")
        weighted = list(zip(groups, weights or [None] * len(groups), strict=True))
        drawn = [
            resampled_means(v, w, seed if alike else seed + group)
            for group, (v, w) in enumerate(weighted)
        ]
        means = np.mean(drawn, axis=0)
        low, high = factor * np.quantile(means, [0.025, 0.975])
        value = factor * np.mean([np.average(v, weights=w) for v, w in weighted])
        return cls(value=float(value), low=float(low), high=float(high))


def is_sum(name: str) -> bool:
    """Whether an average is a sum of recalls in per cent, whose parts are of the same pictures."""
    return name.endswith("rSum")


def average_factor(name: str, parts: Sequence[str]) -> int:
    """By what the mean of a macro average's parts is multiplied: an rSum is a sum in per cent."""
    return 100 * len(parts) if is_sum(name) else 1


def resampled_means(
    values: NDArray[np.floating[Any]], weights: Weights | None, seed: int
) -> NDArray[np.float64]:
    """Means of bootstrap samples, ``(DRAWS,)``; as many units by the same seed are drawn alike."""
    rng = np.random.default_rng(seed)
    # A few at a time: a million units would not fit in memory two thousand times.
    at_once = max(1, min(DRAWS, 2_000_000 // len(values)))
    sizes = [min(at_once, DRAWS - start) for start in range(0, DRAWS, at_once)]
    draws = (rng.integers(0, len(values), (size, len(values))) for size in sizes)
    if weights is None:
        return np.concatenate([values[drawn].mean(1) for drawn in draws])
    total = values * weights
    return np.concatenate([total[drawn].sum(1) / weights[drawn].sum(1) for drawn in draws])


class Record(BaseModel):
    """One evaluation: everything needed to make it again, and what came out.

    Attributes:
        metrics: means with their intervals.
        outcomes: of most metrics, the values of the units, in the order of the data: so that two
            records can be compared unit by unit.
        averages: which metrics are means of which others; what ends in "rSum" is their sum, in per
            cent.
        weights: of metrics whose units do not count alike, how much each does.
        versions: of what computed it.
    """

    model_config = ConfigDict(frozen=True, allow_inf_nan=False)

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
    outcomes: dict[str, list[float]]
    averages: dict[str, list[str]]
    weights: dict[str, list[float]] = {}
    versions: dict[str, str]

    @model_validator(mode="after")
    def _is_whole(self) -> Self:
        for name in (*self.outcomes, *self.averages):
            if name not in self.metrics:
                raise ValueError(f"the metrics lack {name!r}, of which there are outcomes")
        chance = self.settings.get("chance", 0)
        values = chance.values() if isinstance(chance, dict) else [chance]
        if not all(isinstance(value, int | float) for value in values):
            raise ValueError("settings.chance must be a number, or a number by metric")
        return self

    @classmethod
    def make(
        cls,
        encoder: "DualEncoder",
        *,
        task: str,
        split: str,
        data: Path | str,
        outcomes: Outcomes,
        averages: Mapping[str, Sequence[str]] | None = None,
        weights: Mapping[str, Weights] | None = None,
        strategy: str = "plain",
        settings: Mapping[str, Any] | None = None,
        seed: int = 0,
    ) -> Self:
        """A record of what ``encoder`` reached.

        Args:
            encoder: what was measured.
            task: how the table is called.
            split: which part of the data.
            data: the file that was read, or a fingerprint of the data.
            outcomes: of each metric the values of its units; shares from 0 to 1, but what ends in
                "rSum" is a sum of recalls in per cent.
            averages: macro averages: names of the metrics whose mean each is; if its own name ends
                in "rSum", their sum in per cent.
            weights: of metrics whose mean is a weighted one, the weights of its units, positive.
            strategy: how queries were answered.
            settings: of the strategy and the task.
            seed: of whatever was drawn by lot.
        """
        if isinstance(data, Path):
            data = hashlib.sha256(data.read_bytes()).hexdigest()[:16]
        means = {name: list(parts) for name, parts in (averages or {}).items()}
        weights = weights or {}
        metrics = {
            name: Metric.of(
                *(outcomes[part] for part in parts),
                weights=[weights.get(part) for part in parts],
                factor=average_factor(name, parts) if name in means else 1,
                alike=is_sum(name),
            )
            for name, parts in ({name: [name] for name in outcomes} | means).items()
        }
        return cls(
            task=task,
            split=_readable(split),
            model=_readable(encoder.label),
            image_fingerprint=encoder.image_fingerprint,
            text_fingerprint=encoder.text_fingerprint,
            strategy=strategy,
            settings=dict(settings or {}),
            data_fingerprint=data,
            seed=seed,
            metrics=metrics,
            outcomes={n: np.round(v.astype(float), 6).tolist() for n, v in outcomes.items()},
            averages=means,
            weights={name: values.tolist() for name, values in weights.items()},
            versions={
                "python": platform.python_version(),
                **{name: version(name) for name in ("litotes", "torch", "transformers")},
            },
        )

    def units(self, metric: str) -> int | None:
        """How many units a metric is of; None where the record does not keep them.

        Those of an average's parts together; the parts of an rSum are of the same units.
        """
        sizes = [len(self.outcomes.get(p, ())) for p in self.averages.get(metric, [metric])]
        return sum(set(sizes) if is_sum(metric) else sizes) or None


def _readable(name: str) -> str:
    """A name of a file, which need not be valid text, as text."""
    return name.encode(errors="backslashreplace").decode()


def write_records(path: Path, records: list[Record]) -> None:
    """Write records as JSON lines, atomically."""
    path.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(path, "".join(record.model_dump_json() + "\n" for record in records))


def records_so_far(path: Path) -> list[Record]:
    """What a file of records holds; nothing if it is not there, or empty, or no file.

    Raises:
        DataError: it holds something else.
    """
    return read_records(path) if path.is_file() and path.stat().st_size else []


def add_records(path: Path, records: Sequence[Record]) -> None:
    """Write records, atomically, behind those that the file holds and that are not made again.

    Made again is what is of the same task, data, seed, model (with the same weights), strategy
    and settings.

    Raises:
        DataError: what stands there is no file of records; it is left as it is.
    """
    again = set(map(_what, records))
    write_records(path, [*(r for r in records_so_far(path) if _what(r) not in again), *records])


def _what(record: Record) -> str:
    """What a record measured."""
    told = {"task", "split", "data_fingerprint", "seed", "strategy", "settings"}
    told |= {"model", "image_fingerprint", "text_fingerprint"}
    # As JSON has it: what was read from a file has lists where there were tuples.
    return json.dumps(record.model_dump(mode="json", include=told), sort_keys=True)


def read_records(path: Path) -> list[Record]:
    """Read what :func:`write_records` wrote.

    Raises:
        DataError: missing, or a line is no record; says which.
    """
    lines = read_text(path).rstrip("\n").split("\n")
    records = []
    for number, line in enumerate(lines if lines != [""] else [], 1):
        try:
            records.append(Record.model_validate_json(line))
        except ValidationError as error:
            raise DataError(f"{path}, line {number}: is no record: {problems(error)}") from error
    if not records:
        raise DataError(f"{path} holds no record")
    return records
