"""Learning from the labels alone."""

from collections.abc import Mapping
from dataclasses import dataclass

from torch import Tensor
from torch.nn import functional

from seedbed.methods.learn.algorithm import Batch, Forward, Outcome
from seedbed.methods.learn.augment import View


@dataclass
class Supervised:
    """Cross-entropy on the labelled images; the unlabelled ones are not looked at."""

    classes: int
    smoothing: float = 0.0  # of the labels

    @property
    def views(self) -> tuple[View, ...]:
        return ()

    def loss(self, model: Forward, batch: Batch) -> Outcome:
        loss = functional.cross_entropy(model(batch.labelled), batch.labels, label_smoothing=self.smoothing)
        return Outcome(loss, {"loss_labelled": loss.detach()})

    def state(self) -> dict[str, Tensor]:
        return {}

    def load_state(self, state: Mapping[str, Tensor]) -> None:
        """Nothing is kept from step to step."""
