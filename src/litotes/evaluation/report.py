"""Views of records: tables, and the blocks of Markdown files that hold them."""

from collections.abc import Sequence
from pathlib import Path

from litotes.data.files import write_atomically
from litotes.errors import DataError
from litotes.evaluation.record import Metric, Record


def markdown_table(records: Sequence[Record]) -> str:
    """A table, one row a record, shares in per cent with their intervals.

    Args:
        records: of one task and split.
    """
    names = list(records[0].metrics)
    rows = [
        ["model", "strategy", *names],
        ["---", "---", *("---:" for _ in names)],
        *([r.model, _strategy(r), *(_cell(n, r.metrics[n]) for n in names)] for r in records),
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def markdown_columns(records: Sequence[Record]) -> str:
    """A table, one column a record, one row a metric: for tasks with many metrics."""
    rows = [
        ["", *(f"{r.task}: {r.strategy}" for r in records)],
        ["---", *("---:" for _ in records)],
        *([name, *(_cell(name, r.metrics[name]) for r in records)] for name in records[0].metrics),
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def update_block(file: Path, name: str, content: str) -> None:
    """Replace what stands between ``<!-- NAME -->`` and ``<!-- /NAME -->``, atomically.

    Raises:
        DataError: the file cannot be read, or lacks the markers.
    """
    start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    try:
        text = file.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read {file}: {error}") from error
    before, found, rest = text.partition(start)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise DataError(f"{file} needs the lines {start} and {end} for the table to go between")
    write_atomically(file, f"{before}{start}\n{content}\n{end}{after}")


def _strategy(record: Record) -> str:
    settings = ", ".join(
        f"{name}={value}" for name, value in record.settings.items() if value is not None
    )
    return f"{record.strategy} ({settings})" if settings else record.strategy


def _cell(name: str, metric: Metric) -> str:
    scale = 1 if name.endswith("rSum") else 100
    return f"{scale * metric.value:.1f} [{scale * metric.low:.1f}, {scale * metric.high:.1f}]"
