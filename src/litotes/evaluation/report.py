"""Views of records: tables, and the blocks of Markdown files that hold them.

A report shows records of one data set as the papers do: a row a model and method, the base first,
of each other row by how much it differs from its base, and beside it what papers print.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from litotes.data.files import write_atomically
from litotes.errors import DataError
from litotes.evaluation.compare import Difference, compare
from litotes.evaluation.printed import Printed, printed_figures
from litotes.evaluation.record import Metric, Record

BASE_STRATEGY = "plain"
# Of what is bad the more there is; of all else, more is better.
_BAD = ("violating", "wrongly", "unclear", "ms a query")


@dataclass(frozen=True)
class Row:
    """A record in a report.

    Attributes:
        record: what is shown.
        model: its model, told apart from others of that name.
        base: what it is compared with; None where it is a base itself, or there is none.
        differences: from the base, by metric.
        printed: what papers print for this task and model, by metric.
        problem: why it could not be compared, or nothing.
    """

    record: Record
    model: str
    base: Record | None
    differences: Mapping[str, Difference]
    printed: Mapping[str, Sequence[Printed]]
    problem: str = ""


@dataclass(frozen=True)
class Column:
    """A metric of the records, or what papers print for it."""

    metric: str
    printed: bool = False


@dataclass(frozen=True)
class Section:
    """The records of one data set.

    Attributes:
        task: as the records have it.
        split: likewise.
        data: its fingerprint.
        metrics: of all the records, in order.
        rows: in the order given.
        printed: all that papers print for the task, whatever the model.
    """

    task: str
    split: str
    data: str
    metrics: Sequence[str]
    rows: Sequence[Row]
    printed: Sequence[Printed]

    @property
    def columns(self) -> list[Column]:
        """The metrics, each followed by a column of printed figures if there are any."""
        with_printed = {name for row in self.rows for name in row.printed}
        return [
            column
            for name in self.metrics
            for column in (Column(name), Column(name, printed=True))
            if not column.printed or name in with_printed
        ]

    def units(self, metric: str) -> str:
        """Of how many units a metric is, such as ``n = 900``; nothing if no record says it."""
        found = sorted({n for row in self.rows if (n := row.record.units(metric)) is not None})
        return f"n = {' or '.join(f'{n:,}' for n in found)}" if found else ""

    @property
    def chance(self) -> dict[str, float]:
        """What choosing by lot reaches, of the metrics for which the records say it."""
        known = {name: chance(row.record, name) for row in self.rows for name in row.record.metrics}
        return {name: value for name, value in known.items() if value is not None}


def sections(records: Sequence[Record], base: str | None = None) -> list[Section]:
    """Records by task, split and data, in the order given.

    A record is compared with the first one of its model and the strategy "plain".

    Args:
        records: of any tasks.
        base: name of the model that all are compared with instead.

    Raises:
        DataError: no record is of that model and the strategy "plain".
    """
    if base is not None and not any(_is_base(r, base) for r in records):
        names = ", ".join(dict.fromkeys(r.model for r in records if _is_base(r, r.model)))
        raise DataError(
            f"no record of the strategy {BASE_STRATEGY} is of the model {base!r}: "
            f"there are {names or 'none at all'}"
        )
    found: dict[tuple[str, str, str], list[Record]] = {}
    for record in records:
        found.setdefault((record.task, record.split, record.data_fingerprint), []).append(record)
    return [_section(group, base) for group in found.values()]


def chance(record: Record, metric: str) -> float | None:
    """What choosing by lot reaches, if a record's settings say it: for all metrics or by name."""
    known = record.settings.get("chance")
    value = known.get(metric) if isinstance(known, dict) else known
    return None if value is None or is_bad(metric) else float(value)


def is_bad(metric: str) -> bool:
    """Whether less of a metric is better."""
    return any(word in metric for word in _BAD)


def scale(metric: str) -> int:
    """By what a metric is multiplied to be shown: shares in per cent, the rest as it is."""
    return 1 if metric.endswith(("rSum", "ms a query")) else 100


def verdict(metric: str, difference: Difference) -> Literal["better", "worse", "unsure"]:
    """What a change means; unsure where its corrected p is 0.05 or more."""
    if not difference.significant:
        return "unsure"
    return "better" if (difference.change > 0) != is_bad(metric) else "worse"


