"""The weights that a node keeps in memory: a few files that every process there maps, ready under timm's names.

The cache is one folder, in shared memory where there is some. Files appear whole (written aside, then renamed) and may
go at any time: who has mapped one keeps it. What is known of them is one small JSON file, changed under a lock, so
that any number of processes can use the folder at once. Nothing is lost with it: every file can be made again.
"""

import contextlib
import fcntl
import json
import os
import re
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from seedbed.assets.zoo.card import Card
from seedbed.base.errors import Damaged, SeedbedError, Unsafe
from seedbed.base.files import write_atomically
from seedbed.base.ids import digest_of, new_id
from seedbed.base.registry import Registry

SLOTS = 4
FOLDER_VARIABLE, SLOTS_VARIABLE = "SEEDBED_WEIGHT_CACHE", "SEEDBED_WEIGHT_SLOTS"
_SHARED_MEMORY = Path("/dev/shm")
_LEAST_ROOM = 256 << 20  # bytes that stay free for others
_ABANDONED = 3600.0  # seconds after which nobody writes a file any more
_INDEX = "index.json"
_PARTS: Registry[Any] = Registry(
    "part",
    {
        "save": "safetensors.torch:save_file",
        "load": "safetensors.torch:load_file",
        "error": "safetensors:SafetensorError",
    },
)  # torch comes with these: who only looks at the cache does without


@dataclass(frozen=True)
class Entry:
    """One set of weights that is in the cache, or was: what was measured of it stays."""

    name: str
    digest: str  # of the original; another one means other weights
    file: str = ""  # '': it is not in the cache now
    size: int = 0
    used: float = 0.0  # when it was last asked for
    hits: int = 0
    misses: int = 0
    cold_seconds: float = 0.0  # to read the original, measured
    warm_seconds: float = 0.0  # to read it from here, measured
    saved_seconds: float = 0.0  # by all hits


@dataclass(frozen=True)
class State:
    """What the cache holds and why."""

    folder: str
    slots: int
    entries: tuple[Entry, ...]  # that are in it, the last used first
    gone: tuple[Entry, ...]  # that were in it
    held: Mapping[str, str]  # name of a card: why it is to stay
    free_bytes: int

    @property
    def saved_seconds(self) -> float:
        """What all hits saved together."""
        return sum(entry.saved_seconds for entry in (*self.entries, *self.gone))

    def why(self, entry: Entry) -> str:
        """Why a set of weights is in the cache, in a sentence."""
        if entry.name in self.held:
            return self.held[entry.name]
        return "It was used here lately, and no other weights needed its place."

    def seconds_to_load(self, name: str, size: int) -> float:
        """What a start from these weights costs now: the measured times, or by the rate at which others were read."""
        known = {entry.name: entry for entry in (*self.gone, *self.entries)}
        if name in known and (known[name].file or known[name].cold_seconds):
            return known[name].warm_seconds if known[name].file else known[name].cold_seconds
        read = [(entry.size, entry.cold_seconds) for entry in known.values() if entry.cold_seconds and entry.size]
        rate = sum(part[0] for part in read) / sum(part[1] for part in read) if read else _USUAL_RATE
        return size / rate


_USUAL_RATE = 2e8  # bytes a second, where nothing was measured yet


@dataclass
class _Index:
    entries: dict[str, Entry] = field(default_factory=dict)
    held: dict[str, str] = field(default_factory=dict)


