"""Recipes: TOML files that say everything a training run needs to be made again."""

import tomllib
from pathlib import Path
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from litotes.data.problems import problems
from litotes.errors import DataError


class MiniRecipe(BaseModel):
    """How the bundled model is trained: see ``recipes/mini.toml``.

    The image trunk stays frozen, so its maps of a few views of each photograph are computed once
    and kept on disk.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    model: Literal["mini"]
    seed: int = 0
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

    model: Literal["scenes"]
    seed: int = 0
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


Recipe = Annotated[MiniRecipe | ScenesRecipe, Field(discriminator="model")]
_RECIPES: TypeAdapter[MiniRecipe | ScenesRecipe] = TypeAdapter(Recipe)


def read_recipe(file: Path) -> MiniRecipe | ScenesRecipe:
    """Read a recipe.

    Raises:
        DataError: missing, no TOML, or with a wrong or unknown setting; says which.
    """
    try:
        content = tomllib.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise DataError(f"cannot read the recipe {file}: {error}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise DataError(f"{file} is no TOML: {error}") from error
    try:
        return _RECIPES.validate_python(content)
    except ValidationError as error:
        raise DataError(f"{file}: {problems(error)}") from error
