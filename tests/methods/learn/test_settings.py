"""What cannot work is refused before anything is learnt, with what can."""

import math
from dataclasses import fields

import pytest

from seedbed.base.errors import InvalidInput
from seedbed.methods.learn.augment import SPREADING, TONAL
from seedbed.methods.learn.settings import COLOUR_OPERATIONS, Strength


def test_numbers_that_are_not_finite_are_refused_all_at_once(task):
    endless = {"nearness": math.inf, "clip": math.inf, "weight_decay": math.inf, "head_start": math.nan}
    endless |= {"learning_rate": math.nan, "epochs": math.inf, "warmup": math.nan, "ema": math.inf}
    options = {"weight": math.inf, "threshold": math.nan, "false_alarms": math.inf}
    turned = Strength(turn=math.nan, zoom=math.inf)
    with pytest.raises(InvalidInput) as caught:
        task.settings(**endless, options=options, augment=turned, values=(0.0, math.inf)).check()
    told = " ".join(caught.value.problems)
    for name in (*endless, *(f"options: {option}" for option in options), "augment.turn", "augment.zoom"):
        assert f"{name} is " in told
    assert "values has inf; each must be a finite number." in told


def test_augmentation_that_cannot_be_is_refused_with_what_can(task):
    wrong = Strength(
        flip=1.1, shift=-3.0, turn=200.0, zoom=-2.0, operations=99, strong_zoom=10.0, shear=1.5, cutout=7.0
    )
    with pytest.raises(InvalidInput) as caught:
        task.settings(augment=wrong).check()
    assert [problem.partition(" ")[0] for problem in caught.value.problems] == [
        f"augment.{field.name}" for field in fields(Strength)
    ]
    assert "augment.operations is 99; it must be between 0 and 8, the operations that there are." in (
        caught.value.problems
    )
    for most in (Strength(1.0, 1.0, 180.0, 9.0, 8, 9.0, 1.0, 1.0), Strength(0.0, 0.0, 0.0, 0.0, 0, 0.0, 0.0, 0.0)):
        task.settings(augment=most).check()
    assert len(SPREADING) + len(TONAL) == COLOUR_OPERATIONS


def test_only_the_turn_is_found_out_by_itself_and_other_words_are_no_strength(task):
    task.settings(augment=Strength(turn="auto")).check()
    with pytest.raises(InvalidInput) as caught:
        task.settings(augment=Strength(turn="foo", zoom="auto", operations="auto")).check()
    assert list(caught.value.problems) == [
        "augment.turn is 'foo'; it must be 'auto' or between 0 and 180 degrees.",
        "augment.zoom is 'auto'; it must be between 0 and 9; 0.1 is a tenth larger or smaller.",
        "augment.operations is 'auto'; it must be between 0 and 8, the operations that there are.",
    ]


def test_ranks_that_cannot_share_the_batches_are_told_what_can(task):
    def told(ranks: int, labelled: int, unlabelled: int) -> str:
        batches = {"labelled_batch": labelled, "unlabelled_batch": unlabelled}
        with pytest.raises(InvalidInput) as caught:
            task.settings(ranks=ranks, scaling="strong", **batches).check()
        return caught.value.problems[0]

    unshared = "ranks: batches of 16 and 48 cannot be shared by 3 ranks; "
    assert told(3, 16, 48) == f"{unshared}ranks that can: 2, 4, 8; or take batches of 15 and 48."
    assert told(4, 3, 5).endswith("by 4 ranks; take batches of 4 and 4.")
    assert told(0, 16, 48) == "ranks is 0; it must be at least 1."
