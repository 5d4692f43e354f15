"""Lists of whole numbers as text: base64 of little-endian 32-bit integers, which browsers and desks read quickly."""

import base64
import binascii

import numpy as np
from numpy.typing import NDArray

from seedbed.base.errors import InvalidInput


def packed(numbers: NDArray[np.integer]) -> str:
    """As text."""
    return base64.b64encode(np.ascontiguousarray(numbers, dtype="<i4").tobytes()).decode()


def unpacked(text: str) -> NDArray[np.int32]:
    """What `packed` made a text of."""
    try:
        return np.frombuffer(base64.b64decode(text, validate=True), dtype="<i4").astype(np.int32)
    except (ValueError, binascii.Error) as error:
        raise InvalidInput(f"This is no list of numbers: {error}.") from None
