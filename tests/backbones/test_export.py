"""From LoRA to plain checkpoints, of every format: train, save, attach, merge, load elsewhere."""

import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import open_clip
import pytest
import torch
from open_clip.model import convert_to_custom_text_state_dict
from peft import PeftModel
from PIL import Image
from safetensors.torch import load_file, save_file
from torch import Tensor
from torch.nn.functional import normalize
from transformers import (
    AutoImageProcessor,
    AutoModel,
    AutoTokenizer,
    Siglip2Config,
    Siglip2ImageProcessor,
    Siglip2Model,
    SiglipConfig,
    SiglipImageProcessor,
    SiglipModel,
)
from typer.testing import CliRunner

import litotes
from litotes.backbones import adapters
from litotes.backbones.adapters import DIRECTION, attach_adapter, save_adapter, split_attention
from litotes.backbones.encoder import DualEncoder
from litotes.backbones.export import export
from litotes.cli import app
from litotes.cli.common import choose_model
from litotes.errors import DataError, DirectionError, ModelError
from litotes.evaluation.record import Record
from litotes.search import PhotoIndex
from litotes.steering import NegationDirection, bundled_direction
from litotes.strategies.steer import Steer
from litotes.training.lora import LoraSettings, add_lora, train_lora

Build = Callable[..., Any]
Load = Callable[[], DualEncoder]
TEXTS = ["a dog on a beach", "no dog on a beach", "two cats, not one", ""]


def train(encoder: DualEncoder, towers: Any = "text", **options: Any) -> None:
    """A step or two of training, which moves the vectors far."""
    parameters = add_lora(encoder, LoraSettings(towers=towers, **options))
    optimiser = torch.optim.AdamW(parameters, 0.05)
    train_lora(encoder)
    pictures = noise() if towers != "text" else []
    for _ in range(3):
        vectors = encoder.text.run(encoder.text.tokenize(TEXTS)[0]).flatten()
        if pictures:
            vectors = torch.cat([vectors, encoder.image.run(encoder.pixels(pictures)).flatten()])
        (vectors - 1).square().mean().backward()
        optimiser.step()
        optimiser.zero_grad()


def noise() -> list[Image.Image]:
    torch.manual_seed(0)
    return [
        Image.fromarray(torch.randint(0, 255, (40, 40, 3), dtype=torch.uint8).numpy())
        for _ in range(2)
    ]


def vectors(encoder: DualEncoder) -> Tensor:
    return torch.cat([encoder.encode_texts(TEXTS), encoder.encode_images(noise())])


def check_saved(load: Load, folder: Path, towers: Any) -> Tensor:
    """A saved adapter, attached to a fresh model, gives the vectors that training ended with."""
    encoder = load()
    text, image = encoder.text_fingerprint, encoder.image_fingerprint
    before = vectors(encoder)
    train(encoder, towers)
    save_adapter(encoder, folder, dtype=torch.float16)
    after = vectors(encoder)
    changed = (after - before).abs().amax(1) > 0.01
    assert changed.tolist() == [towers != "vision"] * 4 + [towers != "text"] * 2
    fresh = load()
    attach_adapter(fresh, folder)
    assert torch.equal(vectors(fresh), after)
    assert fresh.text_fingerprint == encoder.text_fingerprint
    assert fresh.image_fingerprint == encoder.image_fingerprint
    assert (fresh.text_fingerprint == text) == (towers == "vision")
    assert (fresh.image_fingerprint == image) == (towers == "text")
    assert fresh.label == encoder.label == f"{fresh.name} + {folder.name}"
    return after


@torch.no_grad()
def check_open_clip(model: Any, encoder: DualEncoder, expected: Tensor) -> None:
    """An open_clip model gives these vectors."""
    ids = encoder.text.tokenize(TEXTS)[0]
    pixels = torch.stack([encoder.image.preprocess(picture) for picture in noise()])
    found = [model.encode_text(ids), model.encode_image(pixels)]
    found = torch.cat([normalize(part, dim=-1) for part in found])
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)


