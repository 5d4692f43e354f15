"""What every way of grouping must satisfy, ours and a stranger's: call `check_grouper` with one."""

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from seedbed.methods.label.groups import Grouping
from seedbed.methods.label.neighbours import Rows

Grouper = Callable[[Rows, int, int], Grouping]  # embeddings, number of groups, seed

_WIDTH, _EACH = 12, (30, 24, 18)


def check_grouper(group: Grouper) -> None:
    """Every check, one after another."""
    for check in CHECKS:
        check(group)


def check_every_image_has_a_group_and_every_group_an_image(group: Grouper) -> None:
    """Groups are numbered from 0, none is empty, and there are no more than were asked for."""
    rows, _ = blobs()
    for count in (2, 3, 7):
        found = group(rows, count, 0)
        assert found.groups.shape == (len(rows),), f"groups has shape {found.groups.shape}"
        assert found.groups.dtype == np.int32, f"groups is of {found.groups.dtype}"
        assert sorted(set(found.groups.tolist())) == list(range(len(found.centres))), "a group is empty or unknown"
        assert len(found.centres) <= count, f"{len(found.centres)} groups where {count} were asked for"


def check_groups_that_lie_far_apart_are_found(group: Grouper) -> None:
    """Three clear groups of unlike size come out as they went in, the largest first."""
    rows, truth = blobs()
    assert np.array_equal(group(rows, len(_EACH), 0).groups, truth), "clear groups were not found, or not largest first"


def check_centres_point_where_their_group_lies(group: Grouper) -> None:
    """A centre has length 1 and is the direction of the mean of its group's embeddings."""
    rows, _ = blobs()
    found = group(rows, 3, 0)
    for number, centre in enumerate(found.centres):
        mean = rows[found.groups == number].mean(axis=0)
        np.testing.assert_allclose(centre, mean / np.linalg.norm(mean), atol=1e-5)


def check_an_image_at_the_edge_is_less_typical(group: Grouper) -> None:
    """Of a group with one image that lies apart, that image is the least typical."""
    rows, truth = blobs()
    between = rows[truth == 0].mean(axis=0) + 0.45 * rows[truth == 1].mean(axis=0)
    rows[0] = between / np.linalg.norm(between)
    found = group(rows, 3, 0)
    mine = np.flatnonzero(found.groups == found.groups[0])
    assert np.isfinite(found.typicality).all() and found.typicality.shape == (len(rows),)
    assert mine[found.typicality[mine].argmin()] == 0, "an image at the edge is not the least typical of its group"


def check_the_same_seed_gives_the_same_groups(group: Grouper) -> None:
    """Two calls agree in everything, and leave the embeddings as they were."""
    rows, _ = blobs()
    given = rows.copy()
    first, second = group(rows, 4, 3), group(rows, 4, 3)
    assert np.array_equal(first.groups, second.groups) and np.array_equal(first.typicality, second.typicality)
    assert np.array_equal(rows, given), "the embeddings were changed"


def check_equal_images_are_in_one_group(group: Grouper) -> None:
    """Nothing but its embedding decides where an image goes."""
    rows, _ = blobs()
    twice = np.concatenate([rows, rows])
    found = group(twice, 5, 0).groups
    assert np.array_equal(found[: len(rows)], found[len(rows) :]), "equal images are in unlike groups"


def check_few_images_are_grouped_too(group: Grouper) -> None:
    """One image, two, all alike, and fewer than there should be groups."""
    rows, _ = blobs()
    for given in (rows[:1], rows[:2], np.repeat(rows[:1], 6, axis=0), rows[:4]):
        found = group(given, 5, 0)
        assert len(found.groups) == len(given) and 1 <= len(found.centres) <= min(5, len(given))
        assert np.isfinite(found.typicality).all()
    assert len(group(np.repeat(rows[:1], 6, axis=0), 5, 0).centres) == 1, "equal images are in unlike groups"


def blobs() -> tuple[Rows, NDArray[np.int64]]:
    """Embeddings of length 1 in three clear groups, the largest first in number, and their groups."""
    rng = np.random.default_rng(5)
    truth = rng.permutation(np.repeat(np.arange(len(_EACH)), _EACH))
    rows = np.eye(len(_EACH), _WIDTH)[truth] + rng.normal(0, 0.05, (len(truth), _WIDTH)) + 0.4
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32), truth


CHECKS: list[Callable[[Grouper], None]] = [
    check_every_image_has_a_group_and_every_group_an_image,
    check_groups_that_lie_far_apart_are_found,
    check_centres_point_where_their_group_lies,
    check_an_image_at_the_edge_is_less_typical,
    check_the_same_seed_gives_the_same_groups,
    check_equal_images_are_in_one_group,
    check_few_images_are_grouped_too,
]
