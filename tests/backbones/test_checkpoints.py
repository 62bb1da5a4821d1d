"""Weight files in the formats their authors publish: each gives the model that was saved."""

import json
import pickle
import warnings
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import open_clip
import pytest
import torch
from open_clip.model import convert_to_custom_text_state_dict
from open_clip.transform import image_transform
from PIL import Image
from safetensors.torch import save_file
from torch import Tensor
from torch.nn.functional import normalize

import litotes
from litotes.errors import LitotesWarning, ModelError

Build = Callable[..., Any]
Encode = Callable[..., Tensor]


def half(state: dict[str, Tensor]) -> dict[str, Tensor]:
    """As OpenAI's files hold most weights."""
    return {name: value.half() for name, value in state.items()}


def save_openai(model: Any, path: Path) -> None:
    marks = {"input_resolution": 32, "context_length": 77, "vocab_size": 49408}
    extra = {name: torch.tensor(value) for name, value in marks.items()}
    torch.save({**model.state_dict(), **extra}, path)


def save_torchscript(model: Any, path: Path) -> None:
    inputs = {"encode_image": torch.ones(1, 3, 32, 32), "encode_text": torch.zeros(1, 77).long()}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.trace_module(model, inputs).save(str(path))


def save_conclip(model: Any, path: Path) -> None:
    optimizer = torch.optim.AdamW(model.parameters()).state_dict()
    torch.save({"model": model.state_dict(), "optimizer": optimizer, "epoch": 3}, path)


def save_negclip(model: Any, path: Path) -> None:
    state = {f"module.{name}": value for name, value in model.state_dict().items()}
    run = "2023_01_01-model_ViT-B-32-quickgelu-lr_1e-06"
    torch.save({"epoch": 5, "name": run, "state_dict": state, "optimizer": {"state": {}}}, path)


def save_bare(model: Any, path: Path) -> None:
    torch.save(model.state_dict(), path)


def save_legacy(model: Any, path: Path) -> None:
    torch.save(model.state_dict(), path, _use_new_zipfile_serialization=False)


def save_safetensors(model: Any, path: Path) -> None:
    save_file(model.state_dict(), path)


def save_custom_text(model: Any, path: Path) -> None:
    torch.save(convert_to_custom_text_state_dict(model.state_dict()), path)


PLAIN = [save_openai, save_torchscript, save_conclip, save_negclip]
SILENT_ABOUT_ACTIVATION = [save_bare, save_legacy, save_safetensors, save_custom_text]


@pytest.mark.parametrize("save", PLAIN, ids=lambda f: f.__name__)
def test_formats_that_show_their_activation(
    save: Callable[[Any, Path], None],
    tiny_clip: Build,
    expected_texts: Encode,
    short_captions: list[str],
    pictures: list[Image.Image],
    tmp_path: Path,
) -> None:
    model = tiny_clip()
    save(model, tmp_path / "clip.pt")
    encoder = litotes.load(tmp_path / "clip.pt", device="cpu")
    vectors = encoder.encode_texts(short_captions)
    torch.testing.assert_close(vectors, expected_texts(model, short_captions), atol=1e-5, rtol=0)

    # OpenAI's preprocessing: bicubic, its mean and deviation, the tower's own size.
    transform = image_transform(32, is_train=False)
    with torch.no_grad():
        expected = model.encode_image(torch.stack([transform(p) for p in pictures]))
    vectors = encoder.encode_images(pictures)
    torch.testing.assert_close(vectors, normalize(expected, dim=-1), atol=1e-5, rtol=0)
    assert encoder.context_length == 77
    assert encoder.dim == 32