def save_openai(state: dict[str, Tensor], path: Path) -> None:
    marks = {"input_resolution": 32, "context_length": 77, "vocab_size": 49408}
    torch.save({**state, **{name: torch.tensor(value) for name, value in marks.items()}}, path)


def save_negclip(state: dict[str, Tensor], path: Path) -> None:
    state = {f"module.{name}": value for name, value in state.items()}
    torch.save({"epoch": 5, "name": "ViT-B-32-quickgelu", "state_dict": state}, path)


FORMATS: dict[str, Callable[[dict[str, Tensor], Path], None]] = {
    "openai": save_openai,
    "conclip": lambda state, path: torch.save({"model": state, "epoch": 3}, path),
    "negclip": save_negclip,
    "safetensors": save_file,
    "custom text": lambda state, path: torch.save(convert_to_custom_text_state_dict(state), path),
}


@pytest.mark.parametrize("kind", FORMATS)
@pytest.mark.parametrize("suffix", [".pt", ".safetensors"])
def test_files(kind: str, suffix: str, tiny_clip: Build, tmp_path: Path) -> None:
    FORMATS[kind](tiny_clip().state_dict(), tmp_path / "clip.pt")
    load = partial(litotes.load, tmp_path / "clip.pt", device="cpu", quick_gelu=True)
    expected = check_saved(load, tmp_path / "lora", "both" if suffix == ".pt" else "text")
    encoder = load(adapter=tmp_path / "lora")
    written = export(encoder, tmp_path / f"merged{suffix}")
    # What create_model(…, pretrained=file) does with the file.
    model = tiny_clip(seed=1)
    open_clip.load_checkpoint(model, str(written))
    check_open_clip(model, encoder, expected)

    again = litotes.load(written, device="cpu", quick_gelu=True)
    torch.testing.assert_close(vectors(again), expected, atol=1e-5, rtol=0)
    assert again.text_fingerprint not in (encoder.text_fingerprint, load().text_fingerprint)
    assert (again.image_fingerprint == encoder.image_fingerprint) == (suffix != ".pt")
    # The encoder itself is as it was.
    assert torch.equal(vectors(encoder), expected)
    assert encoder.text_fingerprint == load(adapter=tmp_path / "lora").text_fingerprint


def test_activation_is_told_by_the_checkpoint(tiny_clip: Build, tmp_path: Path) -> None:
    save_openai(tiny_clip().state_dict(), tmp_path / "clip.pt")
    encoder = litotes.load(tmp_path / "clip.pt", device="cpu")
    written = export(encoder, tmp_path / "merged.pt")
    # Without a warning that it is guessed, which would be an error here.
    assert litotes.load(written, device="cpu").text_fingerprint == encoder.text_fingerprint


@torch.no_grad()
def long_clip_texts(model: Any, state: dict[str, Tensor], ids: Tensor) -> Tensor:
    """Long-CLIP's own forward, with both tables through masks."""
    first = (torch.arange(248) < 20).float()[:, None]
    kept, rest = state["positional_embedding"], state["positional_embedding_res"]
    hidden = state["token_embedding.weight"][ids] + kept * first + rest * (1 - first)
    for block in model.transformer.resblocks:
        hidden = block(hidden, attn_mask=model.attn_mask)
    hidden = model.ln_final(hidden)[torch.arange(len(ids)), ids.argmax(-1)]
    return normalize(hidden @ model.text_projection, dim=-1)


