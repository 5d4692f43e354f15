"""Stride 2: a program has some results, wherever they are, and so the two by two pixels of the images behind each.

`above` and `left` are the zeros before the first row and column; results are half as many as pixels, rounded up.
"""
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

import torch
import triton
import triton.language as tl
from torch import Tensor

from seedbed.methods.learn.depthwise.reads import (
    BLOCK,
    OPTIONS,
    SIZES,
    STRIP,
    let_through,
    places,
    relu6,
    seen,
    sharing,
)


def convolved(images: Tensor, weight: Tensor, bias: Tensor, above: int, left: int) -> Tensor:
    """ReLU6 of a convolution; `weight` is (side * side, channels)."""
    images_in_all, channels, height, width = images.shape
    shape = (images_in_all, channels, (height + 1) // 2, (width + 1) // 2)
    result = torch.empty(shape, device=images.device, dtype=images.dtype, memory_format=torch.channels_last)
    number = result.numel() // channels
    _forward[_grid(number, channels)](
        images, weight, bias, result, number, height, width, channels, **_options(weight, above, left)
    )
    return result


def gradients(
    gradient: Tensor, images: Tensor, weight: Tensor, result: Tensor, above: int, left: int
) -> tuple[Tensor, Tensor]:
    """Of the images, and of the weights with the bias below them."""
    to_images = torch.empty_like(images)
    channels, height, width = images.shape[1:]
    number, options = result.numel() // channels, _options(weight, above, left)
    _to_images[_grid(number, channels)](gradient, result, weight, to_images, number, height, width, channels, **options)
    blocks, columns = triton.cdiv(channels, BLOCK), options["SIDE"]
    sharers = sharing(triton.cdiv(number, STRIP), blocks * columns)
    partial = torch.empty(sharers, len(weight) + 1, channels, device=images.device, dtype=torch.float32)
    _column_of_weights[sharers, blocks, columns](
        images, gradient, result, partial, number, height, width, channels, **options
    )
    return to_images, partial.sum(dim=0)


def _grid(number: int, channels: int) -> tuple[int, int]:
    return triton.cdiv(number, STRIP), triton.cdiv(channels, BLOCK)


def _options(weight: Tensor, above: int, left: int) -> dict[str, int]:
    return {"SIDE": 3 if len(weight) == 9 else 5, "ABOVE": above, "LEFT": left, **OPTIONS}


@triton.jit(do_not_specialize=SIZES)
def _forward(
    images, weight, bias, result, number, height, width, channels,
    SIDE: tl.constexpr, ABOVE: tl.constexpr, LEFT: tl.constexpr, STRIP: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    place = tl.program_id(0) * STRIP + tl.arange(0, STRIP)
    channel = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside, known = place < number, channel < channels
    half_height, half_width = (height + 1) // 2, (width + 1) // 2
    image, rest = place // (half_height * half_width), place % (half_height * half_width)
    base = image * height * width * channels
    row, column = rest // half_width * 2 - ABOVE, rest % half_width * 2 - LEFT
    total = tl.zeros((STRIP, BLOCK), tl.float32) + tl.load(bias + channel, mask=known, other=0.0)[None, :]
    for i in tl.static_range(SIDE):
        for j in tl.static_range(SIDE):
            where, mask = places(base, row + i, column + j, inside, channel, known, height, width, channels)
            met = tl.load(weight + (i * SIDE + j) * channels + channel, mask=known, other=0.0)
            total += seen(images, where, mask) * met[None, :]
    to = result + place[:, None] * channels + channel[None, :]
    tl.store(to, relu6(total).to(result.dtype.element_ty), mask=inside[:, None] & known[None, :])


@triton.jit(do_not_specialize=SIZES)
def _to_images(
    gradient, results, weight, to_images, number, height, width, channels,
    SIDE: tl.constexpr, ABOVE: tl.constexpr, LEFT: tl.constexpr, STRIP: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """The gradients of two by two pixels, from the few results that they were part of."""
    place = tl.program_id(0) * STRIP + tl.arange(0, STRIP)
    channel = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside, known = place < number, channel < channels
    half_height, half_width = (height + 1) // 2, (width + 1) // 2
    image, rest = place // (half_height * half_width), place % (half_height * half_width)
    row, column = rest // half_width, rest % half_width
    base = image * half_height * half_width * channels
    s00 = tl.zeros((STRIP, BLOCK), tl.float32)
    s01 = tl.zeros((STRIP, BLOCK), tl.float32)
    s10 = tl.zeros((STRIP, BLOCK), tl.float32)
    s11 = tl.zeros((STRIP, BLOCK), tl.float32)
    for down in tl.static_range(-1, ABOVE + 1):
        for across in tl.static_range(-1, LEFT + 1):
            where, mask = places(
                base, row + down, column + across, inside, channel, known, half_height, half_width, channels
            )  # fmt: skip
            g = let_through(gradient, results, where, mask)
            for a in tl.static_range(2):
                for b in tl.static_range(2):
                    # pixel 2 row + a is met by the weights' row a + ABOVE - 2 down in the result of row + down
                    if (
                        (a + ABOVE - 2 * down >= 0)
                        and (a + ABOVE - 2 * down < SIDE)
                        and (b + LEFT - 2 * across >= 0)
                        and (b + LEFT - 2 * across < SIDE)
                    ):
                        number_of_weight = (a + ABOVE - 2 * down) * SIDE + b + LEFT - 2 * across
                        met = tl.load(weight + number_of_weight * channels + channel, mask=known, other=0.0)
                        part = g * met[None, :]
                        if a == 0 and b == 0:
                            s00 += part
                        elif a == 0:
                            s01 += part
                        elif b == 0:
                            s10 += part
                        else:
                            s11 += part
    at = (image * height + 2 * row) * width + 2 * column
    to = to_images + at[:, None] * channels + channel[None, :]
    kind = to_images.dtype.element_ty
    below, right = inside & (2 * row + 1 < height), inside & (2 * column + 1 < width)
    tl.store(to, s00.to(kind), mask=inside[:, None] & known[None, :])
    tl.store(to + channels, s01.to(kind), mask=right[:, None] & known[None, :])
    tl.store(to + width * channels, s10.to(kind), mask=below[:, None] & known[None, :])
    tl.store(to + (width + 1) * channels, s11.to(kind), mask=(below & right)[:, None] & known[None, :])


@triton.jit(do_not_specialize=SIZES)
def _column_of_weights(
    images, gradient, results, partial, number, height, width, channels,
    SIDE: tl.constexpr, ABOVE: tl.constexpr, LEFT: tl.constexpr, STRIP: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Sums for the gradients of one column of the weights (and, with the first, of the bias) over some results."""
    channel = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(2)
    known = channel < channels
    half_height, half_width = (height + 1) // 2, (width + 1) // 2
    nothing = tl.zeros((STRIP, BLOCK), tl.float32)
    s0 = nothing
    s1 = nothing
    s2 = nothing
    s3 = nothing
    s4 = nothing
    of_bias = nothing
    for strip in range(tl.program_id(0), tl.cdiv(number, STRIP), tl.num_programs(0)):
        place = strip * STRIP + tl.arange(0, STRIP)
        inside = place < number
        mine = place[:, None] * channels + channel[None, :]
        g = let_through(gradient, results, mine, inside[:, None] & known[None, :])
        of_bias += g
        image, rest = place // (half_height * half_width), place % (half_height * half_width)
        base = image * height * width * channels
        row, column = rest // half_width * 2 - ABOVE, rest % half_width * 2 - LEFT + j
        where, mask = places(base, row, column, inside, channel, known, height, width, channels)
        s0 += g * seen(images, where, mask)
        where, mask = places(base, row + 1, column, inside, channel, known, height, width, channels)
        s1 += g * seen(images, where, mask)
        where, mask = places(base, row + 2, column, inside, channel, known, height, width, channels)
        s2 += g * seen(images, where, mask)
        if SIDE == 5:
            where, mask = places(base, row + 3, column, inside, channel, known, height, width, channels)
            s3 += g * seen(images, where, mask)
            where, mask = places(base, row + 4, column, inside, channel, known, height, width, channels)
            s4 += g * seen(images, where, mask)
    to = partial + tl.program_id(0) * (SIDE * SIDE + 1) * channels + channel
    tl.store(to + j * channels, tl.sum(s0, 0), mask=known)
    tl.store(to + (SIDE + j) * channels, tl.sum(s1, 0), mask=known)
    tl.store(to + (2 * SIDE + j) * channels, tl.sum(s2, 0), mask=known)
    if SIDE == 5:
        tl.store(to + (3 * SIDE + j) * channels, tl.sum(s3, 0), mask=known)
        tl.store(to + (4 * SIDE + j) * channels, tl.sum(s4, 0), mask=known)
    if j == 0:
        tl.store(to + SIDE * SIDE * channels, tl.sum(of_bias, 0), mask=known)
