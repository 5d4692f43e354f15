"""The learning rate that nobody set: it follows the batches down, and a rate that was set stays."""

from dataclasses import replace

import pytest

from seedbed.methods.learn.rates import Usual, share_of
from seedbed.methods.learn.settings import AUTO_ON_A_GPU, ON_A_GPU, TrainSettings

USUAL = Usual(1e-3, (16, 48))


def test_batches_are_counted_by_the_noise_of_their_step() -> None:
    assert share_of((16, 48), USUAL.batches) == 1
    assert share_of((4, 12), USUAL.batches) == pytest.approx(1 / 4)
    assert share_of((4, 48), USUAL.batches) == pytest.approx((1 / 16 + 1 / 48) / (1 / 4 + 1 / 48))  # 4 / 13
    assert share_of((4, 48), USUAL.batches) < share_of((16, 12), USUAL.batches)  # few labelled ones are the worse


def test_a_quarter_of_the_batches_gets_half_of_the_rate_and_larger_ones_no_more_than_the_usual() -> None:
    assert USUAL.rate_for((4, 12)) == 5e-4
    assert USUAL.rate_for((4, 48)) == 5.5e-4  # 0.001 times the root of 4 / 13
    assert USUAL.rate_for((16, 48)) == USUAL.rate_for((64, 192)) == 1e-3
    small = [USUAL.rate_for((images, 3 * images)) for images in range(1, 17)]
    assert small == sorted(small)


def test_the_usual_batches_have_the_usual_rates() -> None:
    assert TrainSettings().rate() == 5e-4
    assert replace(TrainSettings(), **ON_A_GPU).rate() == 5e-4
    assert replace(TrainSettings(), **{**ON_A_GPU, "learning_rate": AUTO_ON_A_GPU}).rate() == 5e-4


def test_a_rate_that_was_set_is_kept_whatever_the_batches_are() -> None:
    settings = TrainSettings(labelled_batch=4, learning_rate=0.01)
    assert settings.rate() == 0.01 and settings.rate_reason() == "as it was set"


def test_under_weak_scaling_the_rate_of_a_rank_s_batches_is_taken_times_the_ranks() -> None:
    two = TrainSettings(labelled_batch=4, unlabelled_batch=12, ranks=2)
    assert two.rate() == 5e-4 and two.rate_reason().startswith("2 ranks times 0.00025, less than the 0.0005 of")
    assert replace(two, learning_rate=3e-4).rate_reason() == "2 ranks times 0.0003, as it was set"
    assert replace(two, scaling="strong").rate_reason().startswith("less than the 0.0005 of")
    assert replace(two, scaling="strong").rate() == 2.5e-4
    assert replace(two, learning_rate=3e-4).rate() == 6e-4


def test_ranks_raise_the_rate_no_further_than_the_labels_let_their_batch_grow() -> None:
    four = TrainSettings(ranks=4, learning_rate=1e-3)  # batches of 16
    labels = (0, 64, 30, 18, 16, 5)
    assert [four.rate(number) for number in labels] == pytest.approx([4e-3, 4e-3, 1.75e-3, 1e-3, 1e-3, 1e-3])
    assert four.rate_reason(30) == (
        "1.75 times 0.001, as it was set: 30 labels to learn from make the batch of 4 ranks 1.75 times as large"
    )
    assert four.rate_reason(64) == "4 ranks times 0.001, as it was set"
    assert replace(four, scaling="strong").rate(30) == 1e-3


def test_the_reason_names_both_batches_and_the_usual_rate() -> None:
    assert TrainSettings().rate_reason() == "the usual one"
    assert TrainSettings(labelled_batch=4).rate_reason() == (
        "less than the 0.0005 of the usual batches of 16 + 48, since batches of 4 + 48 make noisier steps"
    )
    larger = TrainSettings(labelled_batch=32).rate_reason()
    assert larger == "that of the usual batches of 16 + 48, since these make no noisier steps"


def test_what_followed_the_batches_on_a_gpu_is_told_from_what_was_set() -> None:
    few = replace(TrainSettings(), **{**ON_A_GPU, "labelled_batch": 16, "learning_rate": AUTO_ON_A_GPU})
    assert few.rate_follows and few.rate() < 5e-4
    assert few.rate_reason().startswith("less than the 0.0005 of the usual batches of 64")
    for rate in (few.rate(), 5e-4):
        assert replace(few, learning_rate=rate).rate_reason() == "as it was set"
