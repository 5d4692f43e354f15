"""Networks from cards, short names and timm's names."""

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import timm
import torch
from timm.models.resnet import ResNet
from torch import Tensor, nn

from seedbed.assets.zoo.backbones import BACKBONES, Plan, is_backbone, plan_network
from seedbed.assets.zoo.cache import cached
from seedbed.assets.zoo.card import Card, Preprocessing
from seedbed.assets.zoo.catalogue import CARDS, cards_of_architecture, cards_on_disk
from seedbed.assets.zoo.hub import fetched_before, may_give
from seedbed.base.errors import Damaged, InvalidInput, NotFound, Unavailable
from seedbed.base.registry import near_matches

Weights = Literal["pretrained", "none"]
_IMAGENETS = frozenset({"in1k", "in12k", "in21k", "in22k"})  # as timm's tags call ImageNet and its larger sisters


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
    """A network for that many classes, from a card, a card's name, a short name or any of timm's.

    Pretrained weights come from a card on disk for the same network, else from timm's hub; when that cannot be reached,
    Unavailable says which cards are on disk, and when nobody offers any, InvalidInput does: nothing starts from scratch
    unless `weights` is "none". The same seed gives the same fresh parts; the global random state is left as it was.
    `size` is the side of the images: some networks are made for it (patches of a ViT, the stem of a ResNet), and
    `empty_network` needs the same one.
    """
    if weights == "none":
        return _from_scratch(start.architecture if isinstance(start, Card) else start, num_classes, seed, size)
    card = _card(start)
    if card is None:
        return _from_hub(str(start), num_classes, seed, size, fresh=True)
    _refuse_another_size(card, size)
    plan = plan_network(card.architecture, size=card.made_at, scratch=False)
    network = _create(plan, card.classes, seed=seed, size=card.made_at)
    _load(network, cached(card))
    _fresh_head(network, num_classes, seed)
    return Backbone(network, card.architecture, card.preprocessing, card.name)


def empty_network(architecture: str, num_classes: int, *, size: int | None = None) -> nn.Module:
    """The network alone, to load trained weights into; of the size of images that it was built for."""
    _check_name(architecture)
    return _create(plan_network(architecture, size=size, scratch=False), num_classes, seed=0, size=size)


def _card(start: Card | str) -> Card | None:
    """The card that a start means: itself, the one of that name, or one on disk for the network of that name."""
    if isinstance(start, Card):
        return start
    if start in CARDS:
        return CARDS.get(start)
    _check_name(start)
    return next((card for card in _cards_for(start) if card.on_disk), None)


def _cards_for(name: str) -> list[Card]:
    record = BACKBONES.get(name)
    return cards_of_architecture(record.timm if record else name)


def _check_name(name: str) -> None:
    tagged = "." in name and timm.is_model(name)
    known = name in timm.list_models(name.partition(".")[0], include_tags=True) if tagged else timm.is_model(name)
    if not known and not is_backbone(name):
        names = sorted({*CARDS, *BACKBONES, *timm.list_models()})
        raise NotFound(f"There is no card and no network named '{name}'.", hint=near_matches(name, names))


def _from_scratch(name: str, num_classes: int, seed: int, size: int | None) -> Backbone:
    architecture = CARDS.get(name).architecture if name in CARDS else name
    _check_name(architecture)
    plan = plan_network(architecture, size=size, scratch=True)
    network = _create(plan, num_classes, seed=seed, size=size)
    return Backbone(network, plan.architecture, preprocessing_of(network), "scratch")


def hub_network(name: str) -> Backbone:
    """A network of timm with the weights and the head that its hub offers; Unavailable where it cannot be reached."""
    _check_name(name)
    config = timm.get_pretrained_cfg(plan_network(name, size=None, scratch=False).timm, allow_unregistered=True)
    return _from_hub(name, config.num_classes if config else 1000, seed=0, size=None)


def learnt_from_imagenet(name: str) -> bool:
    """Whether the weights that timm has for a network learnt from ImageNet, in one of its sizes: their tag says so."""
    try:
        config = timm.get_pretrained_cfg(plan_network(name, size=None, scratch=False).timm, allow_unregistered=True)
    except RuntimeError:  # there is no such tag
        return False
    return bool(config and _IMAGENETS.intersection((config.tag or "").split("_")))


def _refuse_another_size(card: Card, size: int | None) -> None:
    if card.made_at and size and card.made_at != size:
        raise InvalidInput(
            f"The weights of '{card.name}' were made for images of {card.made_at} px, not of {size} px.",
            hint=f"Train at {card.made_at} px, or start from other weights.",
        )


