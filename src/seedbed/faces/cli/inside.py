"""The whole service within this process, for commands that have no server."""

import contextlib
import logging
import os
import secrets
from collections.abc import Iterator

from seedbed.base.settings import Settings, load_settings
from seedbed.faces.api.app import create_app
from seedbed.faces.client import Client
from seedbed.faces.client.inprocess import InProcessTransport
from seedbed.flows.platform import Platform

_LONG = 24 * 3600.0  # a command waits for its own work as long as it takes


@contextlib.contextmanager
def inside() -> Iterator[tuple[Client, Platform]]:
    """A client to the app over SEEDBED_HOME, as operator, who may read what the operating system lets them read."""
    logging.basicConfig(level=logging.INFO if os.environ.get("SEEDBED_DEBUG") else logging.CRITICAL)
    settings: Settings = load_settings({"import_roots": ("/",)})
    token = secrets.token_urlsafe(16)
    platform = Platform.open(settings)
    try:
        transport = InProcessTransport(create_app(platform, settings=settings, solo_token=token))
        with Client("http://localhost", token, transport=transport, timeout=_LONG) as client:
            yield client, platform
    finally:
        platform.close()
