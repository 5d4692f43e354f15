"""Any image that a phone, a drone or a scanner makes, as 8-bit RGB the way a person sees it.

EXIF orientation is applied; CMYK, palettes and greyscale are converted; 16-bit and floating-point values are scaled
by the range that they really use; transparency is laid on white; of an animation the first frame is taken. What cannot
be decoded raises Undecodable with a reason in words, and is a finding, not a failure.
"""

import contextlib
import importlib
import io
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache

import numpy as np
from numpy.typing import NDArray
from PIL import Image, UnidentifiedImageError

FORMATS = ("JPEG", "PNG", "WEBP", "TIFF", "GIF", "BMP", "AVIF", "PPM", "JPEG2000")  # a JPEG that holds several is MPO
SUFFIXES = {
    "JPEG": ".jpg",
    "MPO": ".jpg",
    "PNG": ".png",
    "WEBP": ".webp",
    "TIFF": ".tif",
    "GIF": ".gif",
    "BMP": ".bmp",
    "AVIF": ".avif",
    "PPM": ".ppm",
    "JPEG2000": ".jp2",
    "HEIF": ".heic",
}
PIXEL_LIMIT = 200_000_000

_ORIENTATION = 0x0112
_TURNS = {
    2: Image.Transpose.FLIP_LEFT_RIGHT,
    3: Image.Transpose.ROTATE_180,
    4: Image.Transpose.FLIP_TOP_BOTTOM,
    5: Image.Transpose.TRANSPOSE,
    6: Image.Transpose.ROTATE_270,
    7: Image.Transpose.TRANSVERSE,
    8: Image.Transpose.ROTATE_90,
}
_pillow_limit = threading.Lock()


class Undecodable(Exception):
    """Why a file is not an image that can be used, in a few words; `bomb` when it is a decompression bomb."""

    def __init__(self, reason: str, *, bomb: bool = False) -> None:
        super().__init__(reason)
        self.reason = reason
        self.bomb = bomb


@dataclass(frozen=True)
class Picture:
    """A decoded image: its pixels, and what the file says of itself."""

    pixels: NDArray[np.uint8]  # (height, width, 3)
    width: int  # of the original as people see it
    height: int
    format: str


def decode(data: bytes, *, size: int | None = None, pixel_limit: int | None = PIXEL_LIMIT) -> Picture:
    """Decode a file's bytes; with `size`, to size x size pixels.

    The whole image is squashed into the square: nothing is cut off, so what a label speaks of is always in the
    picture. JPEGs are decoded at the smallest scale that is no smaller than the square. Images that were admitted
    once are decoded with no limit.
    """
    try:
        with _open(data) as image:
            return _decode(image, size, pixel_limit)
    except Undecodable:
        raise
    except Exception as error:  # Pillow's plugins raise anything from SyntaxError to struct.error on broken files
        raise Undecodable(_reason(data, error)) from error


def _decode(image: Image.Image, size: int | None, pixel_limit: int | None) -> Picture:
    width, height = image.size
    if pixel_limit and width * height > pixel_limit:
        raise Undecodable(f"{width} x {height} pixels, more than the limit of {pixel_limit:,}", bomb=True)
    turn = _TURNS.get(image.getexif().get(_ORIENTATION, 1))
    if size:
        image.draft(None, (size, size))
    rgb = to_rgb(image)
    if size and rgb.size != (size, size):
        rgb = rgb.resize((size, size), Image.Resampling.BILINEAR, reducing_gap=3.0)
    if turn is not None:
        rgb = rgb.transpose(turn)
        if turn in (_TURNS[5], _TURNS[6], _TURNS[7], _TURNS[8]):
            width, height = height, width
    return Picture(np.asarray(rgb), width, height, image.format or "")


def to_rgb(image: Image.Image) -> Image.Image:
    """An image of any mode as RGB."""
    image.load()
    if image.mode == "RGB" and "transparency" not in image.info:
        return image
    if image.mode.startswith("I") or image.mode == "F":
        return Image.fromarray(_to_8_bits(np.asarray(image))).convert("RGB")
    if image.has_transparency_data:
        rgba = image.convert("RGBA")
        return Image.alpha_composite(Image.new("RGBA", rgba.size, "white"), rgba).convert("RGB")
    return image.convert("RGB")


def _to_8_bits(values: NDArray[np.generic]) -> NDArray[np.uint8]:
    """Deep values scaled by their true range: 10-, 12- and 14-bit cameras also write 16-bit files."""
    floats = np.nan_to_num(values.astype(np.float64), posinf=0.0, neginf=0.0)
    low, high = float(floats.min()), float(floats.max())
    if np.issubdtype(values.dtype, np.floating):
        tops: tuple[float, ...] = (1.0, 255.0)
    else:
        tops = (255.0, 1023.0, 4095.0, 16383.0, 65535.0)
    top = next((top for top in tops if high <= top), None)
    if low < 0 or top is None:
        floats, top = floats - low, max(high - low, 1e-12)
    return np.asarray(np.rint(floats * (255.0 / top)), dtype=np.uint8)


@contextlib.contextmanager
def _open(data: bytes) -> Iterator[Image.Image]:
    """Open without Pillow's own pixel limit, which warns at a size of its choosing: ours is checked instead."""
    with _pillow_limit:
        kept, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None
        try:
            image = Image.open(io.BytesIO(data), formats=(*FORMATS, *_from_phones()))
        finally:
            Image.MAX_IMAGE_PIXELS = kept
    with image:
        yield image


@cache
def _from_phones() -> tuple[str, ...]:
    """HEIF, which iPhones write and Pillow does not read by itself, where the package for it is installed."""
    try:
        importlib.import_module("pi_heif").register_heif_opener(thumbnails=False)
    except ImportError:  # a bare GPU node
        return ()
    return ("HEIF",)


def _reason(data: bytes, error: Exception) -> str:
    if not data:
        return "the file is empty"
    if not _from_phones() and data[4:12] in (b"ftypheic", b"ftypheix", b"ftypmif1", b"ftyphevc"):
        return "HEIC needs the package pi-heif here; else export it as JPEG (phones call that 'most compatible')"
    if isinstance(error, UnidentifiedImageError):
        return "not an image that can be read, or its beginning is damaged"
    if "truncated" in str(error).lower() or isinstance(error, EOFError):
        return "the file ends too early (truncated)"
    return f"damaged ({error})" if str(error) else f"damaged ({type(error).__name__})"