def _from_hub(name: str, num_classes: int, seed: int, size: int | None, *, fresh: bool = False) -> Backbone:
    plan = plan_network(name, size=size, scratch=False)
    if plan.stem == "small" or not timm.is_model_pretrained(plan.timm):
        raise InvalidInput(f"Nobody offers pretrained weights of '{name}'.", hint=_instead(name))
    network = _fetched(name, plan, num_classes, seed, size)
    if fresh:
        _fresh_head(network, num_classes, seed)
    return Backbone(network, plan.architecture, preprocessing_of(network), f"hub:{plan.timm}")


def _fetched(name: str, plan: Plan, num_classes: int, seed: int, size: int | None) -> nn.Module:
    """With the weights that were fetched before, else with those that the hub gives now."""
    config = timm.get_pretrained_cfg(plan.timm, allow_unregistered=True)
    here = fetched_before(config.hf_hub_id) if config and config.hf_hub_id else None
    if not here and not may_give():
        raise Unavailable(
            f"The weights of '{name}' would come from a hub that cannot be reached from here.", hint=_instead(name)
        )
    try:
        return _create(plan, num_classes, seed=seed, size=size, pretrained=here or True)
    except Exception as error:  # the hub's library raises many unrelated types
        said = (str(error).strip() or type(error).__name__).splitlines()[0].rstrip(".")
        raise Unavailable(f"The hub has not given the weights of '{name}': {said}.", hint=_instead(name)) from error


def _instead(name: str) -> str:
    """What can be done where there are no weights."""
    install = "".join(f", bring its weights here ({card.install})" for card in _cards_for(name) if card.install)
    return f"Start from a card on disk ({_names_on_disk()}){install}, or from scratch with weights 'none'."


def _names_on_disk() -> str:
    return ", ".join(card.name for card in cards_on_disk()) or "none is installed"


def _create(
    plan: Plan, num_classes: int, *, seed: int, size: int | None = None, pretrained: bool | Path = False
) -> nn.Module:
    """The network, with fresh weights, with those of the hub, or with those of a file from there."""
    options = arguments_of(plan, size)
    if isinstance(pretrained, Path):
        options["pretrained_cfg_overlay"] = {"file": str(pretrained)}
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network = timm.create_model(plan.timm, num_classes=num_classes, pretrained=bool(pretrained), **options)
        if isinstance(network, ResNet) and plan.stem == "small":
            _small_stem(network)
    if not isinstance(network, nn.Module):
        raise NotFound(f"timm's '{plan.timm}' is not a network.")
    return network


def arguments_of(plan: Plan, size: int | None) -> dict[str, Any]:
    """What timm is told besides a network's name and its classes, for images of that side."""
    told = dict(plan.options)
    if size and _has_fixed_size(plan.timm):
        told["img_size"] = size
    return told


def depends_on_size(architecture: str) -> bool:
    """Whether the weights of a network fit images of one size only."""
    plan = plan_network(architecture, size=None, scratch=False)
    return bool(plan.options) or _has_fixed_size(plan.timm)


def made_for(architecture: str) -> int | None:
    """The side of the images that a network is made for where nobody says one; None: it takes any."""
    if not depends_on_size(architecture):
        return None
    record = BACKBONES.get(architecture)
    return record.size if record else preprocessing_of(empty_network(architecture, 0)).size


def _has_fixed_size(name: str) -> bool:
    """Whether a network has parameters that depend on the size of its images."""
    config = timm.get_pretrained_cfg(name, allow_unregistered=True)
    return bool(config and config.fixed_input_size)


def _small_stem(network: Any) -> None:
    """See small images at full resolution: 3 x 3 instead of 7 x 7 with stride 2, and no pooling after it."""
    stem = nn.Conv2d(3, network.conv1.out_channels, 3, padding=1, bias=False)
    nn.init.kaiming_normal_(stem.weight, mode="fan_out", nonlinearity="relu")
    network.conv1, network.maxpool = stem, nn.Identity()


def _load(network: nn.Module, card: Card) -> None:
    path = card.find()
    if path is None:
        raise Unavailable(
            f"The weights of '{card.name}' are not on this machine; they come from the {card.source}.",
            hint=f"{card.install or 'Install it'}, or start from a card on disk: {_names_on_disk()}.",
        )
    state: Mapping[str, Tensor] = card.read(path)
    try:
        network.load_state_dict(state, strict=True)
    except RuntimeError as error:
        raise Damaged(
            f"{path} does not fit '{card.architecture}'.", hint=f"{card.install or 'Import it'} again."
        ) from error


def _fresh_head(network: nn.Module, num_classes: int, seed: int) -> None:
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        network.reset_classifier(num_classes)  # type: ignore[operator]


def preprocessing_of(network: nn.Module) -> Preprocessing:
    """How timm says that images become a network's input."""
    config: Mapping[str, Any] = getattr(network, "default_cfg", {})
    mean, std = (tuple(config.get(name, (0.5, 0.5, 0.5))) for name in ("mean", "std"))
    return Preprocessing(mean=mean, std=std, size=int(config.get("input_size", (3, 224, 224))[-1]))