def test_long_clip(tiny_clip: Build, tmp_path: Path) -> None:
    model = tiny_clip(context_length=248)
    rest = torch.randn_like(model.positional_embedding)
    state = {**model.state_dict(), "positional_embedding_res": rest}
    torch.save(state, tmp_path / "longclip.pt")
    load = partial(litotes.load, tmp_path / "longclip.pt", device="cpu")
    expected = check_saved(load, tmp_path / "lora", "text")
    encoder = load(adapter=tmp_path / "lora")

    written = torch.load(export(encoder, tmp_path / "merged.pt"), weights_only=True)
    assert {name: t.shape for name, t in written.items()} == {n: t.shape for n, t in state.items()}
    theirs = tiny_clip(seed=1, context_length=248)
    theirs.load_state_dict({n: t for n, t in written.items() if n != "positional_embedding_res"})
    found = long_clip_texts(theirs, written, encoder.text.tokenize(TEXTS)[0])
    torch.testing.assert_close(found, expected[:4], atol=1e-5, rtol=0)
    again = litotes.load(tmp_path / "merged.pt", device="cpu")
    torch.testing.assert_close(vectors(again), expected, atol=1e-5, rtol=0)

    plain = export(encoder, tmp_path / "merged.safetensors")
    model = tiny_clip(seed=1, context_length=248)
    open_clip.load_checkpoint(model, str(plain))
    check_open_clip(model, encoder, expected)


def test_named_architecture(tmp_path: Path) -> None:
    name = "ViT-S-32-alt"
    load = partial(litotes.load, name, "random", device="cpu")
    expected = check_saved(load, tmp_path / "lora", "text")
    encoder = load(adapter=tmp_path / "lora")
    file = export(encoder, tmp_path / "merged")
    assert file == tmp_path / "merged.safetensors"
    model = open_clip.create_model(name, pretrained=str(file)).eval()
    check_open_clip(model, encoder, expected)
    again = litotes.load(name, file, device="cpu")
    torch.testing.assert_close(vectors(again), expected, atol=1e-5, rtol=0)
    assert again.image_fingerprint == encoder.image_fingerprint


SIZES = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 2,
}


def save_siglip(folder: Path, words: Path, two: bool) -> None:
    text = {**SIZES, "vocab_size": 100, "max_position_embeddings": 64, "projection_size": 64}
    torch.manual_seed(0)
    if two:
        config = Siglip2Config(
            text_config=text, vision_config={**SIZES, "patch_size": 16, "num_patches": 16}
        )
        Siglip2Model(config).save_pretrained(folder)
        Siglip2ImageProcessor(patch_size=16, max_num_patches=16).save_pretrained(folder)
    else:
        vision = {**SIZES, "image_size": 32, "patch_size": 16}
        SiglipModel(SiglipConfig(text_config=text, vision_config=vision)).save_pretrained(folder)
        SiglipImageProcessor(size={"height": 32, "width": 32}).save_pretrained(folder)
    AutoTokenizer.from_pretrained(words).save_pretrained(folder)


@torch.no_grad()
def transformers_vectors(model: Any, folder: Path, length: int) -> Tensor:
    tokenizer = AutoTokenizer.from_pretrained(folder)
    ids = tokenizer(TEXTS, padding="max_length", max_length=length, return_tensors="pt")
    texts = model.get_text_features(input_ids=ids.input_ids).pooler_output
    processor = AutoImageProcessor.from_pretrained(folder)
    images = model.get_image_features(**processor(images=noise(), return_tensors="pt"))
    return torch.cat([normalize(x, dim=-1) for x in (texts, images.pooler_output)])


@pytest.mark.parametrize("kind", ["clip", "siglip", "siglip2"])
@pytest.mark.parametrize("towers", ["text", "both"])
def test_transformers(
    kind: str, towers: str, save_clip: Build, words: Callable[[str], Path], tmp_path: Path
) -> None:
    base, lora = tmp_path / "base", tmp_path / "lora"
    if kind == "clip":
        save_clip(base)
    else:
        save_siglip(base, words("siglip"), kind == "siglip2")
    expected = check_saved(partial(litotes.load, base, device="cpu"), lora, towers)
    encoder = litotes.load(base, adapter=lora, device="cpu")
    length = encoder.context_length
    # PEFT itself attaches it.
    theirs = PeftModel.from_pretrained(AutoModel.from_pretrained(base), str(lora)).eval()
    found = transformers_vectors(theirs, base, length)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)

    merged = export(encoder, tmp_path / "merged")
    model = AutoModel.from_pretrained(merged).eval()
    found = transformers_vectors(model, merged, length)
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)
    again = litotes.load(merged, device="cpu")
    torch.testing.assert_close(vectors(again), expected, atol=1e-5, rtol=0)
    assert (again.image_fingerprint == encoder.image_fingerprint) == (towers == "text")


