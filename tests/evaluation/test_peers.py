"""Our figures against clip-benchmark's, on the same pictures and the same model."""

import json

import numpy as np
import open_clip
import pytest
import torch
from open_clip.transform import PreprocessCfg, image_transform_v2
from PIL import Image
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder

from litotes.evaluation.classification import PROMPTS, ClassificationTask
from litotes.evaluation.retrieval import RetrievalTask
from litotes.evaluation.sugarcrepe import SPLITS, SugarCrepeTask
from litotes.evaluation.winoground import WinogroundTask
from litotes.strategies import Plain

zeroshot_classification = pytest.importorskip("clip_benchmark.metrics.zeroshot_classification")
zeroshot_retrieval = pytest.importorskip("clip_benchmark.metrics.zeroshot_retrieval")
caption_selection = pytest.importorskip("clip_benchmark.metrics.image_caption_selection")

TRANSFORM = image_transform_v2(PreprocessCfg(size=32), is_train=False)
TOKENIZER = open_clip.SimpleTokenizer()
KS = (1, 5, 10)


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("LITOTES_CACHE", str(tmp_path / "cache"))


def draw(path, rng):
    path.parent.mkdir(parents=True, exist_ok=True)
    pixels = rng.integers(0, 256, (4, 4, 3), dtype=np.uint8)
    Image.fromarray(pixels).resize((48, 40)).save(path)


@pytest.mark.parametrize("templates", [PROMPTS["simple"], ("a photo of a {}.",)])
def test_zero_shot_classification(tmp_path, tiny_encoder, templates, monkeypatch):
    """Classes of unlike size, so that top-1 is not the mean per class."""
    # clip-benchmark 1.6.2 calls float() on arrays of one value, which NumPy 2.4 refuses.
    monkeypatch.setattr(
        zeroshot_classification, "float", lambda v: np.asarray(v, float).item(), raising=False
    )
    folder = tmp_path / "pictures"
    rng = np.random.default_rng(0)
    for size, label in enumerate(("ape", "bus", "cup", "dog", "egg", "fox", "gate_post"), 3):
        for i in range(size):
            draw(folder / label / f"{i}.png", rng)
    (record,) = ClassificationTask.read(folder, templates=templates).run(tiny_encoder)
    data = ImageFolder(folder, TRANSFORM)
    theirs = zeroshot_classification.evaluate(
        tiny_encoder.model,
        DataLoader(data, batch_size=8),
        TOKENIZER,
        [label.replace("_", " ") for label in data.classes],
        [template.replace("{}", "{c}") for template in templates],
        "cpu",
        amp=False,
    )
    ours = {name: metric.value for name, metric in record.metrics.items()}
    assert ours == {
        "top-1": pytest.approx(theirs["acc1"], abs=1e-6),
        "top-5": pytest.approx(theirs["acc5"], abs=1e-6),
        "mean per class": pytest.approx(theirs["mean_per_class_recall"], abs=1e-6),
    }
    assert 0 < ours["top-1"] < ours["top-5"] < 1


@pytest.mark.parametrize("captions", [[3] * 14, [1, 2, 3, 4, 5, 6, 7] * 2])
def test_zero_shot_retrieval(tmp_path, tiny_encoder, captions):
    """With as many captions a picture, as COCO and Flickr have, and with unlike numbers."""
    rng = np.random.default_rng(0)
    texts, lines = [], ["image,split,caption"]
    for i, count in enumerate(captions):
        draw(tmp_path / "images" / f"{i}.png", rng)
        texts.append([" ".join(rng.choice(list("abcdefghij"), 6)) for _ in range(count)])
        lines += [f"{i}.png,dev,{text}" for text in texts[i]]
    (tmp_path / "captions.csv").write_text("\n".join(lines))
    (record,) = RetrievalTask.read(tmp_path, "dev").run(tiny_encoder)

    pixels = [TRANSFORM(Image.open(tmp_path / "images" / f"{i}.png")) for i in range(14)]
    batches = [(torch.stack(pixels[i : i + 4]), texts[i : i + 4]) for i in range(0, 14, 4)]
    theirs = zeroshot_retrieval.evaluate(
        tiny_encoder.model, batches, TOKENIZER, "cpu", amp=False, recall_k_list=KS
    )
    ours = {name: metric.value for name, metric in record.metrics.items()}
    for k in KS:
        assert ours[f"image→text R@{k}"] == pytest.approx(theirs[f"text_retrieval_recall@{k}"])
        assert ours[f"text→image R@{k}"] == pytest.approx(theirs[f"image_retrieval_recall@{k}"])
    assert 0 < ours["text→image R@5"] < 1


def phrase(rng):
    return " ".join(rng.choice(list("abcdefghij"), 6))


def pixels(path):
    return TRANSFORM(Image.open(path))


def test_winoground(tmp_path, tiny_encoder):
    rng = np.random.default_rng(0)
    lines, images, texts = [], [], []
    for i in range(40):
        for side in "ab":
            draw(tmp_path / f"{i}{side}.png", rng)
        texts.append([phrase(rng), phrase(rng)])
        images.append(torch.stack([pixels(tmp_path / f"{i}{side}.png") for side in "ab"]))
        names = {"image_0": f"{i}a", "image_1": f"{i}b"}
        lines.append(names | dict(zip(("caption_0", "caption_1"), texts[i], strict=True)))
    file = tmp_path / "examples.jsonl"
    file.write_text("\n".join(map(json.dumps, lines)))
    record, _ = WinogroundTask.read(file, tmp_path).run(tiny_encoder, [Plain()])
    batches = [(torch.stack(images[i : i + 8]), texts[i : i + 8]) for i in range(0, 40, 8)]
    theirs = caption_selection.evaluate(tiny_encoder.model, batches, TOKENIZER, "cpu", amp=False)
    ours = {name: metric.value for name, metric in record.metrics.items()}
    assert ours == {
        "text score": pytest.approx(theirs["text_acc"], abs=1e-6),
        "image score": pytest.approx(theirs["image_acc"], abs=1e-6),
        "group score": pytest.approx(theirs["acc"], abs=1e-6),
    }
    assert 0 < ours["text score"] < 1
    assert 0 < ours["image score"] < 1


def test_sugarcrepe(tmp_path, tiny_encoder):
    rng = np.random.default_rng(0)
    for i in range(8):
        draw(tmp_path / "images" / f"{i}.png", rng)
    theirs = {}
    for size, split in enumerate(SPLITS, 5):
        pairs = [(f"{rng.integers(8)}.png", phrase(rng), phrase(rng)) for _ in range(2 * size)]
        fields = ("filename", "caption", "negative_caption")
        content = {str(i): dict(zip(fields, p, strict=True)) for i, p in enumerate(pairs)}
        (tmp_path / f"{split}.json").write_text(json.dumps(content))
        batch = torch.stack([pixels(tmp_path / "images" / name) for name, _, _ in pairs])
        theirs[split] = caption_selection.evaluate(
            tiny_encoder.model, [(batch, [p[1:] for p in pairs])], TOKENIZER, "cpu", amp=False
        )["text_acc"]
    task = SugarCrepeTask.read(tmp_path, tmp_path / "images")
    record, _ = task.run(tiny_encoder, [Plain()])
    ours = {name: metric.value for name, metric in record.metrics.items()}
    assert ours.pop("macro") == pytest.approx(np.mean(list(theirs.values())), abs=1e-6)
    assert ours == pytest.approx(theirs, abs=1e-6)
    assert 0 < min(ours.values()) < max(ours.values()) < 1
