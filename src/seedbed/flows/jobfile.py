"""Job files: YAML that names a step, or several wired together.

    name: count
    step: sleep-and-count
    params: {steps: 10}
    resources: {cpus: 1, memory: 512M}

or `jobs:` with a list of such tables; they refer to each other by name: `inputs: {model: job:train/model}`.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from seedbed.base.errors import InvalidInput, NotFound
from seedbed.base.mistakes import sentences_of
from seedbed.base.resources import Resources, parse_size
from seedbed.runtime.jobs.spec import JobClass, JobSpec


class _Amounts(BaseModel):
    model_config = ConfigDict(extra="forbid")

    cpus: float = Field(0.0, ge=0, allow_inf_nan=False)
    memory: int = Field(0, ge=0)
    gpus: int = Field(0, ge=0)

    @field_validator("memory", mode="before")
    @classmethod
    def _with_unit(cls, given: Any) -> Any:
        try:
            return parse_size(given) if isinstance(given, str) else given
        except InvalidInput as error:
            raise ValueError(f"{error.message} {error.hint}") from None


class _JobTable(BaseModel):
    model_config = ConfigDict(extra="forbid")

    step: str = Field(description="name the step to run.")
    name: str = ""
    params: dict[str, Any] = Field(default_factory=dict)
    inputs: dict[str, str] = Field(default_factory=dict)
    cls: JobClass = Field(JobClass.BE, alias="class")
    resources: _Amounts = Field(default_factory=_Amounts)  # 0: what the step itself asks for
    grace: float = Field(30.0, ge=0, allow_inf_nan=False)
    retries: int = Field(2, ge=0)
    project: str = ""
    after: list[str] = Field(default_factory=list)
    seed: int = Field(0, ge=0)
    again: bool = False
    timeout: float = Field(0.0, ge=0, allow_inf_nan=False)

    def spec(self) -> JobSpec:
        given = self.model_dump(exclude={"resources", "after"})
        return JobSpec(**given, resources=Resources(**self.resources.model_dump()), after=tuple(self.after))


def load_job_file(path: Path) -> list[JobSpec]:
    """The jobs of a YAML file, not yet submitted; every mistake in it at once."""
    try:
        text = path.read_text()
    except FileNotFoundError:
        raise NotFound(f"There is no job file {path}.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise InvalidInput(f"The job file {path} cannot be read: {error}.") from None
    return parse_jobs(text, where=str(path))


def _in_a_line(error: yaml.YAMLError) -> str:
    """What is wrong and where; the parser's own text draws the place over several lines."""
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return f": {str(error).splitlines()[0].rstrip('.')}" if str(error) else ""
    mark = error.problem_mark
    place = f"line {mark.line + 1}, column {mark.column + 1}"
    return f": {place}: {' '.join(str(error.problem or error.context or 'it cannot be read').split())}"


def parse_jobs(text: str, *, where: str = "the job file") -> list[JobSpec]:
    """The jobs of a YAML text."""
    try:
        content = yaml.safe_load(text)
    except yaml.YAMLError as error:
        raise InvalidInput(f"{where} is not valid YAML{_in_a_line(error)}.") from None
    tables = content.get("jobs") if isinstance(content, Mapping) and "jobs" in content else [content]
    if not isinstance(tables, list) or not tables or not all(isinstance(table, Mapping) for table in tables):
        raise InvalidInput(f"{where} must hold one job (step: NAME ...) or a list of them under jobs:.")
    problems: list[str] = []
    specs = []
    for number, table in enumerate(tables, 1):
        try:
            specs.append(_JobTable.model_validate(table).spec())
        except ValidationError as error:
            prefix = f"job {number}: " if len(tables) > 1 else ""
            found = sentences_of(error.errors(), _JobTable.model_fields, noun="a field of a job")
            problems += [f"{prefix}{problem}" for problem in found]
    if problems:
        raise InvalidInput(f"{where} cannot be used.", problems=problems)
    return specs
