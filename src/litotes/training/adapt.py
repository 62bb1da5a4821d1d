"""Adapting an encoder as a recipe says, whatever the method: LoRA or all weights, then files."""

import warnings
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from random import Random
from typing import Literal, Protocol

import torch
from safetensors.torch import save
from torch import Tensor

from litotes.backbones.adapters import DIRECTION, save_adapter
from litotes.backbones.encoder import DualEncoder
from litotes.backbones.export import export
from litotes.data.files import write_atomically
from litotes.errors import DirectionError, LitotesWarning, ModelError
from litotes.steering import NegationDirection
from litotes.training.fit import Examples, fit, mark_trained
from litotes.training.lora import add_lora, factorise, train_dense
from litotes.training.recipe import AdaptRecipe
from litotes.training.run import bind_run

PAIRS = 4000
"""So many a negation direction is fitted on, as in arXiv 2603.20554."""


def shuffled_batches(count: int, batch_size: int, seed: int) -> Callable[[int], list[int]]:
    """Which examples each step takes: every one once, in random order, then anew."""
    each = count // batch_size

    @lru_cache(maxsize=1)
    def order_of(epoch: int) -> list[int]:
        order = list(range(count))
        Random(f"{seed} {epoch}").shuffle(order)
        return order

    def rows(step: int) -> list[int]:
        epoch, place = divmod(step, each)
        return order_of(epoch)[place * batch_size : (place + 1) * batch_size]

    return rows


def with_bank(rows: Sequence[int], count: int, bank: int, rng: Random) -> list[int]:
    """A batch's pictures, and up to ``bank`` more of all ``count`` by lot."""
    others = rng.sample(range(count), min(bank, count))
    return list(dict.fromkeys([*rows, *others]))


class AdaptExamples(Examples, Protocol):
    """Examples that can also say what negation looks like.

    Attributes:
        fingerprint: names the data.
    """

    fingerprint: str

    def negation_pairs(self, count: int) -> list[tuple[str, str]]:
        """Captions and negated ones, to fit a negation direction on."""
        ...


def adapt(
    encoder: DualEncoder,
    examples: AdaptExamples,
    recipe: AdaptRecipe,
    run: Path,
    *,
    measure: Callable[[DualEncoder], float] | None = None,
    progress: bool | None = None,
) -> float | None:
    """Train what a recipe says, in place.

    Writes ``adapter/`` into the folder of the run: LoRA weights in PEFT's format, with a
    negation direction fitted on the adapted encoder. Without LoRA the whole model is written, as
    ``model.safetensors`` or a folder: see :func:`litotes.backbones.export.export`.

    Returns:
        The best measure, if there is one.

    Raises:
        DataError: the run is of another recipe, model or data, or damaged.
        ModelError: the model has no layers that the recipe adapts.
    """
    from accelerate import PartialState

    facts = {
        "recipe": recipe.model_dump(),
        "model": [encoder.image_fingerprint, encoder.text_fingerprint],
        "examples": examples.fingerprint,
    }
    bind_run(run, facts)
    note: dict[str, object] = {"recipe": recipe.model_dump(), "examples": examples.fingerprint}
    before: Mapping[str, Tensor] = {}
    if not recipe.lora:
        thaw(encoder, recipe.towers)
    else:
        add_lora(encoder, recipe.lora, seed=recipe.fit.seed)
        if recipe.lora.dense:
            before = train_dense(encoder)
    best = fit(encoder, examples, recipe.fit, run, measure=measure, progress=progress)
    if before:
        note["kept"] = factorise(encoder, before)
        mark_trained(encoder, {n: p for n, p in encoder.model.named_parameters() if ".lora_" in n})
    if not PartialState().is_main_process:
        # All processes hold the same weights.
        return best
    if recipe.lora:
        save_adapter(encoder, run / "adapter", dtype=torch.float16, note=note)
        if recipe.direction and encoder.text.depth:
            _fit_direction(encoder, examples, run / "adapter" / DIRECTION)
    else:
        _write_weights(encoder, run)
    return best


def _fit_direction(encoder: DualEncoder, examples: AdaptExamples, file: Path) -> None:
    try:
        NegationDirection.fit(encoder, examples.negation_pairs(PAIRS)).save(file)
    except DirectionError as error:
        # The adapter is worth keeping all the same.
        warnings.warn(
            f"the adapter has no negation direction for steer: {error}",
            LitotesWarning,
            stacklevel=3,
        )


def _write_weights(encoder: DualEncoder, run: Path) -> None:
    try:
        export(encoder, run / "model")
    except ModelError:
        # The bundled models have no format that others read.
        weights = {n: w.contiguous() for n, w in encoder.model.state_dict().items()}
        write_atomically(run / "model.safetensors", save(weights))


def thaw(encoder: DualEncoder, towers: Literal["text", "vision", "both"]) -> None:
    """Let all weights of a tower be trained."""
    prefixes = {
        "text": encoder.text.prefixes,
        "vision": encoder.image.prefixes,
        "both": encoder.text.prefixes + encoder.image.prefixes,
    }[towers]
    for name, parameter in encoder.model.named_parameters():
        parameter.requires_grad_(name.startswith(prefixes))
