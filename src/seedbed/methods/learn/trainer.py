"""Training: images and a few labels in, a model out."""

import json
import math
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from seedbed.assets.zoo.card import Card
from seedbed.assets.zoo.importers import card_of
from seedbed.base.errors import Conflict, Failed, InvalidInput
from seedbed.base.ids import digest_of, digest_of_bytes
from seedbed.base.run import RunContext, Stopped
from seedbed.methods.learn.algorithm import make_algorithm
from seedbed.methods.learn.asking import AT_ONCE
from seedbed.methods.learn.calibrate import fit_temperature
from seedbed.methods.learn.devices import choose_device, compiles, memory_used
from seedbed.methods.learn.draws import order
from seedbed.methods.learn.feed import Feed
from seedbed.methods.learn.fitting import fitting_backbone
from seedbed.methods.learn.folding import unfold_norms
from seedbed.methods.learn.group import ALONE, Group, shared_out
from seedbed.methods.learn.learner import Learner, load_tensors, save_tensors
from seedbed.methods.learn.model import Model
from seedbed.methods.learn.pixels import Images
from seedbed.methods.learn.pool import Parts, Pool, check_task, divide
from seedbed.methods.learn.settings import TrainSettings
from seedbed.methods.learn.shortage import says_when_short
from seedbed.methods.learn.start import fit_head, some_of_each
from seedbed.methods.learn.task import make_task
from seedbed.methods.learn.upright import SAMPLE, SLANTED, largest_turn, told_turns

_PROGRESS = "progress.json"
_SETTLED = 0.995  # share of unchanged answers at which a model counts as settled
_FOR_HEAD = 2048  # labelled images that the head begins with
_JUDGES = 384  # unlabelled images whose answers are watched when no labels are held out


@dataclass(frozen=True)
class Trained:
    """The model that training kept, and how it came about."""

    model: Model
    step: int  # whose weights were kept
    steps: int  # done in all
    criterion: str  # what the kept weights were chosen by
    metrics: dict[str, float]  # at the kept step
    curve: tuple[dict[str, float], ...] = ()  # what every evaluation found, with its step
    planned: int = 0  # steps; more than were done where it ended early, 0 where none are planned
    rate: float = 0.0  # the highest learning rate; 0: it has none
    rate_reason: str = ""


@dataclass
class Progress:
    """How far a run is, and the best that it has seen."""

    step: int = 0
    best_step: int = 0  # whose weights are kept
    best_score: float = -1.0  # the highest accuracy on held-out labels
    waited: int = 0  # evaluations of the second half since something happened
    finished: bool = False
    turn: float = 0.0  # degrees by which images are turned at most
    metrics: dict[str, float] = field(default_factory=dict)  # of the kept weights
    curve: list[dict[str, float]] = field(default_factory=list)  # of every evaluation
    fingerprint: str = ""


def train(
    images: Images,
    labels: NDArray[np.integer],
    settings: TrainSettings,
    run: RunContext,
    group: Group = ALONE,
    start: Path | None = None,
) -> Trained:
    """Train a model on uint8 images (number, height, width, 3) and their labels; -1 marks an unlabelled image.

    Reports metrics with step and total, makes checkpoints every so many steps, and goes on from `run.resume`: a run
    that was killed anywhere ends with the weights of the unbroken one (bit for bit on a CPU with the same number of
    threads).

    With `few` labels or more of every class, a part of them is held out, and the best averaged weights by accuracy on
    it are kept (those at the start among them): the last of all that are not worse than the most accurate by more than
    one standard error, since of many that are equally good by so few labels the most accurate were the luckiest, and
    later ones have learnt at a smaller rate. With fewer labels none can be spared: the last averaged weights are kept.

    With `patience`, training ends early when so many evaluations in a row found nothing better, or, where no labels are
    held out, that the answers on unlabelled images no longer change. Either ends a run in its second half only: a
    network gets worse before it gets better.

    `start` is the folder of a kept card whose weights it starts from, instead of those that the settings name.
    """
    settings.check()
    if settings.ranks != group.ranks:
        raise InvalidInput(
            f"ranks is {settings.ranks}, but {group.ranks} {'is' if group.ranks == 1 else 'are'} here.",
            hint="seedbed.methods.learn.launch.train_on_ranks starts them.",
        )
    check_task(images, labels, settings.classes)
    slower = ", which the learning rate follows" if settings.rate_follows else " with a smaller learning rate"
    with says_when_short(
        choose_device(settings.device),
        f"a step of {settings.labelled_batch} labelled and {settings.unlabelled_batch} unlabelled images of "
        f"{settings.size} px; the last checkpoint is kept",
        hint=f"Use smaller images, a smaller network, or smaller batches{slower}.",
    ):
        work = TrainingRun(images, labels, settings, run, group, card_of(start) if start else None)
        work.begin()
        work.go_on()
        return work.result()


