"""LoRA adapters in PEFT's format: finding their places in a dual encoder's towers.

``open_clip``'s attention keeps queries, keys and values in one matrix, which LoRA cannot adapt
one by one. Where an adapter asks for them, :func:`split_attention` puts four linear layers in
its place that compute the same; :func:`fuse_attention` goes back.
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import safetensors
import torch
from open_clip.modified_resnet import AttentionPool2d
from safetensors.torch import load_file
from torch import Tensor, nn

from litotes.backbones.encoder import DualEncoder
from litotes.errors import ModelError

_PREFIX = "base_model.model."
_SPLIT_NAMES = ("q_proj", "k_proj", "v_proj", "out_proj")


class SplitAttention(nn.Module):
    """What ``nn.MultiheadAttention`` computes, of four linear layers that LoRA can adapt.

    Args:
        attention: whose weights are taken over.
    """

    def __init__(self, attention: nn.MultiheadAttention) -> None:
        super().__init__()
        if attention.bias_k is not None or attention.add_zero_attn:
            raise ValueError("attention with added keys cannot be split")
        self.num_heads = attention.num_heads
        self.dropout = attention.dropout
        self.batch_first = attention.batch_first
        packed = attention.in_proj_weight
        weights: Sequence[Tensor] = (
            [attention.q_proj_weight, attention.k_proj_weight, attention.v_proj_weight]
            if packed is None
            else packed.chunk(3)
        )
        bias = attention.in_proj_bias
        biases = [None] * 3 if bias is None else bias.chunk(3)
        self.q_proj, self.k_proj, self.v_proj = map(_linear, weights, biases)
        self.out_proj = _linear(attention.out_proj.weight, attention.out_proj.bias)
        self.train(attention.training)

    def forward(
        self,
        query: Tensor,
        key: Tensor,
        value: Tensor,
        key_padding_mask: Tensor | None = None,
        need_weights: bool = True,
        attn_mask: Tensor | None = None,
        average_attn_weights: bool = True,
        is_causal: bool = False,
    ) -> tuple[Tensor, Tensor | None]:
        """As ``nn.MultiheadAttention.forward`` of batches."""
        if not self.batch_first:
            query, key, value = (x.transpose(0, 1) for x in (query, key, value))
        q = self._heads(self.q_proj(query))
        k = self._heads(self.k_proj(key))
        v = self._heads(self.v_proj(value))
        mask = self._mask(q.dtype, attn_mask, key_padding_mask)
        dropout = self.dropout if self.training else 0.0
        weights = None
        if need_weights:
            scores = q @ k.transpose(-1, -2) / q.shape[-1] ** 0.5
            weights = (scores if mask is None else scores + mask).softmax(-1)
            mixed = nn.functional.dropout(weights, dropout) @ v
            weights = weights.mean(1) if average_attn_weights else weights
        else:
            mixed = nn.functional.scaled_dot_product_attention(q, k, v, mask, dropout)
        out = self.out_proj(mixed.transpose(1, 2).flatten(2))
        return out if self.batch_first else out.transpose(0, 1), weights

    def _heads(self, x: Tensor) -> Tensor:
        """``(B, L, d)`` → ``(B, heads, L, d / heads)``."""
        return x.reshape(*x.shape[:2], self.num_heads, -1).transpose(1, 2)

    def _mask(
        self, dtype: torch.dtype, attn_mask: Tensor | None, key_padding_mask: Tensor | None
    ) -> Tensor | None:
        """Both masks as one that is added, ``(B or 1, heads or 1, L, S)``."""
        masks = []
        if attn_mask is not None:
            mask = _additive(attn_mask, dtype)
            per_head = (-1, self.num_heads, *mask.shape[-2:])
            masks.append(mask.reshape(per_head) if mask.ndim == 3 else mask)
        if key_padding_mask is not None:
            masks.append(_additive(key_padding_mask, dtype)[:, None, None])
        return sum(masks[1:], masks[0]) if masks else None


def split_attention(module: nn.Module) -> None:
    """Put a :class:`SplitAttention` in place of every ``nn.MultiheadAttention`` in a module."""
    for parent in list(module.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, nn.MultiheadAttention):
                setattr(parent, name, SplitAttention(child))


def fuse_attention(module: nn.Module) -> None:
    """Merge a module's LoRA layers into its weights, and undo :func:`split_attention`."""
    layer: Any
    for parent in list(module.modules()):
        for name, layer in list(parent.named_children()):
            if hasattr(layer, "merge") and hasattr(layer, "get_base_layer"):
                layer.merge()
                setattr(parent, name, layer.get_base_layer())
    for parent in list(module.modules()):
        for name, child in list(parent.named_children()):
            if isinstance(child, SplitAttention):
                setattr(parent, name, _fused(child))


