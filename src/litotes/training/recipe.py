"""Recipes: TOML files that say everything a training run needs to be made again."""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError, model_validator

from litotes.data.concrete_pairs import KEYWORD_KINDS, KeywordKind
from litotes.data.problems import problems
from litotes.errors import DataError
from litotes.training.lora import LoraSettings


class MiniRecipe(BaseModel):
    """How the bundled model is trained: see ``recipes/mini.toml``.

    The image trunk stays frozen, so its maps of a few views of each photograph are computed once
    and kept on disk.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    method: Literal["mini"]
    seed: int = Field(default=0, ge=0, lt=2**31)
    views: int = Field(ge=1, description="fixed views: whole, mirrored, then random crops")
    epochs: int = Field(ge=1, description="times each photograph is seen, with one caption each")
    batch_size: int = Field(ge=2, description="photographs, each with one caption")
    head_lr: float = Field(gt=0, description="peak learning rate of the heads")
    text_lr: float = Field(gt=0, description="peak learning rate of the text layers")
    weight_decay: float = Field(ge=0)
    warmup: float = Field(ge=0, le=1, description="share of the steps")
    frozen_layers: int = Field(ge=0, le=6, description="text layers left as published, from 0")
    cell_drop: float = Field(ge=0, lt=1, description="share of a map's cells hidden in a step")
    token_drop: float = Field(ge=0, lt=1, description="share of a caption's tokens hidden")
    average: float = Field(ge=0, lt=1, description="decay of the averaged weights")


class ScenesRecipe(BaseModel):
    """How the `scenes` model is trained from nothing: see ``recipes/scenes.toml``.

    Every step draws new scenes, each with one affirmative caption.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    method: Literal["scenes"]
    seed: int = Field(default=0, ge=0, lt=2**31)
    steps: int = Field(ge=1)
    batch_size: int = Field(ge=2, description="scenes a step, each with one caption")
    long_every: int = Field(ge=2, description="each so-manieth step reads long descriptions")
    long_batch_size: int = Field(ge=2, description="scenes of such a step")
    lr: float = Field(gt=0, le=1, description="peak learning rate")
    weight_decay: float = Field(ge=0)
    warmup: float = Field(ge=0, le=1, description="share of the steps")
    words_weight: float = Field(ge=0, description="of the loss that predicts captions' words")
    patch_dropout: float = Field(ge=0, lt=1, description="share of an image's cells left out")
    whole: float = Field(ge=0, le=1, description="last share of the steps, with all cells")


class FitSettings(BaseModel):
    """How an encoder is adapted, whatever the method: see :func:`litotes.training.fit`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    seed: int = Field(default=0, ge=0, lt=2**31)
    steps: int = Field(ge=1)
    accumulation: int = Field(default=1, ge=1, description="batches whose gradients make a step")
    chunk: int = Field(
        default=0, ge=0, description="encoded at a time: see litotes.training.grad_cache; 0: all"
    )
    lr: float = Field(gt=0, le=1, description="peak learning rate of AdamW")
    weight_decay: float = Field(default=0.05, ge=0)
    warmup_steps: int = Field(default=0, ge=0)
    clip: float = Field(default=1.0, gt=0, description="largest norm of the gradient")
    precision: Literal["no", "bf16", "fp16"] = Field(default="no", description="autocast")
    preserve: float = Field(default=0, ge=0, description="weight of anchors that should stay")
    pull: float = Field(default=0, ge=0, description="weight of anchors that exclude something")
    pull_contrast: float = Field(default=0, ge=0, description="weight of telling these apart")
    checkpoint_every: int = Field(default=25, ge=1)
    measure_every: int = Field(default=50, ge=1)
    patience: int = Field(default=1_000_000, ge=1, description="measures without a better one")


class HanclipLossSettings(BaseModel):
    """The loss of quadruplets: see :class:`litotes.losses.hanclip.HanclipLoss`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    geometry: Literal["hyperbolic", "cosine", "euclidean"] = "hyperbolic"
    curvature: float = Field(default=0.1, gt=0)
    normalize: bool = True
    temperature: float = Field(default=0.01, gt=0)
    negatives: Literal["batch", "own"] = "batch"
    alpha: float = Field(default=1.0, ge=0, description="weight of the angular triplet loss")


