"""Start a training: one button, and a fold with everything for those who know what they want."""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any

from nicegui import ui
from nicegui.element import Element

from seedbed.assets.access.roles import Identity
from seedbed.base.errors import InvalidInput, SeedbedError
from seedbed.base.resources import Resources, parse_size
from seedbed.faces.ui import words as say
from seedbed.faces.ui.elements import box, button, card, path, words
from seedbed.faces.ui.site import Visit
from seedbed.flows.algorithms import algorithms
from seedbed.flows.backbones import backbones
from seedbed.flows.training import problems_by_field
from seedbed.flows.usecases.starts import AUTO, SCRATCH, USUAL
from seedbed.flows.written import read_others, read_values, settings_from
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.spec import JobClass

_TEST_SHARE = 0.3
_CHOICES = {"scaling": ["weak", "strong"]}
_WEIGHTS = {  # what can be started from besides a card's weights
    AUTO: "The nearest, where that is surely quicker",
    USUAL: "The usual ones of the backbone",
    SCRATCH: "None: from scratch",
}
_FEWER = {  # what is said below the weights
    AUTO: "Where these are surely quicker it takes fewer steps, unless you change steps, epochs or patience."
}
_NUMBERS = {  # setting -> what it is called, the step of its arrows
    "size": ("Image size in pixels", 16),
    "steps": ("Steps", 20),
    "epochs": ("Or epochs (0: steps hold)", 1),
    "patience": ("Patience (0: never ends early)", 1),
    "labelled_batch": ("Labelled images a step", 8),
    "unlabelled_batch": ("Unlabelled images a step", 8),
    "ranks": ("Ranks (processes)", 1),
}
_APART = {  # what is no setting of the method -> what it is called, its default
    "labels_per_class": ("Labels of each class (0: all)", 0),
    "test_share": ("Share for the test", _TEST_SHARE),
    "gpus": ("GPUs (0: one if it is there)", 0),
    "seed": ("Seed", 0),
}
_TEXTS = {  # what is written -> what it is called, an example
    "good": ("Good class (one-class)", "healthy"),
    "group": ("Grouped by column", "plant"),
    "memory": ("Memory (else enough)", "8G"),
}
_QUEUES = {JobClass.TE: "Soon", JobClass.BE: "When there is room"}
_READERS: dict[str, Callable[[str], Any]] = {"values": read_values, "options": read_others, "memory": parse_size}
_OTHERS = ("algorithm", "start", "weights", "cls", "values", "options")
_OF_RATE = ("learning_rate", "labelled_batch", "unlabelled_batch", "ranks", "scaling", "gpus")  # what it depends on
NAMES = frozenset((*_OTHERS, "learning_rate", *_CHOICES, *_NUMBERS, *_APART, *_TEXTS))  # of all fields


@dataclass(frozen=True)
class Task:
    """What is trained on: a project's data set and labels, or a data set with the classes that it came with."""

    labels: int
    images: int
    data: str = ""
    project: str = ""


@dataclass
class Field:
    """An input with the place where its mistake is told."""

    input: Any
    wrong: Any
    default: Any

    def value(self) -> Any:
        """What was chosen; an emptied field means the default."""
        given = self.input.value
        if given is None or given == "":
            return self.default
        whole = isinstance(self.default, int) and isinstance(given, float) and given.is_integer()
        return int(given) if whole else given

    def tell(self, sentence: str) -> None:
        """Show what is wrong, or that nothing is."""
        self.wrong.set_text(sentence)
        self.wrong.set_visibility(bool(sentence))
        self.input.props["aria-invalid"] = "true" if sentence else "false"
        self.input.update()


