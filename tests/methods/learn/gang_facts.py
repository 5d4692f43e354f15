"""One of two ranks: finds out what the tests in test_gang.py want to know, all in one launch."""

import copy
import json
import sys
from dataclasses import fields
from pathlib import Path
from typing import Any

import torch
from timm.layers.norm_act import BatchNormAct2d
from torch import Tensor, nn

from seedbed.methods.learn.algorithm import ALGORITHMS
from seedbed.methods.learn.gang import Gang, joined
from seedbed.methods.learn.gathered_norm import gather_statistics
from seedbed.methods.learn.group import own_slice
from seedbed.methods.learn.settings import TrainSettings
from seedbed.testing.ranks import compare

CPU = torch.device("cpu")
LENIENT = {"threshold": 0.2, "memory": 0.5, "align": 1.0}  # so that pseudo-labels count and statistics move


def settings(start: str, **changes: Any) -> TrainSettings:
    """Global batches of 6 labelled and 8 unlabelled images."""
    small = {"size": 32, "steps": 4, "labelled_batch": 6, "unlabelled_batch": 8}
    return TrainSettings(classes=("a", "b", "c"), start=start, weights="none", **(small | changes))


def options_of(algorithm: str) -> dict[str, float]:
    known = {part.name for part in fields(ALGORITHMS.get(algorithm))}  # type: ignore[arg-type]
    return {name: value for name, value in LENIENT.items() if name in known}


def words(gang: Gang) -> dict[str, Any]:
    """What the group's methods answer."""
    own = torch.tensor([1.0, 10.0]) * (gang.rank + 1)
    weight = torch.tensor(3.0 + gang.rank, requires_grad=True)
    gang.mean(weight * own).square().sum().backward()  # type: ignore[no-untyped-call]
    assert weight.grad is not None
    aligned = torch.full((2, 3, 4, 4), float(gang.rank)).contiguous(memory_format=torch.channels_last)
    gang.align([aligned])
    return {
        "rank": [gang.rank, gang.ranks],
        "mean": gang.mean(own).tolist(),
        "gradients": gang.gather(weight.grad[None]).tolist(),
        "gathered": gang.gather(torch.tensor([[gang.rank, 7]])).tolist(),
        "aligned": float(aligned.abs().max()),
        "said": gang.first_says(gang.rank + 0.5, 4.0),
    }


def norms(gang: Gang) -> dict[str, float]:
    """How far a norm over slices is from the same norm over the whole, by kind of norm."""
    image, row = (8, 5, 3, 3), (8, 5)
    cases = {
        "BatchNorm2d": (nn.BatchNorm2d(5), image),
        "BatchNorm1d": (nn.BatchNorm1d(5), row),
        "without momentum": (nn.BatchNorm2d(5, momentum=None), image),
        "without weights": (nn.BatchNorm2d(5, affine=False), image),
        "timm's with activation": (BatchNormAct2d(5), image),
    }
    return {name: _norm_apart(norm.double().train(), shape, gang) for name, (norm, shape) in cases.items()}


def _norm_apart(norm: nn.Module, shape: tuple[int, ...], gang: Gang) -> float:
    draw = torch.Generator().manual_seed(1)
    whole, wanted = (torch.randn(shape, generator=draw, dtype=torch.float64) for _ in range(2))
    ours = gather_statistics(nn.Sequential(copy.deepcopy(norm)), gang)
    theirs = nn.Sequential(norm)
    found = [_trained(theirs, whole, wanted, share=1.0)]
    found.append(_trained(ours, own_slice(whole, gang), own_slice(wanted, gang), share=gang.ranks))
    assert [name for name, _ in ours.state_dict().items()] == [name for name, _ in theirs.state_dict().items()]
    one, other = found
    return max(
        _largest(own_slice(one["out"], gang) - other["out"]),
        _largest(own_slice(one["input"], gang) - other["input"] / gang.ranks),
        *(_largest(one[name] - gang.mean(other[name])) for name in one if name.startswith("weight")),
        *(_largest(one[name] - other[name]) for name in one if name.startswith("state")),
    )


def _trained(network: nn.Module, images: Tensor, wanted: Tensor, *, share: float) -> dict[str, Tensor]:
    """What two forwards and a backward leave; a rank's loss is `share` times its part of the whole's."""
    images = images.clone().requires_grad_()
    network(images.detach() * 2 + 1)
    out = network(images)
    (share * (out * wanted).sum()).backward()
    assert images.grad is not None
    weights = {f"weight {n}": p.grad for n, p in network.named_parameters() if p.grad is not None}
    state = {f"state {name}": value.double() for name, value in network.state_dict().items()}
    return {"out": out.detach(), "input": images.grad, **weights, **state}


def _largest(values: Tensor) -> float:
    return float(values.abs().max())


def two_forwards(gang: Gang) -> float:
    """How far the gradient of a loss over two forwards is from that of one network with the whole batch."""
    draw = torch.Generator().manual_seed(2)
    network = nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 2))
    gang.align(network.parameters())
    one, other = (torch.randn((6, 4), generator=draw) for _ in range(2))
    gradients = []
    for wrapped, first, second in (
        (copy.deepcopy(network), one, other),
        (gang.wrap(network), own_slice(one, gang), own_slice(other, gang)),
    ):
        for _ in range(3):
            wrapped.zero_grad(set_to_none=True)
            (wrapped(first).square().mean() + wrapped(second).mean()).backward()
        gradients.append([parameter.grad.clone() for parameter in wrapped.parameters() if parameter.grad is not None])
    return max(_largest(ours - theirs) for ours, theirs in zip(*gradients, strict=True))


def main(folder: Path) -> None:
    with joined(CPU) as gang:
        facts = {
            "words": words(gang),
            "norms": norms(gang),
            "two forwards": two_forwards(gang),
            "vit": {name: compare(name, options_of(name), settings("test_vit"), gang, folder) for name in ALGORITHMS},
            "frozen statistics": compare(
                "steady", LENIENT, settings("test_efficientnet", steps=2, batch_norm="frozen"), gang, folder
            ),
            "learnt statistics": {
                name: compare(name, options_of(name), settings("test_efficientnet", size=64, steps=2), gang, folder)
                for name in ("supervised", "steady")
            },
        }
        if gang.rank == 0:
            (folder / "facts.json").write_text(json.dumps(facts))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