@pytest.fixture
def load(tiny_clip: Build, tmp_path: Path) -> Load:
    save_openai(tiny_clip().state_dict(), tmp_path / "clip.pt")
    return partial(litotes.load, tmp_path / "clip.pt", device="cpu")


@pytest.fixture
def lora(load: Load, tmp_path: Path) -> Path:
    """A saved text adapter of the tiny model."""
    encoder = load()
    train(encoder)
    save_adapter(encoder, tmp_path / "lora", note={"seed": 3})
    return tmp_path / "lora"


def test_peft_attaches_what_is_saved(load: Load, lora: Path, tiny_clip: Build) -> None:
    model = tiny_clip()
    split_attention(model)
    theirs = PeftModel.from_pretrained(model, str(lora)).eval().base_model.model
    encoder = load(adapter=lora)
    check_open_clip(theirs, encoder, vectors(encoder))


def test_what_an_adapter_says_of_itself(load: Load, lora: Path) -> None:
    card = json.loads((lora / "litotes.json").read_text())
    assert card == {
        "format": 1,
        "base": "clip.pt",
        "text_fingerprint": load().text_fingerprint,
        "note": {"seed": 3},
    }
    config = json.loads((lora / "adapter_config.json").read_text())
    assert config["use_rslora"]
    assert config["target_modules"].count("|") == 2
    # Nothing of this machine's folders.
    assert not any(str(lora.parent) in file.read_text(errors="ignore") for file in lora.iterdir())


def test_half_precision_halves_the_file(load: Load, lora: Path, tmp_path: Path) -> None:
    encoder = load(adapter=lora)
    save_adapter(encoder, tmp_path / "half", dtype=torch.float16)
    weights = load_file(tmp_path / "half" / "adapter_model.safetensors")
    assert {tensor.dtype for tensor in weights.values()} == {torch.float16}
    assert encoder.text_fingerprint == load(adapter=tmp_path / "half").text_fingerprint
    assert encoder.text_fingerprint != load(adapter=lora).text_fingerprint


def test_another_base_is_refused_before_it_is_changed(
    lora: Path, tiny_clip: Build, load: Load, tmp_path: Path
) -> None:
    save_openai(tiny_clip(seed=1).state_dict(), tmp_path / "other.pt")
    other = litotes.load(tmp_path / "other.pt", device="cpu")
    expected = rf"for clip\.pt \(text fingerprint {load().text_fingerprint}\).*other\.pt"
    with pytest.raises(ModelError, match=rf"{expected}.*{other.text_fingerprint}"):
        attach_adapter(other, lora)
    # What PEFT saved says nothing of its base, and is attached.
    (lora / "litotes.json").unlink()
    attach_adapter(other, lora)


def test_adapter_of_the_text_side_fits_wherever_the_text_side_is_the_same(
    lora: Path, tiny_clip: Build, tmp_path: Path
) -> None:
    model = tiny_clip()
    torch.nn.init.normal_(model.visual.proj)
    save_openai(model.state_dict(), tmp_path / "other.pt")
    attach_adapter(litotes.load(tmp_path / "other.pt", device="cpu"), lora)


