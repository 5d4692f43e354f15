"""What a model says of images."""

import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from seedbed.assets.data.decode import Undecodable, decode
from seedbed.assets.data.limits import Limits
from seedbed.assets.data.sources import Item, open_source
from seedbed.base.errors import InvalidInput
from seedbed.methods.learn.asking import AT_ONCE, ask
from seedbed.methods.learn.model import Model
from seedbed.methods.learn.pixels import Images, check_images, normalise, to_float
from seedbed.methods.learn.shortage import says_when_short

Progress = Callable[[int, int], None]


@dataclass(frozen=True)
class Answers:
    """What a model says of files: a row of probabilities for each, and why some could not be read."""

    files: tuple[str, ...]
    probabilities: NDArray[np.float32]
    refused: Mapping[str, str]


def predict(
    model: Model, images: Images, *, batch: int = AT_ONCE, on_progress: Progress | None = None
) -> NDArray[np.float32]:
    """Probabilities, one row per image and one column per class, on the device where the model is.

    `images` is (number, height, width, 3) of uint8, of any size, and may be memory-mapped: it is read batch by batch.
    `on_progress` is told (images done, images in all) after each batch.
    """
    check_images(images)
    device = device_of(model.network)
    answers = np.empty((len(images), len(model.classes)), dtype=np.float32)
    training = model.network.training
    model.network.eval()
    what = f"{min(batch, len(images))} images of {model.size} px"
    with says_when_short(device, what, "Take fewer at once: a smaller batch."), torch.inference_mode():
        for start in range(0, len(images), batch):
            pixels = normalise(to_float(images[start : start + batch], model.size, device), model.preprocessing)
            logits = ask(model.network, pixels, at_once=batch).float() / model.temperature
            answers[start : start + batch] = logits.softmax(dim=1).cpu().numpy()
            if on_progress:
                on_progress(min(start + batch, len(images)), len(images))
    model.network.train(training)
    return answers


def predict_path(
    model: Model, path: Path, *, batch: int = AT_ONCE, limits: Limits | None = None, on_progress: Progress | None = None
) -> Answers:
    """Probabilities for one image file, for a folder of images, or for those in an archive (zip, tar).

    Archives are unpacked within the limits, and never outside a folder of their own. Files that are no readable image
    are left out and named; it is an error only when none is.
    """
    limits, refused = limits or Limits(), dict[str, str]()
    parts, files = [np.empty((0, len(model.classes)), np.float32)], list[str]()
    with tempfile.TemporaryDirectory() as scratch, open_source(path, Path(scratch) / "in", limits=limits) as source:
        for start in range(0, len(source.items), batch):
            read = list(_pictures(source.items[start : start + batch], model.size, limits, refused))
            if read:
                files.extend(name for name, _ in read)
                parts.append(predict(model, np.stack([pixels for _, pixels in read]), batch=batch))
            if on_progress:
                on_progress(min(start + batch, len(source.items)), len(source.items))
    if not files:
        problems = [f"'{name}': {reason}." for name, reason in list(refused.items())[:20]]
        raise InvalidInput(f"No image in {path.name} can be read.", problems=problems)
    return Answers(tuple(files), np.concatenate(parts), refused)


def _pictures(
    items: Sequence[Item], size: int, limits: Limits, refused: dict[str, str]
) -> Iterator[tuple[str, NDArray[np.uint8]]]:
    for item in items:
        try:
            data = item.read(limits.file_bytes)
            yield item.name, decode(data, size=size, pixel_limit=limits.pixels).pixels
        except Undecodable as error:
            refused[item.name] = error.reason


def device_of(network: nn.Module) -> torch.device:
    """Where a network's weights are."""
    return next(network.parameters()).device
