"""SCAN: groups learnt from the rule that an image and its nearest neighbours belong together.

Van Gansbeke et al., ECCV 2020, in three parts: the nearest neighbours of every image are mined from embeddings;
several heads learn to put neighbours into one group while all groups stay in use (the entropy term), and the head with
the lowest loss is kept; then what it is sure of teaches it the rest (self-labelling). Heads learn on top of embeddings,
in seconds, or together with the network, from augmented images.
"""

from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional

from seedbed.base.errors import InvalidInput
from seedbed.base.ids import digest_of, digest_of_bytes
from seedbed.base.run import RunContext
from seedbed.methods.label.course import Course, descend
from seedbed.methods.label.embed import CARD, SIZE
from seedbed.methods.label.groups import Grouping, check_embeddings, describe, spread
from seedbed.methods.label.neighbours import Rows, nearest
from seedbed.methods.label.views import EmbeddingViews, NetworkViews, Views
from seedbed.methods.learn.devices import choose_device
from seedbed.methods.learn.draws import Key
from seedbed.methods.learn.feed import Row
from seedbed.methods.learn.pixels import Images
from seedbed.methods.learn.pool import to_device
from seedbed.methods.learn.schedule import rate_share
from seedbed.methods.learn.settings import Strength
from seedbed.methods.learn.shortage import says_when_short

_LEAST = 1e-8  # probability that is taken the logarithm of
_WARMUP = 0.1  # share of the steps in which the learning rate climbs


@dataclass(frozen=True)
class ScanSettings:
    """How SCAN learns: as its authors do, with HARVEST's 25 epochs in all."""

    epochs: int = 25  # over the images, self-labelling among them
    self_labelling: float = 0.4  # share of the epochs at the end
    neighbours: int = 20
    entropy: float = 2.0  # weight of keeping all groups in use; 5 in the paper, which lost 2 points on seven real sets
    heads: int = 10
    threshold: float = 0.99  # probability from which on an image's group is taught
    learns: Literal["heads", "network"] = "heads"
    batch: int = 128
    learning_rate: float = 0.03  # for heads alone; 1e-4 suits a network that learns too
    weight_decay: float = 1e-4
    card: str = CARD  # of the network, where it learns too
    size: int = SIZE
    weights: Path | None = None
    augment: Strength = field(default_factory=Strength)
    device: str = "auto"
    report_every: int = 10
    checkpoint_every: int = 200

    def check(self) -> None:
        """Refuse what cannot work, all at once."""
        counts = ("epochs", "neighbours", "heads", "batch", "report_every", "checkpoint_every")
        problems = [
            f"{name} is {getattr(self, name)}; it must be at least 1." for name in counts if getattr(self, name) < 1
        ]
        problems += [
            f"{name} is {getattr(self, name)}; it must lie in [0, 1)."
            for name in ("self_labelling", "threshold")
            if not 0 <= getattr(self, name) < 1
        ]
        if not self.learning_rate > 0:
            problems.append(f"learning_rate is {self.learning_rate}; it must be above 0.")
        if problems:
            raise InvalidInput("The settings of SCAN cannot be used.", problems=problems)


def scan(images: Images | None, embeddings: Rows, count: int, settings: ScanSettings, run: RunContext) -> Grouping:
    """Put images into at most `count` groups; groups that stay empty are left out.

    `images` are needed where the network learns too. Neighbours come from the embeddings. Reports losses, makes
    checkpoints and goes on from `run.resume`: a run that was killed ends with the groups of the unbroken one.
    """
    settings.check()
    check_embeddings(embeddings, count)
    if count < 2:
        raise InvalidInput(f"count is {count}; SCAN needs at least 2 groups.")
    if settings.learns == "network" and (images is None or len(images) != len(embeddings)):
        raise InvalidInput("learns is 'network', but there is not one image for every embedding.")
    if len(embeddings) < 3:
        return describe(embeddings, np.arange(len(embeddings)) % count)
    device = choose_device(settings.device)
    what = f"a step of {settings.batch} images of {settings.size} px"
    with says_when_short(device, what, "Use smaller batches or smaller images."):
        return _Scan(images, embeddings, count, settings, run, device).result()


