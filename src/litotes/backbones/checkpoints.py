"""Single weight files of CLIP models, in the formats their authors publish them.

Read are: OpenAI's TorchScript archives and state dicts; CoN-CLIP's ``{"model": …}``; training
checkpoints of ``open_clip`` such as NegCLIP's, ``{"epoch": …, "name": …, "state_dict": …}``; the
format that Long-CLIP, SmartCLIP and HiMo-CLIP share; bare state dicts; each as a pickle or, where
it is only tensors, as safetensors; with the text tower's names at the top (OpenAI's layout) or
below ``text.`` (``CustomTextCLIP``).

No code of a file is ever run: pickles are read with ``weights_only=True``, and of a TorchScript
archive only the tensors are read, by an unpickler that knows nothing else. (``torch.jit.load``
would run the archive's ``__setstate__`` code, which may write files.)
"""

import pickle
import warnings
import zipfile
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, NamedTuple

import open_clip
import safetensors
import torch
from open_clip.model import convert_to_custom_text_state_dict, set_model_preprocess_cfg
from open_clip.transform import PreprocessCfg
from safetensors.torch import load_file
from torch import Tensor

from litotes.errors import LitotesWarning, ModelError

VOCABULARY = 49408
"""Entries of OpenAI's vocabulary, the only one a file can be read with by itself."""

# Long-CLIP keeps the positions that its training left alone in the old table (arXiv 2403.15378).
_KEPT_POSITIONS = 20
# ViT-H, -g, -bigG and -e; in all other models a head has 64 units.
_HEAD_WIDTHS = {1280: 80, 1408: 88, 1664: 104, 1792: 112}
_NOT_WEIGHTS = ("input_resolution", "context_length", "vocab_size")

_STORAGES = {
    "FloatStorage": torch.float32,
    "HalfStorage": torch.float16,
    "BFloat16Storage": torch.bfloat16,
    "DoubleStorage": torch.float64,
    "LongStorage": torch.int64,
    "IntStorage": torch.int32,
    "BoolStorage": torch.bool,
}

StateDict = dict[str, Tensor]


class Checkpoint(NamedTuple):
    """What a weight file holds.

    Attributes:
        path: the file.
        state: its tensors, in float32.
        quick_gelu: whether the file shows that it was trained with QuickGELU, as OpenAI's own
            files and the research formats made from them do; otherwise it may or may not be.
    """

    path: Path
    state: StateDict
    quick_gelu: bool


def read_checkpoint(path: Path) -> Checkpoint:
    """The weights in a file.

    Raises:
        ModelError: the file is missing, damaged, of another kind, or holds more than weights.
    """
    content = _read(path)
    state, quick_gelu = _find_state(content, path)
    # OpenAI's state dicts hold these three numbers, and long-text models the second table.
    quick_gelu |= not state.keys().isdisjoint((*_NOT_WEIGHTS, "positional_embedding_res"))
    state = {name.removeprefix("module."): value for name, value in state.items()}
    _check_kind(state, path)
    state = {name: value for name, value in state.items() if name not in _NOT_WEIGHTS}
    if "positional_embedding_res" in state:
        state = _fold_positions(state)
    state = {n: v.float() if v.is_floating_point() else v for n, v in state.items()}
    return Checkpoint(path, state, quick_gelu)


def model_of_checkpoint(
    path: Path, architecture: str | None = None, quick_gelu: bool | None = None
) -> Any:
    """The ``open_clip`` model in a file.

    Args:
        path: the file.
        architecture: an ``open_clip`` name that the file has to fit; by default a plain CLIP
            whose measures are read from the tensors' shapes.
        quick_gelu: activation. By default QuickGELU where the weights may descend from OpenAI's,
            with a warning where that is a guess; otherwise what the architecture says.

    Raises:
        ModelError: the file cannot be read or does not fit.
    """
    checkpoint = read_checkpoint(path)
    activation = _quick_gelu(checkpoint, architecture) if quick_gelu is None else quick_gelu
    if architecture is None:
        state = _arranged(checkpoint.state, below_text=False)
        model = _clip_of_shapes(state, path, activation)
        preprocessing = {**asdict(PreprocessCfg()), "size": model.visual.image_size}
        set_model_preprocess_cfg(model, preprocessing)
    else:
        model = empty_model(architecture, activation)
        state = _arranged(checkpoint.state, below_text=hasattr(model, "text"))
    fill(model, state, f"{path} does not fit {architecture or 'the CLIP layout'}")
    return model


