"""Cement loss, side by side: what the margin costs over open_clip's loss of the same table.

    python benchmarks/cement.py

On the CPU, random vectors of N pairs and their N changed pairs, forward and backward. Both run one
after the other again and again, and it is the ratio within a round that counts, so that what else
the machine does weighs on both alike. The way from vectors to unit vectors counts for both.
"""

import argparse
import statistics
import time
from collections.abc import Callable

import numpy as np
import torch
from open_clip import ClipLoss
from torch import Tensor
from torch.nn.functional import normalize

from litotes.losses.cement import CementLoss

PAIRS, DIM = (64, 256, 1024), 512
SLOWEST = 1.15
SCALE = 100.0


def main() -> None:
    """Prints median times and their ratio; fails if the bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--runs", type=int, default=21)
    parser.add_argument("--threads", type=int, default=torch.get_num_threads())
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    torch.manual_seed(0)
    print(f"d = {DIM}, float32, {options.threads} threads, median of {options.runs} rounds")
    met = [compared(pairs, options.runs) for pairs in PAIRS]
    if not all(met):
        raise SystemExit("failed")


def compared(pairs: int, runs: int) -> bool:
    """Both losses of a table of ``2 pairs`` by ``2 pairs``."""
    v, t, changed, seen = (torch.randn(pairs, DIM, requires_grad=True) for _ in range(4))
    images, texts = (torch.cat(x).detach().requires_grad_() for x in ([v, seen], [t, changed]))
    concreteness = 1 + 4 * torch.rand(pairs)
    cement, clip, scale = CementLoss(m_min=1, m_max=5), ClipLoss(), torch.tensor(SCALE)

    def with_margin() -> None:
        total = cement(v, t, changed, concreteness, seen).total
        torch.autograd.grad(total, (v, t, changed, seen))

    def without() -> None:
        loss: Tensor = clip(normalize(images, dim=-1), normalize(texts, dim=-1), scale)
        torch.autograd.grad(loss, (images, texts))

    times = [(seconds(with_margin), seconds(without)) for _ in range(runs + 1)][1:]
    ratios = np.array([ours / theirs for ours, theirs in times])
    drawn = np.random.default_rng(0).choice(ratios, (2000, runs))
    low, high = np.quantile(np.median(drawn, axis=1), [0.025, 0.975])
    ours, theirs = (1e3 * statistics.median(way) for way in zip(*times, strict=True))
    print(
        f"{2 * pairs} x {2 * pairs}: {ours:.1f} ms against {theirs:.1f} ms, "
        f"{np.median(ratios):.2f} times as long [{low:.2f}, {high:.2f}] (bar: {SLOWEST:g})"
    )
    return bool(np.median(ratios) <= SLOWEST)


def seconds(work: Callable[[], None]) -> float:
    """How long something takes."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
