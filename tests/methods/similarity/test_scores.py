import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.stats import multivariate_normal
from sklearn.covariance import ledoit_wolf_shrinkage

from seedbed.base.errors import InvalidInput
from seedbed.methods.similarity.scores import (
    _checked,
    _ledoit_wolf,
    _spectrum,
    centre_accuracy,
    h_score,
    knn_accuracy,
    log_evidence,
    probe_accuracy,
    transfer_scores,
)

SCORES = [log_evidence, h_score, knn_accuracy, probe_accuracy, centre_accuracy]


def clouds(apart, count=60, width=8, classes=3, seed=0):
    """Images of some classes whose middles lie so far apart."""
    draws = np.random.default_rng(seed)
    labels = np.arange(count) % classes
    return draws.normal(size=(count, width)) + apart * draws.normal(size=(classes, width))[labels], labels


def evidence_by_covariance(features, labels):
    """The largest density of the labels under N(0, noise I + signal F F'), by a search over both."""
    total = []
    for kind in np.unique(labels):
        truth = (labels == kind).astype(float)

        def cost(logs, truth=truth):
            noise, signal = np.exp(logs)
            covariance = noise * np.eye(len(truth)) + signal * features @ features.T
            return -multivariate_normal(np.zeros(len(truth)), covariance).logpdf(truth) / len(truth)

        starts = [(-2.0, -2.0), (-1.0, -6.0), (-4.0, 0.0)]
        total.append(-min(minimize(cost, start, method="Nelder-Mead").fun for start in starts))
    return float(np.mean(total))


@pytest.mark.parametrize("count, width", [(24, 4), (12, 20)])
def test_the_evidence_is_the_largest_density_of_the_labels_under_the_full_covariance(count, width):
    features, labels = clouds(0.7, count, width, seed=count)
    assert log_evidence(features, labels) == pytest.approx(evidence_by_covariance(features, labels), abs=1e-4)


def test_features_of_all_zeros_have_the_evidence_of_noise_alone():
    labels = np.array([0, 0, 0, 1])
    by_hand = np.mean([-0.5 * (np.log(2 * np.pi * share) + 1) for share in (3 / 4, 1 / 4)])
    assert log_evidence(np.zeros((4, 3)), labels) == pytest.approx(by_hand)


def test_features_that_are_the_labels_have_much_evidence_and_not_an_endless_one():
    labels = np.arange(40) % 4
    assert 4 < log_evidence(np.eye(4)[labels], labels) < 7


@pytest.mark.parametrize("count, width", [(60, 8), (20, 50)])
def test_the_h_score_is_the_trace_of_its_definition(count, width):
    features, labels = clouds(1.0, count, width, seed=1)
    rows = features - features.mean(axis=0)
    shrinkage = ledoit_wolf_shrinkage(rows, assume_centered=True)
    covariance = rows.T @ rows / count
    shrunk = (1 - shrinkage) * covariance + shrinkage * np.trace(covariance) / width * np.eye(width)
    means = np.array([rows[labels == label].mean(axis=0) for label in labels])
    by_hand = np.trace(np.linalg.inv(shrunk) @ ((1 - shrinkage) * means.T @ means / count))
    assert h_score(features, labels) == pytest.approx(by_hand)
    assert 0 <= by_hand <= 2


def test_the_shrinkage_is_the_one_of_ledoit_and_wolf():
    rows = _checked(*clouds(0.5, 15, 30)).rows
    rows = rows - rows.mean(axis=0)
    spreads = _spectrum(rows).squares / len(rows)
    assert _ledoit_wolf(rows, spreads) == pytest.approx(ledoit_wolf_shrinkage(rows, assume_centered=True))


@pytest.mark.parametrize("k, right", [(1, 5 / 6), (3, 5 / 6), (5, 0), (99, 0)])
def test_neighbours_by_hand(k, right):
    turned = np.radians([0, 10, 20, 45, 90, 100])  # the fourth leans to the first three; with k = 5 all others vote
    lengths = np.array([1, 5, 1, 1, 9, 1])
    features = lengths[:, None] * np.stack([np.cos(turned), np.sin(turned)], axis=1)
    assert knn_accuracy(features, np.array([0, 0, 0, 1, 1, 1]), k=k) == pytest.approx(right)


def test_neighbours_agree_with_a_count_by_loops():
    features, labels = clouds(0.8, 50, seed=3)
    unit = features / np.linalg.norm(features, axis=1, keepdims=True)
    right = 0
    for image in range(50):
        alike = unit @ unit[image]
        alike[image] = -2
        others = np.argsort(-alike)[:5]
        votes = [(np.sum(labels[others] == kind), alike[others][labels[others] == kind].sum()) for kind in range(3)]
        right += max(range(3), key=lambda kind: votes[kind]) == labels[image]
    assert knn_accuracy(features, labels) == pytest.approx(right / 50)


