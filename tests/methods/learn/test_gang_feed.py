"""Which images ranks take: together each image once per epoch, whatever the number of ranks."""

from collections import Counter

import numpy as np
import pytest
import torch

from seedbed.methods.learn.feed import Feed
from seedbed.methods.learn.group import Alone, shared_out
from seedbed.methods.learn.pool import Parts, Pool

CPU = torch.device("cpu")


class Place(Alone):
    """One of several ranks, as far as a feed sees it."""

    def __init__(self, rank: int, ranks: int) -> None:
        self.rank, self.ranks = rank, ranks


def feeds(images: int, ranks: int, *, batch: int) -> list[Feed]:
    pixels = np.zeros((images, 2, 2, 3), dtype=np.uint8)
    parts = Parts(torch.arange(7), torch.arange(images), torch.empty(0, dtype=torch.int64))
    return [
        Feed(Pool(pixels, 2, CPU), parts, labelled=3, unlabelled=batch, seed=4, device=CPU, group=Place(rank, ranks))
        for rank in range(ranks)
    ]


@pytest.mark.parametrize("ranks", [1, 2, 3])
@pytest.mark.parametrize("images", [24, 25, 29])
def test_every_image_appears_once_per_epoch(images: int, ranks: int) -> None:
    together = feeds(images, ranks, batch=6)
    assert {feed.unlabelled for feed in together} == {6}
    taken = [n for step in range(images) for feed in together for n in feed.at(step).unlabelled.tolist()]
    epochs = [taken[start : start + images] for start in range(0, 6 * images, images)]
    assert all(Counter(epoch) == Counter(range(images)) for epoch in epochs)
    assert epochs[0] != epochs[1], "every epoch has an order of its own"


@pytest.mark.parametrize("ranks", [2, 3])
def test_ranks_take_the_batch_that_one_would_in_its_order(ranks: int) -> None:
    (alone,), together = feeds(29, 1, batch=6), feeds(29, ranks, batch=6)
    for step in range(7):
        assert alone.at(step).unlabelled.tolist() == [n for feed in together for n in feed.at(step).unlabelled.tolist()]


@pytest.mark.parametrize(("length", "ranks"), [(6, 3), (7, 3), (1, 3), (8, 1)])
def test_work_of_any_length_is_shared_out_in_equal_parts(length: int, ranks: int) -> None:
    parts = [shared_out(torch.arange(length), Place(rank, ranks)) for rank in range(ranks)]
    assert len({len(part) for part in parts}) == 1
    assert torch.cat(parts)[:length].tolist() == list(range(length))
