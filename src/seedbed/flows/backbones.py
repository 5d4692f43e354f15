"""The networks that a training can start from by a short name, in a line each; nothing is loaded for it."""

from seedbed.assets.zoo.backbones import BACKBONES, Record
from seedbed.assets.zoo.catalogue import CARDS


def backbones() -> dict[str, str]:
    """Name of each: the network, the images that it is meant for, and where its weights come from."""
    return {name: _line(name, record) for name, record in BACKBONES.items()}


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
