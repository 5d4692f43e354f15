"""The cache keeps the right few weights, says why, measures what it saves, and bears several processes at once."""

import os
import subprocess
import sys
import tempfile
import threading
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import pytest
import torch
from safetensors.torch import load_file, save_file

from seedbed.assets.zoo.builder import build_backbone
from seedbed.assets.zoo.cache import Entry, State, WeightCache, cached, default_folder
from seedbed.assets.zoo.efficientnet_lite import LITE0
from seedbed.base.errors import Damaged, Unsafe
from tests.assets.zoo.slow_card import card


@pytest.fixture
def cache(tmp_path: Path) -> WeightCache:
    return WeightCache(tmp_path / "cache", slots=2)


def names(cache: WeightCache) -> list[str]:
    return sorted(entry.name for entry in cache.state().entries)


def test_what_comes_out_is_what_the_original_has_and_the_second_time_it_is_not_read(
    cache: WeightCache, tmp_path: Path
) -> None:
    one = card(tmp_path, "one", value=3.0)
    first = cache.get(one)
    assert first is not None and torch.equal(load_file(first)["weight"], torch.full((64,), 3.0))
    (tmp_path / "one.original").write_text("no number any more")  # would fail if it were read
    os.utime(tmp_path / "one.original", ns=(0, 0))
    kept = card(tmp_path, "two", digest="d" * 64)
    assert cache.get(kept) == cache.get(kept)


def test_it_holds_no_more_than_its_places_and_lets_the_longest_unused_go(cache: WeightCache, tmp_path: Path) -> None:
    for name in ("a", "b", "a", "c"):
        cache.get(card(tmp_path, name, digest=name))
    assert names(cache) == ["a", "c"]
    assert [entry.name for entry in cache.state().gone] == ["b"]


def files(cache: WeightCache) -> list[str]:
    return sorted(path.name for path in cache.folder.iterdir() if path.suffix == ".safetensors")


def drafts(cache: WeightCache) -> list[str]:
    return [path.name for path in cache.folder.glob(".*") if path.suffix != ".lock"]


@pytest.mark.parametrize("held", [{}, {"n0": "It is next.", "n1": "It is next."}])
def test_many_that_come_at_once_get_no_more_than_its_places(
    cache: WeightCache, tmp_path: Path, held: dict[str, str]
) -> None:
    barrier = threading.Barrier(8)
    counted = cache._make_room

    def counted_together(name: str, size: int) -> bool:
        found = counted(name, size)
        barrier.wait(30)  # all have found room before the first has taken any
        return found

    cache._make_room = counted_together  # type: ignore[method-assign]
    cache.hold(held)
    cards = [card(tmp_path, f"n{number}", value=number, digest=str(number)) for number in range(8)]
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(cache.get, cards))
    assert len(files(cache)) == 2 and files(cache) == sorted(entry.file for entry in cache.state().entries)
    assert set(held) <= set(names(cache)) and not drafts(cache)
    assert sum(entry.misses for entry in (*cache.state().entries, *cache.state().gone)) == 8


@pytest.mark.parametrize("damaged", [False, True])
def test_what_was_let_go_before_it_is_read_is_read_from_where_it_lies(
    cache: WeightCache, tmp_path: Path, *, damaged: bool
) -> None:
    one = card(tmp_path, "one", value=3.0, digest="one")
    found = cache.through(one)
    path = found.find()
    assert path and path.parent == cache.folder
    if damaged:
        path.write_bytes(b"x" * 40)
    else:
        cache.drop(["one"])
    assert torch.equal(found.read(path)["weight"], torch.full((64,), 3.0))


def test_a_damaged_file_of_weights_that_lie_nowhere_else_is_said(cache: WeightCache, tmp_path: Path) -> None:
    found = cache.through(replace(card(tmp_path, "one", digest="one"), find=lambda: None))
    assert found.find() is None
    cache.get(card(tmp_path, "one", digest="one"))
    found = cache.through(replace(card(tmp_path, "one", digest="one"), find=lambda: None))
    path = found.find()
    assert path
    path.write_bytes(b"x" * 40)
    with pytest.raises(Damaged, match="cannot be read"):
        found.read(path)


