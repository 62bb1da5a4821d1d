"""Pictures of changed captions in a folder, by any renderer; a run that was killed goes on."""

import hashlib
import json
from collections import defaultdict
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from PIL import Image

from litotes.data.concrete_pairs import ConcretePair, read_concrete_pairs
from litotes.data.files import write_atomically
from litotes.data.images import open_image
from litotes.data.json_lines import as_lines
from litotes.errors import DataError, ImageError
from litotes.mining.planting import Dropped

if TYPE_CHECKING:
    from litotes.mining.renderer import Rendered, Renderer

PAIRS = "pairs.jsonl"
LOG = "draw.log.json"
PICTURES = "pictures"
#: Of JPEG: a 512 × 512 picture is of about 100 kB, a quarter of what PNG makes of it.
QUALITY = 95


class DrawnPairs(NamedTuple):
    """What was done.

    Attributes:
        pictures: how many there are now.
        left_out: numbers of the pairs without one, from 1 as in the file, by why.
    """

    pictures: int
    left_out: Mapping[str, Sequence[int]]


class _Task(NamedTuple):
    number: int
    caption: str
    seed: int
    picture: Path

    @property
    def note(self) -> Path:
        """Holds why there is no picture."""
        return self.picture.with_suffix(".txt")


def draw_pairs(
    file: Path,
    out: Path,
    renderer: "Renderer",
    *,
    seed: int = 0,
    batch_size: int = 8,
    on_drawn: Callable[[int], None] = lambda pairs: None,
) -> DrawnPairs:
    """Draw the changed caption of each pair of a file.

    The folder gets ``pictures/NUMBER-DIGEST.jpg`` (JPEG, quality 95), where the digest is of
    caption, seed and the renderer's settings; ``draw.log.json``, with how they were drawn and what
    was left out; and, when all is done, ``pairs.jsonl``: the pairs in their order, each with the
    path of its picture, relative to that file, or none if it was left out.

    A run that was stopped goes on where it was, and gives the same files as one that was not:
    which captions are drawn together depends on their place in the file alone. What is there is
    not drawn again unless it is damaged. Pictures of other settings are not taken for these, nor
    removed.

    Args:
        file: of :class:`~litotes.data.concrete_pairs.ConcretePair`.
        out: the folder; made if it is not there.
        renderer: draws.
        seed: another one, other pictures.
        batch_size: captions drawn at once.
        on_drawn: told how many pairs are done, after each batch.

    Raises:
        DataError: ``file`` is missing or malformed, or ``out`` is a file.
        OSError: no space, no permission.
    """
    pairs = read_concrete_pairs(file)
    folder = out / PICTURES
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError) as error:
        raise DataError(f"{error.filename} is a file: give the name of a folder") from error
    tasks = [
        _task(number, pair.changed, seed, renderer.settings, folder)
        for number, pair in enumerate(pairs, 1)
    ]
    left_out = defaultdict[str, list[int]](list)
    for start in range(0, len(tasks), batch_size):
        batch = tasks[start : start + batch_size]
        for task, why in zip(batch, _draw_batch(batch, renderer), strict=True):
            if why is not None:
                left_out[why].append(task.number)
        on_drawn(start + len(batch))
    drawn = DrawnPairs(len(pairs) - sum(map(len, left_out.values())), dict(left_out))
    write_atomically(out / LOG, _log(file, renderer, seed, drawn))
    write_atomically(out / PAIRS, as_lines(_with_pictures(pairs, tasks, left_out, out)))
    return drawn


def picture_seed(seed: int, number: int) -> int:
    """The seed of one picture: the first 63 bits of the SHA-256 of ``"SEED NUMBER"``."""
    digest = hashlib.sha256(f"{seed} {number}".encode()).digest()
    return int.from_bytes(digest[:8], "big") >> 1


def _task(number: int, caption: str, seed: int, settings: Mapping[str, Any], folder: Path) -> _Task:
    own = picture_seed(seed, number)
    made_of = json.dumps([caption, own, dict(settings)], sort_keys=True)
    digest = hashlib.sha256(made_of.encode()).hexdigest()[:8]
    return _Task(number, caption, own, folder / f"{number:06d}-{digest}.jpg")


def _draw_batch(batch: Sequence[_Task], renderer: "Renderer") -> list[str | None]:
    """Draw what of a batch is not there; returns why each has no picture, or None."""
    whys: dict[_Task, str | None] = {task: _left_out(task) for task in batch if _is_done(task)}
    if len(whys) < len(batch):
        # The whole batch, as a picture drawn in other company could differ by rounding.
        rendered = renderer([t.caption for t in batch], [t.seed for t in batch])
        for task, result in zip(batch, rendered, strict=True):
            if task not in whys:
                whys[task] = _keep(task, result)
    return [whys[task] for task in batch]


def _keep(task: _Task, result: "Rendered") -> str | None:
    if isinstance(result, Dropped):
        write_atomically(task.note, result.reason)
        return result.reason
    write_atomically(task.picture, _as_jpeg(result))
    return None


def _is_done(task: _Task) -> bool:
    if task.note.exists():
        return True
    try:
        open_image(task.picture)
    except ImageError:
        return False
    return True


def _left_out(task: _Task) -> str | None:
    return task.note.read_text(encoding="utf-8") if task.note.exists() else None


def _as_jpeg(picture: Image.Image) -> bytes:
    encoded = BytesIO()
    picture.convert("RGB").save(encoded, "JPEG", quality=QUALITY)
    return encoded.getvalue()


def _with_pictures(
    pairs: Sequence[ConcretePair],
    tasks: Sequence[_Task],
    left_out: Mapping[str, Sequence[int]],
    out: Path,
) -> list[ConcretePair]:
    lacking = {number for numbers in left_out.values() for number in numbers}
    return [
        replace(
            pair,
            picture="" if task.number in lacking else task.picture.relative_to(out).as_posix(),
        )
        for pair, task in zip(pairs, tasks, strict=True)
    ]


def _log(file: Path, renderer: "Renderer", seed: int, drawn: DrawnPairs) -> str:
    content = {
        "pairs": file.name,
        "renderer": dict(renderer.settings),
        "seed": seed,
        "seeds": "a picture's own is the first 63 bits of the SHA-256 of 'SEED NUMBER', where "
        "NUMBER is the pair's in the file, from 1",
        "format": f"JPEG, quality {QUALITY}",
        "drawn": drawn.pictures,
        "left_out": drawn.left_out,
    }
    return json.dumps(content, indent=2) + "\n"
