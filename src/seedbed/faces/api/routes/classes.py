"""/projects/{ref}/classes: the answers that a label can be."""

from typing import Annotated

from fastapi import Path, Query

from seedbed.faces.api.access import Here, Trainer, Viewer
from seedbed.faces.api.project_requests import ClassAsked, ClassChange, MergeAsked, OrderAsked
from seedbed.faces.api.project_views import ClassView, CountView
from seedbed.faces.api.routes.projects import ProjectRef
from seedbed.faces.api.routing import router

classes = router("projects")
ClassName = Annotated[str, Path(max_length=200)]  # it may hold a slash, so it is matched as a path


@classes.get("/{ref}/classes", name="classes")
def find(ref: ProjectRef, here: Here, by: Viewer) -> list[ClassView]:
    """The project's classes in order."""
    return [ClassView.of(one) for one in here.projects.classes(ref, by=by)]


@classes.post("/{ref}/classes", status_code=201)
def add_class(ref: ProjectRef, asked: ClassAsked, here: Here, by: Trainer) -> ClassView:
    """One more class."""
    return ClassView.of(here.projects.add_class(ref, asked.new(), by=by))


@classes.put("/{ref}/classes")
def order_classes(ref: ProjectRef, asked: OrderAsked, here: Here, by: Trainer) -> list[ClassView]:
    """The classes in another order."""
    return [ClassView.of(one) for one in here.projects.order_classes(ref, asked.order, by=by)]


@classes.patch("/{ref}/classes/{name:path}")
def change_class(ref: ProjectRef, name: ClassName, asked: ClassChange, here: Here, by: Trainer) -> ClassView:
    """Another name for a class and its labels, another colour, key or value."""
    return ClassView.of(here.projects.change_class(ref, name, asked.model_dump(exclude_unset=True), by=by))


@classes.post("/{ref}/classes/{name:path}/merge")
def merge_class(ref: ProjectRef, name: ClassName, asked: MergeAsked, here: Here, by: Trainer) -> CountView:
    """Make two classes one: this one goes, its labels are the other's. How many images that concerns."""
    return CountView(count=here.projects.merge_class(ref, name, asked.into, by=by))


@classes.delete("/{ref}/classes/{name:path}", status_code=204)
def remove_class(
    ref: ProjectRef,
    name: ClassName,
    here: Here,
    by: Trainer,
    with_labels: Annotated[bool, Query(description="Also when images are labelled with it.")] = False,
) -> None:
    """Take a class away."""
    here.projects.remove_class(ref, name, with_labels=with_labels, by=by)
