"""What every chooser must satisfy, as functions that take one: ours and a stranger's.

`check_chooser` runs them all; `choices` draws images in clear groups for tests of one's own.
"""

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from seedbed.methods.label.choose import Choices, Chooser

Maker = Callable[[], Chooser]

_CLASSES, _IMAGES, _WIDTH = 4, 120, 16


def choices(*, seed: int = 0, labels: int = 0, images: int = _IMAGES, spread: float = 0.15) -> Choices:
    """Images in as many clear groups as there are classes, with that many labels (their group) on the first rows."""
    draws = np.random.default_rng(seed)
    group = np.arange(images) % _CLASSES
    middles = np.linalg.qr(draws.normal(size=(_WIDTH, _WIDTH)))[0][:_CLASSES]
    rows = middles[group] + spread * draws.normal(size=(images, _WIDTH))
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    known = np.where(np.arange(images) < labels, group, -1)
    return Choices(rows.astype(np.float32), known, _CLASSES, seed=seed)


def check_chooser(make: Maker) -> None:
    """Every check, one after another."""
    for check in CHECKS:
        check(make)


def check_rows_are_distinct_and_free(make: Maker) -> None:
    """As many distinct rows as were asked for, none with a label, none that is not allowed."""
    for labels in (0, 3, 40):
        of = choices(labels=labels)
        some = replace(of, allowed=np.arange(_IMAGES) % 3 > 0)
        for asked in (of, some):
            for count in (1, 7, 30):
                _check_rows(make().choose(asked, count), asked, count)


def check_all_is_given_where_less_is_left(make: Maker) -> None:
    """Asked for all or more than there are, it gives every free row once; asked for none, none."""
    of = choices(labels=100)
    assert sorted(make().choose(of, 500).tolist()) == of.free().tolist(), "not every free row was given once"
    assert not len(make().choose(of, 0)), "rows were given that nobody asked for"
    assert not len(make().choose(replace(of, allowed=np.zeros(_IMAGES, bool)), 5)), "nothing is allowed, yet rows came"


def check_same_choices_give_the_same_rows(make: Maker) -> None:
    """It is a function of what it is given, and changes nothing of it."""
    of = choices(labels=12)
    before = of.embeddings.copy(), of.labels.copy()
    first, again = (make().choose(of, 20) for _ in range(2))
    assert first.tolist() == again.tolist(), "the same choices gave other rows"
    assert np.array_equal(before[0], of.embeddings) and np.array_equal(before[1], of.labels), "what it read has changed"


def check_odd_beginnings_are_fine(make: Maker) -> None:
    """One image, images that are all alike, labels of one class only, more classes than images."""
    of = choices()
    one = Choices(of.embeddings[:1], of.labels[:1], _CLASSES)
    alike = replace(of, embeddings=np.repeat(of.embeddings[:1], _IMAGES, axis=0))
    same = replace(of, labels=np.where(np.arange(_IMAGES) < 5, 1, -1))
    many = replace(of, classes=_IMAGES + 5)
    for asked in (one, alike, same, many):
        _check_rows(make().choose(asked, 6), asked, 6)


def check_groups_and_probabilities_may_be_given(make: Maker) -> None:
    """It takes what else is known, in half precision too, and still gives what was asked for."""
    of = choices(labels=8)
    chances = np.random.default_rng(0).dirichlet(np.ones(_CLASSES), _IMAGES)
    known = replace(of, groups=np.arange(_IMAGES) % _CLASSES, probabilities=chances)
    half = replace(known, embeddings=of.embeddings.astype(np.float16))
    for asked in (known, half):
        _check_rows(make().choose(asked, 10), asked, 10)


CHECKS: tuple[Callable[[Maker], None], ...] = (
    check_rows_are_distinct_and_free,
    check_all_is_given_where_less_is_left,
    check_same_choices_give_the_same_rows,
    check_odd_beginnings_are_fine,
    check_groups_and_probabilities_may_be_given,
)


def _check_rows(rows: NDArray[np.int64], of: Choices, count: int) -> None:
    expected = min(count, len(of.free()))
    assert len(rows) == expected, f"{len(rows)} rows were given, not {expected}"
    assert len(np.unique(rows)) == len(rows), "a row was given twice"
    assert np.isin(rows, of.free()).all(), "a row was given that is labelled or not allowed"
