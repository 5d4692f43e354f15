"""The catalogue: which cards there are, and which of them lie on this machine."""

from seedbed.assets.zoo.card import Card
from seedbed.base.registry import Registry

CARDS: Registry[Card] = Registry(
    "card",
    {"efficientnet_lite0.imagenet": "seedbed.assets.zoo.efficientnet_lite:LITE0"},
)


def cards() -> list[Card]:
    """Every card, by name."""
    return [CARDS.get(name) for name in CARDS]


def cards_on_disk() -> list[Card]:
    """The cards whose weights lie on this machine."""
    return [card for card in cards() if card.on_disk]


def card_of_architecture(architecture: str) -> Card | None:
    """The first card on disk for a timm network, or None."""
    return next((card for card in cards_on_disk() if card.architecture == architecture), None)
