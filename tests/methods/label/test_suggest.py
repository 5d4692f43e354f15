import time

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from seedbed.base.errors import InvalidInput
from seedbed.methods.label import suggest
from seedbed.methods.label.suggest import Suggester, by_neighbours, most_alike, nearest_labelled
from seedbed.testing.choosers import choices


def test_a_label_for_each_of_four_clear_groups_is_enough_for_all_images():
    of = choices(labels=4)
    chances = Suggester.fit(of.embeddings, of.labels, 4).probabilities(of.embeddings)
    assert chances.shape == (120, 4) and np.allclose(chances.sum(axis=1), 1, atol=1e-5)
    assert (chances.argmax(axis=1) == np.arange(120) % 4).all()


def test_classes_without_a_label_are_never_suggested():
    of = choices()
    labels = np.where(np.arange(120) < 8, np.arange(120) % 2 * 2 + 1, -1)  # classes 1 and 3 of 6
    chances = Suggester.fit(of.embeddings, labels, 6).probabilities(of.embeddings)
    assert not chances[:, [0, 2, 4, 5]].any() and chances[:, [1, 3]].all()


def test_one_class_alone_is_suggested_for_all_and_no_label_is_refused():
    of = choices()
    only = Suggester.fit(of.embeddings, np.where(np.arange(120) == 5, 2, -1), 4).probabilities(of.embeddings)
    assert (only[:, 2] == 1).all() and only.sum() == 120
    with pytest.raises(InvalidInput, match="no label"):
        Suggester.fit(of.embeddings, of.labels, 4)


@pytest.mark.parametrize("labels", [3, 12, 90])
def test_the_fit_in_the_span_of_the_labels_is_the_fit_in_all_dimensions(labels, monkeypatch):
    of = choices(labels=labels, spread=0.4)
    found = Suggester.fit(of.embeddings, of.labels, 4).probabilities(of.embeddings)
    rotated = np.concatenate([of.embeddings, np.zeros((120, 200), np.float32)], axis=1)  # now labels < dimensions
    again = Suggester.fit(rotated, of.labels, 4).probabilities(rotated)
    assert np.abs(found - again).max() < 0.03


def test_too_many_labels_are_thinned_evenly_by_class(monkeypatch):
    monkeypatch.setattr(suggest, "_MOST", 30)
    labels = np.concatenate([np.zeros(500, int), np.ones(12, int), np.full(10, 2), np.full(100, -1)])
    assert np.bincount(labels[suggest._spread(labels)]).tolist() == [10, 10, 10]


def test_neighbours_vote_by_how_alike_they_are():
    rows = np.array([[1, 0], [0.8, 0.6], [0, 1], [0.6, 0.8]], np.float32)
    labels = np.array([0, 1, 1, -1])
    found, alike = nearest_labelled(rows, labels, rows[3:], 2)
    assert found.tolist() == [[1, 2]] and np.allclose(alike, [[0.96, 0.8]])
    assert by_neighbours(rows, labels, 3, rows[3:], count=2).tolist() == [[0, 1, 0]]
    votes = by_neighbours(rows, labels, 2, rows[:1], count=2)[0]
    assert np.allclose(votes, np.array([1, np.exp(-2)]) / (1 + np.exp(-2)), atol=1e-5)  # alike 1 and 0.8


def test_more_neighbours_than_labels_are_those_there_are():
    of = choices(labels=2)
    found, alike = nearest_labelled(of.embeddings, of.labels, of.embeddings, 10)
    assert found.shape == alike.shape == (120, 2)
    assert nearest_labelled(of.embeddings, np.full(120, -1), of.embeddings, 3)[0].shape == (120, 0)


def test_the_most_alike_of_a_few_images_are_of_their_group_and_not_themselves():
    of = choices(spread=0.05)
    rows, alike = most_alike(of.embeddings, np.array([0, 4]), 20)
    assert (rows % 4 == 0).all() and not np.isin(rows, [0, 4]).any() and (np.diff(alike) <= 0).all()
    assert len(most_alike(of.embeddings, np.array([0, 4]), 1000)[0]) == 118


def test_it_is_fitted_again_in_under_a_second(tmp_path):
    draws = np.random.default_rng(0)
    rows = draws.normal(size=(5000, 1280)).astype(np.float32)
    rows += 3 * draws.normal(size=(10, 1280))[np.arange(5000) % 10]
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    np.save(tmp_path / "rows.npy", rows.astype(np.float16))
    mapped = np.load(tmp_path / "rows.npy", mmap_mode="r")
    labels = np.where(np.arange(5000) < 400, np.arange(5000) % 10, -1)
    spent = []
    for _ in range(3):
        began = time.process_time()
        with threadpool_limits(1):  # as desks have it: several wait for each other longer than they reckon
            Suggester.fit(mapped, labels, 10)
        spent.append(time.process_time() - began)
    assert min(spent) < 1


def test_many_classes_with_one_label_each_are_fitted_without_a_warning():
    rows = np.random.default_rng(0).normal(size=(60, 30)).astype(np.float32)
    labels = np.where(np.arange(60) < 40, np.arange(60), -1)
    head = Suggester.fit(rows, labels, 40)
    assert (head.probabilities(rows[:40]).argmax(axis=1) == np.arange(40)).all()
