"""Text encoding, side by side: ``encode_texts`` against ``open_clip``'s own ``encode_text``.

    python benchmarks/text_encoding.py [captions.txt]

Both encode the same captions with the same ViT-B-32 text tower (random weights: speed does not
depend on them) on the CPU, tokenizing included, in batches of one size, by turns, so that what
else the machine does weighs on both alike. Vectors must agree to 1e-5.

The file holds a caption a line, or is CSV with a column ``caption``; by default it is Flickr8k's
of the development data (``LITOTES_SHARED``, or ``../shared``). Without it captions are made of a
template.
"""

import argparse
import csv
import os
import statistics
import time
from collections.abc import Callable
from itertools import product
from pathlib import Path
from typing import Any

import open_clip
import torch
from torch import Tensor
from torch.nn.functional import normalize

import litotes

COUNT = 1000
BAR = 2.5


def main() -> None:
    """Prints median times and their ratio; fails if vectors differ or the ratio is too small."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("captions", nargs="?", type=Path, default=shared_captions())
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--batch-size", type=int, default=32)
    options = parser.parse_args()

    texts = read_captions(options.captions)[:COUNT]
    encoder = litotes.load("ViT-B-32", "random", device="cpu")
    tokenizer = open_clip.get_tokenizer("ViT-B-32")
    tokens = (tokenizer(texts) != 0).sum(1).float()
    print(
        f"{len(texts)} captions, {tokens.mean():.1f} tokens on average, at most {tokens.max():.0f}"
    )

    ways: dict[str, Callable[[], Tensor]] = {
        "open_clip": lambda: by_open_clip(encoder.model, tokenizer, texts, options.batch_size),
        "litotes": lambda: encoder.encode_texts(texts, batch_size=options.batch_size),
    }
    difference = (ways["open_clip"]() - ways["litotes"]()).abs().max().item()
    times = {name: list[float]() for name in ways}
    for _ in range(options.runs):
        for name, encode in ways.items():
            start = time.perf_counter()
            encode()
            times[name].append(time.perf_counter() - start)
    medians = {name: statistics.median(values) for name, values in times.items()}
    for name, values in times.items():
        print(f"{name:10} {medians[name]:7.2f} s  (from {min(values):.2f} to {max(values):.2f})")
    ratio = medians["open_clip"] / medians["litotes"]
    print(f"{ratio:.2f} times as fast (bar: {BAR}); largest difference {difference:.1e}")
    if difference > 1e-5 or ratio < BAR:
        raise SystemExit("failed")


def shared_captions() -> Path:
    """Flickr8k's captions in the development data."""
    default = Path(__file__).resolve().parents[2] / "shared"
    root = Path(os.environ.get("LITOTES_SHARED", default))
    return root / "data" / "flickr8k" / "captions.csv"


@torch.inference_mode()
def by_open_clip(model: Any, tokenizer: Any, texts: list[str], batch_size: int) -> Tensor:
    """As ``open_clip``'s documentation shows."""
    batches = [texts[i : i + batch_size] for i in range(0, len(texts), batch_size)]
    return torch.cat([normalize(model.encode_text(tokenizer(b)), dim=-1) for b in batches])


def read_captions(path: Path) -> list[str]:
    """A caption a line, or a CSV file's column; made of a template where there is no file."""
    if not path.is_file():
        return made_captions()
    with path.open(encoding="utf-8", newline="") as file:
        if path.suffix == ".csv":
            return [row["caption"] for row in csv.DictReader(file)]
        return file.read().splitlines()


def made_captions() -> list[str]:
    """Captions of 6 to 20 words, no two alike."""
    who = "a dog,two children in red shirts,an old man with a beard,some people,a young woman"
    does = "runs,sits on a bench next to a bicycle,is climbing a rock wall,plays,looks at the sea"
    where = "in the snow,on a beach,at a market,in front of a large crowd,near a small white house"
    when = "at night,in the rain,on a sunny day while others watch,with no one around"
    how = "happily,alone,in silence"
    parts = product(*(options.split(",") for options in (who, does, where, when, how)))
    return [" ".join(words) for words in parts]


if __name__ == "__main__":
    main()
