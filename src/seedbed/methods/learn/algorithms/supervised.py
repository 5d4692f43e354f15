"""Learning from the labels alone."""

from dataclasses import dataclass

from seedbed.methods.learn.algorithm import Batch, Forward, Keeping, Outcome, Views
from seedbed.methods.learn.task import Task


@dataclass
class Supervised(Keeping):
    """Cross-entropy on the labelled images; the unlabelled ones are not looked at."""

    task: Task

    @property
    def views(self) -> Views:
        return Views(unlabelled=())

    def loss(self, model: Forward, batch: Batch) -> Outcome:
        loss = self.task.loss_given(model(batch.labelled[0]), batch.labels)
        return Outcome(loss, {"loss_labelled": loss.detach()})
