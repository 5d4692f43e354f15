"""What a report says beyond accuracy."""

import json

import pytest

from seedbed.assets.store.bundle import Array, ArrayType, Bundle, Lineage
from seedbed.faces.ui.reliability import reliability
from seedbed.faces.ui.reports import (
    Mistake,
    cells_of,
    confidence_in_words,
    curve_of,
    mistakes_of,
    more_in_words,
    rate_of,
    reliability_of,
    scores_of,
    used_of,
)

BINS = [
    {"confidence": 0.55, "accuracy": 0.5, "count": 4},
    {"confidence": 0.0, "accuracy": 0.0, "count": 0},
    {"confidence": 0.95, "accuracy": 0.75, "count": 16},
]


def test_a_report_that_has_only_accuracy_says_no_more():
    assert list(more_in_words({"accuracy": 0.5})) == []
    assert reliability_of({}) == [] and mistakes_of({}) == []


def test_ordered_classes_are_told_how_far_off_and_two_classes_how_well_ranked():
    classes = [{"name": "good"}, {"name": "scratched"}]
    given = {"mean_absolute_error": 4.25, "expected_absolute_error": 3.5, "roc_auc": 0.9641, "classes": classes}
    off, ranked, noted = more_in_words({**given, "notes": ["Something was not measured."]})
    assert "4.25 away" in off and "3.5." in off
    assert "96.4 %" in ranked and "one is scratched" in ranked
    assert noted == "Something was not measured."


def test_the_scores_of_the_classes_end_with_their_means():
    classes = [
        {"name": "rust", "recall": 0.5, "precision": 1.0, "f1": 2 / 3, "count": 6},
        {"name": "blight", "recall": 1.0, "precision": 0.25, "f1": 0.4, "count": 1},
    ]
    means = {"recall": 0.75, "precision": 0.625, "f1": 8 / 15, "count": 7}
    assert scores_of({"classes": classes, **means}) == [*classes, {"name": "Mean of the classes", **means}]
    assert scores_of({"classes": classes}) == classes  # a report that has none


def test_a_class_that_is_not_in_the_test_or_was_never_said_has_no_share_of_it():
    scores = {"recall": 0.0, "precision": 0.0, "f1": 0.0}
    classes = [
        {"name": "rust", "recall": 0.75, "precision": 0.75, "f1": 0.75, "count": 4},
        {"name": "blight", **scores, "count": 1},
        {"name": "mosaic", **scores, "count": 0},
        {"name": "mildew", **scores, "count": 0},
    ]
    confusion = [[3, 0, 1, 0], [1, 0, 0, 0], [0, 0, 0, 0], [0, 0, 0, 0]]
    means = {"recall": 0.375, "precision": 0.375, "f1": 0.375, "count": 5}
    assert list(cells_of({"classes": classes, "confusion": confusion, **means})) == [
        ("rust", "4", "75 %", "75 %", "75 %"),
        ("blight", "1", "0 %", "", "0 %"),
        ("mosaic", "0", "not in the test", "0 %", ""),
        ("mildew", "0", "not in the test", "", ""),
        ("Mean of the classes", "5", "37.5 %", "37.5 %", "37.5 %"),
    ]


def test_confidence_is_told_with_what_it_was_before_its_temperature():
    assert confidence_in_words(0.0312, None).endswith("3.1 points away from how often it is right (ECE).")
    assert confidence_in_words(0.0312, 0.125).endswith("before its temperature was fitted it was 12.5.")


def test_empty_bins_are_not_drawn_and_more_images_make_larger_points():
    ((name, bins),) = reliability_of({"reliability": BINS})
    assert (name, bins) == ("as it is", [(0.55, 0.5, 4), (0.95, 0.75, 16)])
    diagonal, line = reliability([(name, bins)])["series"]
    assert diagonal["data"] == [[0, 0], [100, 100]]
    assert [point["value"] for point in line["data"]] == [[55.0, 50.0, 4], [95.0, 75.0, 16]]
    assert line["data"][0]["symbolSize"] < line["data"][1]["symbolSize"]
    json.dumps(reliability([]), allow_nan=False)


def test_mistakes_keep_the_numbers_of_their_images():
    given = [{"index": 7, "true": "rust", "called": "blight", "confidence": 0.9}]
    assert mistakes_of({"mistakes": given}) == [Mistake(7, "rust", "blight", 0.9)]


def test_the_evaluations_in_training_become_a_curve_for_each_measure():
    points = [{"step": 30.0, "accuracy": 0.5}, {"step": 60.0, "accuracy": 0.75, "loss_held_out": 0.4}]
    assert curve_of({"curve": points}) == {"accuracy": [(30, 0.5), (60, 0.75)], "loss_held_out": [(60, 0.4)]}
    assert curve_of({}) == {}


def test_what_a_training_took_comes_from_its_model_and_its_last_words():
    arrays = {"steps": Array(ArrayType.INT, (240,)), "labels": Array(ArrayType.INT, (1,))}
    model = Bundle("m", "m", "model", "", 0.0, {}, arrays, Lineage(), False, "", "")
    used = used_of(model, {"memory_gib": [(5, 1.0), (240, 1.26)], "memory_gpu_gib": []})
    assert used == {"steps": "240", "label": "1", "of memory": "1.3 GiB"}


def test_a_report_says_which_learning_rate_was_taken_and_why():
    arrays = {
        "learning_rate": Array(ArrayType.FLOAT, (5.5e-4,)),
        "rate_reason": Array(ArrayType.STR, ("as it was set",)),
    }
    model = Bundle("m", "m", "model", "", 0.0, {}, arrays, Lineage(), False, "", "")
    assert rate_of(model) == "The learning rate rose to 0.00055: as it was set."
    assert rate_of(Bundle("m", "m", "model", "", 0.0, {}, {}, Lineage(), False, "", "")) == ""


@pytest.mark.parametrize(
    ("steps", "said"), [(240, {"steps": "240 of 1,200"}), (1, {"steps": "1 of 1,200"}), (None, {})]
)
def test_a_training_that_ended_early_took_some_of_its_steps(steps: int | None, said: dict[str, str]):
    took = {"planned": 1200} | ({} if steps is None else {"steps": steps})
    arrays = {name: Array(ArrayType.INT, (number,)) for name, number in took.items()}
    assert used_of(Bundle("m", "m", "model", "", 0.0, {}, arrays, Lineage(), False, "", ""), {}) == said
