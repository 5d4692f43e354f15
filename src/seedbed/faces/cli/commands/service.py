"""`seedbed up`, `list`, `doctor`, `backup` and `restore`."""

from collections.abc import Callable
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from seedbed.base.errors import Damaged, InvalidInput
from seedbed.faces.cli.commands import context, data, jobs, projects, store, users
from seedbed.faces.cli.completion import LISTS
from seedbed.faces.cli.heavy import HEAVY
from seedbed.faces.cli.options import Json
from seedbed.faces.cli.output import say, show_json, show_record, show_table
from seedbed.faces.cli.session import server_url, session

_OWN_LISTS: dict[str, Callable[..., None]] = {
    "bundles": store.find,
    "contexts": context.list_contexts,
    "data": data.list_sets,
    "jobs": jobs.list_jobs,
    "projects": projects.list_projects,
    "users": users.list_users,
}


def add_to(app: typer.Typer) -> None:
    """Put these commands at the top level."""
    app.command()(up)
    app.command("scheduler", hidden=True)(scheduler)
    app.command("list")(list_kind)
    app.command()(doctor)
    app.command()(backup)
    app.command()(restore)


def up(
    host: Annotated[
        str | None, typer.Option(help="Address to serve on; anything but 127.0.0.1 belongs behind TLS.")
    ] = None,
    port: Annotated[int | None, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = None,
    team: Annotated[bool | None, typer.Option("--team", help="Several people with passwords and roles.")] = None,
) -> None:
    """Serve the web page and REST, and run jobs."""
    HEAVY.get("serve")({"host": host, "port": port, "team": team})


def scheduler() -> None:
    """Run jobs until standard input ends: the server starts this beside itself."""
    HEAVY.get("scheduler")()


def list_kind(
    kind: Annotated[
        str,
        typer.Argument(help="steps, recipes, policies, algorithms...; all kinds when left out.", autocompletion=LISTS),
    ] = "",
    as_json: Json = False,
) -> None:
    """What there is of one kind, such as steps, recipes, policies, algorithms or cards."""
    if kind in _OWN_LISTS:
        _OWN_LISTS[kind](as_json=as_json)
        return

    with session() as here:
        if not kind:
            kinds = here.client.kinds()
            show_json(kinds) if as_json else say("\n".join(kinds))
            return
        found = here.client.list(kind)
    show_json(found) if as_json else show_table(("name", ""), sorted(found.items()), empty=f"No {kind} yet.")


def doctor(as_json: Json = False) -> None:
    """Check the machine, and say what is missing or unsafe."""
    if server_url():
        with session() as here:
            checks = [dict(check) for check in here.client.doctor()]
    else:  # not through REST: it must also work where no platform can be opened
        checks = [asdict(check) for check in HEAVY.get("examine")(HEAVY.get("settings")())]
    if as_json:
        show_json(checks)
    else:
        for check in checks:
            hint = f"\n      {check['hint']}" if check["hint"] else ""
            say(f"{check['ok']:<5} {check['name']}: {check['sentence']}{hint}")
    if any(check["ok"] == "bad" for check in checks):
        raise typer.Exit(1)


def backup(
    target: Annotated[Path | None, typer.Argument(help="A new tar file; else one under the home's backups.")] = None,
    as_json: Json = False,
) -> None:
    """Write everything into one tar file: database, files, manifests, settings, logs; each is checked on the way."""

    if target and server_url():
        raise InvalidInput(
            "A server writes its backups on its own machine.",
            hint="Leave TARGET out: it is written under the server's backups.",
        )
    with session() as here:
        report = here.client.backup(str(target.expanduser().resolve()) if target else "")
    problems = report["problems"]
    show_json(report) if as_json else show_record({name: report[name] for name in report if name != "problems"})
    if problems:
        raise Damaged(
            f"{_things(len(problems))} damaged or missing here, and so in the backup; all the rest is in it.",
            hint="Bring back what a remote has (seedbed store pull), then make another backup; keep your older ones.",
            problems=() if as_json else problems,
        )


def restore(
    source: Annotated[Path, typer.Argument(help="A file that `seedbed backup` wrote.")], as_json: Json = False
) -> None:
    """Bring a backup back, into a home that does not exist yet or is empty."""
    if server_url():
        raise InvalidInput(
            "A backup is restored on the server's machine, while the server is down.",
            hint="Run this there, without SEEDBED_URL.",
        )
    settings = HEAVY.get("settings")()
    report = HEAVY.get("restore")(source.expanduser().resolve(), settings.home, settings.database_url)
    if as_json:
        show_json({"home": str(settings.home), **asdict(report)})
    elif not report.problems:
        say(f"{settings.home} holds everything again. Start it: seedbed up")
    if report.problems:
        raise Damaged(
            f"{settings.home} holds what the backup has, but {_things(len(report.problems))} damaged or missing in it.",
            hint="Bring back what a remote has (seedbed store pull), or look into an older backup.",
            problems=() if as_json else report.problems,
        )


def _things(count: int) -> str:
    return "1 thing is" if count == 1 else f"{count:,} things are"
