"""Plots of records."""

import io
import math
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from litotes.errors import LitotesError
from litotes.evaluation.printed import Printed
from litotes.evaluation.record import Record
from litotes.evaluation.report import Row, Section, scale, strategy_text, verdict

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    # Loads torch, which plots of records do without.
    from litotes.evaluation.gradients import Share

FEW_ROWS = 10
"""So many records are told apart by colour; of more each has a line of its own."""
MOST_ROWS, MOST_METRICS = 60, 16
"""With both more records than FEW_ROWS and more of either than these, a plot is out of size."""
# Okabe and Ito's colours, which colour-blind readers tell apart, without black and yellow.
_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9")
_MARKERS = "osP*Xv^<>h"
_SIGNS = "●■✚★✖▼▲◀▶⬢"
_MEANINGS = {
    "better": "#009e73",
    "worse": "#d55e00",
    "unsure": "#8c8c8c",
    "not compared": "#0072b2",
}
Look: TypeAlias = tuple[str, int]
"""A colour, and the place of a marker."""
_LIGHT = {"text": "#1c1c1e", "line": "#d5d5da"}
_DARK = {"text": "#eeeef0", "line": "#48484e"}


def plot_steering(records: Sequence[Record], metrics: Sequence[str], file: Path) -> None:
    """Draw how far and where to steer: a panel a metric, over α, a line a choice of blocks.

    Args:
        records: of a sweep; those of `steer` are drawn, and `plain` as a dashed line.
        metrics: which of their metrics, all of them shares.
        file: .svg or .png.

    Raises:
        LitotesError: matplotlib is not installed, or no record is of `steer`.
    """
    steered = [r for r in records if r.strategy == "steer"]
    if not steered:
        raise LitotesError("nothing to plot: no record is of the strategy steer")
    figure = _figure(3.6 * len(metrics) + 1.6, 3.6)
    panels = figure.subplots(1, len(metrics), squeeze=False)[0]
    for panel, metric in zip(panels, metrics, strict=True):
        lines: dict[str, list[tuple[float, float]]] = {}
        for record in steered:
            point = (record.settings["alpha"], 100 * record.metrics[metric].value)
            lines.setdefault(_blocks(record.settings["layers"]), []).append(point)
        for name, points in lines.items():
            panel.plot(*zip(*sorted(points), strict=True), marker="o", markersize=3, label=name)
        for record in records:
            if record.strategy == "plain":
                panel.axhline(
                    100 * record.metrics[metric].value, color="0.4", linestyle="--", label="plain"
                )
        panel.set(title=metric, xlabel="α", ylabel="per cent", ylim=(0, 100))
        panel.spines[["top", "right"]].set_visible(False)
    handles, names = panels[0].get_legend_handles_labels()
    figure.legend(handles, names, loc="outside right center", frameon=False)
    _save(figure, file)


def plot_gradients(shares: "Sequence[Share]", file: Path) -> None:
    """Draw hard negatives' shares over the batch size: a panel a kind of rows, a line a loss.

    Bands are the shares' intervals; what is above a line is the share of easy negatives.

    Args:
        shares: of several batch sizes.
        file: .svg or .png.

    Raises:
        LitotesError: matplotlib is not installed.
    """
    kinds = list(dict.fromkeys(share.rows for share in shares))
    figure = _figure(3.6 * len(kinds) + 1.4, 3.6)
    panels = figure.subplots(1, len(kinds), squeeze=False, sharey=True)[0]
    names = dict.fromkeys(share.objective for share in shares)
    for panel, kind in zip(panels, kinds, strict=True):
        for name, colour in zip(names, _COLOURS, strict=False):
            line = [share for share in shares if (share.rows, share.objective) == (kind, name)]
            sizes = [share.batch_size for share in line]
            low, value, high = (
                [100 * bound for bound in bounds]
                for bounds in zip(
                    *((s.hard.low, s.hard.value, s.hard.high) for s in line), strict=True
                )
            )
            panel.plot(sizes, value, marker="o", markersize=3, color=colour, label=name)
            panel.fill_between(sizes, low, high, color=colour, alpha=0.2, linewidth=0)
        panel.set_xscale("log", base=2)
        panel.set_xticks(sizes, [f"{size:,}" for size in sizes], rotation=30)
        panel.minorticks_off()
        panel.set(title=f"rows of {kind}", xlabel="batch size N", ylim=(0, 100))
        panel.spines[["top", "right"]].set_visible(False)
    panels[0].set_ylabel("hard negatives' share, per cent")
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside right center", frameon=False)
    _save(figure, file)


