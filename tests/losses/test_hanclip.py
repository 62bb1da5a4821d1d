"""HANCLIP's losses against loops over geoopt's distances, and against what they are for."""

import math
from itertools import product

import geoopt
import pytest
import torch
from torch.autograd import gradcheck
from torch.nn.functional import normalize

from litotes.geometry.poincare import exp0
from litotes.losses.hanclip import (
    AngularTripletNegation,
    HanclipLoss,
    NegationContrast,
    preservation,
    told_apart,
)

GEOMETRIES = ["hyperbolic", "euclidean", "cosine"]


@pytest.fixture
def batch():
    """Pictures, captions, negated captions that are true, and ones that are false."""
    generator = torch.Generator().manual_seed(0)
    v, *noise = torch.randn(4, 4, 6, generator=generator, dtype=torch.float64)
    return [v, *(v + 0.5 * n for n in noise)]


def naive_score(geometry, a, b, temperature, curvature):
    if geometry == "cosine":
        return float(a @ b / a.norm() / b.norm()) / temperature
    if geometry == "euclidean":
        return -2 * float((a - b).norm()) / temperature
    ball = geoopt.PoincareBall(c=torch.tensor(curvature, dtype=torch.float64))
    return -float(ball.dist(ball.expmap0(a), ball.expmap0(b))) / temperature


def naive_contrast(score, v, p, q, n, own):
    """The three terms in loops; ``q`` is ``p'``."""
    rows = range(len(v))

    def term(anchor, target, others):
        return math.log(sum(math.exp(score(anchor, o) - score(anchor, target)) for o in others))

    false = [[n[i]] if own else list(n) for i in rows]
    return [
        sum(term(q[i], v[i], list(v)) for i in rows) / len(v),
        sum(term(v[i], q[i], [*q, *false[i]]) for i in rows) / len(v),
        sum(term(q[i], p[i], [*p, *false[i]]) for i in rows) / len(v),
    ]


@pytest.mark.parametrize(
    ("geometry", "normalized", "own"), list(product(GEOMETRIES, [True, False], [True, False]))
)
def test_contrast_is_what_loops_find(batch, geometry, normalized, own):
    contrast = NegationContrast(
        geometry, 0.5, 0.3, normalize=normalized, negatives="own" if own else "batch"
    )
    total, parts = contrast(*batch)
    given = [normalize(x, dim=-1) for x in batch] if normalized else batch
    expected = naive_contrast(lambda a, b: naive_score(geometry, a, b, 0.5, 0.3), *given, own)
    names = ["negated_to_image", "image_to_text", "negated_to_text"]
    assert list(parts) == names
    assert [parts[name].item() for name in names] == pytest.approx(expected)
    assert total.item() == pytest.approx(sum(expected))


@pytest.mark.parametrize("normalized", [True, False])
def test_without_curvature_the_contrast_is_the_euclidean_control(batch, normalized):
    flat = NegationContrast("euclidean", 0.1, normalize=normalized)(*batch)
    almost = NegationContrast("hyperbolic", 0.1, 1e-9, normalize=normalized)(*batch)
    curved = NegationContrast("hyperbolic", 0.1, 0.1, normalize=normalized)(*batch)
    assert almost.total.item() == pytest.approx(flat.total.item(), rel=1e-6)
    assert curved.total.item() != pytest.approx(flat.total.item(), rel=1e-3)


def test_normalised_hyperbolic_logits_rise_with_the_cosine(batch):
    v, p, *_ = (normalize(x, dim=-1) for x in batch)
    hyperbolic = NegationContrast("hyperbolic").logits(v, p).flatten()
    cosine = NegationContrast("cosine").logits(v, p).flatten()
    assert torch.equal(hyperbolic.argsort(), cosine.argsort())


@pytest.mark.parametrize("geometry", GEOMETRIES)
@pytest.mark.parametrize("normalized", [True, False])
def test_gradients_are_those_of_finite_differences(batch, geometry, normalized):
    contrast = NegationContrast(geometry, 0.3, normalize=normalized)
    loss = HanclipLoss(0.7, contrast)
    leaves = [x[:3, :4].clone().requires_grad_() for x in batch]
    assert gradcheck(lambda *x: loss(*x).total, leaves)


def test_total_is_the_contrast_and_alpha_times_the_angles(batch):
    contrast = NegationContrast(temperature=0.2)
    total, parts = HanclipLoss(0.3, contrast)(*batch)
    angles = AngularTripletNegation()(*(normalize(x, dim=-1) for x in batch[1:]))
    assert total.item() == pytest.approx((contrast(*batch).total + 0.3 * angles.total).item())
    weights = [1, 1, 1, 0.3, 0.3]
    weighted = sum(w * part for w, part in zip(weights, parts.values(), strict=True))
    assert total.item() == pytest.approx(weighted.item())


