"""semilearn 0.3.2 (USB) training by turns: its own algorithms, data pipeline, loop and hooks, on our images.

Run by benchmarks.ssl_speed in `.venv-peers`, or with `.carry/peers` on the path. What has to be mended for it to start,
all of it at run time:

- transformers, torchaudio, skimage, matplotlib, wandb and aim are imported for text, sound and logging. Where they are
  missing, empty modules take their place; so too for torch.utils.tensorboard, which wants the package tensorboard.
- timm.models.layers is gone from timm 1.0: timm.layers under the old name.
- torchvision's CIFAR10 would be downloaded: it gives our images. What semilearn does with them stays.
- Its lists of labelled images are written beside the package: they go into a temporary folder.
- Tensor.cuda, Module.cuda, torch.cuda.Event and torch.cuda.synchronize are called whether or not there is a GPU:
  without one they do nothing.

The settings are those of USB's configurations for vision transformers; the learning rate is of no consequence here.
"""

import contextlib
import functools
import importlib
import importlib.abc
import importlib.machinery
import importlib.util
import sys
import tempfile
import types
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import timm.layers
import torch
import torchvision
from torch import nn
from turns import OverError, Turns

UNUSED = ("transformers", "torchaudio", "skimage", "matplotlib", "wandb", "aim", "tensorboard")
CLASSES = 10


class _Empty(types.ModuleType):
    """A module in which every name is a class without content."""

    __path__: list[str] = []  # noqa: RUF012 - as for any package

    def __getattr__(self, name: str) -> type:
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})


class _Unused(importlib.abc.MetaPathFinder, importlib.abc.Loader):
    """Finds what is missing and not needed; comes last, so that what is installed is used."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: types.ModuleType | None = None
    ) -> importlib.machinery.ModuleSpec | None:
        root = name.partition(".")[0]
        return importlib.machinery.ModuleSpec(name, self, is_package=True) if root in UNUSED else None

    def create_module(self, spec: importlib.machinery.ModuleSpec) -> types.ModuleType:
        return _Empty(spec.name)

    def exec_module(self, module: types.ModuleType) -> None:
        pass


class _Event:
    """A CUDA event where there is no GPU."""

    def __init__(self, **options: Any) -> None:
        pass

    def record(self) -> None:
        pass

    def elapsed_time(self, other: "_Event") -> float:
        return 0.0


class _Ours:
    """Our images in the place of CIFAR-10."""

    images = np.empty((0, 32, 32, 3), dtype=np.uint8)
    labels: list[int] = []  # noqa: RUF012 - set once, before the only use

    def __init__(self, *where: Any, **options: Any) -> None:
        self.data, self.targets = self.images, self.labels


def mend() -> None:
    """Everything of the table above."""
    sys.meta_path.append(_Unused())
    sys.modules["timm.models.layers"] = timm.layers
    if importlib.util.find_spec("tensorboard") is None or isinstance(importlib.import_module("tensorboard"), _Empty):
        sys.modules["torch.utils.tensorboard"] = _Empty("torch.utils.tensorboard")
    torchvision.datasets.CIFAR10 = _Ours
    if not torch.cuda.is_available():
        stay: Any = lambda self, *where, **options: self  # noqa: E731 - as short as what it does
        nn.Module.cuda = torch.Tensor.cuda = stay  # type: ignore[method-assign]
        torch.cuda.Event = _Event  # type: ignore[assignment,misc]
        torch.cuda.synchronize = lambda *device: None


def configuration(job: dict[str, Any], folder: str) -> dict[str, Any]:
    """A job in semilearn's words."""
    return {
        "algorithm": job["algorithm"],
        "net": job["net"],
        "dataset": "cifar10",
        "num_classes": CLASSES,
        "num_labels": job["labels"],
        "img_size": job["size"],
        "batch_size": job["labelled"],
        "uratio": job["unlabelled"] // job["labelled"],
        "num_workers": job["workers"],
        "amp": job["amp"],
        "optim": "AdamW",
        "lr": 1e-4,
        "layer_decay": 1.0,
        "ema_m": 0.0,
        "epoch": 1,
        "num_train_iter": job["steps"],
        "num_eval_iter": 10 * job["steps"],
        "num_log_iter": 5,
        "seed": 0,
        "gpu": 0,
        "distributed": False,
        "save_dir": folder,
        "save_name": job["algorithm"],
    }


def train(job: dict[str, Any], turns: Turns) -> None:
    """Train as semilearn's own train.py does, until the turns are over."""
    semilearn: Any = importlib.import_module("semilearn")
    core: Any = importlib.import_module("semilearn.core.utils")
    hooks: Any = importlib.import_module("semilearn.core.hooks")

    class AfterStep(hooks.Hook):  # type: ignore[misc]
        def after_train_step(self, algorithm: Any) -> None:
            turns.after(algorithm.it + 1)

    with np.load(job["images"]) as file:
        _Ours.images, _Ours.labels = file["images"], file["truth"].tolist()
    with tempfile.TemporaryDirectory() as folder:
        importlib.import_module("semilearn.datasets.utils").base_dir = folder  # type: ignore[attr-defined]
        config = semilearn.get_config(configuration(job, folder))
        builder = semilearn.get_net_builder(config.net, config.net_from_name)
        algorithm = semilearn.get_algorithm(config, functools.partial(builder, **job["net_options"]), None, None)
        if torch.cuda.is_available():
            algorithm.model = core.send_model_cuda(config, algorithm.model)
            algorithm.ema_model = core.send_model_cuda(config, algorithm.ema_model, clip_batch=False)
        parameters = sum(parameter.numel() for parameter in algorithm.model.parameters())
        if parameters != job["parameters"]:
            raise ValueError(f"semilearn's {config.net} has {parameters} parameters, ours {job['parameters']}.")
        algorithm.register_hook(AfterStep(), "AfterStep", "LOWEST")
        with contextlib.suppress(OverError):
            algorithm.train()


def main() -> None:
    """Train what is ordered."""
    warnings.simplefilter("ignore")
    mend()
    turns = Turns()
    sys.path.insert(0, str(Path(__file__).parent))
    importlib.import_module("semilearn")
    for job in turns.jobs():
        train(job, turns)


if __name__ == "__main__":
    main()
