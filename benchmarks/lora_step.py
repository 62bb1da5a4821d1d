"""A training step of HANCLIP on ViT-B-32: text-only LoRA, with and without cached image vectors.

    python benchmarks/lora_step.py [--steps 3]

Random weights: speed does not depend on them. Both train alike on the same batches of 64
quadruplets of drawn scenes; one has encoded the pictures before, as the image tower is frozen, the
other encodes them in each step. Prints seconds a step, their ratio, and how long an epoch of
20,000 quadruplets takes with the vectors at hand.
"""

import argparse
import statistics
import time
from collections.abc import Callable
from pathlib import Path

import torch

import litotes
from litotes.losses.hanclip import HanclipLoss
from litotes.scenes.adaptation import SceneExamples
from litotes.training.lora import LoraSettings, add_lora, train_lora
from litotes.training.recipe import read_recipe

COUNT = 20_000
RECIPE = Path(__file__).resolve().parents[1] / "recipes" / "hanclip.toml"


def main() -> None:
    """Time both in turn, step by step."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=3)
    options = parser.parse_args()
    recipe = read_recipe(RECIPE, ["count=640"])
    examples, loss = SceneExamples(recipe), HanclipLoss()
    encoder = litotes.load("ViT-B-32", "random", device="cpu")
    trained = add_lora(encoder, LoraSettings(), seed=0)
    optimiser = torch.optim.AdamW(trained, 1e-4)
    numbers = list(range(recipe.batch_size))
    cached = encoder.encode_images(examples.pictures(numbers), progress=False)

    def step(images: Callable[[], torch.Tensor]) -> None:
        batch = examples.batch(0)
        ids, _ = encoder.text.tokenize(batch.texts)
        texts = encoder.text.run_all(ids, 64)
        loss(images(), *texts.split(recipe.batch_size)).total.backward()
        optimiser.step()
        optimiser.zero_grad()

    def encoded() -> torch.Tensor:
        return encoder.encode_images(examples.pictures(numbers), progress=False)

    train_lora(encoder)
    step(lambda: cached)
    pairs = [(seconds(step, lambda: cached), seconds(step, encoded)) for _ in range(options.steps)]
    fast, slow = (statistics.median(times) for times in zip(*pairs, strict=True))
    print(f"{torch.get_num_threads()} threads, {recipe.batch_size} quadruplets a step")
    print(f"cached vectors {fast:.2f} s a step, pictures encoded {slow:.2f} s: {slow / fast:.2f}×")
    minutes = fast * COUNT / recipe.batch_size / 60
    print(f"{COUNT:,} quadruplets: {minutes:.0f} minutes")


def seconds(
    step: Callable[[Callable[[], torch.Tensor]], None], images: Callable[[], torch.Tensor]
) -> float:
    """How long a step takes."""
    start = time.perf_counter()
    step(images)
    return time.perf_counter() - start


if __name__ == "__main__":
    main()
