"""In Triton's interpreter, on a CPU: finds out what the tests in test_depthwise.py want to know, all in one process."""

import copy
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from timm.layers.conv2d_same import conv2d_same
from timm.layers.norm_act import BatchNormAct2d
from timm.models._efficientnet_blocks import DepthwiseSeparableConv
from torch import Tensor, nn
from torch.nn import functional
from torch.utils._python_dispatch import TorchDispatchMode

from seedbed.methods.learn.depthwise import operator, reads
from seedbed.methods.learn.folding import fold_norms

# images, channels, height, width, side, stride, padded as TensorFlow does
CASES = (
    (1, 5, 17, 2, 3, 1, False),  # more rows than a program walks
    (2, 5, 4, 5, 5, 1, False),
    (1, 33, 6, 4, 3, 2, True),  # more channels than a tile has
    (1, 5, 7, 4, 5, 2, True),  # one zero more on both sides of the columns than on those of the rows
    (1, 5, 6, 7, 3, 2, False),
)
SHARED_CASES = (
    (9, 5, 3, 4, 3, 1, False),
    (9, 5, 3, 4, 5, 1, True),
    (9, 5, 4, 8, 3, 2, True),
)
MORE_CASES = (
    (2, 33, 3, 17, 3, 1, True),  # more columns and channels than a tile has
    (2, 35, 17, 18, 5, 1, False),
    (1, 3, 1, 1, 5, 1, True),
    (1, 3, 14, 12, 5, 2, True),  # more results than a tile has
    (2, 5, 5, 7, 3, 2, True),
    (3, 33, 9, 9, 5, 2, True),
    (1, 5, 4, 5, 5, 2, False),
    (1, 3, 1, 2, 5, 2, True),
)


def inputs_of(number: int, channels: int, height: int, width: int, side: int) -> tuple[Tensor, Tensor, Tensor]:
    images = torch.randn(number, channels, height, width).contiguous(memory_format=torch.channels_last)
    weight, bias = torch.randn(channels, 1, side, side), torch.randn(channels) + 2
    return images.requires_grad_(), weight.requires_grad_(), bias.requires_grad_()


