"""What can be asked of a server while people label, and what it answers."""

import base64
import struct
from collections.abc import Sequence
from typing import Any, TypedDict, cast

from seedbed.faces.client.connection import part
from seedbed.faces.client.nouns import Noun
from seedbed.faces.client.results import Job


class BoardClass(TypedDict):
    """A class, and how many images have it as their label."""

    name: str
    colour: str
    key: str
    value: float | None
    other: bool
    count: int


class Person(TypedDict):
    """Somebody who has the project open."""

    name: str
    where: int
    at: float


class Board(TypedDict):
    """Everything around the images."""

    project: str
    name: str
    kind: str
    data: str
    images: int
    classes: list[BoardClass]
    goal: int
    grouping: str
    grouping_done: float
    grouping_sentence: str
    proposals: bool
    looked_at: bool
    last: int
    people: list[Person]
    training: dict[str, Any]
    may_label: bool
    may_train: bool


class Order(TypedDict):
    """All images in an order; `groups` are the runs of alike ones."""

    by: str
    groups: list[dict[str, Any]]
    order: list[int]


class Suggestion(TypedDict):
    """What the labels so far, and the newest model, say of an image."""

    index: int
    label: str
    confidence: float


class Doubt(TypedDict):
    """A label that is probably wrong."""

    index: int
    given: str
    likely: str
    confidence: float


class Seen(TypedDict):
    """What is on an image that is not in the project."""

    file: str
    label: str
    confidence: float
    probabilities: dict[str, float]
    similar: list[int]
    similar_labels: list[str]
    problem: str


class Labelling(Noun):
    """/projects/{ref}/board and what else the labelling page asks."""

    def board(self, ref: str) -> Board:
        """Classes with their counts, groups, who is here, the training."""
        return cast(Board, self._ask(ref, "board"))

    def order(self, ref: str, by: str = "worth", *, klass: str = "", seed: int = 0) -> Order:
        """All images: by worth, groups, random, index, unsure, or class, which `klass` names."""
        found = self._ask(ref, "order", by=by, seed=seed, **{"class": klass})
        numbers = base64.b64decode(found["order"])
        rows = list(struct.unpack(f"<{len(numbers) // 4}I", numbers))
        return {"by": found["by"], "groups": found["groups"], "order": rows}

    def suggestions(self, ref: str, indexes: Sequence[int]) -> list[Suggestion]:
        """The likeliest class of some images; none before anything can be said."""
        found = self._to.post(f"/projects/{part(ref)}/suggestions", {"indexes": list(indexes)})
        return cast(list[Suggestion], found["suggestions"])

    def similar(self, ref: str, index: int, *, count: int = 60) -> list[int]:
        """The images most like one."""
        return cast(list[int], self._ask(ref, f"similar/{index}", count=count)["indexes"])

    def gains(self, ref: str) -> list[dict[str, Any]]:
        """Which classes more labels would help: class, labels, points, sentence."""
        return cast(list[dict[str, Any]], self._ask(ref, "gains"))

    def mistakes(self, ref: str) -> list[Doubt]:
        """Labels that are probably wrong, the surest first."""
        return cast(list[Doubt], self._ask(ref, "mistakes"))

    def predict(self, ref: str, upload: str) -> list[Seen]:
        """What is on the images of an upload, which is used up."""
        return cast(list[Seen], self._to.send(f"/projects/{part(ref)}/predict", json={"upload": upload}))

    def here(self, ref: str, where: int = -1) -> list[Person]:
        """Say that you are here; who is."""
        return cast(list[Person], self._to.post(f"/projects/{part(ref)}/presence", {"where": where})["people"])

    def group(self, ref: str) -> list[Job]:
        """Have alike images grouped."""
        return cast(list[Job], self._to.post(f"/projects/{part(ref)}/grouping"))

    def _ask(self, ref: str, what: str, **query: Any) -> Any:
        return self._to.get(f"/projects/{part(ref)}/{what}", **query)
