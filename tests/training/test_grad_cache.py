"""Gradient caching: the gradients of encoding all at once, in the memory of a part."""

import subprocess
import sys
from pathlib import Path

import pytest
import torch
from tests.conftest import make_tiny_encoder
from tests.training.test_fit import LORA, SETTINGS, Quadruplets, adapted, metrics, trained_weights
from torch import nn
from torch.profiler import ProfilerActivity, profile

from litotes.errors import ModelError
from litotes.losses.cement import CementLoss
from litotes.training.adapt import thaw
from litotes.training.fit import Batch, fit
from litotes.training.grad_cache import encode_cached, pixel_batches
from litotes.training.lora import add_lora, train_lora

BOTH = LORA.model_copy(update={"towers": "both"})
CEMENT = CementLoss(m_min=0.5, m_max=2.0, temperature=0.1)
TEXTS = [f"{'a small ' * (n % 5)}dog number {n}" for n in range(48)]


class Concrete(Quadruplets):
    """Pictures of noise with captions, and others with changed captions."""

    def batch(self, step):
        texts = [f"a dog, {step} {n}" for n in range(2 * self.size)]
        concreteness = torch.linspace(3, 5, self.size)

        def loss(images, texts):
            (v, seen), (t, changed) = images.chunk(2), texts.chunk(2)
            return CEMENT(v, t, changed, concreteness, seen)

        return Batch(range(2 * self.size), texts, loss)


def encoder_in_training():
    encoder = make_tiny_encoder(seed=0)
    add_lora(encoder, BOTH, seed=0)
    # LoRA's second matrices are zero at first, and then its first ones get no gradient.
    for name, parameter in encoder.model.named_parameters():
        if ".lora_B." in name:
            nn.init.normal_(parameter, std=0.1, generator=torch.Generator().manual_seed(1))
    train_lora(encoder)
    return encoder


def gradients(encoder, encode, size):
    """Of Cement loss of pictures and texts that are encoded ``size`` at a time."""
    encoder.model.zero_grad()
    ids, _ = encoder.text.tokenize(TEXTS)
    pixels = encoder.pixels(Quadruplets().pictures(range(48)))
    torch.manual_seed(0)
    images = encode(encoder.image.run, pixel_batches(pixels, size))
    texts = encode(encoder.text.run, encoder.text.batches(ids, size))
    (v, seen), (t, changed) = images.chunk(2), texts.chunk(2)
    CEMENT(v, t, changed, torch.linspace(3, 5, 24), seen).total.backward()
    return {n: p.grad for n, p in encoder.model.named_parameters() if p.grad is not None}


def encode_plain(encode, batches):
    """All parts, with all that backward needs."""
    rows, parts = zip(*((rows, encode(part)) for rows, part in batches), strict=True)
    return torch.cat(parts)[torch.cat(rows).argsort()]


def test_gradients_are_those_of_encoding_without_a_cache_dropout_and_all():
    encoder = encoder_in_training()
    plain = gradients(encoder, encode_plain, 7)
    cached = gradients(encoder, encode_cached, 7)
    assert plain.keys() == cached.keys()
    assert {name for name, grad in plain.items() if grad.any()} == plain.keys()
    for name, grad in plain.items():
        torch.testing.assert_close(cached[name], grad, atol=1e-7, rtol=1e-5)
    torch.manual_seed(1)
    other = gradients(encoder, encode_plain, 5)
    assert any(not torch.allclose(other[name], grad, rtol=1e-2) for name, grad in plain.items())


def test_pixels_in_a_dict_are_parted_alike():
    pixels = {"patches": torch.arange(10).reshape(5, 2), "shape": torch.arange(5)}
    rows, parts = zip(*pixel_batches(pixels, 2), strict=True)
    assert [r.tolist() for r in rows] == [[0, 1], [2, 3], [4]]
    for name, values in pixels.items():
        assert torch.equal(torch.cat([part[name] for part in parts]), values)


def peak_bytes(work):
    """The most bytes that tensors take at a time, beyond what they take before."""
    with profile(activities=[ProfilerActivity.CPU], profile_memory=True) as profiled:
        work()
    events = profiled.profiler.kineto_results.events()
    allocated = [e for e in events if e.name() == "[memory]"]
    held = peak = 0
    for event in sorted(allocated, key=lambda e: e.start_ns()):
        held += event.nbytes()
        peak = max(peak, held)
    return peak


def test_memory_is_that_of_a_part():
    encoder = encoder_in_training()
    gradients(encoder, encode_plain, 4)
    whole = peak_bytes(lambda: gradients(encoder, encode_plain, 4))
    parts = peak_bytes(lambda: gradients(encoder, encode_cached, 4))
    assert parts < whole / 3


def test_a_run_with_parts_as_large_as_its_batches_is_the_run_without(tmp_path):
    settings = SETTINGS.model_copy(update={"preserve": 1.0})
    parted = settings.model_copy(update={"chunk": 64})
    plain = adapted(settings, BOTH, run=tmp_path / "plain")
    cached = adapted(parted, BOTH, run=tmp_path / "cached")
    for name, weight in trained_weights(plain).items():
        torch.testing.assert_close(trained_weights(cached)[name], weight, atol=1e-6, rtol=1e-5)
    assert metrics(tmp_path / "plain") == [
        pytest.approx(line, rel=1e-5) for line in metrics(tmp_path / "cached")
    ]


def test_a_tower_that_normalises_over_the_batch_is_refused(tmp_path):
    encoder = make_tiny_encoder(seed=0)
    encoder.model.visual.extra = nn.BatchNorm2d(3)
    thaw(encoder, "both")
    settings = SETTINGS.model_copy(update={"chunk": 2})
    with pytest.raises(ModelError, match=r"visual\.extra normalises over the batch"):
        fit(encoder, Quadruplets(), settings, tmp_path, progress=False)


SHARED = """
import sys
from pathlib import Path
import torch
from tests.training import test_fit, test_grad_cache
lora = test_grad_cache.BOTH.model_copy(update={"dropout": 0.0})
changes = {"steps": 3, "accumulation": 2, "chunk": int(sys.argv[2])}
settings = test_fit.SETTINGS.model_copy(update=changes)
# Ten do not divide by four.
examples = test_grad_cache.Concrete(5)
encoder = test_fit.adapted(settings, lora, examples, Path(sys.argv[1]))
if not torch.distributed.is_initialized() or torch.distributed.get_rank() == 0:
    torch.save(test_fit.trained_weights(encoder), Path(sys.argv[1]) / "weights.pt")
"""


def test_two_processes_in_parts_train_with_cement_loss_as_one_does_without(tmp_path):
    root = Path(__file__).parents[2]
    script = tmp_path / "shared.py"
    script.write_text(f"import sys; sys.path.insert(0, {str(root)!r})\n{SHARED}")
    launch = ["-m", "torch.distributed.run", "--standalone", "--nproc-per-node=2"]
    for name, start, size in (("one", [], 0), ("two", launch, 2)):
        (tmp_path / name).mkdir()
        command = [sys.executable, *start, str(script), str(tmp_path / name), str(size)]
        done = subprocess.run(command, cwd=root, check=False, capture_output=True)
        assert done.returncode == 0, done.stderr.decode()
    one, two = (torch.load(tmp_path / name / "weights.pt") for name in ("one", "two"))
    for name, weight in one.items():
        torch.testing.assert_close(two[name], weight, atol=1e-5, rtol=1e-4)
    for alone, shared in zip(metrics(tmp_path / "one"), metrics(tmp_path / "two"), strict=True):
        assert shared == pytest.approx(alone, rel=1e-4, abs=1e-6)
