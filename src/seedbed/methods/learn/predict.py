"""What a model says of images."""

from collections.abc import Callable

import numpy as np
import torch
from numpy.typing import NDArray
from torch import nn

from seedbed.methods.learn.model import Model
from seedbed.methods.learn.pixels import Images, check_images, normalise, to_float

Progress = Callable[[int, int], None]


def predict(
    model: Model, images: Images, *, batch: int = 256, on_progress: Progress | None = None
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
    with torch.inference_mode():
        for start in range(0, len(images), batch):
            pixels = to_float(images[start : start + batch], model.size, device)
            logits = model.network(normalise(pixels, model.preprocessing)).float() / model.temperature
            answers[start : start + batch] = logits.softmax(dim=1).cpu().numpy()
            if on_progress:
                on_progress(min(start + batch, len(images)), len(images))
    model.network.train(training)
    return answers


def device_of(network: nn.Module) -> torch.device:
    """Where a network's weights are."""
    return next(network.parameters()).device
