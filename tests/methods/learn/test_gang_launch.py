"""Launches of two real ranks: they stop at one step, go on from it, and say in one voice what went wrong."""

import contextlib
import signal
from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np
import psutil
import pytest

from seedbed.base.errors import Failed, InvalidInput, Unavailable
from seedbed.base.run import FolderRun, Stopped
from seedbed.methods.learn.launch import _file_of, train_on_ranks
from seedbed.methods.learn.settings import TrainSettings
from seedbed.methods.learn.trainer import train
from tests.methods.learn.conftest import Task
from tests.processes import running


class Watched(FolderRun):
    """A run that calls back after a number of reports."""

    def __init__(self, root: Path, at: int, then: "Callable[[Watched], None]", resume: Path | None = None) -> None:
        super().__init__(root, seed=2, resume=resume)
        self.steps: list[int] = []
        self._at, self._then = at, then

    def report(
        self, metrics: Mapping[str, float] | None = None, *, step: int = 0, total: int = 0, doing: str = ""
    ) -> None:
        super().report(metrics, step=step, total=total, doing=doing)
        self.steps.append(step)
        if len(self.steps) == self._at:
            self._then(self)


def two_ranks(task: Task, **changes: object) -> TrainSettings:
    small = {"start": "test_vit", "weights": "none", "steps": 40, "checkpoint_every": 10, "evaluate_every": 20}
    return task.settings(**{**small, "ranks": 2, "patience": 0, **changes})


def checkpoints(root: Path) -> list[str]:
    return sorted(path.name for path in (root / "checkpoints").iterdir())


def weights(root: Path) -> bytes:
    return (root / "scratch" / "ranks" / "model" / "model.safetensors").read_bytes()


def rank_processes(root: Path) -> dict[int, psutil.Process]:
    """The ranks of a launch, by number."""
    found = {}
    for process in running(str(root)):
        with contextlib.suppress(psutil.Error):
            if "RANK" in (environment := process.environ()):
                found[int(environment["RANK"])] = process
    return found


@pytest.mark.slow
def test_ranks_that_are_asked_to_stop_keep_one_checkpoint_and_go_on_to_the_same_bits(
    task: Task, tmp_path: Path
) -> None:
    file = tmp_path / "images.npy"
    np.save(file, task.images)
    images, labels = np.load(file, mmap_mode="r"), task.few_labels(3)
    settings = two_ranks(task)
    stopped = Watched(tmp_path / "first", 14, lambda run: run.ask_to_stop())
    with pytest.raises(Stopped, match="Stopped after step"):
        train_on_ranks(images, labels, settings, stopped)
    last = tmp_path / "first" / "checkpoints" / checkpoints(tmp_path / "first")[-1]
    assert 14 <= int(last.name) < 40
    second = Watched(tmp_path / "second", 0, lambda run: None, resume=last)
    trained = train_on_ranks(images, labels, settings, second)
    assert second.steps[0] == int(last.name) + 1 and second.steps[-1] == trained.steps == 40
    assert checkpoints(tmp_path / "second") == ["000000030", "000000040"]
    train_on_ranks(images, labels, settings, FolderRun(tmp_path / "whole", seed=2))
    assert weights(tmp_path / "second") == weights(tmp_path / "whole")
    assert not (tmp_path / "whole" / "scratch" / "ranks" / "images.npy").exists(), "a mapped file was copied"


@pytest.mark.slow
def test_a_rank_that_is_killed_ends_the_launch_with_a_sentence_and_leaves_a_checkpoint(
    task: Task, tmp_path: Path
) -> None:
    def kill(_run: Watched) -> None:
        rank_processes(tmp_path)[1].send_signal(signal.SIGKILL)

    run = Watched(tmp_path, 15, kill)
    with pytest.raises(Unavailable, match="of 2 ended without a word") as caught:
        train_on_ranks(task.images, task.few_labels(3), two_ranks(task, steps=4000), run)
    assert "last checkpoint" in caught.value.hint
    assert int(checkpoints(tmp_path)[-1]) >= 10
    assert not rank_processes(tmp_path)


@pytest.mark.slow
def test_a_mistake_that_ranks_find_is_told_as_one_process_would(task: Task, tmp_path: Path) -> None:
    labels = task.few_labels(3)
    with pytest.raises(InvalidInput, match="nothing to train on") as refused:
        train_on_ranks(task.images, np.where(labels == 0, -1, labels), two_ranks(task), FolderRun(tmp_path))
    assert any(task.classes[0] in problem for problem in refused.value.problems)
    assert "Label at least one" in refused.value.hint


@pytest.mark.slow
def test_a_loss_that_is_no_number_ends_all_ranks(task: Task, tmp_path: Path) -> None:
    with pytest.raises(Failed, match="gone astray"):
        train_on_ranks(
            task.images, task.few_labels(3), two_ranks(task, learning_rate=1e30, clip=1e30), FolderRun(tmp_path)
        )


def test_several_machines_are_refused(task: Task, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be used") as caught:
        train_on_ranks(task.images, task.few_labels(3), two_ranks(task, nodes=2), FolderRun(tmp_path))
    assert "no executor here has several machines" in caught.value.problems[0]


def test_settings_come_back_from_json_as_they_were(task: Task) -> None:
    settings = two_ranks(task, values=tuple(float(n) for n in range(len(task.classes))))
    assert TrainSettings.from_json(settings.to_json()) == settings


def test_one_process_does_not_train_as_if_it_were_two(task: Task, tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="ranks is 2, but 1 is here"):
        train(task.images, task.few_labels(3), two_ranks(task), FolderRun(tmp_path))


def test_a_mapped_file_is_handed_over_as_it_is(tmp_path: Path) -> None:
    images = np.arange(4 * 8 * 8 * 3, dtype=np.uint8).reshape(4, 8, 8, 3)
    np.save(tmp_path / "whole.npy", images)
    mapped = np.load(tmp_path / "whole.npy", mmap_mode="r")
    assert _file_of(mapped, tmp_path) == str(tmp_path / "whole.npy")
    for part in (mapped[1:], mapped[::-1], mapped[[0, 1, 2, 3]], images):
        assert _file_of(part, tmp_path) == str(tmp_path / "images.npy")
        assert np.array_equal(np.load(tmp_path / "images.npy"), part)