@pytest.mark.parametrize("width", [4, 60])
def test_the_probe_answers_for_each_image_as_if_it_had_been_left_out(width, monkeypatch):
    features, labels = clouds(0.6, 30, width, seed=4)
    monkeypatch.setattr("seedbed.methods.similarity.scores._RIDGES", np.array([0.05]))
    rows = features / np.abs(features).max()
    ridge = 0.05 * np.linalg.svd(rows - rows.mean(axis=0))[1][0] ** 2
    right = 0
    for image in range(30):
        seen = np.arange(30) != image
        middle, truth = rows[seen].mean(axis=0), np.eye(3)[labels[seen]]
        x = rows[seen] - middle
        weights = np.linalg.solve(x.T @ x + ridge * np.eye(width), x.T @ (truth - truth.mean(axis=0)))
        right += np.argmax((rows[image] - middle) @ weights + truth.mean(axis=0)) == labels[image]
    assert probe_accuracy(features, labels) == pytest.approx(right / 30)


def test_centres_leave_each_image_out():
    features, labels = clouds(0.6, 30, seed=5)
    right = 0
    for image in range(30):
        seen = np.arange(30) != image
        centres = [features[seen & (labels == kind)].mean(axis=0) for kind in range(3)]
        right += np.argmin([np.linalg.norm(features[image] - centre) for centre in centres]) == labels[image]
    assert centre_accuracy(features, labels) == pytest.approx(right / 30)


@pytest.mark.parametrize("score", SCORES)
def test_features_that_tell_more_score_higher(score):
    values = [np.mean([score(*clouds(apart, 90, seed=seed)) for seed in range(5)]) for apart in (0.0, 0.5, 2.0)]
    assert values == sorted(values) and values[2] > values[0] + 0.3


@pytest.mark.parametrize("score", SCORES)
def test_neither_the_unit_of_the_features_nor_the_names_of_the_classes_matter(score):
    features, labels = clouds(0.8)
    asked = score(features, labels)
    assert score(1e-3 * features, labels) == pytest.approx(asked, abs=1e-6)
    assert score(features, 7 + 5 * labels) == pytest.approx(asked, abs=1e-9)


@pytest.mark.parametrize("score", SCORES)
def test_images_without_a_label_are_left_out(score):
    features, labels = clouds(0.8)
    more = np.concatenate([features, np.full((5, 8), np.nan)])
    assert score(more, np.concatenate([labels, np.full(5, -1)])) == score(features, labels)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize(
    "features, labels",
    [
        (np.random.default_rng(0).normal(size=(9, 4)), np.array([0, 0, 0, 0, 1, 1, 1, 1, 2])),
        (np.full((8, 4), 0.1), np.arange(8) % 2),
        (np.zeros((8, 4), np.float32), np.arange(8) % 2),
        (np.random.default_rng(0).normal(size=(6, 500)).astype(np.float16), np.arange(6) % 2),
        (np.random.default_rng(0).normal(size=(2, 3)), np.arange(2)),
        (np.random.default_rng(0).normal(size=(40, 1)), np.arange(40) % 2),
        (1e200 * np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2),
        (1e-200 * np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2),
        (np.repeat(np.eye(3), 5, axis=0), np.repeat(np.arange(3), 5)),
    ],
    ids=["one of a class", "constant", "zeros", "wide", "two", "narrow", "huge", "tiny", "exact"],
)
def test_odd_data_sets_get_a_number(score, features, labels):
    assert np.isfinite(score(features, labels))


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize(
    "features, labels, said",
    [
        (np.ones((4, 2)), np.zeros(4, int), "name 1 class;"),
        (np.ones((4, 2)), np.full(4, -1), "name 0 classes;"),
        (np.ones((0, 2)), np.zeros(0, int), "name 0 classes;"),
        (np.array([[1.0, np.nan], [1, 2], [np.inf, 2]]), np.array([0, 1, 1]), "2 of 3 images"),
        (np.ones((4, 2)), np.zeros(3, int), r"shape \(4, 2\) and labels \(3,\)"),
        (np.ones((4, 0)), np.arange(4), "shape"),
    ],
)
def test_what_cannot_be_scored_gets_a_sentence(score, features, labels, said):
    with pytest.raises(InvalidInput, match=said):
        score(features, labels)


def test_no_neighbour_is_refused():
    with pytest.raises(InvalidInput, match="k is 0"):
        knn_accuracy(*clouds(1.0), k=0)


def test_all_scores_come_by_name():
    features, labels = clouds(0.8)
    scores = transfer_scores(features, labels)
    assert scores["log-evidence"] == log_evidence(features, labels) and len(scores) == 5
