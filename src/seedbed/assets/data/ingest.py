"""Bringing images in: read once, hash, decode, keep; in parallel, and durable batch by batch.

Threads, not processes: Pillow lets go of the interpreter while it decodes and scales, and no worker can be orphaned.
"""

import contextlib
import json
import shutil
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seedbed.assets.data.cache import CacheWriter, DecodedCache, cache_name, check_size, default_workers
from seedbed.assets.data.decode import SUFFIXES, Undecodable, decode
from seedbed.assets.data.findings import Finding
from seedbed.assets.data.folder import FINDINGS, IMAGES, RECORDS, STATISTICS, DataSetFolder
from seedbed.assets.data.journal import JOURNAL, Batch, Journal, Outcome, sync_disk_of
from seedbed.assets.data.limits import Limits
from seedbed.assets.data.merge import Merged, findings_of, merge
from seedbed.assets.data.phash import hashes_of
from seedbed.assets.data.records import Statistics, write_records
from seedbed.assets.data.sources import Item, Source, open_source
from seedbed.assets.data.statistics import ChannelSums, statistics_of
from seedbed.base.errors import Conflict, InvalidInput
from seedbed.base.files import says_when_full, write_atomically
from seedbed.base.ids import digest_of, digest_of_bytes
from seedbed.base.run import Stopped

_BATCH = 64  # files that a thread takes at once
_COMMIT = 4  # batches that are put on disk together: one wait for the disk, at most a second of work to redo
_SCRATCH = ".unpacked"
_OLD_CACHE = ".earlier"


@dataclass(frozen=True)
class IngestResult:
    """What came of it. `folder` holds the data set; images of earlier versions stay where they are."""

    name: str
    folder: Path
    images: int  # records in all, with those of the earlier version
    added: int  # of them new
    copies: int  # files that were copies of an image that is kept
    left_out: int  # files that could not be used
    statistics: Statistics
    findings: tuple[Finding, ...]


def ingest(
    source: Path,
    folder: Path,
    *,
    name: str,
    cache_size: int = 96,
    workers: int | None = None,
    limits: Limits | None = None,
    on_progress: Callable[[int, int], None] | None = None,
    should_stop: Callable[[], bool] | None = None,
    existing: DataSetFolder | None = None,
) -> IngestResult:
    """Read a folder, archive, CSV manifest or upload into a data set's folder.

    With `existing`, a new version of that data set: its records and decoded rows come first, and none of its images
    is written again. Called again on the folder of an interrupted run, it goes on after the last finished batch.
    Bad files are findings; a hostile archive, or a source without one usable image, raises and leaves nothing behind.
    """
    fresh = not folder.exists()
    folder.mkdir(parents=True, exist_ok=True)
    try:
        with open_source(source, folder / _SCRATCH, limits=limits) as found:
            work = _Ingest(found, folder, check_size(cache_size), limits or Limits(), existing)
            work.run(workers or default_workers(), on_progress or _silent, should_stop or _never)
            return work.finish(name)
    finally:
        if fresh and not any(folder.iterdir()):
            folder.rmdir()


