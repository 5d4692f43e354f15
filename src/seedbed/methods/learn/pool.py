"""The images of a run and which of them each step takes."""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from seedbed.base.errors import InvalidInput
from seedbed.methods.learn.draws import order
from seedbed.methods.learn.pixels import Images, check_images, to_float

UNLABELLED = -1
_SHARE_OF_GPU = 0.5  # of the free memory that resident images may take


class Pool:
    """Images by number, as uint8 on a device: resident there when they fit on a GPU, else read batch by batch."""

    def __init__(self, images: Images, size: int, device: torch.device) -> None:
        self._images = images
        self._size = size
        self._device = device
        self._resident: Tensor | None = None

    def __len__(self) -> int:
        return len(self._images)

    def settle(self) -> None:
        """Bring all images onto a GPU, where they fit."""
        needed = len(self._images) * 3 * self._size**2
        if self._device.type == "cuda" and needed <= _SHARE_OF_GPU * torch.cuda.mem_get_info(self._device)[0]:
            places = range(0, len(self._images), 512)
            self._resident = torch.cat([self._read(self._images[start : start + 512]) for start in places])

    def take(self, numbers: Tensor) -> Tensor:
        """Those images as uint8 NCHW, channels last in memory; `numbers` lies on the CPU."""
        if self._resident is None:
            return self._read(self._images[numbers.numpy()])
        return self._resident[to_device(numbers, self._device)]

    def _read(self, images: Images) -> Tensor:
        batch = torch.from_numpy(np.require(images, requirements=["C", "W"]))  # a copy of what is mapped read-only
        if images.shape[1:3] == (self._size, self._size):
            return to_device(batch, self._device).permute(0, 3, 1, 2)
        return to_float(images, self._size, self._device).mul_(255).round_().to(torch.uint8)


def to_device(values: Tensor, device: torch.device) -> Tensor:
    """The tensor on a device; the host does not wait for the copy to a GPU."""
    return values.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else values


@dataclass(frozen=True)
class Parts:
    """Numbers of the images that teach by their label, that teach without one, and that judge."""

    labelled: Tensor
    unlabelled: Tensor
    held_out: Tensor


def divide(labels: NDArray[np.integer], *, share: float, few: int, classes: int, seed: int) -> Parts:
    """Hold out a share of each class's labels, none where some class has fewer than `few`, and never all of a class.

    Images that keep their label also count among the unlabelled ones; those held out do not.
    """
    counts = np.bincount(labels[labels >= 0], minlength=classes)
    held: list[int] = []
    if share and counts.min() >= few:
        for number, count in enumerate(counts):
            shuffled = np.flatnonzero(labels == number)[order(seed, number, int(count), "held out").numpy()]
            held.extend(shuffled[: min(max(1, round(share * count)), count - 1)].tolist())
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
