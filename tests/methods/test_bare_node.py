"""A bare GPU node has torch, timm and a few more: with every other library blocked, the learning parts still train."""

import os
import subprocess
import sys

BLOCKED = ("pydantic", "sqlalchemy", "alembic", "fastapi", "nicegui", "typer", "rich", "yaml", "httpx", "fsspec", "ot")

PROGRAM = """
import importlib, pkgutil, sys, tempfile
from importlib.abc import MetaPathFinder
from pathlib import Path

BLOCKED = set(sys.argv[1].split(","))


class Blocker(MetaPathFinder):
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in BLOCKED:
            raise ModuleNotFoundError(f"{name} is not on a bare node", name=name)


sys.meta_path.insert(0, Blocker())

import numpy as np

import seedbed.assets.data, seedbed.assets.zoo, seedbed.methods

for package in (seedbed.methods, seedbed.assets.data, seedbed.assets.zoo):
    for module in pkgutil.walk_packages(package.__path__, package.__name__ + "."):
        importlib.import_module(module.name)

from seedbed.assets.data.synthetic import draw_leaves
from seedbed.base.run import FolderRun
from seedbed.methods.learn.settings import TrainSettings
from seedbed.methods.learn.trainer import train

images, truth, classes = draw_leaves(3, seed=0, size=32)
labels = np.where(np.arange(len(truth)) < len(classes), truth, -1)
settings = TrainSettings(classes=classes, size=32, steps=3, labelled_batch=4, unlabelled_batch=4)
trained = train(images, labels, settings, FolderRun(Path(tempfile.mkdtemp())))
assert trained.steps == 3
assert not BLOCKED & {name.partition(".")[0] for name in sys.modules}
"""


def test_the_learning_parts_import_and_train_with_every_other_library_blocked(tmp_path):
    environment = {**os.environ, "HF_HUB_OFFLINE": "1", "TMPDIR": str(tmp_path)}
    ended = subprocess.run(
        [sys.executable, "-c", PROGRAM, ",".join(BLOCKED)], env=environment, capture_output=True, text=True
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
