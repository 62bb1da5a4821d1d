"""The loop that adapts an encoder: it knows steps and checkpoints, and no method.

What a step encodes and how that is judged comes with its :class:`Batch`, which a method's
examples make. Everything that is drawn by lot depends on the seed and the step's number alone, so
that a run that was stopped goes on to the same weights.
"""

import math
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Protocol, TypeVar

import torch
import torch.distributed.nn.functional
from torch import Tensor, nn
from torch.func import functional_call
from torch.nn.functional import normalize

from litotes.backbones.encoder import DualEncoder, ImageLike, weights_digest
from litotes.errors import DataError
from litotes.losses.hanclip import LossParts, preservation, told_apart
from litotes.training.grad_cache import encode_cached, pixel_batches, require_parts_alike
from litotes.training.lora import train_lora
from litotes.training.recipe import FitSettings
from litotes.training.run import Parts, load_checkpoint, save_checkpoint, shown_steps, warm_cosine

T = TypeVar("T")

GROUP, TOKENS = 64, 1024
"""Captions of like length that are encoded together, and their tokens: a few long ones among
many short ones would cost as if all were long."""

ANYTHING = ""
"""What a mere denial affirms."""


class Anchor(NamedTuple):
    """Where a text's vector should be, in terms of the encoder as it was.

    Attributes:
        text: what is encoded.
        affirmed: whose vector it should have; by default its own, so that it stays in place.
            :data:`ANYTHING` stands for the mean of all pictures' vectors.
        excluded: what that vector is moved away from, as the strategy `subtract` does it.
        beta: how far.
    """

    text: str
    affirmed: str | None = None
    excluded: str | None = None
    beta: float = 0.5


@dataclass(frozen=True)
class Batch:
    """What a step encodes, and how it is judged.

    Attributes:
        pictures: their numbers among the examples'.
        texts: captions.
        loss: of the vectors of pictures ``(B, d)`` and texts ``(S, d)``, not normalised.
        anchors: texts of which it is known where their vectors should be.
    """

    pictures: Sequence[int]
    texts: Sequence[str]
    loss: Callable[[Tensor, Tensor], LossParts]
    anchors: Sequence[Anchor] = ()


class Examples(Protocol):
    """What is trained on."""

    def batch(self, step: int) -> Batch:
        """The batch of a step, the same whenever it is asked for."""
        ...

    def pictures(self, numbers: Sequence[int]) -> Sequence[ImageLike]:
        """Pictures, to be encoded anew at each step."""
        ...

    def vectors(self, encoder: DualEncoder) -> Tensor:
        """All pictures' vectors ``(N, d)``, of an image tower that stays as it is."""
        ...


