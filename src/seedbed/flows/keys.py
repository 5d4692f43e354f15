"""Keys: the same step on the same things has the same key, and any change that matters gives another."""

import importlib.util
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path
from typing import Any

from seedbed.base.errors import NotFound
from seedbed.base.ids import digest_of, digest_of_file
from seedbed.base.resources import Resources
from seedbed.flows.step import Params, Step

_ALWAYS = ("seedbed.flows.kinds",)  # how every step's outputs are laid out


def code_of(step: Step) -> str:
    """Digest of the source that decides what a step makes: its module and the methods that it declares."""
    sources = {name: _digest_of_module(name) for name in (step.module, *step.methods, *_ALWAYS)}
    return digest_of({"version": step.version, "sources": sources})


def key_of(
    step: Step,
    params: Params,
    inputs: Mapping[str, str],
    *,
    seed: int = 0,
    resources: Resources | None = None,
    code: str = "",
) -> str:
    """The key of a step on inputs (name -> content digest of the bundle); its outputs' keys derive from it."""
    facts: dict[str, Any] = {
        "step": step.name,
        "code": code or code_of(step),
        "params": params.model_dump(mode="json"),
        "inputs": dict(inputs),
        "seed": seed if step.seed_matters else None,
        "device": device_of(resources or step.resources) if step.device_matters else None,
        "outside": dict(step.outside(params)) if step.outside else {},
    }
    return digest_of(facts)


def key_of_output(key: str, output: str) -> str:
    """The key of one output."""
    return digest_of({"key": key, "output": output})


def device_of(resources: Resources) -> str:
    """What makes numbers differ: the kind of device, and on a CPU the number of threads."""
    return "cuda" if resources.gpus else f"cpu:{threads_of(resources)}"


def threads_of(resources: Resources) -> int:
    """How many threads work with these resources uses."""
    return max(1, int(resources.cpus))


def _digest_of_module(name: str) -> str:
    try:
        spec = importlib.util.find_spec(name)
    except ModuleNotFoundError:
        spec = None
    if spec is None or not spec.origin:
        raise NotFound(f"The module '{name}' that a step declares in `methods` does not exist.")
    origin = Path(spec.origin)
    if not spec.submodule_search_locations:
        return _digest_of_source(*_state_of(origin))
    files = sorted(origin.parent.rglob("*.py"))
    return digest_of({str(path.relative_to(origin.parent)): _digest_of_source(*_state_of(path)) for path in files})


def _state_of(path: Path) -> tuple[Path, int, int]:
    state = path.stat()
    return path, state.st_mtime_ns, state.st_size


@lru_cache(maxsize=4096)
def _digest_of_source(path: Path, _modified: int, _size: int) -> str:
    # remembered by modification time: a server that runs while code changes must not keep the old digest
    return digest_of_file(path)
