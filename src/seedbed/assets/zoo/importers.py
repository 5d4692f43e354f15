"""Weights from elsewhere as kept cards: from a file, from timm's hub, from a trained model. Nothing is unpickled."""

import pickle
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from seedbed.assets.zoo.backbones import network_of
from seedbed.assets.zoo.builder import empty_network, hub_network, made_for, preprocessing_of
from seedbed.assets.zoo.card import UNKNOWN, Card, Preprocessing
from seedbed.assets.zoo.records import CARD_FILE, WEIGHTS_FILE, KeptCard, check_card_name, read_card
from seedbed.base.errors import Damaged, InvalidInput, NotFound, Unavailable, Unsafe
from seedbed.base.files import says_when_full
from seedbed.base.ids import digest_of_file

_SAFE = (".safetensors",)
_TORCH = (".pt", ".pth", ".bin")
_WRAPPERS = ("state_dict", "model")  # under which training scripts put a state dict beside other things
_NAMED = 5  # of what does not fit
_STRANGERS = re.compile("unsupported (global|class)|add_safe_globals|unrecognized function", re.IGNORECASE)  # to torch

State = Mapping[str, Tensor]


@dataclass(frozen=True)
class About:
    """What whoever brings weights knows of them."""

    name: str
    trained_on: str = UNKNOWN
    classes: Sequence[str] = ()
    signature: str = ""
    images: int = 0
    accuracy: float | None = None
    licence: str = UNKNOWN
    source: str = UNKNOWN
    lineage: Mapping[str, Any] = field(default_factory=dict)


def keep_file(
    path: Path,
    architecture: str,
    folder: Path,
    about: About,
    *,
    made_at: int | None = None,
    preprocessing: Preprocessing | None = None,
) -> KeptCard:
    """Keep the weights of a safetensors file or a PyTorch state dict of a stated timm network."""
    return _keep(read_state(path), architecture, folder, about, made_at=made_at, preprocessing=preprocessing)


def keep_from_hub(name: str, folder: Path, about: About) -> KeptCard:
    """Keep what timm's hub offers under a name, by the licence that timm knows.

    Unavailable where the hub gives nothing now, InvalidInput where nobody offers weights under that name.
    """
    try:
        found = hub_network(name)
    except (Unavailable, InvalidInput) as error:
        elsewhere = f"seedbed zoo import FILE --architecture {network_of(name)}"
        raise type(error)(error.message, hint=f"Fetch the file elsewhere, and bring that: {elsewhere}") from error
    state, config = found.network.state_dict(), getattr(found.network, "pretrained_cfg", {})
    known = about if about.licence != UNKNOWN else replace(about, licence=str(config.get("license") or UNKNOWN))
    return _keep(state, found.architecture, folder, known, preprocessing=found.preprocessing)


def card_of(folder: Path) -> Card:
    """The card of a folder with card.json and weights.safetensors, as training starts from it."""
    return card_from(read_card(folder / CARD_FILE), folder / WEIGHTS_FILE)


def card_from(kept: KeptCard, weights: Path) -> Card:
    """The card of a record and the file of its weights."""
    return Card(
        name=kept.name,
        architecture=kept.architecture,
        source=kept.source,
        trained_on=kept.trained_on,
        classes=kept.outputs,
        parameters=kept.parameters,
        size=kept.size,
        preprocessing=kept.preprocessing,
        find=lambda: weights if weights.is_file() else None,
        read=_read_safetensors,
        licence=kept.licence,
        made_at=kept.made_at,
        digest=kept.digest,
    )


def read_state(path: Path) -> State:
    """The tensors of a file by name: safetensors, or what `torch.save` wrote of a state dict."""
    if not path.is_file():
        raise NotFound(f"There is no file {path}.", hint="Name a .safetensors file, or a PyTorch state dict.")
    if not path.stat().st_size:
        raise Damaged(f"{path.name} is empty.", hint="Bring the file here again.")
    if path.suffix.lower() in _SAFE:
        return _read_safetensors(path)
    if path.suffix.lower() not in _TORCH:
        raise InvalidInput(
            f"{path.name} has no ending that weights have.", hint=f"Weights end in {', '.join((*_SAFE, *_TORCH))}."
        )
    try:
        found = torch.load(path, map_location="cpu", weights_only=True)
    except MemoryError:  # which says nothing of the file
        raise
    except Exception as error:  # at damaged bytes torch raises many unrelated types
        raise _refusal(path.name, error) from error
    return _unwrapped(found, path.name)


