"""A synthetic data set to try things on."""

from typing import TypedDict

from pydantic import Field

from seedbed.assets.data.synthetic import write_leaves
from seedbed.base.resources import Resources
from seedbed.base.run import RunContext
from seedbed.flows.kinds.labels import Files, Labels, read_labels
from seedbed.flows.step import Params, step


class DrawLeavesParams(Params):
    """How many, and how large."""

    count_per_class: int = Field(100, ge=1, le=100_000, description="Pictures of each class.")
    size: int = Field(96, ge=16, le=1024, description="Side of the pictures in pixels.")


class Drawn(TypedDict):
    """Pictures under neutral names, and what they show, which a model must not be told."""

    files: Files
    truth: Labels


@step(
    "draw-leaves",
    methods=("seedbed.assets.data.synthetic", "seedbed.assets.data.leaves"),
    resources=Resources(cpus=1, memory=1 << 30),
    seed_matters=True,
)
def draw_leaves(params: DrawLeavesParams, run: RunContext) -> Drawn:
    """Draws crop leaves in several conditions, and keeps the truth about them apart."""
    run.report(step=0, total=1, doing="drawing leaves")
    place = run.folder / "drawn"
    truth = write_leaves(place / "files", params.count_per_class, seed=run.seed, size=params.size)
    labels = Labels.write(run.folder / "truth", read_labels(truth))
    truth.unlink()
    run.report(step=1, total=1, doing="drawn")
    return {"files": Files(place), "truth": labels}
