"""/contexts: named sets of bundles, here and at a remote."""

from typing import Annotated, Any

from fastapi import Path, Query

from seedbed.faces.api.access import Here, Operator, Viewer
from seedbed.faces.api.requests import ContextAsked, RemoteAsked
from seedbed.faces.api.routing import router
from seedbed.faces.api.views import ContextView, plain

contexts = router("contexts")
ContextName = Annotated[str, Path(max_length=200)]


@contexts.get("")
def find(here: Here, by: Viewer) -> list[ContextView]:
    """Every context; the one in use is marked."""
    return [ContextView.of(context) for context in here.contexts.list(by=by)]


@contexts.post("", status_code=201)
def create(asked: ContextAsked, here: Here, by: Operator) -> ContextView:
    """A new, empty context."""
    return ContextView.of(here.contexts.create(asked.name, by=by))


@contexts.post("/{name}/use")
def use(name: ContextName, here: Here, by: Operator) -> ContextView:
    """New bundles go into this context from now on."""
    return ContextView.of(here.contexts.use(name, by=by))


@contexts.put("/{name}/remote")
def remote(name: ContextName, asked: RemoteAsked, here: Here, by: Operator) -> ContextView:
    """Where push and pull go."""
    return ContextView.of(here.contexts.set_remote(name, asked.address, by=by))


@contexts.delete("/{name:path}", status_code=204)
def remove(name: ContextName, here: Here, by: Operator) -> None:
    """Forget a context; its bundles stay, here and at its remote, until they are removed themselves."""
    here.contexts.remove(name, by=by)


@contexts.post("/{name}/push")
def push(
    name: ContextName,
    here: Here,
    by: Operator,
    check: Annotated[bool, Query(description="Read back what is there, and send again what is damaged.")] = False,
) -> dict[str, Any]:
    """Copy what the remote lacks."""
    return plain(here.contexts.push(name, check=check, by=by))


@contexts.post("/{name}/pull")
def pull(
    name: ContextName,
    here: Here,
    by: Operator,
    check: Annotated[bool, Query(description="Read every file here, and fetch again what is damaged.")] = False,
) -> dict[str, Any]:
    """Copy what is missing here, or known to be damaged."""
    return plain(here.contexts.pull(name, check=check, by=by))
