"""Algorithm: how a model learns from one mixed batch. The seam that every semi-supervised method fits."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, Protocol

from torch import Tensor

from seedbed.base.errors import InvalidInput
from seedbed.base.registry import Registry, near_matches
from seedbed.methods.learn.augment import View
from seedbed.methods.learn.draws import Key

Forward = Callable[[Tensor], Tensor]  # normalised images to logits
Reduce = Callable[[Tensor], Tensor]


def _alone(value: Tensor) -> Tensor:
    return value


@dataclass(frozen=True)
class Batch:
    """What one step learns from. Images are normalised floats; rows of `labelled` and `labels` belong together.

    `views` holds the unlabelled images once per view that the algorithm asked for, in its order; `key.images` are their
    numbers in the data set, and `key` gives random draws that resume and scale exactly. `teacher` is the running
    average of the model: good for targets, never trained. `mean` is the mean of a statistic over all ranks that train
    together: of itself when there is one.
    """

    labelled: Tensor
    labels: Tensor
    views: tuple[Tensor, ...]
    key: Key
    teacher: Forward
    mean: Reduce = field(default=_alone)


@dataclass(frozen=True)
class Outcome:
    """A scalar loss to walk down, and what to log (scalars without gradient)."""

    loss: Tensor
    metrics: Mapping[str, Tensor]


class Algorithm(Protocol):
    """Turns a model and a mixed batch into a loss.

    Called by one trainer, from one thread, once per step, in order of the steps. It may keep statistics from step to
    step (thresholds, class histograms); all of them are in `state()`, as tensors, and `load_state` brings them back, so
    that a resumed run goes on exactly. It owns nothing else: no optimiser, no device, no files, no clock. Random draws
    come from the batch's key, never from torch's global generator. No gradient flows through a target. A batch with no
    unlabelled images has views of length 0, and the loss is then that of the labels. `seedbed.testing.algorithms`
    checks all of this.
    """

    @property
    def views(self) -> tuple[View, ...]:
        """Which views of the unlabelled images it wants, in which order; none: it learns from labels alone."""
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


ALGORITHMS: Registry[Callable[..., Algorithm]] = Registry(
    "algorithm",
    {
        "supervised": "seedbed.methods.learn.supervised:Supervised",
        "fixmatch": "seedbed.methods.learn.fixmatch:FixMatch",
        "steady": "seedbed.methods.learn.steady:Steady",
    },
)


def make_algorithm(name: str, classes: int, options: Mapping[str, float]) -> Algorithm:
    """The algorithm of that name for so many classes; an option that it does not have is refused."""
    maker = ALGORITHMS.get(name)
    known: dict[str, object] = {part.name: part for part in fields(maker) if part.init} if is_dataclass(maker) else {}
    known.pop("classes", None)
    if unknown := [option for option in options if option not in known]:
        problems = [f"'{option}' is not an option. {near_matches(option, known)}" for option in unknown]
        raise InvalidInput(f"The options of '{name}' cannot be used.", problems=problems)
    values: dict[str, Any] = dict(options)
    return maker(classes=classes, **values)