def fit(
    encoder: DualEncoder,
    examples: Examples,
    settings: FitSettings,
    run: Path,
    *,
    measure: Callable[[DualEncoder], float] | None = None,
    progress: bool | None = None,
) -> float | None:
    """Train those weights of an encoder that ask for gradients, in place.

    Where the image tower is frozen, every picture is encoded once, before the first step. On
    several devices (``accelerate launch``, ``torchrun``) each process encodes its share of a
    batch, and losses see the whole of it. Stopped and started again, a run goes on after its last
    checkpoint.

    Args:
        encoder: whose weights have ``requires_grad`` where they are to be trained; afterwards it
            is frozen and in evaluation mode.
        examples: gives the batches.
        settings: all numbers.
        run: folder of the run, for ``checkpoint.pt`` and ``metrics.jsonl``.
        measure: how good the encoder is, on data that is not trained on, asked for every
            ``settings.measure_every`` steps; the best weights are kept, and training ends when
            ``settings.patience`` measures in a row were no better. Without it the last weights
            are kept.
        progress: show a progress bar; by default at a terminal.

    Returns:
        The best measure, if there is one.

    Raises:
        DataError: the run's checkpoint is damaged, or a loss is not finite.
        ValueError: no weight asks for gradients.
    """
    from accelerate import Accelerator

    trained = {name: p for name, p in encoder.model.named_parameters() if p.requires_grad}
    if not trained:
        raise ValueError("no weight of the encoder asks for gradients")
    adapter_only = _adapter_only(trained)
    # What a side is, is told by its weights as they were.
    _ = encoder.image_fingerprint, encoder.text_fingerprint
    run.mkdir(parents=True, exist_ok=True)
    on_cpu = encoder.device.type == "cpu"
    accelerator = Accelerator(cpu=on_cpu, mixed_precision=settings.precision)
    step_loss = _StepLoss(encoder, examples, settings, trained, accelerator)
    optimiser = torch.optim.AdamW(
        trained.values(), settings.lr, betas=(0.9, 0.98), weight_decay=settings.weight_decay
    )
    rising = settings.warmup_steps / settings.steps
    schedule = torch.optim.lr_scheduler.LambdaLR(
        optimiser, lambda step: warm_cosine(step, settings.steps, rising)
    )
    best = _Best(trained)
    parts: Parts = {"trained": dict(trained), "best": best.weights}
    states = (optimiser, schedule, best)
    first = load_checkpoint(run, parts, states)
    tally = _Tally()
    shown = accelerator.is_main_process and (sys.stderr.isatty() if progress is None else progress)
    for step in shown_steps(range(first, settings.steps), settings.steps, shown):
        if best.waited >= settings.patience:
            break
        if adapter_only:
            train_lora(encoder)
        else:
            encoder.model.train()
        # What a step draws depends on the seed and its number alone.
        torch.manual_seed((settings.seed * 1_000_003 + step) * 1009 + accelerator.process_index)
        for part in range(settings.accumulation):
            whole = part + 1 == settings.accumulation
            with nullcontext() if whole else accelerator.no_sync(step_loss.towers):
                loss = step_loss(examples.batch(step * settings.accumulation + part))
                accelerator.backward(loss.total / settings.accumulation)
            tally.add(loss)
        tally.check(step + 1)
        nn.utils.clip_grad_norm_(trained.values(), settings.clip)
        optimiser.step()
        schedule.step()
        optimiser.zero_grad()
        done, ends = step + 1, step + 1 == settings.steps
        if measure and (done % settings.measure_every == 0 or ends):
            encoder.model.eval()
            mark_trained(encoder, trained)
            tally.measured = best.offer(measure(encoder), trained)
        if accelerator.is_main_process and (done % settings.checkpoint_every == 0 or ends):
            metrics = {"step": done, "lr": float(schedule.get_last_lr()[0]), **tally.taken()}
            save_checkpoint(run, parts, states, done, metrics)
    if best.score is not None:
        with torch.no_grad():
            for name, parameter in trained.items():
                parameter.copy_(best.weights[name])
    encoder.model.requires_grad_(False).eval()
    mark_trained(encoder, trained)
    return best.score


def mark_trained(encoder: DualEncoder, trained: Mapping[str, nn.Parameter]) -> None:
    """Make trained weights, as they are now, part of the fingerprints of the sides they are of."""
    for side, prefixes in (("text", encoder.text.prefixes), ("image", encoder.image.prefixes)):
        touched = {name: p for name, p in trained.items() if name.startswith(prefixes)}
        if touched:
            setattr(encoder, f"{side}_changes", f"trained {weights_digest(touched)}")


def _adapter_only(trained: Mapping[str, nn.Parameter]) -> bool:
    """Whether nothing but LoRA's layers, or what they stand for, is trained."""
    return all(".lora_" in name or ".base_layer." in name for name in trained)


