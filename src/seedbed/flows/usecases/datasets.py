"""Data sets as people use them: bring images in, look at them."""

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from seedbed.assets.access.roles import Identity, Role
from seedbed.assets.projects.projects import Projects as KeptProjects
from seedbed.assets.store.bundle import Bundle
from seedbed.assets.store.store import Store
from seedbed.base.errors import InvalidInput, NotFound
from seedbed.base.files import expanded
from seedbed.base.ids import new_id
from seedbed.base.names import in_a_name
from seedbed.flows.facts import fact_of, records_of
from seedbed.flows.gallery import Galleries
from seedbed.flows.images import images_in
from seedbed.flows.kinds.data import DataSet
from seedbed.flows.usecases.bundles import Bundles
from seedbed.flows.usecases.jobs import Jobs
from seedbed.methods.learn.settings import TrainSettings
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.spec import JobClass, JobSpec


class DataSets:
    """What people do with data sets."""

    def __init__(
        self, bundles: Bundles, jobs: Jobs, store: Store, projects: KeptProjects, galleries: Galleries
    ) -> None:
        self._bundles = bundles
        self._jobs = jobs
        self._store = store
        self._projects = projects
        self._galleries = galleries

    def upload_folder(self, *, project: str = "", by: Identity) -> Path:
        """A fresh folder `uploads/<id>` to receive an upload; `add` it, and it goes once it is ingested or refused."""
        by.require(Role.LABELLER, self._projects.get(project).id if project else "")
        folder = self._store.home / "uploads" / new_id()
        folder.mkdir(parents=True)
        return folder

    def add(
        self,
        source: Path,
        *,
        name: str = "",
        project: str = "",
        to: str = "",
        size: int = TrainSettings().size,
        by: Identity,
    ) -> Job:
        """Start an ingest job over a folder, an archive or a CSV manifest; `to` adds to an existing data set."""
        earlier = self._open(to, by) if to else None
        if not source.exists():
            raise InvalidInput(f"There is nothing at {source}.", hint="Name a folder, an archive or a CSV manifest.")
        called = name or (earlier.name if earlier else in_a_name(source.stem))
        spec = JobSpec(
            step="ingest",
            name=f"{called}.ingest",
            params={"source": str(expanded(source).absolute()), "size": size},
            inputs={"data": earlier.uuid} if earlier else {},
            cls=JobClass.TE,
            project=project,
        )
        return self._jobs.submit(spec, by=by)

    def list(self, *, project: str | None = None, limit: int = 100, offset: int = 0, by: Identity) -> "list[Bundle]":
        """The latest version of every data set."""
        return self._bundles.find(kind=DataSet.kind, project=project, limit=limit, offset=offset, by=by)

    def show(self, ref: str, *, by: Identity) -> dict[str, Any]:
        """Summary: counts, classes, statistics, findings."""
        bundle = self._open(ref, by)
        statistics = fact_of(self._store, bundle, "statistics.json")
        return {
            "uuid": bundle.uuid,
            "name": bundle.name,
            "project": bundle.project,
            "created": bundle.created,
            "size": bundle.size,
            "images": statistics["images"],
            "unlabelled": statistics["unlabelled"],
            "classes": statistics["classes"],
            "statistics": statistics,
            "findings": fact_of(self._store, bundle, "findings.json"),
        }

    def records(self, ref: str, *, offset: int = 0, limit: int = 100, by: Identity) -> Sequence[dict[str, Any]]:
        """The images, one record each, with their number as `index`."""
        records = records_of(self._store, self._open(ref, by))
        page = enumerate(records[offset : offset + limit], offset)
        return [{"index": index, **record.to_json()} for index, record in page]

    def rows(self, ref: str, names: Iterable[str], *, by: Identity) -> Mapping[str, int]:
        """The number of each image that is here by its id or a file's name; SEVERAL (-1): the name is not clear."""
        images = images_in(self._store, self._open(ref, by))
        return {name: row for name in names if (row := images.row(name)) is not None}

    def thumbnail(self, ref: str, index: int, *, size: int = 128, by: Identity) -> bytes:
        """One image as a small JPEG, in its own proportions."""
        bundle = self._open(ref, by)
        if not 16 <= size <= 1024:
            raise InvalidInput(f"A thumbnail has 16 to 1024 pixels on a side; given: {size}.")
        gallery = self._galleries.of(bundle)
        if not 0 <= index < len(gallery):
            raise NotFound(f"'{bundle.name}' has {len(gallery)} images; there is no number {index}.")
        return gallery.thumbnail(index, size)

    def _open(self, ref: str, by: Identity) -> Bundle:
        bundle = self._bundles.show(ref, by=by)
        if bundle.kind != DataSet.kind:
            raise InvalidInput(f"'{ref}' is of kind '{bundle.kind}', not a data set.", hint="See: seedbed data list.")
        return bundle
