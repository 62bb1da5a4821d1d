"""The Poincaré ball: distances that stay finite and differentiable right up to its rim.

The ball of curvature parameter ``c > 0`` holds the points with ``√c‖x‖ < 1``; its sectional
curvature is ``-c``. Formulas are those of arXiv 1805.09112 (sections 2.3 and 2.4) and arXiv
2606.23843, brought into forms that lose fewer digits: the distance

    D(x, y) = (2/√c) artanh(√c ‖-x ⊕ y‖) = (2/√c) arsinh(√(c‖x-y‖² / ((1-c‖x‖²)(1-c‖y‖²))))

is computed by the second form, since the argument of ``artanh`` rounds to 1 where that of
``arsinh`` is merely large.

**Precision.** All is computed in float32 at least, whatever autocast says; float64 stays float64.
Matrix products have to be float32's own, as they are by default: with
``torch.set_float32_matmul_precision("high")`` a GPU would keep three digits of them.

**Rim.** Near it ``1-c‖x‖²`` is the difference of two almost equal numbers. Points are therefore
kept within ``√c‖x‖ ≤ 1 - √ε`` (ε the type's machine epsilon: 0.99965 in float32), and those
farther out, or outside the ball, count as the point of that radius on the same ray. So half of
the digits are left in the worst case: the error of ``√c·D`` is under ``4√ε`` (1.4e-3 in float32)
at the rim, and of the order of ε well inside. For points made of tangent vectors there is no such
limit with :func:`pairwise_distance_exp0`, which never forms them.

**Gradients.** They are finite everywhere. Where a distance has none, at equal points, it is 0; a
point that was pulled in from beyond the largest radius gets none along its ray. Those of gradients
are not offered: the derivatives of tables are written by hand, for their time and memory.
"""

import functools
import math
from collections.abc import Callable
from typing import Any, ParamSpec, TypeVar

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

P = ParamSpec("P")
T = TypeVar("T")

CURVATURES = (1e-12, 1e12)
# Largest √c‖a‖ of a tangent vector a in `pairwise_distance_exp0`: sinh²(40) is still a float32.
LARGEST_TANGENT = 20.0
# Squared distances below this share of ‖x‖² + ‖y‖² are taken from the differences themselves:
# out of the matrix product their relative error could pass 1e-4 in float32.
NEAR = 1e-2


def full_precision(function: Callable[P, T]) -> Callable[P, T]:
    """Has ``function`` computed with autocast off and half-precision tensors made float32."""

    @functools.wraps(function)
    def in_full(*args: P.args, **kwargs: P.kwargs) -> T:
        given: list[Any] = [widened(value) for value in args]
        named: dict[str, Any] = {name: widened(value) for name, value in kwargs.items()}
        device = next(v.device.type for v in (*given, *named.values()) if isinstance(v, Tensor))
        with torch.autocast(device, enabled=False):
            return function(*given, **named)

    return in_full


def widened(value: Any) -> Any:
    """A half-precision tensor as float32; anything else as it is."""
    half = isinstance(value, Tensor) and value.dtype in (torch.float16, torch.bfloat16)
    return value.float() if half else value


@full_precision
def exp0(a: Tensor, curvature: float) -> Tensor:
    """The point that the tangent vector ``a`` at the centre leads to: ``tanh(√c‖a‖) a/(√c‖a‖)``.

    Args:
        a: ``(..., d)``.
        curvature: c.

    Returns:
        ``(..., d)``, within the largest radius.
    """
    root = root_of(curvature)
    a = shortened(a, math.atanh(largest_radius(a.dtype)) / root)
    radius = at_least_epsilon(root * torch.linalg.vector_norm(a, dim=-1, keepdim=True))
    return a * (radius.tanh() / radius)


