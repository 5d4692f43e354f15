import numpy as np
import pytest

from seedbed.base.errors import InvalidInput
from seedbed.methods.label.groups import describe, estimate, group, kmeans, spread, typicality, unit
from seedbed.testing.groupers import CHECKS, blobs


@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_the_quick_default_does_what_every_grouper_must(check):
    check(lambda rows, count, seed: group(rows, count, seed=seed))


def on_circle(*degrees):
    """Rows of length 1 at these angles."""
    angles = np.radians(degrees)
    return np.stack([np.cos(angles), np.sin(angles)], axis=1).astype(np.float32)


def many_blobs(count, each=40, width=40):
    rng = np.random.default_rng(count)
    truth = np.repeat(np.arange(count), each)
    return unit(rng.normal(size=(count, width))[truth] + rng.normal(0, 0.25, (len(truth), width))), truth


def test_groups_are_by_angle_and_not_by_where_zero_is():
    rows = on_circle(350, 355, 0, 5, 90, 95, 100)
    found = kmeans(rows, 2, 0)
    assert len(set(found[:4])) == len(set(found[4:])) == 1 and found[0] != found[4]


def test_typicality_is_one_over_the_mean_distance_to_the_others_of_its_group():
    found = typicality(on_circle(0, 60, 180, 90), np.array([0, 0, 0, 1]))
    # chords of 60, 120 and 180 degrees: 1, sqrt(3) and 2; the last is alone in its group
    assert found == pytest.approx([2 / 3, 2 / (1 + 3**0.5), 2 / (2 + 3**0.5), 0])


def test_typicality_looks_at_the_twenty_nearest_only():
    near = [index / 100 for index in range(21)]
    alone = typicality(on_circle(*near), np.zeros(21, int))
    with_far = typicality(on_circle(*near, 180.0, 181.0), np.zeros(23, int))
    assert with_far[:21] == pytest.approx(alone, rel=1e-3)


def test_groups_are_numbered_by_size_and_empty_ones_left_out():
    rows = on_circle(0, 1, 90, 91, 92, 180)
    found = describe(rows, np.array([5, 5, 2, 2, 2, 7]))
    assert found.groups.tolist() == [1, 1, 0, 0, 0, 2] and found.count == 3
    assert found.centres[0] == pytest.approx(on_circle(91)[0], abs=1e-5)


@pytest.mark.parametrize("count", [3, 8, 20])
def test_the_number_of_clear_groups_is_found(count):
    rows, truth = many_blobs(count)
    assert estimate(spread(rows), 0) == count
    found = group(rows)
    assert found.count == count
    assert all(len(set(found.groups[truth == number])) == 1 for number in range(count))


def test_a_common_part_of_all_embeddings_makes_no_difference():
    rows, truth = many_blobs(5)
    shifted = unit(0.05 * rows + unit(np.ones((1, rows.shape[1]))))  # all point nearly the same way
    found = group(shifted, 5)
    assert all(len(set(found.groups[truth == number])) == 1 for number in range(5)) and found.count == 5


def test_more_images_than_the_samples_hold_are_all_grouped():
    rows, truth = many_blobs(2, each=5200, width=8)
    found = group(rows, 2)
    assert all((found.groups[truth == number] == found.groups[truth == number][0]).all() for number in range(2))
    assert (found.typicality > 0).all()


def test_half_precision_embeddings_are_grouped_too():
    rows, truth = blobs()
    assert np.array_equal(group(rows.astype(np.float16), 3).groups, truth)


@pytest.mark.parametrize("given", [np.zeros((0, 4), np.float32), np.zeros(4, np.float32), np.zeros((3, 4), int)])
def test_what_is_no_table_of_embeddings_is_refused(given):
    with pytest.raises(InvalidInput, match="embeddings has shape"):
        group(given)


def test_values_that_are_no_numbers_are_refused():
    rows, _ = blobs()
    rows[3, 2] = np.nan
    with pytest.raises(InvalidInput, match="not finite"):
        group(rows, 3)


def test_no_groups_at_all_are_refused():
    with pytest.raises(InvalidInput, match="count is 0"):
        group(blobs()[0], 0)
