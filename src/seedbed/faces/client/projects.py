"""What can be asked of a server about projects: their classes, labels and members."""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, cast

from seedbed.base.ids import new_id
from seedbed.faces.client import results
from seedbed.faces.client.connection import part
from seedbed.faces.client.nouns import Noun

_MANY = 20_000  # labels in one request, which keeps all or none: what a server takes even with long names


class Projects(Noun):
    """/projects."""

    def list(self) -> "Sequence[results.Project]":
        """The projects that you are a member of."""
        return cast(Sequence[results.Project], self._to.get("/projects"))

    def create(self, name: str, *, classes: Sequence[str | results.ClassAsked] = (), **fields: Any) -> results.Project:
        """A new project; the fields are those of POST /projects: kind, bins, settings."""
        return cast(results.Project, self._to.post("/projects", {"name": name, "classes": list(classes), **fields}))

    def get(self, ref: str) -> results.Project:
        """One project."""
        return cast(results.Project, self._to.get(f"/projects/{part(ref)}"))

    def rename(self, ref: str, name: str) -> results.Project:
        """Another name."""
        return cast(results.Project, self._to.patch(f"/projects/{part(ref)}", {"name": name}))

    def change(self, ref: str, **fields: Any) -> results.Project:
        """Another name, kind or settings."""
        return cast(results.Project, self._to.patch(f"/projects/{part(ref)}", fields))

    def delete(self, ref: str) -> None:
        """The project and its labels go; refused while a job of it has not ended."""
        self._to.delete(f"/projects/{part(ref)}")

    def set_data(self, ref: str, bundle: str) -> results.Project:
        """Which data set the project is about."""
        return cast(results.Project, self._to.put(f"/projects/{part(ref)}/data", {"bundle": bundle}))

    def classes(self, ref: str) -> Sequence[results.Class]:
        """The classes in order."""
        return cast(Sequence[results.Class], self._to.get(f"/projects/{part(ref)}/classes"))

    def add_class(self, ref: str, name: str, **fields: Any) -> results.Class:
        """One more class; the fields are colour, key, value and other."""
        return cast(results.Class, self._to.post(f"/projects/{part(ref)}/classes", {"name": name, **fields}))

    def set_class(self, ref: str, name: str, **changes: Any) -> results.Class:
        """Another colour, key or value for a class."""
        return cast(results.Class, self._to.patch(f"/projects/{part(ref)}/classes/{part(name)}", changes))

    def order_classes(self, ref: str, names: Sequence[str]) -> Sequence[results.Class]:
        """The classes in another order."""
        return cast(Sequence[results.Class], self._to.put(f"/projects/{part(ref)}/classes", {"order": list(names)}))

    def merge_class(self, ref: str, name: str, into: str) -> int:
        """Make two classes one; how many images change their class."""
        return int(self._to.post(f"/projects/{part(ref)}/classes/{part(name)}/merge", {"into": into})["count"])

    def rename_class(self, ref: str, old: str, new: str) -> None:
        """Another name for a class and its labels."""
        self._to.patch(f"/projects/{part(ref)}/classes/{part(old)}", {"name": new})

    def remove_class(self, ref: str, name: str, *, with_labels: bool = False) -> None:
        """Take a class away."""
        query = "?with_labels=true" if with_labels else ""
        self._to.delete(f"/projects/{part(ref)}/classes/{part(name)}{query}")

    def labels(self, ref: str) -> dict[str, results.Label]:
        """Image to what counts of it."""
        return cast(dict[str, results.Label], self._to.get(f"/projects/{part(ref)}/labels"))

    def add_labels(self, ref: str, labels: Iterable[results.LabelAsked], *, data: str = "") -> int:
        """Append labels; each gets an id where it has none, so that a repeated call with the same ids counts once.

        A mistake in one of up to 20,000 labels keeps all of them out. `data`: the data set that an `index` counts in.
        """
        pieces = [{"id": new_id(), **label} for label in labels]
        path = f"/projects/{part(ref)}/labels"
        parts = [pieces[start : start + _MANY] for start in range(0, len(pieces), _MANY)]
        return sum(int(self._to.post(path, {"labels": piece, "data": data})["count"]) for piece in parts)

    def history(self, ref: str, image: str) -> Sequence[results.Label]:
        """Everything that was ever said of one image."""
        return cast(Sequence[results.Label], self._to.get(f"/projects/{part(ref)}/labels/history", image=image))

    def changes(self, ref: str, after: int = 0, *, data: str = "", limit: int = 10_000) -> results.Changes:
        """What was said after a number, and where to go on from."""
        path = f"/projects/{part(ref)}/labels/changes"
        return cast(results.Changes, self._to.get(path, after=after, data=data, limit=limit))

    def disagreements(self, ref: str) -> Sequence[results.Disagreement]:
        """Images on which people's last labels differ."""
        return cast(Sequence[results.Disagreement], self._to.get(f"/projects/{part(ref)}/disagreements"))

    def quality(self, ref: str) -> results.Quality:
        """How far people agree, and how each does on images whose golden label is known."""
        return cast(results.Quality, self._to.get(f"/projects/{part(ref)}/quality"))

    def import_labels(self, ref: str, *, path: str = "", upload: str = "", **fields: Any) -> results.Imported:
        """Take labels from a path of the server or an upload: format, add_classes, skip_missing, golden."""
        body = {"path": path, "upload": upload, **fields}
        return cast(results.Imported, self._to.send(f"/projects/{part(ref)}/labels/import", json=body))

    def export_labels(self, ref: str, target: Path, *, format: str = "csv", images: bool | None = None) -> Path:
        """Write the labels as a file: CSV, JSON, or a zip archive where the images go along."""
        more = "" if images is None else f"&images={str(images).lower()}"
        with (
            self._to.stream(f"/projects/{part(ref)}/labels/export?format={part(format)}{more}") as response,
            target.open("wb") as file,
        ):
            for piece in response.iter_bytes():
                file.write(piece)
        return target

    def snapshot(self, ref: str) -> results.Bundle:
        """The labels as they are now, as a bundle."""
        return cast(results.Bundle, self._to.post(f"/projects/{part(ref)}/snapshot"))

    def members(self, ref: str) -> Sequence[results.Member]:
        """Who is in the project."""
        return cast(Sequence[results.Member], self._to.get(f"/projects/{part(ref)}/members"))

    def add_member(self, ref: str, user: str, role: str) -> None:
        """Let somebody in."""
        self._to.put(f"/projects/{part(ref)}/members/{part(user)}", {"role": role})

    def remove_member(self, ref: str, user: str) -> None:
        """Out again."""
        self._to.delete(f"/projects/{part(ref)}/members/{part(user)}")
