"""Dividing images by seed: 7:3, k folds, and by group, so that one plant, plot or day stays on one side.

Every rule orders ids by a digest of the seed and the id, so a split does not depend on the order of records, and
an image keeps its rank when others are added.
"""

import hashlib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from seedbed.assets.data.records import ImageRecord
from seedbed.base.errors import InvalidInput

TEST_SHARE = 0.3


@dataclass(frozen=True)
class Split:
    """Two sides, as sorted ids."""

    train: tuple[str, ...]
    test: tuple[str, ...]


def train_test(records: Sequence[ImageRecord], *, seed: int, column: str = "") -> Split:
    """The test set that the data set brought, else 7:3: by the groups of a column if one is named, else stratified."""
    test = [record.id for record in records if record.split == "test"]
    if test:
        return _split((record.id for record in records if record.split != "test"), test)
    classes = {record.id: record.klass for record in records}
    return by_group(classes, groups_of(records, column), seed=seed) if column else stratified(classes, seed=seed)


def groups_of(records: Sequence[ImageRecord], column: str) -> dict[str, str]:
    """The group of each image by a manifest's column; an image without a value is a group of its own."""
    if not any(column in record.extra for record in records):
        known = sorted({name for record in records for name in record.extra})
        raise InvalidInput(
            f"No image has a column '{column}' to group by.",
            hint=f"Columns of this data set: {', '.join(known)}." if known else "Ingest from a CSV with that column.",
        )
    return {record.id: record.extra.get(column) or record.id for record in records}


def stratified(classes: Mapping[str, str], *, seed: int, test_share: float = TEST_SHARE) -> Split:
    """Each class divided in the same proportion, to within one image; no class loses its last training image."""
    _check_share(test_share)
    test: list[str] = []
    for ids in _by_class(classes).values():
        wanted = min(round(len(ids) * test_share), len(ids) - 1)
        test += _shuffled(ids, seed)[:wanted]
    return _split(classes.keys() - set(test), test)


def k_fold(classes: Mapping[str, str], *, folds: int, seed: int) -> list[Split]:
    """Each image is tested once; the folds share each class to within one image."""
    _check_folds(folds, len(classes), "images")
    fold_of: dict[str, int] = {}
    turn = 0  # goes on from class to class, so that small classes do not all land in the first folds
    for ids in _by_class(classes).values():
        for image in _shuffled(ids, seed):
            fold_of[image] = turn % folds
            turn += 1
    return _splits_of_folds(fold_of, folds)


def by_group(
    classes: Mapping[str, str], groups: Mapping[str, str], *, seed: int, test_share: float = TEST_SHARE
) -> Split:
    """Whole groups on one side, chosen so that each class comes as near to the share as the groups allow."""
    _check_share(test_share)
    members = _members(classes, groups)
    if len(members) < 2:
        raise InvalidInput("All images are of one group, which cannot be divided.", hint="Choose another column.")
    missing = Counter({klass: len(ids) * test_share for klass, ids in _by_class(classes).items()})
    order = _shuffled(members, seed)
    chosen: list[str] = []
    for group in order:
        counts = Counter(classes[image] for image in members[group])
        if sum(n * n - 2 * n * missing[klass] for klass, n in counts.items()) < 0:  # nearer to the wanted counts
            chosen.append(group)
            missing.subtract(counts)
    chosen = chosen[: len(order) - 1] or [min(order, key=lambda group: len(members[group]))]
    test = [image for group in chosen for image in members[group]]
    return _split(classes.keys() - set(test), test)


def k_fold_by_group(classes: Mapping[str, str], groups: Mapping[str, str], *, folds: int, seed: int) -> list[Split]:
    """Each group is tested once, whole; large groups are dealt first, each to the fold that lacks its classes most."""
    members = _members(classes, groups)
    _check_folds(folds, len(members), "groups")
    held: list[Counter[str]] = [Counter() for _ in range(folds)]
    fold_of: dict[str, int] = {}
    for group in sorted(_shuffled(members, seed), key=lambda name: -len(members[name])):
        counts = Counter(classes[image] for image in members[group])
        loads = [(not fold, sum(fold[klass] * n for klass, n in counts.items()), fold.total()) for fold in held]
        best = min(range(folds), key=lambda fold: (not loads[fold][0], *loads[fold][1:]))
        held[best].update(counts)
        fold_of |= dict.fromkeys(members[group], best)
    return _splits_of_folds(fold_of, folds)


def _shuffled(names: Iterable[str], seed: int) -> list[str]:
    return sorted(names, key=lambda name: hashlib.sha256(f"{seed}:{name}".encode()).digest())


def _by_class(classes: Mapping[str, str]) -> dict[str, list[str]]:
    found: defaultdict[str, list[str]] = defaultdict(list)
    for image, klass in classes.items():
        found[klass].append(image)
    return {klass: found[klass] for klass in sorted(found)}


def _members(classes: Mapping[str, str], groups: Mapping[str, str]) -> dict[str, list[str]]:
    members: defaultdict[str, list[str]] = defaultdict(list)
    for image in sorted(classes):
        members[groups[image]].append(image)
    return dict(members)


def _split(train: Iterable[str], test: Iterable[str]) -> Split:
    return Split(tuple(sorted(train)), tuple(sorted(test)))


def _splits_of_folds(fold_of: Mapping[str, int], folds: int) -> list[Split]:
    return [
        _split((i for i, fold in fold_of.items() if fold != out), (i for i, fold in fold_of.items() if fold == out))
        for out in range(folds)
    ]


def _check_share(share: float) -> None:
    if not 0 < share < 1:
        raise InvalidInput(f"The share of the test side is {share}; it must lie between 0 and 1.")


def _check_folds(folds: int, count: int, what: str) -> None:
    if not 2 <= folds <= count:
        raise InvalidInput(
            f"{count} {what} cannot be divided into {folds} folds.", hint="Choose at least 2, at most one each."
        )
