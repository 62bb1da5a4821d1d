"""`DualEncoder`: pixels to vectors, words to vectors, and a text stack to walk."""

import copy
import hashlib
import os
import sys
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import Any, Protocol, Self, TypeVar

import torch
from PIL import Image
from rich.console import Console
from rich.progress import track
from torch import Tensor, nn
from torch.utils.data import default_collate

from litotes.backbones.text import LayerHook, TextStack
from litotes.data.images import open_image
from litotes.errors import LitotesWarning, ModelError

T = TypeVar("T")
R = TypeVar("R")
ImageLike = str | PathLike[str] | Image.Image | Tensor | dict[str, Tensor]


class ImageTower(ABC):
    """An image tower: what turns pictures into vectors.

    Attributes:
        prefixes: which names of the model's state dict belong to the image side.
    """

    prefixes: tuple[str, ...]

    @abstractmethod
    def preprocess(self, image: Image.Image) -> Any:
        """One RGB picture as the tower reads it: a tensor ``(3, H, W)``, or a dict of tensors."""

    @abstractmethod
    def run(self, pixels: Any) -> Tensor:
        """Vectors ``(B, d)``, not normalised, of a batch that :meth:`preprocess` made."""

    @property
    @abstractmethod
    def identity(self) -> str:
        """What the weights do not say: preprocessing, activation, pooling."""


class Steering(Protocol):
    """What :meth:`DualEncoder.steered` takes: see :class:`litotes.steering.NegationDirection`."""

    def hook(self, encoder: "DualEncoder", alpha: float, layers: Iterable[int] | None) -> LayerHook:
        """The hook that steers ``encoder``, or an error if the direction is not for it."""
        ...

    @property
    def fingerprint(self) -> str:
        """Names the direction's content."""
        ...


