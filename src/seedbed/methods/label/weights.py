"""A network without a head, and its weights as one safetensors file that says what they are of."""

from pathlib import Path

from safetensors import SafetensorError, safe_open
from safetensors.torch import load_file, save_file

from seedbed.assets.zoo.builder import Backbone, build_backbone
from seedbed.assets.zoo.card import Card
from seedbed.base.errors import Damaged, InvalidInput, NotFound

_CARD = "card"


def headless(card: Card | str, size: int, weights: Path | None = None) -> Backbone:
    """The network of a card for images of `size` px, without its head; with the weights of a file, if one is given."""
    if size < 8:
        raise InvalidInput(f"size is {size}; it must be at least 8 pixels.")
    backbone = build_backbone(card, 0, size=size)
    backbone.network.eval().requires_grad_(False)
    if weights is not None:
        _load(backbone, card if isinstance(card, str) else card.name, weights)
    return backbone


def save_weights(backbone: Backbone, card: str, path: Path) -> None:
    """Write the weights of a card's network that has no head."""
    tensors = {name: value.detach().cpu().contiguous() for name, value in backbone.network.state_dict().items()}
    save_file(tensors, path, metadata={_CARD: card})


def _load(backbone: Backbone, card: str, path: Path) -> None:
    if not path.is_file():
        raise NotFound(f"There are no weights at {path}.", hint="Tune first, or leave the weights out.")
    try:
        with safe_open(path, framework="pt") as file:
            made_for = (file.metadata() or {}).get(_CARD, "an unknown network")
        tensors = load_file(path)
    except (OSError, SafetensorError) as error:
        raise Damaged(f"The weights in {path} cannot be read: {error}.") from error
    if made_for != card:
        raise InvalidInput(f"The weights in {path.name} are of '{made_for}', not of '{card}'.", hint="Name that card.")
    try:
        backbone.network.load_state_dict(tensors, strict=True)
    except RuntimeError as error:
        raise Damaged(f"The weights in {path} do not fit '{card}'.", hint="Tune again.") from error
