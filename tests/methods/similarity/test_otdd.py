"""OTDD: both definitions against their formulas, computed plainly."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import ot  # type: ignore[import-untyped]
import pytest
import scipy.linalg
import torch
from numpy.typing import NDArray
from torch._subclasses.fake_tensor import FakeTensorMode

from seedbed.base.errors import InvalidInput
from seedbed.methods.similarity import otdd
from seedbed.methods.similarity.otdd import Definition, LabelDistance, Otdd
from seedbed.methods.similarity.threads import one_thread
from seedbed.methods.similarity.transport import entropic, prices
from seedbed.methods.similarity.units import Unit
from tests.methods.similarity.sets import blobs, signed


def unit_of(points: NDArray[np.float32], labels: NDArray[np.int64]) -> Unit:
    order = np.argsort(labels, kind="stable")
    return Unit(points[order].astype(np.float16), labels[order])


def ready(unit: Unit) -> Unit:
    """With all that is found once for a data set."""
    _ = unit.rows, unit.groups, unit.means, unit.variances, unit.factors
    return unit


def transported(cost: NDArray[np.float64]) -> float:
    return float(ot.emd2(*(np.full(count, 1 / count) for count in cost.shape), cost))


def squares(a: NDArray[np.float64], b: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.asarray(((a[:, None] - b) ** 2).sum(-1))


def gaussian(a: NDArray[np.float64], b: NDArray[np.float64]) -> float:
    """The Bures-Wasserstein distance, squared, with full covariances."""
    one, two = np.cov(a.T), np.cov(b.T)
    root = scipy.linalg.sqrtm(one)
    middle = np.trace(np.real(scipy.linalg.sqrtm(root @ two @ root)))
    return float(((a.mean(0) - b.mean(0)) ** 2).sum() + np.trace(one) + np.trace(two) - 2 * middle)


def plainly(ours: Unit, theirs: Unit, definition: str, labels: str) -> float:
    """The definition, word by word."""
    a, b = (unit.rows.double().numpy() for unit in (ours, theirs))
    between = np.zeros((len(a), len(b)))
    for one in np.unique(ours.labels):
        for two in np.unique(theirs.labels):
            mine, other = a[ours.labels == one], b[theirs.labels == two]
            value = gaussian(mine, other) if labels == "gaussian" else transported(squares(mine, other))
            between[np.ix_(ours.labels == one, theirs.labels == two)] = value
    total = squares(a, b) + between
    return transported(np.sqrt(total) if definition == "paper" else total / 2)


@pytest.mark.parametrize("definition", ["paper", "reference"])
@pytest.mark.parametrize("labels", ["gaussian", "exact"])
@pytest.mark.parametrize("counts", [(90, 90), (90, 61)])
def test_values_are_those_of_the_definition(
    definition: Definition, labels: LabelDistance, counts: tuple[int, int]
) -> None:
    ours, theirs = unit_of(*blobs(counts[0])), unit_of(*blobs(counts[1], classes=4, shift=0.4, seed=3))
    assert Otdd(definition, labels).distance(ours, theirs) == pytest.approx(
        plainly(ours, theirs, definition, labels), rel=2e-4
    )


@pytest.mark.parametrize("labels", ["gaussian", "exact"])
def test_more_dimensions_than_images_change_nothing_about_that(labels: LabelDistance) -> None:
    ours = unit_of(*blobs(24, dimensions=40))
    theirs = unit_of(*blobs(24, dimensions=40, shift=0.3, seed=1))
    assert Otdd("paper", labels).distance(ours, theirs) == pytest.approx(
        plainly(ours, theirs, "paper", labels), rel=2e-3
    )


@pytest.mark.parametrize("outer", ["exact", "entropic"])
@pytest.mark.parametrize("definition", ["paper", "reference"])
def test_a_set_is_at_nothing_from_itself_and_distances_go_both_ways(outer: str, definition: Definition) -> None:
    how = Otdd(definition, outer="exact" if outer == "exact" else "entropic")
    ours, theirs = signed("a").units[0], signed("b", shift=0.5, seed=2).units[0]
    there, back = how.distance(ours, theirs), how.distance(theirs, ours)
    assert there == pytest.approx(back, rel=1e-3) and there > 0.5
    assert how.distance(ours, ours) < 0.01 * there


def test_entropic_distances_are_near_the_exact_ones() -> None:
    ours, theirs = signed("a", 150).units[0], signed("b", 120, shift=0.5, seed=2).units[0]
    for definition in ("paper", "reference"):
        wanted = Otdd(definition).distance(ours, theirs)
        assert Otdd(definition, outer="entropic").distance(ours, theirs) == pytest.approx(wanted, rel=0.02)


def test_entropic_distances_are_debiased() -> None:
    ours, theirs = signed("a", 150).units[0], signed("b", 120, shift=0.5, seed=2).units[0]
    nearly = Unit(ours.features + np.float16(0.01), ours.labels)  # not the same, so that it is really computed
    how = Otdd(outer="entropic", blur=0.3)
    assert how.distance(ours, nearly) < 0.02 * how.distance(ours, theirs)
    cost = how.cost(ours, nearly)
    biased = entropic(cost, how.blur * float(cost.mean()))
    assert abs(biased) > 0.2 * how.distance(ours, theirs), "without debiasing it would be far from 0"


@pytest.mark.parametrize("definition", ["paper", "reference"])
@pytest.mark.parametrize("labels", ["gaussian", "exact"])
def test_on_a_gpu_no_number_is_left_on_the_cpu_that_one_on_the_gpu_would_meet(
    monkeypatch: pytest.MonkeyPatch, definition: Definition, labels: LabelDistance
) -> None:
    """By tensors of a device and a shape, without numbers, so that it needs no GPU; two devices in one sum raise."""
    ours, theirs = (ready(signed(name, shift=shift).units[0]) for name, shift in (("a", 0.0), ("b", 0.5)))
    monkeypatch.setattr(otdd, "choose_device", torch.device)
    monkeypatch.setattr(otdd, "exact_distances", lambda _, rows, columns: torch.ones(len(rows), len(columns)))
    how = Otdd(definition, labels, "entropic", device="cuda")
    with FakeTensorMode(allow_non_fake_inputs=True):
        one, other = how._placed(ours, theirs)
        assert one.rows is one.rows and one.factors is one.factors, "carried there once"
        for pair in ((one, other), (one, one), (other, other)):
            cost = how._cost(*pair)
            found = prices(cost, (1.0, 0.1), rounds=2)
            assert {tensor.device for tensor in (cost, *found)} == {torch.device("cuda:0")}
            assert cost.shape == (len(pair[0].unit.labels), len(pair[1].unit.labels))


@pytest.mark.parametrize("device", ["gpu", "mps", "cuda:99", "xpu"])
def test_a_device_that_is_not_there_is_refused_in_a_sentence(device: str) -> None:
    ours, theirs = signed("a").units[0], signed("b", shift=0.5, seed=2).units[0]
    with pytest.raises(InvalidInput, match=f"'{device}'") as refused:
        Otdd(device=device).distance(ours, theirs)
    assert refused.value.hint
    with pytest.raises(InvalidInput):
        Otdd(device=device).distance(ours, ours)


def test_labels_count_beside_the_images() -> None:
    points, labels = blobs(90)
    mixed = unit_of(points, np.random.default_rng(1).permutation(labels))
    assert Otdd().distance(unit_of(points, labels), mixed) > 0.3


def test_sets_move_apart_as_they_are_moved_apart() -> None:
    base = signed("base").units[0]
    found = [Otdd().distance(base, signed("moved", shift=shift, seed=1).units[0]) for shift in (0.0, 0.3, 1.0, 3.0)]
    assert found == sorted(found)


@pytest.mark.parametrize("labels", ["gaussian", "exact"])
@pytest.mark.parametrize(
    "sizes", [[10], [1], [9, 1], [1, 1, 1]], ids=["one class", "one image", "a class of one", "all of one"]
)
def test_odd_sets_have_a_distance(labels: LabelDistance, sizes: list[int]) -> None:
    known = np.repeat(np.arange(len(sizes)), sizes)
    odd = unit_of(np.random.default_rng(0).normal(size=(len(known), 6)).astype(np.float32), known)
    for definition in ("paper", "reference"):
        for outer in ("exact", "entropic"):
            how = Otdd(definition, labels, outer)
            assert np.isfinite(how.distance(odd, signed("a").units[0]))
            assert how.distance(odd, odd) == pytest.approx(0, abs=0.02)


def test_words_that_mean_nothing_are_refused_together() -> None:
    with pytest.raises(InvalidInput, match=r"'papers' is none of paper, reference; 'bures' is none of.*'off'.*-1"):
        Otdd("papers", "bures", noise="off", blur=-1)  # type: ignore[arg-type]


def test_many_at_once_agree_and_leave_the_process_its_threads() -> None:
    drawn = np.random.default_rng(0)
    units = [unit_of(drawn.normal(size=(40, 12)).astype(np.float32), np.arange(40) % 4) for _ in range(2)]
    before = torch.get_num_threads()
    torch.set_num_threads(3)
    try:
        with ThreadPoolExecutor(4) as pool:
            values = list(pool.map(lambda _: Otdd().distance(*units), range(8)))
        assert values == pytest.approx([values[0]] * 8, rel=1e-6)
        assert torch.get_num_threads() == in_a_new_thread(torch.get_num_threads) == 3
    finally:
        torch.set_num_threads(before)


def test_threads_that_come_while_another_is_inside_leave_with_the_usual_number() -> None:
    before, own = torch.get_num_threads(), 2
    torch.set_num_threads(3)
    inside, leave = threading.Event(), threading.Event()

    def first() -> int:
        torch.set_num_threads(own)
        with one_thread():
            inside.set()
            leave.wait(60)
        return torch.get_num_threads()

    def later() -> int:
        with one_thread():
            assert torch.get_num_threads() == 1
        return torch.get_num_threads()

    try:
        with ThreadPoolExecutor(1) as pool:
            going = pool.submit(first)
            assert inside.wait(60)
            assert in_a_new_thread(later) == own, "as many as the process gave when the first came in"
            leave.set()
            assert going.result() == own
        assert in_a_new_thread(torch.get_num_threads) == own and torch.get_num_threads() == 3
    finally:
        torch.set_num_threads(before)


def in_a_new_thread(call: Callable[[], int]) -> int:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(call).result()
