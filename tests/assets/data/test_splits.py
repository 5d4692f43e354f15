"""Splits: facts that hold for every data set and seed."""

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from seedbed.assets.data.records import ImageRecord
from seedbed.assets.data.splits import Split, by_group, k_fold, k_fold_by_group, stratified, train_test
from seedbed.base.errors import InvalidInput

CLASSES = st.dictionaries(
    st.text("abcdef0123", min_size=1, max_size=6), st.sampled_from(["a", "b", "c", ""]), min_size=2, max_size=60
)
SEEDS = st.integers(0, 2**32)


def is_whole(split: Split, ids: set[str]) -> bool:
    return set(split.train) | set(split.test) == ids and not set(split.train) & set(split.test)


def backwards(classes: dict[str, str]) -> dict[str, str]:
    return dict(reversed(classes.items()))


@given(CLASSES, SEEDS, st.floats(0.05, 0.95))
def test_a_stratified_split_is_disjoint_complete_and_fair_to_within_one(
    classes: dict[str, str], seed: int, share: float
) -> None:
    split = stratified(classes, seed=seed, test_share=share)
    assert is_whole(split, set(classes))
    tested = Counter(classes[image] for image in split.test)
    for klass, count in Counter(classes.values()).items():
        assert abs(tested[klass] - count * share) <= 1
        assert tested[klass] < count
    assert split == stratified(backwards(classes), seed=seed, test_share=share)


@given(CLASSES, SEEDS, st.integers(2, 5))
def test_k_folds_test_each_image_once_and_share_classes_to_within_one(
    classes: dict[str, str], seed: int, folds: int
) -> None:
    folds = min(folds, len(classes))
    splits = k_fold(classes, folds=folds, seed=seed)
    assert Counter(image for split in splits for image in split.test) == Counter(dict.fromkeys(classes, 1))
    assert all(is_whole(split, set(classes)) for split in splits)
    for klass, count in Counter(classes.values()).items():
        for split in splits:
            assert abs(sum(classes[image] == klass for image in split.test) - count / folds) < 1
    assert splits == k_fold(backwards(classes), folds=folds, seed=seed)


@given(CLASSES, SEEDS, st.integers(2, 8), st.floats(0.1, 0.9))
def test_no_group_straddles_a_split(classes: dict[str, str], seed: int, number: int, share: float) -> None:
    groups = {image: f"plot {rank % number}" for rank, image in enumerate(sorted(classes))}
    split = by_group(classes, groups, seed=seed, test_share=share)
    assert is_whole(split, set(classes)) and split.train and split.test
    assert not {groups[image] for image in split.train} & {groups[image] for image in split.test}
    assert split == by_group(backwards(classes), groups, seed=seed, test_share=share)


@given(CLASSES, SEEDS, st.integers(2, 8))
def test_no_group_straddles_a_fold(classes: dict[str, str], seed: int, number: int) -> None:
    groups = {image: f"plot {rank % number}" for rank, image in enumerate(sorted(classes))}
    splits = k_fold_by_group(classes, groups, folds=2, seed=seed)
    assert Counter(image for split in splits for image in split.test) == Counter(dict.fromkeys(classes, 1))
    for split in splits:
        assert split.test and not {groups[i] for i in split.train} & {groups[i] for i in split.test}


@settings(max_examples=20)
@given(SEEDS)
def test_many_small_groups_come_near_the_share_in_every_class(seed: int) -> None:
    classes = {f"{n:04d}": "abc"[n % 3] for n in range(600)}
    groups = {image: str(int(image) // 10) for image in classes}
    tested = Counter(classes[image] for image in by_group(classes, groups, seed=seed).test)
    assert all(abs(tested[klass] - 60) <= 6 for klass in "abc")


def test_another_seed_gives_another_split() -> None:
    classes = {str(n): "a" for n in range(100)}
    assert stratified(classes, seed=1) != stratified(classes, seed=2)


def test_a_test_set_that_came_with_the_data_is_kept() -> None:
    records = [ImageRecord(str(n), f"{n}.jpg", f"{n}.jpg", "a", "test" if n < 3 else "train") for n in range(20)]
    assert train_test(records, seed=0).test == ("0", "1", "2")


def test_without_a_test_set_seven_go_to_three() -> None:
    records = [ImageRecord(f"{n:02d}", f"{n}.jpg", f"{n}.jpg", "ab"[n % 2]) for n in range(20)]
    assert len(train_test(records, seed=0).test) == 6


def test_an_unknown_column_is_answered_with_the_known_ones() -> None:
    records = [ImageRecord(str(n), f"{n}.jpg", f"{n}.jpg", extra={"plot": str(n)}) for n in range(4)]
    with pytest.raises(InvalidInput, match="plot"):
        train_test(records, seed=0, column="plant")


def test_one_group_cannot_be_divided() -> None:
    with pytest.raises(InvalidInput, match="one group"):
        by_group({"1": "a", "2": "a"}, {"1": "x", "2": "x"}, seed=0)