@full_precision
def log0(x: Tensor, curvature: float) -> Tensor:
    """The tangent vector at the centre that leads to ``x``, the inverse of :func:`exp0`.

    Args:
        x: ``(..., d)``.
        curvature: c.

    Returns:
        ``(..., d)``.
    """
    x = project(x, curvature)
    radius = root_of(curvature) * torch.linalg.vector_norm(x, dim=-1, keepdim=True)
    radius = at_least_epsilon(radius)
    return x * (radius.atanh() / radius)


@full_precision
def project(x: Tensor, curvature: float) -> Tensor:
    """Points as they are; those beyond the largest radius pulled in along their rays.

    Args:
        x: ``(..., d)``.
        curvature: c.

    Returns:
        ``(..., d)``.
    """
    return shortened(x, largest_radius(x.dtype) / root_of(curvature))


@full_precision
def mobius_add(x: Tensor, y: Tensor, curvature: float) -> Tensor:
    """``x ⊕ y``, the ball's translation of ``y`` by ``x``.

    The usual quotient, rearranged so that nothing cancels, with ``k = 1 - c‖x‖²``:
    ``(k (x+y) + c‖x+y‖² x) / (k (1 - c‖y‖²) + c‖x+y‖²)``.

    Args:
        x: ``(..., d)``.
        y: ``(..., d)``, of a shape that broadcasts with that of ``x``.
        curvature: c.

    Returns:
        ``(..., d)``, within the largest radius.
    """
    root = root_of(curvature)
    x, y = unit_ball(x, root), unit_ball(y, root)
    apart = (x + y).square().sum(-1, keepdim=True)
    gap = gap_to_rim(x)[..., None]
    total = (gap * (x + y) + apart * x) / (gap * gap_to_rim(y)[..., None] + apart)
    return project(total / root, curvature)


@full_precision
def distance(x: Tensor, y: Tensor, curvature: float) -> Tensor:
    """Distances between points, pair by pair: ``(...)``.

    Args:
        x: ``(..., d)``.
        y: ``(..., d)``, of a shape that broadcasts with that of ``x``.
        curvature: c.
    """
    root = root_of(curvature)
    x, y = unit_ball(x, root), unit_ball(y, root)
    squared = (x - y).square().sum(-1) / (gap_to_rim(x) * gap_to_rim(y))
    return (2 / root) * arsinh_sqrt(squared)


@full_precision
def pairwise_distance(x: Tensor, y: Tensor, curvature: float) -> Tensor:
    """Distances between all points of two lists, by one matrix product: ``(B, M)``.

    Args:
        x: ``(B, d)``.
        y: ``(M, d)``.
        curvature: c.
    """
    root = root_of(curvature)
    x, y = unit_ball(x, root), unit_ball(y, root)
    squared = squared_distances(x, y, 1 / gap_to_rim(x), 1 / gap_to_rim(y))
    return (2 / root) * arsinh_sqrt(squared)


@full_precision
def pairwise_distance_exp0(a: Tensor, b: Tensor, curvature: float) -> Tensor:
    """Distances between the points that tangent vectors at the centre lead to: ``(B, M)``.

    As ``pairwise_distance(exp0(a), exp0(b))``, but without going by way of the ball, whose rim
    holds all of ``√c‖a‖ > 4.3`` in float32. With ``r = √c‖a‖``, ``s = √c‖b‖`` and directions
    ``u``, ``v`` the hyperbolic law of cosines gives, all terms positive,
    ``sinh²(√c D/2) = sinh²(r-s) + sinh(2r) sinh(2s) ‖u-v‖²/4``.
    ``√c‖a‖`` above 20 counts as 20. The angle between ``a`` and ``b`` is known to about ε, which
    leaves ``√c·D`` an error of up to ``2 arsinh(ε sinh(2r))`` for vectors of almost one direction,
    and of about 10 ε of itself for others. A zero vector has no direction and gets no gradient.

    Args:
        a: ``(B, d)``.
        b: ``(M, d)``.
        curvature: c.
    """
    root = root_of(curvature)
    (u, r), (v, s) = polar(a), polar(b)
    r, s = ((root * radius).clamp(max=LARGEST_TANGENT) for radius in (r, s))
    across = squared_distances(u, v, (2 * r).sinh() / 2, (2 * s).sinh() / 2)
    return (2 / root) * arsinh_sqrt(across + squared_sinh(r, s))


