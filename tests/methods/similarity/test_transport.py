"""Transport: exact values against POT and by hand, entropic ones against their limit."""

import numpy as np
import ot  # type: ignore[import-untyped]
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from seedbed.methods.similarity.transport import assignment, entropic, exact


def cost_of(rows: int, columns: int, seed: int = 0) -> torch.Tensor:
    random = np.random.default_rng(seed)
    ours, theirs = random.normal(size=(rows, 5)), random.normal(size=(columns, 5)) + 0.5
    return torch.from_numpy(((ours[:, None] - theirs) ** 2).sum(-1).astype(np.float32))


def by_pot(cost: torch.Tensor) -> float:
    weights = [np.full(count, 1 / count) for count in cost.shape]
    return float(ot.emd2(*weights, cost.double().numpy(), numItermax=10**7))


def test_three_points_are_matched_as_by_hand() -> None:
    cost = torch.tensor([[4.0, 1.0, 3.0], [2.0, 0.0, 5.0], [3.0, 2.0, 2.0]])
    assert assignment(cost).tolist() == [1, 0, 2]
    assert exact(cost) == pytest.approx(5 / 3)


@pytest.mark.parametrize("shape", [(300, 300), (350, 250), (40, 40), (40, 30), (1, 7), (7, 1), (1, 1)])
def test_exact_values_are_those_of_pot(shape: tuple[int, int]) -> None:
    cost = cost_of(*shape)
    assert exact(cost) == pytest.approx(by_pot(cost), rel=1e-6)


@settings(max_examples=25, deadline=None)
@given(st.integers(201, 260), st.integers(0, 10**6), st.sampled_from([1e-3, 1.0, 1e4]))
def test_prices_do_not_change_which_matching_is_the_cheapest(size: int, seed: int, scale: float) -> None:
    random = np.random.default_rng(seed)
    cost = torch.from_numpy((scale * random.random((size, size)) ** 3).astype(np.float32))
    assert exact(cost) == pytest.approx(by_pot(cost), rel=1e-5)


def test_a_cost_that_is_the_same_everywhere_is_what_transport_costs() -> None:
    assert exact(torch.full((250, 250), 3.0)) == pytest.approx(3.0)
    assert exact(torch.zeros(250, 250)) == 0.0


def test_entropic_values_come_near_the_exact_one_as_the_blur_goes_down() -> None:
    cost = cost_of(120, 100)
    gaps = [abs(entropic(cost, blur, rounds=2000) - by_pot(cost)) for blur in (1.0, 0.1, 0.01)]
    assert gaps == sorted(gaps, reverse=True) and gaps[-1] < 0.02 * by_pot(cost)


def test_entropic_values_are_those_of_pot() -> None:
    cost = cost_of(60, 50)
    weights = [np.full(count, 1 / count) for count in cost.shape]
    plan = ot.sinkhorn(*weights, cost.double().numpy(), 0.2, method="sinkhorn_log", numItermax=5000)
    entropy = float((plan * np.log(plan / np.outer(*weights))).sum())
    assert entropic(cost, 0.2, rounds=2000) == pytest.approx(
        float((plan * cost.numpy()).sum()) + 0.2 * entropy, rel=1e-3
    )
