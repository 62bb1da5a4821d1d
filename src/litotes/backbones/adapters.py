"""LoRA adapters in PEFT's format: finding their places in a dual encoder's towers.

``open_clip``'s attention keeps queries, keys and values in one matrix, which LoRA cannot adapt
one by one. Where an adapter asks for them, :func:`split_attention` puts four linear layers in
its place that compute the same; :func:`fuse_attention` goes back.

Beside PEFT's two files an adapter of this package has ``litotes.json``, which says what model it
belongs to, and may have the negation direction of the adapted encoder.
"""

import copy
import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from importlib.resources import files
from os import PathLike, fspath
from pathlib import Path
from typing import Any, Literal

import torch
from PIL import Image
from pydantic import BaseModel, ConfigDict, Field, ValidationError
from safetensors.torch import load_file, save
from torch import Tensor, nn

from litotes.backbones.encoder import DualEncoder
from litotes.data.files import new_folder, write_atomically
from litotes.data.problems import problems
from litotes.errors import ModelError

BUNDLED = Path(str(files("litotes"))) / "adapters"
"""The adapters that ship: ``<adapter>/<model>/``, each a folder of its own."""
DIRECTION = "direction.safetensors"
"""The file in an adapter's folder with the negation direction of the adapted encoder."""
_CONFIG, _WEIGHTS, _CARD = "adapter_config.json", "adapter_model.safetensors", "litotes.json"
_PREFIX = "base_model.model."
_DOWN, _UP = ".lora_A.weight", ".lora_B.weight"
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


class AdapterCard(BaseModel):
    """What ``litotes.json`` says of an adapter.

    Attributes:
        base: name of the model that it was trained on.
        text_fingerprint: of that model's text side, if the adapter touches it.
        image_fingerprint: of its image side, if the adapter touches it.
        note: whatever else its maker wanted to keep.
    """

    model_config = ConfigDict(frozen=True)

    format: Literal[1] = 1
    base: str
    text_fingerprint: str | None = None
    image_fingerprint: str | None = None
    note: dict[str, Any] = Field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> "AdapterCard | None":
        """The card in an adapter's folder; None where another program made the adapter.

        Raises:
            ModelError: it is damaged, or of a format that is not known.
        """
        file = folder / _CARD
        try:
            return cls.model_validate_json(file.read_bytes()) if file.exists() else None
        except OSError as error:
            raise ModelError(f"{file}: cannot be read ({error.strerror})") from error
        except ValidationError as error:
            raise ModelError(f"{file}: is damaged or unknown: {problems(error)}") from error

    def difference(self, encoder: DualEncoder) -> str:
        """Why the adapter is not for a model, or nothing."""
        text, image = _base_fingerprints(encoder)
        for side, wanted, found in (
            ("text", self.text_fingerprint, text),
            ("image", self.image_fingerprint, image),
        ):
            if wanted not in (None, found):
                return (
                    f"it was made for {self.base} ({side} fingerprint {wanted}), and this is "
                    f"{encoder.name} ({side} fingerprint {found})"
                )
        return ""


def attach_adapter(encoder: DualEncoder, adapter: str | PathLike[str]) -> None:
    """Attach a LoRA adapter to an encoder, in place.

    A side that the adapter does not touch keeps its fingerprint, and so its index.

    Args:
        encoder: built on the model that the adapter was trained on.
        adapter: name of an adapter that ships, or a folder with ``adapter_config.json`` and
            ``adapter_model.safetensors``. Where the folder says what model it was made for, as
            those of :func:`save_adapter` do, that is checked. Several, joined by ``+`` as in
            ``"hanclip+slipform"``, change the model by the sum of their changes.

    Raises:
        ModelError: there is no such adapter, it was made for another model, a weight of it finds
            no place in the encoder, the encoder has an adapter already, or PEFT is not installed.
    """
    names = adapter_names(adapter)
    folders = [find_adapter(encoder, name) for name in names]
    read = [_read_adapter(folder) for folder in folders]
    for folder in folders:
        card = AdapterCard.read(folder)
        if card and (difference := card.difference(encoder)):
            raise ModelError(f"{folder} does not fit {encoder.name}: {difference}")
    config, weights = read[0] if len(read) == 1 else _sum(read)
    inject_lora(encoder, config, weights, f"{' + '.join(names)} does not fit {encoder.name}")
    record_adapter(encoder, config, weights)
    shipped = bundled_adapters()
    encoder.adapter = "+".join(
        name if name in shipped else str(folder.absolute())
        for name, folder in zip(names, folders, strict=True)
    )


