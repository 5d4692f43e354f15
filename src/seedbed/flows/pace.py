"""How long a training takes, by those that were like it."""

from collections.abc import Mapping
from typing import Any

from seedbed.runtime.jobs.queue import Queue
from seedbed.runtime.jobs.states import State

_ALIKE = ("size", "algorithm", "start", "unlabelled_batch")
_RECENT = 20


def seconds_a_step(queue: Queue, params: Mapping[str, Any]) -> float:
    """Of the newest training with like parameters; 0: there was none."""
    for job in queue.list(states=[State.DONE], step="train", limit=_RECENT):
        same = all(job.spec.params.get(name) == params.get(name) for name in _ALIKE)
        if same and job.started and job.step_total > 0 and job.failures + job.preemptions == 0:
            return (job.ended - job.started) / job.step_total
    return 0.0
