"""Job files: YAML that names a step, or several wired together.

    name: count
    step: sleep-and-count
    params: {steps: 10}
    resources: {cpus: 1, memory: 512M}

or `jobs:` with a list of such tables; they refer to each other by name: `inputs: {model: job:train/model}`.
"""

from collections.abc import Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

import yaml

from seedbed.base.errors import InvalidInput, NotFound
from seedbed.base.registry import near_matches
from seedbed.base.resources import Resources, parse_size
from seedbed.runtime.jobs.spec import JobClass, JobSpec

_FIELDS = {field.name for field in fields(JobSpec)} - {"owner", "cls"} | {"class"}


def load_job_file(path: Path) -> list[JobSpec]:
    """The jobs of a YAML file, not yet submitted; every mistake in it at once."""
    try:
        text = path.read_text()
    except FileNotFoundError:
        raise NotFound(f"There is no job file {path}.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"The job file {path} cannot be read: {error}.") from None
    return parse_jobs(text, where=str(path))


def parse_jobs(text: str, *, where: str = "the job file") -> list[JobSpec]:
    """The jobs of a YAML text."""
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InvalidInput(f"{where} is not valid YAML: {error}") from None
    tables = content.get("jobs") if isinstance(content, Mapping) and "jobs" in content else [content]
    if not isinstance(tables, list) or not tables or not all(isinstance(table, Mapping) for table in tables):
        raise InvalidInput(f"{where} must hold one job (step: NAME ...) or a list of them under jobs:.")
    problems: list[str] = []
    specs = [
        _spec(table, f"job {number}: " if len(tables) > 1 else "", problems) for number, table in enumerate(tables, 1)
    ]
    if problems:
        raise InvalidInput(f"{where} cannot be used.", problems=problems)
    return specs


def _spec(table: Mapping[str, Any], prefix: str, problems: list[str]) -> JobSpec:
    problems += [
        f"{prefix}'{key}' is not a field of a job. {near_matches(str(key), sorted(_FIELDS))}"
        for key in table
        if key not in _FIELDS
    ]
    if not isinstance(table.get("step"), str):
        problems.append(f"{prefix}step is missing; name the step to run.")
    known = {key: value for key, value in table.items() if key in _FIELDS and key not in ("class", "resources", "step")}
    for key, kind in (("params", Mapping), ("inputs", Mapping), ("after", list)):
        if not isinstance(known.get(key, kind() if kind is list else {}), kind):
            problems.append(f"{prefix}{key} must be a {'list' if kind is list else 'table'}, not {known.pop(key)!r}.")
    known["after"] = tuple(str(name) for name in known.get("after", ()))
    known["inputs"] = {str(name): str(value) for name, value in known.get("inputs", {}).items()}
    try:
        cls = JobClass(str(table.get("class", JobClass.BE)).lower())
    except ValueError:
        problems.append(f"{prefix}class is '{table['class']}'; it is te (trial-and-error) or be (best-effort).")
        cls = JobClass.BE
    resources = _resources(table.get("resources"), prefix, problems)
    return JobSpec(step=str(table.get("step", "")), cls=cls, resources=resources, **known)


def _resources(given: Any, prefix: str, problems: list[str]) -> Resources:
    if given is None:
        return Resources(cpus=0, memory=0)  # 0: what the step itself asks for
    if not isinstance(given, Mapping) or set(given) - {"cpus", "memory", "gpus"}:
        problems.append(f"{prefix}resources is a table of cpus, memory and gpus; given: {given!r}.")
        return Resources()
    try:
        memory = parse_size(given.get("memory", 0))
        return Resources(float(given.get("cpus", 0)), memory, int(given.get("gpus", 0)))
    except (InvalidInput, TypeError, ValueError) as error:
        problems.append(f"{prefix}resources: {error}")
        return Resources()
