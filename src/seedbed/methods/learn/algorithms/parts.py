"""What several algorithms are made of."""

import torch
from torch import Tensor

from seedbed.methods.learn.algorithm import Forward
from seedbed.methods.learn.task import Task


def together(model: Forward, *images: Tensor) -> tuple[Tensor, ...]:
    """The model's answers to several sets of images, from one call."""
    return torch.split(model(torch.cat(images)), [len(part) for part in images])


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
