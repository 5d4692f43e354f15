"""Sampling noise: what another sample of the same is at, and distances without it."""

import json
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray
from safetensors import safe_open
from safetensors.numpy import save_file

from seedbed.assets.data.synthetic import draw_leaves
from seedbed.methods.similarity.dsd import dataset_distance, distance_matrix
from seedbed.methods.similarity.features import pixel_features, pixel_space
from seedbed.methods.similarity.noise import sampling_noise, without_noise
from seedbed.methods.similarity.otdd import DSD, Definition, Otdd
from seedbed.methods.similarity.signature import Signature, signature_of
from seedbed.methods.similarity.units import Unit, UnitSettings
from tests.methods.similarity.sets import signed

WIDE = 60  # dimensions, in which samples are far apart


def wide(name: str, count: int, *, shift: float = 0.0, seed: int = 0, size: int = 2000) -> Signature:
    """Two classes 2 apart on the first axis, moved by `shift` along the second."""
    random = np.random.default_rng([seed, count])
    labels = np.arange(count) % 2
    points = random.normal(size=(count, WIDE)) * 0.3
    points[:, 0] += 2 * labels
    points[:, 1] += shift
    return signature_of(points, labels, ["a", "b"], name=name, space="wide", settings=UnitSettings(size))


def unit_of(points: list[float]) -> Unit:
    return Unit(np.array(points, np.float16)[:, None], np.zeros(len(points), np.int64))


def test_the_noise_of_units_is_the_mean_over_pairs_of_them() -> None:
    three = [unit_of([place]) for place in (0.0, 1.0, 4.0)]
    assert sampling_noise(three, Otdd(labels="exact").distance) == pytest.approx(np.sqrt(2) * (1 + 3 + 4) / 3)


def test_the_noise_of_one_unit_falls_from_quarters_to_halves_to_the_whole_by_one_factor() -> None:
    def by_size(ours: Unit, theirs: Unit) -> float:
        assert len(ours.labels) == len(theirs.labels)
        return float(len(ours.labels) ** exponent)

    whole = [unit_of([float(place) for place in range(64)])]
    for exponent in (-0.25, -0.05):  # that of 4, and of 20 dimensions
        assert sampling_noise(whole, by_size) == pytest.approx(64**exponent)
    for exponent, factor in ((0.5, 1.0), (-3, 0.5)):  # it never grows, and falls no faster than squares of means
        assert sampling_noise(whole, by_size) == pytest.approx(32**exponent * factor)


@pytest.mark.parametrize("count", [200, 600])
def test_one_unit_tells_what_another_of_its_size_is_at(count: int) -> None:
    found = [wide("a", count, seed=seed).noise(DSD) for seed in range(3)]
    ours, theirs = (wide("a", count, seed=seed).units[0] for seed in (10, 11))
    assert np.mean(found) == pytest.approx(DSD.distance(ours, theirs), rel=0.04)


def test_what_noise_adds_is_taken_off_in_squares() -> None:
    assert without_noise(5.0, (3.0, 3.0), squared=False) == 4
    assert without_noise(5.0, (2.0, 4.0), squared=True) == 2
    assert without_noise(5.0, (9.0, 3.0), squared=False) == without_noise(5.0, (9.0, 3.0), squared=True) == 0


@pytest.mark.parametrize("definition", ["paper", "reference"])
def test_without_noise_the_distance_is_that_of_the_shift_whatever_the_size_of_the_sample(
    definition: Definition,
) -> None:
    shift = 1.5
    power = 1.0 if definition == "paper" else 0.5
    true = np.sqrt(2) * shift if definition == "paper" else shift  # images move by the shift, and labels too
    for count, size in ((100, 2000), (400, 2000), (800, 200)):
        ours, theirs = wide("a", count, size=size), wide("b", count, shift=shift, seed=1, size=size)
        removed = dataset_distance(ours, theirs, Otdd(definition, noise="removed")) ** power
        kept = dataset_distance(ours, theirs, Otdd(definition)) ** power
        assert removed == pytest.approx(true, rel=0.1)
        assert kept > 1.35 * true


def test_what_is_left_is_the_way_between_the_samples_which_by_chance_is_not_that_between_the_sets() -> None:
    def light(seed: int, shift: float) -> NDArray[np.float64]:
        points = np.random.default_rng(seed).normal(size=(60, WIDE)) * 0.3
        points[:, 0] = points[:, 0] * 10 + shift  # as brightness varies among photographs
        return points

    pairs = [(light(seed, 0.0), light(seed + 100, 4.0)) for seed in range(8)]
    found = []
    for pair in pairs:
        ours, theirs = (signature_of(points, np.zeros(60, np.int64), ["a"], name="a", space="wide") for points in pair)
        found.append(dataset_distance(ours, theirs) / np.sqrt(2))
    between = [float(theirs[:, 0].mean() - ours[:, 0].mean()) for ours, theirs in pairs]
    assert max(abs(value - 4) for value in found) > 0.6
    assert np.mean(found) == pytest.approx(np.mean(between), rel=0.1)
    assert np.corrcoef(found, between)[0, 1] > 0.9


