"""Bundles and jobs as records, without anything behind them."""

from typing import Any

from seedbed.assets.store.bundle import Array, ArrayType, Bundle, Lineage
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.spec import JobSpec
from seedbed.runtime.jobs.states import State


def bundle(kind: str, created: float = 0.0, **values: Any) -> Bundle:
    """A bundle with arrays of numbers."""
    arrays = {name: Array(ArrayType.INT, items) for name, items in values.items()}
    return Bundle("u", "leaves", kind, "", created, {}, arrays, Lineage(), False, "", "")


def job(state: State, *, step: str = "ingest", submitted: float = 10.0, **more: Any) -> Job:
    """A job in a state."""
    numbers: dict[str, Any] = dict.fromkeys(("position", "fence", "preemptions", "failures", "not_before"), 0)
    numbers |= dict.fromkeys(("started", "ended"), 0.0) | {"step_now": 0, "step_total": 0, "submitted": submitted}
    words = dict.fromkeys(("id", "name", "flow", "reason", "wish", "doing", "key", "checkpoint"), "")
    return Job(**{**numbers, **words, "spec": JobSpec(step), "state": state, "outputs": {}, **more})
