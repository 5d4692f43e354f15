"""What following advice costs, queues replayed on made-up epochs, and networks ranked by what they say."""

from dataclasses import replace

import numpy as np
import pytest
from benchmarks.dsd_architecture import Judged, agreement, best_found, comparable, single_runs
from benchmarks.dsd_correlation import (
    MAIN,
    Found,
    figures,
    foretold,
    in_all,
    lines,
    nearest,
    pearson,
    played,
    source_table,
)
from benchmarks.measured_starts import Pair
from benchmarks.mtaas import (
    BEST,
    NEAREST,
    POLICIES,
    SURE,
    TYPES,
    boxes,
    complete,
    queue_of,
    replay,
    speedups,
    times_of,
)
from benchmarks.transfers import IMAGENET, LITE0, SCRATCH, Scale

from benchmarks import starts_pictures

SETS = ("a", "b", "c", "d")
SCALE = Scale(sets=SETS, few_sets=SETS[:2], folds=1)
FAR = {("a", "b"): 1.0, ("c", "d"): 1.0, ("a", "c"): 9.0, ("a", "d"): 9.0, ("b", "c"): 9.0, ("b", "d"): 9.0}


def pair(target, source, epochs, baseline=(10, 10, 10)):
    """A start that took so many epochs."""
    return Pair(LITE0, source, target, epochs, baseline, 0.0, {}, 100)


@pytest.fixture
def found():
    """Four sets, two by two alike: a start from the like set takes half the epochs, from another twice as many."""
    distances = {**FAR, **{(two, one): value for (one, two), value in FAR.items()}}
    distances |= {(name, "base"): 4.0 for name in SETS}
    runs = []
    for target in SETS:
        for start in (IMAGENET, SCRATCH, *(name for name in SETS if name != target)):
            near = distances.get((target, start), 0.0)
            epochs = {IMAGENET: 4, SCRATCH: 12}.get(start) or (2 if near == 1 else 8)
            curve = [0.5 + 0.3 * (number + 1) / epochs for number in range(epochs)]
            facts = {"architecture": LITE0, "target": target, "start": start, "fold": 0, "size": 96, "curve": curve}
            runs.append({**facts, "scores": {}, "images": 100, "judges": 1000})
    return Found(runs, {"modified": distances, "plain": distances, "embedded": {}}, "base", SCALE)


def test_where_other_weights_help_is_said_in_words_and_every_source_has_its_own_correlation(found):
    pairs = [pair for pair in found.pairs(MAIN, LITE0) if pair.source != SCRATCH]
    told = in_all(pairs)
    assert told.startswith(
        "Of 12 pairs of sets 4 take fewer epochs than from ImageNet's weights, and 8 more: most starts"
    )
    assert "do not help" in told and in_all([]) == ""
    shown = {(line["same accuracy"], line["foretold by"]): line for line in source_table(found)}
    assert shown[MAIN, "DSD"]["a"] == "1.00" and set(SETS) <= set(shown[MAIN, "predictor, set left out"])


def test_regret_is_against_the_best_start_and_imagenet_is_one_of_them():
    pairs = [pair("a", "b", (5, 5, 5)), pair("a", "c", (20, 20, 20)), pair("b", "a", (12, 12, 12))]
    always = played(pairs, lambda *_: None)
    assert (always.regret, always.worse, always.targets) == (pytest.approx(2 / 1.5 - 1), 0, 2)
    near = {("a", "b"): 0.9, ("a", "c"): 0.5, ("b", "a"): 1.1}  # c is said to be nearer than b, and a to be too far
    wrong = played(pairs, nearest(near))
    assert (wrong.regret, wrong.worse) == (pytest.approx(3 / 1.5 - 1), 1)


def test_every_line_says_of_how_many_pairs_and_folds_it_is(found):
    assert {(line["pairs"], line["folds"]) for line in lines(found)} == {("12 of 12", "1 of 1")}
    assert found.unfinished() == ""
    fewer = [run for run in found.runs if (run["target"], run["start"]) not in {("a", "b"), ("a", "c")}]
    short = replace(found, runs=fewer, scale=replace(SCALE, folds=3))
    assert {(line["pairs"], line["folds"]) for line in lines(short)} == {("10 of 12", "1 of 3")}
    assert f"Of the trainings of {LITE0} 18 of 60 were run" in short.unfinished()


def test_figures_1_2_and_4_show_every_set_and_every_foreteller(found):
    pairs = [pair for pair in found.pairs(MAIN) if pair.source != SCRATCH]
    (axes,) = starts_pictures.epochs(pairs).axes
    assert [label.get_text() for label in axes.get_xticklabels()] == list(SETS) and len(axes.patches) == 3 * len(SETS)
    best, worst = starts_pictures.curves(found.runs, pairs).axes
    assert "from b" in best.get_title() and len(best.lines) == len(worst.lines) == 2
    foretellers = found.foretellers()
    panels = starts_pictures.scatter(pairs, foretellers).axes
    assert [axes.get_xlabel() for axes in panels[: len(foretellers)]] == list(foretellers)
    assert sum(len(points.get_offsets()) for points in panels[0].collections) == len(pairs)


