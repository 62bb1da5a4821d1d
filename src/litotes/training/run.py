"""A run's folder: what the run is made of, its checkpoint, its metrics; and learning rates."""

import json
import math
import os
import pickle
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from pathlib import Path
from typing import Any, Protocol

import torch
from rich.console import Console
from rich.progress import Progress
from torch import Tensor

from litotes.data.files import write_atomically
from litotes.errors import DataError

Parts = dict[str, dict[str, Tensor]]
"""The tensors of a checkpoint: by what they are, then by name."""


class Stateful(Protocol):
    """An optimiser or a scheduler."""

    def state_dict(self) -> dict[str, Any]:
        """Everything that has to be kept."""
        ...

    def load_state_dict(self, state_dict: dict[str, Any]) -> Any:
        """Take up what was kept."""
        ...


def bind_run(run: Path, facts: Mapping[str, Any]) -> None:
    """Note in ``run.json`` what a run is made of, or check that it is made of the same.

    Raises:
        DataError: the folder holds a run of something else.
    """
    run.mkdir(parents=True, exist_ok=True)
    content, file = json.dumps(facts, indent=2), run / "run.json"
    if not file.exists():
        write_atomically(file, content)
    elif file.read_bytes() != content.encode():
        raise DataError(
            f"{run} holds a run of another recipe or other captions ({file} says which): "
            f"choose another folder with --run"
        )


def save_checkpoint(
    run: Path, parts: Parts, states: Sequence[Stateful], done: int, metrics: Mapping[str, float]
) -> None:
    """Write ``checkpoint.pt``, atomically, and add a line to ``metrics.jsonl``.

    Args:
        run: the folder.
        parts: tensors to keep.
        states: optimisers and schedulers, in an order that stays.
        done: how many epochs or steps are.
        metrics: of what was done since the checkpoint before.
    """
    temporary = run / "checkpoint.new"
    with temporary.open("wb") as file:
        kept = {k: {n: t.detach() for n, t in part.items()} for k, part in parts.items()}
        torch.save({"parts": kept, "states": [s.state_dict() for s in states], "done": done}, file)
        file.flush()
        os.fsync(file.fileno())
    temporary.replace(run / "checkpoint.pt")
    with (run / "metrics.jsonl").open("a") as lines:
        lines.write(json.dumps(metrics) + "\n")


def load_checkpoint(run: Path, parts: Parts, states: Sequence[Stateful]) -> int:
    """Take up the last checkpoint, if there is one; how many epochs or steps are done.

    Raises:
        DataError: the checkpoint is damaged.
    """
    file = run / "checkpoint.pt"
    if not file.exists():
        return 0
    try:
        kept = torch.load(file, weights_only=True)
        with torch.no_grad():
            for key, part in parts.items():
                for name, tensor in part.items():
                    tensor.copy_(kept["parts"][key][name])
        for state, values in zip(states, kept["states"], strict=True):
            state.load_state_dict(values)
        return int(kept["done"])
    except (
        RuntimeError,
        EOFError,
        pickle.UnpicklingError,
        LookupError,
        TypeError,
        ValueError,
    ) as e:
        raise DataError(f"{file} is damaged: remove it to train anew") from e


def warm_cosine(step: int, total: int, warmup: float) -> float:
    """Share of the peak learning rate: rising over ``warmup``, then half a cosine to zero."""
    rising = max(1, round(total * warmup))
    if step < rising:
        return (step + 1) / rising
    return 0.5 * (1 + math.cos(math.pi * (step - rising) / max(1, total - rising)))


def shown_steps(steps: range, total: int, shown: bool) -> Iterator[int]:
    """Steps of ``total``, with a progress bar on the error stream if it is to be shown."""
    with Progress(console=Console(stderr=True)) if shown else nullcontext() as bar:
        task = bar.add_task("Training", total=total, completed=steps.start) if bar else None
        for step in steps:
            yield step
            if bar and task is not None:
                bar.advance(task)