@pytest.mark.parametrize("save", SILENT_ABOUT_ACTIVATION, ids=lambda f: f.__name__)
def test_activation_is_guessed_with_a_warning(
    save: Callable[[Any, Path], None],
    tiny_clip: Build,
    expected_texts: Encode,
    short_captions: list[str],
    tmp_path: Path,
) -> None:
    save(tiny_clip(), tmp_path / "clip.pt")
    with pytest.warns(LitotesWarning, match="QuickGELU is used"):
        guessed = litotes.load(tmp_path / "clip.pt", device="cpu")
    quick = litotes.load(tmp_path / "clip.pt", device="cpu", quick_gelu=True)
    plain = litotes.load(tmp_path / "clip.pt", device="cpu", quick_gelu=False)
    for encoder, model in (
        (guessed, tiny_clip(quick_gelu=True)),
        (quick, tiny_clip(quick_gelu=True)),
        (plain, tiny_clip(quick_gelu=False)),
    ):
        vectors = encoder.encode_texts(short_captions)
        expected = expected_texts(model, short_captions)
        torch.testing.assert_close(vectors, expected, atol=1e-5, rtol=0)
    assert guessed.text_fingerprint == quick.text_fingerprint != plain.text_fingerprint
    assert guessed.image_fingerprint == quick.image_fingerprint != plain.image_fingerprint


def test_half_precision_is_read_as_float32(
    tiny_clip: Build, expected_texts: Encode, short_captions: list[str], tmp_path: Path
) -> None:
    model = tiny_clip()
    torch.save({"model": half(model.state_dict())}, tmp_path / "clip.pt")
    encoder = litotes.load(tmp_path / "clip.pt", device="cpu")
    model.load_state_dict({name: v.half().float() for name, v in model.state_dict().items()})
    vectors = encoder.encode_texts(short_captions)
    torch.testing.assert_close(vectors, expected_texts(model, short_captions), atol=1e-5, rtol=0)


def test_resnet(
    expected_texts: Encode,
    short_captions: list[str],
    pictures: list[Image.Image],
    tmp_path: Path,
) -> None:
    torch.manual_seed(0)
    model = open_clip.CLIP(
        embed_dim=32,
        vision_cfg={"layers": [2, 1, 3, 1], "width": 16, "image_size": 64},
        text_cfg={"width": 64, "heads": 1, "layers": 2},
        quick_gelu=True,
    ).eval()
    torch.save({"model": model.state_dict()}, tmp_path / "resnet.pt")
    encoder = litotes.load(tmp_path / "resnet.pt", device="cpu")
    transform = image_transform(64, is_train=False)
    with torch.no_grad():
        expected = model.encode_image(torch.stack([transform(p) for p in pictures]))
    vectors = encoder.encode_images(pictures)
    torch.testing.assert_close(vectors, normalize(expected, dim=-1), atol=1e-5, rtol=0)
    vectors = encoder.encode_texts(short_captions)
    torch.testing.assert_close(vectors, expected_texts(model, short_captions), atol=1e-5, rtol=0)


@torch.no_grad()
def long_clip_texts(model: Any, kept: Tensor, rest: Tensor, texts: list[str]) -> Tensor:
    """Long-CLIP's own forward: both tables, each through a mask of ones and zeros."""
    length = len(kept)
    first = (torch.arange(length) < 20).float()[:, None]
    ids = open_clip.SimpleTokenizer()(texts, length)
    hidden = model.token_embedding(ids) + kept * first + rest * (1 - first)
    for block in model.transformer.resblocks:
        hidden = block(hidden, attn_mask=model.attn_mask)
    hidden = model.ln_final(hidden)[torch.arange(len(ids)), ids.argmax(-1)]
    return normalize(hidden @ model.text_projection, dim=-1)


def test_long_clip(tiny_clip: Build, captions: list[str], tmp_path: Path) -> None:
    model = tiny_clip(context_length=248)
    rest = torch.randn_like(model.positional_embedding) * 0.02
    state = {**model.state_dict(), "positional_embedding_res": rest}
    torch.save(state, tmp_path / "longclip.pt")
    encoder = litotes.load(tmp_path / "longclip.pt", device="cpu")
    assert encoder.context_length == 248
    expected = long_clip_texts(model, model.positional_embedding, rest, captions)
    torch.testing.assert_close(encoder.encode_texts(captions), expected, atol=1e-5, rtol=0)


