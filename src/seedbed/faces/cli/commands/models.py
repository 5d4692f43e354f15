"""`seedbed predict`, `recipe` and `demo`; `train` has a module of its own."""

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seedbed.base.errors import InvalidInput, NotFound
from seedbed.base.files import write_atomically
from seedbed.faces.cli.commands.jobs import finish
from seedbed.faces.cli.commands.results import say_how_to_get
from seedbed.faces.cli.commands.train import train
from seedbed.faces.cli.completion import DATA_SETS, MODELS, RECIPES
from seedbed.faces.cli.fetching import fetch, files_in, refuse_to_overwrite
from seedbed.faces.cli.heavy import HEAVY
from seedbed.faces.cli.options import Detach, Json, Params, Project, values
from seedbed.faces.cli.output import note, show_json, show_table
from seedbed.faces.cli.session import Session, session

if TYPE_CHECKING:
    from seedbed.faces.client.results import Answer, Job


def add_to(app: typer.Typer) -> None:
    """Put these commands at the top level."""
    app.command()(train)
    app.command()(predict)
    app.command()(recipe)
    app.command()(demo)


def predict(
    model: Annotated[str, typer.Argument(help="A model.", autocompletion=MODELS)],
    what: Annotated[
        str,
        typer.Argument(help="A data set, a folder or archive of images, or one image file.", autocompletion=DATA_SETS),
    ],
    out: Annotated[Path | None, typer.Option(help="Write the predictions into this CSV file.")] = None,
    force: Annotated[bool, typer.Option("--force", help="Write over the file if it is there.")] = False,
    project: Project = "",
    detach: Detach = False,
    as_json: Json = False,
) -> None:
    """Label images with a model."""

    path, out = Path(what).expanduser(), out.expanduser() if out else None
    if out and detach:
        raise InvalidInput("--out needs the predictions, and --detach does not wait for them.", hint="Leave one out.")
    refuse_to_overwrite([out] if out else [], force=force)
    with session() as here:
        if path.is_file() and path.suffix.lower() in _IMAGES:
            answer = here.client.models.predict_image(model, path.read_bytes())
            if out:
                classes = here.client.bundles.show(model)["arrays"]["classes"]["items"]
                write_atomically(out, as_csv(path.name, answer, classes))
            _show_answer(answer, as_json=as_json)
            return
        is_path = path.exists() or "/" in what or path.suffix.lower() in _IMAGES
        source = here.bring(path, project=project, images=True) if is_path else _data_set(here, what)
        jobs = here.client.models.predict(model, project=project, **source)
        ended = finish(here, jobs, detach=detach, as_json=as_json)
        if out:
            _write_predictions(here, ended, out, force=force, quiet=as_json)
        _say_what_was_left_out(here, ended)
        answers = [job for job in ended if job["step"] == "predict"]  # nobody asked for the model's files
        say_how_to_get(answers, quiet=as_json or detach or out is not None)


def recipe(
    name: Annotated[str, typer.Argument(help="A recipe (seedbed list recipes).", autocompletion=RECIPES)],
    param: Params = None,
    detach: Detach = False,
    as_json: Json = False,
) -> None:
    """Start a ready flow."""

    with session() as here:
        given, uploads = _brought(here, name, values(param, "--param"))
        jobs = here.client.models.start_recipe(name, given, uploads=uploads)
        _say_how_many_labels(jobs)
        finish(here, jobs, detach=detach, as_json=as_json)


def demo(
    param: Params = None,
    serve: Annotated[bool, typer.Option(help="Leave the web page running in the end.")] = True,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port of the page; 0 takes a free one.")] = None,
    as_json: Json = False,
) -> None:
    """Draw leaves, label a few, train, evaluate, label the rest; then the web page with all of that."""

    note("Leaves of several classes are drawn, 8 of each are labelled, and a model learns from them and the rest.")
    with session() as here:
        jobs = here.client.models.start_recipe("demo", values(param, "--param"))
        finish(here, jobs, detach=False, as_json=as_json)
    if serve and here.platform is not None:
        HEAVY.get("serve")({"port": port})


_LEFT_OUT = ("unreadable", "too-large", "missing")  # findings about files that did not come in
_IMAGES = {".jpg", ".jpeg", ".png", ".tif", ".tiff", ".webp", ".bmp", ".gif", ".heic", ".avif"}


def _data_set(here: Session, what: str) -> dict[str, str]:
    """A data set by its name; whoever meant a file hears that there is neither."""
    try:
        here.client.bundles.show(what)
    except NotFound as error:
        raise NotFound(f"There is no file, folder or data set '{what}'.", hint=error.hint) from None
    return {"data": what}


def _brought(here: Session, recipe: str, given: dict[str, Any]) -> tuple[dict[str, Any], dict[str, str]]:
    """A recipe's parameters, and as uploads those that name files of this machine where the work happens elsewhere."""
    fields = here.client.models.recipe(recipe)["parameters"].get("properties", {})
    params, uploads = dict(given), dict[str, str]()
    for key, value in given.items():
        what = fields.get(key, {}).get("format", "")
        is_path = what == "images" or (what == "labels" and str(value).lower().endswith(".csv"))
        if isinstance(value, str) and value and is_path:
            project = str(given.get("project", ""))
            found = here.bring(Path(value), project=project, images=what == "images")
            if "upload" in found:
                uploads[key] = found["upload"]
                del params[key]
            else:
                params[key] = found["path"]
    return params, uploads


def _say_how_many_labels(jobs: "Sequence[Job]") -> None:
    """Where only some of the labels are used, that is a choice that people should know of."""
    for job in jobs:
        if count := job["spec"]["params"].get("per_class"):
            note(f"Labels that are used of each class: {count}. Another number: -p labels_per_class=N, with 0 for all.")


def _write_predictions(here: Session, jobs: "Sequence[Job]", out: Path, *, force: bool, quiet: bool) -> None:
    (uuid,) = next(job["outputs"] for job in jobs if job["step"] == "predict").values()
    files = files_in(here.client.bundles.show(uuid), out.parent, "predictions")
    fetch(here, uuid, [replace(files[0], target=out)], force=force, quiet=quiet)
    note(f"The predictions are in {out}.")


def _say_what_was_left_out(here: Session, jobs: "Sequence[Job]") -> None:
    """Files that are no images have no prediction; nobody should have to count lines to find that out."""
    for job in jobs:
        if job["step"] == "ingest" and "data" in job["outputs"]:
            for finding in here.client.data.show(job["outputs"]["data"])["findings"]:
                if finding["code"] in _LEFT_OUT:
                    note(finding["sentence"])


def as_csv(file: str, answer: "Answer", classes: Sequence[str]) -> bytes:
    """One image's line, with the columns that the predictions of many images have; the best guess comes first."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\n")
    by_class = {guess["label"]: f"{guess['probability']:.6f}" for guess in answer["guesses"]}
    ordered = {} if answer["value"] is None else {"value": f"{answer['value']:.6g}"}
    table.writerow(["file", "class", "confidence", *ordered, *(f"p({name})" for name in classes)])
    best = answer["guesses"][0]["label"]
    table.writerow([file, best, by_class[best], *ordered.values(), *(by_class[name] for name in classes)])
    return text.getvalue().encode()


def _show_answer(answer: "Answer", *, as_json: bool) -> None:

    if as_json:
        show_json(answer)
        return
    rows = [(guess["label"], f"{guess['probability']:.1%}") for guess in answer["guesses"]]
    show_table(("class", "probability"), rows, empty="The model knows no class.")
    if answer["value"] is not None:
        note(f"The value to be expected: {answer['value']:.3g}.")
