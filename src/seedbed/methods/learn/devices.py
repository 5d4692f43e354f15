"""Where the arithmetic happens."""

import resource
import sys
from collections.abc import Callable, Sequence
from typing import Any, ParamSpec, TypeVar

import torch
from torch import Tensor

from seedbed.base.errors import InvalidInput

Given = ParamSpec("Given")
Made = TypeVar("Made")
_WORTH_COMPILING = 15_000  # steps: it takes a minute, and saves 4 ms of each with EfficientNet-Lite0 on an H200


def choose_device(name: str = "auto") -> torch.device:
    """The device of that name; 'auto' is the first GPU where there is one, else the CPU."""
    if name == "auto":
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        device = torch.device(name)
    except RuntimeError as error:
        raise InvalidInput(f"'{name}' is not a device.", hint="Use auto, cpu, cuda or cuda:1.") from error
    if device.type == "cuda" and not torch.cuda.is_available():
        raise InvalidInput(f"Device '{name}' was asked for, but torch sees no GPU here.", hint="Use auto or cpu.")
    if device.type == "cuda" and (device.index or 0) >= (count := torch.cuda.device_count()):
        known = ", ".join(f"cuda:{number}" for number in range(count))
        raise InvalidInput(
            f"Device '{name}' was asked for, but torch sees only {known} here.", hint="Use one of these."
        )
    if device.type not in ("cpu", "cuda"):
        _refuse_missing(device)
    return device


def _refuse_missing(device: torch.device) -> None:
    try:
        torch.empty(0, device=device)
    except Exception as error:  # the type differs by what is missing
        raise InvalidInput(
            f"Device '{device}' was asked for, but torch cannot use it here.", hint="Use auto, cpu, cuda or cuda:1."
        ) from error


def half_precision(precision: str, device: torch.device) -> bool:
    """Whether a network computes in bf16: 'auto' is yes on GPUs that know it.

    Never on CPUs: some name matrix units that the system does not let them use, and the process then dies.
    """
    if precision == "bf16" and device.type == "cpu":
        raise InvalidInput("precision 'bf16' is for GPUs; this run is on a CPU.", hint="Use auto or fp32.")
    if precision != "auto":
        return precision == "bf16"
    return device.type == "cuda" and torch.cuda.get_device_capability(device) >= (8, 0)


def compiles(choice: str, steps: int, ranks: int, device: torch.device) -> bool:
    """Whether a network is compiled: 'auto' is yes on a GPU alone when the steps win back the minute that it takes."""
    if choice != "auto":
        return choice == "always"
    return device.type == "cuda" and ranks == 1 and steps >= _WORTH_COMPILING


def compiled(network: Any) -> Callable[[Tensor], Tensor]:
    """The network, compiled up to its head: what is compiled is then the same for every number of classes.

    So a process compiles for its first training alone, and torch's cache on disk serves the processes after it.
    """
    if not hasattr(network, "forward_features"):
        whole: Callable[[Tensor], Tensor] = torch.compile(network, dynamic=False)
        return whole
    features: Callable[[Tensor], Tensor] = torch.compile(network.forward_features, dynamic=False)
    return lambda images: network.forward_head(features(images))


def compiled_function(
    function: Callable[Given, Made], *, constants: Sequence[Callable[..., Any]] = ()
) -> Callable[Given, Made]:
    """A function of tensors, compiled; `constants` are functions in it to call once and keep what they return.

    That must be a number or a text: torch 2.11 takes a tensor from such a function only once.
    """
    for constant in constants:
        torch.compiler.assume_constant_result(constant)  # type: ignore[no-untyped-call]  # it marks the function itself
    return torch.compile(function, dynamic=False)


def go_on_uncompiled() -> None:
    """From now on, a forward pass that torch cannot compile runs as it is, with a warning: slower, but not the end."""
    torch._dynamo.config.suppress_errors = True


def memory_used(device: torch.device) -> dict[str, float]:
    """The most memory that this process has held so far, in GiB: its own, and of a GPU what torch took there."""
    unit = 1 if sys.platform == "darwin" else 1024
    used = {"memory_gib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit / 2**30}
    if device.type == "cuda":
        used["memory_gpu_gib"] = torch.cuda.max_memory_reserved(device) / 2**30
    return used


def records(choice: str, ranks: int, device: torch.device) -> bool:
    """Whether steps are recorded and replayed: 'auto' is yes on a GPU that trains alone."""
    return device.type == "cuda" and (choice == "always" or (choice == "auto" and ranks == 1))
