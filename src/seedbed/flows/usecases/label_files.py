"""Labels from files that other tools wrote, and into files that they read."""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from seedbed.assets.access.roles import Identity, Role
from seedbed.assets.projects.formats import FORMATS, format_of
from seedbed.assets.projects.formats.format import Entry, Given, Part, one_each
from seedbed.assets.projects.labels import Label, LabelEvent, Source
from seedbed.assets.projects.projects import Project
from seedbed.base.errors import Damaged, InvalidInput
from seedbed.base.ids import new_id
from seedbed.flows.golden import Golden
from seedbed.flows.images import SEVERAL, refuse_names
from seedbed.flows.usecases.labels import ProjectLabels
from seedbed.flows.zipping import zipped

FROM_DATA = "data"  # instead of a format: the classes that the images came with
_MOST_NEW_CLASSES = 1000
_MEDIA = {".csv": "text/csv", ".json": "application/json", ".zip": "application/zip"}


@dataclass(frozen=True)
class Imported:
    """What came of a file of labels: how many it has, how many of them are news, and which classes were made."""

    format: str
    read: int
    count: int
    classes_added: Sequence[str]
    skipped: int = 0  # labels of images that are not in the data set


@dataclass(frozen=True)
class Exported:
    """Labels as a file: its name, what it is, and its bytes piece by piece."""

    name: str
    media: str
    pieces: Iterator[bytes]


