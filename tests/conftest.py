"""Fixtures shared by all tests."""

import os
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path

import open_clip
import pytest
import torch
from hypothesis import settings
from open_clip.transform import PreprocessCfg

from litotes.backbones.encoder import DualEncoder
from litotes.backbones.openclip import from_open_clip
from tests.evaluation.misbehaving import Server, serving

# How long an example takes says more about what else a machine does.
settings.register_profile("litotes", deadline=None)
settings.load_profile("litotes")


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The development data (Flickr8k and the rest); tests that need it skip where it is absent."""
    root = Path(os.environ.get("LITOTES_SHARED", Path(__file__).parents[2] / "shared")) / "data"
    if not root.is_dir():
        pytest.skip("needs the development data, which is not part of the repository")
    return root


@pytest.fixture(scope="session")
def tiny_encoder() -> DualEncoder:
    """A random three-block CLIP: quick, and built of the modules that real ones are built of."""
    return make_tiny_encoder(seed=0)


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """A chat server on this machine that is asked again without delay."""
    pytest.importorskip("openai")
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    monkeypatch.setattr("litotes.language.llm._FIRST_WAIT", 0.01)
    with serving() as running:
        yield running


def make_tiny_encoder(seed: int) -> DualEncoder:
    """A tiny CLIP with weights drawn by ``seed``."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        model = open_clip.CLIP(
            embed_dim=32,
            vision_cfg={"layers": 2, "width": 64, "patch_size": 16, "image_size": 32},
            text_cfg={"layers": 3, "width": 64, "heads": 2},
        )
    preprocess = asdict(PreprocessCfg(size=32))
    open_clip.model.set_model_preprocess_cfg(model, preprocess)
    transform = open_clip.transform.image_transform_v2(PreprocessCfg(size=32), is_train=False)
    return from_open_clip("tiny", model, transform, open_clip.SimpleTokenizer())