def test_a_damaged_file_that_was_laid_there_is_no_trouble_of_the_card(
    cache: WeightCache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "w").write_bytes(b"x" * 40)
    assert cache.put("one", "one", tmp_path / "w")
    for name, value in cache.environment().items():
        monkeypatch.setenv(name, value)
    one = card(tmp_path, "one", digest="one")
    assert cached(one) is one


def test_weights_that_found_no_place_leave_none_of_their_name(cache: WeightCache, tmp_path: Path) -> None:
    cache.get(card(tmp_path, "a", digest="old"))
    cache._fits = lambda size: False  # type: ignore[method-assign]
    assert cache.get(card(tmp_path, "a", digest="new")) is None and files(cache) == []


def test_what_is_held_stays_and_others_are_read_from_where_they_lie(cache: WeightCache, tmp_path: Path) -> None:
    held = {"a": "3 jobs wait for it.", "b": "2 jobs wait for it."}
    cache.hold(held)
    for name in ("a", "b"):
        assert cache.get(card(tmp_path, name, digest=name))
    other = card(tmp_path, "c", digest="c")
    assert cache.get(other) is None and cache.through(other) is other
    state = cache.state()
    assert names(cache) == ["a", "b"] and {state.why(entry) for entry in state.entries} == set(held.values())
    cache.hold({"c": "It is next."})
    assert cache.get(other) and "c" in names(cache)


def test_other_weights_under_the_same_name_are_not_taken_for_the_old_ones(cache: WeightCache, tmp_path: Path) -> None:
    before = cache.get(card(tmp_path, "a", value=1.0, digest="old"))
    after = cache.get(card(tmp_path, "a", value=2.0, digest="new"))
    assert before is not None and after is not None
    assert float(load_file(after)["weight"][0]) == 2.0 and not before.exists() and names(cache) == ["a"]


def test_the_seconds_that_it_saves_are_measured(cache: WeightCache, tmp_path: Path) -> None:
    slow = card(tmp_path, "slow", slow=0.2, digest="slow")
    for _ in range(3):
        cache.get(slow)
    (entry,) = cache.state().entries
    assert (entry.hits, entry.misses) == (2, 1)
    assert entry.cold_seconds >= 0.2 > entry.warm_seconds > 0
    assert cache.state().saved_seconds == pytest.approx(2 * (entry.cold_seconds - entry.warm_seconds))


def test_a_file_can_be_laid_there_before_anybody_asks(cache: WeightCache, tmp_path: Path) -> None:
    save_file({"weight": torch.ones(64)}, tmp_path / "w.safetensors")
    assert cache.put("kept", "kept", tmp_path / "w.safetensors") and cache.put("kept", "kept", tmp_path / "gone")
    found = cache.get(card(tmp_path, "kept", value=9.0, digest="kept"))
    assert found and float(load_file(found)["weight"][0]) == 1.0
    cache.drop(["kept"])
    assert names(cache) == [] and cache.state().gone[0].hits == 1


def test_a_damaged_index_costs_a_load_and_nothing_else(cache: WeightCache, tmp_path: Path) -> None:
    one = card(tmp_path, "one", digest="one")
    cache.get(one)
    (cache.folder / "index.json").write_text("{")
    assert cache.get(one) and names(cache) == ["one"]


def test_no_places_keep_nothing(tmp_path: Path) -> None:
    none = WeightCache(tmp_path / "none", slots=0)
    assert none.get(card(tmp_path, "a")) is None and not (tmp_path / "none").exists()


_MANY = """
import sys
from pathlib import Path
from tests.assets.zoo.slow_card import card
from seedbed.assets.zoo.cache import WeightCache
from safetensors.torch import load_file
cache = WeightCache(Path(sys.argv[1]), slots=2)
for turn in range(12):
    number = (turn * 7 + int(sys.argv[3])) % 4
    found = cache.get(card(Path(sys.argv[2]), f"n{number}", value=number, slow=0.005, digest=str(number)))
    try:
        assert float(load_file(found)["weight"][5]) == number
    except FileNotFoundError:
        pass  # the other process needed the place in between
"""


