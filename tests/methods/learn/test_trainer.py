import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch

from seedbed.base.errors import Conflict, Failed, InvalidInput
from seedbed.base.run import MemoryRun, Stopped
from seedbed.methods.learn.group import Alone
from seedbed.methods.learn.settings import TrainSettings, batch_taken
from seedbed.methods.learn.trainer import TrainingRun, surely_worse, train


def weights(trained) -> dict[str, torch.Tensor]:
    return trained.model.network.state_dict()


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


def newest(folder: Path) -> Path:
    return max((folder / "checkpoints").iterdir())


class StopsAfter(MemoryRun):
    """A run that is asked to stop once it has reported a step."""

    def __init__(self, folder: Path, stop_at: int, **more) -> None:
        super().__init__(folder, **more)
        self._stop_at = stop_at

    def report(self, metrics=None, *, step=0, total=0, doing=""):
        super().report(metrics, step=step, total=total, doing=doing)
        if step >= self._stop_at:
            self.ask_to_stop()


@pytest.fixture(scope="module")
def unbroken(task, tmp_path_factory):
    return train(task.images, task.few_labels(2), task.tiny(), MemoryRun(tmp_path_factory.mktemp("whole"), seed=5))


@pytest.mark.parametrize("stop_at", [1, 3, 5])
def test_a_run_that_was_stopped_and_resumed_ends_with_the_same_bits(task, unbroken, tmp_path, stop_at):
    labels, settings = task.few_labels(2), task.tiny()
    with pytest.raises(Stopped):
        train(task.images, labels, settings, StopsAfter(tmp_path, stop_at, seed=5))
    assert newest(tmp_path).name == f"{stop_at:09d}"
    resumed = train(task.images, labels, settings, MemoryRun(tmp_path / "again", seed=5, resume=newest(tmp_path)))
    assert same(weights(resumed), weights(unbroken))
    assert dataclasses.replace(resumed, model=unbroken.model) == unbroken


def test_a_resumed_run_keeps_the_best_weights_that_it_had_seen(task, tmp_path):
    labels, settings = task.few_labels(10), task.tiny(checkpoint_every=3, patience=0)
    whole = train(task.images, labels, settings, MemoryRun(tmp_path / "whole"))
    with pytest.raises(Stopped):
        train(task.images, labels, settings, StopsAfter(tmp_path, 4))
    resumed = train(task.images, labels, settings, MemoryRun(tmp_path / "again", resume=newest(tmp_path)))
    assert same(weights(resumed), weights(whole))
    assert whole.criterion == resumed.criterion == "accuracy on held-out labels"


def test_the_global_generator_neither_matters_nor_changes(task, unbroken, tmp_path):
    torch.manual_seed(123)
    before = torch.get_rng_state()
    again = train(task.images, task.few_labels(2), task.tiny(), MemoryRun(tmp_path, seed=5))
    train(task.images, task.few_labels(2), task.settings(steps=1), MemoryRun(tmp_path, seed=5))
    assert torch.equal(before, torch.get_rng_state())
    assert same(weights(again), weights(unbroken))


def test_another_seed_gives_another_model(task, unbroken, tmp_path):
    other = train(task.images, task.few_labels(2), task.tiny(), MemoryRun(tmp_path, seed=6))
    assert not same(weights(other), weights(unbroken))


def test_progress_and_curves_are_reported_with_step_and_total(task, tmp_path):
    run = MemoryRun(tmp_path)
    train(task.images, task.few_labels(2), task.tiny(), run)
    assert [report["step"] for report in run.reports] == [1, 2, 3, 4, 5, 6]
    assert {report["total"] for report in run.reports} == {6}
    assert {"loss", "loss_labelled", "loss_unlabelled", "confident"} <= run.reports[0].keys()
    assert [report["step"] for report in run.reports if "unchanged" in report] == [2, 4, 6]


def test_training_ends_early_when_held_out_labels_see_no_gain(task, tmp_path):
    settings = task.tiny(steps=40, evaluate_every=1, patience=2, learning_rate=1e-9, checkpoint_every=40)
    trained = train(task.images, task.few_labels(10), settings, MemoryRun(tmp_path))
    assert trained.steps == 22  # nothing ends it in the first half, then two are no better
    assert trained.planned == 40


def test_a_start_that_training_only_makes_worse_is_what_is_kept(task, tmp_path):
    settings = task.settings(steps=2, evaluate_every=1, learning_rate=0.3, warmup=0.0, ema=0.0, held_out=0.4)
    trained = train(task.images, task.few_labels(10), settings, MemoryRun(tmp_path))
    start, *later = (point["accuracy"] for point in trained.curve)
    assert max(later) < start
    assert trained.step == 0 and trained.metrics["accuracy"] == start


def test_later_weights_are_kept_unless_they_are_worse_by_more_than_chance():
    right = torch.tensor([True] * 6 + [False] * 4)
    one_less = torch.tensor([True] * 5 + [False] * 5)
    two_less = torch.tensor([True] * 4 + [False] * 6)
    others = ~right
    assert not surely_worse(right, right)
    assert not surely_worse(one_less, right)  # 1 lost of 1 that differ
    assert surely_worse(two_less, right)  # 2 lost of 2 that differ: more than sqrt(2)
    assert not surely_worse(others, right)  # 6 lost and 4 won: less than sqrt(10) apart
    assert not surely_worse(right, two_less)