def change_text(metric: str, difference: Difference) -> str:
    """Which way a metric went and how far, such as ``▲ 2.0``; ``= 0.0`` if that is what shows."""
    size = f"{abs(scale(metric) * difference.change):.1f}"
    arrow = "=" if float(size) == 0 else "▲" if difference.change > 0 else "▼"
    return f"{arrow} {size}"


def value_text(metric: str, value: float) -> str:
    """A value as tables show it."""
    return f"{scale(metric) * value:.1f}"


def interval_text(metric: str, low: float, high: float) -> str:
    """An interval as tables show it."""
    return f"[{value_text(metric, low)}, {value_text(metric, high)}]"


def strategy_text(record: Record, *, full: bool = False) -> str:
    """A record's strategy with its settings; of a direction's fingerprint the beginning."""
    settings = ", ".join(
        f"{name}={str(value)[:6] if name == 'direction' and not full else value}"
        for name, value in record.settings.items()
        if value is not None and name != "chance"
    )
    return f"{record.strategy} ({settings})" if settings else record.strategy


def markdown_table(records: Sequence[Record]) -> str:
    """A table, one row a record, shares in per cent with their intervals.

    Args:
        records: of one task and split.
    """
    names = list(records[0].metrics)
    rows = [
        ["model", "strategy", *names],
        ["---", "---", *("---:" for _ in names)],
        *([r.model, strategy_text(r), *(_cell(n, r.metrics[n]) for n in names)] for r in records),
    ]
    if "chance" in records[0].settings:
        rows.append(["", "chance", *(_chance_text(chance(records[0], n), n) for n in names)])
    return markdown_rows(rows)


def markdown_columns(records: Sequence[Record]) -> str:
    """A table, one column a record, one row a metric: for tasks with many metrics."""
    rows = [
        ["", *(f"{r.task}: {r.strategy}" for r in records)],
        ["---", *("---:" for _ in records)],
        *([name, *(_cell(name, r.metrics[name]) for r in records)] for name in records[0].metrics),
    ]
    return markdown_rows(rows)


def markdown_report(report: Sequence[Section]) -> str:
    """Sections one below the other: a table, its printed sources, and what made each number."""
    return "\n".join(_markdown_section(section) for section in report)


def update_block(file: Path, name: str, content: str) -> None:
    """Replace what stands between ``<!-- NAME -->`` and ``<!-- /NAME -->``, atomically.

    Raises:
        DataError: the file cannot be read, or lacks the markers.
    """
    start, end = f"<!-- {name} -->", f"<!-- /{name} -->"
    try:
        # Not read_text, which makes all line ends alike.
        text = file.read_bytes().decode()
    except (OSError, UnicodeDecodeError) as error:
        raise DataError(f"cannot read {file}: {error}") from error
    before, found, rest = text.partition(start)
    _, closed, after = rest.partition(end)
    if not found or not closed:
        raise DataError(f"{file} needs the lines {start} and {end} for the table to go between")
    write_atomically(file, f"{before}{start}\n{content}\n{end}{after}")


def _section(records: Sequence[Record], base: str | None) -> Section:
    first = records[0]
    metrics = list(dict.fromkeys(name for record in records for name in record.metrics))
    figures = [figure for figure in printed_figures() if figure.is_of_task(first)]
    names = _names(records)
    return Section(
        task=first.task,
        split=first.split,
        data=first.data_fingerprint,
        metrics=metrics,
        rows=[
            _row(record, name, _base_of(record, records, base), figures)
            for record, name in zip(records, names, strict=True)
        ],
        printed=figures,
    )


def _row(record: Record, name: str, base: Record | None, figures: Sequence[Printed]) -> Row:
    differences: Mapping[str, Difference] = {}
    problem = ""
    if base is not None:
        try:
            differences = compare(base, record).differences
        except DataError as error:
            problem = str(error)
    printed: dict[str, list[Printed]] = {}
    for figure in figures:
        if figure.metric in record.metrics and figure.is_of_model(record):
            printed.setdefault(figure.metric, []).append(figure)
    return Row(record, name, base, differences, printed, problem)


def _is_base(record: Record, model: str) -> bool:
    return record.model == model and record.strategy == BASE_STRATEGY


