"""`seedbed projects members` and its like: who is in a project, and that a project ends."""

from typing import Annotated

import typer

from seedbed.faces.cli.commands.projects import Ref
from seedbed.faces.cli.commands.users import RoleName
from seedbed.faces.cli.completion import DATA_SETS
from seedbed.faces.cli.options import Json, Yes, sure
from seedbed.faces.cli.output import say, show_json, show_table
from seedbed.faces.cli.session import session

app = typer.Typer()
User = Annotated[str, typer.Argument(help="The user's name.")]


@app.command()
def members(ref: Ref, as_json: Json = False) -> None:
    """Who is in a project, with which role."""
    with session() as here:
        found = here.client.projects.members(ref)
    if as_json:
        show_json(found)
        return
    show_table(("name", "role"), [(one["name"], one["role"]) for one in found], empty="Nobody but the operators.")


@app.command("add-member")
def add_member(
    ref: Ref,
    user: User,
    role: Annotated[RoleName, typer.Option(help="What they may do in this project.")] = RoleName.LABELLER,
) -> None:
    """Let somebody into a project, or give them another role in it."""
    with session() as here:
        here.client.projects.add_member(ref, user, role.value)
    say(f"{user} is {role.value} in {ref}.")


@app.command("remove-member")
def remove_member(ref: Ref, user: User) -> None:
    """Out of a project again; what they labelled stays."""
    with session() as here:
        here.client.projects.remove_member(ref, user)
    say(f"{user} is out of {ref}.")


@app.command("set-data")
def set_data(
    ref: Ref, data: Annotated[str, typer.Argument(help="A data set, by name or uuid.", autocompletion=DATA_SETS)]
) -> None:
    """Say which data set a project is about; its labels stay."""
    with session() as here:
        here.client.projects.set_data(ref, here.client.bundles.show(data)["uuid"])
    say(f"{ref} is about {data} now.")


@app.command()
def delete(ref: Ref, yes: Yes = False) -> None:
    """Remove a project with its classes and labels; its data sets and models stay, for operators of the service."""
    with session() as here:
        project = here.client.projects.get(ref)
        labels = len(here.client.projects.labels(project["id"]))
        stays = "What was made in it stays in the store, where only operators of the service still see it."
        sure(f"{stays} Remove {project['name']} with its {labels:,} labels for good?", yes=yes)
        here.client.projects.delete(project["id"])
    say(f"{project['name']} is removed.")
