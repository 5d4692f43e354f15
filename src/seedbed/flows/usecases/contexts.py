"""Contexts as people use them: named sets of bundles, here and at a remote."""

import contextlib
from collections.abc import Callable, Iterator

from seedbed.assets.access.audit import Audit
from seedbed.assets.access.roles import Identity, Role
from seedbed.assets.store.contexts import Context
from seedbed.assets.store.contexts import Contexts as KeptContexts
from seedbed.assets.store.store import Store
from seedbed.assets.store.transfer import Transfer, pull, push
from seedbed.runtime.jobs.folders import JobFolders

Progress = Callable[[int, int], None]


class Contexts:
    """What people do with contexts; changing them is for operators."""

    def __init__(self, store: Store, audit: Audit) -> None:
        self._store = store
        self._kept = KeptContexts(store)
        self._audit = audit

    def create(self, name: str, *, by: Identity) -> Context:
        """A new, empty context."""
        by.require(Role.OPERATOR)
        made = self._kept.create(name)
        self._audit.record(by.name, "context.create", name)
        return made

    def list(self, *, by: Identity) -> "list[Context]":
        """Every context; the one in use is marked."""
        by.require(Role.VIEWER)
        return self._kept.list()

    def use(self, name: str, *, by: Identity) -> Context:
        """New bundles go into this context from now on."""
        by.require(Role.OPERATOR)
        used = self._kept.use(name)
        self._audit.record(by.name, "context.use", name)
        return used

    def set_remote(self, name: str, address: str, *, by: Identity) -> Context:
        """Where push and pull go: an fsspec address (a folder, s3://bucket/prefix)."""
        by.require(Role.OPERATOR)
        changed = self._kept.set_remote(name, address)
        self._audit.record(by.name, "context.set-remote", name, data={"address": address})
        return changed

    def remove(self, name: str, *, by: Identity) -> None:
        """Forget a context; its bundles stay, here and at its remote, until they are removed themselves."""
        by.require(Role.OPERATOR)
        self._kept.delete(name)
        self._audit.record(by.name, "context.remove", name)

    def push(
        self, name: str = "", *, check: bool = False, on_progress: Progress | None = None, by: Identity
    ) -> Transfer:
        """Copy what the context's remote lacks ('' is the context in use); `check`: also what is damaged there."""
        by.require(Role.OPERATOR)
        self._audit.record(by.name, "context.push", name)
        with self._forgetting():
            return push(self._store, name, check=check, on_progress=on_progress)

    def pull(
        self, name: str = "", *, check: bool = False, on_progress: Progress | None = None, by: Identity
    ) -> Transfer:
        """Copy what is missing here, or damaged, from the context's remote; `check`: every byte here is read first."""
        by.require(Role.OPERATOR)
        self._audit.record(by.name, "context.pull", name)
        with self._forgetting():
            return pull(self._store, name, check=check, on_progress=on_progress)

    @contextlib.contextmanager
    def _forgetting(self) -> Iterator[None]:
        """What turns out to be deleted at the remote goes from kept inputs too, also when no service runs here."""
        cursor = self._store.events.last()
        yield
        if deleted := {event.subject for event in self._store.events.after(cursor, kinds=("bundle.deleted",))}:
            JobFolders(self._store.home / "jobs").forget_inputs(deleted)
