"""The reference pictures' vectors that ship with the package, drawn by lot from train splits.

python benchmarks/references.py --data DATA
"""

import argparse
from pathlib import Path
from random import Random

import torch
from safetensors.torch import save_file
from torch import Tensor

import litotes
from litotes import scenes
from litotes.backbones.encoder import DualEncoder
from litotes.backbones.vectors import drawn_vectors, image_vectors
from litotes.data.captions import read_captions
from litotes.scenes.drawing import draw
from litotes.strategies import reference

FOLDER = Path(reference.__file__).with_name("references")


def main() -> None:
    """Encode and write them."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--data", type=Path, required=True, help="folder that holds flickr8k")
    flickr = parser.parse_args().data / "flickr8k"
    mini = litotes.load("mini")
    names = Random(0).sample(sorted(read_captions(flickr, "train")), reference.ENOUGH)
    write(mini, image_vectors(mini, [flickr / "images" / name for name in names]))
    small = litotes.load("scenes")
    graphs = [scene.graph for scene in scenes.sample(reference.ENOUGH, seed=0, split="train")]
    write(small, drawn_vectors(small, graphs, draw))


def write(encoder: DualEncoder, vectors: Tensor) -> None:
    """One model's file."""
    unit = torch.nn.functional.normalize(vectors.float(), dim=-1)
    FOLDER.mkdir(exist_ok=True)
    file = FOLDER / f"{encoder.name}.safetensors"
    metadata = {"image_fingerprint": encoder.image_fingerprint}
    save_file({"vectors": unit.half().contiguous()}, file, metadata)
    print(f"wrote {len(unit)} vectors to {file.name}")


if __name__ == "__main__":
    main()
