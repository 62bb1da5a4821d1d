"""Models of ``open_clip`` and ``transformers``, by name, folder or file.

Both libraries take seconds to import, which what ships with this package need not wait for.
"""

import difflib
import logging
import warnings
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import open_clip
import torch
from huggingface_hub import hf_hub_download
from huggingface_hub.errors import EntryNotFoundError
from open_clip.transform import PreprocessCfg, image_transform_v2

from litotes.backbones.checkpoints import empty_model, model_of_checkpoint
from litotes.backbones.encoder import DualEncoder
from litotes.backbones.huggingface import from_transformers
from litotes.backbones.openclip import OpenClipImage, from_open_clip
from litotes.backbones.registry import BUNDLED
from litotes.errors import LitotesError, ModelError

_FILE_SUFFIXES = (".pt", ".pth", ".bin", ".ckpt", ".safetensors")


def load_published(
    name: str,
    pretrained: str | None,
    quick_gelu: bool | None,
    cache_dir: str | None,
    place: Mapping[str, Any],
) -> DualEncoder:
    """An encoder; arguments and errors as those of :func:`litotes.backbones.registry.load`."""
    path, architecture = Path(name).expanduser(), name.replace("/", "-")
    if pretrained is not None and architecture not in open_clip.list_models():
        raise ModelError(
            f"{name!r} is not an open_clip architecture, and only those take pretrained=…"
            + _near(name)
        )
    if pretrained is None and path.exists():
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


def _near(name: str, among: Iterable[str] | None = None) -> str:
    """A hint at names that are like a wrong one."""
    known = {n.lower(): n for n in among or [*open_clip.list_models(), *BUNDLED]}
    near = difflib.get_close_matches(name.lower().replace("/", "-"), known, n=4, cutoff=0.6)
    near = [known[n] for n in near if known[n] != name]
    return f"; did you mean {_listed(near)}?" if near else ""


def _listed(names: Iterable[str]) -> str:
    return ", ".join(map(repr, names)) or "none"
