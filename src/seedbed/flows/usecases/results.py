"""What came of a project's training: the newest model that was tested, and what it says of every image."""

import csv
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from seedbed.assets.access.roles import Identity
from seedbed.assets.store.bundle import Bundle
from seedbed.assets.store.store import Store
from seedbed.base.errors import NotFound
from seedbed.flows.facts import data_behind, records_of
from seedbed.flows.kinds.data import by_id
from seedbed.flows.kinds.labels import read_labels
from seedbed.flows.kinds.models import Download, Model, Predictions, Report
from seedbed.flows.usecases.projects import Projects

_LOOKED_AT = 3  # of the newest models of a project: the very newest may not be tested yet


@dataclass(frozen=True)
class Result:
    """The newest model of a project with what was made of it; what is not there yet is None."""

    model: Bundle
    report: Bundle | None
    predictions: Bundle | None
    download: Bundle | None
    data: str  # uuid of the data set that it learnt from; '': gone

    @property
    def right(self) -> float | None:
        """The share of its test images that it names rightly; None: it was not tested yet."""
        found = self.report.arrays.get("accuracy") if self.report else None
        return float(str(found.items[0])) if found and found.items else None


@dataclass(frozen=True)
class Called:
    """What the model says of one image; `true` is what it is, where it was put aside for the test."""

    index: int
    image: str
    file: str
    called: str
    sure: float
    true: str = ""


class Results:
    """What people see of a training's results."""

    def __init__(self, projects: Projects, store: Store) -> None:
        self._projects = projects
        self._store = store

    def of(self, ref: str, *, by: Identity) -> Result | None:
        """The newest model that was tested, else the newest; None: there is none yet."""
        project = self._projects.get(ref, by=by).id
        models = self._store.find(kind=Model.kind, project=project, all_versions=True, limit=_LOOKED_AT)
        made = {model.uuid: self._made_of(model) for model in models}
        tested = [model for model in models if Report.kind in made[model.uuid]]
        if not models:
            return None
        model = (tested or models)[0]
        found = made[model.uuid]
        return Result(
            model,
            found.get(Report.kind),
            found.get(Predictions.kind),
            found.get(Download.kind),
            data_behind(self._store, model.uuid),
        )

    def called(self, result: Result, *, by: Identity) -> Sequence[Called]:
        """What the model says of every image of its data set, in their order."""
        self._projects.get(result.model.project, by=by)
        if result.predictions is None or not result.data:
            return ()
        (link,) = result.predictions.arrays["predictions"].files
        test = dict(result.report.lineage.inputs).get("test", "") if result.report else ""
        return _called(self._store.path_of(link.digest), self._test(test), self._store, result.data)

    def _test(self, uuid: str) -> Path | None:
        try:
            (link,) = self._store.get(uuid).arrays["labels"].files if uuid else (None,)
        except NotFound:
            return None
        return self._store.path_of(link.digest) if link else None

    def _made_of(self, model: Bundle) -> dict[str, Bundle]:
        """By kind, the newest."""
        nodes = self._store.lineage(model.uuid, depth=1, direction="down").nodes.values()
        found = [self._store.get(node.uuid) for node in nodes if not node.gone and node.uuid != model.uuid]
        return {bundle.kind: bundle for bundle in sorted(found, key=lambda one: one.created)}


def confused(called: Iterable[Called], true: str, said: str) -> list[Called]:
    """The test images of one class that were called another (or rightly the same), the surest first."""
    return sorted((one for one in called if one.true == true and one.called == said), key=lambda one: -one.sure)


def least_certain(called: Iterable[Called], labelled: Iterable[str], most: int) -> list[Called]:
    """Images without a label that the model is least sure of."""
    known = set(labelled)
    unknown = [one for one in called if one.image not in known and one.file not in known]
    return sorted(unknown, key=lambda one: (one.sure, one.index))[:most]


@lru_cache(maxsize=4)  # files of the store never change, and a page asks several times
def _called(predictions: Path, test: Path | None, store: Store, data: str) -> tuple[Called, ...]:
    records = records_of(store, store.get(data))
    truth = by_id(records, read_labels(test)) if test else {}
    with predictions.open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    return tuple(
        Called(index, record.id, record.file, row["class"], float(row["confidence"]), truth.get(record.id, ""))
        for index, (record, row) in enumerate(zip(records, rows, strict=False))
    )
