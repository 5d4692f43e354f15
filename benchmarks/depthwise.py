"""Depthwise convolutions by our kernels, beside cuDNN and torch's ReLU6, layer by layer.

    python -m benchmarks.depthwise [--quick] [--json FILE]

The depthwise layers of EfficientNet-Lite0 at 128 px for 320 images, as many as a step of 64 labelled and 256 unlabelled
ones has, in bfloat16 and channels last, from weights in float32 as training has them. cuDNN chooses the quickest of its
plans (cudnn.benchmark). Needs a GPU.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from benchmarks import harness
from seedbed.methods.learn.depthwise.operator import depthwise, usable
from seedbed.methods.learn.replay import Replay

TITLE = "Depthwise convolutions with ReLU6, in microseconds: cuDNN's and ours"
IMAGES = 320
BANDWIDTH = 4e12  # bytes a second: what kernels that only copy reach on an H200
_SAMPLES, _QUICK_SAMPLES = 50, 10
_CACHE = 2**29  # bytes: many times the cache of any GPU


@dataclass(frozen=True)
class Layer:
    """One shape of layer, and how many layers of the network have it."""

    channels: int
    size: int
    side: int
    stride: int
    layers: int = 1

    def floor(self, images: int = IMAGES) -> tuple[float, float]:
        """Microseconds forwards and backwards in which its bytes can be moved, each once.

        Forwards, images are read and results written; backwards, gradients, results and images are read and the
        gradients of images written.
        """
        pixels = 2 * images * self.channels * self.size**2  # bytes
        results = pixels / self.stride**2
        return 1e6 * (pixels + results) / BANDWIDTH, 1e6 * (2 * pixels + 2 * results) / BANDWIDTH


LAYERS = (
    Layer(32, 64, 3, 1),
    Layer(96, 64, 3, 2),
    Layer(144, 32, 3, 1),
    Layer(144, 32, 5, 2),
    Layer(240, 16, 5, 1),
    Layer(240, 16, 3, 2),
    Layer(480, 8, 3, 1, layers=2),
    Layer(480, 8, 5, 1),
    Layer(672, 8, 5, 1, layers=2),
    Layer(672, 8, 5, 2),
    Layer(1152, 4, 5, 1, layers=3),
    Layer(1152, 4, 3, 1),
)

Convolution = Callable[[Tensor, Tensor, Tensor], Tensor]


def by_cudnn(layer: Layer) -> Convolution:
    """What a folded network did without our kernels; stride 2 is padded as TensorFlow does."""
    zeros = (layer.side - layer.stride) // 2, (layer.side - layer.stride + 1) // 2

    def convolved(images: Tensor, weight: Tensor, bias: Tensor) -> Tensor:
        half, shift = weight.to(images.dtype), bias.to(images.dtype)
        padding = layer.side // 2 if layer.stride == 1 else 0
        padded = images if layer.stride == 1 else functional.pad(images, (*zeros, *zeros))
        return functional.relu6(functional.conv2d(padded, half, shift, layer.stride, padding, groups=layer.channels))

    return convolved


def by_us(layer: Layer) -> Convolution:
    """Ours."""
    return lambda images, weight, bias: depthwise(images, weight, bias, stride=layer.stride, same=True)


def measured(layer: Layer, samples: int) -> dict[str, Any]:
    """A row: both, on the same images."""
    shape = (IMAGES, layer.channels, layer.size, layer.size)
    images = torch.randn(shape, device="cuda", dtype=torch.bfloat16).contiguous(memory_format=torch.channels_last)
    weight = 0.3 * torch.randn(layer.channels, 1, layer.side, layer.side, device="cuda")
    inputs = [value.requires_grad_() for value in (images, weight, torch.randn(layer.channels, device="cuda"))]
    theirs, ours = by_cudnn(layer), by_us(layer)
    difference = (theirs(*inputs) - ours(*inputs)).detach().abs().max()
    (their_forward, their_backward), (forward, backward) = (_times(way, inputs, samples) for way in (theirs, ours))
    floor_forward, floor_backward = layer.floor()
    return {
        "channels": layer.channels,
        "pixels": layer.size,
        "side": layer.side,
        "stride": layer.stride,
        "layers": layer.layers,
        "cuDNN forward": their_forward,
        "ours forward": forward,
        "floor forward": floor_forward,
        "cuDNN backward": their_backward,
        "ours backward": backward,
        "floor backward": floor_backward,
        "times as fast": (their_forward + their_backward) / (forward + backward),
        "largest difference": float(difference),
    }


def _times(way: Convolution, inputs: Sequence[Tensor], samples: int) -> tuple[float, float]:
    """Microseconds on the GPU: forwards, and what backwards takes beyond that."""
    gradient = torch.randn_like(way(*inputs))

    def forward() -> tuple[Tensor, ...]:
        with torch.no_grad():
            return (way(*inputs),)

    def both() -> tuple[Tensor, ...]:
        return torch.autograd.grad(way(*inputs), inputs, gradient)

    alone, together = (_microseconds(function, samples) for function in (forward, both))
    return alone, together - alone


def _microseconds(function: Callable[[], tuple[Tensor, ...]], samples: int) -> float:
    """The best of several, recorded as training steps are, so that the host's share is not counted.

    Before each, so much is written that nothing of the images is left in the GPU's cache.
    """
    replay, other = Replay(function, record=True), torch.empty(_CACHE, device="cuda", dtype=torch.uint8)
    for _ in range(5):
        replay()
    return min(_replayed(replay, other) for _ in range(samples))


def _replayed(replay: Replay, other: Tensor) -> float:
    began, ended = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    other.zero_()
    began.record()
    replay()
    ended.record()
    ended.synchronize()
    return 1e3 * began.elapsed_time(ended)


def figures_of(rows: Sequence[dict[str, Any]]) -> dict[str, float]:
    """Over all layers of the network."""

    def total(who: str) -> float:
        return sum(row["layers"] * (row[f"{who} forward"] + row[f"{who} backward"]) for row in rows)

    return {
        "depthwise_times_as_fast": total("cuDNN") / total("ours"),
        "depthwise_cudnn_us": total("cuDNN"),
        "depthwise_ours_us": total("ours"),
        "depthwise_floor_us": total("floor"),
    }


def measure(quick: bool) -> harness.Report:
    """Measure and report."""
    if not torch.cuda.is_available():
        raise SystemExit("There is no GPU here, and the kernels are for GPUs.")
    if not usable(torch.device("cuda", torch.cuda.current_device())):
        raise SystemExit("Our kernels do not run here: they want Triton, a C compiler and a GPU that knows bfloat16.")
    torch.backends.cudnn.benchmark = True
    rows = [measured(layer, _QUICK_SAMPLES if quick else _SAMPLES) for layer in LAYERS]
    note = (
        f"{torch.cuda.get_device_name()}, torch {torch.__version__}; {IMAGES} images, bfloat16, the best of several "
        f"recorded runs. The floor is the bytes that must be moved at {BANDWIDTH / 1e12:.0f} TB/s."
    )
    return harness.Report(figures_of(rows), rows, note=note)


if __name__ == "__main__":
    harness.main("depthwise", TITLE, measure)
