"""`load`: from a name, a folder or a file to a :class:`DualEncoder`."""

from collections.abc import Mapping
from os import PathLike, fspath
from typing import Any

import torch

from litotes.backbones.adapters import attach_adapter
from litotes.backbones.encoder import DualEncoder
from litotes.errors import ModelError

BUNDLED = ("mini", "scenes")
"""Models that ship with this package."""
_DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}


def load(
    name: str | PathLike[str],
    pretrained: str | PathLike[str] | None = None,
    *,
    adapter: str | PathLike[str] | None = None,
    device: torch.device | str | None = None,
    dtype: torch.dtype | str | None = None,
    quick_gelu: bool | None = None,
    cache_dir: str | PathLike[str] | None = None,
) -> DualEncoder:
    """A dual encoder, by name, folder or file.

    Args:
        name: one of

            - ``"mini"``, the small model of the ``litotes[mini]`` extra: needs no download;
            - ``"scenes"``, the small model of drawn scenes: needs no download either;
            - an ``open_clip`` architecture such as ``"ViT-B-32"``, with ``pretrained``;
            - a weight file of OpenAI's CLIP, NegCLIP, CoN-CLIP, Long-CLIP and its kin, or any
              that :mod:`litotes.backbones.checkpoints` reads; its measures are read from it;
            - a folder that ``open_clip`` or ``transformers`` (CLIP, SigLIP, SigLIP 2) saved;
            - ``"org/name"`` of a model of either kind on the Hugging Face hub. ``"hf-hub:…"``
              and ``"local-dir:…"`` are understood as ``open_clip`` does.
        pretrained: with an architecture: a tag of its published weights, a weight file that has
            to fit it, or ``"random"`` for weights drawn with a fixed seed (for tests).
        adapter: a LoRA adapter's folder, in PEFT's format.
        device: where to compute; by default a GPU if there is one.
        dtype: precision of the computation: ``"fp32"`` (default), ``"bf16"``, ``"fp16"``, or
            torch's own.
        quick_gelu: activation of ``open_clip`` models, where it is to differ from what the
            weights are known to need. A file that may descend from OpenAI's weights gets
            QuickGELU, with a warning if it does not say so: with the wrong activation a model
            still works, only worse.
        cache_dir: where downloads are kept.

    Raises:
        ModelError: there is no such model, or it cannot be downloaded, read or fitted.
    """
    name = fspath(name)
    pretrained, cache_dir = (p if p is None else fspath(p) for p in (pretrained, cache_dir))
    place: dict[str, Any] = {"device": device_of(device), "dtype": _dtype(dtype)}
    if name in BUNDLED and pretrained is None:
        if quick_gelu is not None:
            raise ModelError(f"quick_gelu is for open_clip models, not for {name}")
        encoder = _bundled(name, place)
    else:
        from litotes.backbones.published import load_published

        encoder = load_published(name, pretrained, quick_gelu, cache_dir, place)
    if adapter is not None:
        attach_adapter(encoder, adapter)
    return encoder


def _bundled(name: str, place: Mapping[str, Any]) -> DualEncoder:
    if name == "mini":
        from litotes.backbones.mini import load_mini

        return load_mini(**place)
    from litotes.backbones.scenes import load_scenes

    return load_scenes(**place)


def device_of(device: torch.device | str | None) -> torch.device:
    """A device by its name; by default a GPU if there is one.

    Raises:
        ModelError: there is no such device.
    """
    if device is None:
        available = "mps" if torch.backends.mps.is_available() else "cpu"
        return torch.device("cuda" if torch.cuda.is_available() else available)
    try:
        return torch.empty(0, device=device).device
    except (AssertionError, RuntimeError) as error:
        raise ModelError(f"there is no device {str(device)!r} here ({error})") from error


def _dtype(dtype: torch.dtype | str | None) -> torch.dtype:
    if isinstance(dtype, torch.dtype):
        return dtype
    if dtype is None:
        return torch.float32
    if dtype not in _DTYPES:
        raise ModelError(f"dtype must be one of {', '.join(map(repr, _DTYPES))}, not {dtype!r}")
    return _DTYPES[dtype]
