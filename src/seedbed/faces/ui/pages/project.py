"""One project: its classes and labels, its images, its models and jobs."""

import time
from collections import Counter
from collections.abc import Mapping, Sequence

from seedbed.assets.access.roles import Role
from seedbed.assets.store.bundle import Bundle
from seedbed.assets.store.events import Event
from seedbed.base.errors import NotFound
from seedbed.faces.ui import words as say
from seedbed.faces.ui.elements import box, card, link, path, table, words
from seedbed.faces.ui.layout import frame
from seedbed.faces.ui.parts import thumbs
from seedbed.faces.ui.parts.bars import bars
from seedbed.faces.ui.parts.joblist import JobList
from seedbed.faces.ui.parts.trainform import Task, TrainForm
from seedbed.faces.ui.results import images_of, models_in_words, newest_tests, texts
from seedbed.faces.ui.site import Visit, page
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.states import State

_JOBS, _MODELS, _REPORTS, _IMAGES = 12, 10, 50, 12


@page("/projects/{ref}", role=Role.VIEWER)
async def project(visit: Visit, ref: str) -> None:
    """By id or name."""
    found = await visit.ask(visit.platform.projects.get, ref)
    classes = [one.name for one in await visit.ask(visit.platform.projects.classes, found.id)]
    labels = await visit.ask(visit.platform.projects.labels, found.id)
    jobs = await visit.ask(visit.platform.jobs.list, project=found.id, limit=_JOBS)
    models = await visit.ask(
        visit.platform.bundles.find, kind="model", project=found.id, all_versions=True, limit=_MODELS
    )
    reports = await visit.ask(
        visit.platform.bundles.find, kind="report", project=found.id, all_versions=True, limit=_REPORTS
    )
    counted = Counter(label.label for label in labels.values())
    data = await _data(visit, found.data)
    with frame(visit, found.name, crumbs=[("Home", "/")]) as lead:
        lead.set_text(_answer(len(labels), classes, models_in_words(models, reports) if models else ""))
        with box(classes="two"):
            with card("Classes and labels"):
                if classes:
                    bars({name: counted.get(name, 0) for name in classes}, "Labels per class")
                else:
                    words(
                        "No classes yet. Say what can be seen on the images: seedbed projects add-class.", "p", "soft"
                    )
            with card("Images"):
                _images(data)
        if labels and data and visit.by.may(Role.TRAINER, found.id):
            TrainForm(visit, Task(len(labels), images_of(data), project=found.id)).build()
        with card("Models"):
            _models(models, newest_tests(reports))
        with card("Jobs"):
            listed = JobList(jobs, "No job has run for this project yet.", visit.by)

    async def refresh(_: Sequence[Event]) -> None:
        current = await visit.shared(visit.platform.jobs.list, project=found.id, limit=_JOBS)
        moving[:] = [job for job in current if State(job.state).active]
        listed.show(current)

    moving: list[Job] = [job for job in jobs if State(job.state).active]
    visit.site.live.watch(visit.client, visit.by, refresh, lambda: bool(moving))


def _answer(labels: int, classes: Sequence[str], models: str) -> str:
    said = f"{say.plural(labels, 'label')} in {say.plural(len(classes), 'class', 'classes')}"
    if models:
        return f"{said}; {models}."
    return f"{said}; no model yet." if labels else f"{said}. Label a few images of each class, then train."


async def _data(visit: Visit, uuid: str) -> Bundle | None:
    try:
        return await visit.ask(visit.platform.bundles.show, uuid) if uuid else None
    except NotFound:
        return None


def _images(data: Bundle | None) -> None:
    if data is None:
        words("No images yet. Bring a folder of them:", "p", "soft")
        words("seedbed data add IMAGES --project NAME", "code")
        return
    images = images_of(data)
    words(f"{say.plural(images, 'image')} of {data.name}.", "p")
    shown = range(min(images, _IMAGES))
    thumbs.grid([thumbs.Thumb(thumbs.address(data.uuid, index, 128), "") for index in shown], "little")
    with box(classes="row"):
        link("All images and findings", path("data", data.uuid), "button")


def _models(models: Sequence[Bundle], tests: Mapping[str, tuple[str, float]]) -> None:
    if not models:
        words("None yet. Training takes labels of a few images of each class.", "p", "soft")
        return
    with table(["Model", "Tells apart", "Right in its test", "Made"], "stacked"):
        for model in models:
            with box("tr"):
                with box("td"):
                    link(model.name, path("bundles", model.uuid))
                words(", ".join(texts(model, "classes")), "td", "soft")
                with box("td"):
                    if model.uuid in tests:
                        report, right = tests[model.uuid]
                        link(f"{say.percent(right)}, report", path("bundles", report))
                words(say.ago(model.created, time.time()), "td", "soft")