class LabelFiles(ProjectLabels):
    """What people do with files of labels."""

    def import_labels(
        self,
        ref: str,
        source: Path | None = None,
        *,
        format: str = "auto",
        add_classes: bool = True,
        skip_missing: bool = False,
        golden: bool = False,
        by: Identity,
    ) -> Imported:
        """Take labels from a file, folder or archive (or, with the format 'data', from the project's own images).

        All or none. Classes that the project lacks are made, or refuse all; so do labels of images that are not there,
        unless they are to be skipped. A label that counts already is no news: taking a file again adds nothing.
        `golden`: somebody is sure of these labels, so that others can be asked the same, to see how well they do.
        """
        project = self._require(ref, Role.TRAINER, by)
        if format == FROM_DATA:
            found, entries = FROM_DATA, self._entries_of_data(project)
        elif source is None:
            raise InvalidInput("There is no file to take labels from.", hint="Name one, or use the format 'data'.")
        else:
            found, entries = self._read(source, format)
        named, skipped = self._resolved(project, entries, skip=skip_missing)
        new = self._new_classes(project, named) if add_classes else []
        known = self._sure(project) if golden else self.labels(project.id, by=by)
        said = {image: one.label for image, one in known.items()}
        kind = Source.GOLDEN if golden else Source.IMPORT
        events = [
            LabelEvent(new_id(), one.image, one.label, by.name, kind)
            for one in named
            if said.get(one.image) != one.label
        ]
        count = self._keep(project, events, new_classes=new)
        told = {"format": found, "labels": count, "classes": new}
        self._audit.record(by.name, "project.import-labels", project.id, data=told)
        return Imported(found, len(entries), count, new, skipped)

    def export_labels(self, ref: str, *, format: str = "csv", images: bool | None = None, by: Identity) -> Exported:
        """The labels that count, as a format has them, with or without the images; None: as is usual there."""
        project = self._require(ref, Role.VIEWER, by)
        chosen = FORMATS.get(format)
        wanted = chosen.with_images if images is None else images
        if not wanted and not chosen.without_images:
            raise InvalidInput(
                f"The format '{format}' is the images in their places: without them there is nothing to write.",
                hint="Ask for it with images, or for another: csv, coco, label-studio.",
            )
        entries = self._entries(project, only_with_images=wanted, by=by)
        if not entries:
            raise InvalidInput(f"No image of '{project.name}' has a label yet.", hint="Label a few images first.")
        classes = [one.name for one in self._kept.classes(project.id)]
        parts = list(chosen.write(entries, classes, images=wanted))
        self._refuse_lost(parts)
        name = f"{_plain(project.name)}.{format}"
        if len(parts) == 1 and not parts[0].image:
            suffix = Path(parts[0].name).suffix
            return Exported(f"{name.removesuffix(suffix)}{suffix}", _MEDIA[suffix], iter([parts[0].content]))
        return Exported(f"{name}.zip", _MEDIA[".zip"], zipped(parts, self._store.path_of))

    def _sure(self, project: Project) -> Mapping[str, Label]:
        return Golden(self._kept.on_golden(project.id, self._same(project))).truth

    def _read(self, source: Path, format: str) -> tuple[str, list[Entry]]:
        scratch = self._store.home / "uploads" / new_id()
        try:
            given = Given.open(source, scratch)
            chosen = format_of(given, format)
            return chosen.name, chosen.read(given)
        except OSError as error:
            raise InvalidInput(f"'{source.name}' cannot be read: {error.strerror or error}.") from None
        finally:
            shutil.rmtree(scratch, ignore_errors=True)

    def _entries_of_data(self, project: Project) -> list[Entry]:
        images = self._images(project.data)
        rows = range(len(images.ids)) if images else ()
        records = [images.record(row) for row in rows] if images else []
        entries = [Entry(record.file, record.klass, record.id) for record in records if record.klass]
        if not entries:
            raise InvalidInput(
                f"The images of '{project.name}' came without classes.",
                hint="Folders named like the classes, or a column 'class' of a list, would give them.",
            )
        return entries

    def _resolved(self, project: Project, entries: Sequence[Entry], *, skip: bool) -> tuple[list[Entry], int]:
        """Entries with the images' ids, or names where the project has no images yet; how many were skipped."""
        images = self._images(project.data)
        if images is None:
            return one_each((Entry(one.file, one.label, one.image or one.file) for one in entries), "the labels"), 0
        rows = [images.find(one.file, one.image) for one in entries]
        missing = [one.file for one, row in zip(entries, rows, strict=True) if row is None]
        several = [one.file for one, row in zip(entries, rows, strict=True) if row == SEVERAL]
        name = self._store.get(project.data).name
        refuse_names([] if skip and len(missing) < len(entries) else missing, several, data=name, project=project.name)
        found = (
            Entry(one.file, one.label, images.ids[row])
            for one, row in zip(entries, rows, strict=True)
            if row is not None
        )
        return one_each(found, "the labels"), len(missing)

    def _new_classes(self, project: Project, entries: Sequence[Entry]) -> list[str]:
        there = {one.name for one in self._kept.classes(project.id)}
        new = sorted({one.label for one in entries} - there)
        if len(new) > _MOST_NEW_CLASSES:
            raise InvalidInput(
                f"The labels name {len(new):,} classes that '{project.name}' does not have, such as '{new[0][:80]}'.",
                hint=f"Is it the right column? Up to {_MOST_NEW_CLASSES:,} classes are made by themselves.",
            )
        return new

    def _entries(self, project: Project, *, only_with_images: bool, by: Identity) -> list[Entry]:
        images = self._images(project.data)
        found = []
        for name, one in sorted(self.labels(project.id, by=by).items()):
            row = images.row(name) if images else None
            if images and row is not None and row != SEVERAL:
                record = images.record(row)
                found.append(
                    Entry(
                        record.file,
                        one.label,
                        record.id,
                        record.split,
                        record.width,
                        record.height,
                        one.by,
                        one.at,
                    )
                )
            elif not only_with_images:
                found.append(Entry(name, one.label, by=one.by, at=one.at))
        return found

    def _refuse_lost(self, parts: Sequence[Part]) -> None:
        """Before the first byte goes out: later nobody could be told."""
        lost = [part.name for part in parts if part.image and not self._store.path_of(part.image).is_file()]
        if lost:
            raise Damaged(f"{len(lost)} images are lost, such as {lost[0]}.", hint="seedbed store verify")


def _plain(name: str) -> str:
    return "".join(letter if letter.isalnum() or letter in "-_" else "-" for letter in name).strip("-") or "labels"