def test_queues_are_of_the_sets_that_were_measured_in_full(found):
    assert complete(found.pairs("reached")) == list(SETS)
    gone = [run for run in found.runs if (run["target"], run["start"]) not in {("a", SCRATCH), ("b", "c"), ("b", "d")}]
    part = Found(gone, found.distances, "base", SCALE)
    assert complete(part.pairs("reached")) == ["c", "d"]
    assert all(record["imagenet"] > 0 and record["slots"] == 1 for record in speedups(part))


def test_figure_5_has_a_box_of_every_policy_and_cache_over_imagenet_and_over_scratch(found):
    panels = boxes(speedups(found)).axes
    assert len(panels) == 2 * len(TYPES)
    assert all(len(axes.patches) == 2 * len(POLICIES) for axes in panels)  # two sizes of the cache
    assert ["scratch" in axes.get_ylabel() for axes in panels[:: len(TYPES)]] == [False, True]
    assert [axes.lines[-1].get_ydata()[0] for axes in panels[:2]] == [2.3, 2.8]


def test_networks_are_compared_on_the_folds_that_all_of_them_were_trained_on():
    def ran(target, network, start=IMAGENET, fold=0):
        return {"target": target, "architecture": network, "start": start, "fold": fold, "said": [0]}

    whole = [ran("a", "x"), ran("a", "y")]
    alone = [ran("b", "x"), ran("b", "y", "a"), ran("a", "x", SCRATCH), ran("a", "x", fold=1)]
    assert comparable([*whole, *alone]) == whole


def test_a_start_that_is_worse_on_some_folds_only_is_not_surely_worse():
    unsure = [pair("a", "b", (5, 20, 12))]
    assert played(unsure, nearest({("a", "b"): 0.5})).worse == 0


def test_distances_that_rule_epochs_correlate_and_their_advice_costs_nothing(found):
    shown = figures(found, "0.1 %")
    assert shown["dsd_r"] == pytest.approx(1) and shown["pairs"] == 12
    assert shown["imagenet_regret_pct"] == pytest.approx(100)
    assert played(found.pairs("0.1 %"), nearest(found.foretellers()["DSD"])).regret == 0
    assert {line["foretold by"] for line in lines(found)} >= {"DSD", "modified OTDD", "plain OTDD", "always ImageNet"}
    assert pearson([1, 1, 1], [1, 2, 3]) == 0


def test_the_predictor_is_not_told_of_the_target_that_it_is_asked_about(found):
    pairs = [one for one in found.pairs("0.1 %") if one.source != SCRATCH]
    honest = foretold(found, pairs)
    told = [one for one in pairs if "a" in (one.source, one.target)]
    lied = [Pair(LITE0, one.source, one.target, (1,), (1,), 0.0, {}, 100) if one in told else one for one in pairs]
    starts = [one for one in pairs if one.target == "a"]
    assert foretold(found, lied)(LITE0, "a", starts) == honest(LITE0, "a", starts)


@pytest.mark.parametrize("kind", TYPES)
def test_the_sets_of_a_queue_are_not_in_its_zoo(kind):
    for number in range(8):
        queue = queue_of(kind, SETS, number)
        jobs = [name for window in queue.windows for name in window]
        assert jobs and not set(jobs) & set(queue.zoo) and len(queue.zoo) == 2
        assert queue == queue_of(kind, SETS, number)


def test_a_cache_that_knows_what_comes_is_never_slower_than_imagenet_and_more_slots_never_cost(found):
    pairs = found.pairs("0.1 %")
    times = times_of(pairs)
    assert (times.imagenet["a"], times.scratch["a"], times.starts["a", "b"]) == (400, 1200, 200)
    for kind in TYPES:
        for number in range(4):
            queue = queue_of(kind, SETS, number)
            plain = sum(times.imagenet[name] for window in queue.windows for name in window)
            one, two = (replay(queue, slots, BEST, found, pairs, times) for slots in (1, 2))
            assert two <= one <= plain
            assert all(replay(queue, 2, policy, found, pairs, times) >= two for policy in POLICIES)
            assert replay(queue, 0, SURE, found, pairs, times) == plain


def test_the_nearest_of_the_zoo_is_taken_even_where_imagenet_would_be_better(found):
    pairs = found.pairs("0.1 %")
    queue = next(
        each for number in range(50) if set((each := queue_of("normal", SETS, number)).zoo) in ({"a", "b"}, {"c", "d"})
    )
    times = times_of(pairs)
    plain = sum(times.imagenet[name] for window in queue.windows for name in window)
    assert replay(queue, 2, NEAREST, found, pairs, times) == 2 * plain  # all of the zoo is far from all jobs


def test_networks_are_in_order_where_the_nearer_is_the_better():
    right = [Judged("x", "1", (0.9, 0.8), (1.0, 2.0)), Judged("x", "2", (0.7, 0.6), (3.0, 4.0))]
    wrong = Judged("x", "3", (0.5, 0.4), (0.1, 0.2))
    other = Judged("y", "1", (0.1,), (0.1,))
    assert (agreement(right), best_found(right), single_runs(right)) == (100, 100, pytest.approx(1))
    assert agreement([*right, wrong, other]) == pytest.approx(100 / 3)
    assert best_found([*right, wrong]) == 0 and np.isfinite(single_runs([*right, wrong]))
