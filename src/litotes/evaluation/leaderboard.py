"""All ways to answer "not" side by side: a row a strategy, the columns of a suite of tasks."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from litotes.evaluation.compare import compare, holm
from litotes.evaluation.record import Record
from litotes.evaluation.report import (
    interval_text,
    is_bad,
    markdown_rows,
    value_text,
)

LEVEL = 0.05


@dataclass(frozen=True)
class Column:
    """A metric of one task's records, and what stands above it."""

    task: str
    metric: str
    title: str


NEGATION = (
    Column("exclusion", "violating@10", "violating@10"),
    Column("exclusion", "right@10", "right@10"),
    Column("multiple choice", "mcq macro", "mcq macro"),
    Column("multiple choice", "mcq negative", "negative"),
    Column("negbench-retrieval", "rSum", "negated rSum"),
    Column("not-class", "violating@10", "not-class violating@10"),
    Column("kind-not-class", "violating@10", "kind-not-class violating@10"),
    Column("scenes", "mcq macro", "mcq macro"),
    Column("scenes", "mcq negative", "negative"),
    Column("scenes", "negated rSum", "negated rSum"),
    Column("scenes", "exclude object: violating@10", "violating@10 objects"),
    Column("scenes", "exclude attribute: violating@10", "attributes"),
    Column("scenes", "exclude relation: violating@10", "relations"),
    Column("scenes-uncommon", "mcq macro", "uncommon mcq macro"),
    Column("retrieval", "rSum", "plain rSum"),
    Column("scenes", "rSum", "plain rSum"),
    Column("latency", "ms a query", "ms a query"),
)
"""What is to be known of an answer to "not"; last what it costs."""


def leaderboard(records: Sequence[Record], columns: Sequence[Column] = NEGATION) -> str:
    """A Markdown table, a row a model and strategy in the order given.

    In bold the best of a column, and what cannot be told from it: p of the paired test of the same
    units is 0.05 or more, after Holm's correction over the column.

    Args:
        records: of any tasks; of each task, split and data those of all strategies.
        columns: those for which there is no record are left out.
    """
    cells = {
        (record.model, record.strategy, column): record
        for record in records
        for column in columns
        if record.task == column.task and column.metric in record.metrics
    }
    rows = list(dict.fromkeys((model, strategy) for model, strategy, _ in cells))
    shown = [c for c in columns if any((*row, c) in cells for row in rows)]
    best = {column: _best(column, cells) for column in shown}
    table = [
        ["model", "strategy", *(column.title for column in shown)],
        ["---", "---", *("---:" for _ in shown)],
    ]
    for model, strategy in rows:
        line = [model, strategy]
        for column in shown:
            record = cells.get((model, strategy, column))
            line.append("" if record is None else _cell(record, column, best[column]))
        table.append(line)
    return markdown_rows(table)


def _best(column: Column, cells: Mapping[tuple[str, str, Column], Record]) -> set[int]:
    """The records, by identity, that have the best value, or one that cannot be told from it."""
    found = [record for (*_, of), record in cells.items() if of == column]
    sign = -1 if is_bad(column.metric) else 1
    first = max(found, key=lambda record: sign * record.metrics[column.metric].value)
    others = [record for record in found if record is not first]
    metric = column.metric
    differences = [compare(first, record, {metric}).differences[metric] for record in others]
    alike = [
        record
        for record, corrected in zip(others, holm([d.p for d in differences]), strict=True)
        if corrected >= LEVEL
    ]
    return {id(record) for record in (first, *alike)}


def _cell(record: Record, column: Column, best: set[int]) -> str:
    metric = record.metrics[column.metric]
    value = value_text(column.metric, metric.value)
    shown = f"**{value}**" if id(record) in best else value
    return f"{shown} {interval_text(column.metric, metric.low, metric.high)}"
