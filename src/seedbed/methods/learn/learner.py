"""What changes while a model is trained: weights, their average, the optimiser, the algorithm; and how it is kept."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from seedbed.assets.zoo.builder import Backbone
from seedbed.methods.learn.algorithm import Algorithm, Batch, Outcome
from seedbed.methods.learn.average import Average
from seedbed.methods.learn.schedule import rate_share
from seedbed.methods.learn.settings import TrainSettings

TENSORS = "state.safetensors"


class Learner:
    """A network in training. `advance` is one step; `tensors` and `load` carry everything over to a later process."""

    def __init__(self, backbone: Backbone, algorithm: Algorithm, settings: TrainSettings, device: torch.device) -> None:
        self.network = backbone.network.to(device=device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.average = Average(self.network, settings.ema)
        self.algorithm = algorithm
        self.optimiser = _optimiser(self.network, settings)
        self._settings = settings
        set_mode(self.network, learn_statistics=settings.statistics == "learn")

    def advance(self, batch: Batch, step: int) -> Outcome:
        """One step down the algorithm's loss."""
        share = rate_share(step, self._settings.steps, self._settings.warmup)
        for group in self.optimiser.param_groups:
            group["lr"] = self._settings.learning_rate * share
        outcome = self.algorithm.loss(self.network, batch)
        self.optimiser.zero_grad(set_to_none=True)
        outcome.loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.network.parameters(), self._settings.clip)
        self.optimiser.step()
        self.average.update(self.network, step)
        return outcome

    def tensors(self) -> dict[str, Tensor]:
        """Everything that the next step depends on, by name."""
        parts: dict[str, Mapping[str, Tensor]] = {
            "network": self.network.state_dict(),
            "average": self.average.network.state_dict(),
            "optimiser": _optimiser_tensors(self.optimiser),
            "algorithm": self.algorithm.state(),
        }
        return {f"{part}.{name}": value for part, values in parts.items() for name, value in values.items()}

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Go on from what `tensors` gave."""
        self.network.load_state_dict(_part(tensors, "network"))
        self.average.network.load_state_dict(_part(tensors, "average"))
        _load_optimiser(self.optimiser, _part(tensors, "optimiser"))
        self.algorithm.load_state(_part(tensors, "algorithm"))


def set_mode(network: nn.Module, *, learn_statistics: bool) -> None:
    """Training without dropout, which draws from the global generator; BatchNorm's statistics frozen or learnt."""
    network.eval()
    for module in network.modules():
        if learn_statistics and isinstance(module, nn.modules.batchnorm._BatchNorm):
            module.train()


def save_tensors(tensors: Mapping[str, Tensor], folder: Path) -> None:
    """Write tensors into a checkpoint's folder."""
    save_file({name: value.detach().cpu().contiguous().clone() for name, value in tensors.items()}, folder / TENSORS)


def load_tensors(folder: Path) -> dict[str, Tensor]:
    """What `save_tensors` wrote."""
    return load_file(folder / TENSORS)


def _part(tensors: Mapping[str, Tensor], part: str) -> dict[str, Tensor]:
    return {name[len(part) + 1 :]: value for name, value in tensors.items() if name.startswith(f"{part}.")}


def _optimiser(network: nn.Module, settings: TrainSettings) -> torch.optim.Optimizer:
    """AdamW, without decay on biases and norms."""
    matrices = [parameter for parameter in network.parameters() if parameter.ndim > 1]
    vectors = [parameter for parameter in network.parameters() if parameter.ndim <= 1]
    groups: list[dict[str, Any]] = [{"params": matrices}, {"params": vectors, "weight_decay": 0.0}]
    return torch.optim.AdamW(groups, lr=settings.learning_rate, weight_decay=settings.weight_decay, fused=True)


def _optimiser_tensors(optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    state = optimiser.state_dict()["state"]
    return {f"{number}.{name}": value for number, values in state.items() for name, value in values.items()}


def _load_optimiser(optimiser: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
    """Bring back the moments, each in the memory layout of its parameter: the fused kernel walks them side by side."""
    parameters = [parameter for group in optimiser.param_groups for parameter in group["params"]]
    for name, value in tensors.items():
        number, _, kind = name.partition(".")
        parameter = parameters[int(number)]
        place = (
            torch.empty_like(parameter)
            if value.shape == parameter.shape
            else torch.empty_like(value, device=parameter.device)
        )
        optimiser.state[parameter][kind] = place.detach().copy_(value)
