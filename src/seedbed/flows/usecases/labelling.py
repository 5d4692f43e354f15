"""Labelling as people do it: the board, what comes next, what the labels so far suggest, who else is here."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from seedbed.assets.access.roles import Identity, Role
from seedbed.assets.projects.classes import Class
from seedbed.assets.projects.projects import Project
from seedbed.assets.projects.projects import Projects as KeptProjects
from seedbed.assets.store.store import Store
from seedbed.base.errors import Conflict, InvalidInput, NotFound
from seedbed.base.registry import near_matches
from seedbed.flows import orders
from seedbed.flows.gallery import Galleries, Gallery
from seedbed.flows.golden import Check, mixed_in
from seedbed.flows.kinds.embeddings import mapped
from seedbed.flows.packing import packed, unpacked
from seedbed.flows.standing import Standing, Standings
from seedbed.flows.usecases.asking import Asking, question
from seedbed.flows.usecases.followers import Acting
from seedbed.flows.usecases.grouping import Alike, Groupings
from seedbed.flows.usecases.learnt import Learnt
from seedbed.flows.usecases.presence import Person, Presence
from seedbed.flows.usecases.projects import Projects
from seedbed.flows.usecases.trainings import Trainings
from seedbed.runtime.jobs.records import Job

By = Literal["worth", "groups", "random", "index", "unsure", "class"]
_AHEAD = 200  # images that are chosen at once
_SOON = 0.6  # seconds that an order waits for the desk before it does without
MOST_DROPPED = 64  # images in one prediction
_MOST_SLIPS = 96  # of the likeliest: nobody looks at more of them at once
_SUSPECT = 1 / 3  # of all labels: where more than that look wrong, it is the few labels that tell too little
_HARD = 1 / 10  # of all labels: where more than that can be doubted and none stands out, the classes are hard to tell


@dataclass(frozen=True)
class Board:
    """What the labelling page shows around the images."""

    project: Project
    images: int
    classes: Sequence[tuple[Class, int]]  # with how many images each has
    alike: Alike
    last: int
    people: Sequence[Person]
    training: Mapping[str, str | int]  # its stage, the sentence, the labels that it began with
    may_label: bool
    may_train: bool


@dataclass(frozen=True)
class Order:
    """Rows of the data set in the order to show them in; `by` is what they are really ordered by.

    Where a better order is not there yet, that is random, or typical images of every group in turns.
    """

    by: str
    rows: NDArray[np.int64]
    groups: Sequence[tuple[int, str]]  # size and name of each run of alike images


@dataclass(frozen=True)
class Suggestion:
    """What the labels so far, and the newest model, say of an image."""

    index: int
    label: str
    confidence: float


@dataclass(frozen=True)
class Suggestions:
    """What is likely; where nothing can be said yet, `reason` says why."""

    suggestions: Sequence[Suggestion]
    labels: int
    reason: str = ""


@dataclass(frozen=True)
class Gain:
    """So many more labels of a class would make it better by about so many points, of 100."""

    label: str
    labels: int
    points: float

    @property
    def sentence(self) -> str:
        """For people."""
        return f"About {self.labels} more labels would help {self.label}."


@dataclass(frozen=True)
class Doubt:
    """A label that is probably wrong."""

    index: int
    given: str
    likely: str
    confidence: float


@dataclass(frozen=True)
class _Open:
    """A project with its data set open."""

    project: Project
    gallery: Gallery
    standing: Standing
    alike: Alike
    checks: Mapping[int, Check]

    @property
    def names(self) -> list[str]:
        return [one.name for one in self.standing.classes]


class Labelling:
    """What people do while they label. Safe to use from any thread; close it in the end."""

    def __init__(
        self,
        projects: Projects,
        kept: KeptProjects,
        store: Store,
        galleries: Galleries,
        groupings: Groupings,
        trainings: Trainings,
        asking: Asking,
        presence: Presence,
        *,
        acting: Acting,
        pixel_limit: int,
    ) -> None:
        self._projects = projects
        self._kept = kept
        self._store = store
        self._galleries = galleries
        self._groupings = groupings
        self._trainings = trainings
        self._asking = asking
        self._presence = presence
        self._standings = Standings(kept)
        self._learnt = Learnt(store, kept)
        self._acting = acting
        self._pixel_limit = pixel_limit

    def close(self) -> None:
        """End the desks."""
        self._asking.close()

    # --- around the images ------------------------------------------------------------------------------------------

    def board(self, ref: str, *, by: Identity) -> Board:
        """Everything around the images. Where nobody has had them grouped yet, that begins now."""
        project = self._projects.get(ref, by=by)
        training = self._trainings.of(project.id, by=by)
        if by.may(Role.LABELLER, project.id):
            self._groupings.ensure(project, self._acting(project) or by)
        gallery = self._gallery(project)
        if gallery is None:
            counts = self._kept.counts(project.id)
            classes = [(one, counts.get(one.name, 0)) for one in self._kept.classes(project.id)]
            last = self._kept.last_number(project.id)
        else:
            standing = self._standings.of(project, gallery)
            classes, last = list(zip(standing.classes, standing.counts, strict=True)), standing.last
        return Board(
            project=project,
            images=len(gallery) if gallery else 0,
            classes=classes,
            alike=self._groupings.of(project),
            last=last,
            people=self._presence.of(project.id),
            training={"state": training.stage, "sentence": training.sentence, "labels": training.labels},
            may_label=by.may(Role.LABELLER, project.id),
            may_train=by.may(Role.TRAINER, project.id),
        )

    def here(self, ref: str, where: int, *, by: Identity) -> list[Person]:
        """Say that one is here, at an image (-1: at none); everybody who is."""
        project = self._projects.get(ref, by=by)
        by.require(Role.LABELLER, project.id)
        return self._presence.note(project.id, by.name, where)

    def group(self, ref: str, *, by: Identity) -> list[Job]:
        """Have alike images grouped, once more if need be."""
        return self._groupings.start(self._projects.get(ref, by=by), by=by)

    # --- what comes next --------------------------------------------------------------------------------------------

    def order(self, ref: str, how: By, *, klass: str = "", seed: int = 0, by: Identity) -> Order:
        """All images of the project, in an order. It never waits long: what is not there yet is done without."""
        opened = self._opened(ref, Role.VIEWER, by)
        place = self._place_of(opened, klass) if how == "class" else None
        count = len(opened.gallery)
        if how == "index":
            return Order(how, np.arange(count), ())
        if how == "random" or (opened.alike.groups is None and how == "groups"):
            return Order("random", orders.shuffled(count, seed), ())
        if how == "groups":
            return _by_groups(opened)
        return self._by_worth(opened, how, place, seed)

    def _by_worth(self, opened: _Open, how: By, place: int | None, seed: int) -> Order:
        """The desk's word on what comes first, and then the others; what has a label comes last."""
        standing = opened.standing.rows
        called, whole = _without_a_desk(opened, seed)
        if opened.alike.embeddings is not None:
            head = self._head(opened, how, place, seed)
            if head is not None:
                called, whole = how, orders.first(head, whole)
        turn = orders.turns_of(standing)
        if place is not None:  # those of the class itself first: they are what was picked so far
            turn = np.where(standing == place, -1, turn).astype(np.int8)
        rows = orders.later(whole, turn)
        if how == "worth":
            rows = mixed_in(rows, opened.checks, opened.project.settings.honeypots, seed)
        return Order(called, rows, ())

    def _head(self, opened: _Open, how: By, place: int | None, seed: int) -> NDArray[np.int32] | None:
        if how != "worth" and opened.standing.labelled_classes < 2:
            return None
        if how == "worth":
            passed_over = np.flatnonzero(opened.standing.rows < -1)
            chooser = opened.project.settings.chooser
            more = {"passed_over": packed(passed_over), "chooser": chooser, "count": _AHEAD, "seed": seed}
            asked = self._likely("next", opened, **more)
        else:
            asked = self._likely("ranked", opened, **{"class": place})
        answer = self._asking.soon(opened.project, asked, within=_SOON)
        return None if answer is None else unpacked(answer["rows"])

    # --- what is likely ---------------------------------------------------------------------------------------------

    def suggestions(self, ref: str, indexes: Sequence[int], *, by: Identity) -> Suggestions:
        """The likeliest class of some images."""
        opened = self._opened(ref, Role.LABELLER, by)
        _check_indexes(opened.gallery, indexes)
        labels = sum(opened.standing.counts)
        wanted = opened.project.settings.proposals
        if reason := _why_not(opened) if wanted else "Proposals are switched off in this project.":
            return Suggestions((), labels, reason)
        asked = self._likely("suggest", opened, rows=packed(np.array(indexes, dtype=np.int64)))
        answer = self._asking.quick(opened.project, asked)
        found = zip(indexes, answer["classes"], answer["confidences"], strict=True)
        return Suggestions([Suggestion(index, opened.names[place], sure) for index, place, sure in found], labels)

    def similar(self, ref: str, index: int, *, count: int = 60, by: Identity) -> tuple[list[int], list[float]]:
        """The images most like one, and how alike they are (1: the same); none before the images were looked at."""
        opened = self._opened(ref, Role.LABELLER, by)
        _check_indexes(opened.gallery, [index])
        if opened.alike.embeddings is None:
            return [], []
        asked = question("similar", opened.alike, opened.standing, rows=packed(np.array([index])), count=count)
        answer = self._asking.quick(opened.project, asked)
        return answer["rows"], answer["similarities"]

    def gains(self, ref: str, *, by: Identity) -> list[Gain]:
        """Which classes more labels would help, the most first; nothing before there is anything to go by.

        A class for everything else that has no label yet is left out: there may be nothing that belongs there.
        """
        opened = self._opened(ref, Role.LABELLER, by)
        if _why_not(opened):
            return []
        answer = self._asking.slow(opened.project, question("gains", opened.alike, opened.standing, seed=0))
        counted = zip(opened.standing.classes, opened.standing.counts, strict=True)
        unused = {one.name for one, count in counted if one.other and not count}
        gains = [Gain(opened.names[one["class"]], one["labels"], one["points"]) for one in answer["gains"]]
        wanted = (gain for gain in gains if gain.labels > 0 and gain.points > 0 and gain.label not in unused)
        return sorted(wanted, key=lambda gain: -gain.points)

    def mistakes(self, ref: str, *, by: Identity) -> list[Doubt]:
        """Labels that are probably wrong, the surest first."""
        return self._doubts(self._opened(ref, Role.LABELLER, by))

    def slips(self, ref: str, *, by: Identity) -> list[Doubt]:
        """The likeliest to review, without those that somebody has kept on purpose; none where too many look wrong."""
        opened = self._opened(ref, Role.LABELLER, by)
        found = self._doubts(opened)
        if len(found) > _SUSPECT * sum(opened.standing.counts):
            return []
        project, ids = opened.project.id, opened.gallery.shapes.ids
        return [one for one in found[:_MOST_SLIPS] if not self._projects.is_meant(project, ids[one.index], by=by)]

    def hard_to_tell(self, ref: str, *, by: Identity) -> int:
        """How many labels can be doubted, where they are many and none of them stands out as a slip; else 0."""
        opened = self._opened(ref, Role.LABELLER, by)
        doubted = int(self._doubted(opened)["doubted"])
        many = doubted > _HARD * sum(opened.standing.counts)
        return doubted if many and not self.slips(ref, by=by) else 0

    def _doubted(self, opened: _Open) -> Mapping[str, Any]:
        asked = question("mistakes", opened.alike, opened.standing, seed=0)
        return {"mistakes": (), "doubted": 0} if _why_not(opened) else self._asking.slow(opened.project, asked)

    def _doubts(self, opened: _Open) -> list[Doubt]:
        names = opened.names
        return [
            Doubt(one["row"], names[one["given"]], names[one["likely"]], round(one["confidence"], 4))
            for one in self._doubted(opened)["mistakes"]
        ]

    def predict(self, ref: str, files: Mapping[str, Path], *, by: Identity) -> list[dict[str, Any]]:
        """What is on images that somebody drops in (name -> file): by the newest model, or by the labels so far."""
        opened = self._opened(ref, Role.LABELLER, by)
        if not 0 < len(files) <= MOST_DROPPED:
            raise InvalidInput(
                f"{len(files)} files were given; from 1 to {MOST_DROPPED} can be looked at at once.",
                hint="Give fewer at a time, or have a whole folder labelled as a job: seedbed predict MODEL FOLDER.",
            )
        model = self._learnt.newest(opened.project)
        if model is None and (reason := _why_not(opened)):
            raise Conflict(f"Nothing can be said of other images yet. {reason}")
        asked = question(
            "predict",
            opened.alike,
            opened.standing,
            card=opened.alike.card,
            size=opened.alike.size,
            weights=str(opened.alike.weights or ""),
            model=model,
            names=opened.names,
            files=[{"name": name, "path": str(path)} for name, path in files.items()],
            pixel_limit=self._pixel_limit,
        )
        results: list[dict[str, Any]] = self._asking.slow(opened.project, asked)["results"]
        return results

    # --- inside -----------------------------------------------------------------------------------------------------

    def _opened(self, ref: str, role: Role, by: Identity) -> _Open:
        project = self._projects.get(ref, by=by)
        by.require(role, project.id)
        gallery = self._gallery(project)
        if gallery is None:
            raise Conflict(f"'{project.name}' has no images yet.", hint="Bring them in first.")
        rows = {gallery.row_of(check.image): check for check in self._projects.checks_for(project, by=by)}
        checks = {row: check for row, check in rows.items() if row is not None}
        standing = self._standings.of(project, gallery)
        if checks:  # whoever is asked sees what they said themselves
            standing = standing.told({row: check.said for row, check in checks.items()})
        return _Open(project, gallery, standing, self._groupings.of(project), checks)

    def _likely(self, ask: str, opened: _Open, **more: Any) -> dict[str, Any]:
        """A question of what is likely: a trained model has a say in it."""
        answers = self._learnt.answers(opened.project, opened.standing)
        return question(ask, opened.alike, opened.standing, answers=answers, **more)

    def _gallery(self, project: Project) -> Gallery | None:
        try:
            return self._galleries.of(self._store.get(project.data)) if project.data else None
        except NotFound:  # the data set was removed
            return None

    def _place_of(self, opened: _Open, klass: str) -> int:
        place = opened.standing.place_of(klass)
        if place is None:
            raise NotFound(f"There is no class '{klass}' in this project.", hint=near_matches(klass, opened.names))
        return place


