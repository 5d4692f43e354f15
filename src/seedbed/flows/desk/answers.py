"""Every question that a project's desk answers."""

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seedbed.flows.desk.asked import METHODS, Asked
from seedbed.flows.desk.images import predict
from seedbed.flows.packing import packed, unpacked

_CANDIDATES = 10_000  # images that a chooser looks at: so many at random are as good as all, and quick


class ProjectDesk:
    """Answers the questions on one project."""

    def __init__(self, key: str) -> None:
        self.key = key

    def answer(self, question: Mapping[str, Any]) -> Mapping[str, Any]:
        """The answer to `question["ask"]`."""
        return _ANSWERS[question["ask"]](Asked(question))


def _next(asked: Asked) -> Mapping[str, Any]:
    """The rows that are most worth a label next."""
    question = asked.question
    allowed = asked.labels < 0
    if passed_over := question.get("passed_over"):
        allowed[unpacked(passed_over)] = False
    few = _few(asked.labels, allowed, seed=int(question["seed"]))
    rows = asked.rows[few] if len(few) < len(allowed) else asked.rows
    choices = METHODS.get("choices")(
        embeddings=np.asarray(rows, dtype=np.float32),
        labels=asked.labels[few],
        classes=asked.classes,
        groups=None if asked.groups is None else np.asarray(asked.groups[few]),
        probabilities=asked.likely(few, rows) if asked.can_suggest else None,
        allowed=allowed[few],
        seed=int(question["seed"]),
    )
    count = min(int(question["count"]), int(allowed[few].sum()))
    chosen = METHODS.get("choosers").get(question["chooser"])().choose(choices, count) if count else np.zeros(0, int)
    return {"rows": packed(few[chosen])}


def _few(labels: NDArray[np.int32], allowed: NDArray[np.bool_], *, seed: int) -> NDArray[np.int64]:
    """The labelled rows, and so many at random of those that may be chosen that a chooser is quick."""
    known, open_ = np.flatnonzero(labels >= 0), np.flatnonzero(allowed)
    draws = np.random.default_rng(seed)
    if len(known) > _CANDIDATES:
        known = draws.choice(known, _CANDIDATES, replace=False)
    if len(open_) > _CANDIDATES:
        open_ = draws.choice(open_, _CANDIDATES, replace=False)
    return np.sort(np.concatenate([known, open_]))


def _suggest(asked: Asked) -> Mapping[str, Any]:
    """The likeliest class of some rows, and how likely it is."""
    wanted = unpacked(asked.question["rows"])
    likely = asked.likely(wanted)
    best = likely.argmax(axis=1)
    return {"classes": best.tolist(), "confidences": np.round(likely.max(axis=1), 4).tolist()}


def _ranked(asked: Asked) -> Mapping[str, Any]:
    """All rows: the least certain first, or those that are likeliest of one class."""
    likely = asked.likely()
    place = asked.question.get("class")
    worth = likely.max(axis=1) if place is None else -likely[:, int(place)]
    return {"rows": packed(np.argsort(worth, kind="stable"))}


def _similar(asked: Asked) -> Mapping[str, Any]:
    """The rows that are most like one."""
    rows, alike = METHODS.get("most-alike")(asked.rows, unpacked(asked.question["rows"]), int(asked.question["count"]))
    return {"rows": rows.tolist(), "similarities": np.round(alike, 4).tolist()}


def _gains(asked: Asked) -> Mapping[str, Any]:
    """How many more labels would help which class."""
    found = METHODS.get("gains")(asked.rows, asked.labels, asked.classes, seed=int(asked.question["seed"]))
    return {"gains": [{"class": one.klass, "labels": one.labels, "points": float(one.points)} for one in found]}


def _mistakes(asked: Asked) -> Mapping[str, Any]:
    """Labels that are likely enough to be wrong, the likeliest first, and how many could be doubted in all."""
    seed = int(asked.question["seed"])
    found = METHODS.get("likely-mistakes")(asked.rows, asked.labels, asked.classes, least=0.0, seed=seed)
    names = ("row", "given", "likely", "confidence")
    told = [{name: getattr(one, name) for name in names} for one in found if one.is_likely]
    return {"mistakes": told, "doubted": len(found)}


_ANSWERS: dict[str, Callable[[Asked], Mapping[str, Any]]] = {
    "next": _next,
    "suggest": _suggest,
    "ranked": _ranked,
    "similar": _similar,
    "gains": _gains,
    "mistakes": _mistakes,
    "predict": predict,
}
