"""What a search asks for: a sentence, what is excluded beside it, and pictures as examples."""

import os
import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import ArrayLike, NDArray
from torch import Tensor

from litotes.backbones.encoder import DualEncoder
from litotes.data.images import open_image
from litotes.errors import LitotesError, LitotesWarning
from litotes.language import Query, has_negation, parse
from litotes.language.parse import MAX_CHARACTERS
from litotes.strategies.calibrated import unframed

PathLike = str | os.PathLike[str]
Example = PathLike | ArrayLike
"""A picture's file, or its vector ``(d,)``."""


def join(query: str | Query | None, exclude: Sequence[str] = (), examples: int = 0) -> Query:
    """One query of a sentence and of what is excluded beside it.

    With nothing beside it a query stays as it is.

    Args:
        query: a sentence, or one taken apart.
        exclude: things that are to be absent, taken as they stand.
        examples: how many pictures are given as examples.

    Raises:
        LitotesError: nothing is asked for; what is to be excluded is blank, or itself excludes.
        TypeError: the query is none; ``exclude`` is one string, or no list of them.
    """
    if isinstance(exclude, str):
        raise TypeError("exclude must be a list of strings, not one string: pass [text]")
    if query is not None and not isinstance(query, str | Query):
        raise TypeError(f"the query is {query!r}; it must be a string, or a litotes Query")
    parts = [_excluded(part) for part in exclude]
    asked = query if isinstance(query, Query) else parse(query or "")
    if len(asked.raw) > MAX_CHARACTERS and has_negation(asked.raw):
        warnings.warn(
            f"the query has {len(asked.raw):,} characters: one of more than {MAX_CHARACTERS:,} is "
            f"searched for as it stands, and nothing that it denies is excluded",
            LitotesWarning,
            stacklevel=3,
        )
    if not (asked.affirmed.strip() or asked.negated or parts or examples):
        raise LitotesError(
            "nothing is asked for: give a query, something to exclude, or a picture as an example"
        )
    if not (parts or examples):
        return asked
    if not asked.is_negated:
        asked = unframed(asked)
    raw = ", ".join([*filter(None, [asked.raw.strip()]), *(f"without {part}" for part in parts)])
    return Query(asked.affirmed, tuple(dict.fromkeys([*asked.negated, *parts])), raw)


def count_examples(*given: Sequence[Example]) -> int:
    """How many examples there are on all sides.

    Raises:
        TypeError: one path or vector was given and not a list of them.
    """
    for examples in given:
        if isinstance(examples, str | os.PathLike) or getattr(examples, "ndim", None) == 1:
            raise TypeError("examples must be a list of pictures, not one picture: pass [picture]")
    return sum(map(len, given))


def example_vectors(examples: Sequence[Example], encoder: DualEncoder) -> Tensor:
    """Unit vectors ``(n, d)`` of pictures, by their files, or by their vectors ``(d,)``.

    Raises:
        ImageError: a file is no readable picture.
        ValueError: a vector has another length, is zero or not finite.
    """
    vectors = [
        encoder.encode_images([encoder.image.preprocess(open_image(example))])[0]
        if isinstance(example, str | os.PathLike)
        else torch.from_numpy(unit_vector(example, encoder.dim))
        for example in examples
    ]
    return torch.stack(vectors) if vectors else torch.empty(0, encoder.dim)


def unit_vector(vector: ArrayLike, dim: int) -> NDArray[np.float32]:
    """A vector ``(d,)`` at unit length.

    Raises:
        ValueError: it has another length, is zero or not finite.
    """
    values = np.asarray(vector, dtype=np.float64)
    if values.shape != (dim,):
        raise ValueError(f"the vector has shape {values.shape}; the index needs ({dim},)")
    unit, wrong = unit_rows(values[None])
    if len(wrong):
        raise ValueError("the vector must be finite and not zero: it has no direction")
    return unit[0]


def unit_rows(values: NDArray[Any]) -> tuple[NDArray[np.float32], NDArray[np.intp]]:
    """Vectors ``(N, d)`` at unit length, and the numbers of those that are zero or not finite."""
    rows = np.asarray(values, dtype=np.float64)
    norms = np.linalg.norm(rows, axis=1)
    wrong = np.flatnonzero(~np.isfinite(norms) | (norms == 0))
    with np.errstate(invalid="ignore", divide="ignore"):
        return (rows / norms[:, None]).astype(np.float32), wrong


def _excluded(part: str) -> str:
    if not isinstance(part, str):
        raise TypeError(f"what is to be excluded is {part!r}; it must be a string")
    text = part.strip()
    if not text:
        raise LitotesError("what is to be excluded is blank: name a thing, such as people")
    if has_negation(text):
        raise LitotesError(
            f"what is to be excluded is {text!r}, which itself says not: name only what is not "
            f"to be seen, as in people for no people"
        )
    return text
