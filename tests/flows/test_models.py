"""What a model makes of one image."""

import numpy as np

from seedbed.flows.usecases.models import Guess, answer_of

ROWS = np.array([[0.25, 0.125, 0.625]], np.float32)


def test_an_answer_has_the_most_probable_class_first_and_the_value_to_be_expected() -> None:
    answer = answer_of(("none", "some", "all"), ROWS, (0.0, 10.0, 100.0))
    assert answer.guesses == (Guess("all", 0.625, 100.0), Guess("none", 0.25, 0.0), Guess("some", 0.125, 10.0))
    assert answer.value == 63.75  # 0.125 * 10 + 0.625 * 100


def test_classes_without_an_order_have_no_value() -> None:
    answer = answer_of(("oak", "ash", "elm"), ROWS, ())
    assert answer.value is None and {guess.value for guess in answer.guesses} == {None}
