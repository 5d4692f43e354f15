"""Only good parts are known: learns how they look, and calls what lies far from all of them anomalous."""

import math
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.stats import t as student
from sklearn.covariance import ledoit_wolf
from torch import Tensor

from seedbed.assets.zoo.importers import card_of
from seedbed.base.errors import InvalidInput
from seedbed.base.registry import near_matches
from seedbed.base.run import RunContext, Stopped
from seedbed.methods.learn.clouds import Clouds, telling_stages
from seedbed.methods.learn.devices import choose_device
from seedbed.methods.learn.draws import order
from seedbed.methods.learn.fitting import fitting_backbone
from seedbed.methods.learn.model import Model
from seedbed.methods.learn.pixels import Images, check_images, normalise, to_float
from seedbed.methods.learn.settings import ENOUGH_GOOD, LEAST_GOOD, TrainSettings
from seedbed.methods.learn.shortage import says_when_short
from seedbed.methods.learn.trainer import Trained

ANOMALOUS = "anomalous"
_AT_ONCE = 128  # images
_FOLDS = 10
_ROUNDING = 1e-5  # relative difference of features that may be the computer's, not the images'
_MIDDLE = 0.05  # probability of an anomaly that a good image in the middle of the others gets
_SMALLER = "Use smaller images or a smaller network."

Features = list[NDArray[np.float64]]  # per stage, (images, channels)


@dataclass(frozen=True)
class OneClass:
    """What can be set of it."""

    false_alarms: float = 0.05  # share of good images that may lie beyond the threshold

    def __post_init__(self) -> None:
        if not 0 < self.false_alarms < 0.5:
            raise InvalidInput(f"false_alarms is {self.false_alarms}; it must lie between 0 and 0.5.")


def train_one_class(
    images: Images,
    labels: NDArray[np.integer],
    settings: TrainSettings,
    run: RunContext,
    start: Path | None = None,
) -> Trained:
    """A model of two classes, the good one and 'anomalous', from images that are labelled 0; others are not looked at.

    The network stays as it was pretrained. The threshold is where the settings' share of new good images is expected
    to lie beyond, by the distances of good images from clouds that were fitted without them. It takes one look at each
    image, so a run that is stopped begins again. `start` as for `train`.
    """
    settings.check()
    options = _options(settings)
    good = _good(images, labels, settings)
    device = choose_device(settings.device)
    given = card_of(start) if start else settings.start
    with says_when_short(device, f"an image of {settings.size} px", _SMALLER):
        begun = fitting_backbone(given, 0, settings, seed=run.seed)
    network = Clouds(begun.network, *telling_stages(begun.network, size=settings.size)).to(device).eval()
    model = Model(
        network=network,
        architecture=begun.architecture,
        classes=(settings.classes[0], ANOMALOUS),
        size=settings.size,
        preprocessing=begun.preprocessing,
        started_from=begun.started_from,
        head=network.facts(),
    )
    found = _features(model, network, images, good, run)
    _refuse_copies(found)
    left_out = _left_out(found, run)
    _settle(network, found, left_out, options.false_alarms)
    metrics = {"good_within": float((left_out <= float(network.threshold)).mean()), "good": float(len(good))}
    run.report(metrics, step=len(good), total=len(good), doing="trained")
    return Trained(model, len(good), len(good), "distances of good images that were left out", metrics)


def threshold_of(distances: NDArray[np.float64], false_alarms: float) -> float:
    """The distance that a new good image passes with probability `false_alarms`.

    It is the one-sided prediction limit of normally distributed log distances: mean + t * deviation * sqrt(1 + 1/n),
    which is honest about how few they are.
    """
    logs, count = np.log(distances), len(distances)
    far = float(student.ppf(1 - false_alarms, count - 1)) * float(logs.std(ddof=1)) * math.sqrt(1 + 1 / count)
    return math.exp(float(logs.mean()) + far)


