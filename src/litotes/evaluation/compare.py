"""Two records of the same data, compared unit by unit."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from litotes.errors import DataError
from litotes.evaluation.record import Metric, Record, Weights, average_factor, is_sum

FLIPS = 9999
"""Random sign flips of a test: the smallest p is one in ten thousand."""
RESOLUTION = 1e-6
"""Records keep six decimals of each unit's value, so means that differ by less are tied."""

Values = NDArray[np.float64]


@dataclass(frozen=True)
class Difference:
    """How much a metric changed from one record to another, in the metric's own unit.

    Attributes:
        a: the metric in the first record.
        b: the metric in the second.
        change: ``b - a``.
        low: lower end of its 95 % interval.
        high: upper end.
        p: two-sided.
        p_holm: corrected over the metrics of the comparison.
        units: how many were compared, in all groups of a macro average; see
            :meth:`~litotes.evaluation.record.Record.units`.
    """

    a: float
    b: float
    change: float
    low: float
    high: float
    p: float
    p_holm: float
    units: int

    @property
    def significant(self) -> bool:
        """Whether the corrected p is below 0.05."""
        return self.p_holm < 0.05


@dataclass(frozen=True)
class Comparison:
    """Differences of the metrics that two records share, in the first one's order."""

    a: Record
    b: Record
    differences: Mapping[str, Difference]


def compare(a: Record, b: Record, only: Collection[str] | None = None) -> Comparison:
    """What changed from ``a`` to ``b``, over the same units.

    The interval is a percentile bootstrap of the units' differences. p is of a sign-flip
    permutation test (Fisher 1935): were ``a`` and ``b`` alike, each unit's difference could as
    well have had the other sign. Unlike the share of bootstrap means beyond zero it is valid for
    few units and for outcomes that are mostly ties, as accuracies' are, and of identical records
    it is 1. A macro average resamples and flips each of its groups by itself; the recalls of
    an rSum, which are of the same units, it draws alike.

    Args:
        a: the record to compare with.
        b: another record of the same task, split and data.
        only: metrics that are to be compared; by default all that they share.

    Raises:
        DataError: the two are not of the same data, were judged by different judges, or share no
            metric with units; says which.
    """
    _check_same("task", a.task, b.task)
    _check_same("split", a.split, b.split)
    _check_same("data fingerprint", a.data_fingerprint, b.data_fingerprint)
    _check_judges(a, b)
    changes, weights = _changes(a, b), _weights(a, b)
    parts = {name: [name] for name in changes} | _shared_averages(a, b, changes)
    # What chance reaches is of the data, not of a model.
    names = [name for name in a.metrics if name in parts and not name.startswith("chance")]
    if not names:
        raise DataError("the records share no metric of which both keep the units' outcomes")
    if only is not None:
        names = [name for name in names if name in only]
        needed = {part for name in names for part in parts[name]}
        changes = {name: values for name, values in changes.items() if name in needed}
    flipped = _flipped_means(changes, weights)
    factors = {n: average_factor(n, parts[n]) if n in a.averages else 1 for n in names}
    metrics = {
        name: Metric.of(
            *(changes[part] for part in parts[name]),
            weights=[weights.get(part) for part in parts[name]],
            factor=factors[name],
            alike=is_sum(name),
        )
        for name in names
    }
    p = []
    for n in names:
        group = parts[n]
        means = (
            flipped if n not in a.averages or is_sum(n) else _flipped_apart(changes, weights, group)
        )
        average = np.mean([means[part] for part in group], axis=0)
        p.append(_p(metrics[n].value / factors[n], average))
    return Comparison(
        a,
        b,
        {
            name: Difference(
                a=a.metrics[name].value,
                b=b.metrics[name].value,
                change=metrics[name].value,
                low=metrics[name].low,
                high=metrics[name].high,
                p=raw,
                p_holm=corrected,
                units=a.units(name) or 0,
            )
            for name, raw, corrected in zip(names, p, holm(p), strict=True)
        },
    )


def holm(p: Sequence[float]) -> list[float]:
    """Corrected p values by Holm's method (1979), in the order given.

    The smallest is multiplied by their number, the next by one less, and so on; none comes out
    below one that was smaller.
    """
    order = np.argsort(p, kind="stable")
    steps = np.sort(p) * np.arange(len(p), 0, -1)
    corrected = np.empty(len(p))
    corrected[order] = np.minimum(np.maximum.accumulate(steps), 1)
    return corrected.tolist()


