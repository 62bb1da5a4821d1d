"""The tasks of `litotes eval` by name, and how each reads its data."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import typer

from litotes.cli.common import printable_path
from litotes.errors import DataError

if TYPE_CHECKING:
    from litotes.backbones.encoder import DualEncoder
    from litotes.evaluation.choice import Question
    from litotes.evaluation.judged import JudgedTask
    from litotes.evaluation.judges import Judge
    from litotes.evaluation.record import Record
    from litotes.strategies import Strategy

SCENES_SWEPT = ("multiple choice", "exclusion")


@dataclass(frozen=True)
class Asked:
    """A task as it was asked for on the command line.

    Attributes:
        name: of the task.
        data: file or folder.
        images: folder of the pictures.
        split: which part of the data.
        count: how many scenes.
        seed: of what is drawn by lot.
        classes, templates: of a classification.
        judge: makes the judge; None if none was asked for.
        sweep: whether many settings are tried.
    """

    name: str
    data: Path | None
    images: Path | None
    split: str
    count: int
    seed: int
    classes: str | None
    templates: str | None
    judge: "Callable[[], Judge] | None"
    sweep: bool

    @cached_property
    def place(self) -> Path:
        """The data, without which there is nothing to read."""
        if self.data is None:
            raise typer.BadParameter(
                f"the task {self.name} needs data: {self.name}=PATH, or --data PATH"
            )
        return self.data

    def file(self, name: str) -> Path:
        """The data's file, or the one of that name in the data's folder."""
        return self.place / name if self.place.is_dir() else self.place

    @property
    def pictures(self) -> Path:
        """Folder of the pictures: by default ``images`` beside the data, or in its folder."""
        folder = self.place if self.place.is_dir() else self.place.parent
        return self.images or folder / "images"

    def required_judge(self) -> "Callable[[], Judge]":
        """What makes the judge, for a task that is nothing without."""
        if self.judge is None:
            raise typer.BadParameter(
                f"the task {self.name} needs a judge: --judge MODEL, and --judge-url for a server"
            )
        return self.judge


Run = Callable[["DualEncoder", "Sequence[Strategy]"], "list[Record]"]


def _stays(place: Path) -> bool:
    return place.is_file() or place.is_dir()


def read_task(asked: Asked) -> Run:
    """What measures an encoder on a task whose data was read, and whose pictures are all there.

    Models are loaded later, so that what is wrong with the data is known at once.

    Raises:
        DataError: the data is missing or malformed, or pictures are missing.
    """
    if asked.data is not None and asked.data.exists() and not _stays(asked.data):
        raise typer.BadParameter(
            f"{printable_path(asked.data)} is no file that stays, by whose content a record could "
            "name its data: save it first"
        )
    read = TASKS.get(asked.name)
    if read is None:
        raise typer.BadParameter(
            f"there is no task {asked.name!r}: choose from {', '.join(TASKS)}", param_hint="TASK"
        )
    # Known before what reads it is loaded, which takes seconds.
    if asked.data is not None and not asked.data.exists():
        raise DataError(f"there is no file or folder {printable_path(asked.data)}")
    return read(asked)


class _ChoiceTask(Protocol):
    @property
    def images(self) -> Path: ...

    @property
    def questions(self) -> "Sequence[Question]": ...

    def run(self, encoder: "DualEncoder", strategies: "Sequence[Strategy]") -> "list[Record]": ...


def _choice(task: _ChoiceTask) -> Run:
    from litotes.backbones.vectors import require_pictures
    from litotes.evaluation.choice import picture_paths

    require_pictures(picture_paths(task.images, task.questions))
    return task.run


def _exclusion(asked: Asked) -> Run:
    from litotes.backbones.vectors import require_pictures
    from litotes.evaluation.exclusion import ExclusionTask

    task = ExclusionTask.read(asked.place, asked.split, asked.pictures)
    require_pictures([task.images / name for name in task.photographs()])
    return task.run


def _class_exclusion(asked: Asked) -> Run:
    from litotes.evaluation.class_exclusion import read_class_exclusions

    tasks = read_class_exclusions(asked.place, asked.classes)
    return lambda encoder, strategies: [r for t in tasks for r in t.run(encoder, strategies)]


def _retrieval(asked: Asked) -> Run:
    from litotes.backbones.vectors import require_pictures
    from litotes.evaluation.retrieval import RetrievalTask

    task = RetrievalTask.read(asked.place, asked.split, asked.pictures)
    require_pictures([picture.path for picture in task.pictures])
    return task.run


def _published(kind: str, file: str = "") -> Callable[[Asked], Run]:
    def read(asked: Asked) -> Run:
        from litotes.backbones.vectors import require_pictures
        from litotes.evaluation.retrieval import RetrievalTask

        # Karpathy's files have no dev: what others call so is their val.
        split = "val" if (kind, asked.split) == ("karpathy", "dev") else asked.split
        source = asked.file(file.format(split=split)) if file else asked.place
        images = asked.images or (asked.pictures if asked.pictures.is_dir() else None)
        task = RetrievalTask.read_published(kind, source, images, split, asked.name)
        require_pictures([picture.path for picture in task.pictures])
        return task.run

    return read


def _multiple_choice(asked: Asked) -> Run:
    from litotes.evaluation.negbench import MultipleChoiceTask

    file = asked.file(f"mcq_{asked.split}.csv")
    return _choice(MultipleChoiceTask.read(file, asked.pictures))


def _ccneg(asked: Asked) -> Run:
    from litotes.evaluation.ccneg import CcNegTask

    return _choice(CcNegTask.read(asked.file("ccneg_preprocessed.pt"), asked.pictures))


def _sugarcrepe(asked: Asked) -> Run:
    from litotes.evaluation.sugarcrepe import SugarCrepeTask

    return _choice(SugarCrepeTask.read(asked.place, asked.pictures))


def _sugarcrepe_plus(asked: Asked) -> Run:
    from litotes.evaluation.sugarcrepe import SugarCrepePlusTask

    return _choice(SugarCrepePlusTask.read(asked.place, asked.pictures))


def _winoground(asked: Asked) -> Run:
    from litotes.evaluation.winoground import WinogroundTask

    return _choice(WinogroundTask.read(asked.file("examples.jsonl"), asked.pictures))


def _classification(asked: Asked) -> Run:
    from litotes.evaluation.classification import ClassificationTask

    return ClassificationTask.read(asked.place, asked.classes, asked.templates).run


def _latency(asked: Asked) -> Run:
    from litotes.evaluation.latency import LatencyTask

    return LatencyTask(asked.split).run


def _linear_probe(asked: Asked) -> Run:
    from litotes.evaluation.classification import LinearProbeTask

    return LinearProbeTask.read(asked.place, seed=asked.seed).run


def _judged(asked: Asked) -> Run:
    from litotes.evaluation.judged import JudgedTask

    judge = asked.required_judge()
    return _with_judge(JudgedTask.read(asked.place, asked.pictures), judge)


def _simpleneg(asked: Asked) -> Run:
    from litotes.evaluation.judged import SimpleNegTask

    judge = asked.required_judge()
    file = asked.file("simpleneg.json")
    return _with_judge(SimpleNegTask.read(file, asked.pictures), judge)


def _with_judge(task: "JudgedTask", judge: "Callable[[], Judge]") -> Run:
    task.pictures()
    return lambda encoder, strategies: task.run(encoder, strategies, judge())


def _ncoco(asked: Asked) -> Run:
    from litotes.backbones.vectors import require_pictures
    from litotes.evaluation.judged import NCocoTask

    task = NCocoTask.read(asked.file("ncoco.json"), asked.pictures)
    require_pictures([path for paths in task.candidates for path in paths])
    return lambda encoder, strategies: task.run(
        encoder, strategies, asked.judge() if asked.judge else None
    )


def _scenes(asked: Asked) -> Run:
    from litotes.scenes.evaluation import ScenesTask
    from litotes.scenes.world import SPLITS

    split = next((s for s in SPLITS if s == asked.split), None)
    if split is None:
        raise typer.BadParameter(f"scenes have no split {asked.split!r}: {', '.join(SPLITS)}")
    task = ScenesTask(split, asked.count, asked.seed)
    if asked.sweep:
        return replace(task, measures=SCENES_SWEPT).run

    def both(encoder: "DualEncoder", strategies: "Sequence[Strategy]") -> "list[Record]":
        worlds = (task, replace(task, uncommon=True))
        return [record for world in worlds for record in world.run(encoder, strategies)]

    return both


TASKS: dict[str, Callable[[Asked], Run]] = {
    "scenes": _scenes,
    "exclusion": _exclusion,
    "class-exclusion": _class_exclusion,
    "retrieval": _retrieval,
    "negbench-retrieval": _published("negbench", "negated_retrieval_{split}.csv"),
    "negbench-mcq": _multiple_choice,
    "ccneg": _ccneg,
    "simpleneg": _simpleneg,
    "ncoco": _ncoco,
    "judged": _judged,
    "sugarcrepe": _sugarcrepe,
    "sugarcrepe++": _sugarcrepe_plus,
    "winoground": _winoground,
    "karpathy": _published("karpathy"),
    "urban1k": _published("urban1k"),
    "sharegpt4v": _published("sharegpt4v"),
    "classification": _classification,
    "linear-probe": _linear_probe,
    "latency": _latency,
}
"""How each task reads its data."""
