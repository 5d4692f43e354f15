"""A new project: its name, its images, what can be seen on them."""

from pathlib import Path
from typing import Any

from nicegui import ui

from seedbed.assets.access.roles import SOLO, Identity, Role
from seedbed.assets.projects.projects import Project
from seedbed.assets.projects.settings import ProjectSettings
from seedbed.assets.store.bundle import Bundle
from seedbed.base.errors import InvalidInput, SeedbedError
from seedbed.base.files import expanded
from seedbed.faces.api.paths import upload_path
from seedbed.faces.ui import theme
from seedbed.faces.ui import words as say
from seedbed.faces.ui.elements import box, button, card, path, refused, words
from seedbed.faces.ui.layout import frame
from seedbed.faces.ui.parts.classform import ClassForm
from seedbed.faces.ui.parts.dropzone import IMAGES, LABELS, Uploaded, dropzone
from seedbed.faces.ui.parts.wishes import Wishes
from seedbed.faces.ui.results import images_of
from seedbed.faces.ui.site import Visit, page

_SETS = 50


@page("/new", role=Role.TRAINER)
async def new(visit: Visit) -> None:
    """One form; what is left alone keeps its default."""
    ui.add_head_html(theme.way_head())
    have = await visit.ask(visit.platform.data.list, limit=_SETS)
    with frame(visit, "New project", crumbs=[("Home", "/")]) as lead:
        lead.set_text("Bring your images and say what can be seen on them. Everything can be changed later.")
        NewProject(visit, have).build()


class NewProject:
    """The form, and what becomes of it."""

    def __init__(self, visit: Visit, have: list[Bundle]) -> None:
        self._visit = visit
        self._have = have
        self._upload: Uploaded | None = None
        self._labels: Uploaded | None = None
        self._classes = ClassForm()
        self._making = False

    def build(self) -> None:
        """Everything, once."""
        with box("ol", "way"):
            with box("li", "card step"):
                words("What is it called?", "h2")
                self._name: Any = ui.input(placeholder="Bean leaves 2026").props("outlined dense maxlength=100")
                self._name.props("aria-label='Name of the project' autofocus")
                self._name.on_value_change(self._wrong_no_more)
            with box("li", "card step"):
                words("Where are the images?", "h2")
                self._images()
            with box("li", "card step"):
                words("What can be seen on them?", "h2")
                self._classes.build()
            with box("li", "card step"):
                words("Have you labelled some already?", "h2")
                self._labelled()
        with card():
            with box("details", "fold"):
                words("Advanced settings", "summary")
                self._wishes = Wishes(ProjectSettings(), "goal", "grouping", "proposals", "train_by_itself")
            self._wrong = box(role="alert")
            with box(classes="row"):
                self._button = button("Make the project and check the images", self._make, "main big")

    def _images(self) -> None:
        dropzone(
            "Drag a folder of images here, or an archive of them (zip, tar). They are copied: yours stay as they are.",
            self._heard,
            accept=IMAGES,
            id="images",
        )
        by_path = self._visit.by.id == SOLO.id or bool(self._visit.platform.settings.import_roots)
        self._path: Any = None
        self._known: Any = None
        if by_path:
            words("or", classes="or")
            self._path = ui.input("A folder on the computer that runs Seedbed", placeholder="/data/photos")
            self._path.props("outlined dense").on_value_change(self._wrong_no_more)
        if self._have:
            words("or", classes="or")
            named = {one.uuid: f"{one.name} ({say.plural(images_of(one), 'image')})" for one in self._have}
            self._known = ui.select(named, label="Images that are here already", clearable=True).props("outlined dense")
            self._known.on_value_change(self._wrong_no_more)

    def _labelled(self) -> None:
        words(
            "Then bring the list: a table (CSV), an export of Label Studio, or a COCO, YOLO or Hugging Face set. Class "
            "folders are understood without a list. If you have none, go on.",
            "p",
            "soft",
        )
        dropzone(
            "Drag the file with your labels here.", self._heard_labels, folder=False, accept=LABELS, id="labels"
        ).classes("small")

    async def _heard(self, arrived: Uploaded) -> None:
        self._upload = arrived
        self._wrong_no_more()
        if not self._name.value and arrived.name:
            self._name.set_value(arrived.name.replace("_", " "))

    async def _heard_labels(self, arrived: Uploaded) -> None:
        self._labels = arrived

    async def _make(self) -> None:
        """Everything wrong is told at once; what is right becomes a project, and its page opens."""
        if self._making:
            return  # a second click while the first is being answered
        self._making = True
        self._wrong_no_more()
        try:
            self._require()
            project = await self._visit.ask(self._create)
            await self._bring_or_undo(project)
        except SeedbedError as error:
            with self._wrong:
                refused(error)
            return
        finally:
            self._making = False
        ui.navigate.to(path("projects", project.id, labels=self._labels.upload if self._labels else ""))

    def _require(self) -> None:
        problems = [] if str(self._name.value or "").strip() else ["Give the project a name."]
        if not self._source():
            problems.append("Drop a folder of images, or say where they are; while they are being sent, wait a moment.")
        if len(self._classes.read()) == 1:
            problems.append("One class alone cannot be told apart from anything: name another, or none.")
        if problems:
            raise InvalidInput("Something is missing.", problems=problems)

    def _source(self) -> str:
        return (
            (self._upload.upload if self._upload else "")
            or str(self._path.value or "" if self._path else "").strip()
            or str(self._known.value or "" if self._known else "")
        )

    def _create(self, *, by: Identity) -> Project:
        return self._visit.platform.projects.create(
            str(self._name.value).strip(),
            classes=self._classes.read(),
            kind=self._classes.kind,
            settings=self._wishes.read(),
            by=by,
        )

    async def _bring_or_undo(self, project: Project) -> None:
        try:
            await self._visit.ask(self._bring, project)  # asked anew: its maker is a member of it only now
        except SeedbedError:  # so that the same name can be used once the mistake is mended
            await self._visit.ask(self._visit.platform.projects.delete, project.id)
            raise

    def _bring(self, project: Project, *, by: Identity) -> None:
        platform = self._visit.platform
        if self._upload:
            source = upload_path(platform.settings, self._upload.upload)
        elif self._path and self._path.value:
            source = expanded(Path(str(self._path.value).strip()))
        else:
            platform.projects.set_data(project.id, str(self._known.value), by=by)
            return
        platform.data.add(source, name=project.name, project=project.id, by=by)

    def _wrong_no_more(self) -> None:
        """What was wrong may be mended by now: nobody is told of a mistake that they have corrected."""
        self._wrong.clear()
