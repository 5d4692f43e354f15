"""Stride 1: a program walks down the rows of a strip of columns and channels."""
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators

import torch
import triton
import triton.language as tl
from torch import Tensor

from seedbed.methods.learn.depthwise.reads import BLOCK, OPTIONS, SIZES, STRIP, let_through, places, relu6, seen

_ROWS = 16  # of a program's walk: fewer are more programs, which read more rows twice


def convolved(images: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
    """ReLU6 of a convolution whose results are as large as the images; `weight` is (side * side, channels)."""
    result = torch.empty_like(images)
    _walk(images, images, weight, bias, result, backwards=False)
    return result


def gradients(gradient: Tensor, images: Tensor, weight: Tensor, result: Tensor) -> tuple[Tensor, Tensor]:
    """Of the images, and of the weights with the bias below them."""
    to_images = torch.empty_like(images)
    _walk(gradient, result, weight, weight, to_images, backwards=True)
    number, channels, height, width = images.shape
    strips, blocks, side = triton.cdiv(number * width, STRIP), triton.cdiv(channels, BLOCK), _side(weight)
    partial = torch.empty(strips, len(weight) + 1, channels, device=images.device, dtype=torch.float32)
    kernel, grid = (_nine_weights, (strips, blocks)) if side == 3 else (_column_of_five, (strips, blocks, side))
    kernel[grid](images, gradient, result, partial, number * width, height, width, channels, **OPTIONS)
    return to_images, partial.sum(dim=0)


def _walk(values: Tensor, results: Tensor, weight: Tensor, bias: Tensor, made: Tensor, *, backwards: bool) -> None:
    number, channels, height, width = values.shape
    rows = min(_ROWS, height)
    grid = (triton.cdiv(number * width, STRIP), triton.cdiv(channels, BLOCK), triton.cdiv(height, rows))
    _walk_kernel[grid](
        values, results, weight, bias, made, number * width, height, width, rows, channels,
        SIDE=_side(weight), BACKWARDS=backwards, **OPTIONS,
    )  # fmt: skip


def _side(weight: Tensor) -> int:
    return 3 if len(weight) == 9 else 5


@triton.jit(do_not_specialize=SIZES)
def _walk_kernel(
    values, results, weight, bias, made, number, height, width, rows, channels,
    SIDE: tl.constexpr, BACKWARDS: tl.constexpr, STRIP: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """The convolution with ReLU6; BACKWARDS the gradients of its images, by the weights turned round."""
    AROUND: tl.constexpr = SIDE // 2
    place = tl.program_id(0) * STRIP + tl.arange(0, STRIP)
    channel = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside, known = place < number, channel < channels
    base, column = place // width * height * width * channels, place % width
    first = tl.program_id(2) * rows
    shift = tl.zeros((BLOCK,), tl.float32)
    if not BACKWARDS:
        shift = tl.load(bias + channel, mask=known, other=0.0)
    nothing = tl.zeros((STRIP, BLOCK), tl.float32)
    open0 = nothing  # results that lack rows: the next to be complete, and those after it
    open1 = nothing
    open2 = nothing
    open3 = nothing
    for row in range(first - AROUND, tl.minimum(first + rows, height) + AROUND):
        complete = open0
        open0 = open1
        open1 = open2
        open2 = open3
        open3 = nothing
        for j in tl.static_range(SIDE):
            where, mask = places(
                base, row, column + (j - AROUND), inside, channel, known, height, width, channels
            )  # fmt: skip
            value = let_through(values, results, where, mask) if BACKWARDS else seen(values, where, mask)
            for i in tl.static_range(SIDE):  # the weights' row i meets the result of row - i + AROUND
                met = (SIDE - 1 - i) * SIDE + SIDE - 1 - j if BACKWARDS else i * SIDE + j
                part = value * tl.load(weight + met * channels + channel, mask=known, other=0.0)[None, :]
                if i == SIDE - 1:
                    complete += part
                elif i == SIDE - 2:
                    open0 += part
                elif i == SIDE - 3:
                    open1 += part
                elif i == SIDE - 4:
                    open2 += part
                else:
                    open3 += part
        if row - AROUND >= first:
            total = complete + shift[None, :]
            if not BACKWARDS:
                total = relu6(total)
            at = base + ((row - AROUND) * width + column) * channels
            to = made + at[:, None] + channel[None, :]
            tl.store(to, total.to(made.dtype.element_ty), mask=inside[:, None] & known[None, :])


@triton.jit(do_not_specialize=SIZES)
def _nine_weights(
    images, gradient, results, partial, number, height, width, channels, STRIP: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Sums for the gradients of 3 x 3 weights and of the bias over a strip, all of its rows."""
    place = tl.program_id(0) * STRIP + tl.arange(0, STRIP)
    channel = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    inside, known = place < number, channel < channels
    base, column = place // width * height * width * channels, place % width
    nothing = tl.zeros((STRIP, BLOCK), tl.float32)
    s00 = nothing
    s01 = nothing
    s02 = nothing
    s10 = nothing
    s11 = nothing
    s12 = nothing
    s20 = nothing
    s21 = nothing
    s22 = nothing
    of_bias = nothing
    g1 = nothing
    where, mask = places(base, 0, column, inside, channel, known, height, width, channels)
    g0 = let_through(gradient, results, where, mask)
    for row in range(0, height):
        g2 = g1  # the weights' row i meets the gradient of row - i + 1
        g1 = g0
        where, mask = places(base, row + 1, column, inside, channel, known, height, width, channels)
        g0 = let_through(gradient, results, where, mask)
        where, mask = places(base, row, column - 1, inside, channel, known, height, width, channels)
        pixel = seen(images, where, mask)
        s00 += g0 * pixel
        s10 += g1 * pixel
        s20 += g2 * pixel
        where, mask = places(base, row, column, inside, channel, known, height, width, channels)
        pixel = seen(images, where, mask)
        s01 += g0 * pixel
        s11 += g1 * pixel
        s21 += g2 * pixel
        where, mask = places(base, row, column + 1, inside, channel, known, height, width, channels)
        pixel = seen(images, where, mask)
        s02 += g0 * pixel
        s12 += g1 * pixel
        s22 += g2 * pixel
        of_bias += g1
    to = partial + tl.program_id(0) * 10 * channels + channel
    tl.store(to, tl.sum(s00, 0), mask=known)
    tl.store(to + channels, tl.sum(s01, 0), mask=known)
    tl.store(to + 2 * channels, tl.sum(s02, 0), mask=known)
    tl.store(to + 3 * channels, tl.sum(s10, 0), mask=known)
    tl.store(to + 4 * channels, tl.sum(s11, 0), mask=known)
    tl.store(to + 5 * channels, tl.sum(s12, 0), mask=known)
    tl.store(to + 6 * channels, tl.sum(s20, 0), mask=known)
    tl.store(to + 7 * channels, tl.sum(s21, 0), mask=known)
    tl.store(to + 8 * channels, tl.sum(s22, 0), mask=known)
    tl.store(to + 9 * channels, tl.sum(of_bias, 0), mask=known)


@triton.jit(do_not_specialize=SIZES)
def _column_of_five(
    images, gradient, results, partial, number, height, width, channels, STRIP: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Sums for the gradients of one column of 5 x 5 weights (and, with the first, of the bias) over a strip."""
    place = tl.program_id(0) * STRIP + tl.arange(0, STRIP)
    channel = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    j = tl.program_id(2)
    inside, known = place < number, channel < channels
    base, column = place // width * height * width * channels, place % width
    nothing = tl.zeros((STRIP, BLOCK), tl.float32)
    s0 = nothing
    s1 = nothing
    s2 = nothing
    s3 = nothing
    s4 = nothing
    of_bias = nothing
    g2 = nothing
    g3 = nothing
    where, mask = places(base, 0, column, inside, channel, known, height, width, channels)
    g1 = let_through(gradient, results, where, mask)
    where, mask = places(base, 1, column, inside, channel, known, height, width, channels)
    g0 = let_through(gradient, results, where, mask)
    for row in range(0, height):
        g4 = g3  # the weights' row i meets the gradient of row - i + 2
        g3 = g2
        g2 = g1
        g1 = g0
        where, mask = places(base, row + 2, column, inside, channel, known, height, width, channels)
        g0 = let_through(gradient, results, where, mask)
        where, mask = places(base, row, column + (j - 2), inside, channel, known, height, width, channels)
        pixel = seen(images, where, mask)
        s0 += g0 * pixel
        s1 += g1 * pixel
        s2 += g2 * pixel
        s3 += g3 * pixel
        s4 += g4 * pixel
        of_bias += g2
    to = partial + tl.program_id(0) * 26 * channels + channel
    tl.store(to + j * channels, tl.sum(s0, 0), mask=known)
    tl.store(to + (5 + j) * channels, tl.sum(s1, 0), mask=known)
    tl.store(to + (10 + j) * channels, tl.sum(s2, 0), mask=known)
    tl.store(to + (15 + j) * channels, tl.sum(s3, 0), mask=known)
    tl.store(to + (20 + j) * channels, tl.sum(s4, 0), mask=known)
    if j == 0:
        tl.store(to + 25 * channels, tl.sum(of_bias, 0), mask=known)
