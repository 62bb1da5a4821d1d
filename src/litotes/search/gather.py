"""Photos that were found, gathered in a folder: as copies or as links."""

import filecmp
import os
import shutil
import tempfile
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from pathlib import Path

from litotes.errors import DataError
from litotes.search.index import Result


@dataclass
class Gathered:
    """What became of the photos.

    Attributes:
        made: copies or links that were made.
        there: photos that were there already.
        left_out: those that were not gathered, and why.
    """

    made: int = 0
    there: int = 0
    left_out: list[tuple[str, str]] = field(default_factory=list)


def gather(results: Iterable[Result], to: str | os.PathLike[str], *, link: bool) -> Gathered:
    """Copy or link photos into a folder, each at its path below the folder that was searched.

    A file that is there is never written over. A copy is there whole or not at all.

    Args:
        results: of a search.
        to: the folder; it is made if it is not there.
        link: make symbolic links to the photos instead of copies.

    Raises:
        DataError: the folder cannot be made or written to.
    """
    folder, gathered = Path(to), Gathered()
    put = _link if link else _copy
    is_there: Callable[[Path, Path], bool] = _is_link if link else _is_copy
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: cannot be made ({error.strerror})") from error
    for result in results:
        target = folder / result.id
        try:
            if not result.is_photo or not result.path.is_file():
                gathered.left_out.append((result.label, "there is no such file"))
            elif not os.path.lexists(target):
                target.parent.mkdir(parents=True, exist_ok=True)
                put(result.path, target)
                gathered.made += 1
            elif is_there(result.path, target):
                gathered.there += 1
            else:
                gathered.left_out.append((result.label, f"{target} is there and is another"))
        except OSError as error:
            raise DataError(
                f"{error.filename or target}: {error.strerror or error}; {gathered.made} were made"
            ) from error
    return gathered


def _copy(source: Path, target: Path) -> None:
    with tempfile.NamedTemporaryFile(dir=target.parent, prefix=".litotes-", delete=False) as file:
        temporary = Path(file.name)
    try:
        shutil.copy2(source, temporary)
        temporary.rename(target)
    except BaseException:
        temporary.unlink(missing_ok=True)
        raise


def _link(source: Path, target: Path) -> None:
    target.symlink_to(source.absolute())


def _is_copy(source: Path, target: Path) -> bool:
    return target.is_file() and (
        target.samefile(source) or filecmp.cmp(source, target, shallow=False)
    )


def _is_link(source: Path, target: Path) -> bool:
    return target.exists() and target.samefile(source)
