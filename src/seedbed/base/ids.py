"""Identifiers and digests."""

import hashlib
import json
import os
import time
import uuid
from pathlib import Path
from typing import Any


def new_id() -> str:
    """A version 7 uuid: 36 characters that sort by the time they were made, to the millisecond."""
    stamp = int(time.time() * 1000) & ((1 << 48) - 1)
    value = (stamp << 80) | int.from_bytes(os.urandom(10), "big")
    value = (value & ~(0xF << 76)) | (7 << 76)
    value = (value & ~(0x3 << 62)) | (2 << 62)
    return str(uuid.UUID(int=value))


def digest_of_bytes(data: bytes) -> str:
    """sha256 as 64 hex digits."""
    return hashlib.sha256(data).hexdigest()


def digest_of_file(path: Path) -> str:
    """sha256 of a file's bytes as 64 hex digits."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def canonical_json(value: Any) -> str:
    """One text per value: sorted keys, no spaces, no NaN."""
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)


def digest_of(value: Any) -> str:
    """sha256 of a JSON value's canonical text."""
    return digest_of_bytes(canonical_json(value).encode())
