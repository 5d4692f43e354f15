"""The labels of a project: how many of each class, what is missing, and the way to label."""

from collections.abc import Awaitable, Callable

from nicegui import ui

from seedbed.assets.access.roles import Identity, Role
from seedbed.assets.projects.classes import Kind
from seedbed.base.errors import SeedbedError
from seedbed.faces.api.paths import drop_upload, upload_path
from seedbed.faces.ui import words as say
from seedbed.faces.ui.elements import box, button, link, path, refused, words
from seedbed.faces.ui.parts.dropzone import LABELS, Uploaded, dropzone
from seedbed.faces.ui.parts.step import Step, When
from seedbed.faces.ui.results import texts
from seedbed.faces.ui.site import Visit
from seedbed.faces.ui.telling import say_so, telling
from seedbed.faces.ui.way import label_step_in_words
from seedbed.flows.images import ImagesMissing
from seedbed.flows.usecases.label_files import Imported
from seedbed.flows.usecases.ways import Way


class LabelStep:
    """The second step of the way."""

    def __init__(self, visit: Visit, project: str, waiting: str) -> None:
        self._visit = visit
        self._project = project
        self._waiting = waiting  # an upload with labels, which can be read once the images are in
        self._step = Step("Labels", "labels-step")
        self._counted: object = None

    async def show(self, now: Way) -> None:
        """Bring it up to date."""
        if now.data is None:
            await self._step.show("later", "As soon as the images are in.", None, self._nothing)
            return
        when = _when(now)
        known = (bool(now.labels), bool(now.missing), now.all_labelled, bool(now.gaps), now.project.settings.goal)
        await self._step.show(when, label_step_in_words(now), known, lambda: self._draw(now))
        counted = (tuple(now.classes), tuple(now.counts.items()), known)
        if counted != self._counted:  # beside the rest: labels come often, and must not close what somebody has open
            self._counted = counted
            self._tally.clear()
            with self._tally:
                tally(now)
        if self._waiting:
            upload, self._waiting = self._waiting, ""
            await self._take(upload)
            ui.run_javascript("history.replaceState(null, '', location.pathname)")  # taken: not again when reloaded

    async def _nothing(self) -> None:
        if self._waiting:
            words("Your list of labels waits for them.", "p", "soft")

    async def _draw(self, now: Way) -> None:
        self._tally = box(classes="stack")
        self._refusal = box()
        may = self._visit.by.may(Role.TRAINER, self._project)
        named = now.data is not None and now.project.kind is not Kind.BINS and texts(now.data, "classes")
        if may and not now.labels and named:
            words("The folders of your images have names. If they say what is on the images, take them as labels.", "p")
            with box(classes="row"):
                button("Take the names of the folders as labels", self._take_folders)
        with box(classes="row"):
            begin = "Go on labelling" if now.labels else "Begin to label"
            ready = now.all_labelled and not now.gaps
            href = path("projects", now.project.id, "label")
            link("Look at the labels" if ready else begin, href, "button" if ready else "button main big")
            if now.missing and not now.all_labelled:
                href = path("projects", now.project.id, "label", mode="rounds")
                link(f"Class by class, {now.project.settings.goal} of each", href, "button")
        with box("details", "fold"):
            words("Labels that you have already, and taking labels out", "summary")
            with box(classes="stack"):
                if may:
                    self._more()
                with box(classes="row"):
                    href = path("api", "v1", "projects", now.project.id, "labels", "export", format="csv")
                    link("Download the labels as a table (CSV)", href, download="")
                    link("For other tools", path("projects", now.project.id, "takeaway"))

    def _more(self) -> None:
        text = "Drag a file of labels here: CSV, Label Studio, COCO, YOLO, Hugging Face."
        place = dropzone(text, self._heard, folder=False, accept=LABELS, project=self._project, id="more-labels")
        place.classes("small")
        self._sure = ui.checkbox("I am sure of these labels: other people can be checked with them")

    async def _take_folders(self) -> None:
        with telling():
            found = await self._visit.ask(self._visit.platform.projects.import_labels, self._project, format="data")
            say_so(f"{say.plural(found.count, 'label was', 'labels were')} brought in.")

    async def _heard(self, arrived: Uploaded) -> None:
        await self._take(arrived.upload, golden=bool(self._sure.value))

    async def _take(self, upload: str, *, golden: bool = False, skip_missing: bool = False) -> None:
        try:
            taken = await self._visit.ask(self._import, upload, golden=golden, skip_missing=skip_missing)
        except SeedbedError as error:
            self._refusal.clear()
            with self._refusal:
                self._refused(error, lambda: self._take(upload, golden=golden, skip_missing=True))
            return
        brought = f"{say.plural(taken.count, 'label was', 'labels were')} brought in."
        others = say.plural(taken.skipped, "is of an image that is not here", "are of images that are not here")
        self._refusal.clear()
        with self._visit.client:  # the button that was pressed may be gone by now
            say_so(f"{brought} {others}." if taken.skipped else brought)

    def _import(self, upload: str, *, golden: bool, skip_missing: bool, by: Identity) -> Imported:
        platform = self._visit.platform
        file = upload_path(platform.settings, upload)
        taken = platform.projects.import_labels(self._project, file, golden=golden, skip_missing=skip_missing, by=by)
        drop_upload(platform.settings, upload)
        return taken

    def _refused(self, error: SeedbedError, others: Callable[[], Awaitable[None]]) -> None:
        """Why a list was not taken stays on the page: it names what has to be corrected."""
        with box(role="alert"):
            if not isinstance(error, ImagesMissing):
                refused(error)
                return
            with box(classes="note bad stack"):
                words(f"{error.message} Bring those images in first, or take the labels of the others.", "p")
                with box(classes="row"):
                    button("Take the labels of the others", others)


def _when(now: Way) -> When:
    if now.training.open:
        return ""
    wanted = now.gaps if now.all_labelled else now.missing
    return "now" if not now.labels or (wanted and now.result is None) else "done"


def tally(now: Way) -> None:
    """A bar per class in its colour, full when it has its number."""
    goal = now.project.settings.goal
    if not now.classes:
        words("There are no classes yet: they can be named while labelling.", "p", "soft")
        return
    with box("dl", "tally", aria_label="Labels per class"):
        for one in now.classes:
            count = now.counts.get(one.name, 0)
            box("dd", "dot", aria_hidden="true").style(f"background: {one.colour}")
            words(one.name, "dt")
            with box("dd"), box(classes="bar", aria_hidden="true"):
                box().style(f"width: {min(100.0, 100 * count / goal):.1f}%; background: {one.colour}")
            words(f"{count:,}" if one.other or count >= goal else f"{count:,} of {goal}", "dd", "n")
