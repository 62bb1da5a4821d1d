"""Settings of the strategies for one's own model, chosen on captioned photographs."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypeAlias

from pydantic import BaseModel, ConfigDict, TypeAdapter

from litotes.backbones.encoder import DualEncoder
from litotes.backbones.vectors import image_vectors
from litotes.data.files import write_atomically
from litotes.data.json_files import read_json
from litotes.errors import DataError
from litotes.evaluation.exclusion import ExclusionTask
from litotes.steering import NegationDirection
from litotes.strategies import (
    Calibrated,
    Images,
    Plain,
    Steer,
    Strategy,
    Subspace,
    Subtract,
)

Tunable: TypeAlias = Subtract | Subspace | Steer | Calibrated
Grid = Mapping[str, Sequence[Any]]

PROMPTS = ("a photo of {}", "a snapshot showing {}", "one can see {}", "{}")
GRIDS: Mapping[type[Tunable], Grid] = {
    Subtract: {"beta": (0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 1.0), "prompt": PROMPTS},
    Subspace: {"threshold": (0.3, 0.5, 0.7, 0.8, 0.85, 0.9, 0.95), "prompt": PROMPTS},
    Steer: {"alpha": (0.05, 0.13, 0.25, 0.4)},
    Calibrated: {
        "affirmed": PROMPTS,
        "excluded": PROMPTS,
        "affirmed_contrast": (0.0, 0.3, 0.5, 0.7),
        "excluded_contrast": (0.0, 0.3, 0.5, 0.7),
        "affirmed_threshold": (2.0, 2.5, 3.0, 4.0),
        "affirmed_slope": (1.0, 1.5, 2.0, 3.0),
        "excluded_threshold": (0.5, 1.0, 1.5, 2.0),
        "excluded_slope": (0.5, 1.0, 2.0),
        "votes": (0.0, 0.25, 0.5, 0.7),
        "beta": (0.2, 0.4, 0.6),
    },
}
"""What is tried of each setting."""
SETTINGS, DIRECTION = "tuned.json", "direction.safetensors"
ROUNDS = 2
"""Settings are chosen one after the other, and once more."""


class Tuned(BaseModel):
    """Settings that were chosen for a model.

    Attributes:
        model: whose they are.
        image_fingerprint, text_fingerprint: of its sides.
        best: the strategy that reached most.
        settings: of each strategy.
        reached: by each strategy, right@10 − violating@10 on what they were chosen on.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str
    image_fingerprint: str
    text_fingerprint: str
    best: str
    settings: dict[str, dict[str, Any]]
    reached: dict[str, float]

    @classmethod
    def read(cls, folder: Path, encoder: DualEncoder) -> "Tuned":
        """What `litotes tune` wrote.

        Raises:
            DataError: it is missing or malformed, or of another model; says which.
        """
        tuned = read_json(folder / SETTINGS, TypeAdapter(cls))
        if (tuned.image_fingerprint, tuned.text_fingerprint) != (
            encoder.image_fingerprint,
            encoder.text_fingerprint,
        ):
            raise DataError(
                f"{folder} was tuned for {tuned.model} ({tuned.image_fingerprint}, "
                f"{tuned.text_fingerprint}), not for {encoder.label} "
                f"({encoder.image_fingerprint}, {encoder.text_fingerprint}): run `litotes tune`"
            )
        return tuned

    def save(self, folder: Path) -> None:
        """Write them into a folder, atomically."""
        folder.mkdir(parents=True, exist_ok=True)
        write_atomically(folder / SETTINGS, self.model_dump_json(indent=2) + "\n")


def tuned_strategy(folder: Path, encoder: DualEncoder, name: str = "default") -> Strategy:
    """A strategy with the settings that were chosen for a model.

    Args:
        folder: that `litotes tune` wrote.
        encoder: the model.
        name: of a strategy; ``"default"`` is the one that reached most.

    Raises:
        DataError: the folder is of another model, or holds no such strategy.
    """
    tuned = Tuned.read(folder, encoder)
    wanted = tuned.best if name == "default" else name
    if wanted == Plain.name:
        return Plain()
    kind = next((kind for kind in GRIDS if kind.name == wanted), None)
    if kind is None or wanted not in tuned.settings:
        known = ", ".join([Plain.name, *tuned.settings])
        raise DataError(f"{folder}: the strategy {name!r} was not tuned: choose from {known}")
    settings = tuned.settings[wanted]
    if kind is Steer:
        settings = settings | {"direction": NegationDirection.load(folder / DIRECTION)}
    return kind(**settings)


def tune(
    encoder: DualEncoder,
    task: ExclusionTask,
    direction: NegationDirection | None,
    on_tried: Callable[[], object] = lambda: None,
) -> Tuned:
    """Choose all strategies' settings by what they reach on exclusions.

    Each setting in its turn is given the value that makes right@10 − violating@10 highest, the
    others being as they are.

    Args:
        encoder: the model.
        task: such as :func:`~litotes.evaluation.make_exclusion.make_exclusion` makes.
        direction: for `steer`; without one it is not tuned.
        on_tried: called after each try; see :func:`tries`.
    """
    names = task.photographs()
    images = Images(image_vectors(encoder, [task.images / name for name in names]))

    def reached(strategy: Strategy) -> float:
        violating, right = task.outcomes(encoder, strategy, names, images).mean(0)
        on_tried()
        return float(right - violating)

    reached_by = {Plain.name: reached(Plain())}
    settings = {}
    for kind, grid in _grids(direction):
        start = Steer(direction) if kind is Steer else kind()
        value, best = _climb(start, grid, reached)
        reached_by[best.name] = value
        settings[best.name] = {field: getattr(best, field) for field in grid}
    return Tuned(
        model=encoder.label,
        image_fingerprint=encoder.image_fingerprint,
        text_fingerprint=encoder.text_fingerprint,
        best=max(reached_by, key=lambda name: reached_by[name]),
        settings=settings,
        reached=reached_by,
    )


def tries(direction: NegationDirection | None) -> int:
    """How many settings :func:`tune` tries at most."""
    return 1 + sum(1 + ROUNDS * sum(map(len, grid.values())) for _, grid in _grids(direction))


def _grids(direction: NegationDirection | None) -> list[tuple[type[Tunable], Grid]]:
    return [(kind, grid) for kind, grid in GRIDS.items() if direction or kind is not Steer]


def _climb(
    start: Tunable, grid: Grid, reached: Callable[[Tunable], float]
) -> tuple[float, Tunable]:
    """The best found by changing one setting after the other."""
    best, value = start, reached(start)
    for _ in range(ROUNDS):
        before = best
        for name, options in grid.items():
            for option in options:
                tried = replace(best, **{name: option})
                if tried != best and (found := reached(tried)) > value:
                    best, value = tried, found
        if best == before:
            break
    return value, best
