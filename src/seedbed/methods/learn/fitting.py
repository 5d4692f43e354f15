"""The network of a run, tried on one image before anything is learnt."""

import torch

from seedbed.assets.zoo.builder import Backbone, build_backbone
from seedbed.assets.zoo.card import Card
from seedbed.base.errors import InvalidInput
from seedbed.methods.learn.settings import TrainSettings
from seedbed.methods.learn.shortage import is_shortage


def fitting_backbone(start: Card | str, classes: int, settings: TrainSettings, *, seed: int) -> Backbone:
    """The network that the settings name; refused where it cannot take images of their size.

    Which sizes a network takes is nowhere written: some have parts that are as large as the images, some make small
    images smaller than nothing.
    """
    built = build_backbone(start, classes, weights=settings.weights, seed=seed, size=settings.size)
    try:
        with torch.no_grad():
            built.network.eval()(torch.zeros(1, 3, settings.size, settings.size))
    except (RuntimeError, AssertionError, ValueError) as error:
        if is_shortage(error):
            raise
        usual = built.preprocessing.size
        instead = "" if usual == settings.size else f"Use images of {usual} px, which it is made for, or "
        raise InvalidInput(
            f"The network '{built.architecture}' cannot take images of {settings.size} px: {error}.",
            hint=f"{instead}{'another network' if instead else 'Use another network'}.",
        ) from error
    return built
