"""Orders of images, worked out by hand."""

import numpy as np

from seedbed.flows import orders
from seedbed.flows.packing import packed, unpacked

GROUPS = np.array([1, 0, 1, 0, 0], dtype=np.int32)
TYPICALITY = np.array([0.1, 0.2, 0.9, 0.8, 0.5], dtype=np.float32)


def test_in_a_group_the_most_typical_comes_first() -> None:
    assert orders.by_groups(GROUPS, TYPICALITY).tolist() == [3, 4, 1, 2, 0]


def test_groups_take_turns() -> None:
    assert orders.in_turns(GROUPS, TYPICALITY).tolist() == [3, 2, 4, 0, 1]


def test_a_head_comes_first_and_nothing_twice() -> None:
    assert orders.first(np.array([4, 0]), np.arange(5)).tolist() == [4, 0, 1, 2, 3]


def test_what_has_a_label_comes_after_what_was_marked_after_what_is_open() -> None:
    standing = np.array([2, -1, -3, -1, -2], dtype=np.int32)
    assert orders.later(np.arange(5), orders.turns_of(standing)).tolist() == [1, 3, 2, 4, 0]


def test_a_group_is_named_after_the_class_that_more_than_half_of_its_labels_have() -> None:
    standing = np.array([0, 1, -1, 0, 1], dtype=np.int32)
    assert orders.names_of_groups(GROUPS, standing, ["a", "b"]) == ["Group 1: mostly b", "Group 2: mostly a"]
    assert orders.names_of_groups(GROUPS, np.array([0, 0, 1, 1, -2], dtype=np.int32), ["a", "b"]) == [
        "Group 1",
        "Group 2",
    ]
    assert orders.names_of_groups(GROUPS, np.full(5, -1, dtype=np.int32), []) == ["Group 1", "Group 2"]


def test_packed_numbers_come_back() -> None:
    numbers = np.array([0, 1, 99_999, -1], dtype=np.int32)
    assert unpacked(packed(numbers)).tolist() == numbers.tolist()
    assert packed(np.array([1])) == "AQAAAA==", "little-endian, 32 bits"
