"""`seedbed projects`: use cases of domain experts."""

from pathlib import Path
from typing import Annotated, Any

import typer

from seedbed.base.errors import InvalidInput
from seedbed.faces.cli.commands.labels import take_in
from seedbed.faces.cli.completion import DATA_SETS, PROJECTS
from seedbed.faces.cli.options import Json, Yes, sure
from seedbed.faces.cli.output import say, short, show_json, show_record, show_table, when
from seedbed.faces.cli.session import Session, session

app = typer.Typer(help="Projects: classes, images, labels.", no_args_is_help=True)
label = typer.Typer(help="Labels of a project.", no_args_is_help=True)
app.add_typer(label, name="label", hidden=True)  # the name that `seedbed labels` had before
Ref = Annotated[str, typer.Argument(help="The project's name or id.", autocompletion=PROJECTS)]
Kind = Annotated[str, typer.Option(help="What its classes are: classes, binary or bins (of a percentage).")]


@app.command()
def create(
    name: Annotated[str, typer.Argument(help="The project's name.")],
    classes: Annotated[list[str] | None, typer.Option("--class", "-c", help="A class; may be repeated.")] = None,
    kind: Kind = "classes",
    bins: Annotated[str, typer.Option(help="Edges of bins of a percentage, such as 0,25,50,100.")] = "",
    other: Annotated[str, typer.Option(help="A class for everything that is none of the others.")] = "",
    data: Annotated[str, typer.Option(help="The data set that it is about.", autocompletion=DATA_SETS)] = "",
    as_json: Json = False,
) -> None:
    """A new project."""

    asked: list[Any] = [*(classes or ()), *([{"name": other, "other": True}] if other else ())]
    with session() as here:
        about = here.client.bundles.show(data)["uuid"] if data else ""  # before anything is made
        made = here.client.projects.create(name, classes=asked, kind=kind, bins=_edges(bins))
        if about:
            made = here.client.projects.set_data(made["id"], about)
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
    settings = {name.replace("_", " "): value for name, value in found["settings"].items()}
    told = {name: value for name, value in found.items() if name != "settings"}
    show_record({**told, "created": when(found["created"]), **settings})
    show_table(("class", "labels"), list(counts.items()), empty="No class yet.")


@app.command("set")
def set_project(
    ref: Ref,
    name: Annotated[str, typer.Option(help="Another name.")] = "",
    kind: Kind = "",
    goal: Annotated[int | None, typer.Option(min=1, help="Labels of each class before training is offered.")] = None,
    grouping: Annotated[
        bool | None, typer.Option("--grouping/--no-grouping", help="Group alike images by themselves.")
    ] = None,
    proposals: Annotated[
        bool | None, typer.Option("--proposals/--no-proposals", help="Propose what the model so far takes images for.")
    ] = None,
    train_by_itself: Annotated[
        bool | None, typer.Option("--train-by-itself/--train-on-demand", help="Train when every class has its number.")
    ] = None,
    chooser: Annotated[
        str | None, typer.Option(help="How the next images to label are chosen: seedbed list choosers.")
    ] = None,
    honeypots: Annotated[
        float | None, typer.Option(min=0, max=0.5, help="Share of images shown whose golden label is known.")
    ] = None,
    as_json: Json = False,
) -> None:
    """Another name, kind or settings."""

    chosen = {
        "goal": goal,
        "grouping": grouping,
        "proposals": proposals,
        "train_by_itself": train_by_itself,
        "chooser": chooser,
        "honeypots": honeypots,
    }
    asked = {
        **({"name": name} if name else {}),
        **({"kind": kind} if kind else {}),
        "settings": {key: value for key, value in chosen.items() if value is not None},
    }
    with session() as here:
        made = here.client.projects.change(ref, **asked)
    show_json(made) if as_json else show_record({"name": made["name"], "kind": made["kind"], **made["settings"]})


@app.command("set-class")
def set_class(
    ref: Ref,
    name: Annotated[str, typer.Argument(help="The class.")],
    colour: Annotated[str, typer.Option(help="Its colour on pages, such as #0072b2.")] = "",
    key: Annotated[str, typer.Option(help="The key on the keyboard that gives it.")] = "",
    value: Annotated[float | None, typer.Option(help="The percentage that it stands for.")] = None,
    as_json: Json = False,
) -> None:
    """Another colour, key or value for a class."""

    given = {"colour": colour or None, "key": key or None, "value": value}
    changes = {what: one for what, one in given.items() if one is not None}
    if not changes:
        raise InvalidInput("Nothing is to be changed.", hint="Give --colour, --key or --value.")
    with session() as here:
        made = here.client.projects.set_class(ref, name, **changes)
    show_json(made) if as_json else say(f"{name} is changed.")


@app.command("merge-class")
def merge_class(
    ref: Ref,
    name: Annotated[str, typer.Argument(help="The class that goes.")],
    into: Annotated[str, typer.Argument(help="The class that its labels then have.")],
    yes: Yes = False,
    as_json: Json = False,
) -> None:
    """Make two classes one."""

    with session() as here:
        project = here.client.projects.get(ref)
        sure(f"Make {name}, with its {_labels_of(here, project['id'], name)}, part of {into}?", yes=yes)
        count = here.client.projects.merge_class(project["id"], name, into)
    result = {"project": project["id"], "merged": name, "into": into, "labels": count}
    show_json(result) if as_json else say(f"{name} is part of {into} now.")


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
    file: Annotated[Path, typer.Argument(help="A file of labels.")],
    as_json: Json = False,
) -> None:
    """Take labels from a file: see seedbed labels import."""

    with session() as here:
        made = take_in(here, ref, file, add_classes=False)
    result = {"read": made["read"], "new": made["count"]}
    show_json(result) if as_json else say(f"{made['count']} of {made['read']} labels are new.")


def _edges(text: str) -> list[float]:
    try:
        return [float(part) for part in text.split(",")] if text else []
    except ValueError:
        raise InvalidInput(f"--bins is '{text}'; write numbers with commas, such as 0,25,50,100.") from None


def _labels_of(here: Session, project: str, name: str) -> str:
    count = sum(label["label"] == name for label in here.client.projects.labels(project).values())
    return f"{count} label{'' if count == 1 else 's'}"
