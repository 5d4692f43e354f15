"""The network of a run, tried on one image before anything is learnt."""

import torch

from seedbed.assets.zoo.builder import Backbone, build_backbone
from seedbed.assets.zoo.card import Card
from seedbed.base.errors import InvalidInput
from seedbed.methods.learn.settings import TrainSettings
from seedbed.methods.learn.shortage import is_shortage

_UNFIT = (RuntimeError, AssertionError, ValueError, ArithmeticError, IndexError)  # of parts that come out as nothing


def fitting_backbone(start: Card | str, classes: int, settings: TrainSettings, *, seed: int) -> Backbone:
    """The network that the settings name; refused where it cannot take images of their size.

    Which sizes a network takes is nowhere written: some have parts that are as large as the images, some make small
    images smaller than nothing, and some cannot even be made for them.
    """
    built: Backbone | None = None
    try:
        built = build_backbone(start, classes, weights=settings.weights, seed=seed, size=settings.size)
        with torch.no_grad():
            built.network.eval()(torch.zeros(1, 3, settings.size, settings.size))
    except _UNFIT as error:
        if is_shortage(error):
            raise
        raise _refused(built or build_backbone(start, classes, weights="none"), settings.size, error) from error
    return built


def _refused(network: Backbone, size: int, error: Exception) -> InvalidInput:
    usual, said = network.preprocessing.size, str(error).strip().rstrip(".")
    instead = "" if usual == size else f"Use images of {usual} px, which it is made for, or "
    return InvalidInput(
        f"The network '{network.architecture}' cannot take images of {size} px{f': {said}' if said else ''}.",
        hint=f"{instead}{'another network' if instead else 'Use another network'}.",
    )