def matched(
    a: Sequence[Record], b: Sequence[Record], strategy: str | None = None
) -> list[tuple[Record, Record]]:
    """Records to compare: pairs of one task, split and strategy, in the first ones' order.

    Args:
        a: records to compare with.
        b: records to compare.
        strategy: take this one alone; as ``"plain:steer"``, the first one's of ``a`` with the
            second one's of ``b``.

    Raises:
        DataError: there is no such strategy, nothing fits, or more than one record would.
    """
    of_a, _, of_b = (strategy or "").partition(":")
    for side, records, name in (("A", a, of_a), ("B", b, of_b or of_a)):
        if name and not any(record.strategy == name for record in records):
            known = ", ".join(dict.fromkeys(record.strategy for record in records))
            raise DataError(f"{side} has no record of the strategy {name!r}: it has {known}")
    left, right = _chosen(a, of_a), _chosen(b, of_b or of_a)
    pairs = [(key, left[key], right[key]) for key in left if key in right]
    if not pairs:
        raise DataError(
            f"no record of the one fits one of the other: there are {_listed(a)}, "
            f"and there are {_listed(b)}; --strategy A:B compares across strategies"
        )
    for key, *both in pairs:
        for side, found in zip("AB", both, strict=True):
            if len(found) > 1:
                raise DataError(
                    f"{side} holds {len(found)} records of {' '.join(key)}, by "
                    f"{', '.join(sorted({r.model for r in found}))}: it must hold one"
                )
    return [(one[0], other[0]) for _, one, other in pairs]


def _chosen(records: Sequence[Record], strategy: str) -> dict[tuple[str, ...], list[Record]]:
    found: dict[tuple[str, ...], list[Record]] = {}
    for record in records:
        if not strategy:
            found.setdefault((record.task, record.split, record.strategy), []).append(record)
        elif record.strategy == strategy:
            found.setdefault((record.task, record.split), []).append(record)
    return found


def _listed(records: Sequence[Record]) -> str:
    return ", ".join(dict.fromkeys(f"{r.task} {r.split} {r.strategy}" for r in records))


def _check_same(what: str, a: str, b: str) -> None:
    if a != b:
        raise DataError(f"the records are of different data: the {what} is {a} and {b}")


def _check_judges(a: Record, b: Record) -> None:
    # Beside a record without a judge, what the two share is not judged.
    judges = [record.settings["judge"] for record in (a, b) if record.settings.get("judge")]
    if len(judges) == 2 and judges[0] != judges[1]:
        raise DataError(
            f"the records are by different judges, {judges[0]} and {judges[1]}, and what changed "
            f"could be the judge: run one of them again with the other's"
        )


def _weights(a: Record, b: Record) -> dict[str, Weights]:
    """How much units count, of metrics whose units do not count alike."""
    for name in (name for name in a.outcomes if name in b.outcomes):
        if a.weights.get(name) != b.weights.get(name):
            raise DataError(f"the records are of different data: units of {name} weigh differently")
    weights = {name: np.array(values) for name, values in a.weights.items()}
    for name, values in weights.items():
        if len(values) != len(a.outcomes.get(name, ())) or not (values > 0).all():
            raise DataError(f"the weights of {name} must be positive numbers, one a unit")
    return weights


def _changes(a: Record, b: Record) -> dict[str, Values]:
    """Of each metric that both records keep the units of, the units' differences."""
    changes = {}
    for name in (name for name in a.outcomes if name in b.outcomes):
        one, other = np.array(a.outcomes[name]), np.array(b.outcomes[name])
        if len(one) != len(other):
            raise DataError(
                f"the records are of different data: {name} has {len(one)} units and {len(other)}"
            )
        if not len(one) or not np.isfinite(other - one).all():
            raise DataError(f"the units of {name} must be one number or more, all of them finite")
        changes[name] = other - one
    return changes


def _shared_averages(a: Record, b: Record, changes: Mapping[str, Values]) -> dict[str, list[str]]:
    """The macro averages that are of the same metrics in both records."""
    return {
        name: parts
        for name, parts in a.averages.items()
        if parts and parts == b.averages.get(name) and all(part in changes for part in parts)
    }


def _flipped_apart(
    changes: Mapping[str, Values], weights: Mapping[str, Weights], parts: Sequence[str]
) -> dict[str, Values]:
    """As :func:`_flipped_means`, with signs of its own for each part."""
    flipped: dict[str, Values] = {}
    for seed, part in enumerate(parts):
        flipped |= _flipped_means({part: changes[part]}, weights, seed)
    return flipped


def _flipped_means(
    changes: Mapping[str, Values], weights: Mapping[str, Weights], seed: int = 0
) -> dict[str, Values]:
    """Of each metric, means of its differences with signs drawn by lot, ``(FLIPS,)``.

    Metrics of equally many units have the same signs.
    """
    of_size: dict[int, list[str]] = {}
    for name, values in changes.items():
        of_size.setdefault(len(values), []).append(name)
    flipped: dict[str, Values] = {}
    for size, names in of_size.items():
        shares = [weights[n] / weights[n].mean() if n in weights else 1.0 for n in names]
        table = np.stack([changes[n] * s for n, s in zip(names, shares, strict=True)], axis=1)
        rng = np.random.default_rng(seed)
        # A few at a time: signs of a million units would not fit in memory ten thousand times.
        at_once = max(1, 2_000_000 // size)
        sums = [
            (1 - 2.0 * rng.integers(0, 2, (min(at_once, FLIPS - start), size), np.int8)) @ table
            for start in range(0, FLIPS, at_once)
        ]
        flipped |= zip(names, np.concatenate(sums).T / size, strict=True)
    return flipped


def _p(observed: float, flipped: Values) -> float:
    """Two-sided; what was observed counts as one of the flips, so that p is never zero."""
    as_far = int((np.abs(flipped) >= abs(observed) - RESOLUTION).sum())
    return (as_far + 1) / (len(flipped) + 1)