class DualEncoder:
    """An image encoder and a text encoder that share one space.

    Obtained from :func:`litotes.load`. Vectors are float32, of unit length, on the CPU, so that
    a dot product is a cosine similarity; ``device`` and ``dtype`` are those of the computation.

    Args:
        name: how the model was asked for.
        model: the module that holds both towers, in float32; its weights are frozen, and
            training thaws those that it trains.
        image: the image tower.
        text: the text stack.
        dim: length ``d`` of the vectors.
        device: where to compute.
        dtype: precision of the computation.

    Attributes:
        image_changes, text_changes: what an adapter or steering does to a side beyond its
            weights, as part of the side's fingerprint.
        adapter: the LoRA adapter in the model: the name of one that ships, or its folder.
    """

    def __init__(
        self,
        name: str,
        model: nn.Module,
        image: ImageTower,
        text: TextStack,
        dim: int,
        *,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.name = name
        # Frozen: some kernels round differently where gradients could be asked for, and image
        # vectors must stay the same to the bit when only the text side is adapted.
        self.model = model.eval().requires_grad_(False)
        self.image = image
        self.text = text
        self.dim = dim
        self.device = torch.device(device)
        self.dtype = dtype
        self.image_changes = ""
        self.text_changes = ""
        self.adapter: str | None = None
        self._hook: LayerHook | None = None
        if dtype != torch.float32:
            # Fingerprints are of the float32 weights, so that precision does not change them.
            _ = self.image_fingerprint, self.text_fingerprint
        model.to(device=self.device, dtype=dtype)

    @property
    def label(self) -> str:
        """Name for people: the model's, and the adapter's."""
        names = [Path(name).name for name in self.adapter.split("+")] if self.adapter else []
        return " + ".join([self.name, *names])

    @property
    def images_at_once(self) -> int:
        """Pictures in a batch; on a processor few, as the memory of large activations is given back
        to the system and asked for again in every layer, which can take as long as the rest.
        """
        return 8 if self.device.type == "cpu" else 32

    @property
    def context_length(self) -> int:
        """Tokens a caption may have before it is cut, start and end tokens included."""
        return self.text.context_length

    @property
    def image_fingerprint(self) -> str:
        """Names image weights and preprocessing; equal fingerprints give equal image vectors.

        The weights are read when a fingerprint is first asked for.
        """
        return _short(self._image_digest + self.image_changes)

    @property
    def text_fingerprint(self) -> str:
        """Names text weights, tokenizer and steering; a direction is bound to it."""
        return _short(self._text_digest + self.text_changes)

    @cached_property
    def _image_digest(self) -> str:
        return _digest(self.model, self.image.prefixes, self.image.identity)

    @cached_property
    def _text_digest(self) -> str:
        return _digest(self.model, self.text.prefixes, self.text.identity)

    # Not inference mode, whose tensors cannot take part in training later on.
    @torch.no_grad()
    def encode_images(
        self,
        images: Sequence[ImageLike] | Tensor,
        *,
        batch_size: int | None = None,
        progress: bool | None = None,
        normalize: bool = True,
    ) -> Tensor:
        """Unit vectors ``(N, d)``, float32, of pictures.

        Args:
            images: paths, PIL pictures, or what the tower's ``preprocess`` makes of one: a
                tensor ``(3, H, W)``, or a dict of tensors.
            batch_size: pictures computed at once; by default :attr:`images_at_once`.
            progress: show a progress bar; by default at a terminal.
            normalize: scale them to unit length; without it they are as the tower gives them.

        Raises:
            ImageError: a path is not a readable picture.
            TypeError: one picture was given and not a list of them.
        """
        if isinstance(images, str | PathLike | Image.Image) or getattr(images, "ndim", 4) != 4:
            raise TypeError("images must be a list of pictures, not one picture: pass [image]")
        batch_size = batch_size or self.images_at_once
        out = torch.empty(len(images), self.dim)
        starts = range(0, len(images), batch_size)
        with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
            loaded = _prefetch(pool, self._prepare, images, ahead=2 * batch_size)
            for start in _bar(starts, len(starts), "Encoding images", progress):
                pixels = default_collate(list(islice(loaded, batch_size)))
                vectors = self.image.run(_to(pixels, self.device, self.dtype))
                out[start : start + batch_size] = _unit(vectors) if normalize else vectors.cpu()
        return out

    def pixels(self, images: Sequence[ImageLike]) -> Any:
        """A batch of pictures as the image tower's ``run`` reads it.

        Raises:
            ImageError: a path is not a readable picture.
        """
        with ThreadPoolExecutor(min(8, os.cpu_count() or 1)) as pool:
            pixels = default_collate(list(pool.map(self._prepare, images)))
        return _to(pixels, self.device, self.dtype)

    @torch.no_grad()
    def encode_texts(
        self, texts: Sequence[str], *, batch_size: int = 32, progress: bool | None = None
    ) -> Tensor:
        """Unit vectors ``(N, d)``, float32, of captions.

        A caption that stands more than once is computed once.

        Args:
            texts: captions; one that is longer than ``context_length`` tokens is cut, and one
                warning says how many were.
            batch_size: captions computed at once.
            progress: show a progress bar; by default at a terminal.

        Raises:
            TypeError: one string was given and not a list of them.
        """
        unique, places = _unique(texts)
        out = torch.empty(len(unique), self.dim)
        for rows, ids in self._batches(unique, batch_size, "Encoding texts", progress):
            out[rows] = _unit(self.text.run(ids, self._hook))
        return out[places]

    @torch.no_grad()
    def text_states(
        self, texts: Sequence[str], *, batch_size: int = 32, progress: bool | None = None
    ) -> Tensor:
        """Residual stream at each caption's summary token after each block, in one pass.

        A steered encoder gives its steered states.

        Returns:
            Tensor ``(N, depth, width)``, float32. ``[:, l]`` is ``h_l`` of arXiv 2603.20554.

        Raises:
            ModelError: this text tower cannot be walked block by block.
            TypeError: one string was given and not a list of them.
        """
        if not self.text.depth:
            raise ModelError(f"the text tower of {self.name} cannot be walked block by block")
        unique, places = _unique(texts)
        states = torch.empty(len(unique), self.text.depth, self.text.width)
        for rows, ids in self._batches(unique, batch_size, "Reading text states", progress):
            self.text.run(ids, self._reader(states, rows))
        return states[places]

    def steered(
        self,
        direction: Steering,
        alpha: float = 0.13,
        layers: Iterable[int] | None = None,
    ) -> Self:
        """A view of this encoder whose text side is pushed along a negation direction.

        ``h_l ← (1 − α) h_l + α ‖h_l‖ w_l`` after each block, at the summary token (arXiv
        2603.20554). This encoder is left as it is; both share their weights.

        Args:
            direction: fitted on this encoder's text side.
            alpha: how far, 0 to 1.
            layers: which blocks, counted from 0; all by default.

        Raises:
            DirectionError: the direction was fitted on another text encoder.
            ValueError: this encoder is steered already, or ``alpha`` or ``layers`` is out of range.
        """
        if self._hook is not None:
            raise ValueError("this encoder is steered already: steer the one it was made from")
        chosen = None if layers is None else sorted(set(layers))
        view = copy.copy(self)
        view._hook = direction.hook(self, alpha, chosen)
        view.text_changes += f"steered {direction.fingerprint} {alpha} {chosen}"
        return view

    @staticmethod
    def similarity(a: Tensor, b: Tensor) -> Tensor:
        """Cosine similarities ``(N, M)`` of unit vectors ``(N, d)`` and ``(M, d)``."""
        return a @ b.T

    def _reader(self, states: Tensor, rows: Tensor) -> LayerHook:
        def hook(layer: int, summary: Tensor) -> Tensor | None:
            changed = None if self._hook is None else self._hook(layer, summary)
            states[rows, layer] = (summary if changed is None else changed).float().cpu()
            return changed

        return hook

    def _batches(
        self, texts: Sequence[str], batch_size: int, title: str, progress: bool | None
    ) -> Iterable[tuple[Tensor, Tensor]]:
        if not texts:
            return
        # What is not valid Unicode, such as bytes that a shell passed on, no tokenizer takes.
        ids, cut = self.text.tokenize([t.encode(errors="replace").decode() for t in texts])
        if cut:
            warnings.warn(
                f"{cut} of {len(texts)} captions had more than {self.context_length} tokens "
                f"and were cut",
                LitotesWarning,
                stacklevel=4,
            )
        batches = self.text.batches(ids, batch_size)
        for rows, batch in _bar(batches, -(-len(ids) // batch_size), title, progress):
            yield rows, batch.to(self.device)

    def _prepare(self, image: ImageLike) -> Any:
        if isinstance(image, Tensor | dict):
            return image
        if isinstance(image, Image.Image):
            return self.image.preprocess(image.convert("RGB"))
        return self.image.preprocess(open_image(image))


def _unique(texts: Sequence[str]) -> tuple[list[str], Tensor]:
    """The different texts, and the place of each text among them."""
    if isinstance(texts, str):
        raise TypeError("texts must be a list of strings, not one string: pass [text]")
    places: dict[str, int] = {}
    for i, text in enumerate(texts):
        if not isinstance(text, str):
            raise TypeError(f"texts[{i}] is {type(text).__name__}, not a string")
        places.setdefault(text, len(places))
    return list(places), torch.tensor([places[text] for text in texts], dtype=torch.long)


def _unit(vectors: Tensor) -> Tensor:
    return nn.functional.normalize(vectors.float(), dim=-1).cpu()


def _to(pixels: Any, device: torch.device, dtype: torch.dtype) -> Any:
    if isinstance(pixels, dict):
        return {name: _to(value, device, dtype) for name, value in pixels.items()}
    return pixels.to(device, dtype if pixels.is_floating_point() else pixels.dtype)


def _prefetch(
    pool: ThreadPoolExecutor, work: Callable[[T], R], items: Iterable[T], ahead: int
) -> Iterator[R]:
    """Results in order, with some computed ahead."""
    remaining = iter(items)
    pending = [pool.submit(work, item) for item in islice(remaining, ahead)]
    while pending:
        yield pending.pop(0).result()
        pending += [pool.submit(work, item) for item in islice(remaining, 1)]


def _bar(items: Iterable[T], total: int, title: str, progress: bool | None) -> Iterable[T]:
    shown = sys.stderr.isatty() and total > 1 if progress is None else progress
    if not shown:
        return items
    return track(items, title, total=total, console=Console(stderr=True), transient=True)


def _digest(model: nn.Module, prefixes: tuple[str, ...], identity: str) -> str:
    side = {name: w for name, w in model.state_dict().items() if name.startswith(prefixes)}
    return weights_digest(side, identity)


def weights_digest(weights: Mapping[str, Tensor], identity: str = "") -> str:
    """Names the content of weights, whatever their order."""
    digest = hashlib.sha256(identity.encode())
    for name, tensor in sorted(weights.items()):
        digest.update(f"{name}{tuple(tensor.shape)}{tensor.dtype}".encode())
        digest.update(tensor.detach().cpu().contiguous().reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()


def _short(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]