@pytest.mark.parametrize(("size", "most"), [(200, 0.15), (2000, 0.3)], ids=["two units", "one unit"])
def test_another_sample_of_a_set_is_near_0_without_noise_and_far_with_it(size: int, most: float) -> None:
    ours, again = (wide("a", 400, seed=seed, size=size) for seed in (0, 1))
    other = wide("b", 400, shift=2, seed=2, size=size)
    kept, removed = (dataset_distance(ours, again, how) / dataset_distance(ours, other, how) for how in (Otdd(), DSD))
    assert removed < most < 0.6 < kept


def test_without_noise_sets_move_apart_as_they_are_moved_apart_and_both_ways_alike() -> None:
    moved = [wide("moved", 300, shift=shift, seed=1) for shift in (0.0, 0.5, 1.0, 2.0, 4.0)]
    base = wide("base", 200)
    found = [dataset_distance(base, each) for each in moved]
    assert all(near < far for near, far in pairwise(found))
    assert found == pytest.approx([dataset_distance(each, base) for each in moved], rel=1e-3, abs=1e-2)


@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 13])
@pytest.mark.parametrize("classes", [1, 3])
def test_the_smallest_sets_have_a_distance_without_noise(count: int, classes: int) -> None:
    small, usual = signed("small", count, classes, seed=3), signed("usual")
    for definition in ("paper", "reference"):
        how = Otdd(definition, noise="removed")
        assert 0 <= small.noise(how) < np.inf
        assert 0 <= dataset_distance(small, usual, how) <= dataset_distance(small, usual, Otdd(definition))
    assert np.isfinite(distance_matrix([small, usual, signed("other", count, classes, seed=4)])).all()


def test_noise_is_found_once_and_kept_in_the_file(tmp_path: Path) -> None:
    ours = signed("mine", 70, size=20)
    ours.save(tmp_path / "signature")
    again = Signature.load(tmp_path / "signature")
    assert again.noises == ours.noises == {DSD.name: sampling_noise(ours.units, DSD.distance)}
    again.noises[DSD.name] = 0.0  # what is kept is what is taken off
    theirs = signed("other", seed=1)
    theirs.noises[DSD.name] = 0.0
    assert dataset_distance(again, theirs) == dataset_distance(again, theirs, Otdd())


def test_a_file_from_before_noise_was_kept_is_read_and_its_noise_found(tmp_path: Path) -> None:
    ours, path = signed("mine", 70, size=20), tmp_path / "signature"
    ours.save(path)
    with safe_open(path, "numpy") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        metadata = dict(file.metadata())
    about = json.loads(metadata["about"])
    del about["noises"]
    save_file(tensors, path, {**metadata, "about": json.dumps(about)})
    again = Signature.load(path)
    assert again.noises == {} and again.noise(DSD) == ours.noise(DSD)


def test_a_first_look_sees_past_the_noise_of_a_varied_set() -> None:
    def spread(name: str, shift: float, spread: float, seed: int) -> Signature:
        random = np.random.default_rng(seed)
        points = random.normal(size=(300, WIDE)) * spread + shift / np.sqrt(WIDE)
        return signature_of(points, np.arange(300) % 3, "abc", name=name, space="wide")

    target = spread("target", 0.0, 0.3, 0)
    plain, varied = spread("plain, far", 2.0, 0.2, 1), spread("varied, near", 0.5, 0.5, 2)
    for definition in ("paper", "reference"):
        kept, removed = Otdd(definition), Otdd(definition, noise="removed")
        for how, nearest in ((kept, plain), (removed, varied)):
            assert min((plain, varied), key=lambda other: dataset_distance(target, other, how)) is nearest
        for one in (target, plain, varied):
            one.noise(removed)
        found = {one.name: target.glimpse.square(one.glimpse, removed) for one in (plain, varied)}
        assert found["varied, near"] < found["plain, far"]


def test_each_distance_has_a_noise_of_its_own() -> None:
    ours = signed("mine")
    assert ours.noise(Otdd(noise="kept")) == ours.noise(DSD) != ours.noise(Otdd("reference"))
    assert list(ours.noises) == [Otdd().name, Otdd("reference").name]
    assert Otdd(outer="entropic", blur=0.1).name != Otdd(outer="entropic").name


def test_pictures_that_get_darker_move_away_which_noise_all_but_hides() -> None:
    images, labels, classes = draw_leaves(100, seed=0, size=28)
    halves = np.array_split(np.random.default_rng(0).permutation(len(labels)), 2)

    def signature(rows: NDArray[np.int64], light: float) -> Signature:
        pixels = pixel_features((images[rows] * light).astype(np.uint8))
        return signature_of(pixels, labels[rows], classes, name=f"at {light}", space=pixel_space())

    bright = signature(halves[0], 1.0)
    darker = [signature(halves[1], light) for light in (1.0, 0.96, 0.92, 0.84, 0.6)]
    kept, removed = ([dataset_distance(bright, other, how) for other in darker] for how in (Otdd(), DSD))
    assert removed == sorted(removed)
    assert kept[2] / kept[0] < 1.02 < 1.5 < removed[2] / removed[0]
