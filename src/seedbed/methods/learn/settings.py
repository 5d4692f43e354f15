"""Everything that can be set for a training run, with the defaults in one place."""

import math
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Final, Literal

from seedbed.base.errors import InvalidInput
from seedbed.methods.learn.rates import Batches, Usual

AUTO: Final = "auto"
AUTO_ON_A_GPU: Final = "auto-gpu"
ONE_CLASS = "one-class"  # the algorithm that learns from good parts alone; see `one_class`
LEAST_GOOD, ENOUGH_GOOD = 4, 20  # good parts: fewer have no spread to speak of; fewer make its threshold a rough guess


@dataclass(frozen=True)
class Strength:
    """How far augmentation goes."""

    flip: float = 0.5  # both: share of the images that are mirrored, left for right; 0 where sides matter
    shift: float = 0.125  # weak: share of the side
    turn: float | Literal["auto"] = "auto"  # both, in degrees; auto: 20 where the images have an upright, else 180
    zoom: float = 0.1  # weak: relative
    operations: int = 3  # strong: how many of the colour operations an image gets
    strong_zoom: float = 0.3
    shear: float = 0.3
    cutout: float = 0.4  # strong: largest side of the square that is covered, as a share


@dataclass(frozen=True)
class TrainSettings:
    """How to train. The defaults suit a few labels per class on a CPU in about two minutes."""

    classes: tuple[str, ...] = ()  # names, in the order of the labels' numbers
    values: tuple[float, ...] = ()  # of ordered classes, such as percentages; none: the classes have no order
    nearness: float = 1.0  # of ordered classes: weight of how far an answer is off, beside whether it is right
    balance: Literal["auto", "none", "weights"] = "auto"  # auto: weights where one class has twice another's labels
    start: str = "efficientnet_lite0.imagenet"  # a card's name or a timm name
    weights: Literal["pretrained", "none"] = "pretrained"
    algorithm: str = "steady"
    options: Mapping[str, float] = field(default_factory=dict)  # of the algorithm
    good: str = ""  # one-class: which class is the good one, where the labels name others too
    size: int = 64  # side of the images in pixels
    steps: int = 240
    epochs: float = 0.0  # over the unlabelled images (the labelled, where only they count), instead of steps; 0: steps
    labelled_batch: int = 16
    unlabelled_batch: int = 48
    ranks: int = 1  # processes that train together, each on a GPU of its own where there are GPUs
    nodes: int = 1  # machines that they are spread over; no executor has more than one
    backend: Literal["auto", "nccl", "gloo", "mpi"] = "auto"  # what ranks talk over; auto: nccl on GPUs, else gloo
    scaling: Literal["weak", "strong"] = "weak"  # weak: batches per rank, rate times ranks; strong: batches in all
    learning_rate: float | Literal["auto", "auto-gpu"] = "auto"  # the highest; auto: the usual one, see `rates`
    weight_decay: float = 0.01
    clip: float = 1.0  # largest norm of a gradient
    batch_norm: Literal["auto", "frozen", "learn"] = "auto"  # its statistics; auto: learn only from scratch
    head_start: float = 10.0  # regularisation of the logistic regression that the head begins as; 0: begins at random
    augment: Strength = field(default_factory=Strength)
    warmup: float = 0.1  # share of the steps
    ema: float = 0.98
    held_out: float = 0.1  # share of the labels kept for evaluation, where a class has `few` or more
    few: int = 10  # labels of the poorest class under which none are held out
    evaluate_every: int = 30
    patience: int = 0  # evaluations without a better one before stopping early; 0: never
    report_every: int = 5
    checkpoint_every: int = 30
    precision: Literal["auto", "bf16", "fp32"] = "auto"  # auto: bf16 where the device computes faster with it
    compile: Literal["auto", "never", "always"] = "auto"  # auto: on a GPU, by one rank, for 15,000 steps or more
    record: Literal["auto", "never", "always"] = "auto"  # steps on a GPU, to start each as one; auto: by one rank
    device: str = "auto"

    @property
    def statistics(self) -> str:
        """What is done with BatchNorm's statistics: frozen or learn."""
        if self.batch_norm == "auto":
            return "frozen" if self.weights == "pretrained" else "learn"
        return self.batch_norm

    def global_batches(self) -> tuple[int, int]:
        """Labelled and unlabelled images of one step on all ranks together."""
        times = self.ranks if self.scaling == "weak" else 1
        return self.labelled_batch * times, self.unlabelled_batch * times

    def rate(self, labels: int = 0) -> float:
        """The peak learning rate: under weak scaling times what the ranks make of the batch of so many labels.

        That is the number of ranks, unless there are fewer labels to learn from than all of them would take; 0: enough.
        """
        return self.rate_of_one() * self._grown(labels)

    def _grown(self, labels: int) -> float:
        if self.scaling == "strong":
            return 1.0
        if not labels:
            return float(self.ranks)
        return batch_taken(self.global_batches()[0], labels, self.ranks) / batch_taken(self.labelled_batch, labels, 1)

    def rate_of_one(self) -> float:
        """The peak learning rate of one rank, which follows the batches where none is set."""
        if isinstance(self.learning_rate, str):
            return _USUAL[self.learning_rate].rate_for(self._batches)
        return self.learning_rate

    def rate_reason(self, labels: int = 0) -> str:
        """Why the peak learning rate is what it is."""
        reason = "as it was set"
        if isinstance(self.learning_rate, str):
            reason = _USUAL[self.learning_rate].reason_for(self._batches)
        if self.ranks == 1 or self.scaling == "strong":
            return reason
        grown = self._grown(labels)
        if grown < self.ranks:
            few = f"{labels} labels to learn from make the batch of {self.ranks} ranks {grown:.3g} times as large"
            return f"{grown:.3g} times {self.rate_of_one():g}, {reason}: {few}"
        return f"{self.ranks} ranks times {self.rate_of_one():g}, {reason}"

    @property
    def rate_follows(self) -> bool:
        """Whether the learning rate follows the batches: nobody set one."""
        return isinstance(self.learning_rate, str)

    @property
    def _batches(self) -> Batches:
        return self.labelled_batch, self.unlabelled_batch

    def steps_over(self, images: int, *, labelled: bool = False) -> int:
        """The steps of a run with so many unlabelled images, or `labelled` ones where it learns from no others."""
        if not self.epochs:
            return self.steps
        batch = batch_taken(self.global_batches()[0 if labelled else 1], images, self.ranks)
        return max(1, round(self.epochs * images / batch))

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        return {
            **asdict(self),
            "options": dict(self.options),
            "classes": list(self.classes),
            "values": list(self.values),
        }

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "TrainSettings":
        """What `to_json` gave."""
        lists = {name: tuple(data[name]) for name in ("classes", "values")}
        return cls(**{**data, **lists, "augment": Strength(**data["augment"])})

    def check(self) -> None:
        """Refuse what cannot work, all at once."""
        problems = [
            f"{name} is {getattr(self, name)}; it must be at least 1." for name in _COUNTS if getattr(self, name) < 1
        ]
        problems += [
            f"{name} is {getattr(self, name)}; it must lie in [0, 1)."
            for name in _SHARES
            if not 0 <= getattr(self, name) < 1
        ]
        problems += _problems_of_classes(self.classes, self.values, self.algorithm)
        if len(set(self.classes)) != len(self.classes):
            problems.append("classes names one class twice.")
        if self.values and len(self.values) != len(self.classes):
            problems.append(f"values has {len(self.values)} numbers for {len(self.classes)} classes.")
        if endless := [value for value in self.values if not math.isfinite(value)]:
            problems.append(f"values has {endless[0]}; each must be a finite number.")
        elif list(self.values) != sorted(set(self.values)):
            problems.append("values must rise from class to class.")
        batches = (self.labelled_batch, self.unlabelled_batch)
        if self.scaling == "strong" and self.ranks > 0 and any(batch % self.ranks for batch in batches):
            problems.append(_unshared(*batches, self.ranks))
        if self.nodes != 1:
            problems.append(f"nodes is {self.nodes}; no executor here has several machines for one job: leave it at 1.")
        if self.good and self.algorithm != ONE_CLASS:
            problems.append(f"good is '{self.good}', which only the algorithm '{ONE_CLASS}' takes.")
        amounts = {name: getattr(self, name) for name in (*_ABOVE_0, *_FROM_0)}
        amounts["learning_rate"] = 1.0 if isinstance(self.learning_rate, str) else self.learning_rate
        problems += [
            f"{name} is {amounts[name]}; it must be above 0, and finite."
            for name in _ABOVE_0
            if not 0 < amounts[name] < math.inf
        ]
        problems += [
            f"{name} is {amounts[name]}; it must be 0 or more, and finite."
            for name in _FROM_0
            if not 0 <= amounts[name] < math.inf
        ]
        problems += _problems_of_options(self.options)
        problems += _problems_of_strength(self.augment)
        if problems:
            raise InvalidInput("The training settings cannot be used.", problems=problems)