def adapter_names(adapter: str | PathLike[str]) -> list[str]:
    """The adapters that ``a+b`` names; one where there is such a folder.

    Raises:
        ModelError: there is nothing on a side of a plus sign.
    """
    name = fspath(adapter)
    names = [name] if Path(name).expanduser().exists() else name.split("+")
    if not all(names):
        raise ModelError(f"{name!r} lacks an adapter beside a plus sign: write it as A+B")
    return names


def _sum(adapters: Sequence[tuple[Any, dict[str, Tensor]]]) -> tuple[Any, dict[str, Tensor]]:
    """One adapter whose change is the sum of several: their ranks side by side."""
    from peft.utils.other import get_pattern_key

    found: dict[str, list[tuple[Tensor, Tensor]]] = {}
    for config, weights in adapters:
        more = config.use_dora or config.modules_to_save or config.bias != "none"
        if more or any(tensor.ndim != 2 for tensor in weights.values()):
            raise ModelError("only plain LoRA adapters of linear layers can be added up")
        for name in (key.removesuffix(_DOWN) for key in weights if key.endswith(_DOWN)):
            down, up = weights[name + _DOWN].float(), weights[name + _UP].float()
            alpha_of = config.alpha_pattern
            alpha = alpha_of.get(get_pattern_key(alpha_of, name), config.lora_alpha)
            rank = len(down)
            scale = alpha / (rank**0.5 if config.use_rslora else rank)
            found.setdefault(name, []).append((down, up * scale))
    weights = {}
    for name, pairs in found.items():
        weights[name + _DOWN] = torch.cat([down for down, _ in pairs])
        weights[name + _UP] = torch.cat([up for _, up in pairs], 1)
    # Without "^", PEFT takes a name for the end of others too.
    ranks = {f"^{re.escape(n)}": sum(len(down) for down, _ in ps) for n, ps in found.items()}
    config = copy.copy(adapters[0][0])
    config.use_rslora = False
    # A scale of 1 everywhere: it is in the weights already.
    config.rank_pattern = config.alpha_pattern = ranks
    config.target_modules = set(found)
    return config, weights


def bundled_adapters() -> list[str]:
    """Names of the adapters that ship."""
    return sorted(path.name for path in BUNDLED.iterdir()) if BUNDLED.is_dir() else []


def find_adapter(encoder: DualEncoder, adapter: str | PathLike[str]) -> Path:
    """The folder of an adapter: a name of one that ships, or a folder itself.

    Raises:
        ModelError: it ships, but not for this model, or there is neither.
    """
    shipped = bundled_adapters()
    if str(adapter) not in shipped:
        folder = Path(adapter).expanduser()
        if not folder.exists():
            raise ModelError(
                f"there is no adapter {str(adapter)!r}: no such folder, and what ships is: "
                f"{', '.join(shipped) or 'none'}"
            )
        return folder
    bases = []
    for folder in sorted((BUNDLED / str(adapter)).iterdir()):
        card = AdapterCard.read(folder)
        if card and not card.difference(encoder):
            return folder
        bases.append(folder.name)
    raise ModelError(
        f"the adapter {adapter} ships for {', '.join(bases)}, and not for {encoder.name}"
    )


def save_adapter(
    encoder: DualEncoder,
    folder: str | PathLike[str],
    *,
    dtype: torch.dtype = torch.float32,
    note: Mapping[str, Any] | None = None,
) -> None:
    """Write an encoder's LoRA weights in PEFT's format, with what model they belong to.

    Ends training: the encoder becomes, to the bit and in its fingerprints, the one that loading
    the adapter gives. A :class:`~litotes.steering.NegationDirection` fitted on it from now on may
    be saved in the folder as :data:`DIRECTION`, where steering finds it.

    Args:
        encoder: with LoRA layers, in float32.
        folder: its place; an older adapter there is replaced.
        dtype: of the weights in the file, to which those in the encoder are rounded.
        note: kept in ``litotes.json``, such as the recipe.

    Raises:
        ModelError: the encoder has no LoRA layers, or their weights are not finite in ``dtype``.
        DataError: something else stands in the folder's place.
    """
    from peft import get_peft_model_state_dict

    if not _has_lora(encoder.model):
        raise ModelError(f"{encoder.name} has no LoRA layers to save")
    need_float32(encoder)
    model: Any = encoder.model
    config = model.peft_config["default"]
    _round_lora(encoder.model, dtype)
    encoder.model.requires_grad_(False).eval()
    saved = get_peft_model_state_dict(encoder.model, save_embedding_layers=False)
    weights = {name: tensor.detach().to("cpu", dtype) for name, tensor in saved.items()}
    with new_folder(folder, replaced=(_CONFIG, _WEIGHTS, _CARD, DIRECTION)) as made:
        config.save_pretrained(made)
        named = {_PREFIX + name: tensor.contiguous() for name, tensor in weights.items()}
        # `save_file` would let nobody else read it.
        write_atomically(made / _WEIGHTS, save(named, {"format": "pt"}))
        card = _card(encoder, weights, dict(note or {}))
        write_atomically(made / _CARD, card.model_dump_json(indent=2, exclude_none=True) + "\n")
    record_adapter(encoder, config, weights)
    encoder.adapter = str(Path(folder).absolute())


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
        ModelError: a weight finds no place or has another shape, nothing fits the targets, a
            layer's tower does not call it, or the encoder is adapted or steered already.
    """
    from peft import inject_adapter_in_model, set_peft_model_state_dict

    if _has_lora(encoder.model) or encoder.text_changes:
        raise ModelError(f"{problem}: {encoder.label} is adapted or steered already")

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
    if lost:
        raise ModelError(f"{problem}: weights without a place, or missing: {', '.join(lost[:3])}")
    encoder.model.to(device=encoder.device, dtype=encoder.dtype).eval()
    _check_called(encoder, problem)


def need_float32(encoder: DualEncoder) -> None:
    """Raise `ModelError` unless an encoder's weights are as exact as they can be."""
    if encoder.dtype != torch.float32:
        raise ModelError(f"{encoder.name} is in {encoder.dtype}: load it with dtype='fp32'")


