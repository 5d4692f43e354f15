import torch

from seedbed.methods.learn.asking import ask


def test_every_image_is_asked_about_once_and_answers_keep_their_order():
    images, asked = torch.arange(10.0).view(10, 1, 1, 1), []

    def network(part: torch.Tensor) -> torch.Tensor:
        asked.append(len(part))
        return part.flatten(1) * 2

    assert torch.equal(ask(network, images, at_once=4), images.flatten(1) * 2)
    assert asked == [4, 4, 2]
