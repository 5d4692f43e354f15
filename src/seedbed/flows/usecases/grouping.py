"""Alike images of a project: looked at and grouped in the background, and what there is of it.

Where a project wants proposals but no groups, its images are looked at all the same.
"""

import uuid
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Literal

from seedbed.assets.access.audit import Audit
from seedbed.assets.access.roles import Identity, Role
from seedbed.assets.projects.projects import Project
from seedbed.assets.projects.projects import Projects as KeptProjects
from seedbed.assets.projects.settings import ProjectSettings
from seedbed.assets.store.bundle import Bundle
from seedbed.assets.store.events import Events
from seedbed.assets.store.store import Store
from seedbed.base.errors import Conflict, InvalidInput, NotFound
from seedbed.base.ids import new_id
from seedbed.base.names import in_a_name
from seedbed.base.resources import UNSET
from seedbed.flows.gallery import Galleries
from seedbed.flows.kinds.embeddings import GROUPS_FILE, IDS_FILE, ROWS_FILE, TUNED_FILE, TYPICALITY_FILE
from seedbed.flows.steps.embed import SIZE
from seedbed.flows.training import with_a_gpu
from seedbed.flows.usecases.followers import Acting, ProjectNews
from seedbed.flows.usecases.jobs import Jobs
from seedbed.runtime.executors.protocol import Node
from seedbed.runtime.jobs.queue import Queue
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.spec import JobClass, JobSpec, output_of_job
from seedbed.runtime.jobs.states import State

Stage = Literal["off", "none", "waiting", "running", "ready", "failed"]
_PARTS = {"decode": 0.15, "embed": 0.8, "group": 0.05}  # of the time that it takes
_PER_CLASS = 4  # groups: the images of one class do not all look alike
_FEWEST = 10  # images per group, roughly
_FLOWS = uuid.UUID("6f0f5f0c-6f5e-5a4e-9a9e-5d1f0a3c7b21")  # names of flows and jobs derive from it
_CONSUMER = "grouping"
_GROUPED: Mapping[Stage, str] = {
    "none": "Alike images are not grouped yet.",
    "waiting": "Alike images will be grouped soon. You can label already.",
    "running": "Alike images are being found. You can label already.",
    "ready": "Alike images are grouped.",
    "failed": "Alike images could not be grouped.",
}
_LOOKED_AT: Mapping[Stage, str] = {  # where no groups are wanted
    "none": "The images were not looked at yet.",
    "waiting": "The images will be looked at soon, and proposals come then. You can label already.",
    "running": "The images are being looked at, and proposals come then. You can label already.",
    "ready": "Grouping alike images is switched off in this project.",
    "failed": "The images could not be looked at, so nothing can be proposed.",
    "off": "Grouping alike images and proposals are switched off in this project.",
}


@dataclass(frozen=True)
class Alike:
    """How far it is with a project's data set: `done` is a share; the files are those that never change.

    The stage is `off` where no groups are wanted, whether or not the images are looked at for proposals.
    """

    stage: Stage
    done: float = 0.0
    sentence: str = ""
    embeddings: Path | None = None
    images: Path | None = None  # the ids of their rows
    card: str = ""
    size: int = 0
    weights: Path | None = None  # where they are not the card's own
    groups: Path | None = None
    typicality: Path | None = None