def _options(settings: TrainSettings) -> OneClass:
    known = [part.name for part in fields(OneClass)]
    if unknown := [name for name in settings.options if name not in known]:
        problems = [f"'{name}' is not an option. {near_matches(name, known)}" for name in unknown]
        raise InvalidInput(f"The options of '{settings.algorithm}' cannot be used.", problems=problems)
    chosen: dict[str, Any] = dict(settings.options)
    return OneClass(**chosen)


def _good(images: Images, labels: NDArray[np.integer], settings: TrainSettings) -> NDArray[np.int64]:
    check_images(images)
    good = np.flatnonzero(labels == 0)
    if settings.classes[0] == ANOMALOUS:
        raise InvalidInput(f"The good parts are labelled '{ANOMALOUS}', which is what the others will be called.")
    if labels.shape != images.shape[:1] or len(good) < LEAST_GOOD:
        raise InvalidInput(
            f"{len(good)} of the {len(images)} images to learn from are labelled '{settings.classes[0]}'; "
            f"at least {LEAST_GOOD} are needed.",
            hint=f"Label more good parts: {ENOUGH_GOOD} or more make the threshold a good one.",
        )
    return good


def _features(model: Model, network: Clouds, images: Images, good: NDArray[np.int64], run: RunContext) -> Features:
    device, parts = network.threshold.device, list[list[Tensor]]()
    for start in range(0, len(good), _AT_ONCE):
        _look_up(run, start, len(good), "looking at good parts")
        taken = good[start : start + _AT_ONCE]
        what = f"{len(taken)} images of {model.size} px"
        with says_when_short(device, what, _SMALLER), torch.inference_mode():
            pixels = to_float(images[taken], model.size, device)
            parts.append([stage.cpu() for stage in network.features(normalise(pixels, model.preprocessing))])
    return [torch.cat(stage).double().numpy() for stage in zip(*parts, strict=True)]


def _left_out(found: Features, run: RunContext) -> NDArray[np.float64]:
    """The distance of every good image from clouds of the others."""
    count = len(found[0])
    fold = np.empty(count, dtype=np.int64)
    fold[order(run.seed, 0, count, "folds").numpy()] = np.arange(count) % min(_FOLDS, count)
    distances = np.zeros(count)
    for number in range(fold.max() + 1):
        _look_up(run, number, int(fold.max()) + 1, "finding the threshold")
        out = fold == number
        for stage in found:
            mean, whitening = _whitening(stage[~out])
            distances[out] += np.linalg.norm((stage[out] - mean) @ whitening, axis=1)
    return distances


def _refuse_copies(found: Features) -> None:
    """Copies of one image have no spread to measure others by."""
    if all(np.ptp(stage, axis=0).max() <= _ROUNDING * np.abs(stage).max() for stage in found):
        raise InvalidInput(
            f"The {len(found[0])} images of good parts all look the same: how far others may differ is not known.",
            hint="Label good parts that differ as good parts do, and leave out copies of one image.",
        )


def _settle(network: Clouds, found: Features, left_out: NDArray[np.float64], false_alarms: float) -> None:
    for cloud, stage in zip(network.clouds.children(), found, strict=True):
        mean, whitening = _whitening(stage)
        cloud.get_buffer("mean").copy_(torch.from_numpy(mean))
        cloud.get_buffer("whitening").copy_(torch.from_numpy(whitening))
    threshold = threshold_of(left_out, false_alarms)
    network.threshold.fill_(threshold)
    odds = math.log((1 - _MIDDLE) / _MIDDLE)
    network.softness.fill_(max(threshold - float(np.median(left_out)), 1e-6 * threshold) / odds)


def _whitening(features: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The mean, and the inverse root of the covariance, shrunk (Ledoit-Wolf): images are often fewer than channels."""
    mean = features.mean(axis=0)
    covariance, _ = ledoit_wolf(features)
    values, vectors = np.linalg.eigh(covariance)
    least = max(float(values.max()) * 1e-6, 1e-12)
    return mean, vectors / np.sqrt(np.maximum(values, least))


def _look_up(run: RunContext, step: int, total: int, doing: str) -> None:
    run.report(step=step, total=total, doing=doing)
    if run.should_stop():
        raise Stopped(f"Stopped while {doing}.")
