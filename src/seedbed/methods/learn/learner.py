"""What changes while a model is trained: weights, their average, the optimiser, the algorithm; and how it is kept."""

from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any

import torch
from safetensors.torch import load_file, save_file
from torch import Tensor, nn

from seedbed.assets.zoo.builder import Backbone
from seedbed.methods.learn.algorithm import Algorithm, Batch, Forward
from seedbed.methods.learn.asking import ask
from seedbed.methods.learn.average import Average
from seedbed.methods.learn.devices import compiled, compiles, go_on_uncompiled, half_precision, records
from seedbed.methods.learn.draws import Key, on_device
from seedbed.methods.learn.feed import Rows
from seedbed.methods.learn.folding import fold_norms
from seedbed.methods.learn.gathered_norm import learns_statistics
from seedbed.methods.learn.group import Group
from seedbed.methods.learn.pool import to_device
from seedbed.methods.learn.replay import Replay
from seedbed.methods.learn.schedule import rate_share
from seedbed.methods.learn.seen import Seen, compiled_seen, network_input, seen
from seedbed.methods.learn.settings import TrainSettings
from seedbed.methods.learn.small_maps import quicken
from seedbed.methods.learn.start import features_of

TENSORS = "state.safetensors"
_SETTLING = 12  # steps in which ranks agree on how they share gradients: torch wants 11 before a recording