def test_angles_are_what_the_triangles_have():
    """A caption p' between p and n on one line, then a right angle at n, both by hand."""
    p = torch.tensor([[2.0, 0.0], [1.0, 0.0]])
    q = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    n = torch.zeros(2, 2)
    total, parts = AngularTripletNegation()(p, q, n)
    assert parts["angle_positive"].item() == pytest.approx((0 + 1) / 2)
    assert parts["angle_negative"].item() == pytest.approx((-1 + math.cos(math.pi / 4)) / 2)
    assert total.item() == pytest.approx(sum(part.item() for part in parts.values()))


@pytest.mark.parametrize(("first", "second"), [(0, 1), (0, 2), (1, 2)])
@pytest.mark.parametrize("noise", [0.0, 1e-8])
def test_captions_with_one_vector_ask_for_nothing(batch, first, second, noise):
    texts = [x.float() for x in batch[1:]]
    texts[first][0] = texts[second][0] + noise
    for text in texts:
        text.requires_grad_()
    loss = AngularTripletNegation()(*texts).total
    grads = torch.autograd.grad(loss, texts)
    assert loss.isfinite()
    assert max(grad.abs().max() for grad in grads) < 10


def test_a_batch_of_one_vector_has_finite_gradients():
    """All captions and pictures alike: the worst an encoder can do, and zeros beside."""
    for row in (torch.ones(1, 8), torch.zeros(1, 8)):
        leaves = [row.repeat(4, 1).requires_grad_() for _ in range(4)]
        for normalized in (True, False):
            loss = HanclipLoss(1.0, NegationContrast(normalize=normalized))(*leaves).total
            assert loss.isfinite()
            for grad in torch.autograd.grad(loss, leaves):
                assert grad.isfinite().all()


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_loss_falls_as_the_negated_caption_nears_its_picture(batch, geometry):
    v, p, q, n = batch
    contrast = NegationContrast(geometry, 0.5)
    totals = [
        contrast(v, p, torch.lerp(q, v, share), n).parts["negated_to_image"].item()
        for share in (0.0, 0.3, 0.6, 1.0)
    ]
    assert totals == sorted(totals, reverse=True)


@pytest.mark.parametrize("geometry", GEOMETRIES)
def test_following_the_gradient_draws_truths_in_and_pushes_falsehoods_off(batch, geometry):
    v, p, q, n = (x.clone().requires_grad_() for x in batch)
    loss = HanclipLoss(1.0, NegationContrast(geometry, 0.1))
    optimizer = torch.optim.SGD([p, q, n], lr=0.02)

    def gap():
        cosine = torch.nn.functional.cosine_similarity
        return (cosine(v, q) - cosine(v, n)).mean().item(), loss(v, p, q, n).total.item()

    before, loss_before = gap()
    for _ in range(20):
        optimizer.zero_grad()
        loss(v, p, q, n).total.backward()
        optimizer.step()
    after, loss_after = gap()
    assert after > before
    assert loss_after < loss_before


@pytest.mark.parametrize("own", [True, False])
def test_order_of_the_batch_does_not_matter(batch, own):
    loss = HanclipLoss(1.0, NegationContrast(negatives="own" if own else "batch"))
    order = torch.tensor([3, 0, 1, 2])
    assert loss(*(x[order] for x in batch)).total.item() == pytest.approx(loss(*batch).total.item())


def test_autocast_changes_no_digit(batch):
    halves = [x.bfloat16() for x in batch]
    plain = HanclipLoss()(*(x.float() for x in halves))
    with torch.autocast("cpu", torch.bfloat16):
        cast = HanclipLoss()(*halves)
    assert torch.equal(cast.total, plain.total)


def test_preservation_is_what_turned_away():
    original = torch.eye(2, 4, dtype=torch.float64)
    adapted = torch.tensor([[3.0, 0, 0, 0], [1, 1, 0, 0]], dtype=torch.float64).requires_grad_()
    lost = preservation(adapted, original)
    assert lost.item() == pytest.approx((0 + 1 - math.sqrt(0.5)) / 2)
    assert gradcheck(lambda x: preservation(x, original), adapted)


def test_vectors_are_told_apart_from_all_but_equal_targets():
    generator = torch.Generator().manual_seed(0)
    adapted, targets = torch.randn(2, 5, 4, generator=generator, dtype=torch.float64)
    targets[3] = 2 * targets[1]
    adapted.requires_grad_()
    expected = []
    for i in range(5):
        scores = [
            math.exp(float(torch.cosine_similarity(adapted[i], targets[j], dim=0).detach()) / 0.1)
            for j in range(5)
            if i == j or {i, j} != {1, 3}
        ]
        own = math.exp(float(torch.cosine_similarity(adapted[i], targets[i], dim=0).detach()) / 0.1)
        expected.append(-math.log(own / sum(scores)))
    loss = told_apart(adapted, targets, temperature=0.1)
    assert loss.item() == pytest.approx(sum(expected) / 5)
    assert gradcheck(lambda x: told_apart(x, targets, 0.1), adapted)


def test_radius_of_a_normalised_point_is_that_of_its_sphere():
    """Why no hierarchy by radius can show with normalised vectors."""
    points = exp0(normalize(torch.randn(5, 8), dim=-1), 0.1)
    assert torch.allclose(points.norm(dim=-1), torch.tensor(0.1**0.5).tanh() / 0.1**0.5)
