"""Writing files so that none is ever half written."""

import os
import tempfile
from pathlib import Path


def write_atomically(path: str | os.PathLike[str], content: bytes | str) -> None:
    """Write a file whole or not at all: beside its place first, then renamed over it.

    A link is followed, and what is no file, such as ``/dev/null``, is written to as it stands.

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
            temporary.chmod(0o666 & ~umask)
            temporary.replace(target)
        except BaseException:
            temporary.unlink(missing_ok=True)
            raise
