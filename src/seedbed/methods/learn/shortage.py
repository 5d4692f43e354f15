"""Running out of memory, in words."""

import contextlib
from collections.abc import Iterator

import torch

from seedbed.base.errors import Failed

_CPU_SAYS = ("can't allocate memory", "not enough memory", "bad allocation", "std::bad_alloc")


@contextlib.contextmanager
def says_when_short(device: torch.device, what: str, hint: str) -> Iterator[None]:
    """Turn every way in which torch and numpy run out of memory into one sentence: the device does not hold `what`."""
    try:
        yield
    except (torch.OutOfMemoryError, MemoryError) as error:
        raise _short(device, what, hint) from error
    except RuntimeError as error:  # torch has no type of its own for the memory of a CPU, nor for a size past counting
        if any(words in str(error) for words in (*_CPU_SAYS, "Storage size calculation overflowed")):
            raise _short(device, what, hint) from error
        raise


def _short(device: torch.device, what: str, hint: str) -> Failed:
    return Failed(f"The memory of {device} does not hold {what}.", hint=hint)
