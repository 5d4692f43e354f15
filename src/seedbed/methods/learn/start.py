"""A good start: a head that already knows the labels.

It costs a second and saves many steps: a fresh head sends random gradients through good weights.
"""

import warnings
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from torch import Tensor, nn


def fit_head(network: nn.Module, features: Tensor, labels: Tensor, *, regularisation: float) -> None:
    """Set a linear head to the logistic regression of the labels on what the head sees of their images."""
    head: Any = network.get_classifier()  # type: ignore[operator]
    if not isinstance(head, nn.Linear):
        return
    weight, bias = _regress(features.double().cpu().numpy(), labels.cpu().numpy(), 1 / regularisation)
    with torch.no_grad():
        head.weight.copy_(torch.from_numpy(weight))
        head.bias.copy_(torch.from_numpy(bias))


def some_of_each(labels: Tensor, most: int) -> Tensor:
    """The places of the first `most` labels, with the first of every class among them."""
    first = np.unique(labels.numpy(), return_index=True)[1]
    others = np.setdiff1d(np.arange(len(labels)), first)
    chosen = np.concatenate([first, others])[: max(most, len(first))]
    return torch.from_numpy(np.sort(chosen))


def features_of(network: Any, images: Tensor) -> Tensor:
    """What a timm network's head sees."""
    features: Tensor = network.forward_head(network.forward_features(images), pre_logits=True)
    return features


def standardised(
    features: NDArray[np.float64],
) -> tuple[NDArray[np.float64], tuple[NDArray[np.float64], float]]:
    """Features around 0 with a deviation of 1 on average, and what was taken from and divided by."""
    centre, scale = features.mean(axis=0), float(features.std(axis=0).mean()) + 1e-6
    return (features - centre) / scale, (centre, scale)


def _regress(
    features: NDArray[np.float64], labels: NDArray[np.int64], strength: float
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Weights and biases of each class on the raw features."""
    standard, (centre, scale) = standardised(features)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # nearly fitted is good enough to begin with
        fitted = LogisticRegression(C=strength, max_iter=1000).fit(standard, labels)
    weight, bias = fitted.coef_ / scale, fitted.intercept_
    if len(weight) == 1:  # two classes: scikit-learn gives the second one's logit alone
        weight, bias = np.concatenate([-weight / 2, weight / 2]), np.concatenate([-bias / 2, bias / 2])
    return weight, bias - weight @ centre
