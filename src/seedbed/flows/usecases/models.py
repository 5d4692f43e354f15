"""Models as people use them: train, predict, recipes."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from seedbed.assets.access.roles import Identity
from seedbed.base.resources import Resources
from seedbed.runtime.jobs.queue import Job
from seedbed.runtime.jobs.spec import JobClass


class Models:
    """What people do with models."""

    def train(
        self,
        data_ref: str,
        labels_ref: str = "",
        *,
        project: str = "",
        params: Mapping[str, Any] | None = None,
        seed: int = 0,
        cls: JobClass = JobClass.TE,
        resources: Resources | None = None,
        by: Identity,
    ) -> list[Job]:
        """Train on a data set with a labels bundle, or with the labels of a project; evaluated and exported."""
        raise NotImplementedError

    def predict(
        self, model_ref: str, data_ref: str = "", *, source: Path | None = None, project: str = "", by: Identity
    ) -> list[Job]:
        """Label every image of a data set, or of a folder, which is ingested first."""
        raise NotImplementedError

    def predict_image(self, model_ref: str, image: bytes, *, by: Identity) -> list[tuple[str, float]]:
        """(class, probability), most probable first, from the exported model, within this process."""
        raise NotImplementedError

    def recipes(self) -> dict[str, str]:
        """Name and one line of each recipe."""
        raise NotImplementedError

    def recipe_schema(self, name: str) -> dict[str, Any]:
        """The recipe's parameters as a JSON schema."""
        raise NotImplementedError

    def start_recipe(self, name: str, params: Mapping[str, Any], *, by: Identity) -> list[Job]:
        """Queue a recipe's jobs."""
        raise NotImplementedError
