"""The policies by name."""

from collections.abc import Callable

from seedbed.base.registry import Registry
from seedbed.runtime.jobs.policy import Policy

POLICIES: Registry[Callable[[], Policy]] = Registry(
    "policy",
    {
        "fifo": "seedbed.runtime.jobs.fifo:Fifo",
        "fitgpp": "seedbed.runtime.jobs.fitgpp:FitGpp",
    },
)
