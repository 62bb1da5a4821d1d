"""Classification of labelled pictures: zero-shot by prompts, and by a linear probe.

Zero-shot as CLIP does it (arXiv 2103.00020, section 3.1): each class name is put into many
prompts, the mean of the prompts' unit vectors, made unit again, is the class's vector, and a
picture is of the class whose vector is nearest. A linear probe is a logistic regression on image
vectors, fitted on labelled pictures (section 3.2): it says what the image side holds, whatever
the text side makes of it.
"""

import hashlib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from open_clip.zero_shot_metadata import (
    IMAGENET_CLASSNAMES,
    OPENAI_IMAGENET_TEMPLATES,
    SIMPLE_IMAGENET_TEMPLATES,
)
from torch import Tensor
from torch.nn.functional import normalize

from litotes.backbones.encoder import DualEncoder
from litotes.backbones.vectors import image_vectors
from litotes.data.images import find_images
from litotes.errors import DataError
from litotes.evaluation.record import Record
from litotes.evaluation.task import check_finite, query_vectors, strategy_settings
from litotes.strategies import Plain, Strategy

Pictures = Mapping[str, Sequence[Path]]
"""Pictures of each class, by the class's label."""

PROMPTS: Mapping[str, tuple[str, ...]] = {
    "openai": tuple(prompt("{}") for prompt in OPENAI_IMAGENET_TEMPLATES),
    "simple": tuple(prompt("{}") for prompt in SIMPLE_IMAGENET_TEMPLATES),
}
"""CLIP's 80 prompts for ImageNet, and the seven that do nearly as well."""

CIFAR = {
    "cifar10": "airplane automobile bird cat deer dog frog horse ship truck",
    "cifar100": """
        apple aquarium_fish baby bear beaver bed bee beetle bicycle bottle
        bowl boy bridge bus butterfly camel can castle caterpillar cattle
        chair chimpanzee clock cloud cockroach couch crab crocodile cup dinosaur
        dolphin elephant flatfish forest fox girl hamster house kangaroo keyboard
        lamp lawn_mower leopard lion lizard lobster man maple_tree motorcycle mountain
        mouse mushroom oak_tree orange orchid otter palm_tree pear pickup_truck pine_tree
        plain plate poppy porcupine possum rabbit raccoon ray road rocket
        rose sea seal shark shrew skunk skyscraper snail snake spider
        squirrel streetcar sunflower sweet_pepper table tank telephone television tiger tractor
        train trout tulip turtle wardrobe whale willow_tree wolf woman worm
    """,
}
"""The class names of CIFAR-10 and CIFAR-100 in their order."""

CS = (0.1, 1.0, 10.0, 100.0, 1000.0)
"""Inverse strengths of a probe's penalty: unit vectors need weak ones."""
HELD_OUT = 5
"""One picture in so many of each class is kept out of a fit."""

CLASSES_AT_ONCE = 64
TABLE = 4_000_000
"""Scores that are held at once."""

_WORDNET_ID = re.compile(r"(n\d{8})(?:_.*)?", re.DOTALL)
_SPLITS = {"train", "training", "val", "valid", "validation", "dev", "test"}


