"""Algorithm: how a model learns from one mixed batch. The seam that every semi-supervised method fits."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, ClassVar, Protocol

import torch
from torch import Tensor

from seedbed.base.errors import InvalidInput
from seedbed.base.registry import Registry, near_matches
from seedbed.methods.learn.augment import View
from seedbed.methods.learn.draws import Key
from seedbed.methods.learn.group import ALONE, Group
from seedbed.methods.learn.task import Task

Forward = Callable[[Tensor], Tensor]  # normalised images to logits in full precision


@dataclass(frozen=True)
class Views:
    """Which views of the labelled and of the unlabelled images an algorithm wants, in which order.

    Views of one kind differ in their random draws. No unlabelled view: it learns from the labels alone.
    """

    labelled: tuple[View, ...] = ("weak",)
    unlabelled: tuple[View, ...] = ("weak", "strong")


@dataclass(frozen=True)
class Batch:
    """What one step learns from: this rank's slice of the global batch. Images are normalised floats.

    `labelled` and `unlabelled` hold the images once per view that the algorithm asked for; rows of `labelled` and
    `labels` belong together. `key.images` are the numbers of the unlabelled images in the data set, `labelled_key` has
    those of the labelled ones; both give random draws that resume and scale exactly. `teacher` is the running average
    of the model: good for targets, never trained. `progress` is the share of the run that is over, as a tensor.
    `spares`: images of which the loss takes no notice need not be looked at. That is where steps are not recorded, so
    that a branch may depend on a value, and where no image changes what the network says of another.
    """

    labelled: tuple[Tensor, ...]
    labels: Tensor
    unlabelled: tuple[Tensor, ...]
    labelled_key: Key
    key: Key
    teacher: Forward
    progress: Tensor = field(default_factory=lambda: torch.zeros(()))
    group: Group = ALONE
    spares: bool = False


@dataclass(frozen=True)
class Outcome:
    """A scalar loss to walk down, and what to log (scalars without gradient)."""

    loss: Tensor
    metrics: Mapping[str, Tensor]


class Algorithm(Protocol):
    """Turns a model and a mixed batch into a loss.

    Called by one trainer, from one thread, once per step, in order of the steps. It may keep statistics from step to
    step (thresholds, class histograms); all of them are in `state()`, as tensors on the task's device that are changed
    in place, and `load_state` brings them back, so that a resumed run goes on exactly. It owns nothing else: no
    optimiser, no files, no clock.

    A step may be recorded once and replayed, unless the batch `spares`: no branch may depend on the value of a tensor,
    and nothing is copied to the host. Random draws come from the batch's keys, whose seed and step may be tensors,
    never from torch's global generator. No gradient flows through a target. Statistics go through `batch.group`, so
    that the losses of all ranks have the global batch's loss as their mean. A batch with no unlabelled images has views
    of length 0, and the loss is then that of the labels. `seedbed.testing.algorithms` checks all of this.
    """

    @property
    def views(self) -> Views:
        """What it wants to see."""
        ...

    def loss(self, model: Forward, batch: Batch) -> Outcome:
        """The loss of one batch."""
        ...

    def state(self) -> dict[str, Tensor]:
        """Everything kept from step to step."""
        ...

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Go on from what `state` gave."""
        ...


class Keeping:
    """State and loading of an algorithm that names the tensors it keeps."""

    kept: ClassVar[tuple[str, ...]] = ()

    def state(self) -> dict[str, Tensor]:
        return {name: getattr(self, name) for name in self.kept}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        for name in self.kept:
            getattr(self, name).copy_(state[name])


def outcome_of(labelled: Tensor, unlabelled: Tensor, weight: float | Tensor, **logged: Tensor) -> Outcome:
    """The usual sum of two losses, with its parts logged."""
    parts = {"loss_labelled": labelled, "loss_unlabelled": unlabelled, **logged}
    return Outcome(labelled + weight * unlabelled, {name: value.detach() for name, value in parts.items()})


def mean_of(each: Tensor) -> Tensor:
    """The mean of a value per image; 0, with a gradient of 0, where there are no images."""
    return each.sum() / max(len(each), 1)


_HERE = "seedbed.methods.learn.algorithms"
ALGORITHMS: Registry[Callable[..., Algorithm]] = Registry(
    "algorithm",
    {
        "supervised": f"{_HERE}.supervised:Supervised",
        "mixmatch": f"{_HERE}.mixmatch:MixMatch",
        "fixmatch": f"{_HERE}.fixmatch:FixMatch",
        "flexmatch": f"{_HERE}.flexmatch:FlexMatch",
        "freematch": f"{_HERE}.freematch:FreeMatch",
        "adamatch": f"{_HERE}.adamatch:AdaMatch",
        "softmatch": f"{_HERE}.softmatch:SoftMatch",
        "steady": f"{_HERE}.steady:Steady",
    },
)


def make_algorithm(name: str, task: Task, options: Mapping[str, float]) -> Algorithm:
    """The algorithm of that name for a task; an option that it does not have is refused."""
    maker = ALGORITHMS.get(name)
    known: dict[str, object] = {part.name: part for part in fields(maker) if part.init} if is_dataclass(maker) else {}
    known.pop("task", None)
    if unknown := [option for option in options if option not in known]:
        problems = [f"'{option}' is not an option. {near_matches(option, known)}" for option in unknown]
        raise InvalidInput(f"The options of '{name}' cannot be used.", problems=problems)
    values: dict[str, Any] = dict(options)
    return maker(task=task, **values)
