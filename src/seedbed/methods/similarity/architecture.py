"""Which architecture suits a data set: the nearer its predicted test set to the true one, the better (section IV-F)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seedbed.base.errors import InvalidInput
from seedbed.methods.similarity.dsd import dataset_distance
from seedbed.methods.similarity.otdd import Otdd
from seedbed.methods.similarity.signature import signature_of
from seedbed.methods.similarity.units import UnitSettings

Labels = Sequence[int] | NDArray[np.integer[Any]]


def prediction_distance(
    features: NDArray[Any],
    truth: Labels,
    predicted: Labels,
    classes: Sequence[str],
    *,
    how: Otdd | None = None,
    settings: UnitSettings | None = None,
    seed: int = 0,
) -> float:
    """The distance between a test set with its predicted labels and the same images with their true ones.

    Exactly 0 where every prediction is right, and the larger the more are wrong and the more unlike the classes are
    that were taken for each other. Unlike two data sets, the two hold the same images: each unit is compared with
    itself, all units count, and there is no noise of sampling to remove. As every OTDD it knows classes by their images
    and not by their names: two classes that were exchanged altogether are at 0, so that it goes beside the accuracy and
    not instead of it.
    """
    right, said = np.asarray(truth, dtype=np.int64), np.asarray(predicted, dtype=np.int64)
    if right.shape != said.shape or right.shape != features.shape[:1] or not right.size:
        raise InvalidInput(
            f"There are {len(features)} images, {right.size} true and {said.size} predicted labels.",
            hint="Give a true and a predicted label for each image of the test set, and at least one image.",
        )
    rows = features if features.dtype == np.uint8 else _centred(features)
    shuffled = np.random.default_rng(seed).permutation(len(right))
    units = np.array_split(shuffled, -(-len(right) // (settings or UnitSettings()).size))
    far = [_unit_distance(rows[unit], right[unit], said[unit], classes, how) for unit in units]
    return float(np.average(far, weights=[len(unit) for unit in units]))


def _unit_distance(
    rows: NDArray[Any],
    truth: NDArray[np.int64],
    predicted: NDArray[np.int64],
    classes: Sequence[str],
    how: Otdd | None,
) -> float:
    whole = UnitSettings(size=max(len(rows), 2))
    of_truth, of_predicted = (
        signature_of(rows, labels, classes, name=name, space="test set", settings=whole)
        for name, labels in (("true labels", truth), ("predicted labels", predicted))
    )
    if np.array_equal(truth, predicted):  # what would be found is rounding
        return 0.0
    return dataset_distance(of_truth, of_predicted, replace(how or Otdd(), noise="kept"))


def _centred(features: NDArray[Any]) -> NDArray[np.float32]:
    """Features around 0: all distances stay as they are, and are rounded less."""
    wide = np.asarray(features, dtype=np.float32)
    return np.asarray(wide - wide.mean(axis=0)) if np.isfinite(wide).all() else wide
