"""Where every image of a project stands: the label that counts, by row of its data set, kept up with the label events.

Reading a hundred thousand labels takes seconds, so it is done once; after that only what was said since is read.
"""

import threading
from collections import OrderedDict, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

from seedbed.assets.projects.classes import Class
from seedbed.assets.projects.labels import Changes, Mark
from seedbed.assets.projects.projects import Project
from seedbed.assets.projects.projects import Projects as KeptProjects
from seedbed.flows.gallery import Gallery

UNLABELLED, SKIPPED, UNSURE = -1, -2, -3
_MARKS = {Mark.NONE: UNLABELLED, Mark.SKIPPED: SKIPPED, Mark.UNSURE: UNSURE}
_KEPT = 32  # projects
_PAGE = 20_000  # events that are read at once


@dataclass(frozen=True)
class Standing:
    """What counts for each row: the place of its class in `classes`, or one of UNLABELLED, SKIPPED, UNSURE.

    `last` is the number of the newest label event that is in it.
    """

    classes: tuple[Class, ...]
    rows: NDArray[np.int32]
    last: int

    @property
    def labels(self) -> NDArray[np.int32]:
        """The same as methods have it: -1 wherever there is no label."""
        return np.maximum(self.rows, UNLABELLED)

    @property
    def counts(self) -> list[int]:
        """How many images each class has."""
        found = np.bincount(self.rows[self.rows >= 0], minlength=len(self.classes))
        return [int(count) for count in found]

    @property
    def labelled_classes(self) -> int:
        """How many classes have an image."""
        return sum(count > 0 for count in self.counts)

    def told(self, labels: Mapping[int, str]) -> "Standing":
        """The same where some rows have other labels, by the names of their classes; '': none."""
        rows = self.rows.copy()
        places = {one.name: place for place, one in enumerate(self.classes)}
        rows[list(labels)] = [places.get(label, UNLABELLED) for label in labels.values()]
        return replace(self, rows=rows)

    def place_of(self, name: str) -> int | None:
        """The place of a class; None: there is no such class."""
        return next((place for place, one in enumerate(self.classes) if one.name == name), None)


@dataclass
class _Kept:
    """Codes by row, in words of its own: classes may be put into another order at any time."""

    data: str
    codes: NDArray[np.int32]
    words: dict[str, int] = field(default_factory=dict)
    last: int = 0
    classes: int = 0  # the number of the newest change of a class


class Standings:
    """The standings of projects. Safe to use from any thread."""

    def __init__(self, projects: KeptProjects) -> None:
        self._projects = projects
        self._kept: OrderedDict[str, _Kept] = OrderedDict()
        self._turns: defaultdict[str, threading.Lock] = defaultdict(threading.Lock)
        self._lock = threading.Lock()

    def of(self, project: Project, gallery: Gallery) -> Standing:
        """Where the images of the project's data set, which is open in the gallery, stand now."""
        with self._lock:
            turn = self._turns[project.id]
        with turn:  # one after the other: what one reads is there for the next
            kept = self._followed(project, gallery)
            classes = self._projects.classes(project.id)
            return Standing(tuple(classes), _placed(kept, classes), kept.last)

    def _followed(self, project: Project, gallery: Gallery) -> _Kept:
        kept = self._kept.get(project.id)
        if kept is None or kept.data != project.data or len(kept.codes) != len(gallery):
            kept = _Kept(project.data, np.full(len(gallery), UNLABELLED, dtype=np.int32))
        while True:
            news = self._projects.changes(project.id, after=kept.last, limit=_PAGE)
            if kept.last and news.classes > kept.classes:  # old labels go by other names now
                kept = _Kept(project.data, np.full(len(gallery), UNLABELLED, dtype=np.int32))
                continue
            _take(kept, news, gallery)
            if not news.more:
                break
        with self._lock:
            self._kept[project.id] = kept
            self._kept.move_to_end(project.id)
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
        return kept


def _take(kept: _Kept, news: Changes, gallery: Gallery) -> None:
    for event in news.events:
        row = gallery.row_of(event.image)
        if row is not None:
            kept.codes[row] = _code(kept, event.label, event.mark)
    kept.last, kept.classes = news.last, news.classes


def _code(kept: _Kept, label: str, mark: Mark) -> int:
    return kept.words.setdefault(label, len(kept.words)) if label else _MARKS[mark]


def _placed(kept: _Kept, classes: Sequence[Class]) -> NDArray[np.int32]:
    """Codes as places in the classes; a class that has gone a moment ago leaves its images without a label."""
    places = {one.name: place for place, one in enumerate(classes)}
    table = np.array([places.get(word, UNLABELLED) for word in kept.words] + [UNLABELLED], dtype=np.int32)
    return np.where(kept.codes >= 0, table[np.maximum(kept.codes, 0)], kept.codes)
