"""few-labels: from a folder of images and a few labels to a trained, judged and exported model."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from pydantic import Field, model_validator

from seedbed.base.files import expanded
from seedbed.flows.recipes.recipe import Line, Recipe, RecipeParams
from seedbed.methods.learn.settings import ONE_CLASS, TrainSettings
from seedbed.runtime.jobs.spec import JobSpec

SIZE = TrainSettings().size


class LearningParams(RecipeParams):
    """How it is trained and judged."""

    labels_per_class: int = Field(8, ge=0, description="Labels per class taken from the hidden truth; 0: all.")
    test_share: float = Field(0.3, gt=0, lt=1, description="Share of the known images held out for the test.")
    group: str = Field("", description="Column whose groups (plant, plot, day) stay on one side.")
    folds: int = Field(0, ge=0, description="Test on one of so many equal parts, whatever test_share says; 0: do not.")
    fold: int = Field(0, ge=0, description="Which of the folds is held out, counted from 0.")
    size: int = Field(SIZE, ge=8, le=1024, description="Side of the images in pixels.")
    train: dict[str, Any] = Field(default_factory=dict, description="Parameters of the train step.")


class FewLabelsParams(LearningParams):
    """What the recipe starts from."""

    # the formats tell the command line what to send along when the work happens elsewhere
    source: str = Field(
        "", description="A folder, archive or CSV manifest of images.", json_schema_extra={"format": "images"}
    )
    data: str = Field("", description="Or a data set that is in the store already.")
    truth: str = Field(
        "",
        description="Hidden truth that stands in for the expert: a CSV (file,class) or a bundle.",
        json_schema_extra={"format": "labels"},
    )
    labels: str = Field(
        "",
        description="Labels that people gave, all of which are used: a CSV or a bundle.",
        json_schema_extra={"format": "labels"},
    )

    @model_validator(mode="after")
    def _one_of_each(self) -> Self:
        if bool(self.source) == bool(self.data):
            raise ValueError("give either source (images to bring in) or data (a data set in the store)")
        if self.truth and self.labels:
            raise ValueError("give either truth (a stand-in for the expert) or labels (what people said), not both")
        return self


def learning_jobs(
    line: Line, params: LearningParams, data: str, decoded: str, truth: Mapping[str, str], *, all_labels: bool = False
) -> list[JobSpec]:
    """From images in the store to a model: labels, training, test, labels for all, export."""
    labels, test = line.made("sample-labels", "labels"), line.made("sample-labels", "test")
    model = line.made("train", "model")
    sampling = {
        "per_class": 0 if all_labels else params.labels_per_class,
        "test_share": params.test_share,
        "group": params.group,
        **({"folds": params.folds, "fold": params.fold} if params.folds or params.fold else {}),
        **(_good_parts(params.train) if params.train.get("algorithm") == ONE_CLASS else {}),
    }
    training = {"size": params.size, **params.train}
    return [
        line.job("sample-labels", {"data": data, **truth}, sampling),
        line.job("train", {"decoded": decoded, "labels": labels, "holdout": test}, training),
        line.job("evaluate", {"model": model, "decoded": decoded, "test": test}),
        line.job("label-all", {"model": model, "decoded": decoded}),
        line.job("export", {"model": model}),
    ]


def _good_parts(train: Mapping[str, Any]) -> dict[str, Any]:
    """What sampling is told where good parts alone are learnt from."""
    return {"least": 1, **({"good": train["good"]} if train.get("good") else {})}


def _jobs(params: FewLabelsParams, known: Mapping[str, str]) -> list[JobSpec]:
    base = params.name or Path(params.source).stem or params.data
    line = Line(base, params.project, params.seed)
    truth = {"truth": known["truth"]} if "truth" in known else {}
    first: list[JobSpec] = []
    if params.source:
        source = str(expanded(params.source).absolute())
        first = [line.job("ingest", {}, {"source": source, "size": params.size})]
        data, decoded = line.made("ingest", "data"), line.made("ingest", "decoded")
    elif "decoded" in known:
        data, decoded = params.data, known["decoded"]
    else:
        first = [line.job("decode", {"data": params.data}, {"size": params.size})]
        data, decoded = params.data, line.made("decode", "decoded")
    return [*first, *learning_jobs(line, params, data, decoded, truth, all_labels=bool(params.labels))]


def _labels(params: FewLabelsParams) -> Mapping[str, str]:
    given = params.truth or params.labels
    return {"truth": given} if given else {}


def _data(params: FewLabelsParams) -> tuple[str, int]:
    return params.data, params.size


FEW_LABELS = Recipe(
    name="few-labels",
    about="From images and a few labels to a model that is trained, tested, exported, and has labelled every image.",
    params=FewLabelsParams,
    jobs=_jobs,
    labels=_labels,
    data=_data,
)