def by_torch(images: Tensor, weight: Tensor, bias: Tensor, stride: int, *, same: bool) -> Tensor:
    channels = len(weight)
    if same:
        padded: Tensor = conv2d_same(images, weight, bias, (stride, stride), (0, 0), (1, 1), channels)
        return functional.relu6(padded)
    plain = functional.conv2d(images, weight, bias, stride, weight.shape[-1] // 2, groups=channels)
    return functional.relu6(plain)


def differences(case: tuple[Any, ...]) -> list[float]:
    """Of the result and the gradients of images, weights and bias, to torch's in double precision."""
    *shape, stride, same = case
    inputs = inputs_of(*shape)
    ours = operator.depthwise(*inputs, stride=stride, same=same)
    images, weight, bias = (value.double() for value in inputs)
    theirs = by_torch(images, weight, bias, stride, same=same)
    gradient = torch.randn_like(theirs)
    got = torch.autograd.grad(ours, inputs, gradient.float())
    wanted = torch.autograd.grad(theirs, inputs, gradient)
    pairs = zip((ours, *got), (theirs, *wanted), strict=True)
    return [farthest([one.detach()], [other.detach()]) for one, other in pairs]


def halves(kind: torch.dtype) -> float:
    """How far the result is from torch's for the same rounded images, as a share of the rounding step."""
    images, weight, bias = (value.detach() for value in inputs_of(2, 5, 4, 6, 3))
    images = images.to(kind)
    ours = operator.depthwise(images, weight, bias, stride=1, same=False)
    assert ours.dtype == kind
    theirs = by_torch(images.double(), weight.double(), bias.double(), 1, same=False)
    step = theirs.clamp_min(2**-10).log2().floor().exp2() * torch.finfo(kind).eps
    return float(((ours - theirs).abs() / step).max())


def no_numbers() -> dict[str, Any]:
    """Results and gradients of images with a pixel that is not a number, ours and torch's."""
    images, weight, bias = inputs_of(1, 2, 3, 3, 3)
    with torch.no_grad():
        images[0, 0, 1, 1] = torch.nan
    ours = operator.depthwise(images, weight, bias, stride=1, same=False)
    theirs = by_torch(images, weight, bias, 1, same=False)
    return {
        "results": [one.isnan().flatten(1).sum(dim=1).tolist() for one in (ours, theirs)],
        "gradients": [
            torch.autograd.grad(one.nan_to_num(1).sum() + one[0, 1].sum(), images)[0].tolist() for one in (ours, theirs)
        ],
    }


def checked() -> dict[str, str]:
    """Torch's own checks of an operator: its schema, its gradients, and shapes and layouts without values."""
    tests = ("test_schema", "test_autograd_registration", "test_faketensor")
    found = {}
    for stride, above in ((1, 1), (2, 0)):
        images, weight, bias = inputs_of(1, 3, 4, 6, 3)
        inputs = (images, weight.detach().flatten(1).t().contiguous().requires_grad_(), bias, stride, above, above)
        told = torch.library.opcheck(operator._depthwise, inputs, test_utils=tests)
        found |= {f"{name}, stride {stride}": result for name, result in told.items()}
    return found


class Counted(TorchDispatchMode):
    """How often our operator was called."""

    def __init__(self) -> None:
        super().__init__()
        self.calls = 0

    def __torch_dispatch__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.calls += function is torch.ops.seedbed.depthwise.default
        return function(*args, **(kwargs or {}))


def small_network() -> nn.Module:
    """Two depthwise layers that are ours, and one that is not."""
    made = nn.Sequential(
        DepthwiseSeparableConv(3, 5, 3, pad_type="same", act_layer=nn.ReLU6),
        DepthwiseSeparableConv(5, 4, 5, stride=2, pad_type="same", act_layer=nn.ReLU6),
        DepthwiseSeparableConv(4, 4, 3, act_layer=nn.SiLU),
    ).eval()
    for norm in (module for module in made.modules() if isinstance(module, nn.BatchNorm2d)):
        norm.running_mean.normal_(std=0.1)  # type: ignore[union-attr]
        norm.running_var.uniform_(0.5, 2)  # type: ignore[union-attr]
    return made


def folded_network() -> dict[str, Any]:
    """How far what a folded network answers and learns is from the same without folding, and how often it asked us."""
    plain, images = small_network(), torch.randn(2, 3, 5, 6)
    folded = copy.deepcopy(plain)
    norms = fold_norms(folded, 6)
    with Counted() as trained:
        found = answer_and_gradients(folded, images)
    with torch.no_grad(), Counted() as asked:
        answer = folded(images)
    with Counted() as in_double:
        folded.double()(images.double())
    wanted = answer_and_gradients(plain, images)
    return {
        "norms": norms,
        "calls": [trained.calls, asked.calls, in_double.calls],
        "differences": [farthest(found, wanted), farthest([answer], wanted[:1])],
    }


def unfit_layers() -> dict[str, tuple[int, bool]]:
    """How often we were asked for layers that are not ours to do, and whether they answer what they did."""
    usual: dict[str, Any] = {"out_channels": 4, "kernel_size": 3, "padding": 1, "groups": 4, "bias": False}
    changes: dict[str, dict[str, Any]] = {
        "two channels a group": {"groups": 2},
        "two results a channel": {"out_channels": 8},
        "a side of 7": {"kernel_size": 7, "padding": 3},
        "sides of 3 and 5": {"kernel_size": (3, 5), "padding": (1, 2)},
        "stride 3": {"stride": 3},
        "strides 1 and 2": {"stride": (1, 2)},
        "dilated": {"dilation": 2},
        "not padded": {"padding": 0},
        "padded by what is there": {"padding_mode": "reflect"},
    }
    found = {name: asked_for(nn.Conv2d(4, **usual | change), nn.ReLU6) for name, change in changes.items()}
    found["another activation"] = asked_for(nn.Conv2d(4, **usual), nn.ReLU)
    assert asked_for(nn.Conv2d(4, **usual), nn.ReLU6) == (1, True), "each differs from one that is ours in one thing"
    return found


def asked_for(conv: nn.Conv2d, act: type[nn.Module]) -> tuple[int, bool]:
    layer = nn.Sequential(conv, BatchNormAct2d(conv.out_channels, act_layer=act)).eval()
    images = torch.randn(2, 4, 9, 9)
    with torch.no_grad():
        before = layer(images)
        assert fold_norms(nn.Sequential(nn.Conv2d(3, 4, 1), layer), 9) == 1
        with Counted() as counted:
            after = layer(images)
    return counted.calls, torch.allclose(after, before, atol=1e-5)


def compiled_network() -> float:
    """How far what a folded network answers and learns is from the same when it is compiled, in one piece."""
    folded, images = small_network(), torch.randn(2, 3, 5, 6)
    fold_norms(folded, 6)
    compiled = torch.compile(folded, backend="aot_eager", dynamic=False, fullgraph=True)
    return farthest(answer_and_gradients(compiled, images), answer_and_gradients(folded, images))


def farthest(found: Sequence[Tensor], wanted: Sequence[Tensor]) -> float:
    return max(float((one - other).abs().max()) for one, other in zip(found, wanted, strict=True))


def answer_and_gradients(network: nn.Module, images: Tensor) -> list[Tensor]:
    answer = network(images)
    return [answer.detach(), *torch.autograd.grad(answer.square().mean(), list(network.parameters()))]


def shared() -> dict[str, list[float]]:
    """As `differences` does, where one program has several strips to add up."""
    programs, reads._PROGRAMS = reads._PROGRAMS, 1
    try:
        return {str(case): differences(case) for case in SHARED_CASES}
    finally:
        reads._PROGRAMS = programs


QUICK = {
    "shared": shared,
    "usable": lambda: operator.usable(torch.device("cpu")),
    "differences": lambda: {str(case): differences(case) for case in CASES},
    "halves": lambda: [halves(torch.bfloat16), halves(torch.float16)],
    "no_numbers": no_numbers,
    "checked": checked,
    "folded": folded_network,
    "unfit": unfit_layers,
}
SLOW = {
    "differences": lambda: {str(case): differences(case) for case in MORE_CASES},
    "compiled": compiled_network,
}

if __name__ == "__main__":
    torch.manual_seed(0)
    wanted_facts = {"quick": QUICK, "slow": SLOW}[sys.argv[2]]
    Path(sys.argv[1]).write_text(json.dumps({name: find() for name, find in wanted_facts.items()}))
