"""Stride 1: a program walks down the rows of a strip of columns and channels.

What the next row holds is read before what was read of this one is used, and all weights are in registers from the
beginning: else programs wait for memory most of the time, and there are too few of them to fill it.
"""
# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-decorators
# mypy: disable-error-code="assignment, misc, var-annotated"
# ruff: noqa: RUF005  # Triton lengthens tuples in no other way, and mypy takes them for what they were at first

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
    relu6,
    seen,
    sharing,
)

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
    strips, blocks = triton.cdiv(number * width, STRIP), triton.cdiv(channels, BLOCK)
    partial = torch.empty(sharing(strips, blocks), len(weight) + 1, channels, device=images.device, dtype=torch.float32)
    _weights_kernel[len(partial), blocks](
        images, gradient, result, partial, number * width, height, width, channels, SIDE=_side(weight), **OPTIONS
    )
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


@triton.jit
def _columns(column, inside, known, width, SIDE):
    """Which pixels each column of weights meets in a row that exists."""
    met = ()
    for j in tl.static_range(SIDE):
        across = column + (j - SIDE // 2)
        met = met + ((inside & (across >= 0) & (across < width))[:, None] & known[None, :],)
    return met


@triton.jit
def _in_row(columns, row, height):
    """Which pixels of these columns there are in a row."""
    one = tl.zeros([1, 1], tl.int32) + row
    return columns & ((one >= 0) & (one < height))


@triton.jit
def _met(values, results, above, row, columns, height, width, channels, SIDE, BACKWARDS):
    """A row of a strip as each column of weights meets it; BACKWARDS gradients, as far as ReLU6 lets them through."""
    found = ()
    for j in tl.static_range(SIDE):
        where, mask = above + (row * width + (j - SIDE // 2)) * channels, _in_row(columns[j], row, height)
        value = let_through(values, results, where, mask) if BACKWARDS else seen(values, where, mask)
        found = found + (value.to(values.dtype.element_ty),)
    return found


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
    column = place % width
    above = ((place // width * height * width + column) * channels)[:, None] + channel[None, :]  # in the first row
    columns = _columns(column, inside, known, width, SIDE)
    first = tl.program_id(2) * rows
    shift = tl.zeros((BLOCK,), tl.float32)
    if not BACKWARDS:
        shift = tl.load(bias + channel, mask=known, other=0.0)
    weights = ()
    for k in tl.static_range(SIDE * SIDE):
        met = SIDE * SIDE - 1 - k if BACKWARDS else k
        weights = weights + (tl.load(weight + met * channels + channel, mask=known, other=0.0),)
    nothing = tl.zeros((STRIP, BLOCK), tl.float32)
    sums = ()  # of results that lack rows: the next to be complete, and those after it
    for _ in tl.static_range(SIDE):
        sums = sums + (nothing,)
    ahead = _met(values, results, above, first - AROUND, columns, height, width, channels, SIDE, BACKWARDS)
    for row in range(first - AROUND, tl.minimum(first + rows, height) + AROUND):
        now = ahead
        ahead = _met(values, results, above, row + 1, columns, height, width, channels, SIDE, BACKWARDS)
        added = ()
        for i in tl.static_range(SIDE):  # the last row of the weights meets what is complete with it
            total = sums[i]
            for j in tl.static_range(SIDE):
                total += now[j].to(tl.float32) * weights[(SIDE - 1 - i) * SIDE + j][None, :]
            added = added + (total,)
        if row - AROUND >= first:
            result = added[0] + shift[None, :]
            if not BACKWARDS:
                result = relu6(result)
            to = made + above + (row - AROUND) * width * channels
            tl.store(to, result.to(made.dtype.element_ty), mask=inside[:, None] & known[None, :])
        sums = added[1:] + (nothing,)


@triton.jit(do_not_specialize=SIZES)
def _weights_kernel(
    images, gradient, results, partial, number, height, width, channels,
    SIDE: tl.constexpr, STRIP: tl.constexpr, BLOCK: tl.constexpr,
):  # fmt: skip
    """Sums for the gradients of the weights and of the bias over some strips, all of their rows."""
    AROUND: tl.constexpr = SIDE // 2
    channel = tl.program_id(1) * BLOCK + tl.arange(0, BLOCK)
    known = channel < channels
    nothing = tl.zeros((STRIP, BLOCK), tl.float32)
    of_bias = nothing
    sums = ()
    for _ in tl.static_range(SIDE * SIDE):
        sums = sums + (nothing,)
    for strip in range(tl.program_id(0), tl.cdiv(number, STRIP), tl.num_programs(0)):
        place = strip * STRIP + tl.arange(0, STRIP)
        inside = place < number
        column = place % width
        above = ((place // width * height * width + column) * channels)[:, None] + channel[None, :]
        columns = _columns(column, inside, known, width, SIDE)
        let = ()  # gradients: the weights' row i meets that of row - i + AROUND
        for i in tl.static_range(SIDE - 1):
            where = above + (AROUND - 1 - i) * width * channels
            let = let + (let_through(gradient, results, where, _in_row(columns[AROUND], AROUND - 1 - i, height)),)
        ahead = _met(images, images, above, 0, columns, height, width, channels, SIDE, False)
        for row in range(0, height):
            now = ahead
            where = above + (row + AROUND) * width * channels
            let = (let_through(gradient, results, where, _in_row(columns[AROUND], row + AROUND, height)),) + let
            ahead = _met(images, images, above, row + 1, columns, height, width, channels, SIDE, False)
            added = ()
            for i in tl.static_range(SIDE):
                for j in tl.static_range(SIDE):
                    added = added + (sums[i * SIDE + j] + let[i] * now[j].to(tl.float32),)
            sums = added
            of_bias += let[AROUND]
            let = let[: SIDE - 1]
    to = partial + tl.program_id(0) * (SIDE * SIDE + 1) * channels + channel
    for k in tl.static_range(SIDE * SIDE):
        tl.store(to + k * channels, tl.sum(sums[k], 0), mask=known)
    tl.store(to + SIDE * SIDE * channels, tl.sum(of_bias, 0), mask=known)
