"""LoRA layers in the blocks of an encoder's towers, to be trained.

In the manner of CLIP-LoRA (Zanella and Ben Ayed, arXiv 2405.18541), as HANCLIP does (arXiv
2606.23843): small rank, on queries, keys and values of every block, with dropout, scaled by α/√r.
"""

import re
from collections.abc import Iterable, Mapping
from typing import Any, Literal

import torch
from pydantic import BaseModel, ConfigDict, Field
from torch import Tensor, nn

from litotes.backbones.adapters import inject_lora, need_float32
from litotes.backbones.encoder import DualEncoder
from litotes.errors import ModelError

Target = Literal["q", "k", "v", "out", "mlp"]
Towers = Literal["text", "vision", "both"]

# What the libraries call these layers: open_clip and transformers' CLIP and SigLIP, BERT, mT5.
_NAMES: dict[str, str] = {
    "q": r"q_proj|query|q",
    "k": r"k_proj|key|k",
    "v": r"v_proj|value|v",
    "out": r"out_proj|attention\.output\.dense|(?:attn|token_mixer)\.proj|SelfAttention\.o",
    "mlp": r"(?:mlp|DenseReluDense)\.\w+|fc[12]|intermediate\.dense|(?<!attention\.)output\.dense",
}
# timm's attention has queries, keys and values in one layer.
_FUSED = r"qkv"


class LoraSettings(BaseModel):
    """Where LoRA layers go, and how large they are.

    Attributes:
        rank: of each layer's change.
        alpha: the change is scaled by ``alpha / √rank``.
        dropout: share of a layer's inputs that its LoRA layer does not see in training.
        towers: which towers are adapted.
        targets: which layers of each block: queries, keys, values, attention's output, and the
            feed-forward layers.
        dense: the layers' own weights are trained, and LoRA layers then hold the nearest change
            of their rank: see :func:`factorise`. For what so few dimensions learn too slowly.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    rank: int = Field(default=2, ge=1)
    alpha: float = Field(default=1.0, gt=0)
    dropout: float = Field(default=0.25, ge=0, lt=1)
    towers: Towers = "text"
    targets: tuple[Target, ...] = Field(default=("q", "k", "v"), min_length=1)
    dense: bool = False


def add_lora(encoder: DualEncoder, settings: LoraSettings, seed: int = 0) -> list[nn.Parameter]:
    """Put LoRA layers into every block of an encoder's towers; at first they change nothing.

    Where a tower computes queries, keys and values in one layer (``timm``), that layer is adapted
    if all three are asked for.

    Args:
        encoder: changed in place, in float32; of its weights only LoRA's will be trained.
        settings: which layers, and how.
        seed: draws LoRA's first matrices; the generators of torch are left as they are.

    Returns:
        The parameters to train.

    Raises:
        ModelError: a tower has no such layers, as a ResNet has none, or LoRA cannot adapt them;
            the encoder is adapted already, or in half precision.
    """
    from peft import LoraConfig

    need_float32(encoder)
    sides = {"text": ["text"], "vision": ["vision"], "both": ["text", "vision"]}[settings.towers]
    found = [name for side in sides for name in _layers(encoder, side, settings.targets)]
    config = LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        use_rslora=True,
        target_modules=_pattern(found),
    )
    devices = [encoder.device] if encoder.device.type == "cuda" else []
    with torch.random.fork_rng(devices):
        torch.manual_seed(seed)
        inject_lora(encoder, config, problem=f"{encoder.name} cannot be adapted")
    return [parameter for parameter in encoder.model.parameters() if parameter.requires_grad]


def train_dense(encoder: DualEncoder) -> dict[str, Tensor]:
    """Let the adapted layers' own weights be trained in place of LoRA's.

    Returns:
        What they are before, for :func:`factorise`.
    """
    before = {}
    for name, layer in _adapted(encoder):
        layer.enable_adapters(False)
        weight = layer.get_base_layer().weight
        before[name] = weight.detach().clone()
        weight.requires_grad_(True)
    return before


@torch.no_grad()
def factorise(encoder: DualEncoder, before: Mapping[str, Tensor]) -> float:
    """Put the change of the adapted layers' weights into their LoRA layers, as far as these go.

    Of all changes of a rank, that of the largest singular values is the nearest (Eckart and
    Young, 1936). The layers' own weights become what they were.

    Args:
        encoder: changed in place.
        before: what :func:`train_dense` returned.

    Returns:
        The share of the changes' squares that was kept.
    """
    kept = whole = 0.0
    for name, layer in _adapted(encoder):
        weight = layer.get_base_layer().weight
        u, sizes, v = torch.linalg.svd(weight - before[name], full_matrices=False)
        weight.copy_(before[name])
        weight.requires_grad_(False)
        ((adapter, rank),) = layer.r.items()
        roots = sizes[:rank].sqrt()
        down, up = layer.lora_A[adapter].weight, layer.lora_B[adapter].weight
        # A layer that is narrower than the rank leaves some dimensions empty.
        down.zero_()[: len(roots)] = roots[:, None] * v[:rank]
        up.zero_()[:, : len(roots)] = u[:, :rank] * roots / layer.scaling[adapter]
        layer.enable_adapters(True)
        kept += float(sizes[:rank].square().sum())
        whole += float(sizes.square().sum())
    return kept / whole if whole else 1.0


def train_lora(encoder: DualEncoder, on: bool = True) -> None:
    """Let LoRA's dropout act, or not; the rest of the encoder stays in evaluation mode.

    ``encoder.model.train()`` would also move the averages of batch norms, and so change frozen
    weights, and let the dropout act that some towers (BERT) were trained with.
    """
    for _, layer in _adapted(encoder):
        layer.train(on)


def _adapted(encoder: DualEncoder) -> list[tuple[str, Any]]:
    """LoRA's layers, by name."""
    from peft.tuners.tuners_utils import BaseTunerLayer

    modules = encoder.model.named_modules()
    return [(name, module) for name, module in modules if isinstance(module, BaseTunerLayer)]