class TrainForm:
    """The form; `build` puts it on the page."""

    def __init__(
        self, visit: Visit, task: Task, started: Callable[[], Awaitable[None]] | None = None, *, again: bool = False
    ) -> None:
        self._visit = visit
        self._task = task
        self._started = started  # where the page stays: what follows there; else the training's own page is opened
        self._again = again
        self._fields: dict[str, Field] = {}
        self._starting = False
        self._defaults = visit.platform.models.training_defaults()

    def build(self) -> None:
        """A sentence, the button, the fold; a card of its own where the page is not the project's."""
        with box(classes="stack train") if self._started else card("Train", "train"):
            words(_what_happens(self._task), "p", "soft")
            self._note = words("", "p", "note bad", role="alert")
            self._note.set_visibility(False)
            with box(classes="row"):
                train = "Train again with" if self._again else "Train with"
                self._button = button(f"{train} {say.plural(self._task.labels, 'label')}", self._start, "main")
            with box("details", "fold") as self._fold:
                self._fold.on("toggle", self._offer)
                words("Advanced", "summary")
                with box(classes="stack"):
                    self._choices()
                    words("What is left alone keeps its default. All settings: seedbed train --help.", "p", "soft")

    def _choices(self) -> None:
        known = algorithms()
        with box(classes="choices"):
            self._put("algorithm", self._defaults.algorithm, _select(list(known), "Algorithm"), wide=True, known=known)
            networks = backbones()
            start = self._defaults.start
            self._put("start", start, lambda: ui.input("Backbone", autocomplete=list(networks)), wide=True)
            self._put(
                "weights",
                AUTO,
                lambda: ui.select(dict(_WEIGHTS), label="Start from the weights"),
                wide=True,
                known=_FEWER,
            )
            for name, options in _CHOICES.items():
                self._put(name, getattr(self._defaults, name), _select(options, name.capitalize()))
            for name, (label, step) in _NUMBERS.items():
                self._put(name, getattr(self._defaults, name), _number(label, step))
            for name, (label, default) in _APART.items():
                self._put(name, default, _number(label, 0.05 if isinstance(default, float) else 1))
            for name, (label, example) in _TEXTS.items():
                self._put(name, "", _text(label, example))
            self._put_rate()
            self._put("cls", JobClass.TE, lambda: ui.select(dict(_QUEUES), label="When it runs"))
            self._put("values", "", _text("Values of ordered classes", "none=0,low=10,high=50"), wide=True)
            self._put("options", "", _text("Other settings", "ema=0.99 threshold=0.8"), wide=True)
        self._fields["start"].input.on("blur", self._offer)
        self._fields["size"].input.on("blur", self._offer)

    def _put_rate(self) -> None:
        """The learning rate, with the one that would be taken now, and why, below."""
        with self._put("learning_rate", None, _number("Learning rate (empty: the usual)", 0.0001), wide=True):
            self._rate = words("", "p", "soft small")
        for name in _OF_RATE:
            self._fields[name].input.on_value_change(self._tell_rate)
        self._tell_rate()

    def _tell_rate(self) -> None:
        gpus = self._fields["gpus"].value()
        resources = Resources(cpus=0, memory=0, gpus=gpus) if isinstance(gpus, int) and gpus > 0 else None
        self._rate.set_text(self._visit.platform.models.told_rate(self._chosen({}), resources))

    async def _offer(self) -> None:
        """The cards that fit the backbone and the size that are chosen now stand among the weights."""
        network, size = (self._fields[name].value() for name in ("start", "size"))
        cards = await self._visit.shared(self._visit.platform.zoo.fitting, str(network), int(size))
        known = {one["name"]: f"{one['name']}, which learnt from {one['trained_on']}" for one in cards}
        choice = self._fields["weights"].input
        kept = choice.value if choice.value in {**_WEIGHTS, **known} else AUTO
        choice.set_options({**_WEIGHTS, **known}, value=kept)

    def _put(
        self,
        name: str,
        default: Any,
        make: Callable[[], Element],
        *,
        wide: bool = False,
        known: Mapping[str, str] | None = None,
    ) -> Element:
        """A field in its box; where its values are `known`, the sentence on the chosen one stands below."""
        with box(classes="choice wide" if wide else "choice") as place:
            made: Any = make().props("outlined dense")
            made.set_value(default)
            if known:
                about = words(known.get(default, ""), "p", "soft small")
                made.on_value_change(lambda event: about.set_text(known.get(event.value, "")))
            wrong = words("", "p", "wrong", role="alert")
            wrong.set_visibility(False)
        self._fields[name] = Field(made, wrong, default)
        return place

    async def _start(self) -> None:
        """Everything wrong is told at once, by its field; what is right is queued, and its page opened."""
        if self._starting:
            return  # a second click while the first is being answered
        self._starting = True
        self._tell({})
        try:
            written, wrong = self._written()
            params = settings_from(written["options"], self._chosen(written["values"]))
            wrong |= problems_by_field(params) | self._problems_apart() | wrong
            jobs = [] if wrong else await self._visit.ask(self._train, params)
        except SeedbedError as error:
            wrong = {"": str(error)}
        finally:
            self._starting = False
        if wrong:
            self._tell(wrong)
        elif self._started:
            await self._started()
        else:
            ui.navigate.to(path("jobs", next(job.id for job in jobs if job.step == "train")))

    def _written(self) -> tuple[dict[str, Any], dict[str, str]]:
        """What was written freely, read; and what cannot be read, by field."""
        read, wrong = {}, {}
        for name, reader in _READERS.items():
            text = str(self._fields[name].value()).strip()
            try:
                read[name] = reader(text) if text else {}
            except InvalidInput as error:
                read[name], wrong[name] = {}, f"{error.message} {error.hint}"
        return read, wrong

    def _chosen(self, values: Any) -> dict[str, Any]:
        """The settings that differ from their defaults."""
        names = ("algorithm", "start", "good", "learning_rate", *_CHOICES, *_NUMBERS)
        given = {name: self._fields[name].value() for name in names}
        named = {name: value for name, value in given.items() if value != self._fields[name].default}
        return {**named, "values": values} if values else named

    def _problems_apart(self) -> dict[str, str]:
        share = self._fields["test_share"].value()
        wrong = {} if 0 < share < 1 else {"test_share": f"The share is {share:g}; it must lie between 0 and 1."}
        for name in ("labels_per_class", "gpus", "seed"):
            value = self._fields[name].value()
            if not isinstance(value, int) or value < 0:
                wrong[name] = f"This is {value:g}; it must be a whole number, 0 or more."
        return wrong

    def _train(self, params: Mapping[str, Any], *, by: Identity) -> list[Job]:
        apart = {name: self._fields[name].value() for name in ("weights", "group", "memory", "cls", *_APART)}
        gpus, memory, task = apart.pop("gpus"), apart.pop("memory"), self._task
        asked = Resources(cpus=0, memory=parse_size(memory) if memory else 0, gpus=gpus)
        resources = asked if gpus or memory else None
        platform = self._visit.platform
        if task.project:
            begun = platform.trainings.start(task.project, params=params, resources=resources, by=by, **apart)
            return list((begun.jobs or {}).values())
        return platform.models.train(task.data, params=params, resources=resources, by=by, **apart)

    def _tell(self, wrong: Mapping[str, str]) -> None:
        for name, field in self._fields.items():
            field.tell(_beside(name, wrong.get(name, "")))
        rest = " ".join(sentence for name, sentence in wrong.items() if name not in self._fields)
        self._note.set_text(rest)
        self._note.set_visibility(bool(rest))
        if wrong:
            self._fold.props["open"] = True
            self._fold.update()


