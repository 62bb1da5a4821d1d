"""A folder of photos, and a tiny encoder to index them with."""

import runpy
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

STAND_IN = Path(__file__).with_name("stand_in.py")
StandIn = runpy.run_path(str(STAND_IN))["StandIn"]


@pytest.fixture
def encoder() -> object:
    return StandIn()


@pytest.fixture
def make_encoder() -> Callable[..., object]:
    return StandIn


@pytest.fixture
def stand_in_script() -> Path:
    return STAND_IN


@pytest.fixture
def photos(tmp_path: Path) -> Path:
    """Forty pictures in three folders, three of them copies of others."""
    root = tmp_path / "photos"
    for i in range(37):
        save_noise(root / f"album{i % 3}" / f"{i:02}.png", i)
    for i in (0, 1, 20):
        copy = root / "album0" / f"copy{i}.png"
        copy.write_bytes((root / f"album{i % 3}" / f"{i:02}.png").read_bytes())
    return root


@pytest.fixture
def save() -> Callable[[Path, int], None]:
    return save_noise


def save_noise(path: Path, seed: int) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    rng = np.random.default_rng(seed)
    size = (8 + seed % 5, 8 + seed % 3, 3)
    Image.fromarray(rng.integers(0, 256, size, dtype=np.uint8)).save(path)
