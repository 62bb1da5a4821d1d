"""Hyperbolic contrast, side by side: what the geometry costs over plain matrix products.

    python benchmarks/hyperbolic.py

On the CPU, random vectors, by turns, so that what else the machine does weighs on both alike:

- HANCLIP's contrast, forward and backward, against the same tables of cosines;
- the table of distances against geoopt's, which broadcasts, forward and backward;
- memory at its peak, for two sizes of batch, each in a process of its own: in units of one table
  of the batch, it must not grow.
"""

import argparse
import multiprocessing
import re
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import geoopt
import torch
from torch import Tensor

from litotes.geometry.poincare import exp0, pairwise_distance
from litotes.losses.hanclip import NegationContrast

BATCH, DIM = 1024, 512
GEOOPT_BATCH = 256
CURVATURE = 0.1
SLOWEST, FASTER, GROWTH = 2.0, 100.0, 1.2


def main() -> None:
    """Prints median times, ratios and memory; fails if a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    print(f"d = {DIM}, float32, {options.threads} threads, median of {options.runs} runs")
    met = [contrast(options.runs), table(options.runs), memory()]
    if not all(met):
        raise SystemExit("failed")


def contrast(runs: int) -> bool:
    """Hyperbolic against cosine."""
    leaves = [torch.randn(BATCH, DIM, requires_grad=True) for _ in range(4)]
    times = by_turns(
        {
            "hyperbolic": lambda: train_step(NegationContrast("hyperbolic"), leaves),
            "cosine": lambda: train_step(NegationContrast("cosine"), leaves),
        },
        runs,
    )
    ratio = times["hyperbolic"] / times["cosine"]
    print(f"contrast, B = {BATCH}: {ratio:.2f} times as long as cosine's (bar: {SLOWEST:g})")
    return ratio <= SLOWEST


def train_step(loss: NegationContrast, leaves: list[Tensor]) -> None:
    """Forward and backward."""
    torch.autograd.grad(loss(*leaves).total, leaves)


def table(runs: int) -> bool:
    """One table of distances, against geoopt's broadcasting."""
    ball = geoopt.PoincareBall(c=CURVATURE)
    x, y = (exp0(torch.randn(GEOOPT_BATCH, DIM) / 8, CURVATURE).requires_grad_() for _ in "xy")
    difference = (pairwise_distance(x, y, CURVATURE) - ball.dist(x[:, None], y)).abs().max().item()
    times = by_turns(
        {
            "litotes": lambda: differentiate(pairwise_distance(x, y, CURVATURE), x, y),
            "geoopt": lambda: differentiate(ball.dist(x[:, None], y), x, y),
        },
        runs,
    )
    ratio = times["geoopt"] / times["litotes"]
    print(f"table, B = {GEOOPT_BATCH}: {ratio:.0f} times as fast as geoopt's (bar: {FASTER:g});")
    print(f"    largest difference {difference:.1e}")
    return ratio >= FASTER and difference < 1e-4


def differentiate(distances: Tensor, x: Tensor, y: Tensor) -> None:
    """Backward from a table's sum."""
    torch.autograd.grad(distances.sum(), (x, y))


def by_turns(ways: dict[str, Callable[[], None]], runs: int) -> dict[str, float]:
    """Median seconds of each, after a first run that does not count; printed too."""
    times = {name: list[float]() for name in ways}
    for _ in range(runs + 1):
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            times[name].append(time.perf_counter() - start)
    for name, values in times.items():
        counted = sorted(values[1:])
        middle = statistics.median(counted)
        print(f"{name:10} {1e3 * middle:8.1f} ms  (from {1e3 * counted[0]:.1f})")
    return {name: statistics.median(values[1:]) for name, values in times.items()}


def memory() -> bool:
    """Peaks of two sizes, in tables of ``B²`` float32."""
    tables = []
    for batch in (BATCH, 2 * BATCH):
        with multiprocessing.get_context("spawn").Pool(1) as pool:
            peak = pool.apply(peak_of, (batch,))
        tables.append(peak / (4 * batch**2))
        print(
            f"peak of the contrast, B = {batch}: {peak / 2**20:.0f} MiB, {tables[-1]:.1f} tables"
            f" (one B x B x d would be {4 * batch**2 * DIM / 2**20:.0f} MiB)"
        )
    return tables[1] <= GROWTH * tables[0]


def peak_of(batch: int) -> int:
    """Bytes that a step adds to what the process holds, at its peak."""
    torch.set_num_threads(1)
    loss = NegationContrast("hyperbolic")
    train_step(loss, [torch.randn(8, DIM, requires_grad=True) for _ in range(4)])
    leaves = [torch.randn(batch, DIM, requires_grad=True) for _ in range(4)]
    Path("/proc/self/clear_refs").write_text("5")  # the peak so far is forgotten
    before = peak_memory()
    train_step(loss, leaves)
    return peak_memory() - before


def peak_memory() -> int:
    """Bytes that this process held at its peak, by Linux's account."""
    status = Path("/proc/self/status").read_text()
    return 1024 * int(re.search(r"VmHWM:\s+(\d+) kB", status)[1])


if __name__ == "__main__":
    main()