def empty_model(architecture: str, quick_gelu: bool | None = None) -> Any:
    """An ``open_clip`` model without its weights; by default with its own activation."""
    overridden = {} if quick_gelu is None else {"quick_gelu": quick_gelu}
    return open_clip.create_model(
        architecture, load_weights=False, pretrained_text=False, **overridden
    )


def fill(model: torch.nn.Module, state: Mapping[str, Tensor], problem: str) -> None:
    """Load weights into a model, all of them and no others.

    Raises:
        ModelError: a shape differs, or a tensor is missing or left over; begins with ``problem``.
    """
    wanted = model.state_dict()
    fitting = dict(state)
    if "logit_scale" in fitting and fitting["logit_scale"].numel() == 1:
        # A number in some files, a list of one number in others.
        fitting["logit_scale"] = fitting["logit_scale"].reshape(wanted["logit_scale"].shape)
    for name, tensor in wanted.items():
        if name in fitting and fitting[name].shape != tensor.shape:
            raise ModelError(
                f"{problem}: {name} is {tuple(fitting[name].shape)} in the file and "
                f"{tuple(tensor.shape)} in the model"
            )
    missing = [name for name in wanted if name not in fitting]
    extra = [name for name in fitting if name not in wanted]
    if missing or extra:
        parts = [f"it lacks {_some(missing)}"] * bool(missing)
        parts += [f"it has {_some(extra)} too many"] * bool(extra)
        raise ModelError(f"{problem}: {'; '.join(parts)}")
    model.load_state_dict(fitting)


def _clip_of_shapes(state: Mapping[str, Tensor], path: Path, quick_gelu: bool) -> Any:
    try:
        return open_clip.CLIP(**_clip_config(state, path), quick_gelu=quick_gelu)
    # What lacks, or has shapes that no CLIP has.
    except (KeyError, ValueError, AssertionError) as error:
        reason = f"it lacks {error}" if isinstance(error, KeyError) else str(error)
        raise ModelError(
            f"{path}: is not a CLIP model in OpenAI's layout: {reason}. If it is another "
            f'open_clip architecture, give its name: load("<architecture>", pretrained="{path}")'
        ) from error


