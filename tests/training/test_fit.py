"""The loop that adapts an encoder: resuming, sharing a batch, keeping what is true in place."""

import json
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from PIL import Image
from tests.conftest import make_tiny_encoder
from torch.nn.functional import normalize

from litotes.errors import DataError
from litotes.losses.hanclip import HanclipLoss, LossParts, NegationContrast
from litotes.training.adapt import thaw
from litotes.training.fit import ANYTHING, Anchor, Batch, fit
from litotes.training.hanclip import Captions, quadruplet_batch
from litotes.training.lora import LoraSettings, add_lora
from litotes.training.recipe import FitSettings

SETTINGS = FitSettings(steps=6, lr=1e-2, warmup_steps=2, checkpoint_every=2, measure_every=2)
LORA = LoraSettings(rank=2, dropout=0.25)
LOSS = HanclipLoss(contrast=NegationContrast(temperature=0.1))
WORDS = ["dog", "cat", "ball", "tree", "beach", "car", "hat", "boat"]


class Quadruplets:
    """Four pictures of noise a step, with captions that tell them apart."""

    fingerprint = "test"

    def __init__(self, size=4):
        self.size = size

    def batch(self, step):
        rows = [(step * self.size + i) % len(WORDS) for i in range(self.size)]
        captions = [
            Captions(f"a {WORDS[r]}", f"no doubt, a {WORDS[r]}", f"no {WORDS[r]}") for r in rows
        ]
        return quadruplet_batch(rows, captions, LOSS)

    def pictures(self, numbers):
        return [
            Image.fromarray(np.random.default_rng(n).integers(0, 255, (32, 32, 3), dtype=np.uint8))
            for n in numbers
        ]

    def vectors(self, encoder):
        return encoder.encode_images(self.pictures(range(len(WORDS))), normalize=False)

    def negation_pairs(self, count):
        return [(f"a {word}", f"no {word}") for word in WORDS]


def adapted(settings=SETTINGS, lora=LORA, examples=None, run=None, **options):
    encoder = make_tiny_encoder(seed=0)
    add_lora(encoder, lora, seed=0)
    fit(encoder, examples or Quadruplets(), settings, run, progress=False, **options)
    return encoder


def trained_weights(encoder):
    return {n: p for n, p in encoder.model.state_dict().items() if ".lora_" in n}


def metrics(run):
    lines = (run / "metrics.jsonl").read_text().splitlines()
    return [{k: v for k, v in json.loads(line).items() if k != "seconds"} for line in lines]


# Kills itself without warning in the fifth step.
KILLED = """
import os, signal, sys
from pathlib import Path
from tests.training import test_fit
class Killing(test_fit.Quadruplets):
    def batch(self, step):
        if step == 4:
            os.kill(os.getpid(), signal.SIGKILL)
        return super().batch(step)
test_fit.adapted(examples=Killing(), run=Path(sys.argv[1]))
"""


def test_a_run_that_is_killed_goes_on_to_the_same_weights_and_losses(tmp_path):
    whole = adapted(run=tmp_path / "whole")
    root = Path(__file__).parents[2]
    command = [sys.executable, "-c", KILLED, str(tmp_path / "cut")]
    killed = subprocess.run(command, cwd=root, check=False, capture_output=True)
    assert killed.returncode == -signal.SIGKILL, killed.stderr.decode()
    resumed = adapted(run=tmp_path / "cut")
    for name, weight in trained_weights(whole).items():
        assert torch.equal(weight, trained_weights(resumed)[name]), name
    assert metrics(tmp_path / "whole") == metrics(tmp_path / "cut")


def test_training_lowers_the_loss_and_leaves_all_else_as_it_was(tmp_path):
    before = make_tiny_encoder(seed=0)
    settings = SETTINGS.model_copy(update={"steps": 30})
    encoder = adapted(settings, LORA.model_copy(update={"dropout": 0.0}), run=tmp_path)
    losses = [line["loss"] for line in metrics(tmp_path)]
    assert losses[-1] < 0.9 * losses[0]
    weights = dict(before.model.state_dict())
    for name, weight in encoder.model.visual.state_dict().items():
        assert torch.equal(weight, weights[f"visual.{name}"])
    pictures = Quadruplets().pictures(range(3))
    assert torch.equal(before.encode_images(pictures), encoder.encode_images(pictures))
    assert not any(p.requires_grad for p in encoder.model.parameters())
    assert not encoder.model.training