class Learner:
    """A network in training. `advance` is one step; `tensors` and `load` carry everything over to a later process."""

    def __init__(
        self,
        backbone: Backbone,
        algorithm: Algorithm,
        labels: Tensor,
        settings: TrainSettings,
        *,
        steps: int,
        rate: float,
        seed: int,
        device: torch.device,
        group: Group,
    ) -> None:
        self.network = backbone.network.to(device=device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.average = Average(self.network, settings.ema)
        self.algorithm = algorithm
        self.strength = settings.augment
        self._preprocessing = backbone.preprocessing
        self._labels = labels.to(device)
        self._settings, self._steps, self._rate = settings, steps, rate
        self._seed: int | Tensor = seed
        self._device, self._group = device, group
        self._half = half_precision(settings.precision, device)
        self.optimiser = _optimiser(self.network, settings, device)
        set_mode(self.network, learn_statistics=settings.statistics == "learn")
        for network in (self.network, self.average.network):
            fold_norms(network, settings.size)
            quicken(network)
        self._trained: Forward = group.wrap(self.network)
        self._teacher: Forward = self.average.network
        self._seen: Seen = seen
        if compiles(settings.compile, steps, group.ranks, device):
            if settings.compile == "auto":  # nobody asked for it
                go_on_uncompiled()
            self._trained, self._teacher = compiled(self._trained), compiled(self._teacher)
            if device.type == "cuda":
                self._seen, self._seed = compiled_seen(), on_device(seed, device)
        self._replay = Replay(
            self.step, record=records(settings.record, group.ranks, device), eager=3 if group.ranks == 1 else _SETTLING
        )
        eager = device.type == "cpu" and settings.record != "always" and self._teacher is self.average.network
        self._spares = eager and not learns_statistics(self.network)
        self._logged: tuple[str, ...] = ()

    def advance(self, rows: Rows, step: int) -> dict[str, Tensor]:
        """One step down the algorithm's loss; what it measured, overwritten by the next step."""
        rate = self._rate * rate_share(step, self._steps, self._settings.warmup)
        now = torch.tensor([step, rate, self.average.pace(step), step / self._steps], dtype=torch.float64)
        values = self._replay(
            rows.labelled, rows.labelled_pixels, rows.unlabelled, rows.unlabelled_pixels, to_device(now, self._device)
        )
        return dict(zip(self._logged, values, strict=True))

    def answer(self, pixels: Tensor) -> Tensor:
        """Logits of the averaged network for uint8 images."""
        return self._asked(self._forward(self.average.network), pixels)

    def features(self, pixels: Tensor) -> Tensor:
        """What the trained network's head sees of uint8 images."""
        return self._asked(self._forward(partial(features_of, self.network)), pixels)

    def _asked(self, network: Forward, pixels: Tensor) -> Tensor:
        with torch.no_grad():
            return ask(lambda part: network(network_input(part.to(torch.float32) / 255, self._preprocessing)), pixels)

    def step(
        self, labelled: Tensor, labelled_pixels: Tensor, unlabelled: Tensor, unlabelled_pixels: Tensor, now: Tensor
    ) -> tuple[Tensor, ...]:
        """What is recorded: everything from pixels to changed weights; `now` is step, rate, pace and progress."""
        step, (rate, pace, progress) = now[0].to(torch.int64), now[1:].to(torch.float32).unbind()
        views = self.algorithm.views
        labelled_key, key = Key(self._seed, step, labelled), Key(self._seed, step, unlabelled)
        batch = Batch(
            labelled=self._seen(labelled_pixels, views.labelled, labelled_key, self.strength, self._preprocessing),
            labels=self._labels[labelled],
            unlabelled=self._seen(unlabelled_pixels, views.unlabelled, key, self.strength, self._preprocessing),
            labelled_key=labelled_key,
            key=key,
            teacher=self._forward(self._teacher),
            progress=progress,
            group=self._group,
            spares=self._spares,
        )
        outcome = self.algorithm.loss(self._forward(self._trained), batch)
        self.optimiser.zero_grad(set_to_none=True)
        outcome.loss.backward()  # type: ignore[no-untyped-call]
        nn.utils.clip_grad_norm_(self.network.parameters(), self._settings.clip)
        _set_rate(self.optimiser, rate)
        self.optimiser.step()
        self.average.update(self.network, pace)
        self._logged = ("loss", *outcome.metrics)
        return (outcome.loss.detach(), *outcome.metrics.values())

    def _forward(self, network: Forward) -> Forward:
        def forward(images: Tensor) -> Tensor:
            with torch.autocast(self._device.type, dtype=torch.bfloat16, enabled=self._half):
                logits = network(images)
            return logits.float()

        return forward

    def sound(self) -> bool:
        """Whether every weight is a number."""
        return bool(torch.stack([parameter.isfinite().all() for parameter in self.network.parameters()]).all())

    def tensors(self) -> dict[str, Tensor]:
        """Everything that the next step depends on, by name."""
        parts: dict[str, Mapping[str, Tensor]] = {
            "network": self.network.state_dict(),
            "average": self.average.network.state_dict(),
            "optimiser": optimiser_tensors(self.optimiser),
            "algorithm": self.algorithm.state(),
        }
        return {f"{part}.{name}": value for part, values in parts.items() for name, value in values.items()}

    def load(self, tensors: Mapping[str, Tensor]) -> None:
        """Go on from what `tensors` gave."""
        self.network.load_state_dict(part_of(tensors, "network"))
        self.average.network.load_state_dict(part_of(tensors, "average"))
        load_optimiser(self.optimiser, part_of(tensors, "optimiser"))
        self.algorithm.load_state(part_of(tensors, "algorithm"))


def set_mode(network: nn.Module, *, learn_statistics: bool) -> None:
    """Training without dropout, which draws from the global generator; BatchNorm's statistics frozen or learnt."""
    network.eval()
    for module in network.modules():
        if learn_statistics and isinstance(module, nn.modules.batchnorm._BatchNorm):
            module.train()


def save_tensors(tensors: Mapping[str, Tensor], folder: Path, name: str = TENSORS) -> None:
    """Write tensors into a folder, a checkpoint's or another, without a copy of all of them in memory."""
    written: dict[str, Tensor] = {}
    places: set[int] = set()
    for key, value in tensors.items():
        plain = value.detach().cpu().contiguous()
        place = plain.untyped_storage().data_ptr()
        written[key] = plain.clone() if place in places else plain  # the format has no two tensors in one memory
        places.add(place)
    save_file(written, folder / name)


def load_tensors(folder: Path) -> dict[str, Tensor]:
    """What `save_tensors` wrote."""
    return load_file(folder / TENSORS)


def part_of(tensors: Mapping[str, Tensor], part: str) -> dict[str, Tensor]:
    """The tensors whose names begin with `part.`, without that."""
    return {name[len(part) + 1 :]: value for name, value in tensors.items() if name.startswith(f"{part}.")}


def _optimiser(network: nn.Module, settings: TrainSettings, device: torch.device) -> torch.optim.Optimizer:
    """AdamW, without decay on biases and norms; its rate is a tensor, which a recorded step can change."""
    matrices = [parameter for parameter in network.parameters() if parameter.ndim > 1]
    vectors = [parameter for parameter in network.parameters() if parameter.ndim <= 1]
    groups: list[dict[str, Any]] = [{"params": matrices}, {"params": vectors, "weight_decay": 0.0}]
    for group in groups:
        group["lr"] = torch.zeros((), device=device)
    return torch.optim.AdamW(groups, weight_decay=settings.weight_decay, fused=True, capturable=device.type == "cuda")


def _set_rate(optimiser: torch.optim.Optimizer, rate: Tensor) -> None:
    for group in optimiser.param_groups:
        group["lr"].copy_(rate)


def optimiser_tensors(optimiser: torch.optim.Optimizer) -> dict[str, Tensor]:
    """The moments of every parameter, by name."""
    state = optimiser.state_dict()["state"]
    return {f"{number}.{name}": value for number, values in state.items() for name, value in values.items()}


def load_optimiser(optimiser: torch.optim.Optimizer, tensors: Mapping[str, Tensor]) -> None:
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
