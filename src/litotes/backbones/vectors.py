"""Vectors kept on disk, so that a picture or a caption is encoded once a model, whatever asks."""

import hashlib
import math
import os
import sqlite3
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image
from torch import Tensor

from litotes.backbones.encoder import DualEncoder
from litotes.errors import DataError

T = TypeVar("T")

AT_ONCE = 512
"""So many are encoded between two writes: what a run that is stopped may lose."""
_ASKED = 500
TOLERANCE = 1e-3
"""By so much the length of a vector that is kept may differ from 1."""


def cache_folder() -> Path:
    """Where vectors are kept: ``$LITOTES_CACHE``, or ``~/.cache/litotes``."""
    default = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "litotes"
    return Path(os.environ.get("LITOTES_CACHE") or default)


def image_vectors(encoder: DualEncoder, paths: Sequence[Path]) -> Tensor:
    """Unit vectors ``(N, d)`` of photographs, from the cache where they stand in it.

    Kept by the encoder's image fingerprint and each file's path, size and time. A photograph that
    is named more than once is encoded once.

    Raises:
        DataError: a photograph is missing; says which first, and how many.
    """
    require_pictures(paths)
    name = f"images-{encoder.image_fingerprint}"
    return _vectors(name, paths, _file_key, encoder.dim, lambda part: encoder.encode_images(part))


def drawn_vectors(
    encoder: DualEncoder, items: Sequence[T], draw: Callable[[T], NDArray[np.uint8]]
) -> Tensor:
    """Vectors ``(N, d)``, not normalised, of pictures that are in no file.

    Kept by the encoder's image fingerprint and the pixels, so that a picture that is drawn anew
    is found again, and one that is drawn otherwise is not. Few are held at a time, as what is not
    found is drawn a second time.

    Args:
        encoder: encodes what is not found.
        items: what pictures are drawn of; hashable.
        draw: gives an item's pixels ``(H, W, 3)``.
    """

    def encode(part: list[T]) -> Tensor:
        return encoder.encode_images([Image.fromarray(draw(i)) for i in part], normalize=False)

    name = f"drawn-{encoder.image_fingerprint}"
    return _vectors(name, items, lambda item: draw(item).tobytes(), encoder.dim, encode, unit=False)


def require_pictures(paths: Sequence[Path]) -> None:
    """Raise `DataError` if pictures are missing; says which first, and how many.

    Each folder is listed once: to ask a file server for a million files one by one takes long.
    """
    unique = list(dict.fromkeys(paths))
    listed: dict[str, set[str]] = {}
    missing = []
    for path in unique:
        folder, name = os.path.split(path)
        if folder not in listed:
            listed[folder] = _file_names(folder)
        # Some systems find a file under more names than the one they list, such as "A.JPG".
        if name not in listed[folder] and not path.is_file():
            missing.append(path)
    if missing:
        raise DataError(
            f"{len(missing)} of {len(unique)} pictures are missing; the first is {missing[0]}"
        )


def text_vectors(encoder: DualEncoder, texts: Sequence[str]) -> Tensor:
    """Unit vectors ``(N, d)`` of texts as they stand, from the cache where they stand in it.

    Kept by the encoder's text fingerprint. A text that is given more than once is encoded once.
    """
    name = f"texts-{encoder.text_fingerprint}"
    return _vectors(name, texts, _text_key, encoder.dim, lambda part: encoder.encode_texts(part))


def forget(encoder: DualEncoder) -> None:
    """Remove the vectors of those sides of an encoder that changed: it will not be met again."""
    folder = cache_folder() / "vectors"
    if encoder.image_changes:
        for kind in ("images", "drawn"):
            (folder / f"{kind}-{encoder.image_fingerprint}.sqlite").unlink(missing_ok=True)
    if encoder.text_changes:
        (folder / f"texts-{encoder.text_fingerprint}.sqlite").unlink(missing_ok=True)


def _file_names(folder: str) -> set[str]:
    try:
        with os.scandir(folder or ".") as entries:
            return {entry.name for entry in entries if entry.is_file()}
    except OSError:
        return set()


def _file_key(path: Path) -> bytes:
    stat = path.stat()
    return _text_key(f"{path.resolve()}\0{stat.st_size}\0{stat.st_mtime_ns}")


def _text_key(text: str) -> bytes:
    return text.encode(errors="surrogatepass")


def _vectors(
    name: str,
    items: Sequence[T],
    key: Callable[[T], bytes],
    dim: int,
    encode: Callable[[list[T]], Tensor],
    *,
    unit: bool = True,
) -> Tensor:
    """The vectors of all items ``(N, d)``; those not there yet are encoded once and written."""
    keys = {item: hashlib.sha256(key(item)).digest()[:16] for item in dict.fromkeys(items)}
    file = cache_folder() / "vectors" / f"{name}.sqlite"
    file.parent.mkdir(parents=True, exist_ok=True)
    try:
        with closing(sqlite3.connect(file, timeout=60)) as store:
            store.execute("create table if not exists vectors (key blob primary key, v blob)")
            found = dict(_stored(store, list(keys.values()), dim, unit))
            new = list({key: i for i, key in keys.items() if key not in found}.values())
            for start in range(0, len(new), AT_ONCE):
                part = new[start : start + AT_ONCE]
                made = {keys[i]: v for i, v in zip(part, encode(part).cpu().float(), strict=True)}
                rows = [(key, vector.numpy().tobytes()) for key, vector in made.items()]
                with store:
                    store.executemany("insert or replace into vectors values (?, ?)", rows)
                found |= made
    except sqlite3.DatabaseError as error:
        raise DataError(f"{file}: cannot be used ({error}): remove it, it is a cache") from error
    return torch.stack([found[keys[item]] for item in items])


def _stored(
    store: sqlite3.Connection, keys: list[bytes], dim: int, unit: bool
) -> Iterator[tuple[bytes, Tensor]]:
    for start in range(0, len(keys), _ASKED):
        part = keys[start : start + _ASKED]
        marks = ",".join("?" * len(part))
        for key, blob in store.execute(
            f"select key, v from vectors where key in ({marks})",
            part,
        ):
            # What was damaged is encoded again.
            if isinstance(blob, bytes) and len(blob) == 4 * dim:
                vector = torch.from_numpy(np.frombuffer(blob, np.float32).copy())
                length = float(vector.norm())
                if abs(length - 1) < TOLERANCE if unit else math.isfinite(length):
                    yield key, vector
