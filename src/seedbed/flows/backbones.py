"""The networks that a training can start from: those with a short name in a line each, all by their names.

Nothing is loaded for it.
"""

from collections.abc import Iterator

from seedbed.assets.zoo.backbones import BACKBONES, Record, is_backbone, plan_network
from seedbed.assets.zoo.catalogue import CARDS
from seedbed.base.errors import InvalidInput
from seedbed.base.registry import near_matches
from seedbed.flows.timm_names import timm_names


def backbones() -> dict[str, str]:
    """Name of each: the network, the images that it is meant for, and where its weights come from."""
    return {name: _line(name, record) for name, record in BACKBONES.items()}


def backbone_problems(name: str, size: int) -> Iterator[str]:
    """What is wrong with the name of a network or card, or with the side of its images, in a sentence.

    Which weights a tag behind it names (`resnet18.a1_in1k`) is for timm alone to say, when it is built.
    """
    if name not in CARDS and not is_backbone(name) and name.partition(".")[0] not in timm_names():
        known = sorted({*CARDS, *BACKBONES, *timm_names()})
        yield f"start: there is no backbone and no card named '{name}'. {near_matches(name, known, others=True)}"
    if size < 1:  # no network takes it: the settings say so themselves
        return
    try:
        plan_network(name, size=size, scratch=False)
    except InvalidInput as error:
        yield f"size: {error.message} {error.hint}"


def _line(name: str, record: Record) -> str:
    cards = [card for card in CARDS if card.partition(".")[0] == name]
    weights = f"weights: the card {cards[0]}" if cards else "weights: a hub, or none"
    return f"timm's {record.timm}{_patches(record)}; {weights}."


def _patches(record: Record) -> str:
    if record.patches:
        first, *_, last = (patch for _, patch in record.patches)
        return f", in patches of {first} px for small images to {last} px for large ones"
    if record.small_below:
        return f", with a finer beginning for images under {record.small_below} px from scratch"
    return f", made for images of {record.size} px"
