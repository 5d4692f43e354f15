"""How good a model is: words first, then the pictures, then the tables, then what it cost."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from nicegui import ui

from seedbed.assets.store.bundle import Bundle
from seedbed.base.errors import SeedbedError
from seedbed.faces.ui import charts, results
from seedbed.faces.ui import reports as told
from seedbed.faces.ui import words as say
from seedbed.faces.ui.elements import box, figures, link, path, table, words
from seedbed.faces.ui.parts import thumbs
from seedbed.faces.ui.parts.curves import Curves, Metrics, of_one
from seedbed.faces.ui.parts.nearest import data_of
from seedbed.faces.ui.reliability import reliability
from seedbed.faces.ui.site import Visit
from seedbed.runtime.jobs.records import Job

_CELL, _MOST_CELLS = 38, 60  # pixels of a row of the confusion matrix, and the classes up to which it is drawn
_CURVES = ("accuracy", "loss", "confidence")


async def report(visit: Visit, bundle: Bundle) -> None:
    """Everything that is known of how good a model is."""
    facts = await visit.ask(lambda *, by: results.report_of(visit.platform, bundle, by))
    words(results.accuracy_in_words(facts), "p", "answer")
    for sentence in (results.mistakes_in_words(facts), *told.more_in_words(facts)):
        words(sentence, "p", "soft")
    with box(classes="two"):
        _confusion(facts)
        _scores(facts)
    with box(classes="two"):
        _reliability(facts)
    model = await _model(visit, facts)
    training = await _training(visit, model)
    _curves(facts, training)
    await _mistakes(visit, bundle, facts)
    _used(model, training)


def _confusion(facts: Mapping[str, Any]) -> None:
    names = [one["name"] for one in facts["classes"]]
    if len(names) > _MOST_CELLS:
        return
    with box("figure", "stack tight"):
        words("What the images are (down) and what the model says (across)", "h3")
        chart = ui.echart(charts.confusion(names, facts["confusion"]), renderer="svg").classes("chart")
        chart.style(f"height: {130 + _CELL * len(names)}px")
        chart.props["aria-label"] = "Confusion matrix; the table beside it has the scores of each class"


def _scores(facts: Mapping[str, Any]) -> None:
    with box("figure", "stack tight"):
        words("Class by class", "h3")
        with table(["Class", "Images", "Found", "Right when said", "F1"], "scores"):
            for name, *numbers in told.cells_of(facts):
                with box("tr"):
                    words(name, "td")
                    for number in numbers:
                        words(number, "td", "number")


def _reliability(facts: Mapping[str, Any]) -> None:
    lines = told.reliability_of(facts)
    if not lines:
        return
    with box("figure", "stack tight"):
        words("How sure it is, and how often it is right", "h3")
        chart = ui.echart(reliability(lines), renderer="svg").classes("chart square")
        chart.props["aria-label"] = "Reliability diagram; the sentence on its confidence has the figures"
    with box("figure", "stack tight"):
        words("In numbers", "h3")
        with table(["How sure", "Images", "Right"], "scores"):
            for sure, right, count in lines[0][1]:
                with box("tr"):
                    words(say.percent(round(sure, 3)), "td", "number")
                    words(f"{count:,}", "td", "number")
                    words(say.percent(round(right, 3)), "td", "number")


async def _model(visit: Visit, facts: Mapping[str, Any]) -> Bundle | None:
    """The judged model, where it is still there and may be seen."""
    try:
        return await visit.ask(visit.platform.bundles.show, facts["model"]) if facts.get("model") else None
    except SeedbedError:
        return None


@dataclass(frozen=True)
class Training:
    """The job that made the model, and what it said while it ran; nothing where that is gone or not theirs to see."""

    job: Job | None = None
    metrics: Metrics = field(default_factory=dict)


async def _training(visit: Visit, model: Bundle | None) -> Training:
    if model is None or not model.lineage.job:
        return Training()
    try:
        job = await visit.ask(visit.platform.jobs.get, model.lineage.job)
        return Training(job, await visit.ask(visit.platform.jobs.metrics, job.id))
    except SeedbedError:
        return Training()


def _curves(facts: Mapping[str, Any], training: Training) -> None:
    """All that the training said while it ran; where that is gone, what its evaluations found."""
    lines = of_one(training.metrics or told.curve_of(facts))
    panels = {title: lines[title] for title in lines if title in _CURVES}
    if panels:
        words("How it learnt", "h3")
        Curves().show(panels)


async def _mistakes(visit: Visit, bundle: Bundle, facts: Mapping[str, Any]) -> None:
    wrong = told.mistakes_of(facts)
    if not wrong:
        return
    words("Where it was wrong, the surest first", "h3")
    data = await data_of(visit, bundle)
    shown = [
        thumbs.Thumb(
            thumbs.address(data, one.index),
            f"{one.true}",
            f"called {one.called}, {say.percent(round(one.sure, 2))} sure",
        )
        for one in wrong
    ]
    if data:
        thumbs.grid(shown, "roomy")


def _used(model: Bundle | None, training: Training) -> None:
    if model is None:
        return
    words("What it took", "h3")
    job, shown = training.job, told.used_of(model, training.metrics)
    if job and job.started and job.ended:
        shown = {"of training": say.duration(job.ended - job.started), **shown}
    figures(shown)
    if rate := told.rate_of(model):
        words(rate, "p", "soft")
    with box(classes="row"):
        link("The model", path("bundles", model.uuid), "button")
        if job:
            link("The training", path("jobs", job.id), "button")
