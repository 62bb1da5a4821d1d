"""Names: which are understood, and what is said of those that are not."""

import subprocess
import sys
from pathlib import Path

import huggingface_hub.constants
import pytest
import torch

import litotes
from litotes.errors import ModelError


@pytest.fixture
def _offline(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(huggingface_hub.constants, "HF_HUB_OFFLINE", True)


def test_import_does_not_import_torch() -> None:
    code = "import sys, litotes; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
    with pytest.raises(AttributeError, match="has no attribute 'lode'"):
        _ = litotes.lode


def test_random_weights_are_always_the_same() -> None:
    state = torch.get_rng_state()
    first = litotes.load("ViT-S-32-alt", "random", device="cpu")
    assert torch.equal(torch.get_rng_state(), state)
    torch.manual_seed(5)
    second = litotes.load("ViT-S-32-alt", "random", device="cpu", dtype="bf16")
    assert first.text_fingerprint == second.text_fingerprint
    assert second.dtype == torch.bfloat16
    assert first.name == "ViT-S-32-alt:random"
    quick = litotes.load("ViT-S-32-alt", "random", device="cpu", quick_gelu=True)
    assert quick.text_fingerprint != first.text_fingerprint


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("ViT-B-23",), "no model, folder or file 'ViT-B-23'; did you mean .*'ViT-B-32'"),
        (("vit-b/32",), "vit-b/32 could not be(?s:.*)did you mean 'ViT-B-32'"),
        (("minni",), "did you mean 'mini'"),
        (("zzzzzz",), "no model, folder or file 'zzzzzz'$"),
        (("weights/clip.pt",), "no model, folder or file 'weights/clip.pt'"),
        (("ViT-B-32",), "say with which weights, as pretrained=…: .*'openai'"),
        (("ViT-B-32", "opnai"), "no weights 'opnai'.*tags are .*did you mean 'openai'"),
        (("ViT-B-32", "no/such.pt"), "no weights 'no/such.pt', and there is no such file"),
        (("mini", "openai"), "'mini' is not an open_clip architecture"),
        (("local-dir:no-such-folder",), "local-dir:no-such-folder could not be loaded"),
    ],
    ids=str,
)
@pytest.mark.usefixtures("_offline")
def test_wrong_names(arguments: tuple[str, ...], message: str) -> None:
    with pytest.raises(ModelError, match=message):
        litotes.load(*arguments)


@pytest.mark.usefixtures("_offline")
@pytest.mark.parametrize(
    "arguments",
    [
        ("litotes-tests/no-such-model",),
        ("hf-hub:litotes-tests/no-such-model",),
        ("ViT-B-32", "laion2b_s34b_b79k"),
        ("xlm-roberta-base-ViT-B-32", "random"),
    ],
    ids=str,
)
def test_failed_downloads_are_named(arguments: tuple[str, ...], tmp_path: Path) -> None:
    with pytest.raises(ModelError, match="could not be loaded or fetched") as raised:
        litotes.load(*arguments, cache_dir=tmp_path)
    assert arguments[0] in str(raised.value)


def test_folders_that_are_no_models(tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=r"neither open_clip_config.json.*nor config.json"):
        litotes.load(tmp_path)


def test_wrong_device_and_dtype() -> None:
    with pytest.raises(ModelError, match="no device 'gpu'"):
        litotes.load("ViT-S-32-alt", "random", device="gpu")
    with pytest.raises(ModelError, match="one of 'fp32', 'bf16', 'fp16', not 'int8'"):
        litotes.load("ViT-S-32-alt", "random", dtype="int8")
