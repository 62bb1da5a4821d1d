"""Exclusion with exact labels: "not a truck" and "an animal, not a dog" among pictures by class."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from litotes.errors import DataError
from litotes.evaluation.classification import ClassificationTask, fingerprint
from litotes.evaluation.exclusion import TOP, ExclusionPair, ExclusionTask
from litotes.language.phrasing import with_article

KINDS: Mapping[str, Sequence[str]] = {
    "an animal": ("bird", "cat", "deer", "dog", "frog", "horse"),
    "a vehicle": ("airplane", "automobile", "ship", "truck"),
}
"""What classes are, by label: those of CIFAR-10."""
ALONE = ("not {b}", "no {bare}", "anything but {b}", "a photo without {b}", "there is no {bare}")
WITHIN = (
    "{a}, not {b}",
    "{a} but not {b}",
    "{a} that is not {b}",
    "{a}, no {bare}",
    "{a}, anything but {b}",
)


def read_class_exclusions(folder: Path, classes: str | None = None) -> list[ExclusionTask]:
    """Queries that exclude one class each: "not-class" from everything, and "kind-not-class" from
    what is of its kind, where that is known.

    Args:
        folder: of pictures by class: see :class:`ClassificationTask`.
        classes: how they are called: see there.

    Raises:
        DataError: no pictures, an unknown class, or fewer pictures than a query is judged by.
    """
    read = ClassificationTask.read(folder, classes)
    pictures = {
        label: [str(path.relative_to(folder)) for path in group]
        for label, group in read.pictures.items()
    }
    count = sum(map(len, pictures.values()))
    if count < TOP:
        raise DataError(f"{folder} holds {count} pictures: at least {TOP} are needed")
    found: dict[str, list[ExclusionPair]] = {}
    for label in pictures:
        for task, pair in _pairs(label, read.names[label], pictures):
            found.setdefault(task, []).append(pair)
    split = folder.resolve().name
    return [
        ExclusionTask(
            fingerprint([pair.model_dump_json() for pair in pairs], read.pictures),
            *(pairs, folder, split, task),
        )
        for task, pairs in found.items()
    ]


def _pairs(
    label: str, name: str, pictures: Mapping[str, Sequence[str]]
) -> Iterator[tuple[str, ExclusionPair]]:
    """The class excluded from everything, and from what is of its kind; with the task's name."""
    others = [other for other in pictures if other != label]
    yield "not-class", _pair("anything", name, ALONE, label, others, pictures)
    for kind, members in KINDS.items():
        alike = [other for other in others if other in members]
        if label in members and alike:
            yield "kind-not-class", _pair(kind, name, WITHIN, label, alike, pictures)


def _pair(
    shown: str,
    name: str,
    wordings: Sequence[str],
    label: str,
    right: Sequence[str],
    pictures: Mapping[str, Sequence[str]],
) -> ExclusionPair:
    rest = pictures.keys() - {label, *right}
    said = {"a": shown, "b": with_article(name), "bare": name}
    return ExclusionPair(
        shown=shown,
        excluded=name,
        queries=[wording.format_map(said) for wording in wordings],
        right=[picture for other in right for picture in pictures[other]],
        violating=list(pictures[label]),
        not_shown=[picture for other in pictures if other in rest for picture in pictures[other]],
    )
