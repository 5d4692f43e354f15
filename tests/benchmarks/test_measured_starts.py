"""What starts brought, by hand; the folds and groups of runs; and one that is trained."""

import numpy as np
import pytest
from benchmarks.few_labels import Rows
from benchmarks.measured_starts import (
    Pair,
    attainable,
    distances_of,
    keep_starts,
    outcomes_of,
    pairs_of,
    ratios_of,
    repeatability,
)
from benchmarks.transfers import _SCORED, IMAGENET, LITE0, LITE1, SCRATCH, Scale, fill, groups_of, pooled

from seedbed.assets.zoo.measured import measured_starts
from seedbed.methods.similarity import starts
from seedbed.methods.similarity.evidence import Outcome

TINY = Scale(
    sets=("drawn-01", "drawn-23"),
    few_sets=(),
    architectures=(LITE0,),
    folds=1,
    size=32,
    batch=8,
    rate=1e-3,
    epochs=1,
    scratch_epochs=1,
    images=24,
)


def row(target, start, curve, fold=0, probe=0.5):
    """A row of a run, as `transfers` keeps it."""
    facts = {"architecture": LITE0, "target": target, "start": start, "fold": fold, "size": 96}
    return {**facts, "curve": curve, "scores": {"probe": probe}, "images": 100, "judges": 10_000}


def test_starts_are_scored_on_as_many_images_as_a_ranking_looks_at() -> None:
    assert _SCORED == starts._LOOKED_AT


def test_folds_share_out_each_class_and_every_image_judges_once():
    data = pooled("drawn-01", 32, 48)
    judges = [data.parts(fold)[1] for fold in range(3)]
    assert sorted(np.concatenate(judges).tolist()) == list(range(48))
    assert all(np.bincount(data.labels[part]).tolist() == [8, 8] for part in judges)
    assert not set(data.parts(0)[0]) & set(judges[0])


def test_every_set_is_a_source_for_every_other_and_the_larger_networks_for_a_few():
    first, second = (
        [jobs for jobs in groups_of(Scale()) if jobs[0]["architecture"] == name] for name in (LITE0, LITE1)
    )
    runs = [(job["target"], job["start"], job["fold"]) for jobs in first for job in jobs]
    assert len(runs) == len(set(runs)) == 3 * (8 + 8 + 56)
    makes = [jobs for jobs in first + second if jobs[0]["start"] == IMAGENET]  # the weights of the others
    assert all(job["start"] == jobs[0]["target"] for jobs in makes for job in jobs[1:])
    assert all(job["start"] == SCRATCH for jobs in first + second if jobs not in makes for job in jobs)
    assert sum(len(jobs) for jobs in second) == 3 * (8 + 4 * 3)


def test_epochs_are_counted_to_the_same_accuracy_and_summed_over_folds():
    rows = [
        row("a", IMAGENET, [0.5, 0.6, 0.7, 0.8]),
        row("a", "b", [0.7, 0.8, 0.8, 0.8], probe=0.75),
        row("a", IMAGENET, [0.5, 0.8, 0.7, 0.7], fold=1),
        row("a", "b", [0.6, 0.7, 0.9, 0.8], fold=1, probe=0.75),  # 0.9 is another peak: the last is as high as 0.8
    ]
    (pair,) = pairs_of(rows, "0.1 %")
    assert (pair.epochs, pair.baseline_epochs) == ((2, 4), (4, 2))
    assert pair.ratio == 1 and pair.gain_points == pytest.approx(5) and pair.scores == {"probe": 0.25}
    (outcome,) = outcomes_of([pair], {("a", "b"): 0.7})
    assert (outcome.epoch_ratio, outcome.evidence.ratio, outcome.evidence.target_images) == (1, 0.7, 100)


def test_what_a_pair_says_does_not_depend_on_the_order_of_rows_nor_on_those_of_other_networks():
    folds = [
        {**row("a", start, [0.5, 0.8], fold=fold), "images": 100 + 4 * fold}
        for fold in range(2)
        for start in (IMAGENET, "b")
    ]
    other = {**row("a", IMAGENET, [0.5, 0.8], fold=1), "architecture": LITE1, "images": 104}
    assert pairs_of(folds) == pairs_of(folds[::-1]) == pairs_of([*folds, other])
    assert pairs_of(folds)[0].images == 102


def test_peaks_within_a_standard_error_are_alike():
    rows = [row("a", IMAGENET, [0.5, 0.8]), row("a", "b", [0.797, 0.799, 0.803])]  # one error is 0.004
    assert pairs_of(rows, "one standard error")[0].epochs == (3,)
    assert pairs_of(rows, "0.1 %")[0].epochs == (2,)


