"""What the rows say is counted by hand, and rows that are there are never run again."""

import argparse
from dataclasses import replace

import numpy as np
import pytest
from benchmarks.few_labels import Rows, Set, choose, recipe_of
from benchmarks.peers.players import ROOT
from benchmarks.ssl_accuracy import (
    EVERY,
    FULL,
    MORE,
    QUICK,
    Scale,
    asked,
    jobs_of,
    measure,
    named_in,
    recipe_for,
    run,
    settings_of,
    trained_answers,
)
from benchmarks.ssl_peer import answers_of
from benchmarks.ssl_picture import draw
from benchmarks.ssl_report import (
    ALL,
    CORE,
    DEFAULT,
    LABELS_ONLY,
    OTHERS,
    PEER,
    PROBE,
    comparisons,
    figure_7,
    figures,
    means_table,
    nearness,
    newest,
    note,
    table_ii,
)

from seedbed.assets.data.synthetic import draw_leaves
from seedbed.methods.learn.algorithm import ALGORITHMS
from seedbed.methods.learn.algorithms.steady import Steady
from seedbed.methods.learn.settings import Strength, TrainSettings

ACCURACY = {DEFAULT: 0.80, LABELS_ONLY: 0.70, PROBE: 0.60, ALL: 0.82, PEER: 0.75}


def row_of(job, accuracy=None, *, marked=False, **more):
    found = ACCURACY.get(job["method"], 0.5) + 0.1 * (job["labels"] == 40) if accuracy is None else accuracy
    return {**job, "accuracy": found, "marked": marked, "steps": 600, "seconds": 1.0, **more}


@pytest.fixture
def rows():
    """The core table, as older runs wrote it: no scores but the accuracy."""
    return [row_of(job) for job in jobs_of(FULL)]


def options(**given):
    unsaid = {"more": False, "laptop": False, "compiled": False, "methods": "", "sets": "", "labels": "", "seeds": ""}
    return argparse.Namespace(**{**unsaid, **given})


def test_the_core_comes_first_and_more_is_the_other_budgets_and_sets_with_one_seed():
    core = list(jobs_of(FULL))
    recipe = recipe_of(settings_of(DEFAULT, FULL))
    assert core[0] == {"method": DEFAULT, "set": CORE[0], "labels": 5, "seed": 0, "size": 128, "recipe": recipe}
    assert {job["method"] for job in core} == {*ALGORITHMS, PROBE, ALL, PEER}
    more = [job for scale in MORE for job in jobs_of(scale)]
    assert {job["seed"] for job in more} == {0}
    assert {job["labels"] for job in more if job["set"] in CORE} == {0, 10, 20, 80}
    assert {job["labels"] for job in more if job["set"] in OTHERS} == {0, 5, 10, 20, 40, 80}


def test_rows_can_be_asked_for_by_method_set_budget_and_seed():
    (scale,) = asked(options(methods=f"{DEFAULT},{PEER}", sets="cifar10", labels="10,20", seeds="1"))
    assert [(job["method"], job["set"], job["labels"], job["seed"]) for job in jobs_of(scale)] == [
        (method, "cifar10", budget, 1) for method in (DEFAULT, PEER) for budget in (10, 20)
    ]
    assert [scale.methods for scale in asked(options(more=True))] == [EVERY, EVERY]
    quick = named_in(options(methods=PEER, labels="5"), QUICK)
    assert (quick.methods, quick.budgets, quick.sets, quick.steps) == ((PEER,), (5,), QUICK.sets, QUICK.steps)


def test_a_laptops_table_is_of_the_same_runs_with_smaller_images_and_has_no_reference_of_a_gpu():
    (scale,) = asked(options(laptop=True))
    kinds = {(job["method"], job["set"], job["labels"], job["seed"]) for job in jobs_of(scale)}
    assert kinds == {tuple(row[name] for name in ("method", "set", "labels", "seed")) for row in jobs_of(FULL)} - {
        (PEER, name, budget, seed) for name in CORE for budget in (5, 40) for seed in (0, 1, 2)
    }
    assert scale.size == TrainSettings().size < FULL.size
    lines = means_table([row_of(job) for job in jobs_of(scale)], CORE)
    assert lines and "reference" not in lines[0]
    assert "plain loop" not in note([row_of(job) for job in jobs_of(scale)], CORE)


