"""Image vectors kept on disk, so that a set of photographs is encoded once a model."""

import hashlib
import os
from collections.abc import Sequence
from pathlib import Path

import torch
from safetensors.torch import load_file, save
from torch import Tensor

from litotes.backbones.encoder import DualEncoder
from litotes.data.files import write_atomically
from litotes.errors import DataError


def cache_folder() -> Path:
    """Where vectors are kept: ``$LITOTES_CACHE``, or ``~/.cache/litotes``."""
    default = Path(os.environ.get("XDG_CACHE_HOME", Path.home() / ".cache")) / "litotes"
    return Path(os.environ.get("LITOTES_CACHE", default))


def image_vectors(encoder: DualEncoder, paths: Sequence[Path]) -> Tensor:
    """Unit vectors ``(N, d)`` of photographs, from the cache where they stand in it.

    The cache is keyed by the encoder's image fingerprint and each file's path, size and time.

    Raises:
        DataError: a photograph is missing; says which first, and how many.
    """
    missing = [path for path in paths if not path.is_file()]
    if missing:
        raise DataError(
            f"{len(missing)} of {len(paths)} pictures are missing; the first is {missing[0]}"
        )
    stats = [path.stat() for path in paths]
    key = hashlib.sha256(encoder.image_fingerprint.encode())
    for path, stat in zip(paths, stats, strict=True):
        key.update(f"{path.resolve()}\0{stat.st_size}\0{stat.st_mtime_ns}\n".encode())
    file = cache_folder() / "image-vectors" / f"{key.hexdigest()[:32]}.safetensors"
    if file.is_file():
        return load_file(file)["vectors"]
    vectors = encoder.encode_images(list(paths))
    file.parent.mkdir(parents=True, exist_ok=True)
    write_atomically(file, save({"vectors": vectors}))
    return vectors


def check_finite(scores: Tensor, names: Sequence[str]) -> None:
    """Raise `DataError` naming the first caption with a score ``(N, M)`` that is not finite.

    A NaN compares as false with everything and so could pass for a right answer.
    """
    bad = (~torch.isfinite(scores).all(1)).nonzero().flatten()
    if len(bad):
        raise DataError(f"the scores of {names[int(bad[0])]!r} are not finite numbers")
