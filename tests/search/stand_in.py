"""A tiny encoder for tests of the index: a picture's colours on a coarse grid, and colour words.

Run as a script it indexes a folder and dies on the way, each time in another child:
``stand_in.py FOLDER LOCATION:POINT:COUNT…`` is killed the COUNT-th time POINT is passed, and
``LOCATION:slow:SECONDS`` from outside. It prints how each child ended.
"""

import os
import signal
import sys
import time
from collections.abc import Sequence

import torch
from PIL import Image, ImageColor
from torch import Tensor, nn

GRID = 4
DIM = 3 * GRID * GRID


class StandInImages:
    @staticmethod
    def preprocess(image: Image.Image) -> Tensor:
        small = image.resize((GRID, GRID), Image.Resampling.BOX)
        return torch.frombuffer(bytearray(small.tobytes()), dtype=torch.uint8).float() / 255


class StandIn:
    """What the index uses of a `DualEncoder`."""

    name = label = "stand-in"
    adapter = None
    dim = DIM
    images_at_once = 32
    text_fingerprint = "words"

    def __init__(self, image_fingerprint: str = "grid") -> None:
        self.image_fingerprint = image_fingerprint
        self.image = StandInImages()
        self.calls: list[int] = []
        torch_random = torch.Generator().manual_seed(0)
        self.projection = torch.randn(DIM, DIM, generator=torch_random)

    def encode_images(
        self, images: Sequence[Tensor], *, batch_size: int = 32, progress: bool | None = None
    ) -> Tensor:
        self.calls.append(len(images))
        return nn.functional.normalize((torch.stack(list(images)) + 0.1) @ self.projection, dim=-1)

    def encode_texts(
        self, texts: Sequence[str], *, batch_size: int = 32, progress: bool | None = None
    ) -> Tensor:
        pictures = [Image.new("RGB", (GRID, GRID), _color(text)) for text in texts]
        return self.encode_images([self.image.preprocess(picture) for picture in pictures])


def _color(text: str) -> str:
    return next((word for word in text.split() if word in ImageColor.colormap), "gray")


def index_until(folder: str, location: str, point: str, count: int, ready: int) -> None:
    """Index a folder, and die when ``point`` is passed the ``count``-th time."""
    from litotes.search import PhotoIndex, build, store

    build.COMMIT_SECONDS = 0
    if point == "slow":
        slow_down()
    elif point == "encode":
        die_after(StandIn, "encode_images", count)
    elif point == "rename":
        die_after(store.Path, "rename", count)
    else:
        die_after(store.Store, point, count)
    os.write(ready, b"!")
    PhotoIndex.build(folder, StandIn(), location=location, batch_size=4)


def slow_down() -> None:
    encode = StandIn.encode_images

    def slowly(*args: object, **kwargs: object) -> Tensor:
        time.sleep(0.3)
        return encode(*args, **kwargs)

    StandIn.encode_images = slowly


def die_after(owner: type, name: str, count: int) -> None:
    work = getattr(owner, name)
    left = count

    def wrapper(*args: object, **kwargs: object) -> object:
        nonlocal left
        result = work(*args, **kwargs)
        left -= 1
        if left == 0:
            os.kill(os.getpid(), signal.SIGKILL)
        return result

    setattr(owner, name, wrapper)


def fork(folder: str, location: str, point: str, argument: str) -> int:
    """How a child that indexes a folder ended: minus the signal, or its exit status."""
    is_ready, ready = os.pipe()
    child = os.fork()
    if child == 0:
        # The child alone imports Lance, whose threads would not live through the fork.
        index_until(folder, location, point, int(argument) if point != "slow" else 0, ready)
        os._exit(0)
    if point == "slow":
        os.read(is_ready, 1)
        time.sleep(float(argument))
        os.kill(child, signal.SIGKILL)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


if __name__ == "__main__":
    import lance_namespace  # noqa: F401  (the slow part of importing lancedb)

    import litotes.backbones.registry
    import litotes.strategies  # noqa: F401

    for scenario in sys.argv[2:]:
        print(fork(sys.argv[1], *scenario.split(":")), flush=True)
