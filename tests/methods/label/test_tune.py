import math

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from seedbed.assets.data.synthetic import draw_leaves
from seedbed.base.errors import Conflict, InvalidInput
from seedbed.base.run import MemoryRun, Stopped
from seedbed.methods.label.embed import embed
from seedbed.methods.label.tune import TuneSettings, told_apart, tune
from tests.methods.label.runs import StopsAfter, newest

SHORT = TuneSettings(size=32, steps=6, batch=8, device="cpu", report_every=1, checkpoint_every=4)


@pytest.fixture(scope="module")
def images():
    return draw_leaves(4, seed=2, size=32)[0]


@pytest.fixture(scope="module")
def whole(images, tmp_path_factory):
    run = MemoryRun(tmp_path_factory.mktemp("whole"), seed=4)
    return run, tune(images, SHORT, run)


def test_views_of_one_image_among_unlike_others_are_told_apart():
    first = torch.tensor([[1.0, 0.0], [0.0, 1.0]])
    # each view: its other view at cosine 1, the two others at 0
    expected = -math.log(math.exp(2) / (math.exp(2) + 2))
    assert told_apart(first, 3 * first, 0.5).item() == pytest.approx(expected)
    assert told_apart(first, first.flip(0), 0.5).item() == pytest.approx(-math.log(1 / (math.exp(2) + 2)))


def test_a_tuned_network_tells_the_images_apart_better_and_embeds_them(images, whole):
    run, path = whole
    losses = [report["loss"] for report in run.reports]
    assert len(losses) == 6 and losses[-1] < losses[0]
    before, after = embed(images, size=32, device="cpu"), embed(images, size=32, weights=path, device="cpu")
    assert after.shape == before.shape and not np.allclose(before, after, atol=1e-3)


@pytest.mark.parametrize("stop_at", [1, 5])
def test_a_run_that_was_stopped_and_resumed_ends_with_the_same_bits(images, whole, tmp_path, stop_at):
    with pytest.raises(Stopped):
        tune(images, SHORT, StopsAfter(tmp_path / "half", stop_at, seed=4))
    again = MemoryRun(tmp_path / "again", seed=4, resume=newest(tmp_path / "half"))
    resumed, unbroken = load_file(tune(images, SHORT, again)), load_file(whole[1])
    assert all(torch.equal(resumed[name], value) for name, value in unbroken.items())


def test_a_checkpoint_of_another_seed_is_not_gone_on_from(images, whole, tmp_path):
    run, _ = whole
    with pytest.raises(Conflict, match="other images, settings or seed"):
        tune(images, SHORT, MemoryRun(tmp_path, seed=5, resume=newest(run.folder.parent)))


def test_what_cannot_work_is_refused_all_at_once(images, tmp_path):
    with pytest.raises(InvalidInput) as caught:
        tune(images, TuneSettings(steps=0, temperature=0, batch=1), MemoryRun(tmp_path))
    assert len(caught.value.problems) == 3
    with pytest.raises(InvalidInput, match="at least 2"):
        tune(images[:1], SHORT, MemoryRun(tmp_path))
