"""Findings and perceptual hashes: what is nearly the same is found, what is not is left in peace."""

import io
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from PIL import Image, ImageEnhance

from seedbed.assets.data.decode import decode
from seedbed.assets.data.findings import Finding, imbalance, leaks, near_duplicates, tiny_images
from seedbed.assets.data.ingest import ingest
from seedbed.assets.data.phash import groups_of, hashes_of, near_pairs
from seedbed.assets.data.records import ImageRecord
from tests.assets.data.conftest import Save


def records_of(pixels: np.ndarray, classes: str = "") -> list[ImageRecord]:
    hashes = hashes_of(pixels)
    klass = classes or "a" * len(pixels)
    return [
        ImageRecord(str(n), f"{n}.jpg", f"{n}.jpg", klass[n], phash=f"{hashes[n]:016x}") for n in range(len(pixels))
    ]


def recompressed(image: Image.Image) -> Image.Image:
    out = io.BytesIO()
    image.save(out, "JPEG", quality=50)
    return Image.fromarray(decode(out.getvalue()).pixels)


@pytest.mark.parametrize(
    "change",
    [
        recompressed,
        lambda image: image.resize((40, 40)).resize((64, 64)),
        lambda i: ImageEnhance.Brightness(i).enhance(1.06),
    ],
)
def test_a_changed_copy_is_a_near_duplicate(change: Callable[[Image.Image], Image.Image], leaves: np.ndarray) -> None:
    copies = np.stack([np.asarray(change(Image.fromarray(leaf))) for leaf in leaves[:20]])
    both = np.concatenate([leaves[:20], copies])
    found = near_duplicates(records_of(both), both)
    assert sum(group == [n, n + 20] for n, group in enumerate(found)) >= 18


def test_different_leaves_are_not_near_duplicates(leaves: np.ndarray) -> None:
    assert near_duplicates(records_of(leaves), leaves) == []


def test_near_pairs_are_those_that_comparing_all_with_all_gives() -> None:
    rng = np.random.default_rng(0)
    hashes = rng.integers(0, 2**64, 400, dtype=np.uint64)
    for bits in range(1, 6):  # neighbours at 1 to 5 bits
        flips = np.asarray(
            [sum(1 << int(b) for b in rng.choice(64, bits, replace=False)) for _ in range(40)], np.uint64
        )
        hashes = np.concatenate([hashes, hashes[:40] ^ flips])
    apart = np.bitwise_count(hashes[:, None] ^ hashes[None])
    left, right = np.nonzero(np.triu(apart <= 4, 1))
    assert {tuple(sorted(pair)) for pair in near_pairs(hashes).tolist()} == set(
        zip(left.tolist(), right.tolist(), strict=True)
    )


def test_fifty_thousand_hashes_are_compared_in_seconds() -> None:
    hashes = np.random.default_rng(1).integers(0, 2**64, 50_000, dtype=np.uint64)
    hashes[100:20_000] = hashes[0]  # many identical ones must not be compared all with all
    start = time.process_time()
    groups = groups_of(near_pairs(hashes), len(hashes))
    assert time.process_time() - start < 10
    assert len(groups[0]) == 19_901


def test_a_leak_across_a_given_split_is_found(leaves: np.ndarray) -> None:
    both = np.concatenate([leaves[:6], leaves[:1]])
    records = records_of(both)
    near = near_duplicates(records, both)
    side = {"0": "train", "6": "test"}
    found = leaks(records, side, near)
    assert found and found.groups == (("0.jpg", "6.jpg"),)
    assert leaks(records, {"0": "train", "6": "train"}, near) is None


def test_imbalance_names_both_classes() -> None:
    records = [ImageRecord(str(n), f"{n}.jpg", "", "many" if n < 50 else "few") for n in range(60)]
    found = imbalance(records)
    assert found and "'many' has 50" in found.sentence and "'few' only 10" in found.sentence
    assert imbalance(records[20:]) is None


def test_tiny_images_are_named() -> None:
    found = tiny_images(
        [ImageRecord("1", "a.jpg", "", width=31, height=99), ImageRecord("2", "b.jpg", "", width=32, height=32)]
    )
    assert found and found.files == ("a.jpg",) and "a.jpg" in found.sentence


def test_findings_survive_their_file(save: Save, tmp_path: Path) -> None:
    save("rust/a.jpg", 0), save("rust/b.jpg", 0), save("rust/notes.txt", 0, format="PNG")
    (tmp_path / "source" / "away.jpg").symlink_to(tmp_path)
    result = ingest(tmp_path / "source", tmp_path / "out", name="x", cache_size=32)
    assert [finding.code for finding in result.findings] == ["exact-duplicates", "links-outside", "not-images"]
    assert all(Finding.from_json(finding.to_json()) == finding for finding in result.findings)
