"""Writing a long file of lines in steps, so that a run that was killed goes on where it was."""

import json
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from litotes.data.files import write_atomically
from litotes.errors import DataError

#: Lines after which a run's work is safe on disk.
_SAFE_AFTER = 500


class Made(NamedTuple):
    """One line, and the number of what it was made from; some numbers may make none.

    Attributes:
        number: larger than those before.
        line: empty where none was made.
        reason: why it was not, on one line and without tabs.
    """

    number: int
    line: str
    reason: str = ""


class Written(NamedTuple):
    """What was done.

    Attributes:
        lines: in the file.
        left_out: numbers before the last line's that made none.
    """

    lines: int
    left_out: int


def write_resumably(
    out: Path,
    settings: Mapping[str, Any],
    make: Callable[[int], Iterator[Made]],
    count: int,
    on_lines: Callable[[int], None] = lambda lines: None,
    on_end: Callable[[Sequence[Made]], None] = lambda made: None,
) -> Written:
    """Write lines to a file that appears when all are there.

    Until then they are in ``OUT.part``, and a later call with the same settings goes on with it.

    Args:
        out: the file.
        settings: what the lines depend on.
        make: gives the lines from a number on, in order.
        count: so many lines at most.
        on_lines: told how many there are, at first and after each.
        on_end: is given all that was made, and what was not, just before the file appears.

    Raises:
        DataError: the file exists, no line is made, or the part is damaged or of other settings.
        OSError: no space, no permission.
    """
    if out.is_dir():
        raise DataError(f"{out} is a folder: name a file in it")
    if out.exists():
        raise DataError(f"{out} exists: remove it, or choose another file")
    part = out.with_name(f"{out.name}.part")
    if not part.exists():
        write_atomically(part, json.dumps(settings, sort_keys=True) + "\n")
    kept = _whole_lines(part, settings)
    last = kept[-1].number if kept else -1
    lines = sum(bool(made.line) for made in kept)
    on_lines(lines)
    with part.open("ab") as file:
        for made in _until(count - lines, make(last + 1)):
            file.write(f"{made.number}\t{made.line}\t{made.reason}\n".encode())
            last = made.number
            if made.line:
                lines += 1
                on_lines(lines)
                if lines % _SAFE_AFTER == 0:
                    _save(file)
        _save(file)
    if not lines:
        part.unlink()
        raise DataError(f"{out}: nothing could be made of the captions")
    made_of = _whole_lines(part, settings)
    on_end(made_of)
    write_atomically(out, "".join(f"{made.line}\n" for made in made_of if made.line))
    part.unlink()
    return Written(lines, last + 1 - lines)


def _until(count: int, made: Iterator[Made]) -> Iterator[Made]:
    """Up to so many lines, with the numbers between them that made none."""
    while count > 0 and (one := next(made, None)) is not None:
        yield one
        count -= bool(one.line)


def _save(file: BinaryIO) -> None:
    file.flush()
    os.fsync(file.fileno())


def _whole_lines(part: Path, settings: Mapping[str, Any]) -> list[Made]:
    """The lines of a part; what a killed run left of a last one is cut off."""
    content = part.read_bytes()
    whole = content[: content.rfind(b"\n") + 1]
    if len(whole) < len(content):
        os.truncate(part, len(whole))
    try:
        header, *lines = whole.decode().split("\n")[:-1]
        begun = json.loads(header)
        numbered = [line.split("\t") for line in lines]
        kept = [Made(int(number), line, reason) for number, line, reason in numbered]
    except ValueError as error:
        raise DataError(f"{part} is damaged: remove it to start anew") from error
    if begun != json.loads(json.dumps(settings)):
        raise DataError(
            f"{part} was begun with other settings or captions ({header}): remove it to start "
            f"anew, or choose another file"
        )
    return kept