class WeightCache:
    """At most `slots` sets of weights, in a folder that all processes of a node share. Safe from any thread or process.

    0 slots: nothing is kept, and `get` answers None.
    """

    def __init__(self, folder: Path, slots: int = SLOTS) -> None:
        self.folder = folder
        self.slots = slots

    def environment(self) -> dict[str, str]:
        """What `cache_of_environment` finds it by in another process."""
        return {FOLDER_VARIABLE: str(self.folder.absolute()), SLOTS_VARIABLE: str(self.slots)}

    def get(self, card: Card) -> Path | None:
        """The weights of a card as safetensors under timm's names, to be mapped; None: there is no place for them.

        What is not here is read from where it lies and put here, unless every place is held for others.
        """
        if self.slots < 1:
            return None
        source = card.find()
        if source is not None and source.parent == self.folder:  # it went through the cache already
            return source
        known = _identity(card)
        with self._locked(f".{known}"):  # who asks for the same at the same time waits, instead of reading it too
            if found := self._hit(card.name, known):
                return found
            return self._fetch(card, known)

    def through(self, card: Card) -> Card:
        """The same card, read from the cache where that has it or can take it.

        Should another process need the place before it is read, it is read from where it lies after all.
        """
        path = self.get(card)
        return card if path is None else replace(card, find=lambda: path, read=lambda found: _read_or(card, found))

    def put(self, name: str, digest: str, weights: Path) -> bool:
        """Lay a safetensors file here before somebody asks for it; needs no torch. Whether it is here now."""
        known = digest_of([name, digest])[:24]
        with self._locked(f".{known}"):
            if self._entry(name, known) is not None:
                return True
            size = weights.stat().st_size
            if not self._make_room(name, size):
                return False
            start = time.perf_counter()
            content = weights.read_bytes()
            cold = time.perf_counter() - start
            draft = self.folder / f".{new_id()}"
            draft.write_bytes(content)
            before = self._read().entries.get(name, Entry(name, known))
            cold = before.cold_seconds or cold
            facts = replace(before, digest=known, size=size, used=time.time(), cold_seconds=cold, warm_seconds=0.0)
            return self._admit(replace(facts, file=_file_of(name, known)), draft)

    def hold(self, why: Mapping[str, str]) -> None:
        """These are to stay, each with the reason; the others go when a place is needed."""
        with self._changing() as index:
            index.held = dict(list(why.items())[: max(self.slots, 0)])

    def drop(self, names: Sequence[str]) -> None:
        """Take these out; who has them mapped keeps them."""
        with self._changing() as index:
            for name in names:
                self._evict(index, name)

    def state(self) -> State:
        """What is in it now."""
        index = self._read() if self.folder.is_dir() else _Index()
        entries = sorted(index.entries.values(), key=lambda entry: -entry.used)
        here = [entry for entry in entries if entry.file and (self.folder / entry.file).is_file()]
        gone = [replace(entry, file="") for entry in entries if entry not in here]
        free = shutil.disk_usage(_existing(self.folder)).free
        return State(str(self.folder), self.slots, tuple(here), tuple(gone), dict(index.held), free)

    # --- one card -------------------------------------------------------------------------------------------------

    def _entry(self, name: str, digest: str) -> Entry | None:
        entry = self._read().entries.get(name)
        there = entry is not None and entry.digest == digest and entry.file and (self.folder / entry.file).is_file()
        return entry if there else None

    def _hit(self, name: str, digest: str) -> Path | None:
        entry = self._entry(name, digest)
        if entry is None:
            return None
        if not entry.warm_seconds:  # it was laid here without being read
            entry = replace(entry, warm_seconds=_seconds(_read, self.folder / entry.file)[1])
        saved = max(entry.cold_seconds - entry.warm_seconds, 0.0) if entry.cold_seconds else 0.0
        with self._changing() as index:
            if not (self.folder / entry.file).is_file():  # another process needed the place in between
                return None
            index.entries[name] = replace(
                entry, used=time.time(), hits=entry.hits + 1, saved_seconds=entry.saved_seconds + saved
            )
        return self.folder / entry.file

    def _fetch(self, card: Card, digest: str) -> Path | None:
        source = card.find()
        if source is None:
            return None
        state, cold = _seconds(card.read, source)
        size = sum(tensor.nbytes for tensor in state.values())
        before = self._read().entries.get(card.name, Entry(card.name, digest))
        measured = replace(before, digest=digest, cold_seconds=cold, misses=before.misses + 1, used=time.time())
        if not self._make_room(card.name, size):
            with self._changing() as index:
                self._turn_away(index, replace(measured, size=size))
            return None
        draft = self.folder / f".{new_id()}"
        _PARTS.get("save")({key: value.contiguous() for key, value in state.items()}, draft)
        warm = _seconds(_read, draft)[1]
        whole = replace(measured, file=_file_of(card.name, digest), size=draft.stat().st_size, warm_seconds=warm)
        return self.folder / whole.file if self._admit(whole, draft) else None

    def _admit(self, entry: Entry, draft: Path) -> bool:
        """Put a whole file in its place, if there is one still: others came in while it was written."""
        with self._changing() as index:
            if not self._clear(index, entry.name, 0):  # the draft has taken its bytes already
                draft.unlink(missing_ok=True)
                self._turn_away(index, entry)
                return False
            self._evict(index, entry.name)
            draft.replace(self.folder / entry.file)
            index.entries[entry.name] = entry
        return True

    def _turn_away(self, index: _Index, entry: Entry) -> None:
        """Keep what was measured of weights that have no place; what lay here under their name was others."""
        self._evict(index, entry.name)
        index.entries[entry.name] = replace(entry, file="")

    def _make_room(self, name: str, size: int) -> bool:
        """Whether there is a place for this one, and the bytes to write it; what was left half written goes first."""
        self._sweep()
        with self._changing() as index:
            return self._clear(index, name, size)

    def _clear(self, index: _Index, name: str, size: int) -> bool:
        """Let go what is not held and was used longest ago; False: there is no place for this one."""
        others = [entry for entry in index.entries.values() if entry.file and entry.name != name]
        loose = sorted((entry for entry in others if entry.name not in index.held), key=lambda entry: entry.used)
        if name in index.held:  # what is held for longer than it is used makes way in the end
            loose += sorted((entry for entry in others if entry.name in index.held), key=lambda entry: entry.used)
        while len(others) >= self.slots or not self._fits(size):
            if not loose:
                return False
            others.remove(loose[0])
            self._evict(index, loose.pop(0).name)
        return True

    def _sweep(self) -> None:
        """What a process that was killed left half written."""
        for path in self.folder.glob(".*"):
            with contextlib.suppress(FileNotFoundError):
                if path.suffix != ".lock" and time.time() - path.stat().st_mtime > _ABANDONED:
                    path.unlink()

    def _fits(self, size: int) -> bool:
        disk = shutil.disk_usage(self.folder)
        return disk.free - size > min(_LEAST_ROOM, disk.total // 8)

    def _evict(self, index: _Index, name: str) -> None:
        entry = index.entries.get(name)
        if entry and entry.file:
            (self.folder / entry.file).unlink(missing_ok=True)
            index.entries[name] = replace(entry, file="")

    # --- the index ------------------------------------------------------------------------------------------------

    @contextlib.contextmanager
    def _changing(self) -> Iterator[_Index]:
        with self._locked(".index"):
            index = self._read()
            yield index
            facts = {"entries": [asdict(entry) for entry in index.entries.values()], "held": index.held}
            write_atomically(self.folder / _INDEX, json.dumps(facts).encode())

    def _read(self) -> _Index:
        try:
            facts = json.loads((self.folder / _INDEX).read_text())
            entries = {each["name"]: Entry(**each) for each in facts["entries"]}
            return _Index(entries, dict(facts["held"]))
        except (OSError, ValueError, KeyError, TypeError):  # none yet, or of another version: the files are made again
            return _Index()

    @contextlib.contextmanager
    def _locked(self, name: str) -> Iterator[None]:
        self.folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        if self.folder.lstat().st_uid != os.getuid():  # in shared memory anybody can take a name first
            raise Unsafe(f"{self.folder} belongs to somebody else.", hint="Name another folder: weight_cache.")
        with (self.folder / f"{name}.lock").open("a") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            yield


def default_folder(home: Path, *, room: int = 1 << 30) -> Path:
    """Where a node keeps weights: in shared memory where that has room, else in the home's cache folder.

    A home in the folder for temporary files has it inside too: nobody would clean up after it in shared memory.
    """
    if home.resolve().is_relative_to(Path(tempfile.gettempdir()).resolve()):
        return home / "cache" / "weights"
    name = f"seedbed-{os.getuid()}-{digest_of(str(home.resolve()))[:12]}"
    try:
        roomy = _SHARED_MEMORY.is_dir() and shutil.disk_usage(_SHARED_MEMORY).free >= room
        if roomy and os.access(_SHARED_MEMORY, os.W_OK):
            return _SHARED_MEMORY / name
    except OSError:
        pass
    return home / "cache" / "weights"


def cache_of_environment() -> WeightCache | None:
    """The cache that whoever started this process named in its environment; None: there is none."""
    folder, slots = os.environ.get(FOLDER_VARIABLE, ""), os.environ.get(SLOTS_VARIABLE, "0")
    return WeightCache(Path(folder), int(slots)) if folder and slots.isdecimal() and int(slots) else None


def cached(card: Card) -> Card:
    """The card, read through this node's cache where there is one; trouble with the cache is not the card's."""
    cache = cache_of_environment()
    try:
        return cache.through(card) if cache else card
    except (OSError, SeedbedError):
        return card


def _identity(card: Card) -> str:
    if card.digest:
        return digest_of([card.name, card.digest])[:24]
    found = card.find()
    state = found.stat() if found else None
    return digest_of([card.name, str(found), state.st_size if state else 0, state.st_mtime_ns if state else 0])[:24]


def _file_of(name: str, digest: str) -> str:
    return f"{re.sub(r'[^A-Za-z0-9._-]', '_', name)[:60].lstrip('.')}-{digest[:12]}.safetensors"


def _read(path: Path) -> Any:
    try:
        return _PARTS.get("load")(path)
    except _PARTS.get("error") as error:
        raise Damaged(f"{path} cannot be read: {error}.") from error


def _read_or(card: Card, path: Path) -> Any:
    """The tensors of a file of the cache; where it is gone or damaged, those of the card's own file."""
    try:
        return _read(path)
    except (OSError, Damaged):
        own = card.find()
        if own is None:
            raise
        return card.read(own)


def _seconds(read: Any, path: Path) -> tuple[Any, float]:
    """The tensors, and how long it took until all of their bytes were there."""
    _PARTS.get("load")  # what is loaded once with torch is no part of the time
    start = time.perf_counter()
    state = read(path)
    for tensor in state.values():
        tensor.clone()
    return state, time.perf_counter() - start


def _existing(folder: Path) -> Path:
    return folder if folder.exists() else _existing(folder.parent)