def _base_of(record: Record, records: Sequence[Record], base: str | None) -> Record | None:
    first = next((r for r in records if _is_base(r, base or record.model)), None)
    return None if first is record else first


def _names(records: Sequence[Record]) -> list[str]:
    """Model names; where two of one name differ, as an adapter makes them, with fingerprints."""
    prints: dict[str, set[tuple[str, str]]] = {}
    for r in records:
        prints.setdefault(r.model, set()).add((r.image_fingerprint, r.text_fingerprint))
    return [
        f"{r.model} ({r.image_fingerprint[:6]}, {r.text_fingerprint[:6]})"
        if len(prints[r.model]) > 1
        else r.model
        for r in records
    ]


def _markdown_section(section: Section) -> str:
    heading = [
        ", ".join(filter(None, (c.metric, "printed" if c.printed else section.units(c.metric))))
        for c in section.columns
    ]
    rows = [
        ["model", "strategy", *map(_escaped, heading)],
        ["---", "---", *("---:" for _ in heading)],
        *(
            [
                _escaped(row.model),
                _escaped(strategy_text(row.record)),
                *(_markdown_cell(row, column) for column in section.columns),
            ]
            for row in section.rows
        ),
    ]
    if section.chance:
        values = (
            "" if c.printed else _chance_text(section.chance.get(c.metric), c.metric)
            for c in section.columns
        )
        rows.append(["", "chance", *values])
    return "\n".join(
        [
            f"## {_escaped(section.task)}, {_escaped(section.split)}\n",
            markdown_rows(rows),
            "",
            *_markdown_notes(section),
        ]
    )


def _markdown_notes(section: Section) -> list[str]:
    notes = []
    if any(row.differences for row in section.rows):
        notes.append(
            "In brackets 95 % intervals. ▲ and ▼: against the first plain record of the model; "
            "in bold, with ✓ for better and ✗ for worse, where p < 0.05 after Holm's correction "
            "over the row. n: units, of which the intervals and p are.\n"
        )
    notes += [
        f"{_escaped(row.model)}, {_escaped(row.record.strategy)} is not compared: "
        f"{_escaped(row.problem)}.\n"
        for row in section.rows
        if row.problem
    ]
    sources = dict.fromkeys(
        figure.origin for row in section.rows for found in row.printed.values() for figure in found
    )
    if sources:
        notes.append(f"Printed: {_escaped('; '.join(sources))}.\n")
    facts = [f"data {section.data}", *dict.fromkeys(map(_facts, section.rows))]
    return [*notes, "Made with:\n", *(f"- {_escaped(fact)}" for fact in facts), ""]


def _facts(row: Row) -> str:
    r = row.record
    versions = ", ".join(f"{name} {version}" for name, version in r.versions.items())
    return (
        f"{row.model}, {strategy_text(r, full=True)}: image side {r.image_fingerprint}, "
        f"text side {r.text_fingerprint}, seed {r.seed}, {versions}"
    )


def _markdown_cell(row: Row, column: Column) -> str:
    name = column.metric
    if column.printed:
        return _escaped(", ".join(f"{p.method} {p.text}" for p in row.printed.get(name, ())))
    if name not in row.record.metrics:
        return ""
    text = _cell(name, row.record.metrics[name])
    if name not in row.differences:
        return text
    change = change_text(name, row.differences[name])
    mark = {"better": "✓", "worse": "✗"}.get(verdict(name, row.differences[name]))
    return f"{text} **{change} {mark}**" if mark else f"{text} {change}"


def markdown_rows(rows: Sequence[Sequence[str]]) -> str:
    """Lines of a Markdown table; the second tells how its columns are set."""
    return "\n".join(f"| {' | '.join(row)} |" for row in rows)


def _escaped(text: str) -> str:
    """Text that stays one cell and is not taken for HTML."""
    plain = " ".join(text.encode("utf-8", "replace").decode().split())
    return plain.replace("&", "&amp;").replace("<", "&lt;").replace("|", "\\|")


def _chance_text(value: float | None, metric: str) -> str:
    return "" if value is None else value_text(metric, value)


def _cell(name: str, metric: Metric) -> str:
    return f"{value_text(name, metric.value)} {interval_text(name, metric.low, metric.high)}"