DAMAGE: dict[str, tuple[str, bytes, str]] = {
    "empty card": ("litotes.json", b"", r"litotes\.json: is damaged or unknown"),
    "binary card": ("litotes.json", b"\xff\x00", r"litotes\.json: is damaged or unknown"),
    "list": ("litotes.json", b"[]", r"litotes\.json: is damaged or unknown"),
    "later format": ("litotes.json", b'{"format": 2, "base": "x"}', "damaged or unknown: format"),
    "empty config": ("adapter_config.json", b"", "is a damaged or unknown adapter"),
    "config of a list": ("adapter_config.json", b"[1]", "is a damaged or unknown adapter"),
    "binary config": ("adapter_config.json", b"\xff\x00", "is a damaged or unknown adapter"),
    "empty weights": ("adapter_model.safetensors", b"", "is a damaged or unknown adapter"),
}


@pytest.mark.parametrize("kind", DAMAGE)
def test_damaged_folders(kind: str, load: Load, lora: Path) -> None:
    name, content, message = DAMAGE[kind]
    (lora / name).write_bytes(content)
    with pytest.raises(ModelError, match=message):
        load(adapter=lora)


def test_cut_and_infinite_weights(load: Load, lora: Path) -> None:
    file = lora / "adapter_model.safetensors"
    weights = load_file(file)
    file.write_bytes(file.read_bytes()[:-10])
    with pytest.raises(ModelError, match="damaged"):
        load(adapter=lora)
    next(iter(weights.values()))[0, 0] = torch.nan
    save_file(weights, file)
    with pytest.raises(ModelError, match=r"is damaged: \S+lora_A\.weight is not finite"):
        load(adapter=lora)


def test_weights_that_diverged_are_not_saved(load: Load, tmp_path: Path) -> None:
    encoder = load()
    parameters = add_lora(encoder, LoraSettings())
    parameters[0].data.fill_(1e6)
    with pytest.raises(ModelError, match=r"lora_A.* is not finite in torch.float16"):
        save_adapter(encoder, tmp_path / "lora", dtype=torch.float16)
    assert not (tmp_path / "lora").exists()


def test_older_adapters_are_replaced_and_nothing_else(
    load: Load, lora: Path, tmp_path: Path
) -> None:
    (lora / DIRECTION).write_bytes(b"of the old one")
    encoder = load(adapter=lora)
    save_adapter(encoder, lora)
    assert not (lora / DIRECTION).exists()
    (lora / "diary.txt").touch()
    with pytest.raises(DataError, match=r"holds diary\.txt: give the name of a new folder"):
        save_adapter(encoder, lora)
    assert (lora / "adapter_model.safetensors").is_file()
    with pytest.raises(DataError, match=r"holds clip\.pt"):
        save_adapter(encoder, tmp_path / "clip.pt")
    with pytest.raises(ModelError, match="has no LoRA layers"):
        save_adapter(load(), tmp_path / "none")


def test_direction_of_the_adapted_encoder_is_found(load: Load, lora: Path) -> None:
    encoder = load(adapter=lora)
    pairs = [(f"a {w} here", f"no {w} here") for w in (*"abcdefg",) * 2]
    direction = NegationDirection.fit(encoder, pairs, seed=0)
    with pytest.raises(DirectionError, match=r"for .*clip\.pt \+ lora: .* --adapter .*lora --pai"):
        bundled_direction(encoder)
    direction.save(lora / DIRECTION)
    fresh = load(adapter=lora)
    assert bundled_direction(fresh).fingerprint == direction.fingerprint
    query = litotes.parse("a dog without a hat")
    expected = fresh.steered(direction).encode_texts([query.raw])
    assert torch.equal(Steer().vectors([query], fresh), expected)
    # It is not the base's.
    with pytest.raises(DirectionError, match="no negation direction ships"):
        bundled_direction(load())


