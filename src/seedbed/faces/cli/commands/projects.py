"""`seedbed projects`: use cases of domain experts."""

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from seedbed.base.errors import InvalidInput, NotFound
from seedbed.faces.cli.options import Json, Yes, sure
from seedbed.faces.cli.output import say, short, show_json, show_record, show_table, when
from seedbed.faces.cli.session import Session, session

if TYPE_CHECKING:
    from seedbed.faces.client.results import LabelAsked

app = typer.Typer(help="Projects: classes, images, labels.", no_args_is_help=True)
label = typer.Typer(help="Labels of a project.", no_args_is_help=True)
app.add_typer(label, name="label")
Ref = Annotated[str, typer.Argument(help="The project's name or id.")]


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="The project's name.")],
    classes: Annotated[list[str] | None, typer.Option("--class", "-c", help="A class; may be repeated.")] = None,
    data: Annotated[str, typer.Option(help="The data set that it is about.")] = "",
    as_json: Json = False,
) -> None:
    """A new project."""

    with session() as here:
        made = here.client.projects.create(name, classes=classes or ())
        if data:
            made = here.client.projects.set_data(made["id"], here.client.bundles.show(data)["uuid"])
    show_json(made) if as_json else say(f"{made['name']}: {made['id']}")


@app.command("list")
def list_projects(as_json: Json = False) -> None:
    """The projects that you are a member of."""

    with session() as here:
        found = here.client.projects.list()
    if as_json:
        show_json(found)
        return
    rows = [(short(one["id"]), one["name"], one["owner"], when(one["created"])) for one in found]
    show_table(("id", "name", "owner", "made"), rows, empty="No project yet. Make one: seedbed projects create NAME")


@app.command()
def show(ref: Ref, as_json: Json = False) -> None:
    """A project with its classes and how many images each has."""

    with session() as here:
        found = here.client.projects.get(ref)
        classes = here.client.projects.classes(found["id"])
        labels = here.client.projects.labels(found["id"])
    counts = {one["name"]: sum(each["label"] == one["name"] for each in labels.values()) for one in classes}
    if as_json:
        show_json({**found, "classes": counts})
        return
    show_record({**found, "created": when(found["created"])})
    show_table(("class", "labels"), list(counts.items()), empty="No class yet.")


@app.command("add-class")
def add_class(
    ref: Ref,
    names: Annotated[list[str], typer.Argument(help="What can be seen on the images.")],
    as_json: Json = False,
) -> None:
    """One class more, or several."""

    with session() as here:
        made = [here.client.projects.add_class(ref, name) for name in names]
    show_json(made) if as_json else say(f"{ref} can now be labelled with {', '.join(one['name'] for one in made)}.")


@app.command("rename-class")
def rename_class(
    ref: Ref,
    old: Annotated[str, typer.Argument(help="The class as it is called now.")],
    new: Annotated[str, typer.Argument(help="Its new name.")],
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Give a class another name; its labels follow."""

    with session() as here:
        project = here.client.projects.get(ref)
        sure(f"Call {old} {new} in {project['name']}, with its {_labels_of(here, project['id'], old)}?", yes=yes)
        here.client.projects.rename_class(project["id"], old, new)
    result = {"project": project["id"], "old": old, "new": new}
    show_json(result) if as_json else say(f"{old} is now called {new}.")


@app.command("remove-class")
def remove_class(
    ref: Ref,
    name: Annotated[str, typer.Argument(help="The class.")],
    with_labels: Annotated[bool, typer.Option("--with-labels", help="Also when images are labelled with it.")] = False,
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Take a class away; one that images are labelled with only --with-labels."""

    with session() as here:
        project = here.client.projects.get(ref)
        labels = f", with its {_labels_of(here, project['id'], name)}" if with_labels else ""
        sure(f"Remove {name} from {project['name']}{labels}?", yes=yes)
        here.client.projects.remove_class(project["id"], name, with_labels=with_labels)
    show_json({"project": project["id"], "removed": name}) if as_json else say(f"{name} is gone.")


@label.command("import")
def import_labels(
    ref: Ref,
    file: Annotated[Path, typer.Argument(help="A CSV file with the columns file (or image) and class (or label).")],
    as_json: Json = False,
) -> None:
    """Take labels from a CSV file; taking the same file again adds nothing."""

    with session() as here:
        project = here.client.projects.get(ref)["id"]
        asked = _read(file)
        said = {image: label["label"] for image, label in here.client.projects.labels(project).items()}
        new: list[LabelAsked] = [one for one in asked if said.get(one["image"]) != one["label"]]
        count = here.client.projects.add_labels(project, new)
    result = {"read": len(asked), "new": count}
    show_json(result) if as_json else say(f"{count} of {len(asked)} labels are new.")


def _read(file: Path) -> "list[LabelAsked]":
    try:
        with file.open(newline="", encoding="utf-8-sig") as lines:
            reader = csv.DictReader(lines)
            image, klass = _column(file, reader, ("image", "file")), _column(file, reader, ("class", "label"))
            return [
                {"image": (row[image] or "").strip(), "label": (row[klass] or "").strip(), "source": "import"}
                for row in reader
            ]
    except FileNotFoundError:
        raise NotFound(f"There is no file {file}.") from None
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise InvalidInput(f"{file} cannot be read as CSV: {error}.") from None


def _column(file: Path, reader: "csv.DictReader[str]", names: tuple[str, ...]) -> str:
    """The column of either name; where a file has both, the first."""
    columns = {column.strip().lower(): column for column in reader.fieldnames or () if column}
    for name in names:
        if name in columns:
            return columns[name]
    raise InvalidInput(
        f"{file} has no column {' or '.join(names)}; it has {', '.join(columns) or 'none'}.",
        hint="Begin it with the line: file,class",
    )


def _labels_of(here: Session, project: str, name: str) -> str:
    count = sum(label["label"] == name for label in here.client.projects.labels(project).values())
    return f"{count} label{'' if count == 1 else 's'}"
