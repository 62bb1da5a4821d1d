"""Train the bundled model on captioned photographs with a frozen image trunk.

Symmetric InfoNCE (CLIP) between photographs and one caption each; the weights that are kept are
a running average. Soft targets, spread by how alike the published MiniLM finds two captions, were
tried and changed nothing.
"""

import hashlib
import json
import math
import sys
from collections.abc import Iterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import cast

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image, ImageOps
from rich.console import Console
from rich.progress import Progress
from safetensors.torch import save
from torch import Tensor, nn
from torch.nn.utils.rnn import pad_sequence

from litotes.backbones.encoder import DualEncoder
from litotes.backbones.mini import CELLS, CHANNELS, MiniModel, encoder_of, towers
from litotes.data.captions import read_captions
from litotes.data.files import write_atomically
from litotes.data.images import open_image
from litotes.errors import DataError
from litotes.losses.infonce import info_nce
from litotes.training.recipe import MiniRecipe
from litotes.training.run import Parts, bind_run, load_checkpoint, save_checkpoint, warm_cosine

MAP_BATCH = 8
GROUP = 32


@dataclass(frozen=True)
class TrainingSet:
    """What a step reads, computed once.

    Attributes:
        maps: the trunk's cells, a memory-mapped ``(views, images, 81, 352)``, float16.
        means: mean of the trunk's last convolution, ``(views, images, 1280)``, float16.
        states: what the lowest trained text layer reads, of all captions' tokens one after the
            other, ``(tokens, 384)``, float16.
        starts: where each caption's tokens begin, ``(images, captions)``.
        lengths: how many they are, ``(images, captions)``.
    """

    maps: NDArray[np.float16]
    means: Tensor
    states: Tensor
    starts: Tensor
    lengths: Tensor


def train_mini(
    recipe: MiniRecipe, data: Path, run: Path, *, progress: bool | None = None
) -> dict[str, Tensor]:
    """Train, and write ``mini.safetensors`` and ``metrics.jsonl`` into the folder ``run``.

    Stopped and started again, it goes on after the last whole epoch.

    Args:
        recipe: all settings.
        data: folder with ``captions.csv`` and ``images/``; its ``train`` split is used.
        run: folder of the run; holds the cached views as well.
        progress: show a progress bar; by default at a terminal.

    Returns:
        The trained weights by name, float16.

    Raises:
        DataError: the data is missing, malformed or smaller than a batch; the run is of another
            recipe, or damaged.
        ModelError: the towers' packages are missing.
    """
    run.mkdir(parents=True, exist_ok=True)
    shown = sys.stderr.isatty() if progress is None else progress
    bar = Progress(console=Console(stderr=True)) if shown else nullcontext()
    with bar as active:
        torch.manual_seed(recipe.seed)
        encoder = encoder_of(towers(), {})
        captions = read_captions(data, "train")
        if len(captions) < recipe.batch_size:
            raise DataError(
                f"{data} has {len(captions)} photographs to train on, fewer than one batch of "
                f"{recipe.batch_size}: lower batch_size in the recipe"
            )
        seen = hashlib.sha256(json.dumps(captions).encode()).hexdigest()[:16]
        bind_run(run, {"recipe": recipe.model_dump(), "captions": seen})
        paths = [data / "images" / name for name in captions]
        examples = _training_set(encoder, recipe, paths, list(captions.values()), run, active)
        average = _optimise(encoder, recipe, examples, run, active)
    weights = {name: tensor.half() for name, tensor in average.items()}
    write_atomically(run / "mini.safetensors", save(weights))
    return weights


def _mini(encoder: DualEncoder) -> MiniModel:
    return cast(MiniModel, encoder.model)


def _training_set(
    encoder: DualEncoder,
    recipe: MiniRecipe,
    paths: list[Path],
    captions: list[list[str]],
    run: Path,
    bar: Progress | None,
) -> TrainingSet:
    maps = _views(encoder, recipe, paths, run, bar)
    flat = [caption for group in captions for caption in group]
    ids, _ = encoder.text.tokenize(flat)
    shape = (len(captions), -1)
    lengths = encoder.text.lengths(ids)
    return TrainingSet(
        maps=maps,
        means=torch.stack([_means(_mini(encoder), view) for view in maps]),
        states=_read_captions(encoder, ids, recipe.frozen_layers),
        starts=(lengths.cumsum(0) - lengths).unflatten(0, shape),
        lengths=lengths.unflatten(0, shape),
    )


