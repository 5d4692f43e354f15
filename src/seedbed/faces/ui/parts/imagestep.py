"""The images of a project: whether they are in, what is odd about them, and a place to bring more."""

from collections.abc import Mapping, Sequence
from typing import Any

from nicegui import ui
from nicegui.element import Element

from seedbed.assets.access.roles import Identity, Role
from seedbed.faces.api.paths import upload_path
from seedbed.faces.ui import words as say
from seedbed.faces.ui.elements import Progress, box, link, markup, path, words
from seedbed.faces.ui.parts import thumbs
from seedbed.faces.ui.parts.dropzone import IMAGES, Uploaded, dropzone
from seedbed.faces.ui.parts.step import Step, When
from seedbed.faces.ui.site import Visit
from seedbed.faces.ui.telling import telling
from seedbed.faces.ui.way import grouping_in_words, images_in_words
from seedbed.flows.images import SEVERAL
from seedbed.flows.usecases.ways import Way

_SHELF, _OFFENDERS = 12, 24


class ImageStep:
    """The first step of the way."""

    def __init__(self, visit: Visit, project: str) -> None:
        self._visit = visit
        self._project = project
        self._step = Step("Images", "images")
        self._bar: Progress | None = None
        self._groups: Progress | None = None

    async def show(self, now: Way) -> None:
        """Bring it up to date; bars move in place, so that an upload on its way is not drawn over."""
        coming = now.coming is not None and not now.coming.state.ended
        when: When = "done" if now.data is not None and not now.coming else "now"
        known = (now.data.uuid if now.data else "", now.coming.id if now.coming else "", coming)
        await self._step.show(when, images_in_words(now), known, lambda: self._draw(now, coming=coming))
        if self._bar and now.coming:
            self._bar.move(say.share_of(now.coming))
        if self._groups:
            said, going = grouping_in_words(now), now.alike.stage in ("waiting", "running")
            self._said.set_text(said)
            self._said.set_visibility(bool(said))
            self._groups.element.set_visibility(going)
            if going:
                self._groups.move(now.alike.done or None)

    async def _draw(self, now: Way, *, coming: bool) -> None:
        self._bar = Progress(None, "Checking the images") if coming else None
        self._groups = None
        may_add = self._visit.by.may(Role.TRAINER, self._project) and not coming
        if now.data is None:
            if may_add:
                self._more("Drag a folder of images here, or an archive.")
            return
        _shelf(now.data.uuid, now.images)
        with box(classes="row"):
            link("All images", path("data", now.data.uuid))
        self._said = words("", "p", "soft", id="grouping")
        self._groups = Progress(None, "Putting alike images together")
        found = (await self._visit.ask(self._visit.platform.data.show, now.data.uuid))["findings"]
        with _beside(found, folded=bool(now.labels), may_add=may_add):
            await self._findings(now.data.uuid, found)
            if may_add:
                self._more("Drag more images here to add them.").classes("small")

    async def _findings(self, uuid: str, found: Sequence[Mapping[str, Any]]) -> None:
        """Each finding in words; behind a click the images that it is about."""
        if not found:
            return
        files = {str(file) for one in found for group in one.get("groups", ()) for file in group}
        rows = await self._visit.ask(self._visit.platform.data.rows, uuid, files)
        with box(classes="findings"):
            for one in found:
                with box("details", str(one["severity"])):
                    words(one["sentence"], "summary")
                    _offenders(uuid, one, rows)

    def _more(self, text: str) -> Element:
        return dropzone(text, self._heard, accept=IMAGES, project=self._project, id="more-images")

    async def _heard(self, arrived: Uploaded) -> None:
        with telling():
            await self._visit.ask(self._add, arrived)

    def _add(self, arrived: Uploaded, *, by: Identity) -> None:
        platform = self._visit.platform
        project = platform.projects.get(self._project, by=by)
        source = upload_path(platform.settings, arrived.upload)
        platform.data.add(source, name=project.name, project=project.id, to=project.data, by=by)


def _beside(found: Sequence[object], *, folded: bool, may_add: bool) -> Element:
    """The place of what matters while the images are new; who opens the page once there are labels finds it behind a
    click. On a page that is open already it stays as it is: somebody may be reading there, or dropping images.
    """
    look = f"{say.plural(len(found), 'thing')} to look at" if found else ""
    said = " and ".join(part for part in (look, "more images" if may_add else "") if part)
    if not folded or not said:
        return box(classes="stack")
    with box("details", "fold"):
        words(said[0].upper() + said[1:], "summary")
        return box(classes="stack")


def _shelf(uuid: str, images: int) -> None:
    stride = max(images // _SHELF, 1)
    shown = "".join(
        f'<img src="{markup(thumbs.address(uuid, index, 128))}" alt="" loading="lazy">'
        for index in range(0, images, stride)[:_SHELF]
    )
    ui.html(shown, sanitize=True).classes("shelf")


def _offenders(uuid: str, finding: Mapping[str, Any], rows: Mapping[str, int]) -> None:
    files = [str(file) for group in finding.get("groups", ()) for file in group]
    kept = [file for file in files if rows.get(file, SEVERAL) != SEVERAL]
    if kept:
        thumbs.grid([thumbs.Thumb(thumbs.address(uuid, rows[file]), file) for file in kept[:_OFFENDERS]])
    if len(kept) > _OFFENDERS:
        words(f"and {len(kept) - _OFFENDERS:,} more.", "p", "soft small")
    gone = [file for file in files if file not in rows]
    if gone:
        more = f" and {len(gone) - 12:,} more" if len(gone) > 12 else ""
        words(f"Left out: {', '.join(gone[:12])}{more}.", "p", "soft small wrap")
