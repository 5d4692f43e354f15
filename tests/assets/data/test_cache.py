"""The decoded cache: an ordinary memory-mapped .npy file, built once per size."""

from pathlib import Path

import numpy as np
import pytest

from seedbed.assets.data.cache import CacheWriter, DecodedCache, build_cache, cache_name
from seedbed.assets.data.decode import decode
from seedbed.assets.data.folder import DataSetFolder
from seedbed.assets.data.ingest import ingest
from seedbed.base.errors import Damaged, InvalidInput, NotFound
from tests.assets.data.conftest import Save


def test_a_cache_is_built_once_and_then_opened(save: Save, tmp_path: Path) -> None:
    paths = [save(f"{n}.png", n) for n in range(5)]
    built = build_cache(paths, tmp_path / "cache", 24)
    stamp = built.path.stat().st_mtime_ns
    again = build_cache(paths, tmp_path / "cache", 24)
    assert again.path.stat().st_mtime_ns == stamp and (len(again), again.size) == (5, 24)
    assert isinstance(again.pixels, np.memmap) and not again.pixels.flags.writeable
    assert np.array_equal(again.pixels[3], decode(paths[3].read_bytes(), size=24).pixels)
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [cache_name(24)]


def test_rows_after_the_known_ones_are_dropped(tmp_path: Path) -> None:
    rows = np.arange(6 * 8 * 8 * 3, dtype=np.uint8).reshape(6, 8, 8, 3)
    with CacheWriter(tmp_path / "c.npy", 8) as writer:
        writer.append(rows[:4])
    with CacheWriter(tmp_path / "c.npy", 8, rows=2) as writer:
        writer.append(rows[2:])
        writer.finish()
    assert np.array_equal(np.load(tmp_path / "c.npy"), rows)


def test_a_checked_out_data_set_opens_with_each_array_in_its_folder(save: Save, tmp_path: Path) -> None:
    save("rust/a.jpg", 0)
    ingest(tmp_path / "source", tmp_path / "out", name="x", cache_size=32)
    for name in ("records.jsonl", "statistics.json", "findings.json"):
        place = tmp_path / "bundle" / name.split(".")[0] / name
        place.parent.mkdir(parents=True)
        (tmp_path / "out" / name).rename(place)
    (tmp_path / "out" / "images").rename(tmp_path / "bundle" / "images")
    data = DataSetFolder.open(tmp_path / "bundle")
    assert data.records[0].klass == "rust" and data.statistics.images == 1 and data.path(data.records[0]).exists()
    assert not data.has_cache(32)
    assert data.build_cache(32, tmp_path / "cache").size == 32


def test_what_is_no_cache_is_refused(tmp_path: Path) -> None:
    (tmp_path / "bad.npy").write_bytes(b"not numpy")
    np.save(tmp_path / "flat.npy", np.zeros(3))
    for name in ("bad.npy", "flat.npy"):
        with pytest.raises(Damaged, match=name):
            DecodedCache.open(tmp_path / name)
    with pytest.raises(InvalidInput, match="8 and 4096"):
        build_cache([], tmp_path, 3)
    with pytest.raises(NotFound, match=r"records.jsonl"):
        DataSetFolder.open(tmp_path)