def _clip_config(state: Mapping[str, Tensor], path: Path) -> dict[str, Any]:
    vocabulary, width = state["token_embedding.weight"].shape
    if vocabulary != VOCABULARY:
        raise ModelError(
            f"{path}: has a vocabulary of {vocabulary} tokens, not OpenAI's {VOCABULARY}; give "
            f'the architecture\'s name, so that its tokenizer is known: load("<architecture>", …)'
        )
    is_resnet = "visual.layer1.0.conv1.weight" in state
    return {
        "embed_dim": state["text_projection"].shape[1],
        "vision_cfg": _resnet_config(state) if is_resnet else _vit_config(state),
        "text_cfg": {
            "context_length": len(state["positional_embedding"]),
            "vocab_size": vocabulary,
            "width": width,
            "heads": max(1, width // 64),
            "layers": _count(state, "transformer.resblocks."),
        },
    }


def _quick_gelu(checkpoint: Checkpoint, architecture: str | None) -> bool:
    if architecture is not None:
        stem = architecture.removesuffix("-quickgelu")
        # Nothing else can descend from OpenAI's weights.
        if stem != architecture or stem not in open_clip.list_openai_models():
            return bool(open_clip.get_model_config(architecture).get("quick_gelu", False))
    if not checkpoint.quick_gelu:
        warnings.warn(
            f"{checkpoint.path} does not say with which activation it was trained. QuickGELU is "
            f"used, which is right for OpenAI's models and for all that were fine-tuned from "
            f"them. Pass quick_gelu=False if it was trained from scratch with GELU, as most of "
            f"LAION's models were, or quick_gelu=True if you know that this is right",
            LitotesWarning,
            stacklevel=2,
        )
    return True


def _read(path: Path) -> Any:
    """The content of a file: a mapping of tensors, or what the pickle holds."""
    try:
        with path.open("rb") as file:
            start = file.read(16)
    except OSError as error:
        raise ModelError(f"{path}: cannot be read ({error.strerror})") from error
    if not start:
        raise ModelError(f"{path}: is empty (zero bytes)")
    if start[8:9] == b"{":
        return _read_safetensors(path)
    if start.startswith(b"PK") and (state := _read_torchscript(path)) is not None:
        # Such archives are OpenAI's: as good as a wrapping that says so.
        return {"model": state}
    if start.startswith((b"PK", b"\x80")):
        return _read_pickle(path)
    raise ModelError(f"{path}: is neither a PyTorch file nor safetensors")


def _read_safetensors(path: Path) -> StateDict:
    try:
        state: StateDict = load_file(path)
    except (safetensors.SafetensorError, OSError) as error:
        raise ModelError(f"{path}: is damaged or cut short ({error})") from error
    return state


def _read_pickle(path: Path) -> Any:
    try:
        return torch.load(path, map_location="cpu", weights_only=True)
    except pickle.UnpicklingError as error:
        raise ModelError(
            f"{path}: holds more than weights, or is damaged. A pickle that holds more can run "
            f"any code when it is opened, so it is refused. If you trust where it came from, open "
            f"it in a place apart with torch.load(path, weights_only=False), and save its weights "
            f"alone with safetensors.torch.save_file(state_dict, 'weights.safetensors')"
        ) from error
    # Cut or otherwise damaged files make the reader raise nearly anything.
    except Exception as error:
        raise ModelError(f"{path}: is damaged or cut short ({error})") from error


def _read_torchscript(path: Path) -> StateDict | None:
    """The tensors of a TorchScript archive, or None if the file is none."""
    try:
        with zipfile.ZipFile(path) as archive:
            root = archive.namelist()[0].split("/")[0] + "/"
            if f"{root}constants.pkl" not in archive.namelist():
                return None
            with archive.open(f"{root}data.pkl") as file:
                module = _ArchiveUnpickler(file, archive, root).load()
            state = dict(_tensors(module, ""))
    except ModelError as error:
        raise ModelError(f"{path}: {error}") from error
    # As with pickles: anything can be wrong with a damaged archive.
    except Exception as error:
        raise ModelError(f"{path}: is damaged or cut short ({error})") from error
    # Masks are attributes that modules compute for themselves.
    return {name: value for name, value in state.items() if not name.endswith("attn_mask")}


class _Module:
    """Stands for any module of a TorchScript archive: only its attributes are kept."""


class _ArchiveUnpickler(pickle.Unpickler):
    """Reads modules' attributes and tensors; whatever else a pickle asks for is refused."""

    def __init__(self, file: Any, archive: zipfile.ZipFile, root: str) -> None:
        super().__init__(file)
        self.archive = archive
        self.root = root

    def find_class(self, module: str, name: str) -> Any:
        if module.startswith("__torch__."):
            return _Module
        if module == "torch" and name in _STORAGES:
            return _STORAGES[name]
        known = {
            ("collections", "OrderedDict"): OrderedDict,
            ("torch._utils", "_rebuild_tensor_v2"): _rebuild,
            ("torch.jit._pickle", "build_intlist"): list,
            ("torch.jit._pickle", "build_doublelist"): list,
            ("torch.jit._pickle", "build_boollist"): list,
            ("torch.jit._pickle", "build_tensorlist"): list,
            ("torch.jit._pickle", "restore_type_tag"): lambda value, tag: value,
        }
        if (module, name) not in known:
            raise ModelError(f"holds more than weights ({module}.{name}) and is refused")
        return known[module, name]

    def persistent_load(self, pid: Any) -> Tensor:
        _, dtype, key, _, _ = pid
        content = bytearray(self.archive.read(f"{self.root}data/{key}"))
        return torch.frombuffer(content, dtype=dtype) if content else torch.empty(0, dtype=dtype)


def _rebuild(
    storage: Tensor, offset: int, size: tuple[int, ...], stride: tuple[int, ...], *_: Any
) -> Tensor:
    return storage.as_strided(size, stride, offset)


def _tensors(module: Any, prefix: str) -> Iterator[tuple[str, Tensor]]:
    for name, value in vars(module).items():
        if isinstance(value, Tensor):
            yield prefix + name, value
        elif isinstance(value, _Module):
            yield from _tensors(value, f"{prefix}{name}.")


def _find_state(content: Any, path: Path) -> tuple[StateDict, bool]:
    """The state dict in what a file holds, and whether its wrapping shows QuickGELU."""
    if not isinstance(content, Mapping):
        raise ModelError(f"{path}: holds a {type(content).__name__}, not a model's weights")
    quick_gelu = False
    if isinstance(content.get("state_dict"), Mapping):
        # open_clip names its runs by their architecture, unless told otherwise.
        quick_gelu = "quickgelu" in str(content.get("name"))
        content = content["state_dict"]
    elif isinstance(content.get("model"), Mapping):
        quick_gelu = True
        content = content["model"]
    state = {str(n): value for n, value in content.items() if isinstance(value, Tensor)}
    if not state:
        raise ModelError(f"{path}: holds no weights, only {_some(map(str, content))}")
    return state, quick_gelu


def _check_kind(state: Mapping[str, Tensor], path: Path) -> None:
    if any(".lora_" in name for name in state):
        raise ModelError(
            f"{path}: is a LoRA adapter, not a model: load the model it was trained on, with "
            f'adapter="{path.parent}"'
        )
    if any(name.startswith("text_model.") for name in state):
        raise ModelError(
            f"{path}: holds a model of the transformers library: give the folder that also holds "
            f"its config.json and tokenizer"
        )


def _fold_positions(state: StateDict) -> StateDict:
    folded = dict(state)
    table = folded.pop("positional_embedding_res").clone()
    table[:_KEPT_POSITIONS] = folded["positional_embedding"][:_KEPT_POSITIONS]
    folded["positional_embedding"] = table
    return folded


def _arranged(state: StateDict, *, below_text: bool) -> StateDict:
    """The state dict with the text tower's names below ``text.``, or at the top."""
    if below_text:
        converted: StateDict = convert_to_custom_text_state_dict(state)
        return converted
    if "text.token_embedding.weight" in state:
        return {name.removeprefix("text."): value for name, value in state.items()}
    return state


def _vit_config(state: Mapping[str, Tensor]) -> dict[str, Any]:
    width, _, patch, _ = state["visual.conv1.weight"].shape
    grid = round((len(state["visual.positional_embedding"]) - 1) ** 0.5)
    hidden = len(state["visual.transformer.resblocks.0.mlp.c_fc.bias"])
    return {
        "layers": _count(state, "visual.transformer.resblocks."),
        "width": width,
        "head_width": min(width, _HEAD_WIDTHS.get(width, 64)),
        # A little more than the ratio, as open_clip rounds the product down.
        "mlp_ratio": (hidden + 0.5) / width,
        "patch_size": patch,
        "image_size": patch * grid,
    }


def _resnet_config(state: Mapping[str, Tensor]) -> dict[str, Any]:
    grid = round((len(state["visual.attnpool.positional_embedding"]) - 1) ** 0.5)
    return {
        "layers": [_count(state, f"visual.layer{stage}.") for stage in (1, 2, 3, 4)],
        "width": len(state["visual.layer1.0.conv1.weight"]),
        "image_size": 32 * grid,
    }


def _count(state: Iterable[str], prefix: str) -> int:
    """How many blocks have names that begin so."""
    return len({n.removeprefix(prefix).split(".")[0] for n in state if n.startswith(prefix)})


def _some(names: Iterable[str]) -> str:
    """A few of some names, for messages."""
    listed = list(names)
    more = f" and {len(listed) - 3} more" if len(listed) > 3 else ""
    return ", ".join(listed[:3]) + more