def test_accumulated_batches_give_the_mean_of_their_gradients(tmp_path):
    """Two batches of the same captions are as one."""

    class Repeated(Quadruplets):
        def batch(self, step):
            return super().batch(step // 2)

    plain = LORA.model_copy(update={"dropout": 0.0})
    once = adapted(lora=plain, run=tmp_path / "once")
    settings = SETTINGS.model_copy(update={"accumulation": 2})
    twice = adapted(settings, plain, Repeated(), run=tmp_path / "twice")
    for name, weight in trained_weights(once).items():
        torch.testing.assert_close(weight, trained_weights(twice)[name], atol=1e-5, rtol=1e-4)


def test_preservation_keeps_true_captions_where_they_were(tmp_path):
    texts = [anchor.text for anchor in Quadruplets().batch(0).anchors]
    before = make_tiny_encoder(seed=0).encode_texts(texts)

    def moved(preserve):
        settings = SETTINGS.model_copy(update={"steps": 20, "preserve": preserve})
        encoder = adapted(settings, run=tmp_path / str(preserve))
        return float((1 - (encoder.encode_texts(texts) * before).sum(1)).mean())

    assert moved(100.0) < 0.5 * moved(0.0)


class Placed(Quadruplets):
    """Nothing but texts of which it is known where they should be."""

    def batch(self, step):
        anchors = [Anchor(f"no {word}", ANYTHING, f"a {word}", 0.5) for word in WORDS]
        anchors.append(Anchor("a dog without a cat", "a dog", "a cat", 0.5))
        return Batch([0], ["a dog"], lambda images, texts: LossParts(0 * texts.sum(), {}), anchors)


def test_texts_that_exclude_are_drawn_to_where_reading_them_leads(tmp_path):
    before = make_tiny_encoder(seed=0)
    pictures = before.encode_images(Quadruplets().pictures(range(len(WORDS))))
    mean = normalize(pictures.mean(0), dim=-1)
    affirmed = before.encode_texts([f"a {word}" for word in WORDS])
    targets = normalize(
        torch.cat([mean - affirmed / 2, (affirmed[:1] - affirmed[1:2] / 2)]), dim=-1
    )
    texts = [anchor.text for anchor in Placed().batch(0).anchors]

    def closeness(encoder):
        return (encoder.encode_texts(texts) @ targets.T).softmax(1)

    settings = SETTINGS.model_copy(update={"steps": 60, "pull": 1.0, "pull_contrast": 1.0})
    encoder = adapted(settings, examples=Placed(), run=tmp_path / "pulled")
    cosines = (encoder.encode_texts(texts) * targets).sum(1)
    assert cosines.mean() > (before.encode_texts(texts) * targets).sum(1).mean() + 0.2
    assert closeness(encoder).diag().mean() > closeness(before).diag().mean()


def test_the_best_weights_are_kept_and_patience_ends_the_run(tmp_path):
    scores = iter([0.1, 0.5, 0.4, 0.3, 0.2])
    seen = {}

    def measure(encoder):
        score = next(scores)
        seen[score] = {n: w.clone() for n, w in trained_weights(encoder).items()}
        return score

    settings = SETTINGS.model_copy(update={"steps": 20, "patience": 2})
    encoder = adapted(settings, run=tmp_path, measure=measure)
    assert list(seen) == [0.1, 0.5, 0.4, 0.3]
    for name, weight in trained_weights(encoder).items():
        assert torch.equal(weight, seen[0.5][name])


def test_an_image_tower_that_learns_sees_its_pictures_anew(tmp_path):
    lora = LORA.model_copy(update={"towers": "both", "dropout": 0.0})
    settings = SETTINGS.model_copy(update={"steps": 20})
    encoder = adapted(settings, lora, run=tmp_path)
    pictures = Quadruplets().pictures(range(3))
    before = make_tiny_encoder(seed=0).encode_images(pictures)
    assert not torch.allclose(before, encoder.encode_images(pictures), atol=1e-3)
    losses = [line["loss"] for line in metrics(tmp_path)]
    assert losses[-1] < losses[0]


def test_all_weights_of_a_tower_can_be_trained(tmp_path):
    encoder = make_tiny_encoder(seed=0)
    thaw(encoder, "text")
    settings = SETTINGS.model_copy(update={"lr": 1e-3, "preserve": 1.0})
    fit(encoder, Quadruplets(), settings, tmp_path, progress=False)
    before = make_tiny_encoder(seed=0).model.state_dict()
    after = encoder.model.state_dict()
    changed = {name for name in before if not torch.equal(before[name], after[name])}
    assert changed
    assert all(name.startswith(encoder.text.prefixes) for name in changed)


def test_a_loss_that_is_not_finite_ends_the_run_and_says_in_which_step(tmp_path):
    class Broken(Quadruplets):
        def batch(self, step):
            good = super().batch(step)
            if step < 2:
                return good

            def lost(images, texts):
                return LossParts(texts.sum() * float("nan"), {})

            return Batch(good.pictures, good.texts, lost)

    with pytest.raises(DataError, match="step 3: the loss is not finite"):
        adapted(examples=Broken(), run=tmp_path)


def test_an_encoder_of_which_nothing_is_to_be_trained_is_refused(tmp_path):
    with pytest.raises(ValueError, match="gradients"):
        fit(make_tiny_encoder(seed=0), Quadruplets(), SETTINGS, tmp_path)


SHARED = """
import sys
from pathlib import Path
import torch
from tests.training import test_fit
lora = test_fit.LORA.model_copy(update={"dropout": 0.0, "towers": sys.argv[2]})
settings = test_fit.SETTINGS.model_copy(update={"preserve": 1.0})
# Five do not divide by two.
encoder = test_fit.adapted(settings, lora, test_fit.Quadruplets(5), Path(sys.argv[1]))
if not torch.distributed.is_initialized() or torch.distributed.get_rank() == 0:
    torch.save(test_fit.trained_weights(encoder), Path(sys.argv[1]) / "weights.pt")
"""


@pytest.mark.parametrize("towers", ["text", "both"])
def test_two_processes_train_to_the_weights_and_losses_of_one(tmp_path, towers):
    root = Path(__file__).parents[2]
    script = tmp_path / "shared.py"
    script.write_text(f"import sys; sys.path.insert(0, {str(root)!r})\n{SHARED}")
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    for name, start in (("one", []), ("two", launch)):
        (tmp_path / name).mkdir()
        command = [sys.executable, *start, str(script), str(tmp_path / name), towers]
        done = subprocess.run(command, cwd=root, check=False, capture_output=True)
        assert done.returncode == 0, done.stderr.decode()
    one, two = (torch.load(tmp_path / name / "weights.pt") for name in ("one", "two"))
    for name, weight in one.items():
        torch.testing.assert_close(two[name], weight, atol=1e-5, rtol=1e-4)
    for alone, shared in zip(metrics(tmp_path / "one"), metrics(tmp_path / "two"), strict=True):
        assert shared == pytest.approx(alone, rel=1e-4, abs=1e-6)
