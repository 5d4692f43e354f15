"""What is missing or unsafe on this machine, in sentences."""

from dataclasses import dataclass
from typing import Literal

from seedbed.base.settings import Settings

Verdict = Literal["ok", "warn", "bad"]


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    name: str
    ok: Verdict
    sentence: str
    hint: str = ""


def examine(settings: Settings) -> list[Check]:
    """Every check; opens no platform, so that it also works where one cannot be opened."""
    raise NotImplementedError
