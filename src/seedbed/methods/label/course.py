"""A training without labels that can be killed at any step and goes on as if it had not been."""

import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import torch
from torch import Tensor, nn

from seedbed.base.errors import Conflict, Failed
from seedbed.base.run import RunContext, Stopped
from seedbed.methods.learn.learner import load_optimiser, load_tensors, optimiser_tensors, part_of, save_tensors

_PROGRESS = "progress.json"
Advance = Callable[[int], Mapping[str, Tensor]]  # a step's number to what it measured, its loss among it


@dataclass
class Course:
    """The steps of one run over some modules and their optimiser.

    `identity` names everything that must be the same for a checkpoint to be gone on from. `facts` are small numbers
    that later steps depend on and that are kept with the checkpoints.
    """

    run: RunContext
    modules: Mapping[str, nn.Module]
    optimiser: torch.optim.Optimizer
    identity: str
    steps: int
    doing: str
    report_every: int = 10
    checkpoint_every: int = 100
    step: int = 0
    facts: dict[str, float] = field(default_factory=dict)

    def resume(self) -> bool:
        """Take up the run's last checkpoint; False where there is none."""
        if self.run.resume is None:
            return False
        progress = json.loads((self.run.resume / _PROGRESS).read_text())
        if progress["identity"] != self.identity:
            raise Conflict(
                f"The checkpoint in {self.run.resume} is of a run with other images, settings or seed.",
                hint="Start without it.",
            )
        tensors = load_tensors(self.run.resume)
        for name, module in self.modules.items():
            module.load_state_dict(part_of(tensors, name))
        load_optimiser(self.optimiser, part_of(tensors, "optimiser"))
        self.step, self.facts = progress["step"], progress["facts"]
        return True

    def go_on(self, advance: Advance, *, until: int | None = None) -> None:
        """Every step that is still to do, up to a number of steps."""
        end = self.steps if until is None else until
        while self.step < end:
            if self.run.should_stop():
                self._checkpoint()
                raise Stopped(f"Stopped after step {self.step} of {self.steps}.")
            measured = advance(self.step)
            self.step += 1
            keeps = self._due(self.checkpoint_every)
            if keeps or self._due(self.report_every):
                self._report(measured)
            if keeps:
                self._checkpoint()

    def _due(self, every: int) -> bool:
        return self.step == self.steps or self.step % every == 0

    def _report(self, measured: Mapping[str, Tensor]) -> None:
        numbers = {name: float(value) for name, value in measured.items()}
        if not math.isfinite(numbers["loss"]):
            raise Failed(
                f"The loss is {numbers['loss']} at step {self.step}: it has gone astray; the last checkpoint is kept.",
                hint="Use a smaller learning rate.",
            )
        self.run.report(numbers, step=self.step, total=self.steps, doing=self.doing)

    def _checkpoint(self) -> None:
        self.run.checkpoint(self._write, step=self.step)

    def _write(self, folder: Path) -> None:
        parts = {name: module.state_dict() for name, module in self.modules.items()}
        parts["optimiser"] = optimiser_tensors(self.optimiser)
        save_tensors({f"{part}.{name}": value for part, held in parts.items() for name, value in held.items()}, folder)
        progress = {"identity": self.identity, "step": self.step, "facts": self.facts}
        (folder / _PROGRESS).write_text(json.dumps(progress))


def descend(optimiser: torch.optim.Optimizer, loss: Tensor, rate: float, *, clip: float = 1.0) -> None:
    """One step of the optimiser down a loss, at that rate; a gradient longer than `clip` is shortened."""
    optimiser.zero_grad(set_to_none=True)
    loss.backward()  # type: ignore[no-untyped-call]
    for group in optimiser.param_groups:
        group["lr"] = rate
        nn.utils.clip_grad_norm_(group["params"], clip)
    optimiser.step()
