"""semilearn's FreeMatch on our images and labels: our side of benchmarks/peers/semilearn_accuracy.py.

It gets the same network with the same weights at the start (its head begins at random, as in semilearn), the same
images, labels, batches, number of steps and highest learning rate; augmentation, loop and everything else is its own,
and it is judged by its last weights, as no labels are left to choose others by.
"""

import json
import os
import subprocess
import tempfile
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from safetensors.torch import save_file

from benchmarks.few_labels import Set
from benchmarks.peers.players import ROOT, loaders, semilearn_command
from seedbed.assets.zoo.builder import build_backbone
from seedbed.methods.learn.settings import TrainSettings

_SCRIPT = "semilearn_accuracy.py"
_LIMIT = 1800.0  # seconds after which a run counts as stuck


def answers_of(
    data: Set, labels: NDArray[np.int64], settings: TrainSettings, seed: int, *, beside: int = 1
) -> NDArray[np.float32]:
    """Probabilities of the test images, from a FreeMatch that semilearn trained on labels that are not -1.

    `beside` is how many runs share this machine: its cores and its shared memory are divided among them.
    """
    command, environment = semilearn_command(_SCRIPT)
    with tempfile.TemporaryDirectory() as scratch:
        folder = Path(scratch)
        _write(folder, data, labels, settings, seed, beside)
        done = subprocess.run(
            [*command, str(folder)],
            cwd=ROOT,
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=_LIMIT,
        )
        if done.returncode:
            raise RuntimeError(f"semilearn ended with {done.returncode}:\n{done.stderr[-4000:]}")
        answers: NDArray[np.float32] = np.load(folder / "answers.npy", allow_pickle=False)
    return answers


def _write(folder: Path, data: Set, labels: NDArray[np.int64], settings: TrainSettings, seed: int, beside: int) -> None:
    backbone = build_backbone(
        settings.start, len(data.classes), weights=settings.weights, seed=seed, size=settings.size
    )
    save_file({name: value.contiguous() for name, value in backbone.network.state_dict().items()}, folder / "start")
    np.savez(
        folder / "images.npz",
        train=data.images_train,
        truth=data.labels_train,
        labels=labels,
        test=data.images_test,
        test_truth=data.labels_test,
    )
    job = {
        "algorithm": settings.algorithm,
        "network": backbone.architecture,
        "mean": backbone.preprocessing.mean,
        "std": backbone.preprocessing.std,
        "classes": len(data.classes),
        "size": settings.size,
        "steps": settings.steps,
        "labelled": settings.labelled_batch,
        "unlabelled": settings.unlabelled_batch,
        "rate": settings.learning_rate,
        "seed": seed,
        "workers": loaders(settings.unlabelled_batch, settings.size, beside=beside) if torch.cuda.is_available() else 0,
    }
    (folder / "job.json").write_text(json.dumps(job))
