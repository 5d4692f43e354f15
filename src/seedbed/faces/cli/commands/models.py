"""`seedbed train`, `predict` and `demo`."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from seedbed.faces.cli.commands.jobs import finish
from seedbed.faces.cli.heavy import HEAVY
from seedbed.faces.cli.options import Detach, Json, Params, Project, values
from seedbed.faces.cli.output import note, show_json, show_table
from seedbed.faces.cli.session import session

if TYPE_CHECKING:
    from seedbed.faces.client.results import Guess


def add_to(app: typer.Typer) -> None:
    """Put these commands at the top level."""
    app.command()(train)
    app.command()(predict)
    app.command()(recipe)
    app.command()(demo)


def train(
    data: Annotated[str, typer.Argument(help="A data set; else the project's.")] = "",
    labels: Annotated[str, typer.Option(help="A labels bundle; else the project's labels.")] = "",
    project: Annotated[str, typer.Option(help="A project whose data set and labels are taken.")] = "",
    test_share: Annotated[float, typer.Option(help="Share of the labels that is held out for the test.")] = 0.3,
    param: Params = None,
    seed: Annotated[int, typer.Option(help="Every random draw derives from it.")] = 0,
    cls: Annotated[str, typer.Option("--class", help="te (trial and error) or be (best effort).")] = "te",
    detach: Detach = False,
    as_json: Json = False,
) -> None:
    """Train a model on a few labels and the unlabelled rest; it is evaluated and exported."""

    with session() as here:
        fields: dict[str, Any] = {"labels": labels, "project": project, "seed": seed, "cls": cls.lower()}
        fields["test_share"] = test_share
        jobs = here.client.models.train(data, params=values(param, "--param"), **fields)
        finish(here, jobs, detach=detach, as_json=as_json)


def predict(
    model: Annotated[str, typer.Argument(help="A model.")],
    what: Annotated[str, typer.Argument(help="A data set, a folder of images, or one image file.")],
    project: Project = "",
    detach: Detach = False,
    as_json: Json = False,
) -> None:
    """Label images with a model."""

    path = Path(what).expanduser()
    with session() as here:
        if path.is_file() and path.suffix.lower() in _IMAGES:
            _show_guesses(here.client.models.predict_image(model, path.read_bytes()), as_json=as_json)
            return
        is_path = path.exists() or "/" in what or path.suffix.lower() in _IMAGES
        source = here.bring(path, project=project) if is_path else {"data": what}
        jobs = here.client.models.predict(model, project=project, **source)
        finish(here, jobs, detach=detach, as_json=as_json)


def recipe(
    name: Annotated[str, typer.Argument(help="A recipe (seedbed list recipes).")],
    param: Params = None,
    detach: Detach = False,
    as_json: Json = False,
) -> None:
    """Start a ready flow."""

    with session() as here:
        jobs = here.client.models.start_recipe(name, values(param, "--param"))
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


_IMAGES = {".jpg", ".jpeg", ".png", ".tif", ".tiff", ".webp", ".bmp", ".gif"}


def _show_guesses(guesses: "list[Guess]", *, as_json: bool) -> None:

    if as_json:
        show_json(guesses)
        return
    rows = [(guess["label"], f"{guess['probability']:.1%}") for guess in guesses]
    show_table(("class", "probability"), rows, empty="The model knows no class.")
