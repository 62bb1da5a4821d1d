"""Pictures of captions, by a text-to-image pipeline of ``diffusers`` (SDXL-Turbo by default)."""

import inspect
import re
import warnings
from collections.abc import Mapping, Sequence
from os import PathLike, fspath
from typing import Any, Literal, Protocol, TypeAlias, get_args

import numpy as np
import torch
from PIL import Image

from litotes.backbones.registry import device_of
from litotes.errors import LitotesError, ModelError
from litotes.mining.planting import Dropped

Rendered: TypeAlias = Image.Image | Dropped
Precision: TypeAlias = Literal["fp32", "fp16", "bf16"]

SDXL_TURBO = "stabilityai/sdxl-turbo"
#: CLIP ViT-L/14 beside 20 concepts: what Stable Diffusion 1 ships with (Rando et al., 2210.04610).
SAFETY_CHECKER = "CompVis/stable-diffusion-safety-checker"
#: Captions with these words are not drawn: a checker misses some pictures, and photographs'
#: captions do tell of naked children.
UNSAFE = re.compile(
    r"\b(?:nud(?:e|es|ity|ist|ists)|naked(?:ness)?|topless|undress(?:ed|ing)|stripp(?:er|ers)"
    r"|sex|sexy|sexual(?:ly)?|erotic\w*|porn\w*|genital\w*|penis(?:es)?|vaginas?|nipples?)\b",
    re.IGNORECASE,
)

