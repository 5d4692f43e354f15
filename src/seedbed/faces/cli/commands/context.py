"""`seedbed context`: named sets of bundles."""

from typing import Annotated

import typer

from seedbed.faces.cli.completion import CONTEXTS
from seedbed.faces.cli.options import Json, Yes, sure
from seedbed.faces.cli.output import say, show_json, show_table
from seedbed.faces.cli.session import session

app = typer.Typer(help="Contexts: named sets of bundles, here and at a remote.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="The context's name.", autocompletion=CONTEXTS)]


@app.command()
def create(name: Name, as_json: Json = False) -> None:
    """A new, empty context."""

    with session() as here:
        made = here.client.contexts.create(name)
    show_json(made) if as_json else say(f"{made['name']} is there. Use it: seedbed context use {made['name']}")


@app.command("list")
def list_contexts(as_json: Json = False) -> None:
    """Every context; the one in use is marked."""

    with session() as here:
        found = here.client.contexts.list()
    if as_json:
        show_json(found)
        return
    rows = [("*" if one["current"] else "", one["name"], one["bundles"], one["pushed"], one["remote"]) for one in found]
    show_table(("", "name", "bundles", "pushed", "remote"), rows, empty="No context yet.")


@app.command()
def use(name: Name, as_json: Json = False) -> None:
    """New bundles go into this context from now on."""

    with session() as here:
        found = here.client.contexts.use(name)
    show_json(found) if as_json else say(f"New bundles go into {found['name']}.")


@app.command()
def remove(name: Name, yes: Yes = False, as_json: Json = False) -> None:
    """Forget a context; its bundles stay, here and at its remote."""

    with session() as here:
        found = next((one for one in here.client.contexts.list() if one["name"] == name), None)
        count = found["bundles"] if found else 0
        sure(f"Forget the context {name}? Its bundles ({count}) stay.", yes=yes)
        here.client.contexts.remove(name)
    show_json({"name": name, "bundles": count}) if as_json else say(
        f"{name} is forgotten. Its bundles ({count}) stay: seedbed store find --all-contexts"
    )


@app.command()
def remote(
    name: Name,
    address: Annotated[str, typer.Argument(help="A folder, or an address such as s3://bucket/prefix.")],
    as_json: Json = False,
) -> None:
    """Where a context's push and pull go."""

    with session() as here:
        found = here.client.contexts.remote(name, address)
    show_json(found) if as_json else say(f"{found['name']} is kept at {found['remote']}.")
