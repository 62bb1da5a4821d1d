"""Pictures by pipelines of ``diffusers``: tiny random ones, saved and loaded as real ones are."""

import runpy
import sys
from pathlib import Path

import huggingface_hub.constants
import numpy as np
import pytest
import torch
from diffusers import DDPMPipeline, DDPMScheduler, UNet2DModel
from safetensors.torch import load_file, save_file
from transformers import CLIPImageProcessor

from litotes.errors import LitotesError, ModelError
from litotes.mining.planting import Dropped
from litotes.mining.renderer import UNSAFE, DiffusersRenderer

TINY = runpy.run_path(str(Path(__file__).with_name("tiny_pipeline.py")))
CAPTIONS = ["a dog runs on green grass", "two cats sleep", "a man in a red hat", "a blue ball"]
SEEDS = [11, 2**63 - 1, 13, 14]
UNSAFE_WORD = Dropped("caption has an unsafe word")
FLAGGED = Dropped("picture was flagged by the safety checker")


@pytest.fixture(scope="module")
def sdxl(tmp_path_factory):
    return TINY["save_tiny_sdxl"](tmp_path_factory.mktemp("sdxl"))


@pytest.fixture(scope="module")
def turbo(sdxl):
    return DiffusersRenderer(sdxl, size=64, safety_checker=None, device="cpu")


@pytest.fixture(scope="module")
def drawn(turbo):
    return turbo(CAPTIONS, SEEDS)


def pixels(pictures):
    return np.stack([np.asarray(picture, dtype=int) for picture in pictures])


def likeness(pictures):
    """Cosines of pictures with the checker's one concept, computed without the checker's code."""
    checker = TINY["tiny_checker"]()
    processor = CLIPImageProcessor(
        size={"shortest_edge": 32}, crop_size={"height": 32, "width": 32}
    )
    with torch.inference_mode():
        pooled = checker.vision_model(**processor(pictures, return_tensors="pt")).pooler_output
        vectors = checker.visual_projection(pooled)
        return torch.cosine_similarity(vectors, checker.concept_embeds[:1]).numpy()


def between(values):
    """A threshold with values far from it on both sides."""
    ordered = np.sort(values)
    gap = np.argmax(np.diff(ordered))
    return float(ordered[gap : gap + 2].mean())


def test_a_picture_depends_on_its_caption_and_seed_alone(turbo, drawn):
    whole = pixels(drawn)
    assert whole.shape == (4, 64, 64, 3)
    state = torch.random.get_rng_state()
    torch.manual_seed(5)
    assert (pixels(turbo(CAPTIONS, SEEDS)) == whole).all()
    torch.random.set_rng_state(state)
    # In other company, and elsewhere in the batch.
    for places in ([2], [3, 1], [1, 0, 3, 2]):
        part = pixels(turbo([CAPTIONS[i] for i in places], [SEEDS[i] for i in places]))
        assert np.abs(part - whole[places]).max() <= 1
    other_seed = pixels(turbo(CAPTIONS[:1], [12]))
    other_caption = pixels(turbo(["a cat sits on a red chair"], SEEDS[:1]))
    assert np.abs(other_seed[0] - whole[0]).mean() > 10
    assert np.abs(other_caption[0] - whole[0]).max() >= 3


def test_half_precision_draws_nearly_the_same(sdxl, drawn):
    half = DiffusersRenderer(sdxl, size=64, safety_checker=None, device="cpu", precision="fp16")
    assert half.settings["precision"] == "fp16"
    assert np.abs(pixels(half(CAPTIONS, SEEDS)) - pixels(drawn)).max() <= 8


def test_files_of_half_precision_are_taken_where_there_are_some(sdxl, tmp_path, drawn):
    from diffusers import StableDiffusionXLPipeline

    pipeline = StableDiffusionXLPipeline.from_pretrained(sdxl, dtype=torch.float16)
    pipeline.save_pretrained(tmp_path, variant="fp16")
    settings = {"size": 64, "safety_checker": None, "device": "cpu"}
    half = DiffusersRenderer(tmp_path, precision="fp16", **settings)
    assert np.abs(pixels(half(CAPTIONS, SEEDS)) - pixels(drawn)).max() <= 8
    with pytest.raises(ModelError, match="could not be loaded"):
        DiffusersRenderer(tmp_path, precision="fp32", **settings)


def test_unsafe_captions_are_not_drawn(turbo, drawn):
    captions = [CAPTIONS[0], "A naked toddler sits in a tub", CAPTIONS[2], "Two NUDES."]
    first, second, third, fourth = turbo(captions, SEEDS)
    assert second == fourth == UNSAFE_WORD
    assert np.abs(pixels([first, third]) - pixels(drawn)[[0, 2]]).max() <= 1
    assert turbo(["a topless man"], [1]) == [UNSAFE_WORD]
    assert not UNSAFE.search(
        "Minute chicken breasts; a striped Essex sextant, the Scunthorpe nudge"
    )