@pytest.fixture
def shipped(lora: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    root = tmp_path / "adapters"
    (root / "hanclip").mkdir(parents=True)
    lora.rename(root / "hanclip" / "tiny")
    monkeypatch.setattr(adapters, "BUNDLED", root)
    return root


def test_adapters_that_ship_are_found_by_name(
    load: Load, shipped: Path, tiny_clip: Build, tmp_path: Path
) -> None:
    other = tmp_path / "other.pt"
    save_openai(tiny_clip(seed=1).state_dict(), other)
    encoder = litotes.load(other, device="cpu")
    train(encoder, "both")
    save_adapter(encoder, shipped / "hanclip" / "aside")
    assert torch.equal(
        vectors(litotes.load(other, adapter="hanclip", device="cpu")), vectors(encoder)
    )
    tiny = load(adapter="hanclip")
    assert tiny.label == f"{tiny.name} + hanclip"
    assert tiny.text_fingerprint == load(adapter=shipped / "hanclip" / "tiny").text_fingerprint


def test_adapters_that_do_not_ship(load: Load, shipped: Path, tiny_clip: Build) -> None:
    with pytest.raises(ModelError, match=r"no adapter 'hanclop'.*what ships is: hanclip"):
        load(adapter="hanclop")
    (shipped / "hanclip" / "tiny" / "litotes.json").write_text(
        '{"base": "mini", "text_fingerprint": "0"}'
    )
    assert choose_model(None, "mini", None, Path("hanclip")).adapter == "hanclip"
    assert choose_model(None, "mini", None, shipped).adapter == str(shipped)
    with pytest.raises(ModelError, match=r"hanclip ships for tiny, and not for .*clip\.pt"):
        load(adapter="hanclip")


def test_records_and_indexes_name_the_adapter(load: Load, lora: Path, tmp_path: Path) -> None:
    encoder = load(adapter=lora)
    record = Record.make(encoder, task="t", split="dev", data="none", outcomes={"R@1": np.ones(3)})
    assert record.model == f"{tmp_path / 'clip.pt'} + lora"
    photos = tmp_path / "photos"
    photos.mkdir()
    noise()[0].save(photos / "a.png")
    PhotoIndex.build(photos, encoder)
    assert PhotoIndex.open(photos).encoder.text_fingerprint == encoder.text_fingerprint


def test_an_adapter_cannot_be_attached_twice(load: Load, lora: Path) -> None:
    encoder = load(adapter=lora)
    with pytest.raises(ModelError, match=r"clip\.pt \+ lora is adapted or steered already"):
        attach_adapter(encoder, lora)


@pytest.mark.parametrize("name", ["mini", "scenes"])
def test_bundled_models_have_no_format_elsewhere(name: str, tmp_path: Path) -> None:
    with pytest.raises(ModelError, match=rf'keep the adapter, and load it with load\("{name}"'):
        export(litotes.load(name, device="cpu"), tmp_path / "out")


def test_exports_that_cannot_be(load: Load, lora: Path, tmp_path: Path) -> None:
    encoder = load(adapter=lora)
    with pytest.raises(ModelError, match=r"must end in \.safetensors or \.pt"):
        export(encoder, tmp_path / "out.onnx")
    with pytest.raises(DataError, match=r"clip\.pt exists: give the name of a new file"):
        export(encoder, tmp_path / "clip.pt")
    with pytest.raises(ModelError, match="load it with dtype='fp32'"):
        export(load(adapter=lora, dtype="bf16"), tmp_path / "out.pt")
    direction = NegationDirection(
        torch.eye(3, 64), torch.zeros(3), torch.ones(3), encoder.text_fingerprint
    )
    with pytest.raises(ModelError, match="steered encoder cannot be exported"):
        export(encoder.steered(direction), tmp_path / "out.pt")


def test_command(lora: Path, load: Load, tmp_path: Path) -> None:
    out = tmp_path / "merged.pt"
    arguments = ["export", out, "--model", tmp_path / "clip.pt", "--adapter", lora]
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exit_code == 0, result.output
    assert result.stdout == f"wrote {out}\n"
    expected = vectors(load(adapter=lora))
    found = vectors(litotes.load(out, device="cpu"))
    torch.testing.assert_close(found, expected, atol=1e-5, rtol=0)