def attach_adapter(encoder: DualEncoder, folder: str | PathLike[str]) -> None:
    """Attach a saved LoRA adapter to an encoder, in place.

    A side that the adapter does not touch keeps its fingerprint, and so its index.

    Args:
        encoder: built on the model that the adapter was trained on.
        folder: with ``adapter_config.json`` and ``adapter_model.safetensors``.

    Raises:
        ModelError: the folder is no LoRA adapter, a weight of it finds no place in the encoder,
            or PEFT is not installed.
    """
    config, weights = _read_adapter(Path(folder))
    inject_lora(encoder, config, weights, f"{folder} does not fit {encoder.name}")
    record_adapter(encoder, config, weights)


def inject_lora(
    encoder: DualEncoder,
    config: Any,
    weights: Mapping[str, Tensor] | None = None,
    problem: str = "the adapter does not fit",
) -> None:
    """Put LoRA layers into an encoder, splitting the attentions they are for.

    After an error the encoder is of no more use: part of it may have been changed.

    Args:
        encoder: changed in place; its weights are frozen.
        config: a ``peft.LoraConfig``; its target modules are names in ``encoder.model``, where
            ``q_proj``, ``k_proj``, ``v_proj`` and ``out_proj`` of an attention are such too.
        weights: goes into the layers, which are then just those it has weights for; without it
            layers begin as LoRA does, changing nothing.
        problem: begins the error's message.

    Raises:
        ModelError: a weight finds no place or has another shape, or nothing fits the targets.
    """
    from peft import inject_adapter_in_model, set_peft_model_state_dict

    # What a side is, is told by its weights as they are before they are taken apart.
    _ = encoder.image_fingerprint, encoder.text_fingerprint

    _split_targets(encoder.model, config, weights)
    lost: list[str] = []
    try:
        inject_adapter_in_model(config, encoder.model, state_dict=weights)
        if weights is not None:
            report = set_peft_model_state_dict(encoder.model, weights)
            lost += report.unexpected_keys + [n for n in report.missing_keys if ".lora_" in n]
    except (ValueError, RuntimeError) as error:
        raise ModelError(f"{problem}: {error}") from error
    for name, module in encoder.model.named_modules():
        if isinstance(module, AttentionPool2d) and any(".lora_" in n for n in module.state_dict()):
            # It reads its layers' weights itself, so that LoRA there would silently do nothing.
            raise ModelError(f"{problem}: LoRA cannot adapt {name}, the pooling of a ResNet")
    if lost:
        raise ModelError(f"{problem}: weights without a place, or missing: {', '.join(lost[:3])}")
    encoder.model.to(device=encoder.device, dtype=encoder.dtype).eval()


def _split_targets(model: nn.Module, config: Any, weights: Mapping[str, Tensor] | None) -> None:
    from peft.tuners.tuners_utils import check_target_module_exists

    def wanted(module: str) -> bool:
        if weights is None:
            return bool(check_target_module_exists(config, module))
        return any(name.startswith(f"{module}.") for name in weights)

    for name, module in list(model.named_modules()):
        if isinstance(module, nn.MultiheadAttention) and any(
            wanted(f"{name}.{part}") for part in _SPLIT_NAMES
        ):
            model.set_submodule(name, SplitAttention(module))