def test_the_verdict_of_a_checker_beside_the_pipeline_is_respected(sdxl, drawn, tmp_path):
    cosines = likeness(drawn)
    threshold = between(cosines)
    TINY["save_tiny_checker"](tmp_path, threshold)
    renderer = DiffusersRenderer(sdxl, size=64, safety_checker=tmp_path, device="cpu")
    assert renderer.settings["safety_checker"] == str(tmp_path)
    found = renderer(CAPTIONS, SEEDS)
    assert [picture == FLAGGED for picture in found] == (cosines > threshold).tolist()
    kept = [i for i in range(4) if found[i] != FLAGGED]
    assert 0 < len(kept) < 4
    assert (pixels([found[i] for i in kept]) == pixels(drawn)[kept]).all()


def test_the_verdict_of_the_pipelines_own_checker_is_respected(tmp_path):
    settings = {"size": 64, "steps": 2, "guidance": 2.0, "device": "cpu"}
    safe = TINY["save_tiny_sd"](tmp_path / "safe", TINY["tiny_checker"]())
    # Another checker is not asked for.
    renderer = DiffusersRenderer(safe, safety_checker=tmp_path / "none", **settings)
    assert renderer.settings["safety_checker"] == "the pipeline's own"
    drawn = renderer(CAPTIONS, SEEDS)
    threshold = between(likeness(drawn))
    strict = TINY["save_tiny_sd"](tmp_path / "strict", TINY["tiny_checker"](threshold))
    found = DiffusersRenderer(strict, safety_checker=None, **settings)(CAPTIONS, SEEDS)
    flags = [picture == FLAGGED for picture in found]
    assert flags == (likeness(drawn) > threshold).tolist()
    assert 0 < sum(flags) < 4
    # As of pipelines that judge, and do not say how.
    renderer._pipeline.safety_checker = None
    with pytest.raises(ModelError, match="does not say what it flags"):
        renderer(CAPTIONS, SEEDS)


def test_pictures_of_numbers_that_overflowed_are_left_out(sdxl, tmp_path):
    from diffusers import StableDiffusionXLPipeline

    StableDiffusionXLPipeline.from_pretrained(sdxl).save_pretrained(tmp_path)
    weights = tmp_path / "vae" / "diffusion_pytorch_model.safetensors"
    broken = load_file(weights)
    broken["decoder.conv_out.bias"].fill_(float("nan"))
    save_file(broken, weights, metadata={"format": "pt"})
    renderer = DiffusersRenderer(tmp_path, size=64, safety_checker=None, device="cpu")
    with pytest.warns(RuntimeWarning, match="invalid value"):
        assert renderer(CAPTIONS[:2], SEEDS[:2]) == [Dropped("picture is blank")] * 2


def test_what_cannot_be_loaded_is_named(sdxl, tmp_path, monkeypatch):
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)
    with pytest.raises(ModelError, match=r"no/such could not be .* Hugging Face hub"):
        DiffusersRenderer("no/such")
    with pytest.raises(ModelError, match=r"could not be loaded .* model_index\.json"):
        DiffusersRenderer(tmp_path)
    with pytest.raises(ModelError, match="safety checker no/such could not be"):
        DiffusersRenderer(sdxl, safety_checker="no/such")
    # The default is to judge.
    with pytest.raises(ModelError, match="safety checker CompVis"):
        DiffusersRenderer(sdxl)
    unet = UNet2DModel(
        8, 3, 3, block_out_channels=(8,), norm_num_groups=4, layers_per_block=1,
        down_block_types=("DownBlock2D",), up_block_types=("UpBlock2D",),
    )  # fmt: skip
    DDPMPipeline(unet, DDPMScheduler()).save_pretrained(tmp_path / "faces")
    with pytest.raises(ModelError, match="faces could not be loaded"):
        DiffusersRenderer(tmp_path / "faces")


def test_settings_that_cannot_be_are_refused(sdxl):
    with pytest.raises(LitotesError, match="multiple of 8"):
        DiffusersRenderer(sdxl, size=100)
    with pytest.raises(ModelError, match="precision"):
        DiffusersRenderer(sdxl, precision="int8")
    with pytest.raises(ModelError, match="no device 'gpu'"):
        DiffusersRenderer(sdxl, device="gpu")


def test_a_missing_package_is_named(sdxl, monkeypatch):
    monkeypatch.setitem(sys.modules, "diffusers.utils", None)
    with pytest.raises(LitotesError, match=r"litotes\[draw\]"):
        DiffusersRenderer(sdxl)
