"""Whether timm's hub can give weights: its own library tries for most of a minute before it gives up."""

import os
import urllib.error
import urllib.request
from pathlib import Path

_SECONDS = 4.0
_FILE = "model.safetensors"  # of every repository of timm


def fetched_before(repository: str) -> Path | None:
    """The weights of a repository that lie on this machine: nobody has to be asked for them again."""
    folder = _cache() / _folder_of(repository)
    try:
        commit = (folder / "refs" / "main").read_text(encoding="utf-8").strip()
    except OSError:
        return None
    file = folder / "snapshots" / commit / _FILE
    return file if commit and file.is_file() else None


def may_give() -> bool:
    """Whether it is worth asking the hub: it answers, and nobody forbade it (HF_HUB_OFFLINE)."""
    if os.environ.get("HF_HUB_OFFLINE"):
        return False
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
