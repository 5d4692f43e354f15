"""A card whose original takes a while to read; loads no more than torch, for processes that tests start."""

import time
from pathlib import Path

import torch

from seedbed.assets.zoo.card import Card, Preprocessing
from seedbed.base.files import write_atomically


def card(folder: Path, name: str, *, value: float = 1.0, slow: float = 0.0, digest: str = "") -> Card:
    """A card of one tensor, whose original takes a while to read."""
    path = folder / f"{name}.original"
    write_atomically(path, str(value).encode())  # another process may be reading it

    def read(found: Path) -> dict[str, torch.Tensor]:
        time.sleep(slow)
        return {"weight": torch.full((64,), float(found.read_text()))}

    return Card(name, "test_resnet", "a test", "tests", 2, 64, 256, Preprocessing(), lambda: path, read, digest=digest)
