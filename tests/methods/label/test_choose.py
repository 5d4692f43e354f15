import time
from dataclasses import replace

import numpy as np
import pytest

from seedbed.base.errors import InvalidInput, NotFound
from seedbed.methods.label.choose import CHOOSERS, Choices, choose
from seedbed.methods.label.choosers.auto import best_places, nearness
from seedbed.methods.label.choosers.coverage import nearness as pure_nearness
from seedbed.methods.label.choosers.pool import pool_of
from seedbed.methods.label.choosers.uncertain import doubt
from seedbed.testing.choosers import CHECKS, choices

WITH_STRUCTURE = [name for name in CHOOSERS if name != "random"]


@pytest.mark.parametrize("name", list(CHOOSERS))
@pytest.mark.parametrize("check", CHECKS, ids=lambda check: check.__name__)
def test_every_chooser_keeps_the_contract(name, check):
    check(CHOOSERS.get(name))


@pytest.mark.parametrize("name", WITH_STRUCTURE)
@pytest.mark.parametrize("seed", range(5))
def test_four_clear_groups_are_all_found_with_four_choices(name, seed):
    of = choices(seed=seed)
    assert set(choose(of, 4, name) % 4) == {0, 1, 2, 3}


@pytest.mark.parametrize("name", [name for name in WITH_STRUCTURE if name != "uncertain"])
def test_groups_that_have_a_label_come_after_those_that_have_none(name):
    of = choices()
    labels = np.where((np.arange(120) < 20) & (np.arange(120) % 4 < 2), np.arange(120) % 4, -1)
    assert set(choose(replace(of, labels=labels), 2, name) % 4) == {2, 3}


@pytest.mark.parametrize("name", ["typical", "coverage", "auto"])
def test_an_image_that_is_like_no_other_is_not_among_the_first(name):
    of = choices()
    rows = of.embeddings.copy()
    odd = np.random.default_rng(5).normal(size=(3, rows.shape[1]))
    rows[:3] = odd / np.linalg.norm(odd, axis=1, keepdims=True)
    assert not np.isin(choose(replace(of, embeddings=rows), 4, name), [0, 1, 2]).any()


@pytest.mark.parametrize("name", ["auto", "coverage"])
def test_a_copy_of_a_labelled_image_is_not_worth_a_label(name):
    of = choices(images=60)
    doubled = np.concatenate([of.embeddings, of.embeddings[:4]])
    labels = np.concatenate([np.full(60, -1), np.arange(4)])
    assert not np.isin(choose(Choices(doubled, labels, 4), 5, name), [0, 1, 2, 3]).any()


def test_the_first_choices_are_the_same_however_many_are_asked_for_at_once():
    of = choices()
    assert choose(of, 40)[:4].tolist() == choose(of, 4).tolist()


def test_balanced_takes_as_many_of_each_known_group_counting_labels():
    of = choices()
    groups = np.repeat([0, 1, 2], [100, 15, 5])
    labels = np.where(np.isin(np.arange(120), [100, 101]), 0, -1)  # two of group 1
    rows = choose(replace(of, groups=groups, labels=labels), 7, "balanced")
    assert np.bincount(groups[rows]).tolist() == [3, 1, 3]


def test_facility_location_is_greedy_on_a_case_by_hand():
    like = np.array(
        [[1.0, 0.9, 0.1, 0.0], [0.9, 1.0, 0.2, 0.0], [0.1, 0.2, 1.0, 0.3], [0.0, 0.0, 0.3, 1.0]], np.float32
    )
    free, none = np.ones(4, bool), np.zeros(0, np.int64)
    assert best_places(like, np.ones(4, np.float32), free, none, 3) == [1, 2, 3]  # gains 2.1; then 1.1 of 1; then 0.7
    weights = np.array([1, 1, 1, 9], np.float32)
    assert best_places(like, weights, free, none, 1) == [3]
    assert best_places(like, np.ones(4, np.float32), np.array([1, 0, 1, 1], bool), np.array([1]), 1) == [2]


