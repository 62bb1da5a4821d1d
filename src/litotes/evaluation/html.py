"""A report as one HTML file that needs no other."""

import base64
from collections.abc import Mapping, Sequence

from litotes.data.html import escaped
from litotes.evaluation.plots import FEW_ROWS, Look, has_plot, looks, plot_section, sign
from litotes.evaluation.printed import Printed
from litotes.evaluation.report import (
    Column,
    Row,
    Section,
    change_text,
    interval_text,
    strategy_text,
    value_text,
    verdict,
)

# A table of more columns is turned: a row a metric.
_WIDEST = 9

_STYLE = """
:root { color-scheme: light dark; --back: #fafafa; --card: #fff; --text: #1c1c1e; --dim: #6b6b70;
  --line: #e3e3e6; --better: #155c2b; --better-back: #e2f2e6; --worse: #8c1d12;
  --worse-back: #fbe6e4; }
@media (prefers-color-scheme: dark) { :root { --back: #151517; --card: #1f1f22; --text: #eeeef0;
  --dim: #9a9aa1; --line: #323236; --better: #a8e3b9; --better-back: #173a22; --worse: #f6b8b1;
  --worse-back: #46201c; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 1280px; padding: 28px clamp(14px, 3vw, 40px) 40px;
  background: var(--back); color: var(--text);
  font: 15px/1.45 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
h1 { margin: 0 0 10px; font-size: 26px; font-weight: 650; letter-spacing: -0.01em;
  overflow-wrap: anywhere; }
h2 { margin: 0 0 12px; font-size: 19px; font-weight: 600; overflow-wrap: anywhere; }
h2 small { margin-left: 6px; color: var(--dim); font-size: 15px; font-weight: 400; }
p { margin: 0 0 12px; max-width: 80ch; color: var(--dim); }
.legend { max-width: none; }
.legend span { margin-right: 14px; white-space: nowrap; }
nav { display: flex; flex-wrap: wrap; gap: 6px 16px; margin: 14px 0 0; }
a { color: inherit; }
section { margin-top: 26px; padding: 20px 22px; border: 1px solid var(--line); border-radius: 10px;
  background: var(--card); }
.wide { overflow-x: auto; }
table { border-collapse: collapse; font-variant-numeric: tabular-nums; }
th, td { padding: 7px 16px 7px 0; border-bottom: 1px solid var(--line); text-align: left;
  vertical-align: top; }
th { font-weight: 600; }
thead th { border-bottom-color: var(--dim); font-size: 13px; vertical-align: bottom; }
tbody th { min-width: 12ch; max-width: 40ch; overflow-wrap: anywhere; }
small { color: var(--dim); font-size: 12px; font-weight: 400; }
th > small, td > small { display: block; }
td > * { white-space: nowrap; }
.change { display: inline-block; margin-left: 6px; padding: 0 6px; border-radius: 99px;
  color: var(--dim); font-size: 13px; }
.better { background: var(--better-back); color: var(--better); }
.worse { background: var(--worse-back); color: var(--worse); }
.printed, .chance td, .chance th { color: var(--dim); font-weight: 400; }
details { margin-top: 16px; }
summary { cursor: pointer; font-weight: 600; }
details > * + * { margin-top: 10px; }
.facts { font-size: 13px; }
.facts td { overflow-wrap: anywhere; }
img { display: block; max-width: 100%; height: auto; }
footer { margin-top: 24px; color: var(--dim); font-size: 13px; }
"""


def html_report(
    report: Sequence[Section], title: str = "What the models understand", more: str = ""
) -> str:
    """A page of tables and plots, a part a data set.

    Args:
        report: what to show.
        title: of the page.
        more: HTML that goes behind it.

    Raises:
        LitotesError: matplotlib is not installed.
    """
    links = "".join(
        f'<a href="#{number}">{escaped(section.task)}, {escaped(section.split)}</a>'
        for number, section in enumerate(report)
    )
    look = looks(report)
    parts = "".join(_section(section, number, look) for number, section in enumerate(report))
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy"
  content="default-src 'none'; img-src data:; style-src 'unsafe-inline'">
<title>{escaped(title)}</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>{escaped(title)}</h1>
<p>In per cent, sums of recalls (rSum) apart; in brackets 95 % bootstrap intervals. ▲ ▼: the
difference from the first plain record of the same model, or from the base that was asked for;
<span class="change better">better</span> <span class="change worse">worse</span> where
p &lt; 0.05 by a sign-flip test of the same units, after Holm’s correction over the record’s
metrics; n: the units, of which intervals and p are.</p>
{_legend(look)}<nav>{links if len(report) > 1 else ""}</nav>
{parts}
{more}
<footer>litotes report</footer>
</body>
</html>
"""


def _legend(look: Mapping[str, Look]) -> str:
    """What the plots' colours and markers mean, once for all of them."""
    if not look:
        return ""
    names = "".join(
        f'<span><b style="color:{one[0]}">{sign(one)}</b> {escaped(name)}</span>'
        for name, one in look.items()
    )
    return (
        f'<p class="legend">In the plots: {names}<span>◇ printed</span><span>┈ chance</span>'
        "<span>pale: p is 0.05 or more</span></p>\n"
    )


