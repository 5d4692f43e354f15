"""Groups of alike images."""

from typing import Literal

from pydantic import Field

from seedbed.base.resources import Resources
from seedbed.base.run import RunContext
from seedbed.flows.kinds.embeddings import Embeddings, Groups
from seedbed.flows.step import Params, step
from seedbed.flows.steps.methods import METHODS


class GroupParams(Params):
    """How many groups, and found how."""

    count: int = Field(0, ge=0, le=100_000, description="Groups; 0: as many as the images seem to have.")
    method: Literal["quick", "scan"] = Field("quick", description="k-means in seconds, or SCAN in minutes.")
    epochs: int = Field(25, ge=1, le=10_000, description="Of SCAN: how often it goes through the images.")


@step(
    "group",
    methods=tuple(f"seedbed.methods.label.{module}" for module in ("groups", "neighbours", "scan", "course", "views")),
    resources=Resources(cpus=2, memory=2 << 30),
    device_matters=True,
    seed_matters=True,
)
def group_images(embeddings: Embeddings, params: GroupParams, run: RunContext) -> Groups:
    """Puts images that look alike into groups."""
    run.report(step=0, total=1, doing="grouping alike images")
    found = METHODS.get("group")(embeddings.rows, params.count or None, seed=run.seed)
    if params.method == "scan":
        settings = METHODS.get("scan-settings")(epochs=params.epochs, device="cpu")
        found = METHODS.get("scan")(None, embeddings.rows, max(found.count, 2), settings, run)
    run.report(step=1, total=1, doing="grouping alike images")
    return Groups.write(run.folder / "groups", found.groups, found.typicality, found.centres)