def test_two_processes_at_once_never_see_half_a_file_or_others_weights(tmp_path: Path) -> None:
    for number in range(4):
        card(tmp_path, f"n{number}", value=number)
    command = [sys.executable, "-c", _MANY, str(tmp_path / "cache"), str(tmp_path)]
    running = [subprocess.Popen([*command, str(seed)], stderr=subprocess.PIPE) for seed in (0, 1)]
    ended = [(process.communicate(timeout=120)[1], process.returncode) for process in running]
    assert [code for _, code in ended] == [0, 0], ended
    state = WeightCache(tmp_path / "cache", slots=2).state()
    assert len(state.entries) <= 2 and sum(entry.hits + entry.misses for entry in (*state.entries, *state.gone)) == 24
    assert files(WeightCache(tmp_path / "cache")) == sorted(entry.file for entry in state.entries)


def test_a_network_built_through_the_cache_is_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    plain = build_backbone(LITE0, 3).network.state_dict()
    monkeypatch.setenv("SEEDBED_WEIGHT_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("SEEDBED_WEIGHT_SLOTS", "1")
    for _ in range(2):
        backbone = build_backbone(LITE0, 3)
        found = backbone.network.state_dict()
        assert all(torch.equal(plain[name], found[name]) for name in plain)
        assert backbone.started_from == LITE0.name
    (entry,) = WeightCache(tmp_path / "cache", 1).state().entries
    assert (entry.hits, entry.misses) == (1, 1)
    assert cached(cached(LITE0)).find() == cached(LITE0).find(), "what went through the cache is not put there again"
    monkeypatch.setenv("SEEDBED_WEIGHT_CACHE", "/proc/nothing")
    assert cached(LITE0) is LITE0, "trouble with the cache is not the card's"


def test_how_long_a_start_takes_is_what_was_measured_or_at_the_rate_of_others() -> None:
    here = Entry("here", "1", "here.safetensors", 100, cold_seconds=4.0, warm_seconds=1.0)
    gone = Entry("gone", "2", "", 300, cold_seconds=4.0, warm_seconds=1.0)
    state = State("", 2, (here,), (gone,), {}, 0)
    assert state.seconds_to_load("here", 100) == 1.0 and state.seconds_to_load("gone", 300) == 4.0
    assert state.seconds_to_load("new", 100) == pytest.approx(100 / (400 / 8))
    assert State("", 2, (), (), {}, 0).seconds_to_load("new", 2 * 10**8) == pytest.approx(1.0)


def test_the_folder_is_in_shared_memory_where_that_has_room_and_differs_by_home(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert default_folder(tmp_path / "a", room=0) == tmp_path / "a" / "cache" / "weights", "a temporary home"
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "other"))
    assert default_folder(tmp_path / "a", room=1 << 62) == tmp_path / "a" / "cache" / "weights"
    one, two = (default_folder(tmp_path / name, room=0) for name in "ab")
    assert one != two and (one.parent == Path("/dev/shm") or not Path("/dev/shm").is_dir())


def test_a_folder_of_somebody_else_is_not_used(cache: WeightCache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 12345)
    with pytest.raises(Unsafe, match="belongs to somebody else"):
        cache.hold({})


def test_looking_at_the_cache_needs_no_torch(tmp_path: Path) -> None:
    code = f"""
import sys
from pathlib import Path
from seedbed.assets.zoo.cache import WeightCache
cache = WeightCache(Path({str(tmp_path)!r}) / "c", 2)
Path({str(tmp_path)!r}, "w").write_bytes(b"12345678")
cache.put("a", "a", Path({str(tmp_path)!r}, "w")); cache.hold({{"a": "why"}}); cache.state()
assert "torch" not in sys.modules
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=60)
