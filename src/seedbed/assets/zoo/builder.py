"""Networks from cards and timm names."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import timm
import torch
from torch import Tensor, nn

from seedbed.assets.zoo.card import Card, Preprocessing
from seedbed.assets.zoo.catalogue import CARDS, card_of_architecture, cards_on_disk
from seedbed.base.errors import Damaged, NotFound, Unavailable
from seedbed.base.registry import near_matches

Weights = Literal["pretrained", "none"]


@dataclass(frozen=True)
class Backbone:
    """A network with a fresh head, and what is needed to use it."""

    network: nn.Module
    architecture: str
    preprocessing: Preprocessing
    started_from: str  # a card's name, "hub:<name>" or "scratch"


def build_backbone(
    start: Card | str, num_classes: int, *, weights: Weights = "pretrained", seed: int = 0, size: int | None = None
) -> Backbone:
    """A network for that many classes, from a card, a card's name or a timm name.

    A timm name takes the weights of a card on disk for the same network, else those of timm's hub; when that cannot be
    reached, Unavailable names the cards on disk. The same seed gives the same fresh parts; the global random state is
    left as it was. `size` is told to networks whose parameters depend on it (ViT).
    """
    card = _card(start)
    architecture = card.architecture if card else str(start)
    if card is None or weights == "none":
        return _from_timm(architecture, num_classes, weights=weights, seed=seed, size=size)
    network = _create(architecture, card.classes, seed=seed, size=None)
    _load(network, card)
    _fresh_head(network, num_classes, seed)
    return Backbone(network, architecture, card.preprocessing, card.name)


def empty_network(architecture: str, num_classes: int, *, size: int | None = None) -> nn.Module:
    """The network alone, to load trained weights into."""
    return _create(architecture, num_classes, seed=0, size=size)


def _card(start: Card | str) -> Card | None:
    if isinstance(start, Card):
        return start
    if start in CARDS:
        return CARDS.get(start)
    if not timm.is_model(start):
        names = [*CARDS, *timm.list_models()]
        raise NotFound(f"There is no card and no timm network named '{start}'.", hint=near_matches(start, names))
    return card_of_architecture(start)


def _from_timm(architecture: str, num_classes: int, *, weights: Weights, seed: int, size: int | None) -> Backbone:
    if weights == "none":
        network = _create(architecture, num_classes, seed=seed, size=size)
        return Backbone(network, architecture, _preprocessing(network), "scratch")
    try:
        network = _create(architecture, num_classes, seed=seed, size=size, pretrained=True)
    except Exception as error:  # the hub's library raises many unrelated types for "cannot be reached"
        raise Unavailable(
            f"The weights of '{architecture}' would come from a hub that cannot be reached from here.",
            hint=f"Start from a card on disk ({_names_on_disk()}), or from scratch with weights 'none'.",
        ) from error
    _fresh_head(network, num_classes, seed)
    return Backbone(network, architecture, _preprocessing(network), f"hub:{architecture}")


def _names_on_disk() -> str:
    return ", ".join(card.name for card in cards_on_disk()) or "none is installed"


def _create(architecture: str, num_classes: int, *, seed: int, size: int | None, pretrained: bool = False) -> nn.Module:
    options: dict[str, Any] = {"img_size": size} if size and "vit" in architecture else {}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = timm.create_model(architecture, num_classes=num_classes, pretrained=pretrained, **options)
    if not isinstance(network, nn.Module):
        raise NotFound(f"timm's '{architecture}' is not a network.")
    return network


def _load(network: nn.Module, card: Card) -> None:
    path = card.find()
    if path is None:
        raise Unavailable(
            f"The weights of '{card.name}' are not on this machine; they come from the {card.source}.",
            hint=f"Install it, or start from a card on disk: {_names_on_disk()}.",
        )
    state: Mapping[str, Tensor] = card.read(path)
    try:
        network.load_state_dict(state, strict=True)
    except RuntimeError as error:
        raise Damaged(f"{path} does not fit '{card.architecture}'.", hint="Install its package again.") from error


def _fresh_head(network: nn.Module, num_classes: int, seed: int) -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network.reset_classifier(num_classes)  # type: ignore[operator]


def _preprocessing(network: nn.Module) -> Preprocessing:
    config: Mapping[str, Any] = getattr(network, "default_cfg", {})
    mean, std = (tuple(config.get(name, (0.5, 0.5, 0.5))) for name in ("mean", "std"))
    return Preprocessing(mean=mean, std=std, size=int(config.get("input_size", (3, 224, 224))[-1]))