def test_what_never_gets_as_far_is_not_quick():
    rows = [
        row("a", IMAGENET, [0.5, 0.6, 0.793, 0.8, 0.799]),  # two errors are 0.008: it is there after three epochs
        row("a", "b", [0.7, 0.793, 0.79, 0.81]),
        row("a", "c", [0.7, 0.75, 0.7, 0.7, 0.7, 0.7]),
    ]
    reached = {pair.source: pair for pair in pairs_of(rows, "reached")}
    assert (reached["b"].epochs, reached["b"].baseline_epochs) == ((2,), (3,))
    assert reached["c"].ratio == 2, "the paper's way counts two epochs, to a best that is no good"
    assert {pair.source: pair.epochs for pair in pairs_of(rows, "0.1 %")}["c"] == (2,)


def measured(source, *epochs):
    """A pair whose baseline took four epochs in every fold."""
    return Pair(LITE0, source, "a", epochs, (4,) * len(epochs), 0.0, {}, 100)


def test_what_repeats_between_folds_is_no_chance():
    assert repeatability([measured("b", 2, 3), measured("c", 4, 6), measured("d", 8, 12)]) == pytest.approx(1)
    assert repeatability([measured("b", 2, 8), measured("c", 4, 4), measured("d", 8, 2)]) == pytest.approx(-1)
    assert repeatability([measured("b", 2), measured("c", 4)]) == repeatability([]) == 0


def test_who_foretells_the_truth_is_held_against_means_whose_chance_is_less_than_that_of_a_fold():
    draws = np.random.default_rng(0)
    truth = draws.normal(size=2000)
    pairs = [measured(str(n), *np.exp(one + draws.normal(size=3))) for n, one in enumerate(truth)]
    means = np.log([pair.epochs for pair in pairs]).mean(axis=1)
    found = np.corrcoef(truth, means)[0, 1]
    assert attainable(pairs) == pytest.approx(found, abs=0.02) and found == pytest.approx(0.75**0.5, abs=0.02)
    assert attainable([]) == 0


def test_from_scratch_all_epochs_count_where_the_accuracy_is_never_reached():
    rows = [row("a", IMAGENET, [0.5, 0.8]), row("a", SCRATCH, [0.1, 0.3, 0.2])]
    assert pairs_of(rows)[0].epochs == (3,)
    assert outcomes_of(pairs_of(rows), {}) == []


def test_ratios_are_distances_over_that_of_the_target_to_the_baseline():
    rows = [
        {"kind": "modified", "set": "a", "distances": {"b": 2.0, "base": 4.0}},
        {"kind": "modified", "set": "b", "distances": {"base": 1.0}},
        {"kind": "plain", "set": "a", "distances": {"b": 9.0}},
    ]
    ratios = ratios_of(distances_of(rows, "modified"), "base")
    assert (ratios["a", "b"], ratios["b", "a"]) == (0.5, 2.0)


def test_what_was_measured_is_written_as_rankings_read_it(tmp_path):
    rows = [row("a", IMAGENET, [0.5, 0.6, 0.8]), row("a", "b", [0.7, 0.8], probe=0.75)]
    outcomes = outcomes_of(pairs_of(rows, "reached"), {("a", "b"): 1 / 3})
    path = keep_starts(outcomes, "some machine", tmp_path / "starts.json")
    (found,) = [Outcome.from_json(one) for one in measured_starts(path)]
    assert (found.evidence.target, found.evidence.source, found.evidence.ratio) == ("a", "b", 0.33333)
    assert found.epoch_ratio == 0.66667 and found.evidence.scores == {"probe": 0.25}


def test_weights_of_one_set_are_where_another_starts_and_no_run_is_done_twice(tmp_path):
    rows = Rows(tmp_path / "rows.jsonl")
    fill(rows, TINY, minutes=5, folder=tmp_path)
    found = {(one["target"], one["start"]): one for one in rows}
    assert len(found) == 6 and all(len(one["curve"]) == 1 for one in found.values())
    assert found["drawn-23", "drawn-01"]["scores"] != found["drawn-23", IMAGENET]["scores"]
    assert len(found["drawn-23", IMAGENET]["said"]) == found["drawn-23", IMAGENET]["judges"] == 8
    before = rows.path.read_bytes()
    fill(rows, TINY, minutes=5, folder=tmp_path)
    assert rows.path.read_bytes() == before
