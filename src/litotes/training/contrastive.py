"""Train a dual encoder from nothing on a stream of images and captions, as CLIP is trained."""

import math
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from open_clip.transformer import PatchDropout
from torch import Tensor, nn

from litotes.backbones.encoder import DualEncoder
from litotes.errors import DataError
from litotes.losses.infonce import info_nce
from litotes.losses.words import WordPrediction
from litotes.training.muon import Muon
from litotes.training.recipe import ScenesRecipe
from litotes.training.run import Parts, load_checkpoint, save_checkpoint, shown_steps, warm_cosine

EVERY = 25
"""Steps between checkpoints."""
GROUP = 64
"""Captions of like length that are encoded together."""

Batch = tuple[Tensor, list[str]]
"""Pixels ``(B, 3, H, W)`` as the image tower reads them, and a caption of each."""


def train_contrastive(
    encoder: DualEncoder,
    recipe: ScenesRecipe,
    words: WordPrediction,
    batch: Callable[[int], Batch],
    run: Path,
    *,
    progress: bool | None = None,
) -> None:
    """Train all weights of an ``open_clip`` encoder, in place.

    Stopped and started again, it goes on after the last checkpoint, to the same weights.

    Args:
        encoder: with fresh weights.
        recipe: all settings.
        words: predicts words, with fresh weights; of no use afterwards.
        batch: gives the batch of a step, the same whenever it is asked.
        run: folder of the run, for checkpoints and metrics.
        progress: show a progress bar; by default at a terminal.

    Raises:
        DataError: the run's checkpoint is damaged.
    """
    model: Any = encoder.model
    model.requires_grad_(True)
    optimisers = _optimisers([model, words], recipe)
    schedulers = [
        torch.optim.lr_scheduler.LambdaLR(
            optimiser, lambda step: warm_cosine(step, recipe.steps, recipe.warmup)
        )
        for optimiser in optimisers
    ]
    parts: Parts = {"model": model.state_dict(), "words": words.state_dict()}
    states: list[Any] = [*optimisers, *schedulers]
    first = load_checkpoint(run, parts, states)
    losses: list[float] = []
    start = time.monotonic()
    shown = sys.stderr.isatty() if progress is None else progress
    for step in shown_steps(range(first, recipe.steps), recipe.steps, shown):
        # What a step draws depends on the seed and its number alone.
        torch.manual_seed(recipe.seed * 1_000_003 + step)
        model.visual.patch_dropout = _patch_dropout(recipe, step)
        model.train()
        loss, total = _loss(encoder, words, recipe.words_weight, *batch(step))
        for optimiser in optimisers:
            optimiser.zero_grad()
        total.backward()
        nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        for state in states:
            state.step()
        with torch.no_grad():
            model.logit_scale.clamp_(max=math.log(100))
        losses.append(loss.item())
        if not math.isfinite(losses[-1]):
            raise DataError(f"step {step + 1}: the loss is not finite: lower lr in the recipe")
        if (step + 1) % EVERY == 0 or step + 1 == recipe.steps:
            metrics = {
                "step": step + 1,
                "loss": sum(losses) / len(losses),
                "seconds": round(time.monotonic() - start, 1),
            }
            save_checkpoint(run, parts, states, step + 1, metrics)
            losses.clear()
    model.visual.patch_dropout = nn.Identity()
    model.requires_grad_(False)
    model.eval()


def _optimisers(modules: list[nn.Module], recipe: ScenesRecipe) -> list[torch.optim.Optimizer]:
    """Muon for the matrices of blocks and stem, AdamW for all other weights."""
    named = [item for module in modules for item in module.named_parameters()]
    matrices = [p for n, p in named if p.ndim == 4 or (p.ndim == 2 and "resblocks" in n)]
    chosen = {id(p) for p in matrices}
    others = [p for _, p in named if id(p) not in chosen]
    decay = recipe.weight_decay
    return [
        Muon(matrices, recipe.lr, weight_decay=decay),
        torch.optim.AdamW(others, recipe.lr, betas=(0.9, 0.98), weight_decay=decay),
    ]


def _patch_dropout(recipe: ScenesRecipe, step: int) -> nn.Module:
    """Leaves out cells of the image, which quickens training, but for the last steps."""
    if recipe.patch_dropout == 0 or step >= recipe.steps * (1 - recipe.whole):
        return nn.Identity()
    return PatchDropout(recipe.patch_dropout)


def _loss(
    encoder: DualEncoder,
    words: WordPrediction,
    weight: float,
    pixels: Tensor,
    captions: list[str],
) -> tuple[Tensor, Tensor]:
    """InfoNCE, and the same with the prediction of words beside it."""
    images = encoder.image.run(pixels)
    ids, _ = encoder.text.tokenize(captions)
    texts = encoder.text.run_all(ids, GROUP)
    scale: Any = encoder.model.logit_scale
    loss = info_nce(images, texts, scale.exp())
    return loss, loss + weight * (words(images, ids) + words(texts, ids))
