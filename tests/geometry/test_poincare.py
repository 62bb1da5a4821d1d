"""The Poincaré ball against geoopt, the hyperboloid, and what a metric has to obey."""

import geoopt
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from torch.autograd import gradcheck

from litotes.geometry.poincare import (
    distance,
    exp0,
    log0,
    mobius_add,
    pairwise_distance,
    pairwise_distance_exp0,
    pairwise_euclidean,
    project,
)

CURVATURES = [1e-6, 0.1, 1.0, 7.5]
EPSILON = torch.finfo(torch.float32).eps
# Any vectors of four float32, from zeros and subnormal numbers to the largest there are.
any_vectors = arrays(
    "float32", (3, 4), elements=st.floats(width=32, allow_nan=False, allow_infinity=False)
)
any_curvature = st.sampled_from([1e-12, 1e-6, 0.1, 1.0, 1e12])
# Tangent vectors of a scale of 1 in the ball of curvature 1.
usual_vectors = arrays("float64", (3, 3, 4), elements=st.floats(-3, 3))


def tangents(rows: int, dim: int = 8, scale: float = 1.0, seed: int = 0) -> torch.Tensor:
    generator = torch.Generator().manual_seed(seed)
    return scale * torch.randn(rows, dim, generator=generator, dtype=torch.float64)


def points(rows: int, curvature: float, seed: int = 0) -> torch.Tensor:
    return exp0(tangents(rows, scale=0.4 / curvature**0.5, seed=seed), curvature)


def hyperboloid_distance(a: torch.Tensor, b: torch.Tensor, curvature: float) -> torch.Tensor:
    """Distances of the points that tangent vectors lead to in the Lorentz model, ``(B, M)``.

    Tangent vectors of the ball's centre, where its metric is 4 times the Euclidean one, are half
    as long as those of the hyperboloid's.
    """
    root = curvature**0.5

    def lift(v):
        length = 2 * root * v.norm(dim=-1, keepdim=True)
        return length.cosh(), length.sinh() * v / v.norm(dim=-1, keepdim=True)

    (a0, a), (b0, b) = lift(a), lift(b)
    return (a0 * b0.T - a @ b.T).clamp(min=1).acosh() / root


@pytest.mark.parametrize("curvature", CURVATURES)
def test_every_operation_is_geoopts(curvature):
    ball = geoopt.PoincareBall(c=torch.tensor(curvature, dtype=torch.float64))
    x, y = points(5, curvature), points(5, curvature, seed=1)
    assert torch.allclose(exp0(tangents(5), curvature), ball.expmap0(tangents(5)))
    assert torch.allclose(log0(x, curvature), ball.logmap0(x))
    assert torch.allclose(mobius_add(x, y, curvature), ball.mobius_add(x, y))
    assert torch.allclose(distance(x, y, curvature), ball.dist(x, y))
    far = ball.dist(x[:, None], y)
    assert torch.allclose(pairwise_distance(x, y, curvature), far)
    assert torch.allclose(
        pairwise_distance_exp0(log0(x, curvature), log0(y, curvature), curvature), far
    )


@pytest.mark.parametrize("scale", [1e-3, 0.3, 1.0, 2.0])
@pytest.mark.parametrize("curvature", CURVATURES)
def test_distances_are_the_hyperboloids(curvature, scale):
    a, b = (tangents(n, scale=scale / curvature**0.5, seed=n) for n in (4, 6))
    expected = hyperboloid_distance(a, b, curvature)
    close = {"rtol": 1e-6, "atol": 1e-9}
    assert torch.allclose(pairwise_distance_exp0(a, b, curvature), expected, **close)
    x, y = exp0(a, curvature), exp0(b, curvature)
    assert torch.allclose(pairwise_distance(x, y, curvature), expected, **close)
    assert torch.allclose(distance(x[:, None], y, curvature), expected, **close)


