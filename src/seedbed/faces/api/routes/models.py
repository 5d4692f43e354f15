"""/models and /recipes: train, predict, start a ready flow."""

from dataclasses import asdict
from typing import Annotated, Any

from anyio import to_thread
from fastapi import Path, Request

from seedbed.base.errors import InvalidInput
from seedbed.base.settings import Settings
from seedbed.faces.api.access import Here, Rules, Trainer, Viewer
from seedbed.faces.api.paths import (
    drop_upload,
    existing_path,
    is_list,
    labels_path,
    source_path,
    upload_path,
    with_plain_suffix,
)
from seedbed.faces.api.requests import PredictAsked, RecipeAsked, TrainAsked
from seedbed.faces.api.routing import router
from seedbed.faces.api.views import AnswerView, JobView, RecipeView, plain

models = router("models")
recipes = router("recipes")
ModelRef = Annotated[str, Path(description="uuid, the beginning of one, or a name (its latest).", max_length=500)]
RecipeName = Annotated[str, Path(max_length=200)]

_IMAGE: dict[str, Any] = {
    "requestBody": {
        "required": True,
        "content": {"application/octet-stream": {"schema": {"type": "string", "format": "binary"}}},
    }
}


@models.post("/train", status_code=202)
def train(asked: TrainAsked, here: Here, rules: Rules, by: Trainer) -> list[JobView]:
    """Train on a data set with labels (a bundle, a CSV) or with a project's labels; evaluated and exported."""
    made = here.models.train(
        asked.data,
        labels_path(rules, asked.labels, asked.labels_upload),
        project=asked.project,
        params=asked.params,
        seed=asked.seed,
        test_share=asked.test_share,
        group=asked.group,
        labels_per_class=asked.labels_per_class,
        weights=asked.weights,
        cls=asked.cls,
        resources=asked.resources.resources() if asked.resources else None,
        by=by,
    )
    drop_upload(rules, asked.labels_upload)  # the labels are a bundle by now
    return [JobView.of(job) for job in made]


@models.post("/{ref}/predict", status_code=202)
def predict(ref: ModelRef, asked: PredictAsked, here: Here, rules: Rules, by: Trainer) -> list[JobView]:
    """Label every image of a data set, a folder of the server or an upload."""
    if asked.data and (asked.path or asked.upload):
        raise InvalidInput("Give one of 'data', 'path' and 'upload'.")
    source = None if asked.data else source_path(rules, asked.path, asked.upload)
    made = here.models.predict(ref, asked.data, source=source, project=asked.project, by=by)
    return [JobView.of(job) for job in made]


@models.post("/{ref}/predict-image", openapi_extra=_IMAGE)
async def predict_image(ref: ModelRef, request: Request, here: Here, by: Viewer) -> AnswerView:
    """What a model makes of one image, the most probable first; the body is the image file."""
    image = await request.body()
    answer = await to_thread.run_sync(lambda: here.models.predict_image(ref, image, by=by))
    return AnswerView(**asdict(answer))


@recipes.get("")
def find(here: Here, by: Viewer) -> dict[str, str]:
    """Every recipe with one line on what it does."""
    return dict(here.models.recipes())


@recipes.get("/{name}")
def show(name: RecipeName, here: Here, by: Viewer) -> RecipeView:
    """A recipe's parameters as a JSON schema."""
    schema = plain(here.models.recipe_schema(name))
    return RecipeView(name=name, about=here.models.recipes().get(name, ""), parameters=schema)


@recipes.post("/{name}", status_code=202)
def start(name: RecipeName, asked: RecipeAsked, here: Here, rules: Rules, by: Trainer) -> list[JobView]:
    """Queue a recipe's jobs; a parameter that names a CSV is a file of the server, or an upload."""
    if twice := sorted(asked.params.keys() & asked.uploads.keys()):
        raise InvalidInput(f"These are both in 'params' and in 'uploads': {', '.join(twice)}.")
    params = {key: _checked(rules, value) for key, value in asked.params.items()}
    sent = {key: str(with_plain_suffix(upload_path(rules, number))) for key, number in asked.uploads.items()}
    made = here.models.start_recipe(name, {**params, **sent}, by=by)
    read_later = [value for job in made for value in job.spec.params.values()]
    for key, number in asked.uploads.items():
        if sent[key] not in read_later:  # labels are a bundle by now
            drop_upload(rules, number)
    return [JobView.of(job) for job in made]


def _checked(rules: Settings, value: Any) -> Any:
    return str(existing_path(rules, value)) if isinstance(value, str) and is_list(value) else value