def _section(section: Section, number: int, look: Mapping[str, Look]) -> str:
    problems = "".join(
        f"<p>{escaped(row.model)}, {escaped(row.record.strategy)} is not compared: "
        f"{escaped(row.problem)}.</p>"
        for row in section.rows
        if row.problem
    )
    return f"""<section id="{number}">
<h2>{escaped(section.task)}<small>{escaped(section.split)}</small></h2>
<div class="wide">{_table(section)}</div>
{problems}{_plot(section, look)}{_printed(section.printed)}{_facts(section)}</section>
"""


def _table(section: Section) -> str:
    """A row a record; turned where it would be too wide."""
    columns = section.columns
    grid = [
        [_tag("th", ""), *(_heading(section, column) for column in columns)],
        *(
            [_record_heading(row), *(_cell(row, column) for column in columns)]
            for row in section.rows
        ),
    ]
    if section.chance:
        grid.append([_tag("th", "chance"), *(_chance(section, column) for column in columns)])
    if len(columns) > _WIDEST:
        grid = [list(line) for line in zip(*grid, strict=True)]
    head, *body = ["".join(line) for line in grid]
    rows = "".join(f"<tr>{line}</tr>\n" for line in body)
    return f"<table><thead><tr>{head}</tr></thead>\n<tbody>{rows}</tbody></table>"


def _heading(section: Section, column: Column) -> str:
    if column.printed:
        return _tag("th", f"printed<small>{escaped(column.metric)}</small>", "printed")
    units = section.units(column.metric)
    return _tag("th", escaped(column.metric) + (f"<small>{units}</small>" if units else ""))


def _record_heading(row: Row) -> str:
    record = row.record
    full = escaped(strategy_text(record, full=True))
    short = escaped(strategy_text(record))
    return f'<th title="{full}">{escaped(row.model)}<small>{short}</small></th>'


def _cell(row: Row, column: Column) -> str:
    name = column.metric
    if column.printed:
        found = row.printed.get(name, ())
        lines = (f"<div>{p.text} <small>{escaped(p.method)}</small></div>" for p in found)
        return _tag("td", "".join(lines), "printed")
    metric = row.record.metrics.get(name)
    if metric is None:
        return _tag("td", "")
    interval = f"<small>{interval_text(name, metric.low, metric.high)}</small>"
    shown = f"<span>{value_text(name, metric.value)}{_change(row, name)}</span>{interval}"
    return _tag("td", shown)


def _change(row: Row, name: str) -> str:
    difference = row.differences.get(name)
    if difference is None:
        return ""
    interval = interval_text(name, difference.low, difference.high)
    hint = f"95 % {interval}, p {difference.p:.4f}, after Holm {difference.p_holm:.4f}"
    return (
        f'<span class="change {verdict(name, difference)}" title="{hint}">'
        f"{change_text(name, difference)}</span>"
    )


def _chance(section: Section, column: Column) -> str:
    value = None if column.printed else section.chance.get(column.metric)
    return _tag("td", "" if value is None else value_text(column.metric, value), "printed")


def _plot(section: Section, look: Mapping[str, Look]) -> str:
    if not has_plot(section):
        return (
            f"<p>Not drawn: a plot of {len(section.rows):,} records and "
            f"{len(section.metrics):,} metrics could not be read.</p>"
        )
    light, dark = (_data(plot_section(section, look, dark=dark)) for dark in (False, True))
    # A long one would stand between the reader and the next table.
    opened = " open" if len(section.metrics) <= 16 and len(section.rows) <= FEW_ROWS else ""
    return f"""<details{opened}><summary>Plot</summary>
<picture><source media="(prefers-color-scheme: dark)" srcset="{dark}">
<img src="{light}" alt="Values and differences of the table, with their intervals"></picture>
</details>
"""


def _data(svg: str) -> str:
    return f"data:image/svg+xml;base64,{base64.b64encode(svg.encode()).decode()}"


def _printed(figures: Sequence[Printed]) -> str:
    """All that papers print for the task: also of models that were not measured here."""
    if not figures:
        return ""
    rows = "".join(
        f"<tr><td>{escaped(p.model)}</td><td>{escaped(p.method)}</td><td>{escaped(p.metric)}</td>"
        f"<td>{p.text}</td><td>{escaped(p.origin)}</td></tr>\n"
        for p in figures
    )
    return f"""<details><summary>What papers print</summary>
<div class="wide"><table class="facts"><thead><tr><th>model</th><th>method</th><th>metric</th>
<th>printed</th><th>source</th></tr></thead><tbody>{rows}</tbody></table></div></details>
"""


def _facts(section: Section) -> str:
    """What it takes to make each number again."""
    rows = "".join(
        f"<tr><td>{escaped(row.model)}</td>"
        f"<td>{escaped(strategy_text(row.record, full=True))}</td>"
        f"<td>{escaped(row.record.image_fingerprint)}</td>"
        f"<td>{escaped(row.record.text_fingerprint)}</td><td>{row.record.seed}</td>"
        f"<td>{escaped(', '.join(f'{n} {v}' for n, v in row.record.versions.items()))}</td></tr>\n"
        for row in section.rows
    )
    return f"""<details><summary>What made each number</summary>
<p>Data {escaped(section.data)}.</p>
<div class="wide"><table class="facts"><thead><tr><th>model</th><th>strategy</th>
<th>image side</th><th>text side</th><th>seed</th><th>versions</th></tr></thead>
<tbody>{rows}</tbody></table></div></details>
"""


def _tag(name: str, content: str, kind: str = "") -> str:
    return f'<{name} class="{kind}">{content}</{name}>' if kind else f"<{name}>{content}</{name}>"
