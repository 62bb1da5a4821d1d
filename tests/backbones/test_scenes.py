"""The bundled model of drawn scenes."""

from importlib.resources import files
from random import Random

import numpy as np
import open_clip
import pytest
import torch
from PIL import Image
from torch.nn.functional import normalize

import litotes
from litotes.backbones.adapters import BUNDLED
from litotes.backbones.scenes import CONTEXT, EOS, SOS, SceneTokenizer, vocabulary
from litotes.scenes import sample
from litotes.scenes.evaluation import ScenesTask
from litotes.scenes.pairs import question
from litotes.steering import NegationDirection, bundled_direction
from litotes.strategies import Plain


@pytest.fixture(scope="module")
def encoder():
    return litotes.load("scenes")


def test_it_is_as_small_as_promised(encoder):
    assert sum(p.numel() for p in encoder.model.parameters()) <= 8e6
    file = files("litotes.backbones") / "weights" / "scenes.safetensors"
    assert len(file.read_bytes()) <= 16e6
    assert isinstance(encoder.model, open_clip.CLIP)
    assert encoder.text.depth >= 6
    assert len(encoder.model.visual.transformer.resblocks) >= 2


def test_it_encodes_as_its_open_clip_modules_do(encoder):
    scenes = sample(5, 0, "dev")
    texts = [s.captions[0].text for s in scenes] + [s.description.text for s in scenes]
    with torch.inference_mode():
        texts_there = normalize(encoder.model.encode_text(encoder.text.tokenize(texts)[0]), dim=-1)
        pixels = np.stack([s.image for s in scenes]).astype(np.float32) / 127.5 - 1
        images_there = normalize(
            encoder.model.encode_image(torch.from_numpy(pixels).permute(0, 3, 1, 2)), dim=-1
        )
    torch.testing.assert_close(encoder.encode_texts(texts), texts_there, atol=1e-5, rtol=0)
    images = encoder.encode_images([Image.fromarray(s.image) for s in scenes])
    torch.testing.assert_close(images, images_there, atol=1e-5, rtol=0)


def test_no_description_is_cut(encoder):
    texts = [s.description.text for s in sample(300, 0, "dev")]
    assert encoder.text.tokenize(texts)[1] == 0


def test_it_knows_what_it_sees(encoder):
    scenes = sample(100, 0, "dev")
    images = encoder.encode_images([Image.fromarray(s.image) for s in scenes])
    scores = encoder.encode_texts([s.captions[0].text for s in scenes]) @ images.T
    assert (scores.argmax(1) == torch.arange(100)).float().mean() > 0.6


def test_a_direction_ships_for_it(encoder):
    direction = bundled_direction(encoder)
    assert isinstance(direction, NegationDirection)
    assert direction.accuracy.min() > 0.8


def test_words_of_negation_are_whole_and_others_are_spelled(encoder):
    tokens = encoder.text.tokenizer.tokenize.vocabulary
    assert {"no", "not", "without", "nothing", "neither", "isn"} <= set(tokens)
    ids = encoder.text.tokenize(["a zebra without stripes"])[0][0]
    spelled = [tokens[i] for i in ids if i]
    assert spelled[:3] == [SOS, "a", "z"]
    assert "without" in spelled
    assert spelled[-1] == EOS


def test_rows_end_with_the_largest_id_also_where_they_are_cut():
    tokenizer = SceneTokenizer(vocabulary(["dog", "a"]), context_length=8)
    ids = tokenizer(["a dog", "dog " * 20, "", "DÖG! 🐕"])
    assert ids.shape == (4, 8)
    assert (ids == tokenizer.vocab_size - 1).sum(1).tolist() == [1] * 4
    assert ids[1, -1] == tokenizer.vocab_size - 1
    assert ids[2].tolist() == [1, tokenizer.vocab_size - 1] + [0] * 6
    assert CONTEXT >= 192


def test_its_adapter_tells_what_is_not_there(encoder):
    adapted = litotes.load("scenes", adapter="hanclip")
    assert adapted.image_fingerprint == encoder.image_fingerprint
    assert bundled_direction(adapted).accuracy.min() > 0.8
    scenes = sample(100, 1, "dev")
    images = adapted.encode_images([Image.fromarray(s.image) for s in scenes])
    asked = [question(s.graph, "negative", Random(n)) for n, s in enumerate(scenes)]

    def right(reader):
        vectors = reader.encode_texts([option.text for q in asked for option in q.options])
        scores = (vectors.view(100, 4, -1) * images[:, None]).sum(-1)
        return float((scores.argmax(1) == 0).float().mean())

    assert right(encoder) < 0.25
    assert right(adapted) > 0.75


def test_its_adapter_tells_which_is_which(encoder):
    # Two pictures and two captions of the same words; chance is one in six.
    task = ScenesTask("dev", 150, measures=("winoground",))
    adapted = litotes.load("scenes", adapter="slipform")
    before, after = (task.run(e, [Plain()])[0].metrics for e in (encoder, adapted))
    assert before["winoground group"].value < 0.1
    assert after["winoground group"].value > 0.18


def test_adapters_that_ship_are_small():
    for folder in BUNDLED.glob("*/*/"):
        assert sum(file.stat().st_size for file in folder.iterdir()) <= 2_000_000
