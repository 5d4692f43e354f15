"""What answers on ordered classes say as a number."""

import numpy as np

from seedbed.methods.learn.ordered import expected_values


def test_the_value_to_be_expected_is_the_mean_of_the_values_by_probability():
    rows = np.array([[0.25, 0.125, 0.625], [1.0, 0.0, 0.0], [0.0, 0.5, 0.5]], np.float32)
    assert expected_values(rows, (0.0, 10.0, 100.0)).tolist() == [63.75, 0.0, 55.0]


def test_single_precision_loses_nothing_of_large_values():
    assert expected_values(np.array([[0.5, 0.5]], np.float32), (2.0**25, 2.0**25 + 2)).tolist() == [2.0**25 + 1]
