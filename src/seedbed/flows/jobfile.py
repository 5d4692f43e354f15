"""Job files: YAML that names a step, or several wired together.

    name: count
    step: sleep-and-count
    params: {steps: 10}
    resources: {cpus: 1, memory: 512M}

or `jobs:` with a list of such tables; they refer to each other by name: `inputs: {model: job:train/model}`.
"""

from collections.abc import Mapping
from math import isfinite
from pathlib import Path
from typing import Any

import yaml

from seedbed.base.errors import InvalidInput, NotFound
from seedbed.flows.asked import Faulty, JobAsked
from seedbed.runtime.jobs.spec import JobSpec


def load_job_file(path: Path) -> list[JobSpec]:
    """The jobs of a YAML file, not yet submitted; every mistake in it at once."""
    return parse_jobs(_text(path), where=str(path))


def load_tables(path: Path) -> list[dict[str, Any]]:
    """The jobs of a YAML file as `POST /jobs/flow` takes them, unchecked."""
    return parse_tables(_text(path), where=str(path))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise NotFound(f"There is no job file {path}.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"The job file {path} cannot be read: {error}.") from None


def _in_a_line(error: yaml.YAMLError) -> str:
    """What is wrong and where; the parser's own text draws the place over several lines."""
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return f": {str(error).splitlines()[0].rstrip('.')}" if str(error) else ""
    mark = error.problem_mark
    place = f"line {mark.line + 1}, column {mark.column + 1}"
    return f": {place}: {' '.join(str(error.problem or error.context or 'it cannot be read').split())}"


def parse_jobs(text: str, *, where: str = "the job file") -> list[JobSpec]:
    """The jobs of a YAML text."""
    problems: list[str] = []
    specs = []
    tables = parse_tables(text, where=where)
    for number, table in enumerate(tables, 1):
        spec = JobAsked.model_validate(table).spec()
        if isinstance(spec, Faulty):
            prefix = f"job {number}: " if len(tables) > 1 else ""
            problems += [f"{prefix}{problem}" for problem in spec.mistakes]
        specs.append(spec)
    if problems:
        raise InvalidInput(f"{where} cannot be used.", problems=problems)
    return specs


def parse_tables(text: str, *, where: str = "the job file") -> list[dict[str, Any]]:
    """The jobs of a YAML text as they are written there, in words that JSON has too: a server reads and checks them."""
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InvalidInput(f"{where} is not valid YAML{_in_a_line(error)}.") from None
    tables = content.get("jobs") if isinstance(content, Mapping) and "jobs" in content else [content]
    if not isinstance(tables, list) or not tables or not all(isinstance(table, Mapping) for table in tables):
        raise InvalidInput(f"{where} must hold one job (step: NAME ...) or a list of them under jobs:.")
    return [_as_json(table) for table in tables]


def _as_json(value: Any) -> Any:
    """The same value in JSON's types: what YAML has beside them (dates, infinity) as text."""
    if isinstance(value, Mapping):
        return {str(name): _as_json(inner) for name, inner in value.items()}
    if isinstance(value, list | tuple | set):
        return [_as_json(inner) for inner in value]
    plain = value is None or isinstance(value, str | bool | int) or (isinstance(value, float) and isfinite(value))
    return value if plain else str(value)
