"""What a project's models bring to its labelling: the answers to its images, and the model to ask of others."""

import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from seedbed.assets.projects.projects import Project
from seedbed.assets.projects.projects import Projects as KeptProjects
from seedbed.assets.store.bundle import Bundle
from seedbed.assets.store.store import Store
from seedbed.base.errors import NotFound
from seedbed.flows.kinds.labels import Labels
from seedbed.flows.kinds.models import (
    ANSWERED_FILE,
    ANSWERS,
    ANSWERS_FILE,
    FACTS_FILE,
    ONNX_FILE,
    Download,
    Model,
    Predictions,
)
from seedbed.flows.standing import Standing

_LOOKED_AT = 3  # of the newest models of a project: the very newest may not have answered yet
_FEWEST = 2  # classes that a model must tell apart
_FRESH = 2.0  # seconds after which it is looked again for answers: people who label ask often
_KEPT = 64  # projects


class Learnt:
    """Finds it in the store. Safe to use from any thread."""

    def __init__(self, store: Store, projects: KeptProjects) -> None:
        self._store = store
        self._projects = projects
        self._lock = threading.Lock()
        self._found: OrderedDict[str, tuple[float, Bundle | None]] = OrderedDict()

    def answers(self, project: Project, standing: Standing) -> Mapping[str, Any] | None:
        """Where the newest answers lie, which images they are of, and the place of each of the model's classes.

        A class that was renamed or merged since is the one that it has become; -1: it is gone. None: there are no
        answers, or too few of their classes are left.
        """
        found = self._newest_answers(project.id)
        if found is None:
            return None
        names = [str(name) for name in found.arrays["classes"].items]
        today = {one.name: place for place, one in enumerate(standing.classes)}
        named = self._projects.names_now(project.id, names, _asked_at(self._store, found.uuid))
        places = [today.get(name, -1) for name in named]
        if len({*places} - {-1}) < _FEWEST:
            return None
        files = self._files(found, ANSWERS)
        return {"likely": files[ANSWERS_FILE], "images": files[ANSWERED_FILE], "places": places}

    def newest(self, project: Project) -> Mapping[str, str] | None:
        """Where the newest model to take away lies; None: there is none yet, or it is not written as ONNX."""
        found = self._store.find(kind=Download.kind, project=project.id, limit=1)
        if not found:
            return None
        files = self._files(found[0], "files")
        if ONNX_FILE not in files:
            return None
        return {"onnx": files[ONNX_FILE], "facts": files[FACTS_FILE]}

    def _files(self, bundle: Bundle, array: str) -> dict[str, str]:
        return {link.name: str(self._store.path_of(link.digest)) for link in bundle.arrays[array].files}

    def _newest_answers(self, project: str) -> Bundle | None:
        """As of a moment ago."""
        now = time.monotonic()
        with self._lock:
            at, found = self._found.get(project, (-_FRESH, None))
        if now - at < _FRESH:
            return found
        found = _newest_answers(self._store, project)
        with self._lock:
            self._found[project] = (now, found)
            self._found.move_to_end(project)
            while len(self._found) > _KEPT:
                self._found.popitem(last=False)
        return found


def _newest_answers(store: Store, project: str) -> Bundle | None:
    for model in store.find(kind=Model.kind, project=project, all_versions=True, limit=_LOOKED_AT):
        nodes = store.lineage(model.uuid, depth=1, direction="down").nodes.values()
        made = [node for node in nodes if node.kind == Predictions.kind and not node.gone]
        for node in sorted(made, key=lambda node: -node.created):
            try:
                bundle = store.get(node.uuid)
            except NotFound:  # it was removed a moment ago
                continue
            if ANSWERS in bundle.arrays:  # those of earlier versions have none
                return bundle
    return None


@lru_cache(maxsize=64)  # what a bundle was made of never changes
def _asked_at(store: Store, uuid: str) -> float:
    """When the labels were kept that the model learnt from: its classes have the names of that time."""
    nodes = [node for node in store.lineage(uuid, depth=3).nodes.values() if not node.gone]
    kept = [node.created for node in nodes if node.kind == Labels.kind]
    return min(kept or [node.created for node in nodes if node.uuid == uuid])
