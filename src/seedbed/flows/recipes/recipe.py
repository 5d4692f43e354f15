"""What a recipe is: parameters, and the jobs that they make, wired by `job:<name>/<output>` references."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import Field, ValidationError

from seedbed.base.errors import InvalidInput
from seedbed.base.mistakes import sentences_of
from seedbed.base.names import in_a_name as in_a_name
from seedbed.flows.step import Params
from seedbed.runtime.jobs.spec import JobClass, JobSpec


class RecipeParams(Params):
    """What every recipe takes."""

    name: str = Field(
        "",
        max_length=100,
        pattern=r"^[^/]*$",
        description="What the results are named after; empty: the source's name.",
    )
    project: str = Field("", description="The project that it belongs to, by id or name.")
    seed: int = Field(0, ge=0, lt=1 << 63, description="Every random choice derives from it.")


@dataclass(frozen=True)
class Recipe:
    """A ready flow.

    `labels(params)` names labels by input, a CSV file or a bundle, which the use case brings into the store first;
    `data(params)` a data set that is there already and the size that it is wanted at. `jobs(params, known)` gives the
    jobs; `known` has the bundles of those labels, and a decoded cache of that data set under 'decoded' where there is
    one. A recipe that `makes_project` has its project made where it does not exist.
    """

    name: str
    about: str
    params: type[RecipeParams]
    jobs: Callable[[Any, Mapping[str, str]], Sequence[JobSpec]]
    labels: Callable[[Any], Mapping[str, str]] = lambda params: {}
    data: Callable[[Any], tuple[str, int]] = lambda params: ("", 0)
    makes_project: bool = False

    def check_params(self, given: Mapping[str, Any]) -> RecipeParams:
        """The parameters as a model; everything wrong with them in one error."""
        try:
            return self.params.model_validate(dict(given))
        except ValidationError as error:
            problems = sentences_of(error.errors(), self.params.model_fields)
            raise InvalidInput(f"The parameters of recipe '{self.name}' cannot be used.", problems=problems) from None


@dataclass(frozen=True)
class Line:
    """Jobs of one recipe that share a base name, a project and a seed."""

    base: str
    project: str
    seed: int

    def job(self, step: str, inputs: Mapping[str, str], params: Mapping[str, Any] | None = None) -> JobSpec:
        """One job, named `<base>.<step>`."""
        return JobSpec(
            step=step,
            name=f"{self.base}.{step}",
            inputs=inputs,
            params=params or {},
            cls=JobClass.TE,
            project=self.project,
            seed=self.seed,
        )

    def made(self, step: str, output: str) -> str:
        """A reference to what the job of that step makes."""
        return f"job:{self.base}.{step}/{output}"
