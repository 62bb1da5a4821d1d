"""Plots of records."""

from collections.abc import Sequence
from pathlib import Path

from litotes.errors import LitotesError
from litotes.evaluation.record import Record


def plot_steering(records: Sequence[Record], metrics: Sequence[str], file: Path) -> None:
    """Draw how far and where to steer: a panel a metric, over α, a line a choice of blocks.

    Args:
        records: of a sweep; those of `steer` are drawn, and `plain` as a dashed line.
        metrics: which of their metrics, all of them shares.
        file: .svg or .png.

    Raises:
        LitotesError: matplotlib is not installed, or no record is of `steer`.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise LitotesError("plots need matplotlib: `pip install 'litotes[plots]'`") from error
    steered = [r for r in records if r.strategy == "steer"]
    if not steered:
        raise LitotesError("nothing to plot: no record is of the strategy steer")
    figure = Figure(figsize=(3.6 * len(metrics) + 1.6, 3.6), layout="constrained")
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
    # Without a date, so that the same records give the same file.
    figure.savefig(file, metadata={"Date": None} if file.suffix == ".svg" else None)


def _blocks(layers: Sequence[int] | None) -> str:
    if layers is None:
        return "all blocks"
    if len(layers) == 1:
        return f"block {layers[0]}"
    return f"blocks {layers[0]} to {layers[-1]}"