def test_training_ends_early_when_answers_no_longer_change(task, tmp_path):
    still = {"learning_rate": 1e-9, "batch_norm": "frozen"}
    settings = task.tiny(steps=40, evaluate_every=1, patience=2, checkpoint_every=40, **still)
    trained = train(task.images, task.few_labels(2), settings, MemoryRun(tmp_path))
    assert trained.steps == 22  # nothing ends it in the first half, then two say the same
    assert trained.criterion == "answers that no longer change"


def test_a_checkpoint_of_other_labels_is_refused(task, tmp_path):
    with pytest.raises(Stopped):
        train(task.images, task.few_labels(2), task.tiny(), StopsAfter(tmp_path, 1))
    with pytest.raises(Conflict, match="other images, labels"):
        train(task.images, task.few_labels(3), task.tiny(), MemoryRun(tmp_path, resume=newest(tmp_path)))


def test_a_checkpoint_from_when_the_usual_rate_was_a_number_is_gone_on_from(task, tmp_path):
    usual, number = task.tiny(learning_rate="auto"), task.tiny(learning_rate=task.tiny(learning_rate="auto").rate())
    with pytest.raises(Stopped):
        train(task.images, task.few_labels(2), number, StopsAfter(tmp_path, 1))
    train(task.images, task.few_labels(2), usual, MemoryRun(tmp_path, resume=newest(tmp_path)))
    other = dataclasses.replace(usual, learning_rate=2 * usual.rate())
    with pytest.raises(Conflict, match="other images, labels, settings"):
        train(task.images, task.few_labels(2), other, MemoryRun(tmp_path, resume=newest(tmp_path)))


def test_a_loss_that_is_not_a_number_ends_in_a_sentence_and_keeps_the_checkpoint(task, tmp_path):
    settings = task.tiny(learning_rate=1e30, warmup=0.0, checkpoint_every=1)
    with pytest.raises(Failed, match="smaller learning rate"):
        train(task.images, task.few_labels(2), settings, MemoryRun(tmp_path))
    assert newest(tmp_path).is_dir()


@dataclasses.dataclass(frozen=True)
class FirstOf(Alone):
    """The first of several ranks, which all do the same."""

    ranks: int

    def gather(self, value):
        return torch.cat([value.detach()] * self.ranks)


def test_who_has_gone_astray_is_told_of_the_rate_of_one_rank_which_is_what_can_be_set(task, tmp_path):
    settings = task.tiny(learning_rate=1e30, warmup=0.0, ranks=2)
    with pytest.raises(Failed) as caught:
        train(task.images, task.few_labels(5), settings, MemoryRun(tmp_path), FirstOf(2))
    assert caught.value.hint == "Use a smaller learning rate than 1e+30."


@pytest.mark.parametrize(("ranks", "per_class", "times"), [(4, 10, 1.0), (2, 14, 1.625), (2, 4, 1.0), (4, 2, 1.0)])
def test_the_rate_of_ranks_follows_the_batch_that_they_take(task, ranks, per_class, times, tmp_path):
    labels = task.few_labels(per_class)
    labels[labels > 1] = -1  # of two classes; of ten or fourteen labels each one is held out
    plain = task.tiny(classes=task.classes[:2], labelled_batch=16, ranks=ranks)
    runs = [
        TrainingRun(task.images, labels, settings, MemoryRun(tmp_path), FirstOf(settings.ranks))
        for settings in (plain, dataclasses.replace(plain, ranks=1))
    ]
    ours, one = (run.feed.labelled for run in runs)
    assert ours / one == times
    assert runs[0].result().rate == pytest.approx(times * runs[1].result().rate)
    assert ("ranks times" in runs[0].result().rate_reason) == (times == ranks)


def test_every_wrong_setting_is_named_at_once(task, tmp_path):
    with pytest.raises(InvalidInput) as caught:
        settings = task.settings(steps=0, ema=1.0, learning_rate=0.0, classes=("a",))
        train(task.images, task.few_labels(2), settings, MemoryRun(tmp_path))
    assert len(caught.value.problems) == 4


def test_settings_that_would_train_wrongly_without_a_word_are_refused(task, tmp_path):
    options = {"threshold": 7.0, "memory": 2.0, "temperature": 0.0, "alpha": 0.0, "weight": -1.0}
    with pytest.raises(InvalidInput) as caught:
        task.settings(clip=-1.0, weight_decay=-3.0, head_start=-1.0, patience=-1, options=options, good="a").check()
    assert len(caught.value.problems) == 10


def test_epochs_of_labels_alone_are_passes_over_the_labels(task, tmp_path):
    settings = task.tiny(algorithm="supervised", options={}, epochs=2.0, labelled_batch=4)
    assert train(task.images, task.few_labels(2), settings, MemoryRun(tmp_path)).steps == 6  # 12 labels, twice


@pytest.mark.parametrize("images", [3, 5, 7, 15, 40])
def test_an_epoch_is_one_pass_however_few_images_there_are(images):
    settings = TrainSettings(epochs=10.0)
    taken = batch_taken(settings.unlabelled_batch, images, 1)
    assert settings.steps_over(images) * taken == pytest.approx(10 * images, abs=taken / 2)


def test_a_network_from_scratch_learns_its_own_statistics(task, tmp_path):
    settings = task.settings(weights="none", algorithm="supervised", options={}, steps=2)
    trained = train(task.images, task.few_labels(2), settings, MemoryRun(tmp_path))
    assert trained.model.started_from == "scratch"
    assert not np.allclose(trained.model.network.bn1.running_mean, 0)
