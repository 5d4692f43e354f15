"""Contexts as people use them."""

from seedbed.assets.access.roles import Identity


class Contexts:
    """Named sets of bundles, here and at a remote."""

    def create(self, name: str, *, by: Identity) -> object:
        """A new, empty context."""
        raise NotImplementedError

    def list(self, *, by: Identity) -> "list[object]":
        """Every context; the one in use is marked."""
        raise NotImplementedError

    def use(self, name: str, *, by: Identity) -> object:
        """New bundles go into this context from now on."""
        raise NotImplementedError

    def set_remote(self, name: str, address: str, *, by: Identity) -> object:
        """Where push and pull go: an fsspec address (a folder, s3://bucket/prefix)."""
        raise NotImplementedError
