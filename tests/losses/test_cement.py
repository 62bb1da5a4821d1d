"""Cement loss against open_clip's loss, NegCLIP's formula, and loops over the paper's."""

import math

import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from open_clip import ClipLoss
from torch.autograd import gradcheck
from torch.nn.functional import log_softmax, normalize

from litotes.losses.cement import CementLoss, fermi_dirac_margin

scores = st.floats(1, 5)
logits = st.floats(-10, 10)


@pytest.fixture
def batch():
    """``v``, ``t``, ``t'`` and ``v'`` of five samples, of all lengths, and their concreteness."""
    generator = torch.Generator().manual_seed(0)
    vectors = 3 * torch.randn(4, 5, 6, generator=generator, dtype=torch.float64)
    return [*vectors], torch.tensor([1.0, 3.8, 4.0, 4.1, 5.0], dtype=torch.float64)


def inputs(batch, pictures):
    (v, t, changed, seen), concreteness = batch
    return [v, t, changed, concreteness, *([seen] if pictures else [])]


def naive(images, texts, hard, margins, temperature, rows):
    """Mean over rows of −log of the share of the own text, one sum over exponentials a row."""
    total = 0.0
    for i in range(rows):
        cosines = [float(torch.cosine_similarity(images[i], t, dim=0)) for t in texts]
        terms = [
            math.exp(cosine / temperature + (margins[i] if j == hard[i] else 0))
            for j, cosine in enumerate(cosines)
        ]
        total -= math.log(terms[i] / sum(terms))
    return total / rows


def naive_margin(c, m_min, m_max):
    return m_min + (m_max - m_min) / (1 + math.exp((4 - c) / 0.15))


@given(scores, logits, logits)
def test_margin_is_the_papers(c, m_min, m_max):
    margin = fermi_dirac_margin(torch.tensor(c, dtype=torch.float64), m_min, m_max)
    assert margin.item() == pytest.approx(naive_margin(c, m_min, m_max))


@given(st.lists(scores, min_size=2), logits, st.floats(0, 10), scores)
def test_margin_rises_with_concreteness_from_least_to_most(found, m_min, more, threshold):
    ordered = torch.tensor(sorted(found), dtype=torch.float64)
    margins = fermi_dirac_margin(ordered, m_min, m_min + more, threshold, 0.3)
    assert (margins.diff() >= 0).all()
    assert margins.min() >= m_min - 1e-9
    assert margins.max() <= m_min + more + 1e-9
    halfway = fermi_dirac_margin(torch.tensor(threshold), m_min, m_min + more, threshold, 0.3)
    assert halfway.item() == pytest.approx(m_min + more / 2, abs=1e-5)


@pytest.mark.parametrize("temperature", [0.01, 0.07, 1.0])
def test_without_a_margin_it_is_the_loss_of_clip(batch, temperature):
    (v, t, changed, seen), concreteness = batch
    loss = CementLoss(m_min=0, m_max=0, temperature=temperature)
    total, parts = loss(v, t, changed, concreteness, seen)
    images, texts = (normalize(torch.cat(x), dim=-1) for x in ([v, seen], [t, changed]))
    expected = ClipLoss()(images, texts, torch.tensor(1 / temperature))
    assert total.item() == pytest.approx(expected.item(), abs=1e-6)
    assert total.item() == pytest.approx(
        (parts["image_to_text"] + parts["text_to_image"]).item() / 2
    )


def test_without_margin_and_pictures_it_is_the_loss_of_negclip(batch):
    """NegCLIP (arXiv 2210.01936): logits of N pictures and 2N captions; captions' rows are cut."""
    (v, t, changed, _), concreteness = batch
    loss = CementLoss(m_min=0, m_max=0, temperature=0.07)
    per_image = normalize(v, dim=1) @ torch.cat([normalize(t, dim=1), normalize(changed, dim=1)]).T
    per_image = per_image / 0.07
    per_text = per_image.t()[: len(v)]
    expected = -(log_softmax(per_image, 1).diag().mean() + log_softmax(per_text, 1).diag().mean())
    assert loss(v, t, changed, concreteness).total.item() == pytest.approx(
        expected.item() / 2, abs=1e-6
    )


@pytest.mark.parametrize(("m_min", "m_max"), [(0.5, 3.0), (2.0, 2.0), (-1.0, 0.0)])
def test_each_row_has_the_margin_on_its_own_hard_negative(batch, m_min, m_max):
    (v, t, changed, seen), concreteness = batch
    margins = [naive_margin(float(c), m_min, m_max) for c in concreteness]
    loss = CementLoss(m_min=m_min, m_max=m_max, temperature=0.3)
    images, texts = [*v, *seen], [*t, *changed]
    hard = [*range(5, 10), *range(5)]
    parts = loss(v, t, changed, concreteness, seen).parts
    assert parts["image_to_text"].item() == pytest.approx(
        naive(images, texts, hard, margins * 2, 0.3, 10)
    )
    assert parts["text_to_image"].item() == pytest.approx(
        naive(texts, images, hard, margins * 2, 0.3, 10)
    )
    parts = loss(v, t, changed, concreteness).parts
    assert parts["image_to_text"].item() == pytest.approx(naive(v, texts, hard, margins, 0.3, 5))
    assert parts["text_to_image"].item() == pytest.approx(naive(t, v, hard, [0] * 5, 0.3, 5))


@pytest.mark.parametrize("pictures", [False, True])
def test_gradients_are_those_of_finite_differences(batch, pictures):
    loss = CementLoss(m_min=0.5, m_max=3, temperature=0.3)
    v, t, changed, concreteness, *seen = inputs(batch, pictures)
    leaves = [x.clone().requires_grad_() for x in (v, t, changed, *seen)]
    assert gradcheck(lambda v, t, c, *s: loss(v, t, c, concreteness, *s).total, leaves)


@pytest.mark.parametrize("pictures", [False, True])
def test_order_of_the_batch_does_not_matter(batch, pictures):
    loss, given = CementLoss(m_min=0.5, m_max=3, temperature=0.3), inputs(batch, pictures)
    order = torch.tensor([3, 0, 4, 1, 2])
    shuffled = loss(*(x[order] for x in given)).total
    assert shuffled.item() == pytest.approx(loss(*given).total.item())


@pytest.mark.parametrize("pictures", [False, True])
def test_autocast_changes_no_digit(batch, pictures):
    halves = [x.bfloat16() for x in inputs(batch, pictures)]
    loss = CementLoss(m_min=0.5, m_max=3)
    plain = loss(*(x.float() for x in halves))
    with torch.autocast("cpu", torch.bfloat16):
        cast = loss(*halves)
    assert torch.equal(cast.total, plain.total)


def test_a_margin_draws_the_gradient_to_the_hard_negative(batch):
    """Of two changed captions as near as any other, that of the concrete keyword is pushed off."""
    (v, t, changed, _), _ = batch
    changed.requires_grad_()
    concreteness = torch.full((5,), 5.0, dtype=torch.float64)

    def push(m_max):
        loss = CementLoss(m_min=0, m_max=m_max, temperature=0.3)
        (grad,) = torch.autograd.grad(loss(v, t, changed, concreteness).total, changed)
        return grad.norm(dim=1)

    assert (push(4.0) > push(0.0)).all()
