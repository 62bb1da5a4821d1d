"""Pieces of HTML pages that need no other file."""

import base64
import io
from html import escape

from PIL import Image


def escaped(text: str) -> str:
    """Text that is not taken for HTML; file names and the like need not be valid text."""
    return escape(text.encode("utf-8", "replace").decode())


def jpeg_data(image: Image.Image, quality: int) -> str:
    """A picture as the address of an ``img``."""
    buffer = io.BytesIO()
    image.save(buffer, format="JPEG", quality=quality)
    return f"data:image/jpeg;base64,{base64.b64encode(buffer.getvalue()).decode()}"
