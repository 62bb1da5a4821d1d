"""Shares of gradients, against what autograd says the gradient is."""

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from PIL import Image
from torch.nn.functional import cross_entropy

from litotes.data.concrete_pairs import ConcretePair
from litotes.errors import DataError
from litotes.evaluation.gradients import (
    PairVectors,
    gradient_shares,
    hard_shares,
    markdown_shares,
)
from litotes.losses.cement import CementLoss

INFONCE = CementLoss(m_min=0, m_max=0, temperature=0.1)
CEMENT = CementLoss(m_min=1, m_max=4, temperature=0.1)


def random_vectors(count, pictures=True):
    """Changed texts and pictures lie close to their own."""
    generator = torch.Generator().manual_seed(0)
    own, v, t, changed, seen = torch.randn(5, count, 8, generator=generator)
    return PairVectors(
        own + 0.5 * v,
        own + 0.5 * t,
        own + 0.7 * changed,
        1 + 4 * torch.rand(count, generator=generator),
        own + 0.7 * seen if pictures else None,
    )


@given(st.integers(2, 6), st.booleans(), st.floats(0.02, 2), st.integers(0, 1000))
def test_shares_are_those_of_the_gradient_on_logits(count, square, temperature, seed):
    shape = (2 * count if square else count, 2 * count)
    generator = torch.Generator().manual_seed(seed)
    cosines = 2 * torch.rand(shape, generator=generator, dtype=torch.float64) - 1
    logits = (cosines / temperature).requires_grad_()
    loss = cross_entropy(logits, torch.arange(len(logits)), reduction="sum")
    (grad,) = torch.autograd.grad(loss, logits)
    for i, share in enumerate(hard_shares(logits.detach())):
        hard = i + count if i < count else i - count
        # Where the positive has all but rounding, nothing is left of the gradient to compare.
        if grad[i, i] < -1e-9:
            assert share.item() == pytest.approx((grad[i, hard] / -grad[i, i]).item(), rel=1e-5)


def test_shares_are_known_where_the_gradient_is_lost_in_rounding():
    logits = torch.tensor([[500.0, 0, 0, 0], [0, 500.0, 0, 0]])
    assert torch.equal(hard_shares(logits), torch.full((2,), 1 / 3))


@pytest.mark.parametrize("pictures", [True, False])
def test_more_easy_negatives_leave_less_and_a_margin_gives_more(pictures):
    sizes = (8, 32, 128)
    objectives = {"InfoNCE": INFONCE, "Cement": CEMENT}
    shares = gradient_shares(random_vectors(256, pictures), objectives, sizes, draws=4)
    found = {(s.objective, s.rows, s.batch_size): s.hard for s in shares}
    assert len(found) == 2 * 3 * (2 if pictures else 1)
    for rows in ("images", "texts") if pictures else ("images",):
        for name in objectives:
            values = [found[name, rows, size].value for size in sizes]
            assert values == sorted(values, reverse=True)
        for size in sizes:
            infonce, cement = (found[name, rows, size] for name in objectives)
            assert 0 < infonce.low <= infonce.value <= infonce.high
            assert infonce.value < cement.value <= cement.high < 1


def test_a_batch_of_all_has_the_share_that_the_loss_has():
    vectors = random_vectors(16)
    shares = gradient_shares(vectors, {"Cement": CEMENT}, (16,), draws=2)
    logits = vectors.logits(CEMENT, torch.arange(16))
    assert [share.rows for share in shares] == ["images", "texts"]
    for share, table in zip(shares, (logits, logits.T), strict=True):
        assert share.hard.value == pytest.approx(hard_shares(table).mean().item(), rel=1e-5)


def test_batches_that_are_too_large_are_left_out_but_not_all():
    vectors = random_vectors(16)
    shares = gradient_shares(vectors, {"InfoNCE": INFONCE}, (64, 8), draws=2)
    assert {share.batch_size for share in shares} == {8}
    with pytest.raises(DataError, match="16 pictures, fewer than the smallest batch of 32"):
        gradient_shares(vectors, {"InfoNCE": INFONCE}, (64, 32))


def test_a_table_has_a_line_a_batch_size_and_a_column_an_objective():
    objectives = {"InfoNCE": INFONCE, "Cement": CEMENT}
    shares = gradient_shares(random_vectors(16), objectives, (4, 8), draws=2)
    heading, _, *lines = markdown_shares(shares).splitlines()
    assert heading == "| N | InfoNCE, images | InfoNCE, texts | Cement, images | Cement, texts |"
    assert [line.split(" | ")[0] for line in lines] == ["| 4", "| 8"]
    first = f"{100 * shares[0].hard.value:.1f} ["
    assert lines[0].split(" | ")[1].startswith(first)


def test_pairs_are_one_of_a_photograph_and_all_with_pictures_or_none(
    tiny_encoder, tmp_path, monkeypatch
):
    monkeypatch.setenv("LITOTES_CACHE", str(tmp_path / "cache"))
    for n in range(4):
        Image.new("RGB", (40, 40), (60 * n, 0, 0)).save(tmp_path / f"{n}.png")
    words = ["dog", "cat", "ball", "tree", "car", "hat"]

    def pairs(*pictures):
        return [
            ConcretePair(
                f"{n % 3}.png", f"a {word}", f"no {word}", word, "x", "object", "replace", 4.0,
                "word", picture,
            )
            for n, (word, picture) in enumerate(zip(words, pictures, strict=True))
        ]  # fmt: skip

    bare = PairVectors.of(tiny_encoder, pairs(*[""] * 6), tmp_path, tmp_path, seed=0)
    assert len(bare) == 3
    assert bare.changed_images is None
    seeds = range(10)
    chosen = {
        tuple(
            tuple(vector.tolist())
            for vector in PairVectors.of(
                tiny_encoder, pairs(*[""] * 6), tmp_path, tmp_path, seed=seed
            ).texts
        )
        for seed in seeds
    }
    assert len(chosen) > 1
    some = pairs("", "3.png", "", "", "3.png", "")
    drawn = PairVectors.of(tiny_encoder, some, tmp_path, tmp_path, seed=0)
    assert drawn.images.shape == drawn.changed_images.shape == (1, tiny_encoder.dim)
    assert torch.allclose(
        drawn.changed_images, tiny_encoder.encode_images([tmp_path / "3.png"]), atol=1e-6
    )
