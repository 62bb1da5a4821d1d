"""Writing files and folders so that none is ever half written."""

import errno
import os
import tempfile
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

from litotes.errors import DataError


def write_atomically(path: str | os.PathLike[str], content: bytes | str) -> None:
    """Write a file whole or not at all: beside its place first, then renamed over it.

    A link is followed, and what is no file, such as ``/dev/null``, is written to as it stands. A
    file that was there keeps its permissions.

    Args:
        path: the file; its folder must exist.
        content: bytes, or text written as UTF-8.

    Raises:
        OSError: a folder, no space, no permission; whatever stood at ``path`` is still there.
    """
    target = Path(path).resolve()
    data = content.encode() if isinstance(content, str) else content
    if target.exists() and not target.is_file():
        # Also where it is a folder: the error is then the system's own.
        target.write_bytes(data)
        return
    if not target.parent.is_dir():
        # Said of the file that was asked for, and not of a temporary one.
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(target))
    with tempfile.NamedTemporaryFile(
        dir=target.parent, prefix=f".{target.name}.", delete=False
    ) as file:
        temporary = Path(file.name)
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
            # A temporary file is private to its owner; a new file is not.
            umask = os.umask(0)
            os.umask(umask)
            kept = target.stat().st_mode & 0o777 if target.exists() else 0o666 & ~umask
            temporary.chmod(kept)
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise


@contextmanager
def new_folder(path: str | os.PathLike[str], replaced: Collection[str] = ()) -> Iterator[Path]:
    """A folder to fill, which takes its place, whole, when the block ends well.

    Args:
        path: its place; folders above it are made.
        replaced: what an older folder that stands there may hold, which is then removed.

    Raises:
        DataError: something else stands there.
    """
    target = Path(path).resolve()
    if target.exists():
        others = sorted(f.name for f in target.iterdir()) if target.is_dir() else [target.name]
        if others := [name for name in others if name not in replaced]:
            raise DataError(f"{path} exists and holds {others[0]}: give the name of a new folder")
    target.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=f".{target.name}.") as temporary:
        # The temporary folder itself is private to its owner.
        made = Path(temporary, "new")
        made.mkdir()
        yield made
        if target.exists():
            target.rename(Path(temporary, "old"))
        made.rename(target)
