"""Takes in what attempts leave in their folders: metrics, checkpoints, results.

A worker holds no key to the database; whatever it writes counts only when it is admitted here, in a transaction that
holds the job's row still and finds that the attempt's fencing number is the one that counts and that nobody has ended
it. A copy that lost its place may go on writing into its own folder for as long as it lives: nothing of it is taken in.
"""

import json
import math
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, update

from seedbed.assets.db.dialects import upsert
from seedbed.assets.db.tables import attempts, jobs, metrics
from seedbed.assets.store.bundle import Bundle, Draft
from seedbed.assets.store.publish import After
from seedbed.assets.store.store import Store
from seedbed.base.errors import Conflict, InvalidInput
from seedbed.runtime.jobs.folders import JobFolders
from seedbed.runtime.jobs.launcher import Answered
from seedbed.runtime.jobs.lease import Lease
from seedbed.runtime.jobs.queue import Queue
from seedbed.runtime.jobs.records import Attempt, Job
from seedbed.runtime.jobs.states import State

_PIECE = 1 << 20  # bytes of metrics that are read at a time
_LONGEST_WORDS = 200
_LARGEST_COUNT = (1 << 31) - 1  # what a column holds


class OutOfPlace(Conflict):
    """The attempt does not count any more: what it left is not taken in."""


class Collector:
    """Admits what attempts leave. Used by the scheduler that holds the lease, in its thread."""

    def __init__(self, queue: Queue, store: Store, folders: JobFolders, lease: Lease) -> None:
        self._queue = queue
        self._store = store
        self._lease = lease
        self.folders = folders

    def guard(self, conn: Connection, attempt: Attempt) -> Job:
        """The job, held still until the commit, if this attempt still counts; else OutOfPlace."""
        self._lease.check(conn)
        job = self._queue.locked(conn, attempt.job)
        if job.fence != attempt.fence or not job.state.active:
            raise OutOfPlace(
                f"Attempt {attempt.fence} of job {job.id} has lost its place: the job is {job.state}, "
                f"and attempt {job.fence} is the one that counts."
            )
        return job

    def take_metrics(self, attempt: Attempt) -> int:
        """Take in the whole lines that metrics.jsonl has grown by; the answer is how far it is read now."""
        path = self.folders.attempt(attempt.job, attempt.fence) / "metrics.jsonl"
        offset = attempt.metrics_offset
        while piece := _whole_lines(path, offset):
            with self._queue.database.write() as conn:
                self.guard(conn, attempt)
                self._keep_metrics(conn, attempt, offset, piece)
            offset += len(piece)
        return offset

    def _keep_metrics(self, conn: Connection, attempt: Attempt, offset: int, piece: bytes) -> None:
        mine = (attempts.c.job == attempt.job) & (attempts.c.fence == attempt.fence)
        unread = mine & (attempts.c.metrics_offset == offset)
        if not conn.execute(update(attempts).where(unread).values(metrics_offset=offset + len(piece))).rowcount:
            raise OutOfPlace(f"The metrics of job {attempt.job} were taken in by somebody else.")
        progress: dict[str, Any] = {}
        for line in _lines(piece):
            progress |= _progress(line)
            for name, value in line["values"].items():
                row = {"job": attempt.job, "name": name, "step": line["step"], "value": value, "at": line["at"]}
                conn.execute(upsert(conn, metrics, {**row, "fence": attempt.fence}))
        if progress:
            conn.execute(update(jobs).where(jobs.c.id == attempt.job).values(progress))

    def take_checkpoint(self, attempt: Attempt, known: str) -> str:
        """Admit the newest checkpoint of an attempt; the answer is the name of the one that the job goes on from."""
        found = self.folders.newest_checkpoint(attempt.job, attempt.fence)
        name = f"{attempt.fence}-{found.name}" if found else known
        if found is None or name == known or not self.folders.keep_checkpoint(found, attempt.job, name):
            return known
        with self._queue.database.write() as conn:
            self.guard(conn, attempt)
            conn.execute(update(jobs).where(jobs.c.id == attempt.job).values(checkpoint=name))
        self.folders.forget_checkpoints(attempt.job, but=name)
        return name

    def take_results(self, attempt: Attempt) -> dict[str, str]:
        """Publish what an attempt made and end its job, in one commit; the answer has the uuid of each output.

        Raises InvalidInput when the outbox cannot be read; then the job is as it was.
        """
        outbox = self.folders.attempt(attempt.job, attempt.fence) / "outbox"
        if not (outbox / "done.json").exists():
            raise InvalidInput("It ended well but did not say that its results are complete.")
        names = sorted(path.parent.name for path in outbox.glob("*/bundle.json"))
        drafts = [self._in_its_place(Draft.read(outbox / name)) for name in names]
        outputs: dict[str, str] = {}

        def end(conn: Connection, bundles: list[Bundle]) -> None:
            outputs.update({name: bundle.uuid for name, bundle in zip(names, bundles, strict=True)})
            self.end_done(conn, attempt, outputs, "")

        self._publish(attempt, drafts, end)
        return outputs

    def take_answer(self, attempt: Attempt, answer: Answered) -> None:
        """End a job with what the store knew, and publish the copies that it is to have in its own place."""

        def end(conn: Connection, bundles: list[Bundle]) -> None:
            copied = {name: bundle.uuid for name, bundle in zip(answer.copies, bundles, strict=True)}
            conn.execute(update(jobs).where(jobs.c.id == attempt.job).values(key=answer.key))
            self.end_done(conn, attempt, {**answer.outputs, **copied}, "Answered from the store: nothing had changed")

        self._publish(attempt, list(answer.copies.values()), end)

    def _publish(self, attempt: Attempt, drafts: list[Draft], end: After) -> None:
        """Publish drafts, if any, and end the job in the same commit, if the attempt still counts."""
        if not drafts:
            with self._queue.database.write() as conn:
                self.guard(conn, attempt)
                end(conn, [])
        else:
            self._store.publish_many(
                drafts, guard=lambda conn: (self.guard(conn, attempt), None)[1], after=end, consume=True
            )

    def _in_its_place(self, draft: Draft) -> Draft:
        """Without its key where that is taken by a bundle of another project or name: two jobs made the same at once.

        With it the store would answer with that other bundle, which the owner of this job may not even see.
        """
        known = self._store.by_key(draft.key)
        elsewhere = known is not None and (known.project, known.name) != (draft.project, draft.name)
        return replace(draft, key="") if elsewhere else draft

    def end_done(self, conn: Connection, attempt: Attempt, outputs: Mapping[str, str], reason: str) -> None:
        """Write down that a job is done, and what it made."""
        mine = (attempts.c.job == attempt.job) & (attempts.c.fence == attempt.fence)
        now = self._queue.clock.now()
        conn.execute(update(attempts).where(mine).values(outcome="done", ended=now, reason=reason))
        values: dict[str, Any] = {"outputs": dict(outputs), "reason": reason, "wish": ""}
        self._queue.transition(conn, attempt.job, State.DONE, fence=attempt.fence, **values)