class TrainingRun:
    """One call of `train`."""

    def __init__(
        self,
        images: Images,
        labels: NDArray[np.integer],
        settings: TrainSettings,
        run: RunContext,
        group: Group,
        card: Card | None = None,
    ) -> None:
        self.device = choose_device(settings.device)
        self._settings, self._run, self._group = settings, run, group
        self._labels = torch.from_numpy(labels.astype(np.int64))
        self._parts = divide(
            labels, share=settings.held_out, few=settings.few, classes=len(settings.classes), seed=run.seed
        )
        self._pool = Pool(images, settings.size, self.device)
        self._backbone = fitting_backbone(card or settings.start, len(settings.classes), settings, seed=run.seed)
        task = make_task(labels, settings, self.device, held_out=len(self._parts.held_out))
        algorithm = make_algorithm(settings.algorithm, task, settings.options)
        labelled, unlabelled = settings.global_batches()
        labels_only = not algorithm.views.unlabelled
        seen = self._parts.labelled if labels_only else self._parts.unlabelled
        self._steps = settings.steps_over(len(seen), labelled=labels_only)
        self.feed = Feed(
            self._pool,
            self._parts,
            labelled=labelled,
            unlabelled=0 if labels_only else unlabelled,
            seed=run.seed,
            device=self.device,
            group=group,
        )
        self.learner = Learner(
            self._backbone,
            algorithm,
            self._labels,
            settings,
            steps=self._steps,
            rate=settings.rate(len(self._parts.labelled)),
            seed=run.seed,
            device=self.device,
            group=group,
        )
        self._progress = Progress(fingerprint=_fingerprint(images, labels, settings, run.seed, card))
        self._judges = _judges(self._parts, run.seed)
        self._kept: dict[str, Tensor] = {}  # the best averaged weights, where there are labels to judge by
        self._answers: Tensor | None = None  # on the judges: the most accurate ones; without labels, the last

    def go_on(self) -> None:
        """Every step that is still to do."""
        while not self._progress.finished:
            if self._run.should_stop():
                self._checkpoint()
                raise Stopped(f"Stopped after step {self._progress.step} of {self._steps}.")
            measured = self.learner.advance(self.feed.at(self._progress.step), self._progress.step)
            self._progress.step += 1
            self._after(measured)

    def result(self) -> Trained:
        """The model of the kept weights."""
        network = self.learner.average.network
        if self._kept:
            network.load_state_dict(self._kept)
        unfold_norms(network)
        model = Model(
            network=network,
            architecture=self._backbone.architecture,
            classes=tuple(self._settings.classes),
            size=self._settings.size,
            preprocessing=self._backbone.preprocessing,
            started_from=self._backbone.started_from,
            values=tuple(self._settings.values),
            temperature=self._temperature(),
            calibrated_on=len(self._parts.held_out),
        )
        progress, labels = self._progress, len(self._parts.labelled)
        return Trained(
            model,
            step=progress.best_step,
            steps=progress.step,
            criterion=self._criterion,
            metrics=dict(progress.metrics),
            curve=tuple(progress.curve),
            planned=self._steps,
            rate=self._settings.rate(labels),
            rate_reason=self._settings.rate_reason(labels),
        )

    def _temperature(self) -> float:
        """Of the kept weights, which are in the averaged network by now."""
        if not len(held_out := self._parts.held_out):
            return 1.0
        return fit_temperature(self._answer(held_out).double().cpu().numpy(), self._labels[held_out].numpy())

    @property
    def _criterion(self) -> str:
        return "accuracy on held-out labels" if len(self._parts.held_out) else "answers that no longer change"

    def _after(self, measured: dict[str, Tensor]) -> None:
        """Report, judge and keep, each when it is due."""
        settings, progress = self._settings, self._progress
        last = progress.step >= self._steps
        metrics = {}
        if last or progress.step % settings.report_every == 0:
            metrics = self._numbers(measured)
        if last or progress.step % settings.evaluate_every == 0:
            metrics.update(self._evaluate(self._numbers(measured)))
        progress.finished = progress.finished or last
        if progress.finished:
            metrics.update(memory_used(self.device))
        if metrics:
            total = progress.step if progress.finished else self._steps
            self._run.report(metrics, step=progress.step, total=total, doing="training")
        if progress.finished or progress.step % settings.checkpoint_every == 0:
            self._checkpoint()

    def _evaluate(self, measured: dict[str, float]) -> dict[str, float]:
        """How good the averaged weights are now: noted in the curve, and they are kept where they are the best."""
        scores, answers = self._judge()
        self._progress.curve.append({"step": self._progress.step, **measured, **scores})
        self._weigh(scores, answers)
        return scores

    def _numbers(self, measured: dict[str, Tensor]) -> dict[str, float]:
        """What the global batch measured; a loss that is no number ends the run."""
        names, values = list(measured), self._group.mean(torch.stack(list(measured.values()))).tolist()
        loss = values[names.index("loss")]
        if not math.isfinite(loss):
            raise self._astray(f"The loss is {loss}")
        return dict(zip(names, values, strict=True))

    def _astray(self, how: str) -> Failed:
        return Failed(
            f"{how} at step {self._progress.step}: training has gone astray; the last checkpoint, if any, is kept.",
            hint=f"Use a smaller learning rate than {self._settings.rate_of_one():g}.",
        )

    def _judge(self) -> tuple[dict[str, float], Tensor]:
        """How good the averaged weights are, and what they answer on the judges."""
        logits = self._answer(self._judges)
        answers = logits.argmax(dim=1).cpu()
        if len(self._parts.held_out):
            truth = self._labels[self._judges]
            loss = torch.nn.functional.cross_entropy(logits, truth.to(logits.device))
            return {"accuracy": _share(answers == truth), "loss_held_out": float(loss)}, answers
        confidence = float(logits.softmax(dim=1).max(dim=1).values.mean())
        unchanged = _share(answers == self._answers) if self._answers is not None else 0.0
        return {"unchanged": unchanged, "confidence": confidence}, answers

    def _answer(self, numbers: Tensor) -> Tensor:
        """Logits of the averaged weights; ranks share the work, and all know all answers."""
        parts = torch.split(shared_out(numbers, self._group), AT_ONCE)
        answers = torch.cat([self.learner.answer(self._pool.take(part)) for part in parts])
        return self._group.gather(answers)[: len(numbers)]

    def _weigh(self, scores: dict[str, float], answers: Tensor) -> None:
        """Keep what is best so far, and end when nothing more is to be expected."""
        progress = self._progress
        if len(self._parts.held_out):
            better, idle = self._as_good(answers), scores["accuracy"] <= progress.best_score
            if better:
                self._kept = {name: value.clone() for name, value in self.learner.average.network.state_dict().items()}
            if not idle:
                progress.best_score, self._answers = scores["accuracy"], answers
        else:
            better, idle, self._answers = True, scores["unchanged"] >= _SETTLED, answers
        if better:
            progress.best_step, progress.metrics = progress.step, scores
        progress.waited = progress.waited + 1 if idle and 2 * progress.step > self._steps else 0
        progress.finished = bool(self._settings.patience) and progress.waited >= self._settings.patience

    def _as_good(self, answers: Tensor) -> bool:
        if self._answers is None:
            return True
        truth = self._labels[self._judges]
        return not surely_worse(answers == truth, self._answers == truth)

    def _checkpoint(self) -> None:
        if not self.learner.sound():  # a checkpoint that cannot be gone on from would take the place of one that can
            raise self._astray("A weight is not a number")
        self._run.checkpoint(self._write, step=self._progress.step)

    def _write(self, folder: Path) -> None:
        tensors = self.learner.tensors() | {f"kept.{name}": value for name, value in self._kept.items()}
        if self._answers is not None:
            tensors["answers"] = self._answers
        save_tensors(tensors, folder)
        (folder / _PROGRESS).write_text(json.dumps(asdict(self._progress)))

    def begin(self) -> None:
        """Take up the last checkpoint where there is one, else prepare the network."""
        self._pool.settle()
        if self._run.resume is not None:
            return self._resume(self._run.resume)
        torch.backends.cudnn.benchmark = compiles(self._settings.compile, self._steps, self._group.ranks, self.device)
        if self._settings.head_start and self._settings.weights == "pretrained":
            if self._group.rank == 0:
                self._fit_head()
            self._group.align(self.learner.tensors().values())
            if len(self._parts.held_out):
                self._evaluate({})
        return self._turn_by(self._largest_turn())

    def _largest_turn(self) -> float:
        if self._settings.augment.turn != "auto":
            return float(self._settings.augment.turn)
        if self._settings.weights != "pretrained":
            return SLANTED
        shuffled = order(self._run.seed, 0, len(self._parts.unlabelled), "upright")[:SAMPLE]
        pixels = self._pool.take(self._parts.unlabelled[shuffled])
        told = torch.tensor(told_turns(pixels, self.learner.features), device=self.device)
        return largest_turn(float(self._group.mean(told)))

    def _turn_by(self, degrees: float) -> None:
        self._progress.turn = degrees
        self.learner.strength = replace(self._settings.augment, turn=degrees)

    def _fit_head(self) -> None:
        labelled, network = self._parts.labelled, self.learner.network
        shuffled = labelled[order(self._run.seed, 0, len(labelled), "head")]
        numbers = shuffled[some_of_each(self._labels[shuffled], _FOR_HEAD)]
        features = self.learner.features(self._pool.take(numbers))
        fit_head(network, features, self._labels[numbers], regularisation=self._settings.head_start)
        self.learner.average.network.load_state_dict(network.state_dict())

    def _resume(self, folder: Path) -> None:
        progress = Progress(**json.loads((folder / _PROGRESS).read_text()))
        if progress.fingerprint != self._progress.fingerprint:
            raise Conflict(
                f"The checkpoint in {folder} is of a run with other images, labels, settings or seed.",
                hint="Start without it.",
            )
        tensors = load_tensors(folder)
        self.learner.load(tensors)
        self._answers = tensors.get("answers")
        prefix = "kept."
        self._kept = {name[len(prefix) :]: value for name, value in tensors.items() if name.startswith(prefix)}
        self._progress = progress
        self._turn_by(progress.turn)


def surely_worse(now: Tensor, then: Tensor) -> bool:
    """Whether answers are right on fewer images than others were, by more than one standard error of the difference."""
    lost, won = int((then & ~now).sum()), int((now & ~then).sum())
    return lost - won > math.sqrt(lost + won)


def _share(true: Tensor) -> float:
    return float(true.float().mean())


def _judges(parts: Parts, seed: int) -> Tensor:
    """The images that the averaged weights are judged on."""
    if len(parts.held_out):
        return parts.held_out
    return parts.unlabelled[order(seed, 0, len(parts.unlabelled), "judges")[:_JUDGES]].sort().values


def _fingerprint(
    images: Images, labels: NDArray[np.integer], settings: TrainSettings, seed: int, card: Card | None
) -> str:
    """What must be the same for a checkpoint to be gone on from; how often it is written and reported need not be."""
    plain = replace(settings, report_every=1, checkpoint_every=1, device="auto", learning_rate=settings.rate_of_one())
    facts: dict[str, Any] = plain.to_json()
    given = [facts, seed, list(images.shape), digest_of_bytes(labels.astype(np.int64).tobytes())]
    return digest_of([*given, card.digest] if card else given)