class _Scan:
    """One call of `scan`."""

    def __init__(
        self,
        images: Images | None,
        embeddings: Rows,
        count: int,
        settings: ScanSettings,
        run: RunContext,
        device: torch.device,
    ) -> None:
        self._settings, self._seed, self._device, self._count = settings, run.seed, device, count
        self._embeddings, self._rows = embeddings, spread(embeddings, run.seed)
        self._near = torch.from_numpy(nearest(self._rows, settings.neighbours))
        self._views = self._make_views(images)
        self._heads = fresh_heads(self._views.width, settings.heads * count, run.seed).to(device)
        self._order = Row(torch.arange(len(embeddings)), run.seed, "scan")
        self._batch = min(settings.batch, len(embeddings))
        modules = {"heads": self._heads, **self._views.modules()}
        parameters = [parameter for module in modules.values() for parameter in module.parameters()]
        self._optimiser = torch.optim.AdamW(parameters, weight_decay=settings.weight_decay)
        each = max(1, len(embeddings) // self._batch)
        taught = round(settings.epochs * settings.self_labelling) * each
        self._course = Course(
            run,
            modules,
            self._optimiser,
            identity=self._identity(),
            steps=settings.epochs * each,
            doing="finding groups",
            report_every=settings.report_every,
            checkpoint_every=settings.checkpoint_every,
        )
        self._clustering = self._course.steps - taught

    def result(self) -> Grouping:
        """Both trainings, and the group that the kept head finds likeliest for each image."""
        course = self._course
        course.resume()
        self._views.prepare(course.facts, self._seed)
        course.go_on(self._cluster, until=self._clustering)
        if "head" not in course.facts:
            course.facts["head"] = self._best_head()
        course.go_on(self._teach)
        groups = self._probabilities()[:, int(course.facts["head"])].argmax(dim=1)
        return describe(self._embeddings, groups.cpu().numpy(), seed=self._seed)

    def _cluster(self, step: int) -> dict[str, Tensor]:
        """Neighbours into one group, all groups in use."""
        numbers, key = self._taken(step)
        drawn = (key.uniform("neighbour", 1)[:, 0] * self._near.shape[1]).long().cpu()
        neighbours = self._near[numbers, drawn]
        image = self._asked(self._views.seen(numbers, "weak", key))
        neighbour = self._asked(self._views.seen(neighbours, "weak", key.of(to_device(neighbours, self._device))))
        agreed, used = agreement(image, neighbour), evenness(image)
        loss = (agreed - self._settings.entropy * used).mean()
        self._descend(loss * self._settings.heads, step)
        return {"loss": loss.detach(), "agreement": agreed.mean().detach(), "evenness": used.mean().detach()}

    def _teach(self, step: int) -> dict[str, Tensor]:
        """What the kept head is sure of in the weak view is what it should say of the strong one."""
        numbers, key = self._taken(step)
        head = int(self._course.facts["head"])
        with torch.no_grad():
            sure, groups = self._asked(self._views.seen(numbers, "weak", key))[:, head].max(dim=1)
        taught = (sure > self._settings.threshold).float()
        answers = self._answers(self._views.seen(numbers, "strong", key))[:, head]
        loss = weighed(functional.cross_entropy(answers, groups, reduction="none"), groups, taught, self._count)
        self._descend(loss, step)
        return {"loss": loss.detach(), "sure": taught.mean()}

    def _taken(self, step: int) -> tuple[Tensor, Key]:
        numbers = self._order.window(step * self._batch, self._batch)
        return numbers, Key(self._seed, step, to_device(numbers, self._device))

    def _descend(self, loss: Tensor, step: int) -> None:
        descend(self._optimiser, loss, self._settings.learning_rate * rate_share(step, self._course.steps, _WARMUP))

    def _answers(self, features: Tensor) -> Tensor:
        logits: Tensor = self._heads(features)
        return logits.view(len(features), self._settings.heads, self._count)

    def _asked(self, features: Tensor) -> Tensor:
        return self._answers(features).softmax(dim=2)

    @torch.no_grad()
    def _probabilities(self) -> Tensor:
        """Of every image, by every head."""
        parts = torch.split(torch.arange(len(self._rows)), 1024)
        return torch.cat([self._asked(self._views.plain(part)) for part in parts])

    def _best_head(self) -> int:
        """The head with the lowest loss over all images and their neighbours."""
        said = self._probabilities()
        near = self._near.to(said.device)
        agreed = torch.stack([agreement(said, said[near[:, place]]) for place in range(near.shape[1])]).mean(dim=0)
        return int((agreed - self._settings.entropy * evenness(said)).argmin())

    def _make_views(self, images: Images | None) -> Views:
        settings = self._settings
        if settings.learns == "heads" or images is None:
            return EmbeddingViews(self._rows, self._device)
        return NetworkViews(
            images,
            card=settings.card,
            size=settings.size,
            strength=settings.augment,
            device=self._device,
            weights=settings.weights,
        )

    def _identity(self) -> str:
        facts: dict[str, Any] = asdict(self._settings)
        for free in ("report_every", "checkpoint_every", "device", "weights"):
            del facts[free]
        digest = digest_of_bytes(np.ascontiguousarray(self._embeddings).tobytes())
        return digest_of(["scan", facts, self._seed, self._count, digest])


def agreement(first: Tensor, second: Tensor) -> Tensor:
    """Per head, how surprising it is that an image and its neighbour are in one group: the mean of -log <p, q>."""
    return -(first * second).sum(dim=2).clamp_min(_LEAST).log().mean(dim=0)


def evenness(probabilities: Tensor) -> Tensor:
    """Per head, the entropy of how much each group is used."""
    used = probabilities.mean(dim=0).clamp_min(_LEAST)
    return -(used * used.log()).sum(dim=1)


def weighed(losses: Tensor, groups: Tensor, taught: Tensor, count: int) -> Tensor:
    """The mean loss of the images that are taught, every group counting alike; 0 where none is."""
    sizes = torch.zeros(count, device=losses.device).index_add_(0, groups, taught)
    weights = taught / sizes.clamp_min(1)[groups]
    return (losses * weights).sum() / weights.sum().clamp_min(1)


def fresh_heads(width: int, outputs: int, seed: int) -> nn.Linear:
    """Linear heads side by side; the same seed gives the same ones."""
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return nn.Linear(width, outputs)
