"""Whether timm's hub can give weights: its own library tries for most of a minute before it gives up."""

import os
import urllib.error
import urllib.request
from pathlib import Path

_SECONDS = 4.0


def may_give(repository: str | None) -> bool:
    """Whether it is worth asking for a repository: the hub answers, or something of it was fetched before.

    With HF_HUB_OFFLINE set the library looks at what was fetched before and nowhere else, at once.
    """
    if os.environ.get("HF_HUB_OFFLINE") or (repository and (_cache() / _folder_of(repository)).is_dir()):
        return True
    return answers(os.environ.get("HF_ENDPOINT") or "https://huggingface.co")


def answers(address: str, *, seconds: float = _SECONDS) -> bool:
    """Whether a web server answers there, whatever it says; proxies of the environment are used."""
    try:
        with urllib.request.urlopen(urllib.request.Request(address, method="HEAD"), timeout=seconds):
            return True
    except urllib.error.HTTPError:
        return True
    except (OSError, ValueError):
        return False


def _cache() -> Path:
    home = Path(os.environ.get("HF_HOME") or Path.home() / ".cache" / "huggingface")
    return Path(os.environ.get("HF_HUB_CACHE") or home / "hub")


def _folder_of(repository: str) -> str:
    return f"models--{repository.replace('/', '--')}"
