"""`seedbed`: the commands put together, and errors as sentences."""

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

import seedbed
from seedbed.base.errors import SeedbedError
from seedbed.faces.cli.commands import (
    context,
    data,
    jobs,
    labels,
    members,
    models,
    projects,
    service,
    store,
    users,
    zoo,
)
from seedbed.faces.cli.helping import Group

app = typer.Typer(
    name="seedbed",
    cls=Group,
    help="A few labelled images in, a served and watched model out, at the lowest cost.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
service.add_to(app)
models.add_to(app)
app.add_typer(data.app, name="data", cls=Group)
app.add_typer(jobs.app, name="jobs", cls=Group)
app.add_typer(store.app, name="store", cls=Group)
app.add_typer(context.app, name="context", cls=Group)
projects.app.add_typer(members.app)
app.add_typer(projects.app, name="projects", cls=Group)
app.add_typer(labels.app, name="labels", cls=Group)
app.add_typer(zoo.app, name="zoo", cls=Group)
app.add_typer(users.app, name="users", cls=Group)


def _version(wanted: bool) -> None:  # noqa: FBT001 (Typer calls it with the flag)
    if wanted:
        typer.echo(f"seedbed {seedbed.__version__}")
        raise typer.Exit


@app.callback()
def root(
    home: Annotated[
        Path | None, typer.Option(help="Where everything is kept; else SEEDBED_HOME, else ~/.seedbed.")
    ] = None,
    version: Annotated[bool, typer.Option("--version", callback=_version, is_eager=True, help="Show it.")] = False,
) -> None:
    """A few labelled images in, a served and watched model out, at the lowest cost.

    Works on SEEDBED_HOME by itself, or with a server when SEEDBED_URL (and SEEDBED_TOKEN) are set.
    """
    if home is not None:
        os.environ["SEEDBED_HOME"] = str(home)


def main() -> None:
    """Run a command; what goes wrong is a sentence on stderr and an exit code (docs/errors.md)."""
    debug = bool(os.environ.get("SEEDBED_DEBUG"))
    try:
        app()
    except SeedbedError as error:
        if debug:
            raise
        _say(str(error))
        sys.exit(error.exit_code)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())  # whoever read our output has gone
        sys.exit(141)
    except Exception as error:
        if debug:
            raise
        _say(f"Something went wrong that Seedbed did not foresee: {error}.\nSEEDBED_DEBUG=1 shows the details.")
        sys.exit(1)


def _say(text: str) -> None:
    typer.echo(text, err=True)


if __name__ == "__main__":
    main()
