"""Plain checkpoints: an adapter merged into the weights, for programs that know no adapters."""

import copy
from io import BytesIO
from os import PathLike
from pathlib import Path
from typing import Any

import open_clip
import torch
from safetensors.torch import save
from torch import Tensor, nn

from litotes.backbones.adapters import fuse_attention, need_float32
from litotes.backbones.encoder import DualEncoder
from litotes.backbones.huggingface import TransformersImage, TransformersStack
from litotes.backbones.text import activation_name
from litotes.data.files import new_folder, write_atomically
from litotes.errors import DataError, ModelError

LONG_CONTEXT = 248
"""Context of Long-CLIP and its kin."""


def export(encoder: DualEncoder, path: str | PathLike[str]) -> Path:
    """Write an encoder as a checkpoint that is loaded without this package.

    - An ``open_clip`` model becomes one file for ``open_clip.create_model(…, pretrained=file)``,
      ``.safetensors`` (also where the path has no suffix) or ``.pt``.
    - A model in Long-CLIP's layout (context 248) becomes, as ``.pt``, a file with the two tables of
      positions that the loaders of Long-CLIP, SmartCLIP and HiMo-CLIP want; as ``.safetensors`` it
      has one, for ``open_clip.create_model(…, force_context_length=248)``.
    - A ``transformers`` model becomes a folder for ``AutoModel.from_pretrained``, with its
      tokenizer and image processor.

    :func:`litotes.load` reads them all. A side without an adapter keeps its fingerprint.

    Args:
        encoder: in float32, with an adapter or without; it is left as it is.
        path: the file or folder; nothing may stand there.

    Returns:
        What was written.

    Raises:
        ModelError: the encoder is a bundled one, for which no other program has a format; it is
            steered, or in half precision; or the file's suffix is another one.
        DataError: something stands there already.
    """
    path = Path(path)
    if encoder.name in ("mini", "scenes"):
        raise ModelError(
            f"{encoder.name} is a model of this package alone, and no other program has a format "
            f'for it: keep the adapter, and load it with load("{encoder.name}", adapter=…)'
        )
    if "steered" in encoder.text_changes:
        raise ModelError("a steered encoder cannot be exported: steering is not in its weights")
    need_float32(encoder)
    model = copy.deepcopy(encoder.model)
    fuse_attention(model)
    if isinstance(encoder.text, TransformersStack):
        return _write_folder(encoder, model, path)
    return _write_file(encoder, model, path)


def _write_folder(encoder: DualEncoder, model: Any, folder: Path) -> Path:
    assert isinstance(encoder.text, TransformersStack)
    assert isinstance(encoder.image, TransformersImage)
    with new_folder(folder) as made:
        for part in (model, encoder.text.pretrained_tokenizer, encoder.image.processor):
            part.save_pretrained(made)
    return folder


def _write_file(encoder: DualEncoder, model: nn.Module, file: Path) -> Path:
    file = file if file.suffix else file.with_suffix(".safetensors")
    if file.suffix not in (".safetensors", ".pt"):
        raise ModelError(f"{file}: the name must end in .safetensors or .pt")
    if file.exists():
        raise DataError(f"{file} exists: give the name of a new file")
    state = {name: t.detach().cpu().contiguous() for name, t in model.state_dict().items()}
    if file.suffix == ".safetensors":
        write_atomically(file, save(state, {"format": "pt"}))
        return file
    content = BytesIO()
    is_long = isinstance(model, open_clip.CLIP) and encoder.context_length == LONG_CONTEXT
    torch.save(_two_tables(state) if is_long else _as_checkpoint(state, model), content)
    write_atomically(file, content.getvalue())
    return file


def _two_tables(state: dict[str, Tensor]) -> dict[str, Tensor]:
    # Each is read at the positions where the other is not: twice the same is right.
    return {**state, "positional_embedding_res": state["positional_embedding"].clone()}


def _as_checkpoint(state: dict[str, Tensor], model: nn.Module) -> dict[str, object]:
    """In the form of ``open_clip``'s training checkpoints, whose name tells the activation."""
    quick = "-quickgelu" if "QuickGELU" in activation_name(model) else ""
    return {"name": f"litotes{quick}", "state_dict": state}
