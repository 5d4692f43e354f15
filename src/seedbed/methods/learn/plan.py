"""What a launch and its ranks leave for each other in the launch's folder."""

import json
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from seedbed.base.files import write_atomically

PLAN, IMAGES, LABELS = "plan.json", "images.npy", "labels.npy"
STOP, STOPPED, MODEL, TRAINED = "stop", "stopped.json", "model", "trained.json"


@dataclass(frozen=True)
class Plan:
    """What the ranks are to do."""

    settings: dict[str, Any]
    seed: int
    images: str  # an .npy file, which ranks map into memory
    resume: str = ""
    start: str = ""  # the folder of a kept card

    def write(self, folder: Path) -> None:
        """Into a launch's folder."""
        write_atomically(folder / PLAN, json.dumps(asdict(self)).encode())

    @classmethod
    def read(cls, folder: Path) -> "Plan":
        """Of a launch's folder."""
        return cls(**json.loads((folder / PLAN).read_text()))