def _save(figure: "Figure", file: Path) -> None:
    """Without a date, and with names drawn from a fixed salt: the same data give the same file."""
    from matplotlib import rc_context

    with rc_context({"svg.hashsalt": "litotes"}):
        figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)


def looks(report: Sequence[Section]) -> dict[str, Look]:
    """How each record of a page is drawn, by its label; see :func:`label`.

    A strategy has one colour on all of the page; records of one strategy have different markers.
    """
    colours: dict[str, str] = {}
    found: dict[str, Look] = {}
    of_strategy: Counter[str] = Counter()
    for row in (row for section in report if _is_small(section) for row in section.rows):
        strategy = row.record.strategy
        colours.setdefault(strategy, _COLOURS[len(colours) % len(_COLOURS)])
        if label(row) not in found:
            found[label(row)] = colours[strategy], of_strategy[strategy] % len(_MARKERS)
            of_strategy[strategy] += 1
    return found


def label(row: Row) -> str:
    """A record in a legend: model and strategy, with its settings."""
    return f"{row.model}, {strategy_text(row.record)}"


def sign(look: Look) -> str:
    """A marker as a character."""
    return _SIGNS[look[1]]


def has_plot(section: Section) -> bool:
    """Whether a plot of a section would be of a size that can be read."""
    return _is_small(section) or (
        len(section.rows) <= MOST_ROWS and len(section.metrics) <= MOST_METRICS
    )


def _is_small(section: Section) -> bool:
    return len(section.rows) <= FEW_ROWS


def plot_section(section: Section, look: Mapping[str, Look], *, dark: bool = False) -> str:
    """Values with their intervals, and beside them the differences from the base, as SVG.

    A sum of recalls is drawn as their mean. What papers print for a record's model is a hollow
    diamond, chance a dotted line; a difference is pale where its corrected p is 0.05 or more.
    Of more than :data:`FEW_ROWS` records each metric has a panel and each record a line, coloured
    by what its difference means.

    Args:
        section: one that :func:`has_plot`.
        look: of the page's records; see :func:`looks`. They are not named in the plot.
        dark: for a dark page; the background is transparent.

    Raises:
        LitotesError: matplotlib is not installed.
    """
    if not _is_small(section):
        return _plot_many(section, _DARK if dark else _LIGHT)
    compared = any(row.differences for row in section.rows)
    names = list(section.metrics)
    height = 1.5 + len(names) * (0.16 + 0.13 * len(section.rows)) + 0.2 * len(section.rows)
    figure = _figure(9.4 if compared else 6.4, height)
    panels = figure.subplots(
        1, 1 + compared, squeeze=False, sharey=True, width_ratios=(3, 2) if compared else None
    )[0]
    for number, row in enumerate(section.rows):
        _draw_values(panels[0], section, number, look[label(row)])
        if compared:
            _draw_differences(panels[1], section, number, look[label(row)])
    _draw_references(panels[0], section)
    panels[0].set_yticks(range(len(names)), [_axis_name(name) for name in names])
    panels[0].set(xlabel="per cent", ylim=(len(names) - 0.5, -0.5))
    if compared:
        panels[1].axvline(0, color="0.6", linewidth=1, zorder=1)
        panels[1].set_xlabel("difference from the base, points")
        panels[1].tick_params(left=False)
    return _svg(figure, panels, _DARK if dark else _LIGHT)


def _plot_many(section: Section, theme: dict[str, str]) -> str:
    names, rows = list(section.metrics), section.rows
    columns = min(4, len(names))
    lines = math.ceil(len(names) / columns)
    figure = _figure(3.2 + 2.1 * columns, 0.6 + lines * (0.6 + 0.19 * len(rows)))
    panels = list(figure.subplots(lines, columns, squeeze=False, sharey=True).flat)
    for panel in panels[len(names) :]:
        panel.remove()
    for name, panel in zip(names, panels, strict=False):
        _draw_lines(panel, section, name)
        panel.set_title(_axis_name(name), fontsize=10, color=theme["text"])
    labels = [_literal(label(row)) for row in rows]
    panels[0].set_yticks(
        range(len(rows)), [text if len(text) <= 48 else f"{text[:47]}…" for text in labels]
    )
    panels[0].set_ylim(len(rows) - 0.5, -0.5)
    names_drawn: dict[str, Any] = {}
    for panel in panels[: len(names)]:
        handles, found = panel.get_legend_handles_labels()
        names_drawn = dict(zip(found, handles, strict=True)) | names_drawn
    figure.legend(
        names_drawn.values(), names_drawn, loc="outside upper left", frameon=False, ncols=6
    )
    return _svg(figure, panels[: len(names)], theme)


