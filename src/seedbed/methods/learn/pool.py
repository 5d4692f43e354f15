"""The images of a run and which of them each step takes."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from seedbed.base.errors import InvalidInput
from seedbed.methods.learn.draws import order, window
from seedbed.methods.learn.pixels import Images, check_images, to_float

UNLABELLED = -1
_SHARE_OF_GPU = 0.5  # of the free memory that resident images may take


class Pool:
    """Images by number, as floats on a device: resident there when they fit on a GPU, else read batch by batch."""

    def __init__(self, images: Images, size: int, device: torch.device) -> None:
        self._images = images
        self._size = size
        self._device = device
        self._resident = self._on_device() if device.type == "cuda" else None

    def __len__(self) -> int:
        return len(self._images)

    def take(self, numbers: Tensor) -> Tensor:
        """Those images as float NCHW in [0, 1]."""
        if self._resident is None:
            return to_float(self._images[numbers.numpy()], self._size, self._device)
        chosen = self._resident[numbers.to(self._device)]
        return chosen.to(torch.float32).div_(255.0)

    def _on_device(self) -> Tensor | None:
        needed = len(self._images) * 3 * self._size**2
        if needed > _SHARE_OF_GPU * torch.cuda.mem_get_info(self._device)[0]:
            return None
        parts = [self._images[start : start + 512] for start in range(0, len(self._images), 512)]
        return torch.cat(
            [to_float(part, self._size, self._device).mul_(255).round_().to(torch.uint8) for part in parts]
        )


@dataclass(frozen=True)
class Parts:
    """Numbers of the images that teach by their label, that teach without one, and that judge."""

    labelled: Tensor
    unlabelled: Tensor
    held_out: Tensor

    def labelled_at(self, seed: int, step: int, count: int) -> Tensor:
        """Which labelled images a step takes."""
        count = min(count, len(self.labelled))
        return self.labelled[window(seed, step * count, count, len(self.labelled), "labelled")]

    def unlabelled_at(self, seed: int, step: int, count: int) -> Tensor:
        """Which unlabelled images a step takes."""
        count = min(count, len(self.unlabelled))
        return self.unlabelled[window(seed, step * count, count, len(self.unlabelled), "unlabelled")]


def divide(labels: NDArray[np.integer], *, share: float, few: int, classes: int, seed: int) -> Parts:
    """Hold out a share of each class's labels, none where some class has fewer than `few`.

    Images that keep their label also count among the unlabelled ones; those held out do not.
    """
    counts = np.bincount(labels[labels >= 0], minlength=classes)
    held: list[int] = []
    if share and counts.min() >= few:
        for number, count in enumerate(counts):
            shuffled = np.flatnonzero(labels == number)[order(seed, number, int(count), "held out").numpy()]
            held.extend(shuffled[: max(1, round(share * count))].tolist())
    out = np.zeros(len(labels), dtype=bool)
    out[held] = True
    parts = (np.flatnonzero((labels >= 0) & ~out), np.flatnonzero(~out), np.flatnonzero(out))
    return Parts(*(torch.from_numpy(part) for part in parts))


def check_task(images: Images, labels: NDArray[np.integer], classes: tuple[str, ...]) -> None:
    """Refuse images and labels that cannot be trained on, with every reason at once."""
    check_images(images)
    problems = []
    if labels.shape != images.shape[:1] or not np.issubdtype(labels.dtype, np.integer):
        problems.append(f"labels has shape {labels.shape} of {labels.dtype}; expected {images.shape[:1]} integers.")
    elif len(labels) and (labels.min() < UNLABELLED or labels.max() >= len(classes)):
        span = f"{labels.min()}..{labels.max()}"
        problems.append(f"labels spans {span}; allowed are 0..{len(classes) - 1} and {UNLABELLED} for unlabelled.")
    else:
        counts = np.bincount(labels[labels >= 0], minlength=len(classes))
        problems += [f"class '{name}' has no label." for name, count in zip(classes, counts, strict=True) if not count]
    if problems:
        hint = "Label at least one image of every class, or leave the class out."
        raise InvalidInput("There is nothing to train on.", problems=problems, hint=hint)
