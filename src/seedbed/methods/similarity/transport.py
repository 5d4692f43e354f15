"""Optimal transport between two sets of points: exact, or entropic."""

import importlib
import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.optimize import linear_sum_assignment
from torch import Tensor

from seedbed.base.errors import Unavailable

_WARM = (0.25, 0.05, 0.0125)  # blurs that lead to good prices, in standard deviations of the cost
_SMALL = 200  # points up to which a search without prices is as quick
_LOWEST = -25.0  # exponent of what is as good as nothing; smaller numbers times small prices are slow to compute with


def exact(cost: Tensor) -> float:
    """The least mean cost of moving one set of points, all of equal weight, onto another.

    Sets of equal size are matched one to one, which is as good as any transport and several times quicker; others go to
    POT's network simplex.
    """
    if 1 in cost.shape:
        return float(cost.double().mean())
    if cost.shape[0] == cost.shape[1]:
        matrix = cost.cpu().numpy()
        return float(matrix[np.arange(len(matrix)), assignment(cost)].mean(dtype=np.float64))
    reduced, paid = _reduced(cost)
    weights = [np.full(count, 1 / count) for count in cost.shape]
    return paid + float(_pot().emd2(*weights, reduced, numItermax=10_000_000))


def assignment(cost: Tensor) -> NDArray[np.int64]:
    """The column of each row in the cheapest one-to-one matching of a square matrix."""
    found: NDArray[np.int64] = linear_sum_assignment(_reduced(cost)[0])[1]
    return found


def _reduced(cost: Tensor) -> tuple[NDArray[np.float64], float]:
    """The cost less a price for each row and column, and the mean of what was taken off.

    The cheapest transport stays the cheapest. With prices near the optimal ones, which a few rounds of entropic
    transport give, an exact solver has little left to search: a quarter of a second instead of four for the matching of
    2000 x 2000 photographs, half the time for the network simplex.
    """
    exactly = cost.cpu().double()
    spread = float(cost.std()) if min(cost.shape) > _SMALL else 0.0
    if not spread:
        return exactly.numpy(), 0.0
    found = prices(cost, [blur * spread for blur in _WARM], rounds=10)
    rows, columns = (part.cpu().double() for part in found)
    return (exactly - rows[:, None]).sub_(columns).numpy(), float(rows.mean() + columns.mean())


def entropic(cost: Tensor, blur: float, *, rounds: int = 300) -> float:
    """The value of entropic transport between points of equal weight: its dual, at a blur in units of the cost.

    Compare values only after debiasing (see `otdd`): a set is not at 0 from itself.
    """
    rows, columns = prices(cost, _blurs(cost, blur), rounds=10, last=rounds)
    return float(rows.double().mean() + columns.double().mean())


def prices(
    cost: Tensor,
    blurs: Sequence[float],
    *,
    rounds: int,
    last: int | None = None,
    shares: tuple[Tensor, Tensor] | None = None,
) -> tuple[Tensor, Tensor]:
    """Dual prices of rows and columns by Sinkhorn's scaling, from coarse to fine blurs; all weigh the same by default.

    Each blur's kernel holds the prices so far, so that its entries stay within float32, and is computed once; a round
    is then two products of a matrix and a vector. `last` is the number of rounds at the last blur.
    """
    ours, theirs = shares or tuple(cost.new_full((count,), 1 / count) for count in cost.shape)
    mean = cost.mean()
    rows, columns = cost.mean(1) - mean / 2, cost.mean(0) - mean / 2
    kernel = torch.empty_like(cost)
    for blur in blurs:
        torch.sub(cost, rows[:, None], out=kernel)
        kernel.sub_(columns).mul_(-1 / blur)
        top = kernel.amax(1)
        kernel.sub_(top[:, None]).clamp_min_(_LOWEST).exp_()  # the largest entry of each row is 1
        u, v = _scaled(kernel, ours, theirs, last if last and blur is blurs[-1] else rounds)
        # The prices are those of a kernel that is weighed by the shares: an entry of the plan is
        # our share x their share x exp((row's price + column's price - cost) / blur).
        rows = rows + blur * ((u / ours).log() - top)
        columns = columns + blur * (v / theirs).log()
    return rows, columns


def _blurs(cost: Tensor, blur: float) -> list[float]:
    """From about the spread of the cost down to a blur, by quarters."""
    start = max(float(cost.std()) if cost.numel() > 1 else 0.0, blur)
    return [start / 4**step for step in range(math.ceil(math.log(start / blur, 4)))] + [blur]


def _scaled(kernel: Tensor, ours: Tensor, theirs: Tensor, rounds: int) -> tuple[Tensor, Tensor]:
    """Factors of rows and columns under which the kernel's rows and columns have these weights."""
    tiny = torch.finfo(kernel.dtype).tiny
    u, v = torch.ones_like(ours), theirs
    for _ in range(rounds):
        u = ours / (kernel @ v).clamp_min_(tiny)
        v = theirs / (kernel.T @ u).clamp_min_(tiny)
    return u, v


def _pot() -> Any:
    try:
        return importlib.import_module("ot")
    except ImportError as error:
        raise Unavailable(
            "Exact distances between data sets of different sizes need the package POT, which is not installed.",
            hint="pip install POT, or ask for entropic distances.",
        ) from error