@pytest.mark.parametrize("scale", [FULL, QUICK, *MORE])
def test_semilearn_can_take_the_batches_which_it_counts_in_multiples(scale):
    assert scale.unlabelled % scale.labelled == 0


def test_means_and_losses_are_those_counted_by_hand(rows):
    found = {name: round(value, 6) for name, value in figures(rows, CORE).items()}
    assert found == {
        "mean_at_5_pct": 80.0,
        "mean_at_40_pct": 90.0,
        "worst_minus_labels_only_points": 10.0,
        "worst_minus_probe_points": 20.0,
        "worst_minus_semilearn_points": 5.0,
        "minus_semilearn_points": 5.0,
        "sets_within_1_points_pct": 100.0,
        "sets_within_3_points_pct": 100.0,
    }


def test_a_mean_over_sets_that_are_not_all_there_is_no_figure(rows):
    assert "mean_at_5_pct" not in figures([row for row in rows if row["set"] != CORE[0]], CORE)


def test_only_sets_that_admit_forty_labels_are_counted_and_marked_budgets_are_not_theirs(rows):
    changed = [
        {**row, "marked": row["labels"] == 40}
        if row["set"] == "plantdoc"
        else {**row, "accuracy": 0.79}
        if (row["set"], row["method"]) == ("cifar10", DEFAULT)
        else row
        for row in rows
    ]
    lines = {line["set"]: line for line in nearness(changed)}
    assert lines.keys() == {*CORE} - {"plantdoc"}
    assert lines["cifar10"] == {
        "set": "cifar10",
        "points behind all labels at 40": "3.0",
        "within 1": "",
        "within 3": "5",
    }
    found = figures(changed, CORE)
    assert round(found["sets_within_1_points_pct"], 6) == round(500 / 6, 6) and found["sets_within_3_points_pct"] == 100


def test_a_loss_inside_the_paired_interval_is_a_tie_and_one_beyond_it_is_named(rows):
    worse = {0: -0.01, 1: -0.02, 2: 0.02}
    changed = [
        {**row, "accuracy": 0.7 + worse[row["seed"]]}
        if (row["method"], row["set"], row["labels"]) == (DEFAULT, "cifar10", 5)
        else {**row, "accuracy": 0.4}
        if (row["method"], row["set"], row["labels"]) == (DEFAULT, "neu-steel", 5)
        else row
        for row in rows
    ]
    (gain, (low, high), where) = next(line for line in comparisons(changed, CORE, LABELS_ONLY) if "cifar10" in line[2])
    assert where == "cifar10 at 5" and low < gain < 0 < high
    assert "loses beyond the paired 95 % interval: neu-steel at 5 against supervised (-30.0)" in note(changed, CORE)


def test_of_one_seed_nothing_is_said_of_an_interval_and_every_loss_is_named(rows):
    worse = [{**row, "accuracy": 0.1} if row["method"] == DEFAULT else row for row in rows if row["seed"] == 0]
    said = note(worse, CORE)
    assert "loses beyond" not in said and said.count("against supervised") == 2 * len(CORE)
    assert "are of one seed, which has no interval; behind in those: plant-seedlings at 5 against supervised" in said
    assert figures(worse, CORE)["worst_minus_labels_only_points"] < -50


def test_a_run_with_former_defaults_is_measured_anew_and_shown_as_such_until_then(rows):
    today = {method: recipe_for(method, FULL) for method in FULL.methods}
    former = [row_of({**row, "recipe": "former"}, 0.1) for row in rows if row["set"] == CORE[0]]
    shown = newest([*former, *(row for row in rows if row["method"] == DEFAULT)], today)
    assert "^" not in figure_7(shown)[0]["5 labels, error %"], "the default has been measured with today's"
    others = [line for line in figure_7(shown) if line["set"] == CORE[0] and line["method"] not in (DEFAULT, ALL)]
    assert others and {line["5 labels, error %"] for line in others} == {"90.0^"}
    said = note(shown, CORE)
    assert (
        f"^ with former default settings, as {len(former) - 6} of the {len(shown)} runs were measured so far." in said
    )
    assert "^" not in note(newest(rows, today), CORE)


def formerly(rows, *methods, accuracy=0.1, seeds=(0, 1, 2)):
    """The same rows, of which those of some methods have only been measured with former settings."""
    return [
        {**row, "former": True, "accuracy": accuracy} if row["method"] in methods and row["seed"] in seeds else row
        for row in rows
    ]


