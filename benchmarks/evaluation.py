"""Evaluation, side by side: our tasks against a plain loop, as scripts beside papers have it.

    python benchmarks/evaluation.py [--data FLICKR8K] [--count 1000]

Both answer the multiple-choice questions about the first photographs of the dev split and then
retrieve them, with one ViT-B-32 (random weights: speed does not depend on them) on the CPU. The
loop encodes a picture and its captions each time they are needed; the tasks encode everything
once, text by length, beginning with an empty cache, which is written on the way. What they find
must agree.

``--data`` holds ``captions.csv``, ``mcq_dev.csv`` and ``images/``; by default it is the
development data (``LITOTES_SHARED``, or ``../shared``).
"""

import argparse
import os
import tempfile
import time
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import open_clip
import torch
from PIL import Image
from torch import Tensor
from torch.nn.functional import normalize

import litotes
from litotes.backbones.encoder import DualEncoder
from litotes.evaluation.negbench import MultipleChoiceTask
from litotes.evaluation.retrieval import RetrievalTask
from litotes.strategies import Plain

BAR = 5
AGREES = 0.005
"""Random weights put captions close together: rounding may turn an answer in two hundred."""


def main() -> None:
    """Prints times and their ratio; fails if figures differ or the ratio is too small."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, default=shared_flickr8k())
    parser.add_argument("--count", type=int, default=1000, help="photographs")
    options = parser.parse_args()

    choice, retrieval = read_tasks(options.data, options.count)
    captions = sum(len(picture.captions) for picture in retrieval.pictures)
    print(
        f"{len(retrieval.pictures)} photographs, {captions} captions, "
        f"{len(choice.questions)} questions; {torch.get_num_threads()} threads"
    )
    encoder = litotes.load("ViT-B-32", "random", device="cpu")
    loop = PlainLoop(encoder)
    warm_up(encoder, loop, retrieval.pictures[0].path)
    with tempfile.TemporaryDirectory() as cache:
        os.environ["LITOTES_CACHE"] = cache
        ours = [
            timed(lambda: choice.run(encoder, [Plain()])[0].metrics["mcq overall"].value),
            timed(lambda: retrieval.run(encoder, [Plain()])[0].metrics["text→image R@1"].value),
        ]
    theirs = [
        timed(lambda: loop.multiple_choice(choice)),
        timed(lambda: loop.retrieval(retrieval)),
    ]
    for name, (slow, one), (fast, other) in zip(
        ("multiple choice", "retrieval"), theirs, ours, strict=True
    ):
        print(f"{name:16} loop {slow:7.1f} s, tasks {fast:7.1f} s; found {one:.4f}, {other:.4f}")
    ratio = sum(seconds for seconds, _ in theirs) / sum(seconds for seconds, _ in ours)
    print(f"{ratio:.2f} times as fast (bar: {BAR})")
    differ = any(abs(a - b) > AGREES for (_, a), (_, b) in zip(ours, theirs, strict=True))
    if differ or ratio < BAR:
        raise SystemExit("failed")


def shared_flickr8k() -> Path:
    """Flickr8k in the development data."""
    default = Path(__file__).resolve().parents[2] / "shared"
    return Path(os.environ.get("LITOTES_SHARED", default)) / "data" / "flickr8k"


def read_tasks(data: Path, count: int) -> tuple[MultipleChoiceTask, RetrievalTask]:
    """Both tasks on the first photographs."""
    retrieval = RetrievalTask.read(data, "dev")
    retrieval = replace(retrieval, pictures=retrieval.pictures[:count])
    names = {picture.path.name for picture in retrieval.pictures}
    choice = MultipleChoiceTask.read(data / "mcq_dev.csv", data / "images")
    return replace(choice, questions=[q for q in choice.questions if q.image in names]), retrieval


def warm_up(encoder: DualEncoder, loop: "PlainLoop", path: Path) -> None:
    """What is only done once, such as reading the vocabulary, is no part of the times."""
    encoder.encode_images([path])
    encoder.encode_texts(["a dog"])
    loop.encode(path, ["a dog"])


def timed(work: Callable[[], float]) -> tuple[float, float]:
    """Seconds that it took, and what it found."""
    start = time.perf_counter()
    found = work()
    return time.perf_counter() - start, found


class PlainLoop:
    """Encodes what it needs when it needs it, as ``open_clip``'s documentation shows."""

    def __init__(self, encoder: DualEncoder) -> None:
        self.model: Any = encoder.model
        self.tokenizer = open_clip.get_tokenizer("ViT-B-32")
        config = open_clip.transform.PreprocessCfg(**self.model.visual.preprocess_cfg)
        self.transform = open_clip.transform.image_transform_v2(config, is_train=False)

    @torch.inference_mode()
    def encode(self, path: Path, captions: Sequence[str]) -> tuple[Tensor, Tensor]:
        """Unit vectors of a picture ``(1, d)`` and of captions ``(N, d)``."""
        image = self.model.encode_image(self.transform(Image.open(path)).unsqueeze(0))
        texts = self.model.encode_text(self.tokenizer(list(captions)))
        return normalize(image, dim=-1), normalize(texts, dim=-1)

    def multiple_choice(self, task: MultipleChoiceTask) -> float:
        """Share of questions answered rightly."""
        right = 0
        for question in task.questions:
            image, texts = self.encode(task.images / question.image, question.options)
            right += int((image @ texts.T).argmax()) == question.right
        return right / len(task.questions)

    def retrieval(self, task: RetrievalTask) -> float:
        """Share of captions that rank their picture first."""
        pairs = [self.encode(picture.path, picture.captions) for picture in task.pictures]
        images = torch.cat([image for image, _ in pairs])
        right = [texts @ images.T for _, texts in pairs]
        hits = torch.cat([scores.argmax(1) == i for i, scores in enumerate(right)])
        return float(hits.float().mean())


if __name__ == "__main__":
    main()
