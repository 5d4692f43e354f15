"""How much may come in at once."""

from dataclasses import dataclass

from seedbed.assets.data.decode import PIXEL_LIMIT


@dataclass(frozen=True)
class Limits:
    """Bounds on what is read from outside; the defaults admit any honest data set."""

    files: int = 1_000_000  # in one archive
    total_bytes: int = 256 << 30  # of one archive, unpacked
    ratio: float = 100.0  # of unpacked to packed bytes of an archive; images hardly shrink
    ratio_floor: int = 64 << 20  # archives that unpack to less than this are spared the ratio
    file_bytes: int = 2 << 30  # of one image file
    pixels: int = PIXEL_LIMIT  # of one image
