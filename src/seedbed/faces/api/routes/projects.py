"""/projects: use cases of domain experts, and who is in them; classes and labels have modules of their own."""

from typing import Annotated

from fastapi import Path

from seedbed.assets.projects.classes import Kind, percent_bins
from seedbed.faces.api.access import Here, Operator, Trainer, Viewer
from seedbed.faces.api.project_requests import ProjectAsked, ProjectChange
from seedbed.faces.api.project_views import ProjectView
from seedbed.faces.api.requests import DataOfProject, MemberAsked
from seedbed.faces.api.routing import router
from seedbed.faces.api.views import MemberView

projects = router("projects")
ProjectRef = Annotated[str, Path(description="The project's id or name.", max_length=500)]
UserRef = Annotated[str, Path(max_length=200)]


@projects.get("")
def find(here: Here, by: Viewer) -> list[ProjectView]:
    """The projects that you are a member of; operators see all."""
    return [ProjectView.of(project) for project in here.projects.list(by=by)]


@projects.post("", status_code=201)
def create(asked: ProjectAsked, here: Here, by: Trainer) -> ProjectView:
    """A new project."""
    classes = [one if isinstance(one, str) else one.new() for one in asked.classes]
    bins = percent_bins(asked.bins) if asked.bins else []
    kind = Kind.BINS if bins else asked.kind
    made = here.projects.create(asked.name, classes=[*bins, *classes], kind=kind, settings=asked.settings, by=by)
    return ProjectView.of(made)


@projects.get("/{ref}")
def show(ref: ProjectRef, here: Here, by: Viewer) -> ProjectView:
    """One project."""
    return ProjectView.of(here.projects.get(ref, by=by))


@projects.patch("/{ref}")
def change(ref: ProjectRef, asked: ProjectChange, here: Here, by: Trainer) -> ProjectView:
    """Another name (the id stays), kind or settings."""
    project = here.projects.get(ref, by=by)
    if asked.kind is not None:
        project = here.projects.set_kind(project.id, asked.kind, by=by)
    if asked.settings:
        project = here.projects.set_settings(project.id, asked.settings, by=by)
    if asked.name is not None:
        project = here.projects.rename(project.id, asked.name, by=by)
    return ProjectView.of(project)


@projects.delete("/{ref}", status_code=204)
def delete(ref: ProjectRef, here: Here, by: Operator) -> None:
    """The project and its labels go; its bundles stay, for operators of the service.

    Refused while a job of the project has not ended.
    """
    here.projects.delete(ref, by=by)


@projects.put("/{ref}/data")
def set_data(ref: ProjectRef, asked: DataOfProject, here: Here, by: Trainer) -> ProjectView:
    """Which data set the project is about."""
    return ProjectView.of(here.projects.set_data(ref, asked.bundle, by=by))


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
