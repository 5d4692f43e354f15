"""A trained model and its folder: weights as safetensors, everything else as JSON."""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from safetensors import SafetensorError
from safetensors.torch import load_file
from torch import nn

from seedbed.assets.zoo.builder import empty_network
from seedbed.assets.zoo.card import Preprocessing
from seedbed.base.errors import Damaged, NotFound
from seedbed.methods.learn.clouds import empty_clouds
from seedbed.methods.learn.devices import choose_device
from seedbed.methods.learn.learner import save_tensors

WEIGHTS, FACTS = "model.safetensors", "model.json"
_FORMAT = 1


@dataclass(frozen=True)
class Model:
    """A network, what it tells apart, and how its input is made.

    `size` is the side in pixels that images are brought to; `started_from` the card or hub name of its first weights.
    `values` are the numbers that ordered classes stand for, such as percentages. Logits are divided by `temperature`,
    which was fitted on `calibrated_on` labels that were held out (0: it was not fitted). `head` describes a head that
    is not the network's own; see `clouds`.
    """

    network: nn.Module
    architecture: str
    classes: tuple[str, ...]
    size: int
    preprocessing: Preprocessing
    started_from: str = "scratch"
    values: tuple[float, ...] = ()
    temperature: float = 1.0
    calibrated_on: int = 0
    head: Mapping[str, Any] = field(default_factory=dict)

    def facts(self) -> dict[str, Any]:
        """Everything but the weights, as JSON values."""
        return {
            "format": _FORMAT,
            "architecture": self.architecture,
            "classes": list(self.classes),
            "size": self.size,
            "preprocessing": self.preprocessing.to_json(),
            "started_from": self.started_from,
            "values": list(self.values),
            "temperature": self.temperature,
            "calibrated_on": self.calibrated_on,
            "head": dict(self.head),
            "parameters": sum(parameter.numel() for parameter in self.network.parameters()),
        }

    def save(self, folder: Path) -> None:
        """Write model.safetensors and model.json into a folder."""
        folder.mkdir(parents=True, exist_ok=True)
        save_tensors(self.network.state_dict(), folder, WEIGHTS)
        (folder / FACTS).write_text(json.dumps(self.facts(), indent=2, ensure_ascii=False) + "\n")

    @classmethod
    def load(cls, folder: Path, *, device: str = "auto") -> "Model":
        """The model that `save` wrote, ready to predict."""
        facts = _read_facts(folder)
        classes = tuple(facts["classes"])
        network = _empty(facts, len(classes))
        try:
            network.load_state_dict(load_file(folder / WEIGHTS), strict=True)
        except (OSError, RuntimeError, SafetensorError) as error:
            raise Damaged(f"The weights in {folder} cannot be read: {error}") from error
        preprocessing = Preprocessing.from_json(facts["preprocessing"])
        network = network.to(choose_device(device)).eval()
        return cls(
            network=network,
            architecture=facts["architecture"],
            classes=classes,
            size=facts["size"],
            preprocessing=preprocessing,
            started_from=facts["started_from"],
            values=tuple(facts.get("values", ())),  # models of earlier versions have none of these four
            temperature=facts.get("temperature", 1.0),
            calibrated_on=facts.get("calibrated_on", 0),
            head=facts.get("head", {}),
        )


def _empty(facts: Mapping[str, Any], classes: int) -> nn.Module:
    """The network without its trained weights."""
    if head := facts.get("head"):
        return empty_clouds(facts["architecture"], head, size=facts["size"])
    return empty_network(facts["architecture"], classes, size=facts["size"])


def _read_facts(folder: Path) -> dict[str, Any]:
    try:
        facts: dict[str, Any] = json.loads((folder / FACTS).read_text())
    except FileNotFoundError:
        raise NotFound(f"{folder} holds no model.", hint=f"A model's folder has {FACTS} and {WEIGHTS}.") from None
    except ValueError as error:
        raise Damaged(f"{folder / FACTS} is not JSON: {error}.") from error
    wanted = {"architecture", "classes", "size", "preprocessing", "started_from"}
    if missing := sorted(wanted - set(facts)):
        raise Damaged(f"{folder / FACTS} lacks {', '.join(missing)}.")
    return facts