@dataclass(frozen=True)
class ClassificationTask:
    """Zero-shot classification of a folder of pictures.

    Attributes:
        folder: what was read.
        pictures: of each class that has some.
        names: of each class, by its label, what stands in the prompts. May hold classes without
            a picture: they are wrong answers to choose from.
        templates: the prompts, with ``{}`` where the name goes.
    """

    folder: Path
    pictures: Pictures
    names: Mapping[str, str]
    templates: Sequence[str]

    @classmethod
    def read(
        cls,
        folder: Path,
        classes: str | Mapping[str, str] | None = None,
        templates: str | Sequence[str] | None = None,
    ) -> "ClassificationTask":
        """Find a folder's pictures and name their classes.

        Args:
            folder: as :func:`read_pictures` reads it.
            classes: ``"imagenet"`` (all 1,000, by WordNet id), ``"cifar10"``, ``"cifar100"``, or
                names of one's own by label. By default ImageNet's if all labels are WordNet ids,
                else the labels themselves, with spaces for underscores.
            templates: ``"openai"`` (default), ``"simple"``, or prompts of one's own.

        Raises:
            DataError: no pictures, an unknown class, or a prompt without ``{}``; says where.
        """
        pictures = read_pictures(folder)
        names = _class_names(folder, list(pictures), classes)
        return cls(folder, pictures, names, _prompts("openai" if templates is None else templates))

    def run(
        self, encoder: DualEncoder, strategies: Sequence[Strategy] = (Plain(),)
    ) -> list[Record]:
        """Top-1, top-5 if there are more than five classes, and mean accuracy per class.

        The intervals of the first two are over pictures, that of the mean per class over classes.
        A strategy changes nothing unless a class name reads as a negation; of the built-in ones
        "Mexican hairless dog" does.

        Raises:
            DataError: a score is not a finite number.
        """
        paths = [path for group in self.pictures.values() for path in group]
        images = image_vectors(encoder, paths)
        check_finite(images, [str(path) for path in paths])
        return [self._record(encoder, strategy, images) for strategy in strategies]

    def class_vectors(self, encoder: DualEncoder, strategy: Strategy) -> Tensor:
        """Unit vectors ``(U, d)`` of the different class names, in order.

        Raises:
            DataError: one is not finite; names the prompt.
        """
        names = list(dict.fromkeys(self.names.values()))
        means = []
        for start in range(0, len(names), CLASSES_AT_ONCE):
            part = names[start : start + CLASSES_AT_ONCE]
            prompts = [t.replace("{}", name) for name in part for t in self.templates]
            vectors = query_vectors(encoder, strategy, prompts)
            check_finite(vectors, prompts)
            means.append(vectors.view(len(part), len(self.templates), -1).mean(1))
        return normalize(torch.cat(means), dim=1)

    def outcomes(self, classes: Tensor, images: Tensor) -> dict[str, NDArray[np.float64]]:
        """Each picture's share of a hit, and each class's mean of them.

        Args:
            classes: what :meth:`class_vectors` gives.
            images: unit vectors ``(N, d)`` of the pictures, class after class.
        """
        place = {name: i for i, name in enumerate(dict.fromkeys(self.names.values()))}
        # Two of ImageNet's names stand twice. Such classes share a column, so that they tie to
        # the bit whatever a matrix product does at its edges.
        columns = torch.tensor([place[name] for name in self.names.values()])
        row = {label: i for i, label in enumerate(self.names)}
        target = torch.tensor([row[label] for label, group in self.pictures.items() for _ in group])
        ks = (1, 5) if len(self.names) > 5 else (1,)
        hits: dict[int, list[Tensor]] = {k: [] for k in ks}
        at_once = max(1, TABLE // len(self.names))
        for part, right in zip(images.split(at_once), target.split(at_once), strict=True):
            scores = (part @ classes.T)[:, columns]
            for k in ks:
                hits[k].append(hit_shares(scores, right, k))
        found = {f"top-{k}": torch.cat(parts).numpy() for k, parts in hits.items()}
        counts = np.bincount(target.numpy(), minlength=len(self.names))
        sums = np.bincount(target.numpy(), found["top-1"], minlength=len(self.names))
        return found | {"mean per class": sums[counts > 0] / counts[counts > 0]}

    def _record(self, encoder: DualEncoder, strategy: Strategy, images: Tensor) -> Record:
        known = (name for name, prompts in PROMPTS.items() if prompts == tuple(self.templates))
        settings: dict[str, Any] = {
            "classes": len(self.names),
            "prompts": next(known, list(self.templates)),
        }
        return Record.make(
            encoder,
            task="classification",
            split=self.folder.resolve().name,
            data=fingerprint([f"{k}\0{v}" for k, v in self.names.items()], self.pictures),
            strategy=strategy.name,
            settings=strategy_settings(strategy) | settings,
            outcomes=self.outcomes(self.class_vectors(encoder, strategy), images),
        )


@dataclass(frozen=True)
class LinearProbeTask:
    """Logistic regression on image vectors of labelled pictures.

    Attributes:
        folder: of the tested pictures, or of all.
        train: pictures to fit on.
        test: pictures to classify.
        seed: draws what is held out.
    """

    folder: Path
    train: Pictures
    test: Pictures
    seed: int

    @classmethod
    def read(cls, train: Path, test: Path | None = None, seed: int = 0) -> "LinearProbeTask":
        """Find the pictures of two folders, or split one, class by class, by lot.

        Args:
            train: as :func:`read_pictures` reads it.
            test: likewise; by default a fifth of each class of ``train``.
            seed: draws the fifth, and what the penalty is chosen on.

        Raises:
            DataError: no pictures, too few of a class, or a tested class that is not trained.
        """
        pictures = read_pictures(train)
        needed = 3 if test is None else 2
        if len(pictures) < 2:
            raise DataError(
                f"{train} holds one class only, {next(iter(pictures))!r}: two are needed"
            )
        for label, group in pictures.items():
            if len(group) < needed:
                raise DataError(
                    f"{train}: the class {label!r} has {len(group)} pictures: a probe needs "
                    f"{needed} at least, one of them held out"
                )
        if test is None:
            rest, part = split_pictures(pictures, seed)
            return cls(train, rest, part, seed)
        tested = read_pictures(test)
        if unknown := [label for label in tested if label not in pictures]:
            raise DataError(
                f"{test}: the class {unknown[0]!r} is not among the {len(pictures)} of {train}"
            )
        return cls(test, pictures, tested, seed)

    def run(self, encoder: DualEncoder, strategies: Sequence[Strategy] = ()) -> list[Record]:
        """Accuracy: one record, whatever the strategies, since no text has a part in it.

        A part of ``train`` is held out to choose the penalty: see :func:`probe`.

        Raises:
            DataError: a vector is not finite.
        """
        fitted, held_out = (
            _samples(encoder, part) for part in split_pictures(self.train, self.seed)
        )
        right, c = probe(fitted, held_out, _samples(encoder, self.test))
        return [
            Record.make(
                encoder,
                task="linear probe",
                split=self.folder.resolve().name,
                data=fingerprint([], self.train, self.test),
                strategy="none",
                settings={"C": c},
                seed=self.seed,
                outcomes={"accuracy": right.astype(float)},
            )
        ]


def read_pictures(folder: Path) -> dict[str, list[Path]]:
    """Pictures of each class, classes and pictures sorted.

    Either each class has a folder, named by its label, and pictures deeper down count to it; or
    all pictures lie side by side and their names begin with a WordNet id, as
    ``n01440764_tench.jpg`` does. The label of what is named ``n01440764_tench`` is its id. Other
    files, and hidden ones, are left alone.

    Raises:
        DataError: no pictures, pictures beside class folders, a class folder without any, a file
            whose name does not say its class, or folders that are splits; says which.
    """
    paths = find_images(folder)
    parts = {path: path.relative_to(folder).parts for path in paths}
    beside = [path for path in paths if len(parts[path]) == 1]
    if not paths:
        raise DataError(
            f"{folder} holds no picture: it needs a folder of them for each class, or files "
            f"named like n01440764_tench.jpg"
        )
    if beside and len(beside) < len(paths):
        raise DataError(f"{beside[0]} lies beside class folders: move it into that of its class")
    if not beside:
        _check_folders(folder, {first for first, *_ in parts.values()})
    pictures: dict[str, list[Path]] = {}
    for path in paths:
        wordnet_id = _WORDNET_ID.fullmatch(path.stem if beside else parts[path][0])
        if beside and wordnet_id is None:
            raise DataError(
                f"{path} does not say its class: it must lie in a folder that does, or be named "
                f"like n01440764_tench.jpg"
            )
        label = parts[path][0] if wordnet_id is None else wordnet_id[1]
        pictures.setdefault(label, []).append(path)
    return dict(sorted(pictures.items()))


def split_pictures(
    pictures: Pictures, seed: int
) -> tuple[dict[str, list[Path]], dict[str, list[Path]]]:
    """Most of each class's pictures, and a fifth of them by lot, one at least."""
    rng = np.random.default_rng(seed)
    most: dict[str, list[Path]] = {}
    held_out: dict[str, list[Path]] = {}
    for label, group in pictures.items():
        count = max(1, len(group) // HELD_OUT)
        drawn = set(rng.permutation(len(group))[:count].tolist())
        most[label] = [path for i, path in enumerate(group) if i not in drawn]
        held_out[label] = [path for i, path in enumerate(group) if i in drawn]
    return most, held_out


def hit_shares(scores: Tensor, target: Tensor, k: int) -> Tensor:
    """How often the right class is among the first k when equal scores are ordered by lot.

    Args:
        scores: ``(N, C)``, finite.
        target: each row's right class, ``(N,)``, int64.
        k: at least 1.

    Returns:
        Shares from 0 to 1, ``(N,)``, float64.
    """
    own = scores.gather(1, target[:, None])
    ahead = (scores > own).sum(1)
    tied = (scores == own).sum(1)
    return ((k - ahead).double() / tied).clamp(0, 1)


def _check_folders(folder: Path, labels: set[str]) -> None:
    """Raise if what lies in ``folder`` are not class folders with pictures each."""
    if {label.lower() for label in labels} <= _SPLITS:
        raise DataError(
            f"{folder} holds splits ({', '.join(sorted(labels))}), not classes: give one of them"
        )
    shown = (entry for entry in folder.iterdir() if not entry.name.startswith("."))
    if empty := sorted(e.name for e in shown if e.is_dir() and e.name not in labels):
        raise DataError(f"the class folder {folder / empty[0]} holds no picture that can be read")


def _class_names(
    folder: Path, labels: Sequence[str], classes: str | Mapping[str, str] | None
) -> Mapping[str, str]:
    if classes is None and all(map(_WORDNET_ID.fullmatch, labels)):
        classes = "imagenet"
    if classes is None:
        names: Mapping[str, str] = _spaced(labels)
    else:
        names = _built_in(classes) if isinstance(classes, str) else classes
    if unknown := [label for label in labels if label not in names]:
        known = list(names)
        raise DataError(
            f"{folder}: the class {unknown[0]!r} is none of the {len(known)} that have names: "
            f"{', '.join(known[:5])}{', …' if len(known) > 5 else ''}"
        )
    if len(names) < 2:
        raise DataError(f"{folder} holds one class only, {labels[0]!r}: nothing to choose from")
    return names


def _built_in(name: str) -> dict[str, str]:
    if name == "imagenet":
        # open_clip has the names, timm the WordNet ids, both in ImageNet's order.
        from timm.data import ImageNetInfo

        return dict(zip(ImageNetInfo().label_names(), IMAGENET_CLASSNAMES, strict=True))
    if name not in CIFAR:
        raise DataError(
            f"there are no class names {name!r}: choose imagenet, {', '.join(CIFAR)}, or give "
            f"each class's name by its label"
        )
    return _spaced(CIFAR[name].split())


def _spaced(labels: Iterable[str]) -> dict[str, str]:
    return {label: label.replace("_", " ") for label in labels}


def _prompts(templates: str | Sequence[str]) -> tuple[str, ...]:
    if isinstance(templates, str):
        if templates not in PROMPTS:
            raise DataError(
                f"there are no prompts {templates!r}: choose {', '.join(PROMPTS)}, or give a list "
                f"of prompts with {{}} where the class name goes"
            )
        return PROMPTS[templates]
    for number, template in enumerate(templates, 1):
        if "{}" not in template:
            raise DataError(
                f"prompt {number}, {template!r}, needs {{}} where the class name goes, as in "
                f"'a photo of a {{}}.'"
            )
    if not templates:
        raise DataError("at least one prompt is needed, such as 'a photo of a {}.'")
    return tuple(templates)


Samples = tuple[NDArray[np.float32], NDArray[np.str_]]
"""Image vectors ``(N, d)`` and their labels ``(N,)``."""


def _samples(encoder: DualEncoder, pictures: Pictures) -> Samples:
    paths = [path for group in pictures.values() for path in group]
    vectors = image_vectors(encoder, paths)
    check_finite(vectors, [str(path) for path in paths])
    return vectors.numpy(), np.array([label for label, group in pictures.items() for _ in group])


def probe(fitted: Samples, held_out: Samples, test: Samples) -> tuple[NDArray[np.bool_], float]:
    """Which of the tested pictures a linear probe gets right ``(N,)``, and its penalty's inverse.

    The penalty is the strongest of those that do best on what is held out; the probe is then
    fitted on both.
    """
    c = max(CS, key=lambda c: _right(fitted, held_out, c).mean())
    vectors, labels = (np.concatenate(parts) for parts in zip(fitted, held_out, strict=True))
    return _right((vectors, labels), test, c), c


def _right(train: Samples, test: Samples, c: float) -> NDArray[np.bool_]:
    """Which of the tested pictures a probe fitted on the others gets right, ``(N,)``."""
    from sklearn.linear_model import LogisticRegression

    probe = LogisticRegression(C=c, max_iter=1000).fit(*train)
    right: NDArray[np.bool_] = probe.predict(test[0]) == test[1]
    return right


def fingerprint(lines: Sequence[str], *parts: Pictures) -> str:
    """Of names and of pictures, by label, file name and size: not of where they lie."""
    pictures = [
        f"{number}\0{label}\0{path.name}\0{path.stat().st_size}"
        for number, part in enumerate(parts)
        for label, group in part.items()
        for path in group
    ]
    text = "\n".join([*lines, *pictures])
    return hashlib.sha256(text.encode(errors="surrogatepass")).hexdigest()[:16]
