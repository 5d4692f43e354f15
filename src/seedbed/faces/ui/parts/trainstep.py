"""The training of a project in plain words: a button, how far it is, stop and go on; curves for those who want them."""

from collections.abc import Awaitable, Callable

from nicegui import ui

from seedbed.assets.access.roles import Role
from seedbed.faces.ui.elements import Progress, box, button, link, path, words
from seedbed.faces.ui.parts.curves import Curves, of_one
from seedbed.faces.ui.parts.started import started_line
from seedbed.faces.ui.parts.step import Step, When
from seedbed.faces.ui.parts.trainform import Task, TrainForm
from seedbed.faces.ui.site import Visit
from seedbed.faces.ui.telling import telling
from seedbed.faces.ui.way import by_itself_in_words
from seedbed.flows.usecases.trainings import Training
from seedbed.flows.usecases.ways import Way

Refresh = Callable[[], Awaitable[None]]
_CURVES = {  # what is measured, in words, and above a chart; what is not here keeps its name
    "accuracy:": "how often it is right",
    "loss:": "how far off it is (less is better)",
    "loss": "in all",
    "loss_labelled": "with a label",
    "loss_unlabelled": "without",
    "loss_held_out": "kept to judge by",
    "confidence:": "how sure it is",
    "confidence": "on average",
    "confident": "sure enough to learn from",
    "unchanged": "no longer change",
}


class TrainStep:
    """The third step of the way."""

    def __init__(self, visit: Visit, project: str, refresh: Refresh) -> None:
        self._visit = visit
        self._project = project
        self._refresh = refresh
        self._step = Step("Training", "training")
        self._bar: Progress | None = None
        self._curves: Curves | None = None

    async def show(self, now: Way) -> None:
        """Bring it up to date; the bar and the curves move in place."""
        training = now.training
        known = (training.stage, now.labels, bool(now.gaps), now.project.settings.train_by_itself, bool(now.data))
        await self._step.show(_when(now), _said(now), known, lambda: self._draw(now))
        if self._bar:
            self._bar.move(training.share if training.stage != "waiting" else 0.0)
        if self._curves and training.jobs:
            metrics = await self._visit.shared(self._visit.platform.jobs.metrics, training.jobs["train"].id)
            self._curves.show(of_one(metrics))

    async def _draw(self, now: Way) -> None:
        training = now.training
        self._bar = Progress(training.share, "Training") if training.open else None
        self._curves = None
        may = self._visit.by.may(Role.TRAINER, self._project)
        if training.open and may:
            self._actions(training)
        elif may and now.data and now.labels and not now.gaps:
            task = Task(now.labels, now.images, project=self._project)
            TrainForm(self._visit, task, self._refresh, again=now.result is not None).build()
        if training.jobs:
            await started_line(self._visit, training.jobs["train"].id)
        if training.jobs and training.stage != "waiting":
            with box("details", "fold"):
                words("Curves", "summary")
                self._curves = Curves(_CURVES)
                with box(classes="row"):
                    link("Everything about this training", path("jobs", training.jobs["train"].id))
        if may and now.data:
            self._by_itself(now)

    def _actions(self, training: Training) -> None:
        trainings = self._visit.platform.trainings
        with box(classes="row"):
            if training.stage == "stopped":
                button("Go on from here", lambda: self._do(trainings.go_on), "main")
            else:
                button("Stop for now", lambda: self._do(trainings.stop))
            button("End it…", classes="danger", data_opens="end-training")
        with box("dialog", id="end-training", aria_labelledby="end-title"):
            words("End this training?", "h2", id="end-title")
            words("What it has learnt so far is lost. Labels, and the model before it, stay.", "p")
            with box(classes="actions"):
                words("Keep it", "button", "button", type="button", data_closes="", autofocus="")
                button("End the training", lambda: self._do(trainings.end), "danger full", data_closes="")

    def _by_itself(self, now: Way) -> None:
        wanted = now.project.settings.train_by_itself
        made = ui.checkbox("Train by itself, once every class has its labels and whenever a quarter more are there")
        made.set_value(wanted)
        if next_time := by_itself_in_words(now):
            words(next_time, "p", "soft")

        async def change() -> None:
            with telling():
                changes = {"train_by_itself": bool(made.value)}
                await self._visit.ask(self._visit.platform.projects.set_settings, self._project, changes)
                await self._refresh()

        made.on_value_change(change)

    async def _do(self, act: Callable[..., Training]) -> None:
        with telling():
            await self._visit.ask(act, self._project)
            await self._refresh()


def _when(now: Way) -> When:
    if now.training.open or now.training.stage == "failed":
        return "now"
    if now.training.stage == "done" or now.result:
        return "done"
    return "later" if now.gaps or not now.labels else "" if now.missing and not now.all_labelled else "now"


def _said(now: Way) -> str:
    if now.training.stage not in ("none", "done"):
        return now.training.sentence
    if now.training.stage == "done":
        used = now.training.jobs and now.training.jobs["train"].ended
        return now.training.sentence if used else "It is done."
    if now.gaps and now.labels:
        few = ", ".join(now.gaps[:4]) + (" …" if len(now.gaps) > 4 else "")
        return f"It can begin once every class has at least two labels; still without: {few}."
    return "" if now.labels else "Once a few images of each class have a label."
