"""Cards that are kept: weights that were made here or brought here, as a folder of card.json and weights.safetensors.

Nothing here needs torch: a service that only says what there is reads records, not weights.
"""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

from seedbed.assets.zoo.card import UNKNOWN, Preprocessing
from seedbed.base.errors import Damaged, InvalidInput
from seedbed.base.files import write_atomically
from seedbed.base.names import problems_of_name

CARD_FILE, WEIGHTS_FILE = "card.json", "weights.safetensors"
_FORMAT = 1
_LONGEST = 120  # characters of a name


@dataclass(frozen=True)
class KeptCard:
    """What is known of one kept weights file; the file lies beside the record.

    `signature` names the bundle with the signature of the data set that it was trained on; empty: there is none, so
    that it cannot be compared. `lineage` says in plain values what it was made from. `digest` is the sha256 of the
    weights file. `made_at` is the side of the images that the network was made for, where its shape depends on that.
    """

    name: str
    architecture: str  # a timm name, or a short one of `backbones`
    trained_on: str  # the name of a data set
    classes: tuple[str, ...]
    parameters: int
    size: int  # of the file, in bytes
    preprocessing: Preprocessing
    digest: str
    outputs: int  # of its head; 0: it has none
    signature: str = ""
    images: int = 0  # that it was trained with
    accuracy: float | None = None  # on images that it had not seen
    licence: str = UNKNOWN
    source: str = UNKNOWN
    made_at: int | None = None
    lineage: Mapping[str, Any] = field(default_factory=dict)

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            "format": _FORMAT,
            **asdict(self),
            "classes": list(self.classes),
            "preprocessing": self.preprocessing.to_json(),
            "lineage": dict(self.lineage),
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "KeptCard":
        """What `to_json` gave."""
        try:
            facts = {name: value[name] for name in value if name != "format"}
            preprocessing = Preprocessing.from_json(facts["preprocessing"])
            return cls(**{**facts, "classes": tuple(facts["classes"]), "preprocessing": preprocessing})
        except (KeyError, TypeError, ValueError) as error:
            raise Damaged(f"This is not a card's record: {error!r}.") from error

    def write(self, folder: Path) -> None:
        """Into the folder that has its weights."""
        write_atomically(folder / CARD_FILE, json.dumps(self.to_json(), indent=2, ensure_ascii=False).encode())


def read_card(path: Path) -> KeptCard:
    """The record in a file."""
    try:
        return KeptCard.from_json(json.loads(path.read_text(encoding="utf-8")))
    except (OSError, ValueError) as error:
        raise Damaged(f"The card {path.name} cannot be read: {error}.") from error


def check_card_name(name: str, taken: Mapping[str, object] | frozenset[str] = frozenset()) -> None:
    """Refuse a name that a card cannot have."""
    problems = problems_of_name("a card's name", name)
    if not name or len(name) > _LONGEST:
        problems.append(f"a card's name has 1 to {_LONGEST} characters (given: {len(name)})")
    if name in ("auto", "none", "pretrained"):
        problems.append(f"'{name}' says how to choose weights, so no card can have that name")
    if name in taken:
        problems.append(f"'{name}' is the name of a card that comes with Seedbed")
    if problems:
        raise InvalidInput("The card cannot have this name.", problems=[f"{problem}." for problem in problems])
