"""Writing files so that none is ever half written."""

import os
import tempfile
from pathlib import Path


def write_atomically(path: str | os.PathLike[str], content: bytes | str) -> None:
    """Write a file whole or not at all: beside its place first, then renamed over it.

    Args:
        path: the file; its folder must exist.
        content: bytes, or text written as UTF-8.

    Raises:
        OSError: no space, no permission; whatever stood at ``path`` is still there.
    """
    target = Path(path)
    data = content.encode() if isinstance(content, str) else content
    with tempfile.NamedTemporaryFile(
        dir=target.parent, prefix=f".{target.name}.", delete=False
    ) as file:
        temporary = Path(file.name)
        try:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
    # A temporary file is private to its owner; the result gets the permissions a new file has.
    umask = os.umask(0)
    os.umask(umask)
    temporary.chmod(0o666 & ~umask)
    temporary.replace(target)