def test_without_curvature_distances_are_twice_euclids():
    a, b = tangents(4), tangents(5, seed=1)
    expected = 2 * torch.cdist(a, b)
    assert torch.allclose(2 * pairwise_euclidean(a, b), expected)
    assert torch.allclose(pairwise_distance_exp0(a, b, 1e-10), expected, rtol=1e-7)
    assert torch.allclose(pairwise_distance(a, b, 1e-10), expected, rtol=1e-7)


def test_gradients_are_those_of_finite_differences():
    a, b = tangents(3, 4, 0.25).requires_grad_(), tangents(5, 4, 0.25, seed=1).requires_grad_()
    for function in (pairwise_distance, pairwise_distance_exp0):
        assert gradcheck(lambda a, b, f=function: f(a, b, 0.7), (a, b))
    assert gradcheck(pairwise_euclidean, (a, b))
    for function in (distance, mobius_add):
        assert gradcheck(lambda a, b, f=function: f(a, b[:3], 0.7), (a, b))
    far = tangents(3, 4, 50.0, seed=2).requires_grad_()
    zero = torch.zeros(1, 4, dtype=torch.float64, requires_grad=True)
    for function in (exp0, log0, project):
        for x in (a, zero):
            assert gradcheck(lambda x, f=function: f(x, 0.7), x)
    for function in (exp0, project):
        assert gradcheck(lambda x, f=function: f(x, 0.7), far)


def test_gradients_far_out_are_those_of_finite_differences_and_keep_their_digits():
    a, b = (tangents(4, 6, 3.0, seed=s).requires_grad_() for s in (0, 1))
    assert gradcheck(lambda a, b: pairwise_distance_exp0(a, b, 0.1), (a, b))
    exact = torch.autograd.grad(pairwise_distance_exp0(a, b, 0.1).square().sum(), (a, b))
    halves = [x.detach().float().requires_grad_() for x in (a, b)]
    found = torch.autograd.grad(pairwise_distance_exp0(*halves, 0.1).square().sum(), halves)
    for f, e in zip(found, exact, strict=True):
        assert torch.allclose(f.double(), e, rtol=1e-4, atol=1e-3)


def test_gradients_near_equal_points_are_those_of_finite_differences():
    """There the table takes another way than the matrix product."""
    a = tangents(3, 4, 0.4)
    b = (a + 1e-3 * tangents(3, 4, seed=1)).requires_grad_()
    assert gradcheck(lambda b: pairwise_distance(a, b, 0.7), b)
    assert gradcheck(lambda b: pairwise_distance_exp0(a, b, 0.7), b)


def test_equal_points_are_at_no_distance_and_pull_nowhere():
    a = tangents(6, 512).float().requires_grad_()
    for function in (pairwise_distance, pairwise_distance_exp0):
        table = function(a, a.detach().clone(), 0.1)
        assert table.diagonal().max() == 0
        (grad,) = torch.autograd.grad(table.diagonal().sum(), a)
        assert not grad.any()


@pytest.mark.parametrize("spread", [1e-2, 1e-4, 1e-6])
def test_close_points_keep_their_digits(spread):
    """Far from the centre, in float32, where the matrix product alone has none left."""
    y = torch.nn.functional.normalize(tangents(1, 512), dim=-1).float()
    x = y + spread * tangents(7, 512, seed=1).float() / 512**0.5
    expected = distance(x.double()[:, None], y.double(), 0.5)
    assert torch.allclose(pairwise_distance(x, y, 0.5).double(), expected, rtol=1e-4)


@pytest.mark.parametrize("radius", [0.5, 0.99, 0.999, 1 - EPSILON**0.5])
def test_error_near_the_rim_is_within_the_documented_bound(radius):
    x, y = (torch.nn.functional.normalize(tangents(40, 64, seed=s), dim=-1) for s in (0, 1))
    y[:20] = torch.nn.functional.normalize(x[:20] + 1e-2 * y[:20], dim=-1)
    x, y = (project((radius * z).float(), 1.0) for z in (x, y))
    exact = distance(x.double()[:, None], y.double(), 1.0)
    for found in (pairwise_distance(x, y, 1.0), distance(x[:, None], y, 1.0)):
        assert (found - exact).abs().max() < 4 * EPSILON**0.5