def test_lazy_bounds_give_what_computing_every_gain_gives():
    draws = np.random.default_rng(3)
    points = draws.normal(size=(80, 6))
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    like, weights = np.exp((points @ points.T - 1) / 0.3).astype(np.float32), draws.random(80).astype(np.float32)
    reached, plain = np.zeros(80, np.float32), []
    for _ in range(20):
        gains = np.maximum(like - reached, 0) @ weights
        gains[plain] = -1
        plain.append(int(gains.argmax()))
        reached = np.maximum(reached, like[plain[-1]])
    assert best_places(like, weights, np.ones(80, bool), np.zeros(0, np.int64), 20) == plain


def test_how_alike_counts_as_alike_shrinks_as_labels_grow():
    pool = pool_of(choices())
    alike = pool.points @ pool.points.T
    widths = [nearness(alike, labels) for labels in (1, 4, 12, 60)]
    assert widths == sorted(widths, reverse=True) and widths[0] > 2 * widths[-1]


def test_a_ball_is_as_wide_as_lets_nearly_all_be_of_one_group():
    angles = np.deg2rad(np.concatenate([np.arange(20), 90 + np.arange(20)]))
    alike = np.cos(angles[:, None] - angles[None]).astype(np.float32)
    wide = np.degrees(np.arccos(pure_nearness(alike, np.repeat([0, 1], 20))))
    assert 71 <= wide <= 73  # the groups are 71 degrees apart at the nearest


def test_doubt_is_one_minus_the_margin_and_comes_from_the_model_where_there_is_one():
    of = choices(images=4)
    chances = np.array([[0.7, 0.2, 0.1, 0.0], [0.4, 0.4, 0.1, 0.1], [1, 0, 0, 0], [0.5, 0.3, 0.2, 0.0]])
    assert np.allclose(doubt(replace(of, probabilities=chances), pool_of(of)), [0.5, 1.0, 0.0, 0.8])
    assert doubt(of, pool_of(of)) is None
    assert doubt(replace(of, probabilities=np.eye(4)[[1, 1, 1, 1]]), pool_of(of)) is None  # knows one class alone


@pytest.mark.parametrize("name", ["uncertain", "auto"])
def test_with_a_model_the_images_that_it_is_sure_of_come_last(name):
    of = choices(labels=20)
    sure = np.arange(120) % 4 < 3
    chances = np.where(sure[:, None], np.eye(4)[np.arange(120) % 4], 0.25)
    assert not sure[choose(replace(of, probabilities=chances), 10, name)].any()


@pytest.mark.parametrize("name", list(CHOOSERS))
def test_twenty_thousand_images_take_a_few_seconds_and_are_read_from_disk_in_part(name, tmp_path):
    draws = np.random.default_rng(0)
    place = np.lib.format.open_memmap(tmp_path / "rows.npy", "w+", np.float16, (20_000, 64))
    place[:] = draws.normal(size=(20_000, 64)) / 8
    labels = np.where(np.arange(20_000) < 40, np.arange(20_000) % 4, -1)
    began = time.process_time()
    rows = choose(Choices(np.load(tmp_path / "rows.npy", mmap_mode="r"), labels, 4), 20, name)
    assert len(np.unique(rows)) == 20 and time.process_time() - began < 20


def test_what_does_not_belong_together_is_refused_all_at_once():
    of = choices()
    with pytest.raises(InvalidInput) as refused:
        choose(replace(of, groups=np.zeros(3, int), labels=np.full(119, -1)), 3)
    assert len(refused.value.problems) == 2
    with pytest.raises(InvalidInput, match="do not belong"):
        choose(replace(of, labels=np.full(120, 7)), 3)
    with pytest.raises(NotFound, match="typicle"):
        choose(of, 3, "typicle")