def _refusal(name: str, error: Exception) -> Damaged | Unsafe:
    if isinstance(error, pickle.UnpicklingError) and _STRANGERS.search(str(error)):
        return Unsafe(
            f"{name} holds more than tensors, and loading it could run code of strangers.",
            hint="Save its state dict alone: torch.save(model.state_dict(), FILE), or as safetensors.",
        )
    hint = "Bring the file here again, or save it anew: torch.save(model.state_dict(), FILE)."
    if isinstance(error, (OSError, RuntimeError)) and (said := str(error).strip()):
        return Damaged(f"{name} cannot be read: {said.splitlines()[0].rstrip('.')}.", hint=hint)
    return Damaged(f"{name} cannot be read: it is not what torch.save writes ({type(error).__name__}).", hint=hint)


def _read_safetensors(path: Path) -> dict[str, Tensor]:
    try:
        found: dict[str, Tensor] = load_file(path)
    except (OSError, SafetensorError) as error:
        raise Damaged(f"{path.name} cannot be read: {error}.") from error
    return found


def _unwrapped(found: Any, name: str) -> State:
    for wrapper in _WRAPPERS:
        if isinstance(found, dict) and isinstance(found.get(wrapper), dict):
            found = found[wrapper]
    if not isinstance(found, dict) or not all(isinstance(value, Tensor) for value in found.values()) or not found:
        raise InvalidInput(
            f"{name} is no table of tensors.", hint="Save a state dict: torch.save(model.state_dict(), FILE)."
        )
    return {str(key): value for key, value in found.items()}


def _keep(
    state: State,
    architecture: str,
    folder: Path,
    about: About,
    *,
    made_at: int | None = None,
    preprocessing: Preprocessing | None = None,
) -> KeptCard:
    check_card_name(about.name)
    made_at = made_at or made_for(architecture)
    network, outputs = _network_for(state, architecture, made_at)
    _check_fit(state, network, architecture)
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / WEIGHTS_FILE
    with says_when_full(folder):
        save_file({key: value.detach().cpu().contiguous().clone() for key, value in state.items()}, path)
    kept = KeptCard(
        name=about.name,
        architecture=architecture,
        trained_on=about.trained_on,
        classes=tuple(about.classes),
        parameters=sum(parameter.numel() for parameter in network.parameters()),
        size=path.stat().st_size,
        preprocessing=preprocessing or preprocessing_of(network),
        digest=digest_of_file(path),
        outputs=outputs,
        signature=about.signature,
        images=about.images,
        accuracy=about.accuracy,
        licence=about.licence,
        source=about.source,
        made_at=made_at,
        lineage=dict(about.lineage),
    )
    kept.write(folder)
    return kept


def _network_for(state: State, architecture: str, made_at: int | None) -> tuple[nn.Module, int]:
    """The network with a head as large as that of the weights, and how many outputs that has."""
    network = empty_network(architecture, 0, size=made_at)
    heads = getattr(network, "default_cfg", {}).get("classifier", "")
    names = [heads] if isinstance(heads, str) else list(heads)
    found = [state[f"{name}.weight"] for name in names if f"{name}.weight" in state]
    if not found:
        return network, 0
    outputs = max((1, *found[0].shape[:1]))  # where it has no rows at all, what is told is its shape
    return empty_network(architecture, outputs, size=made_at), outputs


def _check_fit(state: State, network: nn.Module, architecture: str) -> None:
    """Everything that does not fit, in one error: names, shapes, and what is no number."""
    wanted = network.state_dict()
    missing = [name for name in wanted if name not in state]
    extra = [name for name in state if name not in wanted]
    shapes = [name for name in wanted if name in state and state[name].shape != wanted[name].shape]
    broken = [name for name, value in state.items() if value.is_floating_point() and not value.isfinite().all()]
    problems = [
        *(f"'{name}' is missing" for name in missing[:_NAMED]),
        *(f"'{name}' is not part of that network" for name in extra[:_NAMED]),
        *(f"'{name}' is {_sides(state[name])}; it must be {_sides(wanted[name])}" for name in shapes[:_NAMED]),
        *(f"'{name}' has values that are no numbers" for name in broken[:_NAMED]),
    ]
    if problems:
        counts = (len(missing), len(extra), len(shapes), len(broken))
        told = "{} missing, {} too many, {} of another shape, {} with values that are no numbers".format(*counts)
        raise InvalidInput(
            f"The weights do not fit timm's '{architecture}': of its {len(wanted)} tensors {told}.",
            hint="Name the network that they were trained with; tensors go by timm's names."
            if missing or extra or shapes
            else "Take weights from before the training went wrong.",
            problems=[f"{problem}." for problem in problems],
        )


def _sides(tensor: Tensor) -> str:
    return " x ".join(str(side) for side in tensor.shape) or "one number"
