"""A client for the length of one command: to the server of SEEDBED_URL, or to the app within this process."""

import contextlib
import os
import threading
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from seedbed.base.errors import Failed, NotFound
from seedbed.faces.cli.heavy import HEAVY
from seedbed.faces.cli.output import note

if TYPE_CHECKING:  # importing these takes longer than answering --help may
    from seedbed.faces.client import Client
    from seedbed.faces.client.results import Job
    from seedbed.flows.platform import Platform

_LISTS = (".csv", ".tsv")
_BESIDE, _TRAIN = "rank-weights", "train"  # steps


@dataclass(frozen=True)
class Session:
    """What a command works with; `platform` is there only when the work happens in this process."""

    client: "Client"
    platform: "Platform | None"

    def run(self, jobs: "Sequence[Job]", *, quiet: bool = False) -> "list[Job]":
        """Follow jobs to their end, with bars; in process this also runs them. Raises Failed when one did not end well.

        Where a server of the same home schedules already, the scheduler here only waits for its turn.
        """
        seen = {job["id"]: job for job in jobs}
        try:
            with self._scheduling(list(seen)), HEAVY.get("Bars")(quiet=quiet) as bars:
                for job in self.client.follow(*seen, every=0.5):
                    seen[job["id"]] = job
                    bars.show(job)
        except KeyboardInterrupt:
            note(
                "What runs goes on, what waits stays in the queue: seedbed jobs list. Stop one: seedbed jobs cancel ID."
            )
            raise
        ended = list(seen.values())
        _raise_for(ended)
        return ended

    def bring(self, source: Path, *, project: str = "", images: bool = False) -> dict[str, str]:
        """How a request names a folder or file of this machine: by its path in process, else as an upload.

        `images`: it is to be looked through for images, so that those that a CSV list names go with it.
        """
        source = source.expanduser()
        if not source.exists():
            raise NotFound(f"There is no file or folder {source}.")
        if self.platform is not None:
            return {"path": str(source.resolve())}
        if images and source.suffix.lower() in _LISTS:
            return {"upload": self.client.data.upload_list(source, project=project)["upload"]}
        return {"upload": self.client.data.upload(source, project=project)["upload"]}

    @contextlib.contextmanager
    def _scheduling(self, jobs: Sequence[str]) -> Iterator[None]:
        if self.platform is None:
            yield
            return
        thread = threading.Thread(target=self.platform.run_until_done, args=(jobs,), daemon=True)
        thread.start()
        yield
        thread.join()  # not when we are interrupted: the attempts go on, and whoever schedules next adopts them


def server_url() -> str:
    """The server that commands speak to; '': none, the work happens in this process."""
    return os.environ.get("SEEDBED_URL", "")


@contextlib.contextmanager
def session() -> Iterator[Session]:
    """A session over HTTP when SEEDBED_URL is set, else in process on SEEDBED_HOME, as operator."""
    if url := server_url():
        with HEAVY.get("Client")(url, os.environ.get("SEEDBED_TOKEN", "")) as client:
            yield Session(client, None)
    else:
        with HEAVY.get("inside")() as (client, platform):
            yield Session(client, platform)


def _raise_for(jobs: "Sequence[Job]") -> None:
    bad = [job for job in jobs if job["state"] != "done" and not _spared(job, jobs)]
    if bad:
        one = next((job for job in bad if job["state"] == "failed"), bad[0])
        name, how = one["name"] or one["step"], "was cancelled" if one["state"] == "cancelled" else "failed"
        raise Failed(
            f"The job {name} ({one['id']}) {how}: {one['reason'] or 'its log may say why'}",
            hint=f"Look at what it printed: seedbed jobs logs {one['id']}",
        )


def _spared(job: "Job", jobs: "Sequence[Job]") -> bool:
    """Whether every job that a bad one was for did without it, or was itself such a one.

    A ranking that nobody waits for stands beside a training that was told what to start from.
    """
    for_whom = [
        (other, name)
        for other in jobs
        for name, reference in other["spec"]["inputs"].items()
        if reference.startswith(f"job:{job['id']}/")
    ]
    if not for_whom:
        return job["step"] == _BESIDE and any(other["step"] == _TRAIN and other["state"] == "done" for other in jobs)
    return all(
        name in other["spec"].get("spare", ()) or (other["state"] != "done" and _spared(other, jobs))
        for other, name in for_whom
    )