_DTYPES = {"fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16}
_NEEDED = ("prompt", "height", "width", "num_inference_steps", "guidance_scale", "generator")


class Renderer(Protocol):
    """Draws captions.

    Attributes:
        settings: what its pictures depend on, beside captions and seeds; to be written as JSON.
    """

    @property
    def settings(self) -> Mapping[str, Any]: ...

    def __call__(self, captions: Sequence[str], seeds: Sequence[int]) -> list[Rendered]:
        """Draw each caption by its own seed alone, or say why it is left out."""
        ...


class DiffusersRenderer:
    """A text-to-image pipeline of ``diffusers``; what it may not show is left out.

    A caption with one of the words of :data:`UNSAFE` is not drawn. A picture is left out if the
    pipeline's own safety checker flags it, or, where the pipeline has none (as SDXL's), if
    ``safety_checker`` does; or if all its pixels are alike, as half precision leaves it when
    numbers overflow. Random numbers are drawn on the CPU, by a generator for each picture, and
    pictures are decoded one by one, so a picture is the same in any batch and on any device, but
    for rounding.

    Args:
        model: an id of the Hugging Face hub, or a folder of ``save_pretrained``.
        device: where to compute; by default a GPU if there is one.
        precision: of the weights; by default ``"fp16"`` on a GPU of CUDA, else ``"fp32"``.
        steps: of denoising; the default is SDXL-Turbo's.
        guidance: scale of classifier-free guidance; the default, none, is SDXL-Turbo's.
        size: of a side of the pictures, in pixels; a multiple of 8.
        safety_checker: as ``model``, of a ``StableDiffusionSafetyChecker``; read only if the
            pipeline has no checker. None judges no picture then.

    Attributes:
        settings: what pictures depend on.

    Raises:
        LitotesError: ``diffusers`` is not installed, or ``size`` is no multiple of 8.
        ModelError: a model cannot be loaded or fetched, or draws no pictures of texts.
    """

    def __init__(
        self,
        model: str | PathLike[str] = SDXL_TURBO,
        *,
        device: torch.device | str | None = None,
        precision: Precision | None = None,
        steps: int = 1,
        guidance: float = 0.0,
        size: int = 512,
        safety_checker: str | PathLike[str] | None = SAFETY_CHECKER,
    ) -> None:
        if size < 8 or size % 8:
            raise LitotesError(f"pictures must be of a multiple of 8 pixels a side, not {size}")
        place = device_of(device or ("cuda" if torch.cuda.is_available() else "cpu"))
        precision = precision or ("fp16" if place.type == "cuda" else "fp32")
        if precision not in get_args(Precision):
            raise ModelError(f"precision must be one of {get_args(Precision)}, not {precision!r}")
        self._pipeline = _load_pipeline(fspath(model), precision, place)
        judge: str | None = "the pipeline's own"
        self._checker: SafetyChecker | None = None
        if getattr(self._pipeline, "safety_checker", None) is None:
            judge = None if safety_checker is None else fspath(safety_checker)
            if judge is not None:
                self._checker = SafetyChecker(judge, _DTYPES[precision], place)
        self.settings: dict[str, Any] = {
            "model": fspath(model),
            "precision": precision,
            "steps": steps,
            "guidance": guidance,
            "size": size,
            "safety_checker": judge,
        }

    def __call__(self, captions: Sequence[str], seeds: Sequence[int]) -> list[Rendered]:
        """Draw captions in one batch.

        Args:
            captions: what to draw; what is longer than the pipeline's text encoder reads is cut.
            seeds: one a picture, 0 to 2**63 - 1.

        Raises:
            ModelError: the device has too little memory for so many at once, or the pipeline
                keeps its safety checker's verdicts to itself.
        """
        drawn: list[Rendered] = [Dropped("caption has an unsafe word")] * len(captions)
        places = [i for i, caption in enumerate(captions) if not UNSAFE.search(caption)]
        if places:
            pictures = self._draw([captions[i] for i in places], [seeds[i] for i in places])
            for i, picture in zip(places, pictures, strict=True):
                drawn[i] = picture
        return drawn

    def _draw(self, captions: list[str], seeds: list[int]) -> list[Rendered]:
        try:
            # Of the library's use of itself.
            with warnings.catch_warnings(action="ignore", category=FutureWarning):
                output = self._pipeline(
                    prompt=captions,
                    num_inference_steps=self.settings["steps"],
                    guidance_scale=self.settings["guidance"],
                    height=self.settings["size"],
                    width=self.settings["size"],
                    generator=[torch.Generator("cpu").manual_seed(seed) for seed in seeds],
                )
        except torch.OutOfMemoryError as error:
            raise ModelError(
                f"{self.settings['model']}: there is too little memory to draw {len(captions)} "
                f"pictures at once; ask for smaller batches ({error})"
            ) from error
        pictures: list[Image.Image] = output.images
        flags = self._flags(pictures, getattr(output, "nsfw_content_detected", None))
        return [_kept(*pair) for pair in zip(pictures, flags, strict=True)]

    def _flags(self, pictures: list[Image.Image], own: list[bool] | None) -> list[bool]:
        """Which pictures are not safe, by the pipeline's own verdict where there is one."""
        if own is not None:
            return own
        if self._checker is not None:
            return self._checker(pictures)
        if self.settings["safety_checker"] is not None:
            raise ModelError(
                f"{self.settings['model']} has a safety checker, but does not say what it flags"
            )
        return [False] * len(pictures)


class SafetyChecker:
    """Says which pictures are not safe to show: Stable Diffusion's checker, for any pipeline.

    Args:
        name: an id of the Hugging Face hub, or a folder.
        dtype: of the weights.
        device: where to compute.

    Raises:
        ModelError: it cannot be loaded or fetched.
    """

    def __init__(self, name: str, dtype: torch.dtype, device: torch.device) -> None:
        from diffusers.pipelines.stable_diffusion.safety_checker import (
            StableDiffusionSafetyChecker,
        )
        from transformers import CLIPImageProcessor

        try:
            self._processor = CLIPImageProcessor.from_pretrained(name)
            model = StableDiffusionSafetyChecker.from_pretrained(name, dtype=dtype)
        except (OSError, ValueError, RuntimeError) as error:
            raise ModelError(
                f"the safety checker {name} could not be loaded or fetched: it must be a folder, "
                f"or a name on the Hugging Face hub, which must be reachable the first time; or "
                f"choose to draw without ({error})"
            ) from error
        self._model = model.to(device).eval()

    def __call__(self, pictures: Sequence[Image.Image]) -> list[bool]:
        """Whether each picture is flagged."""
        inputs = self._processor(list(pictures), return_tensors="pt")
        pixels = inputs.pixel_values.to(self._model.device, self._model.dtype)
        # What it flags it also blackens, in place.
        _, flags = self._model(images=[np.array(p) for p in pictures], clip_input=pixels)
        return [bool(flag) for flag in flags]


def _kept(picture: Image.Image, flagged: bool) -> Rendered:
    if flagged:
        return Dropped("picture was flagged by the safety checker")
    pixels = np.asarray(picture)
    if (pixels == pixels[0, 0]).all():
        return Dropped("picture is blank")
    return picture


def _load_pipeline(model: str, precision: str, device: torch.device) -> Any:
    try:
        from diffusers.utils import logging
        from transformers.utils import logging as transformers_logging
    except ImportError as error:
        raise LitotesError(
            "drawing pictures needs the package diffusers: `pip install 'litotes[draw]'`"
        ) from error
    # It would advise to try again what is flagged, and warn of every long caption. Bars of
    # downloads are the hub client's, and stay.
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    transformers_logging.disable_progress_bar()
    try:
        with warnings.catch_warnings(action="ignore"):
            pipeline = _fetch(model, precision).to(device)
    # Files of third parties make the library raise nearly anything.
    except Exception as error:
        raise ModelError(
            f"{model} could not be loaded or fetched: it must be a folder in which diffusers saved "
            f"a text-to-image pipeline, or the name of one on the Hugging Face hub, which must be "
            f"reachable the first time ({error})"
        ) from error
    lacking = set(_NEEDED) - set(inspect.signature(pipeline.__call__).parameters)
    if lacking:
        kind = type(pipeline).__name__
        raise ModelError(f"{model} is a {kind}, which takes no {', '.join(sorted(lacking))}")
    pipeline.set_progress_bar_config(disable=True)
    vae = getattr(pipeline, "vae", None)
    if vae is not None and hasattr(vae, "enable_slicing"):
        vae.enable_slicing()
    return pipeline


def _fetch(model: str, precision: str) -> Any:
    from diffusers import AutoPipelineForText2Image

    dtype = _DTYPES[precision]
    if precision == "fp16":
        try:
            # Files in half precision, which some models have, are half the download.
            return AutoPipelineForText2Image.from_pretrained(model, dtype=dtype, variant="fp16")
        except ValueError as error:
            if "variant" not in str(error):
                raise
    return AutoPipelineForText2Image.from_pretrained(model, dtype=dtype)
