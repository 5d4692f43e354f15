"""What every store of bundles is: the interface that the rest of Seedbed hangs on."""

from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol

from seedbed.assets.store.bundle import Bundle, Draft
from seedbed.assets.store.deletion import Deletion
from seedbed.assets.store.events import Event
from seedbed.assets.store.lineage import Direction, Graph


class Feed(Protocol):
    """The ordered feed of a store; who has seen number n never sees a smaller one appear later."""

    def after(self, cursor: int, limit: int = 1000, kinds: Collection[str] = ()) -> list[Event]:
        """The events that follow a cursor, in order."""
        ...

    def wait(self, cursor: int, timeout: float, kinds: Collection[str] = ()) -> list[Event]:
        """The events that follow a cursor, as soon as there are any; none when the time is over."""
        ...


class BundleStore(Protocol):
    """Keeps bundles: immutable, found by name, key and uuid, and really gone once deleted.

    Called from any thread and from several processes. What a method has returned from survives the death of the
    process; what it raised from has left nothing that anybody sees. `seedbed.testing.stores` proves it.
    """

    @property
    def events(self) -> Feed:
        """What happened here, in order."""
        ...

    def publish(self, draft: Draft, *, consume: bool = False) -> Bundle:
        """Keep a bundle; one whose key is known already is answered with the bundle that has it."""
        ...

    def publish_many(self, drafts: Sequence[Draft], *, guard: Any = None, consume: bool = False) -> list[Bundle]:
        """Keep all or nothing; `guard` may raise, inside the transaction, to refuse."""
        ...

    def get(self, ref: str) -> Bundle:
        """By uuid, by name (the newest), or by the beginning of a uuid; raises NotFound."""
        ...

    def by_key(self, key: str) -> Bundle | None:
        """The bundle that answers to a key."""
        ...

    def find(
        self,
        name: str = "",
        *,
        kind: str = "",
        tags: Mapping[str, str] | None = None,
        project: str | Collection[str] | None = None,
        all_versions: bool = False,
        limit: int = 100,
        offset: int = 0,
    ) -> list[Bundle]:
        """Newest first; only the newest of each name unless every version is asked for."""
        ...

    def tag(self, ref: str, changes: Mapping[str, str | None]) -> Bundle:
        """Set tags; None takes one away."""
        ...

    def lineage(self, uuid: str, *, depth: int = 50, direction: Direction = "up") -> Graph:
        """What a bundle was made from, or what was made of it."""
        ...

    def delete(self, uuids: Collection[str], *, cascade: bool = True) -> Deletion:
        """Delete bundles and what is derived from them."""
        ...

    def checkout(self, bundle: Bundle, folder: Path, *, links: bool = False) -> Path:
        """Lay a bundle out in a folder."""
        ...
