"""`litotes compare`: what changed from one record to another."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from litotes.cli.common import AsJson, StrategyName, given_path, print_json, printable

if TYPE_CHECKING:
    from litotes.evaluation.compare import Comparison
    from litotes.evaluation.record import Record

_STYLES = {"better": "green", "worse": "red", "unsure": "dim"}


def compare(
    a: Annotated[
        Path, typer.Argument(parser=given_path, metavar="A", help="Records to compare with.")
    ],
    b: Annotated[Path, typer.Argument(parser=given_path, metavar="B", help="Records to compare.")],
    strategy: Annotated[
        str | None,
        typer.Option(
            metavar="NAME|A:B",
            help="Only this strategy; or as plain:steer, A's first with B's second.  "
            "[default: each with its own]",
            show_default=False,
        ),
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Compare records of the same data, unit by unit: difference, 95 % interval and p.

    A record of A is compared with that of B of the same task, split and strategy.
    """
    from litotes.evaluation.compare import compare as compare_records
    from litotes.evaluation.compare import matched
    from litotes.evaluation.record import read_records

    of_a, of_b = read_records(a), read_records(b)
    known = dict.fromkeys([*(r.strategy for r in [*of_a, *of_b]), *list(StrategyName)[:-1]])
    for name in strategy.split(":", 1) if strategy else ():
        if name and name not in known:
            raise typer.BadParameter(
                f"there is no strategy {name!r}: choose from {', '.join(known)}",
                param_hint="--strategy",
            )
    pairs = matched(of_a, of_b, strategy)
    comparisons = [compare_records(one, other) for one, other in pairs]
    if as_json:
        print_json([_as_document(comparison) for comparison in comparisons])
        return
    console = Console()
    for comparison in comparisons:
        console.print(_table(comparison))
    console.print(
        Text("p: sign-flip test, two-sided; Holm: corrected over the metrics of its table.", "dim")
    )


def _as_document(comparison: "Comparison") -> dict[str, Any]:
    from dataclasses import asdict

    kept = {"model", "image_fingerprint", "text_fingerprint", "strategy", "settings"}
    return {
        "task": comparison.a.task,
        "split": comparison.a.split,
        "data_fingerprint": comparison.a.data_fingerprint,
        "a": comparison.a.model_dump(include=kept),
        "b": comparison.b.model_dump(include=kept),
        "metrics": {name: asdict(found) for name, found in comparison.differences.items()},
    }


def _table(comparison: "Comparison") -> Table:
    from litotes.evaluation.report import change_text, interval_text, value_text, verdict

    a, b = comparison.a, comparison.b
    table = Table(
        title=Text(printable(f"{a.task}, {a.split}\nA: {_name(a)}\nB: {_name(b)}")),
        title_justify="left",
        title_style="bold",
        box=None,
        header_style="bold",
    )
    table.add_column("", overflow="fold")
    for heading in ("A", "B", "B − A", "95 %", "p", "p (Holm)", "units"):
        table.add_column(heading, justify="right", no_wrap=True)
    for name, found in comparison.differences.items():
        style = _STYLES[verdict(name, found)]
        table.add_row(
            Text(printable(name)),
            value_text(name, found.a),
            value_text(name, found.b),
            Text(change_text(name, found), style),
            Text(interval_text(name, found.low, found.high)),
            f"{found.p:.4f}",
            Text(f"{found.p_holm:.4f}", style),
            f"{found.units:,}",
        )
    return table


def _name(record: "Record") -> str:
    from litotes.evaluation.report import strategy_text

    return f"{record.model}, {strategy_text(record)}"
