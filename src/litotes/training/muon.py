"""Muon in single precision."""

from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch import Tensor


class Muon(torch.optim.Optimizer):
    """Momentum, orthogonalised by Newton and Schulz's iteration (Jordan et al. 2024).

    ``torch.optim.Muon`` iterates in bfloat16, which most CPUs only emulate: a step of a small
    model takes minutes there. Steps are scaled to AdamW's usual size (arXiv 2502.16982, eq. 4),
    so that one learning rate suits both.

    Args:
        params: weights of two or more dimensions; the first stays, the others are one.
        lr: learning rate.
        momentum: of the gradients' running mean, with Nesterov's look ahead.
        weight_decay: decoupled, as AdamW's.
    """

    def __init__(
        self,
        params: Iterable[Tensor],
        lr: float,
        momentum: float = 0.95,
        weight_decay: float = 0.1,
    ) -> None:
        super().__init__(params, {"lr": lr, "momentum": momentum, "weight_decay": weight_decay})

    @torch.no_grad()
    def step(self, closure: Callable[[], float] | None = None) -> Any:
        """Take one step."""
        assert closure is None
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is None:
                    continue
                state = self.state[weight]
                if not state:
                    state["mean"] = torch.zeros_like(weight)
                mean = state["mean"].lerp_(weight.grad, 1 - group["momentum"])
                update = orthogonalised(weight.grad.lerp(mean, group["momentum"]).flatten(1))
                size = 0.2 * max(update.shape) ** 0.5
                weight.mul_(1 - group["lr"] * group["weight_decay"])
                weight.add_(update.reshape(weight.shape), alpha=-group["lr"] * size)


def orthogonalised(matrix: Tensor) -> Tensor:
    """A matrix ``(m, n)`` with its singular values drawn to about 1, in five iterations."""
    wide = matrix.T if matrix.shape[0] > matrix.shape[1] else matrix
    x = wide / (wide.norm() + 1e-7)
    for _ in range(5):
        gram = x @ x.T
        x = 3.4445 * x + (2.0315 * gram @ gram - 4.7750 * gram) @ x
    return x.T if matrix.shape[0] > matrix.shape[1] else x
