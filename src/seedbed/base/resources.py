"""What a job asks for and what a machine has: cpus, memory, gpus."""

import re
from dataclasses import dataclass

from seedbed.base.errors import InvalidInput
from seedbed.base.mistakes import shown

_UNITS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_LONGEST = 50  # characters of an amount: beyond 300 digits it is no finite number any more


@dataclass(frozen=True)
class Resources:
    """An amount of cpus, bytes of memory and gpus."""

    cpus: float = 1.0
    memory: int = 1 << 30
    gpus: int = 0

    def __add__(self, other: "Resources") -> "Resources":
        return Resources(self.cpus + other.cpus, self.memory + other.memory, self.gpus + other.gpus)

    def __sub__(self, other: "Resources") -> "Resources":
        return Resources(self.cpus - other.cpus, self.memory - other.memory, self.gpus - other.gpus)

    def fits_in(self, room: "Resources") -> bool:
        """Whether no amount is larger than the room's."""
        return self.cpus <= room.cpus + 1e-9 and self.memory <= room.memory and self.gpus <= room.gpus

    def relative_to(self, capacity: "Resources") -> tuple[float, float, float]:
        """Each amount as a share of a capacity; a share of nothing is 0."""
        return (
            self.cpus / capacity.cpus if capacity.cpus else 0.0,
            self.memory / capacity.memory if capacity.memory else 0.0,
            self.gpus / capacity.gpus if capacity.gpus else 0.0,
        )


UNSET = Resources(cpus=0.0, memory=0)
"""What is left to the step."""


def parse_size(text: str | int) -> int:
    """Bytes of '512M', '2 GiB', '1.5g' or a plain number."""
    written = str(text).lower()
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([kmgt]?)(?:i?b)?\s*", written)
    if isinstance(text, int) and len(written) <= _LONGEST:
        return text
    if not match or len(written) > _LONGEST:
        raise InvalidInput(f"{shown(text)} is not an amount of memory.", hint="Write it like 512M, 2GiB or 1.5G.")
    return int(float(match[1]) * _UNITS[match[2]])


def written_size(size: int) -> str:
    """Bytes as `parse_size` reads them, rounded up to whole mebibytes: 512M, 2G."""
    mebibytes = -(-size // (1 << 20))
    return f"{mebibytes}M" if mebibytes % 1024 else f"{mebibytes // 1024}G"


def show_size(size: float) -> str:
    """Bytes for people: 1.5 GiB."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(size) < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"