class _Ingest:
    def __init__(self, source: Source, folder: Path, size: int, limits: Limits, existing: DataSetFolder | None) -> None:
        self.source = source
        self.folder = folder
        self.size = size
        self.limits = limits
        self.existing = existing
        self.known = {record.id for record in existing.records} if existing else set()
        self.batches: list[Batch] = []
        self.noted = 0  # how many of them are in the journal
        self.journal = Journal(folder, self._key())

    @property
    def _draft(self) -> Path:
        return self.folder / f"{cache_name(self.size)}.part"

    def _key(self) -> str:
        """Names the work: a journal of other files, another size or another earlier version is not continued."""
        stats = [(item.name, item.path.lstat()) for item in self.source.items]
        files = [(name, s.st_size, 0 if self.source.owned else s.st_mtime_ns) for name, s in stats]
        return digest_of([self.size, sorted(self.known), files])

    def run(self, workers: int, on_progress: Callable[[int, int], None], should_stop: Callable[[], bool]) -> None:
        """Take in what the journal does not have yet."""
        self._resume_or_begin()
        total = len(self.source.items)
        done = sum(len(batch.outcomes) for batch in self.batches)
        rows = sum(len(batch.rows) for batch in self.batches)
        start = len(self.existing.records) if self.existing else 0
        on_progress(done, total)
        writer = CacheWriter(self._draft, self.size, rows=start + rows if self.batches else 0)
        with writer as cache, contextlib.closing(self.journal):
            if self.existing and not self.batches:
                cache.append_file(self._earlier_cache(self.existing))
            for batch, pixels in self._in_parallel(done, workers):
                self._admit(batch, pixels, cache)
                done += len(batch.outcomes)
                stop = done < total and should_stop()
                if stop or done == total or len(self.batches) - self.noted >= _COMMIT:
                    self._commit(cache)
                    on_progress(done, total)
                if stop:
                    raise Stopped
            cache.finish()

    def _resume_or_begin(self) -> None:
        if not (self.folder / JOURNAL).exists() and any(path.name != _SCRATCH for path in self.folder.iterdir()):
            raise Conflict(f"The folder {self.folder} is not empty.", hint="Ingest into a new folder.")
        whole = self.folder / cache_name(self.size)
        if whole.exists():  # it was interrupted while finishing
            whole.replace(self._draft)
        batches = self.journal.read()
        if batches is not None and (self._draft.exists() or not batches):
            self.batches, self.noted = batches, len(batches)
            self.known |= {image for batch in batches for image in batch.rows}
            return
        self._wipe()
        (self.folder / IMAGES).mkdir()
        self.journal.begin()

    def _wipe(self) -> None:
        shutil.rmtree(self.folder / IMAGES, ignore_errors=True)
        shutil.rmtree(self.folder / _OLD_CACHE, ignore_errors=True)
        for name in (RECORDS, STATISTICS, FINDINGS, JOURNAL):
            (self.folder / name).unlink(missing_ok=True)
        for cache in self.folder.glob("decoded-*.npy*"):
            cache.unlink()

    def _earlier_cache(self, existing: DataSetFolder) -> DecodedCache:
        return existing.build_cache(self.size, self.folder / _OLD_CACHE)

    def _in_parallel(self, done: int, workers: int) -> Iterator[tuple[Batch, NDArray[np.uint8]]]:
        """Batches in the order of the source, a few ahead of the one that is being admitted."""
        starts = deque(range(done, len(self.source.items), _BATCH))
        ahead: deque[Future[tuple[Batch, NDArray[np.uint8]]]] = deque()
        pool = ThreadPoolExecutor(workers, thread_name_prefix="ingest")
        try:
            while starts or ahead:
                while starts and len(ahead) < workers + 1:
                    start = starts.popleft()
                    ahead.append(pool.submit(self._take, start, self.source.items[start : start + _BATCH]))
                yield ahead.popleft().result()
        finally:
            pool.shutdown(cancel_futures=True)

    def _take(self, start: int, items: Sequence[Item]) -> tuple[Batch, NDArray[np.uint8]]:
        """One batch, in a thread: read, hash, decode and write each file."""
        pixels = np.empty((len(items), self.size, self.size, 3), np.uint8)
        rows: dict[str, int] = {}
        outcomes = [self._take_one(index, item, pixels, rows) for index, item in enumerate(items, start)]
        pixels = pixels[: len(rows)]
        hashes = hashes_of(pixels)
        done = tuple(_with_hash(outcome, hashes, rows) for outcome in outcomes)
        return Batch(done, tuple(rows), ChannelSums()), pixels

    def _take_one(self, index: int, item: Item, pixels: NDArray[np.uint8], rows: dict[str, int]) -> Outcome:
        try:
            data = item.read(self.limits.file_bytes)
            image = digest_of_bytes(data)
            if image in self.known or image in rows:
                return Outcome(index, id=image)
            picture = decode(data, size=self.size, pixel_limit=self.limits.pixels)
        except Undecodable as error:
            return Outcome(index, reason=error.reason, bomb=error.bomb)
        file = image + SUFFIXES[picture.format]
        self._keep(item, data, self.folder / IMAGES / file)
        rows[image] = len(rows)
        pixels[rows[image]] = picture.pixels
        return Outcome(index, image, file, picture.width, picture.height, len(data), picture.format)

    def _keep(self, item: Item, data: bytes, place: Path) -> None:
        """Write an original under its name, or move it there if it is ours."""
        with says_when_full(place.parent):
            if self.source.owned:
                item.path.replace(place)
            else:
                place.write_bytes(data)

    def _admit(self, batch: Batch, pixels: NDArray[np.uint8], cache: CacheWriter) -> None:
        """Add a batch's rows, without images that an earlier batch brought meanwhile."""
        new = [row for row, image in enumerate(batch.rows) if image not in self.known]
        pixels = pixels[new] if len(new) < len(pixels) else pixels
        sums = ChannelSums()
        if len(pixels):
            sums.add(pixels)
        cache.append(pixels)
        done = Batch(batch.outcomes, tuple(batch.rows[row] for row in new), sums)
        self.batches.append(done)
        self.known.update(done.rows)

    def _commit(self, cache: CacheWriter) -> None:
        """Put what was admitted since the last time on disk, then note it as done."""
        if self.noted < len(self.batches):
            cache.flush()
            sync_disk_of(self.folder / IMAGES)
            self.journal.add(self.batches[self.noted :])
            self.noted = len(self.batches)

    def finish(self, name: str) -> IngestResult:
        """Records, statistics and findings of the whole, then the names that make it a data set."""
        merged = merge(self.source.items, self.batches, self.existing)
        if not merged.records:
            self._wipe()
            raise InvalidInput(
                f"{_none_of(len(self.source.items), name)} image that can be read.",
                problems=[f"{file}: {reason}" for file, reason in [*merged.unreadable, *merged.bombs][:20]],
            )
        place = self.folder / cache_name(self.size)
        self._draft.replace(place)
        cache = DecodedCache.open(place)
        statistics = statistics_of(merged.records, self._sums(cache))
        findings = findings_of(merged, self.source, cache.pixels)
        self._write(merged, statistics, findings)
        return IngestResult(
            name=name,
            folder=self.folder,
            images=len(merged.records),
            added=sum(len(batch.rows) for batch in self.batches),
            copies=merged.copies,
            left_out=len(merged.unreadable) + len(merged.bombs),
            statistics=statistics,
            findings=tuple(findings),
        )

    def _sums(self, cache: DecodedCache) -> ChannelSums:
        sums = ChannelSums()
        earlier = len(self.existing.records) if self.existing else 0
        for start in range(0, earlier, 256):
            sums.add(cache.pixels[start : min(start + 256, earlier)])
        for batch in self.batches:
            sums.merge(batch.sums)
        return sums

    def _write(self, merged: Merged, statistics: Statistics, findings: Sequence[Finding]) -> None:
        write_atomically(self.folder / STATISTICS, json.dumps(statistics.to_json(), indent=1).encode())
        found = [finding.to_json() for finding in findings]
        write_atomically(self.folder / FINDINGS, json.dumps(found, indent=1, ensure_ascii=False).encode())
        write_atomically(self.folder / RECORDS, write_records(merged.records))
        shutil.rmtree(self.folder / _OLD_CACHE, ignore_errors=True)
        (self.folder / JOURNAL).unlink()


def _with_hash(outcome: Outcome, hashes: NDArray[np.uint64], rows: dict[str, int]) -> Outcome:
    if not outcome.image:
        return outcome
    values = {**outcome.__dict__, "phash": f"{int(hashes[rows[outcome.id]]):016x}"}
    return Outcome(**values)


def _silent(done: int, total: int) -> None:
    """Nobody watches."""


def _never() -> bool:
    return False


def _none_of(files: int, name: str) -> str:
    return f"The only file for '{name}' is no" if files == 1 else f"None of the {files:,} files for '{name}' is an"
