"""Vectors kept on disk: what was damaged is encoded again."""

import sqlite3

import numpy as np
import pytest
import torch
from PIL import Image

from litotes.backbones.vectors import cache_folder, drawn_vectors, forget, text_vectors


@pytest.fixture(autouse=True)
def own_cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LITOTES_CACHE", str(tmp_path))


@pytest.mark.parametrize("value", [0.0, np.nan, np.inf, 3.0])
def test_vectors_that_were_damaged_are_encoded_again(tiny_encoder, value):
    texts = ["a dog", "a cat"]
    whole = text_vectors(tiny_encoder, texts)
    file = next((cache_folder() / "vectors").glob("*.sqlite"))
    bad = np.full(tiny_encoder.dim, value, np.float32).tobytes()
    with sqlite3.connect(file) as store:
        store.execute("update vectors set v = ?", [bad])
    assert torch.equal(text_vectors(tiny_encoder, texts), whole)
    with sqlite3.connect(file) as store:
        assert bad not in [v for (v,) in store.execute("select v from vectors")]


def test_what_is_forgotten_are_the_vectors_of_a_side_that_changed(tiny_encoder):
    text_vectors(tiny_encoder, ["a dog"])
    forget(tiny_encoder)
    assert len(list((cache_folder() / "vectors").glob("*.sqlite"))) == 1
    tiny_encoder.text_changes = "trained"
    try:
        text_vectors(tiny_encoder, ["a dog"])
        forget(tiny_encoder)
    finally:
        tiny_encoder.text_changes = ""
    assert len(list((cache_folder() / "vectors").glob("*.sqlite"))) == 1


def test_drawn_pictures_are_found_again_by_their_pixels(tiny_encoder, monkeypatch):
    drawn = np.random.default_rng(0).integers(0, 256, (3, 32, 32, 3), dtype=np.uint8)
    pictures = [Image.fromarray(picture) for picture in drawn]
    encoded = tiny_encoder.encode_images(pictures, normalize=False)
    made = drawn_vectors(tiny_encoder, range(4), lambda row: drawn[row % 3])
    torch.testing.assert_close(made, encoded[[0, 1, 2, 0]])
    with monkeypatch.context() as without_encoder:
        without_encoder.setattr(type(tiny_encoder), "encode_images", None)
        assert torch.equal(
            drawn_vectors(tiny_encoder, range(3), drawn[::-1].__getitem__), made[[2, 1, 0]]
        )
        with pytest.raises(TypeError):
            drawn_vectors(tiny_encoder, [0], lambda _: 255 - drawn[0])
