import itertools

import pytest
import torch
from torch import nn

from seedbed.methods.learn.average import Average
from seedbed.methods.learn.schedule import rate_share


def test_the_rate_climbs_in_a_line_to_the_peak_and_falls_along_a_cosine_to_nearly_nothing():
    shares = [rate_share(step, 100, 0.1) for step in range(100)]
    assert shares[:10] == pytest.approx([0.1 * (step + 1) for step in range(10)])
    assert shares[10] == 1.0
    assert shares[55] == pytest.approx(0.5)
    assert shares[99] == pytest.approx(0.0, abs=5e-4) and shares[99] > 0
    assert all(later <= earlier for earlier, later in itertools.pairwise(shares[10:]))


def test_without_a_climb_the_first_step_is_at_the_peak():
    assert rate_share(0, 10, 0.0) == 1.0


def test_the_average_follows_its_formula():
    network = nn.Linear(1, 1, bias=False)
    nn.init.constant_(network.weight, 1.0)
    average = Average(network, decay=0.5)
    nn.init.constant_(network.weight, 3.0)
    average.update(network, torch.tensor(average.pace(0)))  # d = min(0.5, 1/10): 0.1 * 1 + 0.9 * 3
    assert average.network.weight.item() == pytest.approx(2.8)
    average.update(network, torch.tensor(average.pace(1000)))  # d = 0.5: 0.5 * 2.8 + 0.5 * 3
    assert average.network.weight.item() == pytest.approx(2.9)


def test_the_average_takes_statistics_along_and_is_never_trained():
    network = nn.BatchNorm1d(2)
    average = Average(network, decay=0.0)
    network.running_mean += 5
    average.update(network, torch.tensor(average.pace(50)))
    assert torch.equal(average.network.running_mean, network.running_mean)
    assert not any(parameter.requires_grad for parameter in average.network.parameters())