def test_far_tangent_vectors_keep_their_digits_without_the_ball():
    """The lengths of CLIP's own features, which float32 points of the ball cannot tell apart."""
    a, b = (tangents(9, 64, 3.0, seed=s) for s in (0, 1))
    found = pairwise_distance_exp0(a.float(), b.float(), 0.1)
    assert torch.allclose(found.double(), pairwise_distance_exp0(a, b, 0.1), rtol=1e-5)
    centre = torch.zeros(1, 64, dtype=torch.float64)
    lengths = pairwise_distance_exp0(a, centre, 0.1)[:, 0]
    assert torch.allclose(lengths, 2 * a.norm(dim=1))


@settings(max_examples=40)
@given(any_vectors, any_vectors, any_curvature)
def test_any_finite_vectors_have_finite_distances_and_gradients(a, b, curvature):
    a, b = (torch.from_numpy(x.copy()).requires_grad_() for x in (a, b))
    for function in (pairwise_distance, pairwise_distance_exp0, distance, mobius_add):
        assert_finite(function(a, b, curvature), a, b)
        assert_finite(function(a, a.detach(), curvature), a)
    for function in (exp0, log0, project):
        assert_finite(function(a, curvature), a)


def assert_finite(value, *leaves):
    assert value.isfinite().all()
    for grad in torch.autograd.grad(value.sum(), leaves):
        assert grad.isfinite().all()


@settings(max_examples=40)
@given(any_vectors, any_curvature)
def test_points_stay_within_the_largest_radius(a, curvature):
    a = torch.from_numpy(a)
    largest = (1 - EPSILON**0.5) / curvature**0.5
    for x in (exp0(a, curvature), project(a, curvature), mobius_add(a, a.flip(0), curvature)):
        assert x.double().norm(dim=-1).max() <= largest * (1 + 1e-6)


@settings(max_examples=40)
@given(usual_vectors)
def test_distances_obey_the_axioms_of_a_metric(vectors):
    a, b, c = torch.from_numpy(vectors)
    for function in (of_tangents, through_the_ball):
        ab, bc, ac = function(a, b), function(b, c), function(a, c)
        assert torch.allclose(ab, function(b, a).T, atol=1e-6)
        assert function(a, a).diagonal().max() == 0
        assert (ac[:, None] <= ab[:, :, None] + bc + 1e-6).all()


def of_tangents(a, b):
    return pairwise_distance_exp0(a, b, 1.0)


def through_the_ball(a, b):
    return pairwise_distance(exp0(a, 1.0), exp0(b, 1.0), 1.0)


@settings(max_examples=40)
@given(usual_vectors)
def test_log0_takes_exp0_back(vectors):
    a = torch.from_numpy(vectors)
    assert torch.allclose(log0(exp0(a, 0.5), 0.5), a, atol=1e-6)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_autocast_and_half_precision_change_no_digit(dtype):
    a, b = (tangents(5, 32, seed=s).to(dtype) for s in (0, 1))
    for function in (pairwise_distance, pairwise_distance_exp0, distance, mobius_add):
        plain = function(a.float(), b.float(), 0.1)
        with torch.autocast("cpu", torch.bfloat16):
            cast = function(a, b, curvature=0.1)
        assert cast.dtype == torch.float32
        assert torch.equal(cast, plain)


@pytest.mark.parametrize("curvature", [0.0, -1.0, 1e-13, float("inf"), float("nan")])
def test_a_curvature_out_of_range_is_refused(curvature):
    with pytest.raises(ValueError, match=r"curvature is .* from 1e-12 to 1e"):
        exp0(torch.ones(2, 3), curvature)
