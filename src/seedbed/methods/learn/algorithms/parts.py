"""What several algorithms are made of."""

import torch
from torch import Tensor

from seedbed.methods.learn.algorithm import Forward
from seedbed.methods.learn.task import Task

_BITS = 4  # that unlabelled images are taken in: libraries prepare each number of images anew, so there are few


def together(model: Forward, *images: Tensor) -> tuple[Tensor, ...]:
    """The model's answers to several sets of images, from one call."""
    return torch.split(model(torch.cat(images)), [len(part) for part in images])


def where_sure(
    model: Forward, labelled: Tensor, strong: Tensor, mask: Tensor, *, spares: bool
) -> tuple[Tensor, Tensor]:
    """The model's answers to the labelled images and to the strong views, of which only those in the mask count.

    Where the batch spares them the others are not looked at: their answers are zeros, without a gradient. With five
    labels a class nine images in ten are not in the mask.
    """
    bit = max(-(-len(strong) // _BITS), 1)
    if not spares or (count := -(-int(mask.count_nonzero()) // bit) * bit) >= len(strong):
        given, found = together(model, labelled, strong)
        return given, found
    chosen = mask.argsort(descending=True, stable=True)[:count].sort().values
    given, few = together(model, labelled, strong[chosen])
    return given, few.new_zeros(len(strong), few.shape[1]).index_copy(0, chosen, few)


def named(labels: Tensor, classes: int) -> Tensor:
    """One row per label, with 1 at its class and 0 elsewhere."""
    return (labels[:, None] == torch.arange(classes, device=labels.device)).to(torch.float32)


def class_means(rows: Tensor) -> Tensor:
    """The mean of each column; 0 where there are no rows."""
    return rows.sum(dim=0) / max(len(rows), 1)


def shared_equally(task: Task) -> Tensor:
    """The same share for every class: what is known of them before the first step."""
    return torch.full((task.classes,), 1.0 / task.classes, device=task.device)


def to_sum_1(values: Tensor) -> Tensor:
    """Rows scaled to the sum 1; rows of zeros stay."""
    return values / values.sum(dim=-1, keepdim=True).clamp_min(1e-12)
