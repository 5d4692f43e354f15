"""Starts that were measured before Seedbed came here: what the first rankings learn from."""

import json
from pathlib import Path
from typing import Any

from seedbed.base.errors import Damaged

FILE = Path(__file__).with_name("measured_starts.json")  # benchmarks/dsd_correlation.py writes it


def measured_starts(path: Path = FILE) -> list[dict[str, Any]]:
    """What each start brought on real data sets, against ImageNet's, as `Outcome.to_json` has it; none: no file."""
    if not path.is_file():
        return []
    try:
        found: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))["starts"]
        return found
    except (ValueError, KeyError, TypeError) as error:
        raise Damaged(f"{path.name} cannot be read: {error!r}.", hint="Install Seedbed again.") from error