class _StepLoss:
    """The loss of a batch: encodes it, here and on the other devices, and has it judged."""

    def __init__(
        self,
        encoder: DualEncoder,
        examples: Examples,
        settings: FitSettings,
        trained: dict[str, nn.Parameter],
        accelerator: Any,
    ) -> None:
        self.encoder = encoder
        self.examples = examples
        self.settings = settings
        self.accelerator = accelerator
        sees = any(name.startswith(encoder.image.prefixes) for name in trained)
        self.vectors = None if sees else examples.vectors(encoder).to(encoder.device)
        if settings.chunk and sees and not _adapter_only(trained):
            require_parts_alike(encoder.model, encoder.image.prefixes)
        towers = _Towers(encoder, settings.chunk)
        self.original: _Original | None = None
        pulls = settings.pull or settings.pull_contrast
        if settings.preserve or pulls:
            known = {}
            if pulls:
                seen = examples.vectors(encoder) if self.vectors is None else self.vectors
                mean = normalize(normalize(seen.float(), dim=-1).mean(0), dim=-1)
                known[ANYTHING] = mean.to(encoder.device)
            self.original = _Original(encoder, towers, trained, known)
        self.towers = accelerator.prepare(towers)

    def __call__(self, batch: Batch) -> LossParts:
        weights = self.settings
        pulls = weights.pull or weights.pull_contrast
        anchors = [a for a in batch.anchors if (pulls if a.excluded else weights.preserve)]
        known = set(batch.texts)
        more = [anchor.text for anchor in anchors if anchor.text not in known]
        texts = [*batch.texts, *dict.fromkeys(more)]
        encoded, images = self._encoded(texts, batch.pictures)
        loss = batch.loss(images, encoded[: len(batch.texts)])
        if not self.original or not anchors:
            return loss
        places = {text: i for i, text in enumerate(texts)}
        total, parts = loss.total, dict(loss.parts)
        vectors = encoded[[places[anchor.text] for anchor in anchors]]
        targets = self.original.targets(anchors)
        excluding = torch.tensor([bool(anchor.excluded) for anchor in anchors])
        for name, weight, judge, some in (
            ("stay", weights.preserve, preservation, ~excluding),
            ("exclude", weights.pull, preservation, excluding),
            ("exclude apart", weights.pull_contrast, told_apart, excluding),
        ):
            if weight and some.any():
                parts[name] = judge(vectors[some], targets[some])
                total = total + weight * parts[name]
        return LossParts(total, parts)

    def _encoded(self, texts: Sequence[str], pictures: Sequence[int]) -> tuple[Tensor, Tensor]:
        """Vectors of texts and pictures; each process encodes its share."""
        pixels = None
        ids, _ = self.encoder.text.tokenize(self._share(texts))
        if self.vectors is None:
            pixels = self.encoder.pixels(self.examples.pictures(self._share(pictures)))
        encoded, seen = self.towers(ids, pixels)
        if self.vectors is None:
            images = self._gathered(seen, len(pictures))
        else:
            images = self.vectors[list(pictures)]
        return self._gathered(encoded, len(texts)), images

    def _share(self, items: Sequence[T]) -> list[T]:
        """What this process encodes; the last item again and again where they do not come out."""
        each = -(-len(items) // self.accelerator.num_processes)
        start = each * self.accelerator.process_index
        mine = list(items[start : start + each])
        return mine + [items[-1]] * (each - len(mine))

    def _gathered(self, vectors: Tensor, count: int) -> Tensor:
        """All processes' vectors ``(count, d)``; gradients flow back to each."""
        if self.accelerator.num_processes == 1:
            return vectors
        return torch.cat(torch.distributed.nn.functional.all_gather(vectors))[:count]


class _Towers(nn.Module):
    """Both towers as one module, as training on several devices wants them."""

    def __init__(self, encoder: DualEncoder, chunk: int) -> None:
        super().__init__()
        self.model = encoder.model
        self.encoder = encoder
        self.chunk = chunk

    def forward(self, ids: Tensor, pixels: Any) -> tuple[Tensor, Tensor | None]:
        """Vectors, not normalised, of token ids ``(S, L)``, and of pixels if there are any."""
        image, text, ids = self.encoder.image, self.encoder.text, ids.to(self.encoder.device)
        if not self.chunk:
            seen = None if pixels is None else image.run(pixels)
            return text.run_all(ids, GROUP, TOKENS), seen
        if pixels is not None:
            seen = encode_cached(image.run, pixel_batches(pixels, self.chunk))
        else:
            seen = None
        batches = text.batches(ids, min(GROUP, self.chunk), TOKENS)
        return encode_cached(text.run, batches), seen


class _Original:
    """The text side with the weights that it began with, and vectors that are known already."""

    def __init__(
        self,
        encoder: DualEncoder,
        towers: nn.Module,
        trained: dict[str, nn.Parameter],
        known: Mapping[str, Tensor],
    ) -> None:
        self.encoder, self.towers, self.known = encoder, towers, known
        self.weights = {f"model.{name}": p.detach().clone() for name, p in trained.items()}

    def targets(self, anchors: Sequence[Anchor]) -> Tensor:
        """Where each anchor's text should be ``(N, d)``, not normalised."""
        named = [name for anchor in anchors for name in (_affirmed(anchor), anchor.excluded)]
        unique = list(dict.fromkeys(filter(None, named)))
        vectors = {**self.known, **dict(zip(unique, self._vectors(unique), strict=True))}
        targets = []
        for anchor in anchors:
            target = vectors[_affirmed(anchor)]
            if anchor.excluded is not None:
                target = target - anchor.beta * vectors[anchor.excluded]
            targets.append(target)
        return torch.stack(targets)

    @torch.no_grad()
    def _vectors(self, texts: Sequence[str]) -> Tensor:
        """Unit vectors ``(N, d)``."""
        modes = [(module, module.training) for module in self.towers.modules()]
        self.towers.eval()
        ids, _ = self.encoder.text.tokenize(texts)
        vectors, _ = functional_call(self.towers, self.weights, (ids, None))
        for module, mode in modes:
            module.training = mode
        return normalize(vectors.float(), dim=-1)


def _affirmed(anchor: Anchor) -> str:
    return anchor.text if anchor.affirmed is None else anchor.affirmed


class _Best:
    """The best weights so far, and how many measures ago they were found."""

    def __init__(self, trained: dict[str, nn.Parameter]) -> None:
        self.weights = {name: p.detach().clone() for name, p in trained.items()}
        self.score: float | None = None
        self.waited = 0

    def offer(self, score: float, trained: dict[str, nn.Parameter]) -> float:
        """Take up weights if they are better than all before."""
        if self.score is None or score > self.score:
            self.score, self.waited = score, 0
            for name, parameter in trained.items():
                self.weights[name].copy_(parameter.detach())
        else:
            self.waited += 1
        return score

    def state_dict(self) -> dict[str, Any]:
        return {"score": self.score, "waited": self.waited}

    def load_state_dict(self, state_dict: dict[str, Any]) -> None:
        self.score, self.waited = state_dict["score"], state_dict["waited"]


class _Tally:
    """Means of the losses since the checkpoint before."""

    def __init__(self) -> None:
        self.losses: list[dict[str, float]] = []
        self.measured: float | None = None
        self.start = time.monotonic()

    def add(self, loss: LossParts) -> None:
        self.losses.append(
            {"loss": loss.total.item(), **{name: part.item() for name, part in loss.parts.items()}}
        )

    def check(self, step: int) -> None:
        if not math.isfinite(self.losses[-1]["loss"]):
            raise DataError(f"step {step}: the loss is not finite: lower lr in the recipe")

    def taken(self) -> dict[str, float]:
        """The means, the last measure and the seconds of the steps; then begins anew."""
        # Not every batch has every part.
        names = dict.fromkeys(name for loss in self.losses for name in loss)
        means = {}
        for name in names:
            values = [loss[name] for loss in self.losses if name in loss]
            means[name] = sum(values) / len(values)
        measured = {} if self.measured is None else {"measured": self.measured}
        seconds = round(time.monotonic() - self.start, 1)
        self.losses, self.measured, self.start = [], None, time.monotonic()
        return {**means, **measured, "seconds": seconds}
