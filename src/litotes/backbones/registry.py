"""`load`: from a name, a folder or a file to a :class:`DualEncoder`."""

import difflib
import logging
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from os import PathLike, fspath
from pathlib import Path
from typing import Any

import open_clip
import torch
from huggingface_hub import hf_hub_download
from huggingface_hub.errors import EntryNotFoundError
from open_clip.transform import PreprocessCfg, image_transform_v2

from litotes.backbones.adapters import attach_adapter
from litotes.backbones.checkpoints import empty_model, model_of_checkpoint
from litotes.backbones.encoder import DualEncoder
from litotes.backbones.huggingface import from_transformers
from litotes.backbones.openclip import OpenClipImage, from_open_clip
from litotes.errors import LitotesError, ModelError

_DTYPES = {"fp32": torch.float32, "bf16": torch.bfloat16, "fp16": torch.float16}
_FILE_SUFFIXES = (".pt", ".pth", ".bin", ".ckpt", ".safetensors")


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
    path, architecture = Path(name).expanduser(), name.replace("/", "-")
    if pretrained is not None and architecture not in open_clip.list_models():
        raise ModelError(
            f"{name!r} is not an open_clip architecture, and only those take pretrained=…"
            + _near(name)
        )
    if name == "mini":
        from litotes.backbones.mini import load_mini

        encoder = load_mini(**place)
    elif name == "scenes":
        from litotes.backbones.scenes import load_scenes

        encoder = load_scenes(**place)
    elif pretrained is None and path.exists():
        encoder = _from_path(name, path, quick_gelu, place)
    elif architecture in open_clip.list_models():
        encoder = _from_architecture(architecture, pretrained, quick_gelu, cache_dir, place)
    elif name.startswith(("hf-hub:", "local-dir:")):
        encoder = _from_open_clip(name, name, None, quick_gelu, cache_dir, place)
    elif name.count("/") == 1 and path.suffix not in _FILE_SUFFIXES:
        encoder = _from_hub(name, quick_gelu, cache_dir, place)
    else:
        raise ModelError(f"there is no model, folder or file {name!r}" + _near(name))
    if quick_gelu is not None and not isinstance(encoder.image, OpenClipImage):
        raise ModelError(f"quick_gelu is for open_clip models; {name} says what it needs itself")
    if adapter is not None:
        attach_adapter(encoder, adapter)
    return encoder


def _from_path(
    name: str, path: Path, quick_gelu: bool | None, place: Mapping[str, Any]
) -> DualEncoder:
    if path.is_file():
        model = model_of_checkpoint(path, quick_gelu=quick_gelu)
        tokenizer = open_clip.SimpleTokenizer(context_length=model.context_length)
        return from_open_clip(name, model, _transform(model), tokenizer, **place)
    if (path / "open_clip_config.json").is_file():
        return _from_open_clip(name, f"local-dir:{path}", None, quick_gelu, None, place)
    if (path / "config.json").is_file():
        return from_transformers(name, str(path), None, **place)
    if (path / "adapter_config.json").is_file():
        raise ModelError(
            f"{path}: is an adapter, not a model: load the model it was trained on, with "
            f'adapter="{path}"'
        )
    raise ModelError(
        f"{path}: is not a model's folder: it has neither open_clip_config.json (open_clip) nor "
        f"config.json (transformers)"
    )


def _from_architecture(
    name: str,
    pretrained: str | None,
    quick_gelu: bool | None,
    cache_dir: str | None,
    place: Mapping[str, Any],
) -> DualEncoder:
    tags = open_clip.list_pretrained_tags_by_model(name)
    if pretrained is None:
        raise ModelError(
            f"{name} is an architecture: say with which weights, as pretrained=…: "
            f"{_listed(tags)} or a weight file"
        )
    asked = f"{name}:{pretrained}"
    if pretrained in tags:
        if quick_gelu is None:
            # The tag knows: open_clip goes by the architecture's name, and only warns.
            published = open_clip.get_pretrained_cfg(name, pretrained)
            quick_gelu = bool(published.get("quick_gelu", False))
        return _from_open_clip(asked, name, pretrained, quick_gelu, cache_dir, place)
    path = Path(pretrained).expanduser()
    with _third_party(asked):
        tokenizer = open_clip.get_tokenizer(name, cache_dir=cache_dir)
        if pretrained == "random":
            with torch.random.fork_rng(devices=[]):
                torch.manual_seed(0)
                model = empty_model(name, quick_gelu)
        elif path.is_file():
            model = model_of_checkpoint(path, name, quick_gelu)
        else:
            raise ModelError(
                f"{name} has no weights {pretrained!r}, and there is no such file: its tags are "
                f"{_listed(tags)}" + _near(pretrained, tags)
            )
    return from_open_clip(asked, model, _transform(model), tokenizer, **place)


def _from_hub(
    name: str,
    quick_gelu: bool | None,
    cache_dir: str | None,
    place: Mapping[str, Any],
) -> DualEncoder:
    with _third_party(name):
        try:
            hf_hub_download(name, "open_clip_config.json", cache_dir=cache_dir)
        except EntryNotFoundError:
            try:
                return from_transformers(name, name, cache_dir, **place)
            except ModelError as error:
                raise ModelError(f"{error}" + _near(name)) from error
    return _from_open_clip(name, f"hf-hub:{name}", None, quick_gelu, cache_dir, place)


def _from_open_clip(
    name: str,
    source: str,
    tag: str | None,
    quick_gelu: bool | None,
    cache_dir: str | None,
    place: Mapping[str, Any],
) -> DualEncoder:
    overridden = {} if quick_gelu is None else {"quick_gelu": quick_gelu}
    with _third_party(name):
        tokenizer = open_clip.get_tokenizer(source, cache_dir=cache_dir)
        model = open_clip.create_model(
            source, tag, cache_dir=cache_dir, require_pretrained=True, **overridden
        )
    return from_open_clip(name, model, _transform(model), tokenizer, **place)


def _transform(model: Any) -> Any:
    return image_transform_v2(PreprocessCfg(**model.visual.preprocess_cfg), is_train=False)


@contextmanager
def _third_party(name: str) -> Iterator[None]:
    """Makes whatever goes wrong in open_clip, transformers or the hub's client a `ModelError`.

    Their remarks on the way are kept quiet: what matters of them is said here, or decided.
    """
    level = logging.root.manager.disable
    logging.disable(logging.ERROR)
    try:
        with warnings.catch_warnings():
            warnings.filterwarnings("ignore", message="QuickGELU mismatch")
            yield
    except LitotesError:
        raise
    except Exception as error:
        raise ModelError(f"{name} could not be loaded or fetched: {error}" + _near(name)) from error
    finally:
        logging.disable(level)


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
        raise ModelError(f"dtype must be one of {_listed(_DTYPES)}, not {dtype!r}")
    return _DTYPES[dtype]


def _near(name: str, among: Iterable[str] | None = None) -> str:
    """A hint at names that are like a wrong one."""
    known = {n.lower(): n for n in among or [*open_clip.list_models(), "mini", "scenes"]}
    near = difflib.get_close_matches(name.lower().replace("/", "-"), known, n=4, cutoff=0.6)
    near = [known[n] for n in near if known[n] != name]
    return f"; did you mean {_listed(near)}?" if near else ""


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names)) or "none"
