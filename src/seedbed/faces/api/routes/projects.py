"""/projects: classes, labels, members."""

from typing import Annotated

from fastapi import Path, Query

from seedbed.assets.projects.labels import LabelEvent
from seedbed.faces.api.access import Here, Labeller, Operator, Trainer, Viewer
from seedbed.faces.api.requests import DataOfProject, LabelsAsked, MemberAsked, NameAsked, ProjectAsked
from seedbed.faces.api.routing import router
from seedbed.faces.api.views import BundleView, ClassView, CountView, LabelView, MemberView, ProjectView

projects = router("projects")
ProjectRef = Annotated[str, Path(description="The project's id or name.", max_length=500)]
ClassName = Annotated[str, Path(max_length=200)]
UserRef = Annotated[str, Path(max_length=200)]


@projects.get("")
def find(here: Here, by: Viewer) -> list[ProjectView]:
    """The projects that you are a member of; operators see all."""
    return [ProjectView.of(project) for project in here.projects.list(by=by)]


@projects.post("", status_code=201)
def create(asked: ProjectAsked, here: Here, by: Trainer) -> ProjectView:
    """A new project."""
    return ProjectView.of(here.projects.create(asked.name, classes=asked.classes, by=by))


@projects.get("/{ref}")
def show(ref: ProjectRef, here: Here, by: Viewer) -> ProjectView:
    """One project."""
    return ProjectView.of(here.projects.get(ref, by=by))


@projects.patch("/{ref}")
def rename(ref: ProjectRef, asked: NameAsked, here: Here, by: Trainer) -> ProjectView:
    """Another name; the id stays."""
    return ProjectView.of(here.projects.rename(ref, asked.name, by=by))


@projects.delete("/{ref}", status_code=204)
def delete(ref: ProjectRef, here: Here, by: Operator) -> None:
    """The project and its labels go; its bundles stay."""
    here.projects.delete(ref, by=by)


@projects.put("/{ref}/data")
def set_data(ref: ProjectRef, asked: DataOfProject, here: Here, by: Trainer) -> ProjectView:
    """Which data set the project is about."""
    return ProjectView.of(here.projects.set_data(ref, asked.bundle, by=by))


@projects.get("/{ref}/classes")
def classes(ref: ProjectRef, here: Here, by: Viewer) -> list[ClassView]:
    """The project's classes in order."""
    return [ClassView.of(one) for one in here.projects.classes(ref, by=by)]


@projects.post("/{ref}/classes", status_code=201)
def add_class(ref: ProjectRef, asked: NameAsked, here: Here, by: Trainer) -> ClassView:
    """One more class."""
    return ClassView.of(here.projects.add_class(ref, asked.name, by=by))


@projects.patch("/{ref}/classes/{name}", status_code=204)
def rename_class(ref: ProjectRef, name: ClassName, asked: NameAsked, here: Here, by: Trainer) -> None:
    """Another name for a class and its labels."""
    here.projects.rename_class(ref, name, asked.name, by=by)


@projects.delete("/{ref}/classes/{name}", status_code=204)
def remove_class(
    ref: ProjectRef,
    name: ClassName,
    here: Here,
    by: Trainer,
    with_labels: Annotated[bool, Query(description="Also when images are labelled with it.")] = False,
) -> None:
    """Take a class away."""
    here.projects.remove_class(ref, name, with_labels=with_labels, by=by)


@projects.get("/{ref}/labels")
def labels(ref: ProjectRef, here: Here, by: Viewer) -> dict[str, LabelView]:
    """Image to what counts of it."""
    return {image: LabelView.of(label) for image, label in here.projects.labels(ref, by=by).items()}


@projects.post("/{ref}/labels", status_code=201)
def add_labels(ref: ProjectRef, asked: LabelsAsked, here: Here, by: Labeller) -> CountView:
    """Append label events; on disk when this answers."""
    events = [LabelEvent(one.id, one.image, one.label, by.name, one.source) for one in asked.labels]
    return CountView(count=here.projects.add_labels(ref, events, by=by))


@projects.get("/{ref}/labels/history")
def history(ref: ProjectRef, image: Annotated[str, Query(max_length=1000)], here: Here, by: Viewer) -> list[LabelView]:
    """Everything that was ever said of one image."""
    return [LabelView.of(event) for event in here.projects.history(ref, image, by=by)]


@projects.post("/{ref}/snapshot", status_code=201)
def snapshot(ref: ProjectRef, here: Here, by: Labeller) -> BundleView:
    """The labels as they are now, as a labels bundle."""
    return BundleView.of(here.projects.snapshot_labels(ref, by=by))


@projects.get("/{ref}/members")
def members(ref: ProjectRef, here: Here, by: Viewer) -> list[MemberView]:
    """Who is in the project, with which role."""
    return [MemberView.of(member) for member in here.users.members(ref, by=by)]


@projects.put("/{ref}/members/{user}", status_code=204)
def add_member(ref: ProjectRef, user: UserRef, asked: MemberAsked, here: Here, by: Operator) -> None:
    """Let somebody in, or give them another role."""
    here.users.add_member(ref, user, asked.role, by=by)


@projects.delete("/{ref}/members/{user}", status_code=204)
def remove_member(ref: ProjectRef, user: UserRef, here: Here, by: Operator) -> None:
    """Out again."""
    here.users.remove_member(ref, user, by=by)