def _draw_lines(panel: Any, section: Section, name: str) -> None:
    """A metric of all records, one below the other."""
    for y, row in enumerate(section.rows):
        metric, difference = row.record.metrics.get(name), row.differences.get(name)
        if metric is None:
            continue
        meaning = verdict(name, difference) if difference else "not compared"
        colour = _MEANINGS[meaning]
        panel.plot([_drawn(name, metric.low), _drawn(name, metric.high)], [y, y], color=colour)
        panel.plot(_drawn(name, metric.value), y, "o", color=colour, ms=4, label=meaning)
    if name in section.chance:
        panel.axvline(
            _drawn(name, section.chance[name]), color="0.6", linestyle=":", label="chance"
        )


def _draw_values(panel: Any, section: Section, number: int, look: Look) -> None:
    colour, marker = look
    for name, metric in section.rows[number].record.metrics.items():
        y = _height(section, name, number)
        panel.plot([_drawn(name, metric.low), _drawn(name, metric.high)], [y, y], color=colour)
        panel.plot(_drawn(name, metric.value), y, _MARKERS[marker], color=colour, ms=5)


def _draw_references(panel: Any, section: Section) -> None:
    """Chance, and each printed figure once, beside the first record that it is of."""
    for name, value in section.chance.items():
        centre = section.metrics.index(name)
        panel.vlines(
            *(_drawn(name, value), centre - 0.45, centre + 0.45), color="0.6", linestyle=":"
        )
    for name in section.metrics:
        first: dict[Printed, int] = {}
        for number, row in enumerate(section.rows):
            first = dict.fromkeys(row.printed.get(name, ()), number) | first
        for figure, number in first.items():
            value, y = figure.value / scale(name), _height(section, name, number)
            panel.plot(_drawn(name, value), y, "D", color="0.55", mfc="none", ms=6)


def _draw_differences(panel: Any, section: Section, number: int, look: Look) -> None:
    colour, marker = look
    for name, difference in section.rows[number].differences.items():
        y = _height(section, name, number)
        ink = {"color": colour, "alpha": 1 if difference.significant else 0.45}
        panel.plot([_drawn(name, difference.low), _drawn(name, difference.high)], [y, y], **ink)
        panel.plot(_drawn(name, difference.change), y, _MARKERS[marker], ms=5, **ink)


def _height(section: Section, metric: str, number: int) -> float:
    """Where a record stands in the row of a metric, of height 1."""
    return section.metrics.index(metric) + 0.72 * ((number + 0.5) / len(section.rows) - 0.5)


def _drawn(metric: str, value: float) -> float:
    """A value in per cent; of six recalls' sum their mean."""
    return scale(metric) * value / (6 if metric.endswith("rSum") else 1)


def _axis_name(metric: str) -> str:
    return _literal(f"{metric} ÷ 6" if metric.endswith("rSum") else metric)


def _literal(text: str) -> str:
    """Text that matplotlib takes for no formula, and for no label that it should leave out."""
    escaped = text.replace("$", r"\$")
    return f" {escaped}" if escaped.startswith("_") else escaped


def _figure(width: float, height: float) -> "Figure":
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise LitotesError("plots need matplotlib: `pip install 'litotes[plots]'`") from error
    return Figure(figsize=(width, height), layout="constrained")


def _svg(figure: "Figure", panels: Sequence[Any], theme: dict[str, str]) -> str:
    from matplotlib import rc_context

    for panel in panels:
        panel.spines[["top", "right", "left"]].set_visible(False)
        panel.spines["bottom"].set_color(theme["line"])
        panel.grid(axis="x", color=theme["line"], linewidth=0.6)
        panel.set_axisbelow(True)
        panel.tick_params(colors=theme["text"], length=0)
        panel.xaxis.label.set_color(theme["text"])
    for text in (text for legend in figure.legends for text in legend.get_texts()):
        text.set_color(theme["text"])
    file = io.StringIO()
    # Names within the file are drawn from a fixed salt, and no date stands in it: the same records
    # give the same file.
    with rc_context({"svg.hashsalt": "litotes", "svg.fonttype": "none"}):
        figure.savefig(file, format="svg", transparent=True, metadata={"Date": None})
    return file.getvalue()


def _blocks(layers: Sequence[int] | None) -> str:
    if layers is None:
        return "all blocks"
    if len(layers) == 1:
        return f"block {layers[0]}"
    return f"blocks {layers[0]} to {layers[-1]}"
