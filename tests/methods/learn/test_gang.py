"""Two real processes over gloo do what one does with the whole batch."""

import json
from typing import Any

import pytest
import torch

from seedbed.base.errors import InvalidInput
from seedbed.methods.learn.algorithm import ALGORITHMS
from seedbed.methods.learn.gang import backend_for
from seedbed.testing.ranks import run_ranks

Facts = dict[str, Any]


@pytest.fixture(scope="module")
def facts(tmp_path_factory: pytest.TempPathFactory) -> Facts:
    """What two ranks found, in one launch for all tests."""
    folder = tmp_path_factory.mktemp("ranks")
    run_ranks("tests.methods.learn.gang_facts", folder, ranks=2)
    found: Facts = json.loads((folder / "facts.json").read_text())
    return found


def test_a_mean_is_that_of_all_ranks_and_its_gradient_flows_into_the_own_share(facts: Facts) -> None:
    words = facts["words"]
    assert words["rank"] == [0, 2]
    assert words["mean"] == [1.5, 15.0]
    # shares 3 * (1, 10) and 4 * (2, 20) have the mean 5.5 * (1, 10); d(mean squared)/d(weight) = 2 * mean * own
    assert words["gradients"] == pytest.approx([2 * 5.5 * 101, 2 * 5.5 * 202])


def test_slices_are_gathered_in_the_order_of_the_ranks(facts: Facts) -> None:
    assert facts["words"]["gathered"] == [[0, 7], [1, 7]]


def test_the_first_rank_gives_the_others_its_values(facts: Facts) -> None:
    assert facts["words"]["aligned"] == 0.0
    assert facts["words"]["said"] == [0.5, 4.0]


@pytest.mark.parametrize(
    "norm", ["BatchNorm2d", "BatchNorm1d", "without momentum", "without weights", "timm's with activation"]
)
def test_a_norm_over_slices_has_the_outputs_gradients_and_statistics_of_the_whole(facts: Facts, norm: str) -> None:
    assert facts["norms"][norm] < 1e-12


def test_the_network_may_be_asked_twice_before_gradients_are_computed(facts: Facts) -> None:
    assert facts["two forwards"] < 1e-6


@pytest.mark.parametrize("algorithm", list(ALGORITHMS))
def test_two_ranks_have_the_gradients_and_statistics_of_one(facts: Facts, algorithm: str) -> None:
    assert 0 < facts["vit"][algorithm] < 1e-5


@pytest.mark.parametrize("algorithm", ["supervised", "steady"])
def test_two_ranks_have_the_gradients_of_one_where_batch_norm_learns(facts: Facts, algorithm: str) -> None:
    assert facts["learnt statistics"][algorithm] < 1e-4  # few images per channel make more of every rounding


def test_two_ranks_have_the_gradients_of_one_where_batch_norm_is_frozen(facts: Facts) -> None:
    assert facts["frozen statistics"] < 1e-5


def test_ranks_talk_over_gloo_on_cpus_and_over_nccl_between_gpus() -> None:
    assert backend_for(torch.device("cpu"), "auto") == "gloo"
    assert backend_for(torch.device("cuda"), "auto") == "cpu:gloo,cuda:nccl"


@pytest.mark.parametrize(("backend", "said"), [("mpi", "without MPI"), ("nccl", "needs GPUs")])
def test_a_backend_that_is_not_there_is_refused(backend: str, said: str) -> None:
    with pytest.raises(InvalidInput, match=said):
        backend_for(torch.device("cpu"), backend)
