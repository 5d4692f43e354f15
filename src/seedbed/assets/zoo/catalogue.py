"""The catalogue: which cards there are, and which of them lie on this machine."""

from seedbed.assets.zoo.card import Card
from seedbed.base.registry import Registry

CARDS: Registry[Card] = Registry(
    "card",
    {
        "efficientnet_lite0.imagenet": "seedbed.assets.zoo.efficientnet_lite:LITE0",
        "efficientnet_lite1.imagenet": "seedbed.assets.zoo.efficientnet_lite:LITE1",
        "efficientnet_lite2.imagenet": "seedbed.assets.zoo.efficientnet_lite:LITE2",
    },
)


def cards() -> list[Card]:
    """Every card, by name."""
    return [CARDS.get(name) for name in CARDS]


def cards_on_disk() -> list[Card]:
    """The cards whose weights lie on this machine."""
    return [card for card in cards() if card.on_disk]


def cards_of_architecture(architecture: str) -> list[Card]:
    """The cards for a timm network, those on disk first."""
    found = [card for card in cards() if card.architecture == architecture]
    return sorted(found, key=lambda card: not card.on_disk)
