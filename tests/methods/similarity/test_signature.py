"""Signatures and units: what is kept, and that it comes back."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from seedbed.base.errors import Damaged, InvalidInput
from seedbed.methods.similarity import features
from seedbed.methods.similarity.features import pixel_features, pixel_space
from seedbed.methods.similarity.signature import Signature, signature_of
from seedbed.methods.similarity.units import UnitSettings, cut
from tests.methods.similarity.sets import blobs, signed


@given(st.integers(1, 500), st.integers(2, 60))
def test_units_share_no_image_and_are_of_one_size(count: int, size: int) -> None:
    settings = UnitSettings(size)
    units = cut(count, settings)
    rows = np.concatenate(units)
    assert len(set(rows.tolist())) == len(rows) and rows.max() < count
    assert {len(unit) for unit in units} == {min(count, size)}
    assert len(units) == settings.taken(max(1, count // size))


def test_the_stairs_rise() -> None:
    taken = [UnitSettings().taken(units) for units in (1, 2, 4, 5, 9, 10, 1000)]
    assert taken == [1, 2, 2, 3, 3, 4, 4]
    for stairs in ((), ((2, 1),), ((1, 2),), ((1, 1), (3, 2), (2, 2)), ((1, 1), (5, 3), (6, 2))):
        with pytest.raises(InvalidInput, match="do not lead from 1 unit upwards"):
            UnitSettings(stairs=stairs)


def test_a_signature_comes_back_from_its_file(tmp_path: Path) -> None:
    ours = signed("mine", 70, size=20)
    ours.save(tmp_path / "signature")
    again = Signature.load(tmp_path / "signature")
    assert (again.name, again.space, again.count, again.classes) == ("mine", "made-up", 70, ours.classes)
    assert len(again.units) == 2
    for one, two in zip(ours.units, again.units, strict=True):
        assert np.array_equal(one.features, two.features) and np.array_equal(one.labels, two.labels)
    assert again.sketch.distance(signed("b", seed=4).sketch) == ours.sketch.distance(signed("b", seed=4).sketch)


def test_a_file_that_is_no_signature_is_called_so(tmp_path: Path) -> None:
    (tmp_path / "signature").write_bytes(b"no signature")
    with pytest.raises(Damaged, match="is no signature"):
        Signature.load(tmp_path / "signature")


def test_the_same_seed_cuts_the_same_units() -> None:
    ours, again, other = signed("a", 90, size=20), signed("a", 90, size=20), None
    points, labels = blobs(90)
    other = signature_of(points, labels, "abc", name="a", space="made-up", settings=UnitSettings(20), seed=1)
    assert np.array_equal(ours.units[0].features, again.units[0].features)
    assert not np.array_equal(ours.units[0].features, other.units[0].features)


def test_what_cannot_be_compared_is_refused_in_a_sentence() -> None:
    points, labels = blobs(9)
    with pytest.raises(InvalidInput, match="no labelled image"):
        signature_of(points[:0], [], ["a"], name="empty", space="s")
    with pytest.raises(InvalidInput, match="labels outside of its 2 classes"):
        signature_of(points, labels, ["a", "b"], name="x", space="s")
    with pytest.raises(InvalidInput, match=r"shape \(9, 6\) for 8 labels"):
        signature_of(points, labels[:8], ["a", "b", "c"], name="x", space="s")
    points[3, 2] = np.nan
    with pytest.raises(InvalidInput, match="1 of 9 images of 'x' have features that are no numbers"):
        signature_of(points, labels, ["a", "b", "c"], name="x", space="s")


def test_features_are_refused_that_half_precision_does_not_hold() -> None:
    points, labels = blobs(9)
    points[3, 2] = -65_504
    assert signature_of(points, labels, "abc", name="x", space="s").units[0].features.min() == -65_504
    points[3, 2] = -70_000
    with pytest.raises(InvalidInput, match=r"a feature of size 70,000; the largest that can be kept is 65,504\."):
        signature_of(points, labels, "abc", name="x", space="s")


def test_pixels_are_means_of_those_that_they_cover() -> None:
    images = np.arange(2 * 4 * 4 * 3, dtype=np.uint8).reshape(2, 4, 4, 3)
    small = pixel_features(images, 2)
    assert small.shape == (2, 12) and pixel_space(2) == "pixels-2"
    assert small[0, 0] == round(images[0, :2, :2, 0].mean())
    assert np.array_equal(pixel_features(images, 4), images.reshape(2, -1))


def test_a_signature_of_some_images_says_how_many_the_data_set_has(tmp_path: Path) -> None:
    points, labels = blobs(30)
    whole = signature_of(points, labels, "abc", name="x", space="s", count=54_000)
    whole.save(tmp_path / "x")
    assert Signature.load(tmp_path / "x").count == 54_000
    assert signature_of(points, labels, "abc", name="x", space="s").count == 30


def test_only_the_wanted_images_are_read_and_few_at_a_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    images = np.random.default_rng(0).integers(0, 256, (40, 16, 16, 3), dtype=np.uint8)
    taken: list[int] = []

    class Watched(np.memmap):
        def __getitem__(self, key: object) -> object:
            found = super().__getitem__(key)  # type: ignore[no-untyped-call]
            taken.extend([found.nbytes] if isinstance(key, np.ndarray) else [])
            return found

    mapped = Watched(tmp_path / "images", np.uint8, "w+", shape=images.shape)
    mapped[:] = images
    rows = np.array([3, 39, 3, *range(10)])
    monkeypatch.setattr(features, "_AT_ONCE", 4 * images[0].nbytes)
    assert np.array_equal(pixel_features(mapped, 8, rows=rows), pixel_features(images, 8)[rows])
    assert sum(taken) == len(rows) * images[0].nbytes and max(taken) == 4 * images[0].nbytes


def test_grey_images_and_images_with_alpha_become_rgb() -> None:
    random = np.random.default_rng(0)
    grey = random.integers(0, 256, (3, 8, 8), dtype=np.uint8)
    assert np.array_equal(pixel_features(grey, 8), np.repeat(grey.reshape(3, 64), 3, axis=1))
    clear = random.integers(0, 256, (3, 8, 8, 4), dtype=np.uint8)
    assert np.array_equal(pixel_features(clear, 8), clear[..., :3].reshape(3, -1))
    many = random.integers(0, 256, (3, 8, 8, 5), dtype=np.uint8)
    assert pixel_features(many, 8).shape == (3, 320)
    with pytest.raises(InvalidInput, match="Give bytes"):
        pixel_features(grey.astype(np.float32), 8)