def _whole_lines(path: Path, offset: int) -> bytes:
    """What a file has after an offset, up to its last whole line, at most a piece."""
    try:
        with path.open("rb") as file:
            file.seek(offset)
            piece = file.read(_PIECE)
    except FileNotFoundError:
        return b""
    whole = piece[: piece.rfind(b"\n") + 1]
    return whole or (piece if len(piece) == _PIECE else b"")  # a line as long as this is no report: pass over it


def _lines(piece: bytes) -> Iterator[dict[str, Any]]:
    """The reports in a piece; what is none is passed over: a worker's mistake must not stop the service."""
    for text in piece.splitlines():
        try:
            line = json.loads(text)
            values = {_words(name): float(value) for name, value in line.get("values", {}).items()}
            yield {
                "at": float(line["at"]),
                "step": _count(line.get("step", 0)),
                "total": _count(line.get("total", 0)),
                "doing": _words(line.get("doing", "")),
                "values": {name: value for name, value in values.items() if math.isfinite(value)},
            }
        except (ValueError, TypeError, KeyError, AttributeError):
            continue


def _words(value: Any) -> str:
    return str(value).replace("\0", "")[:_LONGEST_WORDS]


def _count(value: Any) -> int:
    return min(max(int(value), 0), _LARGEST_COUNT)


def _progress(line: Mapping[str, Any]) -> dict[str, Any]:
    steps = {"step_now": line["step"], "step_total": line["total"]} if line["total"] else {}
    return steps | ({"doing": line["doing"]} if line["doing"] else {})
