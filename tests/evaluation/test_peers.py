"""Our figures against clip-benchmark's, on the same pictures and the same model."""

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

zeroshot_classification = pytest.importorskip("clip_benchmark.metrics.zeroshot_classification")
zeroshot_retrieval = pytest.importorskip("clip_benchmark.metrics.zeroshot_retrieval")

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
