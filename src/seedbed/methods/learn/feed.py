"""Which images each step takes, and their pixels."""

from dataclasses import dataclass

import torch
from torch import Tensor

from seedbed.methods.learn.draws import order
from seedbed.methods.learn.group import Group, own_slice
from seedbed.methods.learn.pool import Parts, Pool, to_device
from seedbed.methods.learn.settings import batch_taken


@dataclass(frozen=True)
class Rows:
    """This rank's images of one step: their numbers in the data set, and their pixels as uint8."""

    labelled: Tensor
    labelled_pixels: Tensor
    unlabelled: Tensor
    unlabelled_pixels: Tensor


class Row:
    """An endless row of shuffled orders of some images: each image once per order, whatever the number of ranks."""

    def __init__(self, numbers: Tensor, seed: int, purpose: str) -> None:
        self._numbers = numbers
        self._seed = seed
        self._purpose = purpose
        self._order: tuple[int, Tensor] | None = None

    def window(self, start: int, length: int) -> Tensor:
        """`length` images from place `start` on."""
        parts, at = [self._numbers[:0]], start
        while at < start + length:
            epoch, offset = divmod(at, len(self._numbers))
            taken = min(len(self._numbers) - offset, start + length - at)
            parts.append(self._numbers[self._shuffled(epoch)[offset : offset + taken]])
            at += taken
        return torch.cat(parts)

    def _shuffled(self, epoch: int) -> Tensor:
        if self._order is None or self._order[0] != epoch:
            self._order = epoch, order(self._seed, epoch, len(self._numbers), self._purpose)
        return self._order[1]


class Feed:
    """The steps of a run: slices of global batches, one slice per rank.

    A batch is never larger than the images that there are, and always a multiple of the number of ranks; where there
    are fewer than were asked for, it is an even number, so that two ranks take what one does.
    """

    def __init__(
        self, pool: Pool, parts: Parts, *, labelled: int, unlabelled: int, seed: int, device: torch.device, group: Group
    ) -> None:
        self._pool, self._device, self._group = pool, device, group
        self._labelled = Row(parts.labelled, seed, "labelled")
        self._unlabelled = Row(parts.unlabelled, seed, "unlabelled")
        self.labelled = batch_taken(labelled, len(parts.labelled), group.ranks)
        self.unlabelled = batch_taken(unlabelled, len(parts.unlabelled), group.ranks)

    def at(self, step: int) -> Rows:
        """What a step takes."""
        labelled = own_slice(self._labelled.window(step * self.labelled, self.labelled), self._group)
        unlabelled = own_slice(self._unlabelled.window(step * self.unlabelled, self.unlabelled), self._group)
        return Rows(
            labelled=to_device(labelled, self._device),
            labelled_pixels=self._pool.take(labelled),
            unlabelled=to_device(unlabelled, self._device),
            unlabelled_pixels=self._pool.take(unlabelled),
        )
