"""The cards of the zoo as they lie in the store, beside those that come with Seedbed. No weights are read here."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from seedbed.assets.access.roles import Identity
from seedbed.assets.store.bundle import Bundle, FileLink
from seedbed.assets.store.store import Store
from seedbed.assets.zoo.backbones import network_of
from seedbed.assets.zoo.card import Card
from seedbed.assets.zoo.catalogue import CARDS
from seedbed.assets.zoo.records import CARD_FILE, WEIGHTS_FILE, KeptCard, read_card
from seedbed.base.errors import Damaged, NotFound
from seedbed.base.registry import near_matches
from seedbed.flows.kinds.models import Weights
from seedbed.flows.kinds.zoo import SIGNATURE_FILE, Signature
from seedbed.flows.usecases.pages import visible_projects

_PAGE = 1000
SUFFIX = f".{Weights.kind}"  # of a card's bundle, so that it does not stand before a data set of the same name


@dataclass(frozen=True)
class Kept:
    """A kept card: its bundle, its record, and the files that it consists of."""

    bundle: Bundle
    card: KeptCard

    @property
    def name(self) -> str:
        """What people call it."""
        return self.card.name

    @property
    def files(self) -> tuple[FileLink, ...]:
        """The record and the weights."""
        return tuple(link for link in self.bundle.arrays["weights"].files if link.name in (CARD_FILE, WEIGHTS_FILE))

    def fits(self, network: str, size: int) -> bool:
        """Whether a training of that network on images of that side can start from it."""
        return network_of(self.card.architecture) == network and self.card.made_at in (None, size)

    def facts(self) -> dict[str, Any]:
        """What a person wants to know of it."""
        own = {key: value for key, value in self.card.to_json().items() if key != "format"}
        more = {"bundle": self.bundle.uuid, "created": self.bundle.created, "project": self.bundle.project}
        return {**own, **more, "kept": True, "on_disk": True, "install": ""}


class Cards:
    """The cards that there are. Safe to use from any thread."""

    def __init__(self, store: Store) -> None:
        self._store = store

    def kept(self, projects: Sequence[str] | None) -> Iterator[Kept]:
        """The newest of each name, in some projects ('' is outside all) or everywhere; damaged ones are passed over."""
        for offset in range(0, 1 << 30, _PAGE):
            found = self._store.find(kind=Weights.kind, project=projects, limit=_PAGE, offset=offset)
            yield from (kept for bundle in found if (kept := self._opened(bundle)))
            if len(found) < _PAGE:
                return

    def named(self, name: str, by: Identity) -> Kept | None:
        """The kept card of a name; None: there is none that somebody may see."""
        found = self._store.find(f"{name}{SUFFIX}", kind=Weights.kind, project=visible_projects(by), limit=1)
        return self._opened(found[0]) if found else None

    def get(self, name: str, by: Identity) -> Kept | Card:
        """The card of a name, kept or one that comes with Seedbed."""
        if name in CARDS:
            return CARDS.get(name)
        kept = self.named(name, by)
        if kept is None:
            known = [*CARDS, *(each.name for each in self.kept(visible_projects(by)))]
            raise NotFound(f"There is no card named '{name}'.", hint=near_matches(name, known))
        return kept

    def signature_of(self, kept: Kept) -> Bundle | None:
        """The signature of the data set behind a card; None: it has none, or its data set was removed."""
        if not kept.card.signature:
            return None
        try:
            found = self._store.get(kept.card.signature)
        except NotFound:
            return None
        return found if found.kind == Signature.kind else None

    def signature_file(self, signature: Bundle) -> FileLink:
        """The file of a signature."""
        links = [link for link in signature.arrays["signature"].files if link.name == SIGNATURE_FILE]
        if not links:
            raise Damaged(f"'{signature.name}' has no {SIGNATURE_FILE}.", hint="seedbed store verify")
        return links[0]

    def _opened(self, bundle: Bundle) -> Kept | None:
        """None: weights that no card describes, such as those that were tuned to look at images with."""
        try:
            card = _read(self._store, bundle.uuid)
        except (NotFound, Damaged):
            return None
        return Kept(bundle, card) if card and bundle.name == f"{card.name}{SUFFIX}" else None


@lru_cache(maxsize=4096)  # bundles never change
def _read(store: Store, uuid: str) -> KeptCard | None:
    files = store.get(uuid).arrays.get("weights")
    links = [link for link in files.files if link.name == CARD_FILE] if files else []
    return read_card(store.path_of(links[0].digest)) if links else None
