from dataclasses import dataclass

import numpy as np
import pytest
import torch

from seedbed.methods.learn.feed import Feed, Row
from seedbed.methods.learn.group import ALONE, Alone
from seedbed.methods.learn.pool import Pool, divide

CPU = torch.device("cpu")


@dataclass(frozen=True)
class OneOf(Alone):
    rank: int
    ranks: int


def feed(labels, group=ALONE, labelled=16, unlabelled=48):
    pool = Pool(np.zeros((len(labels), 4, 4, 3), np.uint8), 4, CPU)
    parts = divide(np.array(labels), share=0.2, few=10, classes=2, seed=0)
    return Feed(pool, parts, labelled=labelled, unlabelled=unlabelled, seed=0, device=CPU, group=group)


def test_a_row_gives_every_image_once_per_round_wherever_it_is_cut():
    row = Row(torch.arange(7), 5, "x")
    whole = row.window(0, 21)
    assert all(sorted(part.tolist()) == list(range(7)) for part in whole.split(7))
    assert torch.equal(whole, torch.cat([row.window(start, 3) for start in range(0, 21, 3)]))
    assert not torch.equal(whole[:7], whole[7:14])


def test_a_step_takes_no_image_twice():
    rows = feed([0, 0, 1, 1, -1, -1]).at(0)
    assert sorted(rows.labelled.tolist()) == [0, 1, 2, 3]
    assert sorted(rows.unlabelled.tolist()) == [0, 1, 2, 3, 4, 5]


def test_ranks_share_the_batch_that_one_would_take():
    labels = [0, 1] * 9
    alone = feed(labels, labelled=6, unlabelled=12).at(3)
    shares = [feed(labels, OneOf(rank, 3), labelled=6, unlabelled=12).at(3) for rank in range(3)]
    assert torch.equal(alone.labelled, torch.cat([share.labelled for share in shares]))
    assert torch.equal(alone.unlabelled, torch.cat([share.unlabelled for share in shares]))


@pytest.mark.parametrize(("ranks", "taken"), [(1, (14, 18)), (2, (14, 18)), (4, (12, 16))])
def test_two_ranks_take_what_one_does_where_an_odd_number_of_images_is_fewer_than_a_batch(ranks, taken):
    labels = [0, 1] * 7 + [0] + [-1] * 4
    made = feed(labels, OneOf(0, ranks), labelled=64, unlabelled=256)
    assert (made.labelled, made.unlabelled) == taken


def test_where_images_are_fewer_than_ranks_every_rank_still_gets_one():
    assert len(feed([0, 1, -1], OneOf(3, 4)).at(0).labelled) == 1
