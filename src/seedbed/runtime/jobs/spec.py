"""What a person asks for: a step with its parameters, inputs and resources."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, replace
from enum import StrEnum
from typing import Any

from seedbed.base.errors import InvalidInput
from seedbed.base.names import problems_of_name
from seedbed.base.resources import UNSET, Resources

_OUTPUT_OF_JOB = re.compile(r"job:([^/]+)/(.+)")


class JobClass(StrEnum):
    """Trial-and-error jobs start soon, if need be in the place of a best-effort one."""

    TE = "te"
    BE = "be"


@dataclass(frozen=True)
class JobSpec:
    """One job as it was asked for.

    An input is a bundle's uuid, or `job:<job id>/<output>`: what that job will have made. `after` names jobs that
    must be done before, whatever they make. `retries` is how many times it is tried again after an attempt that
    failed or was lost (preemptions do not count). `timeout`: seconds that one attempt may run, 0: no limit.
    `again`: run even if the store knows the answer. `spare` names inputs that it can do without: where the job that
    makes one does not end well, it runs without that input. `estimates` are amounts (seconds, bytes) that whoever asks
    for the job expects of it; a policy may read them without knowing what they are of, though none of ours does.
    """

    step: str
    params: Mapping[str, Any] = field(default_factory=dict)
    inputs: Mapping[str, str] = field(default_factory=dict)
    cls: JobClass = JobClass.BE
    resources: Resources = UNSET
    grace: float = 30.0
    retries: int = 2
    owner: str = ""
    project: str = ""
    name: str = ""
    after: tuple[str, ...] = ()
    seed: int = 0
    again: bool = False
    timeout: float = 0.0
    spare: tuple[str, ...] = ()
    estimates: Mapping[str, float] = field(default_factory=dict)

    @property
    def dependencies(self) -> tuple[str, ...]:
        """The ids of the jobs that must have ended before this one can start."""
        return self._waits_for(self.inputs)

    @property
    def needed(self) -> tuple[str, ...]:
        """The ids of those among them that must have ended well."""
        return self._waits_for([name for name in self.inputs if name not in self.spare])

    def _waits_for(self, inputs: Iterable[str]) -> tuple[str, ...]:
        made = (output_of_job(self.inputs[name]) for name in inputs)
        return tuple(dict.fromkeys([*(found[0] for found in made if found), *self.after]))

    def wired(self, ids: Mapping[str, str]) -> "JobSpec":
        """The same, with other jobs in the place of some that it refers to: by name or id, their ids."""
        made = {name: output_of_job(reference) for name, reference in self.inputs.items()}
        moved = {name: f"job:{ids[of[0]]}/{of[1]}" for name, of in made.items() if of and of[0] in ids}
        return replace(self, inputs={**self.inputs, **moved}, after=tuple(ids.get(job, job) for job in self.after))

    def check(self) -> None:
        """Refuse what cannot be run, all mistakes at once."""
        if problems := list(_problems(self)):
            raise InvalidInput("The job cannot be submitted.", problems=problems)

    def to_json(self) -> dict[str, Any]:
        """A JSON object that `from_json` reads back."""
        return {**asdict(self), "after": list(self.after), "spare": list(self.spare)}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "JobSpec":
        """The specification that `to_json` wrote."""
        known = dict(data)
        known["cls"] = JobClass(known.get("cls", JobClass.BE))
        known["resources"] = Resources(**known.get("resources", asdict(UNSET)))
        known |= {name: tuple(known.get(name, ())) for name in ("after", "spare")}
        return cls(**known)


@dataclass(frozen=True)
class Limits:
    """What a job that is run again may take, where that is to differ: memory of 0, or no time, is what it had.

    Neither changes a result, so what it has computed by then still counts.
    """

    memory: int = 0
    timeout: float | None = None

    def on(self, spec: JobSpec) -> JobSpec:
        """The specification with these limits."""
        resources = replace(spec.resources, memory=self.memory or spec.resources.memory)
        return replace(spec, resources=resources, timeout=spec.timeout if self.timeout is None else self.timeout)


def output_of_job(reference: str) -> tuple[str, str] | None:
    """(job id, output) of an input reference `job:<id>/<output>`, None for any other."""
    match = _OUTPUT_OF_JOB.fullmatch(reference)
    return (match[1], match[2]) if match else None


def _problems(spec: JobSpec) -> list[str]:
    amounts = {
        "resources.cpus": (spec.resources.cpus, 0.0),
        "resources.memory": (spec.resources.memory, 0),
        "resources.gpus": (spec.resources.gpus, 0),
        "grace": (spec.grace, 0.0),
        "retries": (spec.retries, 0),
        "timeout": (spec.timeout, 0.0),
    }
    amounts |= {f"estimates.{name}": (value, 0.0) for name, value in spec.estimates.items()}
    problems = [
        f"{name} is {value}; it must be a number of at least {least:g}."
        for name, (value, least) in amounts.items()
        if not math.isfinite(value) or value < least
    ]
    problems += [f"{problem}." for problem in problems_of_name("name", spec.name)]  # bundles are named after jobs
    if not spec.step:
        problems.append("step is empty; name the step to run.")
    problems += [
        f"input '{name}' is '{reference}'; write a bundle's uuid, or job:<job id>/<output>."
        for name, reference in spec.inputs.items()
        if not reference or (reference.startswith("job:") and not output_of_job(reference))
    ]
    return problems
