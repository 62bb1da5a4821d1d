"""Pictures in files: finding them in folders, and opening them as RGB the way a viewer would."""

import contextlib
import os
import stat
import warnings
from collections.abc import Callable, Iterator
from io import BufferedReader
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from PIL import Image, UnidentifiedImageError

from litotes.errors import DataError, ImageError

with contextlib.suppress(ImportError):
    import pillow_heif

    pillow_heif.register_heif_opener()

Image.init()

# Where Pillow itself refuses; between half of this and this it would only warn.
MAX_PIXELS = 178_956_970
warnings.filterwarnings("ignore", category=Image.DecompressionBombWarning)

# Encoders scale the shorter side to their input size, so a strip one pixel high and 100 000 wide
# would grow to tens of gigabytes.
MAX_ASPECT_RATIO = 1000

# Pillow would also run Ghostscript on an EPS file that is called .jpg.
_FORMATS = tuple(
    name
    for name in (
        *("JPEG", "PNG", "WEBP", "HEIF", "AVIF", "TIFF", "GIF", "MPO", "BMP", "DIB"),
        *("JPEG2000", "PPM"),
    )
    if name in Image.OPEN
)
_HEIF_SUFFIXES = {".heic", ".heif", ".hif"}
SUFFIXES = frozenset(
    {".jpg", ".jpeg", ".jpe", ".jfif", ".png", ".webp", ".avif", ".tif", ".tiff", ".gif"}
    | {".bmp", ".dib", ".jp2", ".ppm", ".pgm", ".pbm", ".pnm"}
    | _HEIF_SUFFIXES
)

_ORIENTATION_TAG = 0x0112
_TRANSPOSE = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}


class FoundImage(NamedTuple):
    """A file that looks like a picture by its name.

    Attributes:
        path: relative to the folder searched, with ``/`` between its parts; a name that is not
            valid UTF-8 holds surrogates, as :func:`os.fsdecode` makes them.
        size: bytes.
        mtime_ns: time of the last change, nanoseconds since 1970.
    """

    path: str
    size: int
    mtime_ns: int


def open_image(path: str | os.PathLike[str]) -> Image.Image:
    """The picture in a file, as RGB, upright.

    The format is known by content, not by name. EXIF orientation is applied; of an animation
    the first frame is taken; transparency is laid on white; 16-bit greys are scaled to 8 bits;
    float and 32-bit values, which have no fixed range, are stretched from darkest to brightest.

    Raises:
        ImageError: the file cannot be read, is not a picture, is cut short, or has more than
            :data:`MAX_PIXELS` pixels; the message names it and says why.
    """
    with open_file(path) as file:
        return decode_image(file, path)


def open_file(path: str | os.PathLike[str]) -> BufferedReader:
    """A picture's file, open for reading.

    Raises:
        ImageError: it is missing, empty, a folder, or may not be read.
    """
    try:
        status = Path(path).stat()
        if stat.S_ISDIR(status.st_mode):
            raise ImageError(f"{path}: is a folder, not a picture")
        if not stat.S_ISREG(status.st_mode):
            raise ImageError(f"{path}: is not a regular file")
        if status.st_size == 0:
            raise ImageError(f"{path}: is empty (zero bytes)")
        return Path(path).open("rb")
    except FileNotFoundError:
        raise ImageError(f"{path}: does not exist") from None
    except PermissionError:
        raise ImageError(f"{path}: may not be read (permission denied)") from None
    except OSError as error:
        raise ImageError(f"{path}: cannot be read ({error.strerror})") from error


def decode_image(file: BinaryIO, name: str | os.PathLike[str]) -> Image.Image:
    """As :func:`open_image`, from an open file; ``name`` stands in errors."""
    try:
        with Image.open(file, formats=_FORMATS) as image:
            _check_size(image.size, name)
            image.load()
            return _upright(_to_rgb(image), _orientation(image))
    except ImageError:
        raise
    except UnidentifiedImageError:
        raise ImageError(f"{name}: {_why_unknown(name)}") from None
    except Image.DecompressionBombError as error:
        raise ImageError(f"{name}: {_too_large()}") from error
    # Broken files make the decoders raise nearly anything: OSError, SyntaxError, ValueError,
    # struct.error, zlib.error, MemoryError, …
    except Exception as error:
        raise ImageError(f"{name}: is damaged or cut short ({error})") from error


def find_images(folder: str | os.PathLike[str]) -> list[Path]:
    """All pictures below a folder, by name, sorted; see :func:`scan_images`."""
    return sorted(Path(folder, found.path) for found in scan_images(folder))