def batch_taken(asked: int, there: int, ranks: int) -> int:
    """The images of a step, of a batch that was asked for and so many images: what all ranks can share equally.

    An even number where there are fewer than were asked for, so that two ranks take what one does; one each where there
    are too few.
    """
    count = min(asked, there)
    shares = ranks if asked <= there else math.lcm(2, ranks)
    return max(count // shares * shares, ranks) if count else 0


def _problems_of_classes(classes: tuple[str, ...], values: tuple[float, ...], algorithm: str) -> list[str]:
    if algorithm == ONE_CLASS:
        problem = f"classes names {len(classes)}; '{ONE_CLASS}' takes the good one alone: name it with 'good'."
        return [problem] if len(classes) != 1 else []
    if len(classes) >= 2:
        return []
    if len(values) == 1:  # who gives values speaks of them: the classes that they are of may not be known yet
        return [
            "values has 1 number; ordered classes are at least 2: give each its number, such as none=0,low=10,high=50 "
            "or 0,10,50, and label images of each."
        ]
    named = f", '{classes[0]}'" if classes else ""
    return [
        f"classes names {len(classes)}{named}; there must be at least 2: label images of another class, "
        f"or use the algorithm '{ONE_CLASS}' where only good parts are known."
    ]


def _unshared(labelled: int, unlabelled: int, ranks: int) -> str:
    """What is said, and can be done, where ranks cannot have equal shares of the batches."""
    common = math.gcd(labelled, unlabelled)
    sharing = [number for number in range(2, min(common, _MOST_RANKS) + 1) if not common % number]
    few = ", ".join(str(number) for number in sorted(sharing, key=lambda number: abs(number - ranks))[:_NEAREST])
    nearest = " and ".join(str(max(1, round(batch / ranks)) * ranks) for batch in (labelled, unlabelled))
    others = f"ranks that can: {few}; or " if few else ""
    return (
        f"ranks: batches of {labelled} and {unlabelled} cannot be shared by {ranks} ranks; "
        f"{others}take batches of {nearest}."
    )


def _problems_of_options(options: Mapping[str, float]) -> list[str]:
    """What lies outside of its range; an option means the same in every algorithm that has it."""
    found = []
    for name, value in options.items():
        lowest, highest, words = _OPTIONS.get(name, (-math.inf, math.inf, "a finite number"))
        inside = lowest <= value <= highest and not (words.startswith("above") and value == lowest)
        if not (inside and math.isfinite(value)):
            found.append(f"options: {name} is {value}; it must be {words}.")
    return found


def _problems_of_strength(strength: Strength) -> list[str]:
    found = []
    for name, (highest, words) in _STRENGTHS.items():
        value = getattr(strength, name)
        allowed = (name, value) == ("turn", AUTO) if isinstance(value, str) else 0 <= value <= highest
        if not allowed:
            shown = f"'{value}'" if isinstance(value, str) else value
            found.append(f"augment.{name} is {shown}; it must be {words}.")
    return found


_OPTIONS: Mapping[str, tuple[float, float, str]] = {
    "threshold": (0.0, 1.0, "between 0 and 1"),
    "memory": (0.0, 1.0, "between 0 and 1"),
    "align": (0.0, 1.0, "between 0 and 1"),
    "ramp": (0.0, 1.0, "between 0 and 1"),
    "scarce": (0.0, math.inf, "0 or more, and finite"),
    "weight": (0.0, math.inf, "0 or more, and finite"),
    "fairness": (0.0, math.inf, "0 or more, and finite"),
    "temperature": (0.0, math.inf, "above 0, and finite"),
    "alpha": (0.0, math.inf, "above 0, and finite"),
    "n_sigma": (0.0, math.inf, "above 0, and finite"),
}
COLOUR_OPERATIONS = 8  # that `augment` has
_LARGEST_ZOOM = 9.0  # relative: to ten times the size, and a tenth
_STRENGTHS: Mapping[str, tuple[float, str]] = {  # the most of each, from 0 on
    "flip": (1.0, "between 0 and 1, a share of the images"),
    "shift": (1.0, "between 0 and 1, a share of the side"),
    "turn": (180.0, f"'{AUTO}' or between 0 and 180 degrees"),
    "zoom": (_LARGEST_ZOOM, f"between 0 and {_LARGEST_ZOOM:g}; 0.1 is a tenth larger or smaller"),
    "operations": (COLOUR_OPERATIONS, f"between 0 and {COLOUR_OPERATIONS}, the operations that there are"),
    "strong_zoom": (_LARGEST_ZOOM, f"between 0 and {_LARGEST_ZOOM:g}; 0.3 is three tenths larger or smaller"),
    "shear": (1.0, "between 0 and 1, a share of the side"),
    "cutout": (1.0, "between 0 and 1, a share of the side"),
}
_NEAREST, _MOST_RANKS = 3, 1024  # numbers of ranks that are named where others cannot share the batches; the largest
_COUNTS = (
    "size",
    "steps",
    "ranks",
    "labelled_batch",
    "unlabelled_batch",
    "evaluate_every",
    "report_every",
    "checkpoint_every",
)
_SHARES = ("warmup", "ema", "held_out")
_ABOVE_0 = ("nearness", "learning_rate", "clip")
_FROM_0 = ("epochs", "weight_decay", "head_start", "patience", "few")

# Where a GPU does the work, these take the place of the defaults above, which suit a CPU.
ON_A_GPU: Mapping[str, Any] = {
    "size": 128,
    "steps": 600,
    "labelled_batch": 64,
    "unlabelled_batch": 256,
    "learning_rate": 5e-4,
    "ema": 0.99,  # remembers a sixth of the steps, nearly the share that it remembers on a CPU
}

# What a rate that nobody set is worked out from; batches of another size get another rate.
_USUAL: Mapping[str, Usual] = {
    AUTO: Usual(5e-4, (TrainSettings.labelled_batch, TrainSettings.unlabelled_batch)),
    AUTO_ON_A_GPU: Usual(ON_A_GPU["learning_rate"], (ON_A_GPU["labelled_batch"], ON_A_GPU["unlabelled_batch"])),
}
