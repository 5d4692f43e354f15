"""Batches that can be reckoned by hand: images are logits, and the model gives back what it is shown."""

from collections.abc import Sequence

import torch
from torch import Tensor

from seedbed.methods.learn.algorithm import Batch, Forward
from seedbed.methods.learn.draws import Key


def identity(images: Tensor) -> Tensor:
    """A model whose answer is its input."""
    return images


def logits_of(*probabilities: list[float]) -> Tensor:
    """Images that `identity` turns into these probabilities."""
    return torch.tensor(probabilities).log()


def mixed(
    labelled: Tensor | tuple[Tensor, ...],
    labels: Sequence[int],
    *unlabelled: Tensor,
    numbers: Sequence[int] | None = None,
    step: int = 0,
    progress: float = 0.0,
    teacher: Forward = identity,
    spares: bool = False,
) -> Batch:
    """A batch of these views; unlabelled images are numbered from 0, labelled ones from 100."""
    views = (labelled,) if isinstance(labelled, Tensor) else labelled
    named = range(len(unlabelled[0])) if numbers is None else numbers
    return Batch(
        labelled=views,
        labels=torch.tensor(labels, dtype=torch.int64),
        unlabelled=unlabelled,
        labelled_key=Key(0, step, torch.arange(100, 100 + len(labels))),
        key=Key(0, step, torch.tensor(list(named), dtype=torch.int64)),
        teacher=teacher,
        progress=torch.tensor(progress),
        spares=spares,
    )