def record_adapter(encoder: DualEncoder, config: Any, weights: Mapping[str, Tensor]) -> None:
    """Make an adapter's content part of the fingerprints of the sides that it touches.

    Args:
        encoder: with the adapter in place.
        config: the adapter's ``peft.LoraConfig``.
        weights: the adapter's weights, by their names in ``encoder.model``.
    """
    encoder.image_changes += _identity(config, weights, encoder.image.prefixes)
    encoder.text_changes += _identity(config, weights, encoder.text.prefixes)


def _identity(config: Any, weights: Mapping[str, Tensor], prefixes: tuple[str, ...]) -> str:
    touched = sorted(name for name in weights if name.startswith(prefixes))
    if not touched:
        return ""
    # What of the configuration bears on the result, beside the weights' names and shapes.
    known = ("lora_alpha", "alpha_pattern", "use_rslora", "use_dora", "fan_in_fan_out")
    settings = {name: getattr(config, name) for name in known}
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
    for name in touched:
        tensor = weights[name].detach().float().cpu().contiguous()
        digest.update(f"{name}{tuple(tensor.shape)}".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return f"adapter {digest.hexdigest()}"


def _read_adapter(folder: Path) -> tuple[Any, dict[str, Tensor]]:
    try:
        from peft import LoraConfig, PeftConfig
    except ImportError:
        raise ModelError("adapters need another package: pip install 'litotes[adapters]'") from None
    for name in ("adapter_config.json", "adapter_model.safetensors"):
        if not (folder / name).is_file():
            raise ModelError(f"{folder}: is not a LoRA adapter's folder: it has no {name}")
    try:
        config = PeftConfig.from_pretrained(str(folder))
        weights = load_file(folder / "adapter_model.safetensors")
    except (ValueError, TypeError, KeyError, OSError, safetensors.SafetensorError) as error:
        raise ModelError(f"{folder}: is a damaged or unknown adapter ({error})") from error
    if not isinstance(config, LoraConfig):
        raise ModelError(f"{folder}: is a {config.peft_type} adapter; only LoRA can be attached")
    config.inference_mode = True
    return config, {name.removeprefix(_PREFIX): tensor for name, tensor in weights.items()}


def _linear(weight: Tensor, bias: Tensor | None) -> nn.Linear:
    layer = nn.Linear(weight.shape[1], weight.shape[0], bias is not None, device="meta")
    layer.weight = nn.Parameter(weight.detach().clone())
    if bias is not None:
        layer.bias = nn.Parameter(bias.detach().clone())
    return layer


def _additive(mask: Tensor, dtype: torch.dtype) -> Tensor:
    if mask.dtype != torch.bool:
        return mask.to(dtype)
    return torch.zeros_like(mask, dtype=dtype).masked_fill(mask, float("-inf"))


def _fused(split: SplitAttention) -> nn.MultiheadAttention:
    q, k, v, out = (getattr(split, name) for name in _SPLIT_NAMES)
    attention = nn.MultiheadAttention(
        q.out_features,
        split.num_heads,
        split.dropout,
        bias=q.bias is not None,
        kdim=k.in_features,
        vdim=v.in_features,
        batch_first=split.batch_first,
        device=q.weight.device,
        dtype=q.weight.dtype,
    )
    weights = [layer.weight.detach() for layer in (q, k, v)]
    if not attention._qkv_same_embed_dim:
        for name, weight in zip(_SPLIT_NAMES, weights, strict=False):
            setattr(attention, f"{name}_weight", nn.Parameter(weight.clone()))
    else:
        attention.in_proj_weight = nn.Parameter(torch.cat(weights))
    if q.bias is not None:
        attention.in_proj_bias = nn.Parameter(torch.cat([part.bias.detach() for part in (q, k, v)]))
    attention.out_proj.load_state_dict(out.state_dict())
    return attention.train(split.training)
