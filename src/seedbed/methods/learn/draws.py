"""Random numbers that depend on nothing but their key.

A draw is a hash of (seed, step, purpose, image, place): the same on every device, whatever the order of a batch, the
number of ranks or what was drawn before. There is no generator whose state a checkpoint would have to keep.
"""

import zlib
from dataclasses import dataclass

import torch
from torch import Tensor

_MASK = (1 << 64) - 1
_GOLDEN, _MIX_1, _MIX_2 = 0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB
_INVERSE = pow(_GOLDEN, -1, _MASK + 1)  # times golden it is 1, in 64 bits


@dataclass(frozen=True)
class Key:
    """Names a family of draws; `images` are the numbers of the images that each get their own."""

    seed: int | Tensor  # a tensor without dimensions where what is compiled serves other seeds too
    step: int | Tensor  # likewise where a recorded step is replayed with other numbers
    images: Tensor  # int64, one per image

    def uniform(self, purpose: str, count: int) -> Tensor:
        """Numbers in [0, 1), of shape (images, count)."""
        device = self.images.device
        step = torch.as_tensor(self.step, dtype=torch.int64, device=device)
        seed = _next(self.seed) if isinstance(self.seed, Tensor) else _signed(_mix(self.seed))
        base = _next(_next(step + seed) + number_of(purpose))
        places = torch.arange(1, count + 1, dtype=torch.int64, device=device)
        value = _mix_tensor(self.images[:, None] * _signed(_GOLDEN) + base)
        # value + places * golden, for torch 2.11: compiled for a GPU, it takes places times a constant for 32 bits
        value = _mix_tensor((value * _signed(_INVERSE) + places) * _signed(_GOLDEN))
        return _shift(value, 40).to(torch.float32) * (1.0 / (1 << 24))

    def of(self, images: Tensor) -> "Key":
        """The same seed and step for other images."""
        return Key(self.seed, self.step, images)

    def between(self, purpose: str, low: float, high: float) -> Tensor:
        """One number in [low, high) per image."""
        return self.uniform(purpose, 1)[:, 0] * (high - low) + low


def number_of(purpose: str) -> int:
    """What stands for a purpose in a draw."""
    return zlib.crc32(purpose.encode())


def on_device(seed: int, device: torch.device) -> Tensor:
    """A seed as a tensor, which draws what the number draws."""
    return torch.tensor(_signed(seed & _MASK), dtype=torch.int64, device=device)


def order(seed: int, epoch: int, count: int, purpose: str) -> Tensor:
    """A shuffled order of `count` things, on the CPU."""
    key = Key(seed, epoch, torch.arange(count, dtype=torch.int64))
    return torch.argsort(key.uniform(purpose, 1)[:, 0], stable=True)


def _mix(value: int) -> int:
    """splitmix64's step on a Python number."""
    value = (value + _GOLDEN) & _MASK
    value = ((value ^ (value >> 30)) * _MIX_1) & _MASK
    value = ((value ^ (value >> 27)) * _MIX_2) & _MASK
    return value ^ (value >> 31)


def _next(value: Tensor) -> Tensor:
    """splitmix64's step on a tensor."""
    return _mix_tensor(value + _signed(_GOLDEN))


def _mix_tensor(value: Tensor) -> Tensor:
    """splitmix64's finish on a tensor; int64 products wrap as unsigned ones do."""
    value = (value ^ _shift(value, 30)) * _signed(_MIX_1)
    value = (value ^ _shift(value, 27)) * _signed(_MIX_2)
    return value ^ _shift(value, 31)


def _shift(value: Tensor, bits: int) -> Tensor:
    """A logical shift to the right: torch's own keeps the sign."""
    return (value >> bits) & ((1 << (64 - bits)) - 1)


def _signed(value: int) -> int:
    return value - (1 << 64) if value >> 63 else value
