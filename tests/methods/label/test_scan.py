import math

import numpy as np
import pytest
import torch

from seedbed.assets.data.synthetic import draw_leaves
from seedbed.base.errors import Conflict, InvalidInput
from seedbed.base.run import MemoryRun, Stopped
from seedbed.methods.label.embed import embed
from seedbed.methods.label.neighbours import nearest
from seedbed.methods.label.scan import ScanSettings, agreement, evenness, scan, weighed
from seedbed.methods.learn.settings import Strength
from seedbed.testing.groupers import CHECKS, blobs
from tests.methods.label.runs import StopsAfter, newest

SMALL = ScanSettings(batch=24, neighbours=8, heads=3, device="cpu", report_every=1, checkpoint_every=4)


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_scan_does_what_every_grouper_must(check, tmp_path):
    check(lambda rows, count, seed: scan(None, rows, count, SMALL, MemoryRun(tmp_path, seed=seed)))


def test_neighbours_are_the_rows_with_the_largest_cosine_and_never_the_row_itself():
    rows, _ = blobs()
    cosines = rows @ rows.T - 9 * np.eye(len(rows))
    expected = np.sort(np.argsort(-cosines, axis=1)[:, :5], axis=1)
    assert np.array_equal(np.sort(nearest(rows, 5), axis=1), expected)
    assert nearest(rows[:3], 20).shape == (3, 2)


def test_agreement_and_evenness_are_the_two_parts_of_the_papers_loss():
    first = torch.tensor([[[0.5, 0.5]], [[1.0, 0.0]]])  # two images, one head, two groups
    second = torch.tensor([[[0.5, 0.5]], [[0.5, 0.5]]])
    assert agreement(first, second).tolist() == pytest.approx([math.log(2)])
    assert evenness(second).tolist() == pytest.approx([math.log(2)])
    assert evenness(first).tolist() == pytest.approx([-(0.75 * math.log(0.75) + 0.25 * math.log(0.25))])


def test_every_group_counts_alike_however_many_of_it_are_sure():
    losses, groups = torch.tensor([1.0, 1.0, 4.0, 9.0]), torch.tensor([0, 0, 1, 1])
    assert weighed(losses, groups, torch.tensor([1.0, 1, 1, 0]), 3).item() == pytest.approx(2.5)
    assert weighed(losses, groups, torch.zeros(4), 3).item() == 0


@pytest.mark.parametrize("stop_at", [5, 9])
def test_a_run_that_was_stopped_and_resumed_finds_the_same_groups(tmp_path, stop_at):
    """In the first training (6 of 10 epochs) and in the self-labelling after it."""
    rows, _ = blobs()
    settings = ScanSettings(**{**vars(SMALL), "epochs": 10, "threshold": 0.5, "batch": 72})
    whole = MemoryRun(tmp_path / "whole", seed=2)
    expected = scan(None, rows, 4, settings, whole)
    with pytest.raises(Stopped):
        scan(None, rows, 4, settings, StopsAfter(tmp_path / "half", stop_at, seed=2))
    again = MemoryRun(tmp_path / "again", seed=2, resume=newest(tmp_path / "half"))
    found = scan(None, rows, 4, settings, again)
    assert np.array_equal(found.groups, expected.groups)
    assert again.reports == whole.reports[stop_at:]


def test_a_checkpoint_of_other_settings_is_not_gone_on_from(tmp_path):
    rows, _ = blobs()
    scan(None, rows, 3, SMALL, MemoryRun(tmp_path))
    with pytest.raises(Conflict, match="other images, settings or seed"):
        scan(None, rows, 4, SMALL, MemoryRun(tmp_path, resume=newest(tmp_path)))


def test_the_network_can_learn_too_and_goes_on_from_a_checkpoint_exactly(tmp_path):
    images = draw_leaves(2, seed=1, size=32)[0]
    rows = embed(images, size=32, device="cpu")
    settings = ScanSettings(
        epochs=4, self_labelling=0.5, threshold=0.2, learns="network", learning_rate=1e-4, size=32,
        batch=6, neighbours=3, heads=2, augment=Strength(turn=20.0), device="cpu",
        report_every=1, checkpoint_every=3,
    )  # fmt: skip
    whole = MemoryRun(tmp_path / "whole")
    expected = scan(images, rows, 3, settings, whole)
    with pytest.raises(Stopped):
        scan(images, rows, 3, settings, StopsAfter(tmp_path / "half", 5))
    again = MemoryRun(tmp_path / "again", resume=newest(tmp_path / "half"))
    assert np.array_equal(scan(images, rows, 3, settings, again).groups, expected.groups)
    assert again.reports == whole.reports[5:] and whole.reports[-1]["sure"] > 0


def test_what_cannot_work_is_refused_all_at_once(tmp_path):
    rows, _ = blobs()
    with pytest.raises(InvalidInput) as caught:
        scan(None, rows, 3, ScanSettings(epochs=0, threshold=1.5, learning_rate=0), MemoryRun(tmp_path))
    assert len(caught.value.problems) == 3
    with pytest.raises(InvalidInput, match="count is 1"):
        scan(None, rows, 1, SMALL, MemoryRun(tmp_path))
    with pytest.raises(InvalidInput, match="one image for every embedding"):
        scan(None, rows, 3, ScanSettings(learns="network"), MemoryRun(tmp_path))
