"""Names that the shell offers while a command is typed: at once, or not at all.

Nothing may be printed and nothing may fail here: without a home or a server there is nothing to offer. What is built
in is read as source text and what is kept from the database's file, since loading either takes too long for a key.
"""

import contextlib
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import typer

from seedbed.faces.cli.heavy import HEAVY

if TYPE_CHECKING:
    from seedbed.faces.client import Client

Complete = Callable[[typer.Context, str], list[str]]
_PATIENCE = 0.3  # seconds for a server to answer
_MOST = 100
_BLANKS = re.compile(r"([^\w@%+=:,./-])")


def built_in(module: str, registry: str) -> Complete:
    """The names of a registry."""

    def names(context: typer.Context, incomplete: str) -> list[str]:
        with contextlib.suppress(Exception):
            return _offered(sorted(HEAVY.get("rows_of")(module, registry)), incomplete)
        return []

    return names


def kept(noun: str) -> Complete:
    """The names of what the server or the home has of a noun."""

    def names(context: typer.Context, incomplete: str) -> list[str]:
        with contextlib.suppress(Exception):
            return _offered(_kept(context, noun, incomplete), incomplete)
        return []

    return names


def _kept(context: typer.Context, noun: str, begin: str) -> Sequence[str]:
    if url := os.environ.get("SEEDBED_URL", ""):
        with HEAVY.get("Client")(url, os.environ.get("SEEDBED_TOKEN", ""), timeout=_PATIENCE) as client:
            return sorted(set(_AT_A_SERVER[noun](client)))
    chosen = context.find_root().params.get("home") or os.environ.get("SEEDBED_HOME") or "~/.seedbed"
    home = Path(str(chosen)).expanduser()
    found: list[str] = HEAVY.get("names_in")(home / "seedbed.db", noun, begin, most=_MOST)
    return found


def _offered(names: Sequence[str], incomplete: str) -> list[str]:
    fitting = [name for name in names if name.startswith(incomplete)][:_MOST]
    in_bash = "bash" in os.environ.get("_SEEDBED_COMPLETE", "")  # other shells quote by themselves
    return [_BLANKS.sub(r"\\\1", name) for name in fitting] if in_bash else fitting


def _jobs(client: "Client") -> list[str]:
    return [word for job in client.jobs.list(limit=_MOST) for word in (job["id"], job["name"]) if word]


_AT_A_SERVER: dict[str, Callable[["Client"], list[str]]] = {
    "projects": lambda client: [one["name"] for one in client.projects.list()],
    "contexts": lambda client: [one["name"] for one in client.contexts.list()],
    "bundles": lambda client: [one["name"] for one in client.bundles.find(limit=_MOST)],
    "data sets": lambda client: [one["name"] for one in client.data.list(limit=_MOST)],
    "models": lambda client: [one["name"] for one in client.bundles.find(kind="model", limit=_MOST)],
    "jobs": _jobs,
}

STEPS = built_in("seedbed.flows.steps", "STEPS")
RECIPES = built_in("seedbed.flows.recipes", "RECIPES")
CARDS = built_in("seedbed.assets.zoo.catalogue", "CARDS")
KINDS = built_in("seedbed.flows.kinds", "KINDS")
LISTS = built_in("seedbed.flows.listing", "_LISTS")
PROJECTS, CONTEXTS, JOBS = kept("projects"), kept("contexts"), kept("jobs")
BUNDLES, DATA_SETS, MODELS = kept("bundles"), kept("data sets"), kept("models")
