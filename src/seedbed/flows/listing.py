"""What there is to choose from, by kind, in one line each: for `seedbed list`.

Registries whose rows need torch are read as source text: the service must not load torch to say what there is.
"""

from collections.abc import Callable, Mapping

from seedbed.assets.projects.formats import FORMATS
from seedbed.flows.algorithms import algorithms
from seedbed.flows.backbones import backbones
from seedbed.flows.choosers import choosers
from seedbed.flows.kinds import KINDS
from seedbed.flows.recipes import RECIPES
from seedbed.flows.steps import STEPS
from seedbed.flows.unloaded import about, rows_of
from seedbed.runtime.jobs.policies import POLICIES


def listing() -> dict[str, dict[str, str]]:
    """Kind of thing -> name -> one line."""
    return {name: dict(rows()) for name, rows in sorted(_LISTS.items())}


def _steps() -> Mapping[str, str]:
    return {name: STEPS.get(name).about for name in STEPS}


def _recipes() -> Mapping[str, str]:
    return {name: RECIPES.get(name).about for name in RECIPES}


def _kinds() -> Mapping[str, str]:
    return {name: KINDS.get(name).about for name in KINDS}


def _policies() -> Mapping[str, str]:
    return {name: _first_line(POLICIES.get(name)) for name in POLICIES}


def _cards() -> Mapping[str, str]:
    return _unloaded("seedbed.assets.zoo.catalogue", "CARDS")


def _formats() -> Mapping[str, str]:
    return {name: FORMATS.get(name).about for name in FORMATS}


def _executors() -> Mapping[str, str]:
    return {"local": "processes of this machine"}


def _first_line(thing: object) -> str:
    return (thing.__doc__ or "").strip().partition("\n")[0]


def _unloaded(module: str, registry: str) -> dict[str, str]:
    """The rows of a registry with the first line of what is written about each."""
    return {name: about(row) for name, row in rows_of(module, registry).items()}


_LISTS: dict[str, Callable[[], Mapping[str, str]]] = {
    "steps": _steps,
    "recipes": _recipes,
    "kinds": _kinds,
    "policies": _policies,
    "cards": _cards,
    "backbones": backbones,
    "algorithms": algorithms,
    "choosers": choosers,
    "executors": _executors,
    "formats": _formats,
}
