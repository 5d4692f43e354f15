"""Networks and the sizes of images that they take."""

import pytest
import torch

from seedbed.base.errors import InvalidInput
from seedbed.methods.learn.fitting import fitting_backbone
from seedbed.methods.learn.settings import TrainSettings


def settings(size: int) -> TrainSettings:
    return TrainSettings(classes=("a", "b"), weights="none", size=size)


@pytest.mark.parametrize(
    ("network", "size", "usual"),
    [
        ("levit_128s", 40, 224),
        ("inception_v3", 32, 299),
        ("nest_tiny", 72, 224),  # cannot even be made for that size, nor can the next
        ("maxvit_pico_rw_256", 8, 256),
    ],
)
def test_a_network_that_cannot_take_the_images_is_refused_with_the_size_that_it_takes(network, size, usual):
    with pytest.raises(InvalidInput, match=f"The network '{network}' cannot take images of {size} px") as refused:
        fitting_backbone(network, 2, settings(size), seed=0)
    assert f"Use images of {usual} px" in refused.value.hint


def test_a_network_that_does_not_say_why_it_refuses_the_images_is_no_half_sentence():
    with pytest.raises(InvalidInput) as refused:
        fitting_backbone("halonet_h1", 2, settings(32), seed=0)
    assert refused.value.message == "The network 'halonet_h1' cannot take images of 32 px."


def test_trying_a_network_changes_neither_its_weights_nor_the_random_state():
    before = torch.get_rng_state()
    first, second = (fitting_backbone("resnet18", 2, settings(32), seed=1).network.state_dict() for _ in range(2))
    assert torch.equal(before, torch.get_rng_state())
    assert all(torch.equal(first[name], second[name]) for name in first)
    assert int(first["bn1.num_batches_tracked"]) == 0


def test_memory_that_does_not_suffice_is_no_mistake_of_the_network():
    with pytest.raises(RuntimeError):
        fitting_backbone("resnet18", 2, settings(4_000_000), seed=0)
