"""What came of a project's training: how good it is in words, what is mistaken for what, and where to go on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from nicegui import ui
from nicegui.element import Element

from seedbed.assets.access.roles import Identity, Role
from seedbed.assets.projects.classes import Kind
from seedbed.assets.projects.projects import Project
from seedbed.base.errors import SeedbedError
from seedbed.faces.ui import results as told
from seedbed.faces.ui import theme
from seedbed.faces.ui import words as say
from seedbed.faces.ui.elements import box, card, empty, link, path, table, words
from seedbed.faces.ui.layout import frame
from seedbed.faces.ui.parts import thumbs
from seedbed.faces.ui.parts.matrix import matrix
from seedbed.faces.ui.site import Visit, page
from seedbed.flows.platform import Platform
from seedbed.flows.quality import likely_between
from seedbed.flows.usecases.results import Called, Result, confused, least_certain

_IMAGES, _UNSURE = 60, 12
_NEXT = 60  # images in one more round: as many as one labels in a few minutes


@dataclass(frozen=True)
class Found:
    """All that the page says, looked up at once."""

    project: Project
    result: Result | None
    facts: Mapping[str, Any]
    called: Sequence[Called]
    unsure: Sequence[Called]
    roughly: str = ""  # how far the figure can be trusted
    going: bool = False  # a training whose results are not here yet


@page("/projects/{ref}/results", role=Role.VIEWER)
async def results(visit: Visit, ref: str, true: str = "", called: str = "") -> None:
    """`?true=` and `?called=` show the images of one square of the table."""
    found = await visit.ask(lambda *, by: _look(visit.platform, ref, by))
    home = path("projects", found.project.id)
    ui.add_head_html(theme.way_head())
    with frame(visit, "Results", crumbs=[("Home", "/"), (found.project.name, home)]) as lead:
        if found.result is None or not found.facts:
            lead.set_text("Nothing has been tested yet.")
            with empty("sprout", "Train first", "Then this page says how good it is, and where it is wrong."):
                link("Back to the project", home, "button main")
            return
        off = told.off_in_words(found.facts) if found.project.kind is Kind.BINS else ""
        right = told.accuracy_in_words(found.facts).replace("the model", "it")
        lead.set_text(" ".join(filter(None, (right, off, found.roughly))))
        if found.going:
            words("It is being trained anew: these are the results of the training before.", "p", "note")
        _mistaken(found, true, called)
        _one_more_round(visit, found)
        _classes(found.facts)
        _more(found)


def _look(platform: Platform, ref: str, by: Identity) -> Found:
    project = platform.projects.get(ref, by=by)
    result = platform.results.of(project.id, by=by)
    if result is None or result.report is None:
        return Found(project, result, {}, (), ())
    facts = told.report_of(platform, result.report, by)
    called = platform.results.called(result, by=by)
    labelled = platform.projects.labels(project.id, by=by)
    going = platform.trainings.of(project.id, by=by).open
    return Found(project, result, facts, called, least_certain(called, labelled, _NEXT), _roughly(facts), going)


def _roughly(facts: Mapping[str, Any]) -> str:
    count = int(facts["count"])
    return told.roughly_in_words(count, *likely_between(round(float(facts["accuracy"]) * count), count))


async def _slips(visit: Visit, project: str, place: Element) -> None:
    """Labels that may be wrong come first; where nobody can say, nothing is said."""
    try:
        found = len(await visit.ask(visit.platform.labelling.slips, project))
    except SeedbedError:
        return
    if found:
        with place:
            what = "1 label may be a slip" if found == 1 else f"{found} labels may be slips"
            words(f"First, {what}: alike images are called otherwise.", "p")
            with box(classes="row"):
                link(f"Review {say.plural(found, 'label')}", path("projects", project, "review"), "button")


def _mistaken(found: Found, true: str, called: str) -> None:
    """The table with a link in each square, and the images of the chosen one."""
    with card("What is taken for what", aside="a click on a number shows the images"):
        words(told.mistakes_in_words(found.facts), "p")
        here = path("projects", found.project.id, "results")
        matrix(found.facts, here, (true, called))
        if true and called:
            _chosen(found, true, called)


def _chosen(found: Found, true: str, called: str) -> None:
    images = confused(found.called, true, called)
    what = f"{say.plural(len(images), 'image')} of {true}"
    with box("section", "stack", id="chosen"):
        words(f"{what}, rightly named" if true == called else f"{what} that it calls {called}", "h3")
        if not images:
            words("None; or they are no longer here.", "p", "soft")
            return
        data = found.result.data if found.result else ""
        shown = [
            thumbs.Thumb(thumbs.address(data, one.index), one.file, f"{say.percent(round(one.sure, 2))} sure")
            for one in images[:_IMAGES]
        ]
        thumbs.grid(shown, "roomy")
        if len(images) > _IMAGES:
            words(f"The {_IMAGES} that it is surest of.", "p", "soft")
        with box(classes="row"):
            numbers = ",".join(str(one.index) for one in images[:_IMAGES])
            if found.result and found.result.data == found.project.data:
                href = path("projects", found.project.id, "label", show=f"images:{numbers}")
                link("Look at their labels", href, "button")


def _one_more_round(visit: Visit, found: Found) -> None:
    """What helps most now, each one click away."""
    project = found.project.id
    with card("One more round"):
        if visit.by.may(Role.LABELLER, project):
            place = box(classes="stack")
            ui.timer(0.05, lambda: _slips(visit, project, place), once=True)  # that takes a moment: the page is there
        if not found.unsure:
            words("Every image has a label.", "p", "soft")
            return
        words(
            "These images without a label are the ones that it is least sure of. A name for them teaches it most.", "p"
        )
        data = found.result.data if found.result else ""
        thumbs.grid(
            [
                thumbs.Thumb(
                    thumbs.address(data, one.index), f"{one.called}?", f"{say.percent(round(one.sure, 2))} sure"
                )
                for one in found.unsure[:_UNSURE]
            ]
        )
        with box(classes="row"):
            link("Label these next", path("projects", project, "label", show=_next(found)), "button main big")


def _next(found: Found) -> str:
    """What the labelling page shows: these very images, where they are still those of the project."""
    if not found.result or found.result.data != found.project.data:
        return "unsure"
    return "images:" + ",".join(str(one.index) for one in found.unsure)


def _classes(facts: Mapping[str, Any]) -> None:
    with card("Class by class"):
        words(
            "Found: of the images that show it, how many were noticed. Right when said: of those that it calls so, how "
            "many are.",
            "p",
            "soft",
        )
        with table(["Class", "Found", "Right when said"], "scores"):
            for name, found, right in told.scores_in_words(facts):
                with box("tr"):
                    words(name, "td")
                    words(found, "td", "number")
                    words(right, "td", "number")


def _more(found: Found) -> None:
    with box(classes="row"):
        link("Take it away, or try it", path("projects", found.project.id, "takeaway"), "button")
        if found.result and found.result.report:
            link("The whole report", path("bundles", found.result.report.uuid), "button")