def _layers(encoder: DualEncoder, side: str, targets: Iterable[Target]) -> list[str]:
    """Names of the layers that are asked for, in all blocks of a side."""
    prefixes = encoder.text.prefixes if side == "text" else encoder.image.prefixes
    linear = _linear_layers(encoder.model, prefixes)
    wanted = set(targets)
    fused = _in_blocks(linear, _FUSED)
    if fused and wanted & {"q", "k", "v"}:
        if not wanted >= {"q", "k", "v"}:
            raise ModelError(
                f"the {side} tower of {encoder.name} has queries, keys and values in one layer "
                f"({fused[0]}): targets must name all of q, k and v, or none"
            )
        wanted -= {"q", "k", "v"}
    else:
        fused = []
    found = {target: _in_blocks(linear, _NAMES[target]) for target in sorted(wanted)}
    if lacking := [target for target, names in found.items() if not names]:
        kind = type(encoder.model.get_submodule(prefixes[0].rstrip("."))).__name__
        raise ModelError(
            f"the {side} tower of {encoder.name} ({kind}) has no blocks with layers that LoRA "
            f"can adapt as {', '.join(lacking)}; a convolutional network has no attention"
        )
    return fused + [name for names in found.values() for name in names]


def _linear_layers(model: nn.Module, prefixes: tuple[str, ...]) -> list[str]:
    """Names of linear layers, those that attention taken apart would have among them."""
    names = []
    for name, module in model.named_modules():
        if name.startswith(prefixes):
            if isinstance(module, nn.MultiheadAttention):
                names += [f"{name}.{part}_proj" for part in ("q", "k", "v", "out")]
            elif isinstance(module, nn.Linear):
                names.append(name)
    return names


def _in_blocks(names: Iterable[str], pattern: str) -> list[str]:
    """Those that end so and stand in a numbered block, which what pools at the end does not."""
    wanted = re.compile(rf".*\.\d+\.(?:.*\.)?(?:{pattern})")
    return [name for name in names if wanted.fullmatch(name)]


def _pattern(names: Iterable[str]) -> str:
    """One expression for layers of any block, short enough to be read in a configuration."""
    kinds = {re.sub(r"\\\.\d+(?=\\\.)", r"\\.\\d+", re.escape(name)): None for name in names}
    return "|".join(kinds)