def test_named_architecture(expected_texts: Encode, tmp_path: Path) -> None:
    model = open_clip.create_model("ViT-B-32", load_weights=False, force_quick_gelu=True).eval()
    save_bare(model, tmp_path / "clip.pt")
    with pytest.warns(LitotesWarning, match="QuickGELU is used"):
        guessed = litotes.load("ViT-B/32", pretrained=tmp_path / "clip.pt", device="cpu")
    # The quickgelu name says it, so that there is nothing to warn of.
    named = litotes.load("ViT-B-32-quickgelu", pretrained=tmp_path / "clip.pt", device="cpu")
    expected = expected_texts(model, ["a dog"])
    torch.testing.assert_close(guessed.encode_texts(["a dog"]), expected, atol=1e-5, rtol=0)
    assert guessed.text_fingerprint == named.text_fingerprint
    assert guessed.image_fingerprint == named.image_fingerprint


def test_named_architecture_that_is_not_openais_keeps_its_activation(tmp_path: Path) -> None:
    model = open_clip.create_model("ViT-S-32-alt", load_weights=False)
    save_bare(model, tmp_path / "small.pt")
    encoder = litotes.load("ViT-S-32-alt", pretrained=tmp_path / "small.pt", device="cpu")
    assert "QuickGELU" not in encoder.text.identity


def test_file_that_does_not_fit_the_named_architecture(tiny_clip: Build, tmp_path: Path) -> None:
    save_conclip(tiny_clip(), tmp_path / "tiny.pt")
    with pytest.raises(
        ModelError,
        match=r"tiny.pt does not fit ViT-S-32-alt: \S+ is \(77, 64\) in the file and \(77, 256\)",
    ):
        litotes.load("ViT-S-32-alt", pretrained=tmp_path / "tiny.pt")


def test_missing_and_extra_weights_are_named(tiny_clip: Build, tmp_path: Path) -> None:
    state = tiny_clip().state_dict()
    del state["ln_final.bias"], state["visual.ln_post.weight"]
    state["decoder.weight"] = torch.zeros(3)
    torch.save({"model": state}, tmp_path / "clip.pt")
    with pytest.raises(
        ModelError,
        match=r"lacks visual.ln_post.weight, ln_final.bias; it has decoder.weight too many",
    ):
        litotes.load(tmp_path / "clip.pt")