@torch.inference_mode()
def _views(
    encoder: DualEncoder, recipe: MiniRecipe, paths: list[Path], run: Path, bar: Progress | None
) -> NDArray[np.float16]:
    """The trunk's cells of each view; resumes where it was stopped."""
    file, shape = run / "views.npy", (recipe.views, len(paths), CELLS, CHANNELS)
    if not file.exists():
        np.lib.format.open_memmap(file, "w+", np.float16, shape).flush()
    maps = np.lib.format.open_memmap(file, "r+", np.float16, shape)
    mark = run / "views.json"
    done = json.loads(mark.read_text()) if mark.exists() else 0
    places = [(v, i) for v in range(recipe.views) for i in range(0, len(paths), MAP_BATCH)]
    task = bar.add_task("Reading photographs", total=len(places), completed=done) if bar else None
    for step, (view, start) in enumerate(places[done:], done):
        rows = range(start, min(start + MAP_BATCH, len(paths)))
        pixels = torch.stack(
            [encoder.image.preprocess(_view(open_image(paths[i]), view, i)) for i in rows]
        ).contiguous(memory_format=torch.channels_last)
        maps[view, rows.start : rows.stop] = _mini(encoder).image.maps(pixels).half().numpy()
        if bar and task is not None:
            bar.advance(task)
        if step % 100 == 99 or step == len(places) - 1:
            maps.flush()
            write_atomically(mark, json.dumps(step + 1))
    return maps


def _view(image: Image.Image, view: int, index: int) -> Image.Image:
    """View 0 is the photograph, view 1 its mirror image, later ones random crops of it."""
    if view < 2:
        return ImageOps.mirror(image) if view else image
    rng = np.random.default_rng((view, index))
    area, ratio = rng.uniform(0.5, 1), math.exp(rng.uniform(math.log(0.8), math.log(1.25)))
    width = min(1.0, math.sqrt(area * ratio)) * image.width
    height = min(1.0, math.sqrt(area / ratio)) * image.height
    left, top = rng.uniform(0, image.width - width), rng.uniform(0, image.height - height)
    crop = image.crop((round(left), round(top), round(left + width), round(top + height)))
    return ImageOps.mirror(crop) if rng.random() < 0.5 else crop


@torch.inference_mode()
def _means(model: MiniModel, maps: NDArray[np.float16]) -> Tensor:
    batches = (torch.from_numpy(maps[i : i + 256]).float() for i in range(0, len(maps), 256))
    return torch.cat([model.image.mean(batch).half() for batch in batches])


@torch.inference_mode()
def _read_captions(encoder: DualEncoder, ids: Tensor, layers: int) -> Tensor:
    """States after the frozen layers, of all captions' tokens: ``(tokens, 384)``, float16."""
    text = encoder.text
    lengths = text.lengths(ids)
    starts = lengths.cumsum(0) - lengths
    states = torch.empty(int(lengths.sum()), text.width, dtype=torch.half)
    for rows, batch in text.batches(ids, 64):
        hidden, mask = text.embed_tokens(batch)
        for layer in range(layers):
            hidden = text.block(layer, hidden, mask)
        places = torch.arange(batch.shape[1])
        kept = places < lengths[rows, None]
        states[(starts[rows, None] + places)[kept]] = hidden[kept].half()
    return states


def _optimise(
    encoder: DualEncoder,
    recipe: MiniRecipe,
    examples: TrainingSet,
    run: Path,
    bar: Progress | None,
) -> dict[str, Tensor]:
    model = _mini(encoder)
    trained = model.trained(recipe.frozen_layers)
    for name, parameter in model.named_parameters():
        parameter.requires_grad_(name in trained)
    groups = [
        {"params": [p for n, p in trained.items() if ".bert." not in n], "lr": recipe.head_lr},
        {"params": [p for n, p in trained.items() if ".bert." in n], "lr": recipe.text_lr},
    ]
    optimiser = torch.optim.AdamW(groups, weight_decay=recipe.weight_decay)
    steps = len(examples.lengths) // recipe.batch_size
    scheduler = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: warm_cosine(step, recipe.epochs * steps, recipe.warmup)
    )
    average = {name: parameter.detach().clone() for name, parameter in trained.items()}
    parts: Parts = {"model": dict(trained), "average": average}
    states = (optimiser, scheduler)
    first = load_checkpoint(run, parts, states)
    task = (
        bar.add_task("Training", total=recipe.epochs * steps, completed=first * steps)
        if bar
        else None
    )
    for epoch in range(first, recipe.epochs):
        losses = []
        for loss in _epoch(encoder, recipe, examples, epoch):
            optimiser.zero_grad()
            loss.backward()
            nn.utils.clip_grad_norm_(trained.values(), 1.0)
            optimiser.step()
            scheduler.step()
            with torch.no_grad():
                model.logit_scale.clamp_(max=math.log(100))
                decay = min(
                    recipe.average, (1 + scheduler.last_epoch) / (10 + scheduler.last_epoch)
                )
                for name, parameter in trained.items():
                    average[name].lerp_(parameter, 1 - decay)
            losses.append(loss.item())
            if bar and task is not None:
                bar.advance(task)
        done = epoch + 1
        metrics = {"epoch": done, "loss": sum(losses) / len(losses)}
        save_checkpoint(run, parts, states, done, metrics)
    return average