def _by_groups(opened: _Open) -> Order:
    assert opened.alike.groups is not None and opened.alike.typicality is not None
    groups, typicality = mapped(opened.alike.groups), mapped(opened.alike.typicality)
    sizes = np.bincount(groups)
    names = orders.names_of_groups(groups, opened.standing.rows, opened.names)
    runs = [(int(size), name) for size, name in zip(sizes, names, strict=True)]
    return Order("groups", orders.by_groups(groups, typicality), runs)


def _without_a_desk(opened: _Open, seed: int) -> tuple[str, NDArray[np.int64]]:
    if opened.alike.groups is None or opened.alike.typicality is None:
        return "random", orders.shuffled(len(opened.gallery), seed)
    return "typical", orders.in_turns(mapped(opened.alike.groups), mapped(opened.alike.typicality))


def _why_not(opened: _Open) -> str:
    """Why nothing can be suggested yet; empty: it can."""
    if opened.alike.embeddings is None:
        return opened.alike.sentence
    if opened.standing.labelled_classes < 2:
        return "At least two classes need a label first."
    return ""


def _check_indexes(gallery: Gallery, indexes: Sequence[int]) -> None:
    if strange := [index for index in indexes if not 0 <= index < len(gallery)]:
        raise NotFound(f"The project has {len(gallery):,} images; there is no number {strange[0]}.")