class Evil:
    """What a malicious file would hold."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return Path.touch, (self.path,)


def test_malicious_pickles_are_refused(tiny_clip: Build, tmp_path: Path) -> None:
    evil = {"model": tiny_clip().state_dict(), "args": Evil(tmp_path / "ran")}
    torch.save(evil, tmp_path / "zip.pt")
    (tmp_path / "plain.pt").write_bytes(pickle.dumps(evil["args"]))
    torch.save({"state_dict": {}, "args": SimpleNamespace()}, tmp_path / "innocent.pt")
    for name in ("zip.pt", "plain.pt", "innocent.pt"):
        with pytest.raises(ModelError, match=rf"{name}: holds more than weights.*safetensors"):
            litotes.load(tmp_path / name)
    assert not (tmp_path / "ran").exists()


def test_code_of_a_torchscript_archive_is_not_run(tmp_path: Path) -> None:
    class Writer(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.weight = torch.nn.Parameter(torch.ones(2))

        @torch.jit.export
        def __getstate__(self) -> tuple[Tensor, bool]:
            return self.weight, self.training

        @torch.jit.export
        def __setstate__(self, state: tuple[Tensor, bool]) -> None:
            raise ValueError("this code was run")

        def forward(self, x: Tensor) -> Tensor:
            return x

    path = tmp_path / "archive.pt"
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        torch.jit.script(Writer()).save(str(path))
        with pytest.raises(Exception, match="this code was run"):
            torch.jit.load(str(path))
    with pytest.raises(ModelError, match=r"archive.pt"):
        litotes.load(path)


def truncated(model: Any, path: Path, save: Callable[[Any, Path], None]) -> None:
    save(model, path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


WRONG_FILES: dict[str, tuple[Callable[[Any, Path], None], str]] = {
    "empty": (lambda model, path: path.write_bytes(b""), "is empty"),
    "picture": (
        lambda model, path: Image.new("RGB", (9, 9)).save(path, "JPEG"),
        "neither a PyTorch",
    ),
    "text": (lambda model, path: path.write_text("ViT-B-32"), "neither a PyTorch"),
    "cut": (lambda model, path: truncated(model, path, save_bare), "damaged or cut"),
    "cut archive": (lambda model, path: truncated(model, path, save_torchscript), "damaged or cut"),
    "cut legacy": (lambda model, path: truncated(model, path, save_legacy), "damaged"),
    "cut safetensors": (lambda model, path: truncated(model, path, save_safetensors), "damaged or"),
    "noise": (
        lambda model, path: path.write_bytes(b"\x80\x02" + bytes(range(99))),
        "or is damaged",
    ),
    "list": (lambda model, path: torch.save([1, 2], path), "holds a list"),
    "no weights": (lambda model, path: torch.save({"epoch": 1}, path), "no weights, only epoch"),
    "part": (
        lambda model, path: torch.save(model.visual.state_dict(), path),
        "not a CLIP model.*lacks 'token_embedding.weight'",
    ),
    "adapter": (
        lambda model, path: save_file(
            {"base_model.model.q_proj.lora_A.weight": torch.ones(2)}, path
        ),
        "LoRA adapter.*adapter=",
    ),
    "transformers": (
        lambda model, path: save_file({"text_model.embeddings.weight": torch.ones(2)}, path),
        "transformers library.*folder",
    ),
    "vocabulary": (
        lambda model, path: torch.save(
            {**model.state_dict(), "token_embedding.weight": torch.ones(32000, 64)}, path
        ),
        "vocabulary of 32000",
    ),
}


@pytest.mark.filterwarnings("ignore::litotes.LitotesWarning")
@pytest.mark.parametrize("kind", WRONG_FILES)
def test_wrong_files(kind: str, tiny_clip: Build, tmp_path: Path) -> None:
    write, message = WRONG_FILES[kind]
    path = tmp_path / "file.pt"
    write(tiny_clip(), path)
    with pytest.raises(ModelError, match=message) as raised:
        litotes.load(path)
    assert "file.pt" in str(raised.value)


def test_open_clip_folder(
    tiny_clip: Build, expected_texts: Encode, short_captions: list[str], tmp_path: Path
) -> None:
    model = tiny_clip()
    config = {
        "embed_dim": 32,
        "quick_gelu": True,
        "vision_cfg": {"layers": 2, "width": 64, "patch_size": 16, "image_size": 32},
        "text_cfg": {"width": 64, "heads": 1, "layers": 3},
    }
    text = json.dumps({"model_cfg": config, "preprocess_cfg": {"interpolation": "bilinear"}})
    (tmp_path / "open_clip_config.json").write_text(text)
    with pytest.raises(ModelError, match="could not be loaded"):
        litotes.load(tmp_path, device="cpu")
    save_file(model.state_dict(), tmp_path / "open_clip_model.safetensors")
    expected = expected_texts(model, short_captions)
    for name in (tmp_path, f"local-dir:{tmp_path}"):
        encoder = litotes.load(name, device="cpu")
        torch.testing.assert_close(
            encoder.encode_texts(short_captions), expected, atol=1e-5, rtol=0
        )
    assert "bilinear" in encoder.image.identity
