"""semilearn 0.3.2 (USB) training to the end on our images and labels: run by benchmarks.ssl_peer with a folder.

The folder has job.json, images.npz and `start`, the network's first weights; answers.npy is added, the probabilities of
the test images. What is mended for semilearn to start stands in semilearn_steps.py. Beside that, here:

- The images that are labelled are those that we say; semilearn would draw its own, as many of every class.
- Images are normalised as the network's weights want it.
- The network is timm's, in semilearn's form: it gives its logits with the features that they come from.

The settings are USB's for pretrained networks; the highest learning rate is ours.
"""

import importlib
import json
import os
import random
import sys
import tempfile
import threading
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import timm
import torch
import torchvision
from safetensors.torch import load_file
from semilearn_steps import mend
from torch import Tensor, nn

Job = dict[str, Any]


class Network(nn.Module):
    """A network of timm as semilearn asks for it."""

    def __init__(self, name: str, start: Path, num_classes: int, **unused: Any) -> None:
        super().__init__()
        self.timm: Any = timm.create_model(name, num_classes=num_classes)
        self.timm.load_state_dict(load_file(start))

    def forward(self, images: Tensor, **unused: Any) -> dict[str, Tensor]:
        features = self.timm.forward_features(images)
        seen = self.timm.forward_head(features, pre_logits=True)
        return {"logits": self.timm.get_classifier()(seen), "feat": seen}

    def no_weight_decay(self) -> list[str]:
        return [name for name, parameter in self.named_parameters() if parameter.ndim <= 1]


def give(images: dict[str, Any], job: Job) -> None:
    """Put our images, our choice of labels and our normalisation in the place of CIFAR-10's."""

    class Ours:
        def __init__(self, *where: Any, train: bool, **options: Any) -> None:
            self.data = images["train" if train else "test"]
            self.targets = images["truth" if train else "test_truth"].tolist()

    def chosen(_args: Any, data: Any, targets: Any, *_: Any, **options: Any) -> tuple[Any, ...]:
        given = images["labels"] >= 0
        return data[given], images["labels"][given], data, np.array(targets)  # the last are only counted and printed

    torchvision.datasets.CIFAR10 = Ours
    cifar: Any = importlib.import_module("semilearn.datasets.cv_datasets.cifar")
    cifar.split_ssl_data = chosen
    cifar.mean["cifar10"], cifar.std["cifar10"] = job["mean"], job["std"]


def configuration(job: Job, labels: int, folder: str) -> dict[str, Any]:
    """A job in semilearn's words."""
    return {
        "algorithm": job["algorithm"],
        "net": "ours",
        "dataset": "cifar10",
        "num_classes": job["classes"],
        "num_labels": labels,
        "img_size": job["size"],
        "batch_size": job["labelled"],
        "uratio": job["unlabelled"] // job["labelled"],
        "eval_batch_size": 256,
        "num_workers": job["workers"],
        "optim": "AdamW",
        "lr": job["rate"],
        "ema_m": 0.0,
        "epoch": 1,
        "num_train_iter": job["steps"],
        "num_eval_iter": 10 * job["steps"],
        "num_log_iter": job["steps"],
        "seed": job["seed"],
        "gpu": 0,
        "distributed": False,
        "save_dir": folder,
        "save_name": job["algorithm"],
    }


def train(job: Job, labels: int, start: Path) -> Any:
    """Probabilities of the test images, of the weights after the last step."""
    semilearn: Any = importlib.import_module("semilearn")
    core: Any = importlib.import_module("semilearn.core.utils")
    with tempfile.TemporaryDirectory() as folder:
        config = semilearn.get_config(configuration(job, labels, folder))

        def build(num_classes: int, **options: Any) -> Network:
            return Network(job["network"], start, num_classes)

        algorithm = semilearn.get_algorithm(config, build, None, None)
        if torch.cuda.is_available():
            algorithm.model = core.send_model_cuda(config, algorithm.model)
            algorithm.ema_model = core.send_model_cuda(config, algorithm.ema_model, clip_batch=False)
        algorithm.train()
        logits = algorithm.evaluate("eval", return_logits=True)["eval/logits"]
    return torch.from_numpy(logits).softmax(dim=1).numpy()


def end_with_parent() -> None:
    """Whoever started this may be killed when its time is over: then nobody waits, and the GPU is for others."""
    parent = os.getppid()

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(2)
        os._exit(1)

    threading.Thread(target=watch, daemon=True).start()


def main(folder: Path) -> None:
    """Train what the folder asks for."""
    end_with_parent()
    warnings.simplefilter("ignore")
    mend()
    job: Job = json.loads((folder / "job.json").read_text())
    for seed in (random.seed, np.random.seed, torch.manual_seed):
        seed(job["seed"])
    with np.load(folder / "images.npz") as file:
        images = dict(file)
    give(images, job)
    np.save(folder / "answers.npy", train(job, int((images["labels"] >= 0).sum()), folder / "start"))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
