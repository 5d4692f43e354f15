"""Seedbed from Python: `Client(url, token)` speaks REST and stands on `base` and httpx alone."""

from seedbed.faces.client.client import Client

__all__ = ["Client"]