class Groupings:
    """Finds what was made of a project's images, and has it made. Safe to use from any thread."""

    def __init__(
        self,
        store: Store,
        queue: Queue,
        jobs: Jobs,
        projects: KeptProjects,
        galleries: Galleries,
        audit: Audit,
        *,
        nodes: Callable[[], Sequence[Node]],
    ) -> None:
        self._store = store
        self._queue = queue
        self._jobs = jobs
        self._projects = projects
        self._galleries = galleries
        self._audit = audit
        self._nodes = nodes

    def of(self, project: Project) -> Alike:
        """How far it is."""
        found = self._worked(project)
        return found if project.settings.grouping else replace(found, stage="off")

    def ensure(self, project: Project, by: Identity | None) -> list[Job]:
        """Have it made where it is wanted and nobody began yet; what is begun twice at once is begun once."""
        if by is None or not by.may(Role.TRAINER, project.id) or not project.data:
            return []
        if self._worked(project).stage != "none":
            return []
        try:
            return self._begin(project, by, fresh=_steps(project.settings)[-1] in self._newest(project))
        except NotFound:  # the data set was removed
            return []

    def start(self, project: Project, *, by: Identity) -> list[Job]:
        """Have it made, once more if need be; refused while it is being made, and where no groups are wanted."""
        by.require(Role.TRAINER, project.id)
        if not project.settings.grouping:
            raise Conflict(
                f"Grouping alike images is switched off in '{project.name}'.",
                hint="Switch it on in the project's settings first: seedbed projects set --grouping.",
            )
        if not project.data:
            raise InvalidInput(f"'{project.name}' has no images yet.", hint="Bring them in first: seedbed data add.")
        if any(not job.state.ended for job in self._newest(project).values()):
            raise Conflict(f"The images of '{project.name}' are being grouped already.")
        return self._begin(project, by, fresh=True)

    # --- what there is --------------------------------------------------------------------------------------------

    def _worked(self, project: Project) -> Alike:
        """How far it is with what this project wants: with the groups, or only with looking at the images."""
        wants = project.settings
        words = _GROUPED if wants.grouping else _LOOKED_AT
        found = self._found(project)
        jobs = {} if _is_made(found, wants) else self._newest(project)
        if jobs and all(job.state is State.DONE for job in jobs.values()):
            self._galleries.forget(project.data)  # it was made a moment ago
            found = self._found(project)
        if _is_made(found, wants):
            return replace(found, stage="ready", done=1.0, sentence=words["ready"])
        if not _steps(wants):
            return replace(found, stage="off", sentence=words["off"])
        stage, reason = _standing(jobs) if _steps(wants)[-1] in jobs else ("none", "")
        return replace(found, stage=stage, done=_share(jobs), sentence=f"{words[stage]} {reason}".strip())

    def _found(self, project: Project) -> Alike:
        if not project.data:
            return Alike("none")
        try:
            made = self._galleries.made(project.data)
        except NotFound:  # the data set was removed
            return Alike("none")
        mine = [name for name in (*made.groups, *made.embeddings) if made.projects[name] in (project.id, "")]
        groups = self._bundle([name for name in mine if name in made.groups and project.settings.grouping])
        source = [value for name, value in groups.lineage.inputs if name == "embeddings"] if groups else []
        embeddings = self._bundle(source or [name for name in mine if name in made.embeddings])
        found = Alike("none")
        if embeddings is not None:
            facts = {name: embeddings.arrays[name].items[0] for name in ("card", "size")}
            path, images = self._file(embeddings, "embeddings", ROWS_FILE), self._file(embeddings, "images", IDS_FILE)
            card, size, weights = str(facts["card"]), int(str(facts["size"])), self._weights(embeddings)
            found = replace(found, embeddings=path, images=images, card=card, size=size, weights=weights)
        if embeddings is not None and groups is not None:
            place, typicality = (self._file(groups, "groups", name) for name in (GROUPS_FILE, TYPICALITY_FILE))
            found = replace(found, groups=place, typicality=typicality)
        return found

    def _weights(self, embeddings: Bundle) -> Path | None:
        tuned = self._bundle([value for name, value in embeddings.lineage.inputs if name == "weights"])
        return self._file(tuned, "weights", TUNED_FILE) if tuned else None

    def _bundle(self, uuids: Sequence[str]) -> Bundle | None:
        try:
            return self._store.get(uuids[0]) if uuids else None
        except NotFound:  # it was removed a moment ago
            return None

    def _file(self, bundle: Bundle, array: str, name: str) -> Path:
        (link,) = (link for link in bundle.arrays[array].files if link.name == name)
        return self._store.path_of(link.digest)

    # --- the jobs that make it ------------------------------------------------------------------------------------

    def _newest(self, project: Project) -> dict[str, Job]:
        """The jobs that it takes for this data set and project, by step; one that was run again stands for the old."""
        jobs = self._queue.list(flow=_named(project, "flow"), limit=1000) if project.data else []
        return {job.step: job for job in reversed(jobs) if job.step in _steps(project.settings)}

    def _begin(self, project: Project, by: Identity, *, fresh: bool) -> list[Job]:
        specs = self._jobs.check(self._specs(project), by=by)
        ids = {spec.name: new_id() if fresh else _named(project, spec.step) for spec in specs}
        wired = {ids[spec.name]: replace(spec, inputs=_wired(spec.inputs, ids)) for spec in specs}
        jobs = self._queue.submit_many(wired, flow=_named(project, "flow"))
        self._audit.record(by.name, "project.group", project.id, data={"data": project.data})
        return jobs

    def _specs(self, project: Project) -> list[JobSpec]:
        data = self._store.get(project.data)
        base = in_a_name(data.name)
        decoded = self._sharp_enough(project)
        gpu = with_a_gpu(None, self._nodes()) or UNSET
        job = partial(JobSpec, cls=JobClass.BE, project=project.id)
        reading = job("decode", name=f"{base}.decode", inputs={"data": data.uuid}, params={"size": SIZE})
        seen = {"decoded": decoded or f"job:{base}.decode/decoded", **self._earlier(project, data)}
        looking = job("embed", name=f"{base}.embed", inputs=seen, resources=gpu)
        alike = {"embeddings": f"job:{base}.embed/embeddings"}
        grouping = job("group", name=f"{base}.group", inputs=alike, params={"count": self._count(project)})
        wanted = _steps(project.settings)
        return [
            spec for spec in (reading, looking, grouping) if spec.step in wanted and not (decoded and spec is reading)
        ]

    def _earlier(self, project: Project, data: Bundle) -> dict[str, str]:
        """What was seen of the version that images were added to: those need not be looked at again."""
        before = [value for name, value in data.lineage.inputs if name == "data"]
        try:
            made = self._galleries.made(before[0]) if before else None
        except NotFound:
            made = None
        mine = [name for name in made.embeddings if made.projects[name] in (project.id, "")] if made else []
        plain = [name for name in mine if not self._is_tuned(name)]
        return {"earlier": plain[0]} if plain else {}

    def _is_tuned(self, embeddings: str) -> bool:
        return any(name == "weights" for name, _ in self._store.get(embeddings).lineage.inputs)

    def _sharp_enough(self, project: Project) -> str:
        """The smallest cache of the images that is no smaller than they are looked at; '': there is none."""
        made = self._galleries.made(project.data)
        sizes = {name: int(str(self._store.get(name).arrays["size"].items[0])) for name in made.decoded}
        mine = [name for name, size in sizes.items() if size >= SIZE and made.projects[name] in (project.id, "")]
        return min(mine, key=lambda name: sizes[name], default="")

    def _count(self, project: Project) -> int:
        """So many groups as the classes let expect; 0: it is estimated from the images."""
        classes = [one for one in self._projects.classes(project.id) if not one.other]
        images = len(self._galleries.of(self._store.get(project.data)))
        wanted = min(_PER_CLASS * len(classes), images // _FEWEST)
        return wanted if len(classes) >= 2 and wanted >= 2 else 0


class Grouper:
    """A follower of events: has the images of projects looked at that have new ones, as far as they want it."""

    def __init__(self, events: Events, projects: KeptProjects, groupings: Groupings, acting: Acting) -> None:
        self._news = ProjectNews(events, projects, _CONSUMER, ("project.",))
        self._groupings = groupings
        self._acting = acting

    def follow(self) -> int:
        """Look at every project of which there is news; how many groupings began."""
        return self._news.each(self._begin, refused="Alike images are not grouped")

    def _begin(self, project: Project) -> bool:
        return bool(self._groupings.ensure(project, self._acting(project)))


def _steps(wants: ProjectSettings) -> tuple[str, ...]:
    """What it takes, in order."""
    if wants.grouping:
        return tuple(_PARTS)
    return ("decode", "embed") if wants.proposals else ()


def _is_made(found: Alike, wants: ProjectSettings) -> bool:
    return (found.groups if wants.grouping else found.embeddings) is not None


def _named(project: Project, what: str) -> str:
    """A name that derives from the project and its data: who begins the same work twice names it alike."""
    return str(uuid.uuid5(_FLOWS, f"{project.id}/{project.data}/{what}"))


def _wired(inputs: Mapping[str, str], ids: Mapping[str, str]) -> dict[str, str]:
    made = {name: output_of_job(reference) for name, reference in inputs.items()}
    return {
        name: f"job:{ids[source[0]]}/{source[1]}" if (source := made[name]) and source[0] in ids else reference
        for name, reference in inputs.items()
    }


def _standing(jobs: Mapping[str, Job]) -> tuple[Stage, str]:
    """The stage, and where it failed the reason."""
    states = [job.state for job in jobs.values()]
    if bad := [job for job in jobs.values() if job.state in (State.FAILED, State.CANCELLED)]:
        return "failed", bad[0].reason
    if any(state.active for state in states) or (State.DONE in states and State.WAITING in states):
        return "running", ""
    if all(state is State.DONE for state in states):  # what they made is gone again
        return "none", ""
    return "waiting", ""


def _share(jobs: Mapping[str, Job]) -> float:
    whole = sum(_PARTS[step] for step in jobs)
    done = sum(_PARTS[step] * _done(job) for step, job in jobs.items())
    return round(done / whole, 4) if whole else 0.0


def _done(job: Job) -> float:
    if job.state is State.DONE:
        return 1.0
    return min(job.step_now / job.step_total, 1.0) if job.step_total else 0.0