def _beside(name: str, sentences: str) -> str:
    """Mistakes as they are told beside their field, which need not name it as the method does."""
    said = re.sub(rf"(^|[.?] )'?{name}'? (?=(?:is|has|names|must) )", r"\1This ", sentences)
    said = re.sub(rf"(^|[.?] )('?){name}(?:: |\.)", r"\1\2", said)
    return said if name == "options" else said[:1].upper() + said[1:]


def _select(options: list[str], label: str) -> Callable[[], Element]:
    return lambda: ui.select(options, label=label)


def _text(label: str, example: str) -> Callable[[], Element]:
    return lambda: ui.input(label, placeholder=example)


def _number(label: str, step: float) -> Callable[[], Element]:
    """Without limits: a value that cannot be used is told, not silently changed."""
    return lambda: ui.number(label, step=step)


def _what_happens(task: Task) -> str:
    kept = round(_TEST_SHARE * task.labels)
    rest = f", and from the rest of the {say.plural(task.images, 'image')} without labels"
    return (
        f"About {kept:,} of the {say.plural(task.labels, 'label')} are put aside to test the result. The model learns "
        f"from the others{rest if task.images > task.labels else ''}. It begins with what was learnt from the most "
        "alike images that are known here, where that is surely quicker, and says why."
    )