def _epoch(
    encoder: DualEncoder, recipe: MiniRecipe, examples: TrainingSet, epoch: int
) -> Iterator[Tensor]:
    """The loss of each step; what it draws depends on the seed and the epoch alone."""
    # The frozen trunk is not run here, and neither are the frozen text layers.
    encoder.model.train()
    torch.manual_seed(recipe.seed * 100_003 + epoch)
    images, captions = examples.lengths.shape
    order = torch.randperm(images)
    # Over the epochs each photograph shows all its captions equally often.
    chosen = (torch.arange(images) + epoch) % captions
    for start in range(0, images - recipe.batch_size + 1, recipe.batch_size):
        rows = order[start : start + recipe.batch_size]
        yield _loss(encoder, recipe, examples, rows, chosen[rows])


def _loss(
    encoder: DualEncoder,
    recipe: MiniRecipe,
    examples: TrainingSet,
    rows: Tensor,
    chosen: Tensor,
) -> Tensor:
    model = _mini(encoder)
    views = torch.randint(0, len(examples.maps), (len(rows),))
    maps = torch.from_numpy(examples.maps[views.numpy(), rows.numpy()]).float()
    maps = _drop_cells(_mirror_half(maps), recipe.cell_drop)
    images = model.image.head(maps, examples.means[views, rows].float())
    texts = _encode_captions(encoder, recipe, examples, rows, chosen)
    return info_nce(images, texts, model.logit_scale.exp())


def _mirror_half(maps: Tensor) -> Tensor:
    """Mirror the 9×9 cells of every second map, in the way of a mirrored photograph."""
    mirrored = maps.clone()
    mirrored[::2] = maps[::2].unflatten(1, (9, 9)).flip(2).flatten(1, 2)
    return mirrored


def _drop_cells(maps: Tensor, share: float) -> Tensor:
    """Put another cell of the same map in the place of a share of its cells."""
    batch, cells, _ = maps.shape
    places = torch.arange(cells).expand(batch, cells)
    others = torch.randint(0, cells, (batch, cells))
    chosen = torch.where(torch.rand(batch, cells) < share, others, places)
    return maps.gather(1, chosen.unsqueeze(-1).expand_as(maps))


def _encode_captions(
    encoder: DualEncoder,
    recipe: MiniRecipe,
    examples: TrainingSet,
    rows: Tensor,
    chosen: Tensor,
) -> Tensor:
    """Vectors ``(B, d)`` of captions, from the states that the frozen layers left."""
    starts, lengths = examples.starts[rows, chosen], examples.lengths[rows, chosen]
    vectors, order = [], lengths.argsort()
    # By length, a few at a time: padding costs as much as words.
    for part in order.split(GROUP):
        pieces = [
            examples.states[start : start + length].float()
            for start, length in zip(starts[part].tolist(), lengths[part].tolist(), strict=True)
        ]
        hidden = pad_sequence(pieces, batch_first=True)
        kept = torch.arange(hidden.shape[1]) < lengths[part, None]
        kept &= torch.rand(kept.shape) >= recipe.token_drop
        kept[:, 0] = True
        for layer in range(recipe.frozen_layers, encoder.text.depth):
            hidden = encoder.text.block(layer, hidden, kept[:, None, None, :])
        vectors.append(_mini(encoder).text["project"](hidden[:, 0]))
    return torch.cat(vectors)[order.argsort()]