def _check_called(encoder: DualEncoder, problem: str) -> None:
    """Some modules read their layers' weights themselves: LoRA there would silently do nothing."""
    from peft.tuners.tuners_utils import BaseTunerLayer

    sides = encoder.text.prefixes + encoder.image.prefixes
    layers = {
        name: module
        for name, module in encoder.model.named_modules()
        if isinstance(module, BaseTunerLayer) and name.startswith(sides)
    }
    called: set[nn.Module] = set()
    handles = [m.register_forward_hook(lambda m, *_: called.add(m)) for m in layers.values()]
    if any(name.startswith(encoder.text.prefixes) for name in layers):
        encoder.encode_texts(["a"])
    if any(name.startswith(encoder.image.prefixes) for name in layers):
        encoder.encode_images([Image.new("RGB", (64, 64))])
    for handle in handles:
        handle.remove()
    if idle := [name for name, module in layers.items() if module not in called]:
        raise ModelError(
            f"{problem}: LoRA cannot adapt {idle[0]}, as its tower reads that layer's weights "
            f"without calling it"
        )


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
    encoder.image_changes = _identity(config, weights, encoder.image.prefixes)
    encoder.text_changes = _identity(config, weights, encoder.text.prefixes)


def _has_lora(model: nn.Module) -> bool:
    return any(".lora_" in name for name, _ in model.named_parameters())


@torch.no_grad()
def _round_lora(model: nn.Module, dtype: torch.dtype) -> None:
    for name, parameter in model.named_parameters():
        if ".lora_" in name:
            rounded = parameter.to(dtype)
            if not rounded.isfinite().all():
                raise ModelError(f"{name} is not finite in {dtype}: the training diverged")
            parameter.copy_(rounded)


def _card(encoder: DualEncoder, weights: Mapping[str, Tensor], note: dict[str, Any]) -> AdapterCard:
    def touched(prefixes: tuple[str, ...]) -> bool:
        return any(name.startswith(prefixes) for name in weights)

    text, image = _base_fingerprints(encoder)
    # A file's name is enough: the rest of its path is of this machine.
    name = Path(encoder.name).name if Path(encoder.name).exists() else encoder.name
    return AdapterCard(
        base=name,
        text_fingerprint=text if touched(encoder.text.prefixes) else None,
        image_fingerprint=image if touched(encoder.image.prefixes) else None,
        note=note,
    )


def _base_fingerprints(encoder: DualEncoder) -> tuple[str, str]:
    """Of the text side and of the image side, without an adapter."""
    base = copy.copy(encoder)
    base.text_changes = base.image_changes = ""
    return base.text_fingerprint, base.image_fingerprint


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
    for name in (_CONFIG, _WEIGHTS):
        if not (folder / name).is_file():
            raise ModelError(f"{folder}: is not a LoRA adapter's folder: it has no {name}")
    try:
        config = PeftConfig.from_pretrained(str(folder))
        weights = load_file(folder / _WEIGHTS)
    # What is no configuration makes PEFT raise nearly anything.
    except Exception as error:
        raise ModelError(f"{folder}: is a damaged or unknown adapter ({error})") from error
    if not isinstance(config, LoraConfig):
        raise ModelError(f"{folder}: is a {config.peft_type} adapter; only LoRA can be attached")
    config.inference_mode = True
    if damaged := [name for name, tensor in weights.items() if not tensor.isfinite().all()]:
        raise ModelError(f"{folder}: is damaged: {damaged[0]} is not finite")
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
