"""DSD: the mean over units, the ratio to a baseline, and rankings of many."""

import numpy as np
import pytest

from seedbed.base.errors import InvalidInput
from seedbed.methods.similarity.dsd import dataset_distance, distance_matrix, rank
from seedbed.methods.similarity.otdd import DSD, Otdd
from seedbed.methods.similarity.signature import signature_of
from tests.methods.similarity.sets import blobs, signed


def test_the_distance_of_two_data_sets_is_the_mean_over_their_units() -> None:
    ours, theirs = signed("a", 60, size=30), signed("b", 45, shift=1, seed=1, size=20)
    assert (len(ours.units), len(theirs.units)) == (2, 2)
    pairs = [Otdd().distance(a, b) for a in ours.units for b in theirs.units]
    assert dataset_distance(ours, theirs, Otdd()) == pytest.approx(np.mean(pairs))


def test_a_data_set_is_at_0_from_itself_however_many_units_it_has_and_not_from_its_like() -> None:
    for size in (60, 30, 15):
        assert dataset_distance(signed("a", 60, size=size), signed("again", 60, size=size)) == 0
    assert dataset_distance(signed("a", 60, size=30), signed("like it", 60, seed=1, size=30), Otdd()) > 0


def test_a_ranking_is_that_of_the_distances_and_keeps_the_ratio_to_the_baseline() -> None:
    target, baseline = signed("target"), signed("baseline", shift=1.0, seed=9)
    sources = [signed(f"at {shift}", shift=shift, seed=5) for shift in (2.0, 0.2, 0.8)]
    ranked = rank(target, sources, baseline)
    distances = {source.name: dataset_distance(target, source) for source in sources}
    assert (
        [near.name for near in ranked] == sorted(distances, key=distances.__getitem__) == ["at 0.2", "at 0.8", "at 2.0"]
    )
    for near in ranked:
        assert near.ratio == pytest.approx(distances[near.name] / dataset_distance(target, baseline))
        assert near.dsd == pytest.approx(near.distance / max(distances.values()))
    assert [near.ratio < 1 for near in ranked] == [True, True, False]


@pytest.mark.parametrize("how", [Otdd(), DSD, Otdd("reference")], ids=lambda how: f"{how.definition}, {how.noise}")
def test_for_one_target_dsd_and_the_modified_otdd_rank_alike_whatever_the_baseline(how: Otdd) -> None:
    shifts = np.random.default_rng(4).uniform(0.2, 3, size=9)
    sources = [signed(f"{shift:.3f}", 40, shift=shift, seed=seed, size=20) for seed, shift in enumerate(shifts)]
    target = signed("target", 40, seed=20, size=20)
    distances = {source.name: dataset_distance(target, source, how) for source in sources}
    for baseline in (signed("near", shift=0.4, seed=30), signed("far", shift=5.0, seed=31)):
        ranked = rank(target, sources, baseline, how)
        assert [near.name for near in ranked] == sorted(distances, key=distances.__getitem__)
        assert [near.dsd for near in ranked] == pytest.approx(
            [near.distance / max(distances.values()) for near in ranked]
        )


def test_a_matrix_holds_the_distances_both_ways_and_says_how_far_it_is() -> None:
    sets = [signed("a", 40, size=20), signed("b", 30, shift=0.5, seed=1), signed("c", 30, shift=2, seed=2)]
    told: list[tuple[int, int]] = []
    found = distance_matrix(sets, on_progress=lambda done, total: told.append((done, total)))
    assert np.allclose(found, [[dataset_distance(one, two) for two in sets] for one in sets], rtol=1e-5)
    assert np.array_equal(found, found.T) and not found.diagonal().any()
    assert told == [(done, 6) for done in range(1, 7)]


def test_sketches_of_many_decide_which_are_measured_and_agree_with_what_is_found() -> None:
    target, baseline = signed("target"), signed("baseline", shift=1.0, seed=9)
    shifts = np.linspace(0.1, 3, 40)
    sources = [signed(f"{number:02}", shift=float(shift), seed=number) for number, shift in enumerate(shifts)]
    ranked = rank(target, sources[::-1], baseline, exact_for=5)
    assert [near.exact for near in ranked] == [True] * 5 + [False] * 35
    assert {near.name for near in ranked[:5]} == {f"{number:02}" for number in range(5)}
    rough = {near.name: near.ratio for near in ranked[5:]}
    full = {near.name: near.ratio for near in rank(target, sources, baseline, exact_for=40)}
    assert max(abs(rough[name] / full[name] - 1) for name in rough) < 0.15


def test_others_keep_their_distances_where_the_nearest_is_at_0() -> None:
    target, baseline = signed("target", size=30), signed("baseline", shift=1.0, seed=9)
    again = signed("again", seed=1, size=30)
    assert dataset_distance(target, again) == 0  # less the noise of both
    ranked = rank(
        target, [signed("far", shift=2, seed=3), again, signed("near", shift=0.5, seed=2)], baseline, exact_for=1
    )
    assert [near.name for near in ranked] == ["again", "near", "far"]
    assert ranked[0].ratio == 0 < ranked[1].ratio < 1 < ranked[2].ratio


def test_of_several_at_0_the_one_that_looks_nearest_comes_first() -> None:
    target, baseline = signed("target", size=30), signed("baseline", shift=1.0, seed=9)
    like = [signed(name, shift=shift, seed=1, size=30) for name, shift in (("a", 0.1), ("b", 0.0))]
    found = rank(target, like, baseline)
    assert [(near.name, near.distance, near.dsd) for near in found] == [("b", 0, 0), ("a", 0, 0)]


def test_nothing_to_rank_is_an_empty_ranking_and_a_target_on_its_baseline_is_no_division_by_zero() -> None:
    target = signed("target")
    assert rank(target, [], target) == []
    found = rank(target, [target, signed("far", shift=2)], target)
    assert [near.ratio for near in found] == [1.0, 1e6]


def test_other_channels_or_other_features_are_not_compared() -> None:
    points, labels = blobs(30, dimensions=4)
    other = signature_of(points, labels, "abc", name="four", space="made-up")
    with pytest.raises(InvalidInput, match=r"6 numbers an image.*'four'.*4 numbers an image"):
        dataset_distance(signed("six"), other)
    elsewhere = signature_of(*blobs(30), "abc", name="elsewhere", space="pixels-28")
    with pytest.raises(InvalidInput, match=r"made-up.*pixels-28"):
        rank(signed("target"), [elsewhere], signed("baseline"))
