"""demo: everything that Seedbed does so far, on leaves that it draws itself."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from pydantic import Field

from seedbed.flows.recipes.few_labels import LearningParams, learning_jobs
from seedbed.flows.recipes.recipe import Line, Recipe
from seedbed.runtime.jobs.spec import JobSpec


class DemoParams(LearningParams):
    """How large the demonstration is."""

    name: str = Field(
        "leaves", min_length=1, max_length=100, pattern=r"^[^/]*$", description="What the results are named after."
    )
    project: str = Field("Leaves", description="The project that it belongs to; made if there is none.")
    count_per_class: int = Field(250, ge=10, description="Leaves that are drawn of each class.")
    train: dict[str, Any] = Field(
        default_factory=lambda: {"steps": 160}, description="Parameters of the train step; fewer steps than usual."
    )
    compare: bool = Field(True, description="Also train on the labels alone, to lay the curves over each other.")


def _jobs(params: DemoParams, known: Mapping[str, str]) -> list[JobSpec]:
    line = Line(params.name, params.project, params.seed)
    data, decoded = line.made("ingest", "data"), line.made("ingest", "decoded")
    jobs = [
        line.job("draw-leaves", {}, {"count_per_class": params.count_per_class}),
        line.job("ingest", {"files": line.made("draw-leaves", "files")}, {"size": params.size}),
        *learning_jobs(line, params, data, decoded, {"truth": line.made("draw-leaves", "truth")}),
    ]
    if not params.compare:
        return jobs
    alone = _labels_alone(params, line)
    last = (alone[-1].name,)  # first the comparison: what a project shows is its newest model
    return [*alone, *(replace(job, after=last) if job.step == "train" else job for job in jobs)]


def _labels_alone(params: DemoParams, line: Line) -> list[JobSpec]:
    alone = Line(f"{line.base}-labels-alone", line.project, line.seed)
    decoded, test = line.made("ingest", "decoded"), line.made("sample-labels", "test")
    inputs = {"decoded": decoded, "labels": line.made("sample-labels", "labels"), "holdout": test}
    return [
        alone.job("train", inputs, {"size": params.size, **params.train, "algorithm": "supervised"}),
        alone.job("evaluate", {"model": alone.made("train", "model"), "decoded": decoded, "test": test}),
    ]


DEMO = Recipe(
    name="demo",
    about="Draws crop leaves, labels a few from the hidden truth, trains with the rest, tests, and labels them all.",
    params=DemoParams,
    jobs=_jobs,
    makes_project=True,
)