def scan_images(
    folder: str | os.PathLike[str],
    on_error: Callable[[str, OSError], None] = lambda path, error: None,
) -> Iterator[FoundImage]:
    """Files below a folder that are named like pictures (:data:`SUFFIXES`), in no set order.

    Hidden files and folders are left out, a photo index (``.litotes``) among them. Links are
    followed, but no folder is entered twice, so a loop of links ends; a folder reached both ways
    is listed under its own name, not the link's.

    Args:
        folder: where to start.
        on_error: called with the relative path of what could not be read.

    Raises:
        DataError: ``folder`` is not a folder, or may not be read.
    """
    root = Path(folder)
    try:
        os.scandir(root).close()
    except OSError as error:
        raise DataError(f"{root}: is not a folder that can be read ({error.strerror})") from error
    entered = set()
    folders, links = [""], list[str]()
    while folders or links:
        relative = folders.pop() if folders else links.pop()
        try:
            identity = _identity(root / relative)
            if identity in entered:
                continue
            entered.add(identity)
            entries = _entries(root / relative)
        except OSError as error:
            on_error(relative, error)
            continue
        for entry in entries:
            path = f"{relative}/{entry.name}" if relative else entry.name
            try:
                if entry.is_dir():
                    (links if entry.is_symlink() else folders).append(path)
                elif Path(path).suffix.lower() in SUFFIXES:
                    status = entry.stat()
                    if stat.S_ISREG(status.st_mode):
                        yield FoundImage(path, status.st_size, status.st_mtime_ns)
            except OSError as error:
                on_error(path, error)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    with os.scandir(folder) as entries:
        shown = [entry for entry in entries if not entry.name.startswith(".")]
    # Sorted, so that of two links to one folder the same one is always taken.
    return sorted(shown, key=lambda entry: entry.name)


def _identity(folder: Path) -> tuple[int, int]:
    status = folder.stat()
    return status.st_dev, status.st_ino


def _check_size(size: tuple[int, int], name: str | os.PathLike[str]) -> None:
    width, height = size
    if width * height > MAX_PIXELS:
        raise ImageError(f"{name}: {_too_large()}")
    if max(size) > MAX_ASPECT_RATIO * min(size):
        raise ImageError(
            f"{name}: is {width} × {height} pixels; one side may be at most "
            f"{MAX_ASPECT_RATIO} times the other"
        )


def _too_large() -> str:
    return f"has more than {MAX_PIXELS // 10**6} million pixels"


def _why_unknown(name: str | os.PathLike[str]) -> str:
    if Path(name).suffix.lower() in _HEIF_SUFFIXES and "HEIF" not in Image.OPEN:
        return "HEIC pictures need another package: pip install 'litotes[heic]'"
    return "is not a picture in a known format"


def _to_rgb(image: Image.Image) -> Image.Image:
    if image.mode.startswith("I;16"):
        return _from_16_bit(np.asarray(image))
    if image.mode in ("I", "F"):
        return _from_wide(np.asarray(image))
    if image.has_transparency_data:
        canvas = Image.new("RGBA", image.size, "white")
        canvas.alpha_composite(image.convert("RGBA"))
        return canvas.convert("RGB")
    return image.convert("RGB")


def _from_16_bit(values: np.ndarray) -> Image.Image:
    # Pillow's own conversion clips at 255, which turns nearly every pixel white.
    scaled = (values.astype(np.uint32) + 128) // 257
    return Image.fromarray(scaled.astype(np.uint8)).convert("RGB")


def _from_wide(values: np.ndarray) -> Image.Image:
    values = np.nan_to_num(values)
    low, high = values.min(), values.max()
    if np.issubdtype(values.dtype, np.integer) and low >= 0 and high <= 0xFFFF:
        # 16-bit PGM files, and most TIFFs with wider integers.
        return _from_16_bit(values)
    span = float(high) - float(low) or 1.0
    scaled = (values.astype(np.float64) - float(low)) / span * 255
    return Image.fromarray(np.rint(scaled).astype(np.uint8)).convert("RGB")


def _orientation(image: Image.Image) -> int:
    try:
        return int(image.getexif().get(_ORIENTATION_TAG, 1))
    # A photo with broken EXIF is still a photo, and Pillow's EXIF reader raises nearly anything.
    except Exception:
        return 1


def _upright(image: Image.Image, orientation: int) -> Image.Image:
    transpose = _TRANSPOSE.get(orientation)
    return image if transpose is None else image.transpose(transpose)