def test_runs_with_former_settings_are_not_held_against_todays(rows):
    assert comparisons(formerly(rows, DEFAULT), CORE, LABELS_ONLY) == []
    assert "against" not in note(formerly(rows, DEFAULT), CORE)
    both = comparisons(formerly(rows, DEFAULT, LABELS_ONLY), CORE, LABELS_ONLY)
    assert [(gain, where) for gain, _, where in both][:1] == [(0.0, f"{CORE[0]} at 5^")]
    some = comparisons(formerly(rows, DEFAULT, seeds=(0,)), CORE, LABELS_ONLY)
    assert {(round(gain, 6), where[-1]) for gain, _, where in some} == {(10.0, "5"), (10.0, "0")}, (
        "two seeds of today's"
    )


def test_no_figure_rests_on_former_settings(rows):
    every = figures(rows, CORE)
    assert figures(formerly(rows, DEFAULT, seeds=(0,)), CORE) == {}
    without = {name for name in every if name not in figures(formerly(rows, PROBE), CORE)}
    assert without == {"worst_minus_probe_points"}
    without = {name for name in every if name not in figures(formerly(rows, ALL), CORE)}
    assert without == {"sets_within_1_points_pct", "sets_within_3_points_pct"}


def test_every_cell_that_rests_on_former_settings_says_so(rows):
    mixed = formerly(rows, DEFAULT, ALL, seeds=(0,), accuracy=0.8)
    line = next(line for line in means_table(mixed, CORE) if line["method"] == DEFAULT)
    assert {line[name] for name in (*CORE, "mean")} == {"80.0^"}
    scored = [{**row, "f1": 0.5, "precision": 0.5, "recall": 0.5} for row in mixed]
    assert table_ii(scored)[0]["F1 %"] == "50.00^" and table_ii(scored)[-1]["F1 %"] == "89.61"
    assert nearness(mixed)[0]["within 1"] == nearness(rows)[0]["within 1"] == "40", "of the seeds that are of today's"
    all_former = nearness(formerly(rows, DEFAULT, ALL))
    assert all_former[0] == {
        "set": CORE[0],
        "points behind all labels at 40": "-0.0^",
        "within 1": "5^",
        "within 3": "5^",
    }


def test_all_that_is_set_but_the_names_of_classes_makes_a_recipe():
    plain = settings_of(DEFAULT, FULL)
    same = (replace(plain, classes=("a", "b")), replace(plain, compile="always", report_every=7))
    assert {recipe_of(settings) for settings in same} == {recipe_of(plain)}
    other = (
        replace(plain, ema=0.5),
        replace(plain, options={"align": 0.5}),
        replace(plain, augment=Strength(zoom=0.2)),
    )
    assert len({recipe_of(settings) for settings in (plain, *other)}) == 4


def test_the_defaults_of_the_algorithm_itself_belong_to_its_recipe(monkeypatch):
    plain, probe = (settings_of(method, FULL) for method in (DEFAULT, PROBE))
    before, of_the_probe = recipe_of(plain), recipe_of(probe)
    assert recipe_of(replace(plain, options={"align": Steady.align})) == before, "said or not, it is the same"
    monkeypatch.setattr(Steady.__dataclass_fields__["threshold"], "default", 0.8)
    assert recipe_of(plain) != before and recipe_of(probe) == of_the_probe
    assert recipe_of(replace(plain, options={"threshold": 0.9})) == before


def test_what_the_one_step_of_a_probe_sees_and_averages_is_no_part_of_its_recipe():
    other = replace(FULL, ema=0.98, augment=Strength(flip=0.0, zoom=0.5))
    assert recipe_for(PROBE, other) == recipe_for(PROBE, FULL)
    assert recipe_for(LABELS_ONLY, other) != recipe_for(LABELS_ONLY, FULL)
    assert recipe_for(PROBE, replace(FULL, size=96)) != recipe_for(PROBE, FULL)
    images, truth, classes = draw_leaves(6, seed=1, size=24)
    data = Set("leaves", images, truth, images, truth, classes)
    small = {"size": 24, "labelled": 4, "unlabelled": 4}
    one, two = (
        trained_answers(data, truth, settings_of(PROBE, replace(scale, **small), classes), 0)[0]
        for scale in (FULL, other)
    )
    assert np.abs(one - two).max() < 1e-4


