import torch

from seedbed.methods.learn.draws import Key, order


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