class TruthLossSettings(BaseModel):
    """The loss of statements: see :class:`litotes.losses.truth.TruthContrast`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    temperature: float = Field(default=0.05, gt=0)
    image_to_text: float = Field(default=1, ge=0, description="weight of images among statements")
    own: float = Field(default=1, ge=0, description="weight of each image among its own ones")
    bank: int = Field(default=0, ge=0, description="more pictures that statements are read against")
    beta: float = Field(default=0.5, ge=0, description='how far "A without B" is drawn from B')
    caption_beta: float = Field(default=0.2, ge=0, description='how far "CAPTION, without B" is')
    denial_beta: float = Field(default=0.5, ge=0, description='how far "no B" is, from any picture')


class AdaptRecipe(BaseModel):
    """How a model that stands is adapted, whatever the method."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: str = "mini"
    pretrained: str | None = None
    count: int = Field(ge=2, description="examples at most")
    batch_size: int = Field(ge=2, description="examples of a batch")
    lora: LoraSettings | None = Field(default=None, description="without it all weights train")
    towers: Literal["text", "vision", "both"] = Field(
        default="text", description="what trains without LoRA"
    )
    direction: bool = Field(default=True, description="fit a negation direction afterwards")
    fit: FitSettings

    @model_validator(mode="after")
    def _holds_a_batch(self) -> Self:
        if self.batch_size > self.count:
            raise ValueError(f"batch_size {self.batch_size} is more than count, {self.count}")
        return self


class HanclipRecipe(AdaptRecipe):
    """How a model learns "not" from captions: see ``recipes/hanclip-*.toml``.

    ``loss`` trains on quadruplets, ``truth`` on statements of known truth, made of pictures.
    """

    method: Literal["hanclip"]
    loss: HanclipLossSettings | None = None
    truth: TruthLossSettings | None = None

    @model_validator(mode="after")
    def _has_one_loss(self) -> Self:
        if (self.loss is None) == (self.truth is None):
            raise ValueError("a recipe has either a [loss], of quadruplets, or a [truth] loss")
        return self


class CementSettings(BaseModel):
    """The loss of captions and changed captions: see :class:`litotes.losses.cement.CementLoss`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    temperature: float = Field(default=0.01, gt=0)
    m_min: float = Field(default=0.0, description="margin of abstract keywords, in logits")
    m_max: float = Field(default=0.0, description="margin of concrete keywords; 0 both: InfoNCE")
    threshold: float = Field(default=4.0, ge=1, le=5, description="concreteness halfway between")
    margin_temperature: float = Field(default=0.15, gt=0, description="width of that step")


class PlantSettings(BaseModel):
    """Which word of a caption is changed: see :mod:`litotes.mining.plant`."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    choice: Literal["hc", "lc", "random", "negclip"] = Field(
        default="hc", description="most or least concrete, any; or two words change places"
    )
    score: Literal["concreteness", "visual"] = "concreteness"
    kinds: tuple[KeywordKind, ...] = Field(
        default=KEYWORD_KINDS, min_length=1, description="of what is changed"
    )


class SlipformRecipe(AdaptRecipe):
    """How a model learns composition from changed captions: see ``recipes/slipform*.toml``."""

    method: Literal["slipform"]
    negatives: Literal["batch", "text", "pairs"] = Field(
        description="a batch's own captions (control), changed ones, or their pictures too"
    )
    cement: CementSettings = CementSettings()
    plant: PlantSettings = PlantSettings()


Recipe = Annotated[
    MiniRecipe | ScenesRecipe | HanclipRecipe | SlipformRecipe, Field(discriminator="method")
]
_RECIPES: TypeAdapter[Recipe] = TypeAdapter(Recipe)


def read_recipe(file: Path, changes: Sequence[str] = ()) -> Recipe:
    """Read a recipe.

    Args:
        file: TOML.
        changes: settings to put in place of the file's, such as ``"loss.alpha=0.5"``; a value is
            read as TOML reads it, or else is a string.

    Raises:
        DataError: missing, no TOML, or with a wrong or unknown setting; says which.
    """
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"cannot read the recipe {file}: {error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"{file} is no TOML: {error}") from error
    for change in changes:
        _change(content, change)
    try:
        return _RECIPES.validate_python(content)
    except ValidationError as error:
        raise DataError(f"{file}: {problems(error)}") from error


def _change(content: dict[str, Any], change: str) -> None:
    """Set ``a.b=value``, or take ``a.b=none`` out."""
    name, equals, value = change.partition("=")
    *tables, last = name.strip().split(".")
    if not equals or not last:
        raise DataError(f"{change!r} is no setting: write it as fit.lr=1e-4")
    for table in tables:
        content = content.setdefault(table, {})
        if not isinstance(content, dict):
            raise DataError(f"{change!r}: {table} is no table of the recipe")
    if value == "none":
        content.pop(last, None)
        return
    try:
        content[last] = tomllib.loads(f"value = {value}")["value"]
    except tomllib.TOMLDecodeError:
        content[last] = value
