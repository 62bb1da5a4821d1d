"""CC-Neg's file (arXiv 2403.20312): photographs, their captions, and those made false.

``ccneg_preprocessed.pt``, as its authors publish it, is a pickled dict of which ``image_paths`` and
``annotations`` are lists of equal length; of an annotation the true caption is
``["json"]["caption"]`` and the false one ``["sop_data"]["negative-prompt"]``.
"""

import pickle
from pathlib import Path
from typing import Any, NamedTuple

import torch
from pydantic import BaseModel, Field, ValidationError

from litotes.data.problems import problems
from litotes.errors import DataError

EVALUATED = 40_000
"""So many at the end of the file are its evaluation split."""


class CcNegExample(NamedTuple):
    """One photograph with a true caption, and the same made false by a negation."""

    image: str
    caption: str
    negated: str


class _Original(BaseModel):
    caption: str = Field(min_length=1)


class _Negation(BaseModel):
    text: str = Field(alias="negative-prompt", min_length=1)


class _Annotation(BaseModel):
    original: _Original = Field(alias="json")
    negation: _Negation = Field(alias="sop_data")


def read_ccneg(file: Path, part: slice) -> list[CcNegExample]:
    """A part of the published file; nothing that is in it is executed.

    Args:
        file: ``ccneg_preprocessed.pt``.
        part: ``slice(-EVALUATED, None)`` is for evaluation, all before it for training.

    Raises:
        DataError: missing, damaged, holding more than plain data, or of another layout; says
            which annotation, counted from 0.
    """
    paths, annotations = _lists(file, _load(file))
    return [
        _example(paths[i], annotations[i], f"{file}, annotation {i}")
        for i in range(len(paths))[part]
    ]


def _load(file: Path) -> Any:
    try:
        return torch.load(file, map_location="cpu", weights_only=True)
    except OSError as error:
        raise DataError(f"cannot read {file}: {error}") from error
    except pickle.UnpicklingError as error:
        raise DataError(
            f"{file}: holds more than plain data, or is damaged. A pickle that holds more can run "
            f"any code when it is opened, so it is refused; CC-Neg's own file is plain"
        ) from error
    # Cut or otherwise damaged files make the reader raise nearly anything.
    except Exception as error:
        raise DataError(f"{file}: is damaged or cut short ({error})") from error


def _lists(file: Path, content: Any) -> tuple[list[Any], list[Any]]:
    names = ("image_paths", "annotations")
    found = [content.get(name) for name in names] if isinstance(content, dict) else [None, None]
    paths, annotations = found
    if not isinstance(paths, list) or not isinstance(annotations, list):
        raise DataError(f"{file}: must be a dict that holds the lists {' and '.join(names)}")
    if len(paths) != len(annotations) or not paths:
        raise DataError(
            f"{file}: holds {len(paths)} image_paths and {len(annotations)} annotations; "
            f"there must be as many of one as of the other, and at least one"
        )
    return paths, annotations


def _example(path: Any, annotation: Any, place: str) -> CcNegExample:
    if not isinstance(path, str) or not path:
        raise DataError(f"{place}: its image_paths must be the path of a picture, not {path!r}")
    try:
        read = _Annotation.model_validate(annotation)
    except ValidationError as error:
        raise DataError(f"{place}: {problems(error)}") from error
    if not read.negation.text.strip(", "):
        raise DataError(f"{place}: its negative-prompt says nothing: {read.negation.text!r}")
    return CcNegExample(path, read.original.caption, read.negation.text)
