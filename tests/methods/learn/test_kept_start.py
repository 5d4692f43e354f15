"""A training that starts from a kept card: its weights are those that the run begins with, alone and on two ranks."""

from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from seedbed.assets.zoo.builder import empty_network
from seedbed.assets.zoo.importers import About, keep_file
from seedbed.base.errors import Conflict
from seedbed.base.run import FolderRun, MemoryRun
from seedbed.methods.learn.launch import train_on_ranks
from seedbed.methods.learn.trainer import train
from tests.methods.learn.conftest import Task

STILL = {"steps": 1, "learning_rate": 1e-12, "weight_decay": 0.0, "head_start": 0.0, "start": "test_vit"}


def kept(folder: Path, seed: int) -> Path:
    folder.mkdir()
    network = empty_network("test_vit", 3, size=32)
    save_file({name: value + seed for name, value in network.state_dict().items()}, folder / "w.safetensors")
    keep_file(folder / "w.safetensors", "test_vit", folder / "card", About(f"kept {seed}"), made_at=32)
    return folder / "card"


def fresh(folder: Path, resume: Path | None = None) -> FolderRun:
    folder.mkdir()
    return FolderRun(folder, resume=resume)


def begins_with(model: Path, card: Path) -> bool:
    ours, theirs = load_file(model / "model.safetensors"), load_file(card / "weights.safetensors")
    return all(torch.allclose(ours[name], theirs[name], atol=1e-6) for name in theirs if not name.startswith("head"))


def test_it_begins_with_the_weights_of_the_card(task: Task, tmp_path: Path) -> None:
    card = kept(tmp_path / "one", 1)
    made = train(task.images, task.few_labels(3), task.settings(**STILL), MemoryRun(tmp_path / "run"), start=card)
    made.model.save(tmp_path / "model")
    assert made.model.started_from == "kept 1" and made.model.architecture == "test_vit"
    assert begins_with(tmp_path / "model", card)


def test_a_checkpoint_of_other_weights_is_not_gone_on_from(task: Task, tmp_path: Path) -> None:
    one, two = kept(tmp_path / "one", 1), kept(tmp_path / "two", 2)
    settings = task.settings(**STILL)
    train(task.images, task.few_labels(3), settings, fresh(tmp_path / "run"), start=one)
    (last,) = (tmp_path / "run" / "checkpoints").iterdir()
    with pytest.raises(Conflict, match="other images, labels, settings"):
        train(task.images, task.few_labels(3), settings, fresh(tmp_path / "again", last), start=two)


@pytest.mark.slow
def test_ranks_begin_with_them_too(task: Task, tmp_path: Path) -> None:
    card = kept(tmp_path / "one", 1)
    settings = task.settings(**{**STILL, "ranks": 2})
    made = train_on_ranks(task.images, task.few_labels(3), settings, fresh(tmp_path / "run"), card)
    made.model.save(tmp_path / "model")
    assert made.model.started_from == "kept 1" and begins_with(tmp_path / "model", card)
