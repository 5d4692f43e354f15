"""Self-supervised tuning: a network gets used to the user's images, without a label (SimCLR).

Two strong views of one image should look alike to the network, and unlike those of all other images of the batch. It
is meant for domains that are far from the photographs that pretrained weights have seen.
"""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional

from seedbed.base.errors import InvalidInput
from seedbed.base.ids import digest_of
from seedbed.base.run import RunContext
from seedbed.methods.label.course import Course, descend
from seedbed.methods.label.embed import CARD, SIZE
from seedbed.methods.label.views import NetworkViews
from seedbed.methods.label.weights import save_weights
from seedbed.methods.learn.devices import choose_device
from seedbed.methods.learn.draws import Key
from seedbed.methods.learn.feed import Row
from seedbed.methods.learn.pixels import Images
from seedbed.methods.learn.pool import to_device
from seedbed.methods.learn.schedule import rate_share
from seedbed.methods.learn.settings import Strength
from seedbed.methods.learn.shortage import says_when_short

WEIGHTS = "tuned.safetensors"
_HIDDEN, _PROJECTED = 512, 128  # widths of the projection that is thrown away afterwards


@dataclass(frozen=True)
class TuneSettings:
    """How a network is tuned. The defaults take a few minutes on a CPU."""

    card: str = CARD
    size: int = SIZE
    steps: int = 200
    batch: int = 64  # images, each in two views
    temperature: float = 0.2  # of the comparison: lower is stricter with the most alike of the other images
    learning_rate: float = 3e-4
    weight_decay: float = 1e-4
    warmup: float = 0.1  # share of the steps
    augment: Strength = field(default_factory=Strength)
    device: str = "auto"
    report_every: int = 5
    checkpoint_every: int = 50

    def check(self) -> None:
        """Refuse what cannot work, all at once."""
        counts = ("steps", "report_every", "checkpoint_every")
        problems = [
            f"{name} is {getattr(self, name)}; it must be at least 1." for name in counts if getattr(self, name) < 1
        ]
        problems += [
            f"{name} is {getattr(self, name)}; it must be above 0."
            for name in ("temperature", "learning_rate")
            if not getattr(self, name) > 0
        ]
        if self.batch < 2:
            problems.append(f"batch is {self.batch}; an image can only be told from at least one other.")
        if problems:
            raise InvalidInput("The settings of tuning cannot be used.", problems=problems)


def tune(images: Images, settings: TuneSettings, run: RunContext) -> Path:
    """Tune a card's network on images; the file of its weights, in the run's folder, for `embed`.

    Reports the loss, makes checkpoints and goes on from `run.resume`: a run that was killed ends with the weights of
    the unbroken one (bit for bit on a CPU with the same number of threads).
    """
    settings.check()
    device = choose_device(settings.device)
    if len(images) < 2:
        raise InvalidInput(f"There are {len(images)} images; tuning compares at least 2.")
    what = f"a step of {settings.batch} images of {settings.size} px in two views"
    with says_when_short(device, what, "Use smaller batches or smaller images."):
        return _tuned(images, settings, run, device)


def _tuned(images: Images, settings: TuneSettings, run: RunContext, device: torch.device) -> Path:
    views = NetworkViews(images, card=settings.card, size=settings.size, strength=settings.augment, device=device)
    projection = fresh_projection(views.width, run.seed).to(device)
    modules = {**views.modules(), "projection": projection}
    optimiser = torch.optim.AdamW(
        [parameter for module in modules.values() for parameter in module.parameters()],
        weight_decay=settings.weight_decay,
    )
    course = Course(
        run,
        modules,
        optimiser,
        identity=_identity(images, settings, run.seed),
        steps=settings.steps,
        doing="getting used to the images",
        report_every=settings.report_every,
        checkpoint_every=settings.checkpoint_every,
    )
    course.resume()
    views.prepare(course.facts, run.seed)
    batch = min(settings.batch, len(images))
    row = Row(torch.arange(len(images)), run.seed, "tune")

    def advance(step: int) -> dict[str, Tensor]:
        numbers = row.window(step * batch, batch)
        key = Key(run.seed, step, to_device(numbers, device))
        first, second = (projection(views.seen(numbers, "strong", key, place=place)) for place in (0, 1))
        loss = told_apart(first, second, settings.temperature)
        descend(optimiser, loss, settings.learning_rate * rate_share(step, settings.steps, settings.warmup))
        return {"loss": loss.detach()}

    course.go_on(advance)
    views.finish()
    path = run.folder / WEIGHTS
    save_weights(views.backbone, settings.card, path)
    return path


def told_apart(first: Tensor, second: Tensor, temperature: float) -> Tensor:
    """SimCLR's loss: how hard it is to find each view's other view among all views of the batch."""
    views = functional.normalize(torch.cat([first, second]), dim=1)
    alike = views @ views.T / temperature
    alike.fill_diagonal_(-torch.inf)  # no view is its own other view
    others = torch.arange(len(views), device=views.device).roll(len(first))
    return functional.cross_entropy(alike, others)


def fresh_projection(width: int, seed: int) -> nn.Module:
    """What stands between features and the comparison; the same seed gives the same one."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return nn.Sequential(nn.Linear(width, _HIDDEN), nn.ReLU(), nn.Linear(_HIDDEN, _PROJECTED))


def _identity(images: Images, settings: TuneSettings, seed: int) -> str:
    facts: dict[str, Any] = asdict(settings)
    for free in ("report_every", "checkpoint_every", "device"):
        del facts[free]
    return digest_of(["tune", facts, seed, list(images.shape)])
