import pytest
import torch
from torch import Tensor
from torch._dynamo.utils import counters

from seedbed.methods.learn.devices import compiled_function
from seedbed.methods.learn.draws import Key, number_of, on_device, order

CPU = torch.device("cpu")
SEEDS = (0, 1, -3, 2**64 - 5)


def test_a_draw_depends_on_its_key_and_not_on_the_order_of_the_batch():
    images = torch.arange(50)
    shuffled = torch.randperm(50, generator=torch.Generator().manual_seed(0))
    assert torch.equal(Key(1, 2, images).uniform("x", 3)[shuffled], Key(1, 2, images[shuffled]).uniform("x", 3))


def test_seed_step_purpose_image_and_place_each_change_the_draw():
    base = Key(1, 2, torch.tensor([7])).uniform("x", 2)
    others = [
        Key(2, 2, torch.tensor([7])).uniform("x", 2),
        Key(1, 3, torch.tensor([7])).uniform("x", 2),
        Key(1, 2, torch.tensor([8])).uniform("x", 2),
        Key(1, 2, torch.tensor([7])).uniform("y", 2),
    ]
    assert base[0, 0] != base[0, 1]
    assert all(not torch.equal(base, other) for other in others)


def test_draws_are_uniform_and_neighbours_are_unrelated():
    draws = Key(0, 0, torch.arange(20_000)).uniform("x", 2)
    assert draws.min() >= 0 and draws.max() < 1
    histogram = torch.histc(draws[:, 0], bins=10, min=0, max=1)
    assert (histogram - 2000).abs().max() < 200  # 4.7 standard deviations
    assert abs(torch.corrcoef(draws.T)[0, 1]) < 0.03
    assert abs(torch.corrcoef(torch.stack([draws[1:, 0], draws[:-1, 0]]))[0, 1]) < 0.03


def test_the_global_generator_is_not_touched():
    before = torch.get_rng_state()
    Key(0, 0, torch.arange(9)).uniform("x", 4)
    order(0, 0, 9, "x")
    assert torch.equal(before, torch.get_rng_state())


def test_a_step_in_a_tensor_draws_what_the_same_number_draws():
    images = torch.arange(5)
    assert torch.equal(Key(1, torch.tensor(9), images).uniform("x", 3), Key(1, 9, images).uniform("x", 3))


@pytest.mark.parametrize("seed", SEEDS)
def test_a_seed_in_a_tensor_draws_what_the_same_number_draws(seed):
    images = torch.arange(5)
    assert torch.equal(Key(on_device(seed, CPU), 9, images).uniform("x", 3), Key(seed, 9, images).uniform("x", 3))


def test_draws_stay_what_they_were_when_the_first_models_were_trained():
    numbers = Key(5, 9, torch.tensor([0, 7])).uniform("strong 0 warp", 2) * 2**24
    assert numbers.tolist() == [[3464927, 15074676], [4076191, 613189]]


@pytest.mark.slow
def test_compiled_draws_are_the_same_to_the_bit_and_compiled_once_for_every_seed_and_step():
    def drawn(images: Tensor, seed: Tensor, step: Tensor) -> Tensor:
        return Key(seed, step, images).uniform("x", 7)

    images, made = torch.arange(50) * 12_345_678_901, compiled_function(drawn, constants=(number_of,))
    before = counters["stats"]["unique_graphs"]
    for seed in SEEDS:
        for step in (0, 1, 10**9):
            expected = Key(seed, step, images).uniform("x", 7)
            assert torch.equal(made(images, on_device(seed, CPU), torch.tensor(step)), expected)
    assert counters["stats"]["unique_graphs"] == before + 1
