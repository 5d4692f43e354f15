"""Running out of memory, in words."""

import contextlib
from collections.abc import Iterator

import torch

from seedbed.base.errors import Failed

_SAYS = (
    *("can't allocate memory", "not enough memory", "bad_alloc", "Storage size calculation overflowed"),
    *("out of memory", "CUBLAS_STATUS_ALLOC_FAILED", "CUDNN_STATUS_ALLOC_FAILED"),
)


@contextlib.contextmanager
def says_when_short(device: torch.device, what: str, hint: str) -> Iterator[None]:
    """Turn every way in which torch and numpy run out of memory into one sentence: the device does not hold `what`."""
    try:
        yield
    except (RuntimeError, MemoryError) as error:
        if is_shortage(error):
            raise Failed(f"The memory of {device} does not hold {what}.", hint=hint) from error
        raise


def is_shortage(error: Exception) -> bool:
    """Whether memory ran out: torch has no type of its own for that of a CPU, nor for what libraries take."""
    return isinstance(error, torch.OutOfMemoryError | MemoryError) or any(words in str(error) for words in _SAYS)