@full_precision
def pairwise_euclidean(x: Tensor, y: Tensor) -> Tensor:
    """``‖x_i - y_j‖``, half of what distances tend to as c goes to 0: ``(B, M)``.

    Args:
        x: ``(B, d)``.
        y: ``(M, d)``.
    """
    tiny = torch.finfo(x.dtype).tiny
    # Kept from 0, where the slope is infinite: below the limit it is 0.
    return squared_distances(x, y, x.new_ones(len(x)), y.new_ones(len(y))).clamp(min=tiny).sqrt()


def squared_distances(x: Tensor, y: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
    """``rows_i columns_j ‖x_i - y_j‖²``, accurate for close points too, in memory of order B·M.

    Args:
        x: ``(B, d)``.
        y: ``(M, d)``.
        rows: weights of ``x``, not negative, ``(B,)``.
        columns: weights of ``y``, not negative, ``(M,)``.

    Returns:
        ``(B, M)``.
    """
    squared: Tensor = _SquaredDistances.apply(x, y, rows, columns)
    return squared


class _SquaredDistances(torch.autograd.Function):
    """By the matrix product, except where it would cancel. Weights go into its factors."""

    @staticmethod
    def forward(ctx: Any, x: Tensor, y: Tensor, rows: Tensor, columns: Tensor) -> Tensor:
        left, right = centred(x, y)
        lengths = torch.stack([left.square().sum(1), torch.ones_like(rows)], 1) * rows[:, None]
        widths = torch.stack([torch.ones_like(columns), right.square().sum(1)]) * columns
        sizes = lengths @ widths
        left, right = left * rows[:, None], right * columns[:, None]
        squared = torch.addmm(sizes, left, right.T, alpha=-2)
        near = (squared < sizes.mul_(NEAR)).nonzero()
        for i, j in (pairs.unbind(1) for pairs in near.split(1 + squared.numel() // x.shape[1])):
            squared[i, j] = (x[i] - y[j]).square().sum(1) * rows[i] * columns[j]
        ctx.save_for_backward(x, y, rows, columns, squared)
        return squared

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor | None, ...]:
        x, y, rows, columns, squared = ctx.saved_tensors
        x, y = centred(x, y)
        grads: list[Tensor | None] = [None] * 4
        if ctx.needs_input_grad[0]:
            grads[0] = pulls(grad, x, y * columns[:, None], columns, rows)
        if ctx.needs_input_grad[1]:
            grads[1] = pulls(grad.T, y, x * rows[:, None], rows, columns)
        if ctx.needs_input_grad[2] or ctx.needs_input_grad[3]:
            shares = grad * squared
            tiny = torch.finfo(grad.dtype).tiny
            grads[2] = shares.sum(1) / rows.clamp(min=tiny)
            grads[3] = shares.sum(0) / columns.clamp(min=tiny)
        return tuple(grads)


def pulls(grad: Tensor, x: Tensor, weighted: Tensor, weights: Tensor, own: Tensor) -> Tensor:
    """``2 own_i Σ_j grad_ij weights_j (x_i - y_j)``, given ``weights_j y_j``: ``(B, d)``."""
    pulled = torch.addmm(x * (grad @ weights)[:, None], grad, weighted, alpha=-1)
    return pulled.mul_(2 * own[:, None])


def centred(x: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
    """Both, moved so that ``y`` has mean 0: distances stay, and points all alike cancel less."""
    centre = y.mean(0)
    return x - centre, y - centre


def squared_sinh(r: Tensor, s: Tensor) -> Tensor:
    """``sinh²(r_i - s_j)`` of ``(B,)`` and ``(M,)``, 0 for equals, without loss: ``(B, M)``."""
    value: Tensor = _SquaredSinh.apply(r, s)
    return value


class _SquaredSinh(torch.autograd.Function):
    """By exponentials of rows and columns: a ``sinh`` of the whole table takes far longer."""

    @staticmethod
    def forward(ctx: Any, r: Tensor, s: Tensor) -> Tensor:
        sinh = (2 * r).expm1()[:, None] - (2 * s).expm1()
        sinh.mul_((-r).exp()[:, None] / 2).mul_((-s).exp())
        ctx.save_for_backward(r, s, sinh)
        return sinh * sinh

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> tuple[Tensor, Tensor]:
        r, s, sinh = ctx.saved_tensors
        up, down = r.exp(), (-s).exp()
        # The slope is 2 sinh cosh, and cosh(r-s) = exp(r) exp(-s) - sinh(r-s).
        grad = grad * sinh
        both = grad * sinh
        for_r = up * (grad @ down) - both.sum(1)
        for_s = both.sum(0) - down * (up @ grad)
        return 2 * for_r, 2 * for_s


def arsinh_sqrt(q: Tensor) -> Tensor:
    """``arsinh(√q)`` of ``q ≥ 0``, with slope 0 instead of infinity at 0: of the shape of ``q``."""
    value: Tensor = _ArsinhSqrt.apply(q)
    return value


class _ArsinhSqrt(torch.autograd.Function):
    """As ``log1p(√q + q/(1+√(1+q)))``, which loses no digits and is faster than torch's asinh."""

    @staticmethod
    def forward(ctx: Any, q: Tensor) -> Tensor:
        root, above = q.sqrt(), (q + 1).sqrt_()
        ctx.save_for_backward(root * above)
        return (q / above.add_(1)).add_(root).log1p_()

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, grad: Tensor) -> Tensor:
        (product,) = ctx.saved_tensors
        return (grad / product).div_(2).masked_fill_(product == 0, 0)


def polar(a: Tensor) -> tuple[Tensor, Tensor]:
    """Directions ``(..., d)`` and lengths ``(...)``, which may be infinite, of finite vectors.

    Squares must not overflow, so vectors are measured in units of their largest component. Vectors
    too short for their squares have directions shorter than 1.
    """
    unit = a.detach().abs().amax(-1, keepdim=True).clamp(min=1)
    scaled = a * unit.reciprocal()
    length = torch.linalg.vector_norm(scaled, dim=-1, keepdim=True)
    shortest = torch.finfo(a.dtype).tiny ** 0.5
    return scaled * length.clamp(min=shortest).reciprocal(), (length * unit).squeeze(-1)


def shortened(x: Tensor, longest: float) -> Tensor:
    """Vectors longer than ``longest`` brought to that length: ``(..., d)``."""
    direction, length = polar(x)
    return torch.where((length > longest)[..., None], direction * longest, x)


def unit_ball(x: Tensor, root: float) -> Tensor:
    """Points of the ball of curvature ``root²``, projected and scaled to that of curvature 1."""
    return root * shortened(x, largest_radius(x.dtype) / root)


def gap_to_rim(x: Tensor) -> Tensor:
    """``1 - ‖x‖²`` of points of the ball of curvature 1: ``(...)``."""
    return 1 - x.square().sum(-1)


def at_least_epsilon(radius: Tensor) -> Tensor:
    """Keeps ``tanh(r)/r`` from 0/0: below ε it is 1 to the last digit."""
    return radius.clamp(min=torch.finfo(radius.dtype).eps)


def largest_radius(dtype: torch.dtype) -> float:
    """Largest ``√c‖x‖`` of a point: 0.99965 in float32."""
    return 1 - torch.finfo(dtype).eps ** 0.5


def root_of(curvature: float) -> float:
    """√c.

    Raises:
        ValueError: c is not within 1e-12 and 1e12.
    """
    low, high = CURVATURES
    if not low <= curvature <= high:
        raise ValueError(f"curvature is {curvature}; it must be from {low:g} to {high:g}")
    return math.sqrt(curvature)
