"""The leaderboard: whose figures stand where, and what is called the best."""

import numpy as np
import pytest

from litotes.evaluation.leaderboard import Column, leaderboard
from litotes.evaluation.record import Record

COLUMNS = (
    Column("exclusion", "violating@10", "violating"),
    Column("retrieval", "rSum", "plain rSum"),
    Column("scenes", "mcq macro", "mcq"),
)


@pytest.fixture
def made(tiny_encoder):
    def make(task, strategy, metric, values):
        return Record.make(
            tiny_encoder,
            task=task,
            split="dev",
            data="d",
            strategy=strategy,
            outcomes={metric: np.array(values, dtype=float)},
        )

    return make


def cells(table):
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]


def test_rows_are_strategies_and_what_was_not_measured_is_empty(made):
    records = [
        made("exclusion", "plain", "violating@10", [0.5] * 30),
        made("exclusion", "ours", "violating@10", [0.1] * 30),
        made("retrieval", "plain", "rSum", [300.0, 310.0]),
        made("unknown", "plain", "rSum", [1.0]),
    ]
    head, _, plain, ours = cells(leaderboard(records, COLUMNS))
    assert head == ["model", "strategy", "violating", "plain rSum"]
    assert plain[1:] == ["plain", "50.0 [50.0, 50.0]", "**305.0** [300.0, 310.0]"]
    assert ours[1:] == ["ours", "**10.0** [10.0, 10.0]", ""]


def test_what_cannot_be_told_from_the_best_is_bold_too(made):
    rng = np.random.default_rng(0)
    base = rng.random(200) * 0.5
    records = [
        made("exclusion", "best", "violating@10", base),
        made("exclusion", "alike", "violating@10", base + rng.normal(0, 0.1, 200)),
        made("exclusion", "worse", "violating@10", base + 0.2),
    ]
    *_, best, alike, worse = cells(leaderboard(records, COLUMNS))
    assert "**" in best[2]
    assert "**" in alike[2]
    assert "**" not in worse[2]
