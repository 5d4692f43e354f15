"""`seedbed users`: accounts of a team."""

from enum import StrEnum
from typing import Annotated

import typer

from seedbed.faces.cli.options import Json, Limit, Yes, sure
from seedbed.faces.cli.output import say, show_json, show_table, when
from seedbed.faces.cli.session import session

app = typer.Typer(help="Accounts: who may do what.", no_args_is_help=True)
Name = Annotated[str, typer.Argument(help="The user's name.")]


class RoleName(StrEnum):
    """The roles, as the service has them."""

    VIEWER = "viewer"
    LABELLER = "labeller"
    TRAINER = "trainer"
    OPERATOR = "operator"


NewPassword = Annotated[str, typer.Option(envvar="SEEDBED_NEW_PASSWORD", help="Asked for when left out.")]
PresentPassword = Annotated[
    str,
    typer.Option(envvar="SEEDBED_PRESENT_PASSWORD", help="For an account of your own: asked for there when left out."),
]


@app.command()
def add(
    name: Name,
    role: Annotated[RoleName, typer.Option(help="What they may do.")] = RoleName.LABELLER,
    mail: Annotated[str, typer.Option(help="Where to tell them that a job ended.")] = "",
    tokens_only: Annotated[bool, typer.Option("--tokens-only", help="No password: for programs.")] = False,
    password: NewPassword = "",
    as_json: Json = False,
) -> None:
    """One more account."""

    if not tokens_only:
        password = password or _asked_twice()
    with session() as here:
        made = here.client.users.create(name, role.value, password=password, mail=mail)
    show_json(made) if as_json else say(f"{made['name']} is {made['role']}.")


@app.command("list")
def list_users(as_json: Json = False) -> None:
    """Every account."""

    with session() as here:
        found = here.client.users.list()
    if as_json:
        show_json(found)
        return
    rows = [(one["name"], one["role"], one["mail"], "disabled" if one["disabled"] else "") for one in found]
    show_table(("name", "role", "mail", ""), rows, empty="No account yet. Make one: seedbed users add NAME")


@app.command()
def role(
    name: Name, role: Annotated[RoleName, typer.Argument(help="What they may do.")], as_json: Json = False
) -> None:
    """Give another role."""

    with session() as here:
        found = here.client.users.set_role(name, role.value)
    show_json(found) if as_json else say(f"{found['name']} is {found['role']}.")


@app.command()
def password(name: Name, password: NewPassword = "", present: PresentPassword = "", as_json: Json = False) -> None:
    """Give a new password; it signs the user out everywhere, and API tokens go on."""

    with session() as here:
        found = here.client.users.get(name)
        if not present and found["has_password"] and found["id"] == here.client.who()["id"]:
            present = typer.prompt("Your present password", hide_input=True)
        here.client.users.set_password(found["id"], password or _asked_twice(), present=present)
        found = here.client.users.get(found["id"])
    show_json(found) if as_json else say(f"{found['name']} has a new password.")


@app.command()
def disable(name: Name, yes: Yes = False, as_json: Json = False) -> None:
    """Let a user in no longer: sessions end, tokens stop."""

    sure(f"Let {name} in no longer?", yes=yes)
    with session() as here:
        found = here.client.users.disable(name)
    show_json(found) if as_json else say(f"{found['name']} is disabled.")


@app.command()
def enable(name: Name, as_json: Json = False) -> None:
    """Let a disabled user in again, also with the API tokens that they had."""
    with session() as here:
        found = here.client.users.enable(name)
    show_json(found) if as_json else say(f"{found['name']} may come in again.")


@app.command()
def token(
    name: Name,
    label: Annotated[str, typer.Option("--name", help="What the token is for.")] = "command line",
    days: Annotated[float, typer.Option(min=0, help="0: it does not expire.")] = 0,
    as_json: Json = False,
) -> None:
    """Make an API token; it is shown this once."""

    with session() as here:
        text = here.client.users.make_token(name, label, days=days)
    show_json({"token": text}) if as_json else typer.echo(text)


@app.command()
def tokens(name: Name, as_json: Json = False) -> None:
    """The API tokens of a user, without their text."""
    with session() as here:
        found = here.client.users.tokens(name)
    if as_json:
        show_json(found)
        return
    rows = [(one["id"], one["name"], when(one["created"]), when(one["used"]) if one["used"] else "") for one in found]
    show_table(("id", "for", "made", "last used"), rows, empty=f"{name} has no token.")


@app.command()
def revoke(
    token: Annotated[str, typer.Argument(help="The token's id: seedbed users tokens NAME.")], yes: Yes = False
) -> None:
    """Make an API token worthless, at once."""
    sure("Whatever uses this token will be let in no longer. Revoke it?", yes=yes)
    with session() as here:
        here.client.users.revoke(token)
    say("It opens nothing any more.")


@app.command()
def audit(
    who: Annotated[str, typer.Option(help="Only of this person.")] = "", limit: Limit = 30, as_json: Json = False
) -> None:
    """Who did what, the newest first."""

    with session() as here:
        found = here.client.users.audit(who=who, limit=limit)
    if as_json:
        show_json(found)
        return
    rows = [(when(one["at"]), one["who"], one["action"], one["subject"], one["outcome"]) for one in found]
    show_table(("when", "who", "did", "to", ""), rows, empty="Nothing was done yet.")


def _asked_twice() -> str:
    return str(typer.prompt("New password", hide_input=True, confirmation_prompt=True))
