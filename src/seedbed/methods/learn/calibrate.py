"""Confidences that mean what they say: one temperature that every logit is divided by."""

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

from seedbed.base.errors import InvalidInput

COLDEST, HOTTEST = 0.05, 20.0
_SPREAD = 0.5  # of log temperature before any label is seen: a dozen right answers do not make a model infallible


def fit_temperature(
    logits: NDArray[np.floating[Any]], labels: NDArray[np.integer[Any]], *, spread: float = _SPREAD
) -> float:
    """The temperature in [0.05, 20] that explains labels best which were not trained on.

    It minimises the labels' negative log likelihood plus (log T)^2 / (2 spread^2): with many labels the likelihood
    decides, with few the temperature stays near 1. An infinite `spread` is the plain maximum of the likelihood.
    Class and order stay as they are; only the confidences change.
    """
    _check(logits, labels)
    values, rows = np.asarray(logits, np.float64), np.arange(len(labels))

    def cost(log_temperature: float) -> float:
        likely = log_softmax(values / math.exp(log_temperature), axis=1)[rows, labels]
        return float(-likely.sum()) + log_temperature**2 / (2 * spread**2)

    found = minimize_scalar(cost, bounds=(math.log(COLDEST), math.log(HOTTEST)), method="bounded")
    return math.exp(float(found.x))


def tempered(probabilities: NDArray[np.floating[Any]], temperature: float) -> NDArray[np.float64]:
    """Probabilities as if their logits were divided by one more temperature."""
    if temperature == 1.0:
        return np.asarray(probabilities, np.float64)
    logs = np.log(np.maximum(np.asarray(probabilities, np.float64), np.finfo(np.float32).tiny))
    return np.asarray(np.exp(log_softmax(logs / temperature, axis=1)))


def _check(logits: NDArray[Any], labels: NDArray[Any]) -> None:
    if logits.ndim != 2 or labels.shape != logits.shape[:1] or not len(labels):
        raise InvalidInput(
            f"logits has shape {logits.shape} and labels {labels.shape}; expected (images, classes) and (images,).",
            hint="A temperature needs at least one label that was held out of training.",
        )
    if not np.isfinite(logits).all():
        raise InvalidInput("logits has values that are not finite; no temperature can be fitted to them.")
