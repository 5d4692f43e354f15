"""How kernels read images that lie channels last: tiles of pixels by channels, zeros beyond the edges."""
# mypy: allow-untyped-defs, allow-untyped-decorators

import triton
import triton.language as tl

STRIP, BLOCK = 16, 32  # pixels and channels of a tile: the quickest of those that were tried on an H200
_PROGRAMS = 792  # that share sums over all images, 6 for each core of an H200: each ends by adding up its threads' sums
# With 168 registers a thread, three programs fit into a core beside each other; a few kernels would take some more.
OPTIONS = {"STRIP": STRIP, "BLOCK": BLOCK, "num_warps": 4, "maxnreg": 168, "enable_fp_fusion": True}
SIZES = ("number", "height", "width", "rows")  # a kernel is compiled once for all of these, not anew for some


def sharing(tiles: int, others: int) -> int:
    """How many programs share so many tiles of pixels, where there are so many `others` for each of them."""
    return min(tiles, -(-_PROGRAMS // others))


@triton.jit
def places(base, row, column, inside, channel, known, height, width, channels):
    """Where pixels at some columns of a row are, and which of them exist; `base` is where their images begin."""
    at = base + (row * width + column) * channels
    rows = row + tl.zeros_like(column)
    there = inside & (column >= 0) & (column < width) & (rows >= 0) & (rows < height)
    return at[:, None] + channel[None, :], there[:, None] & known[None, :]


@triton.jit
def seen(images, where, mask):
    """Pixels as float32."""
    return tl.load(images + where, mask=mask, other=0.0).to(tl.float32)


@triton.jit
def let_through(gradient, results, where, mask):
    """Gradients behind a ReLU6 that gave such results; what is no number goes through, as torch has it."""
    result = seen(results, where, mask)
    return tl.where((result <= 0.0) | (result >= 6.0), 0.0, seen(gradient, where, mask))


@triton.jit
def relu6(sums):
    """Between 0 and 6; what is no number stays so, as a training that went astray is known by it."""
    return tl.where(sums < 0.0, 0.0, tl.where(sums > 6.0, 6.0, sums))