def test_figure_7_has_a_line_per_set_and_method_with_the_error_at_every_budget(rows):
    one = {"method": DEFAULT, "set": "plantvillage", "labels": 80, "seed": 0, "size": 128}
    lines = figure_7([*rows, row_of(one, 0.9, marked=True)])
    first = lines[0]
    assert (first["set"], first["method"]) == (CORE[0], DEFAULT)
    assert (first["5 labels, error %"], first["40 labels, error %"], first["80 labels, error %"]) == (
        "20.0",
        "10.0",
        "",
    )
    assert next(line for line in lines if line["method"] == ALL)["all labels, error %"] == "18.0"
    village = [line for line in lines if line["set"] == "plantvillage"]
    assert village[0]["80 labels, error %"] == "~10.0*", "one seed, and a class that gave half"
    assert [line["method"] for line in village[1:]] == [f"{name} in HARVEST" for name in ("mixmatch", "flexmatch", ALL)]
    assert village[2]["5 labels, error %"] == "7.04" and village[3]["all labels, error %"] == "0.90"


def test_the_accuracy_table_stands_beside_the_reference(rows):
    lines = {(line["method"], line["labels"]): line for line in means_table(rows, CORE)}
    assert lines[LABELS_ONLY, 5]["mean"] == "70.0" and lines[LABELS_ONLY, 5]["reference"] == 55.6
    assert lines[ALL, "all"]["reference"] == 83.4


def test_table_ii_takes_the_largest_budget_that_has_scores_and_adds_the_papers_lines(rows):
    assert table_ii(rows) == [], "rows of older runs have no F1"
    scored = {"precision": 0.5, "recall": 0.6, "f1": 0.55}
    more = [row_of({**row, "labels": 80}, 0.9, **scored) for row in rows if row["method"] == DEFAULT]
    first, *_, corn, soybean = table_ii([*rows, *more])
    assert list(first.values()) == [CORE[0], 80, "90.00", "50.00", "60.00", "55.00"]
    assert list(corn.values()) == ["HARVEST, corn", 80, "97.08", "91.77", "95.43", "92.61"]
    assert soybean["F1 %"] == "89.61"


def test_rows_that_are_there_are_not_run_again_and_the_report_names_their_origin(tmp_path):
    kept = Rows(tmp_path / "rows.jsonl")
    scale = Scale(("cifar10",), seeds=(0,), methods=(DEFAULT,))
    for job in jobs_of(scale):
        kept.append(row_of(job))
    before = kept.path.read_bytes()
    report = measure([scale], kept, real=True, minutes=10, workers=1, core=scale)
    assert kept.path.read_bytes() == before
    assert report.figures["mean_at_5_pct"] == 80.0
    assert next(iter(kept))["commit"] in report.origin


def test_the_picture_has_a_panel_per_set(rows, tmp_path):
    drawn = draw(rows, tmp_path).read_text()
    assert all(name in drawn for name in CORE) and "semilearn freematch" in drawn


def test_a_run_has_all_scores_of_table_ii():
    scale = Scale(("leaves",), size=24, steps=1, labelled=4, unlabelled=4, seeds=(0,))
    row = run({"method": PROBE, "set": "leaves", "labels": 2, "seed": 0, "size": 24}, scale)
    assert {"accuracy", "precision", "recall", "f1", "marked", "steps", "seconds"} <= row.keys()
    assert 0 <= row["f1"] <= 1


@pytest.mark.slow
@pytest.mark.skipif(not (ROOT / ".venv-peers").exists(), reason="make peers has not been run")
def test_semilearn_learns_from_the_labels_that_it_is_given_and_no_others():
    images, truth, classes = draw_leaves(8, seed=1, size=32)
    leaves = Set("leaves", images, truth, images, truth, classes)
    scale = Scale(("leaves",), size=32, steps=40, labelled=8, unlabelled=8, rate=2e-3)
    settings = settings_of(PEER, scale, leaves.classes)
    chosen = choose(truth, 4, seed=0)[0]
    turned = np.where(chosen >= 0, (chosen + 1) % len(classes), -1)  # every label names the next class
    answers = answers_of(leaves, turned, settings, seed=0)
    assert answers.shape == (len(images), len(classes))
    np.testing.assert_allclose(answers.sum(axis=1), 1, rtol=1e-5)
    given = np.flatnonzero(turned >= 0)
    assert answers[given, turned[given]].mean() > answers[given, truth[given]].mean() + 0.1
