"""How many scenes a second are drawn on one core: graph, picture and a caption."""

import argparse
import time
from random import Random

from litotes.scenes import sample
from litotes.scenes.captions import caption


def main() -> None:
    """Draw and say how fast."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--count", type=int, default=5000)
    count = parser.parse_args().count
    scenes = sample(count, 1, "train")
    # The first scenes also rasterise their sprites.
    for scene in sample(2000, 2, "train"):
        assert scene.image.shape == (96, 96, 3)
    start = time.perf_counter()
    for number, scene in enumerate(scenes):
        assert scene.image.shape == (96, 96, 3)
        caption(scene.graph, Random(number))
    print(f"{count / (time.perf_counter() - start):,.0f} scenes a second at 96×96")


if __name__ == "__main__":
    main()
