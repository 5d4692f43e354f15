"""A real job of two ranks, one of which is killed: the job ends by itself, as if nothing had happened."""

import contextlib
import signal
import threading
import time
from pathlib import Path

import psutil
import pytest

from seedbed.assets.access.roles import SOLO
from seedbed.flows.platform import Platform
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.states import State
from tests.processes import running

TRAIN = {
    "start": "test_vit",
    "weights": "none",
    "ranks": 2,
    "steps": 90,
    "labelled_batch": 4,
    "unlabelled_batch": 8,
    "evaluate_every": 30,
    "report_every": 1,
    "checkpoint_every": 10,
    "patience": 0,
}


class Killer(threading.Thread):
    """Kills the second rank of the first training that has made a checkpoint and some steps more."""

    def __init__(self, home: Path) -> None:
        super().__init__(daemon=True)
        self.home, self.killed = home, ""

    def run(self) -> None:
        while not self.killed:
            time.sleep(0.02)
            for folder in self.home.glob("jobs/*/*/checkpoints"):
                if _steps(folder.parent) > 25 and (process := _rank(folder.parent, 1)):
                    process.send_signal(signal.SIGKILL)
                    self.killed = folder.parent.name


def _steps(attempt: Path) -> int:
    metrics = attempt / "metrics.jsonl"
    return metrics.read_bytes().count(b"\n") if metrics.exists() else 0


def _rank(attempt: Path, number: int) -> psutil.Process | None:
    for process in running(str(attempt)):
        with contextlib.suppress(psutil.Error):
            if process.environ().get("RANK") == str(number):
                return process
    return None


def _weights(platform: Platform, job: Job, place: Path) -> bytes:
    folder = platform.store.checkout(platform.store.get(job.outputs["model"]), place)
    (file,) = folder.rglob("model.safetensors")
    return file.read_bytes()


@pytest.mark.slow
def test_a_job_of_which_a_rank_is_killed_ends_by_itself_with_the_weights_of_an_undisturbed_one(
    platform: Platform, leaves: Path, truth: Path, tmp_path: Path
) -> None:
    given = {"source": str(leaves), "truth": str(truth), "labels_per_class": 3, "size": 32, "train": TRAIN}
    jobs = platform.models.start_recipe("few-labels", given, by=SOLO)
    killer = Killer(platform.settings.home)
    killer.start()
    (killed,) = platform.run_until_done([job.id for job in jobs if job.step == "train"])
    assert killed.state is State.DONE, killed.reason
    first, second = platform.jobs.attempts(killed.id, by=SOLO)
    assert killer.killed == str(first.fence) and (first.outcome, second.outcome) == ("failed", "done")
    assert "of 2 ended without a word" in first.reason  # which one it was is known only if it was seen to end first
    steps = [step for step, _ in platform.jobs.metrics(killed.id, by=SOLO)["loss"]]
    assert steps == list(range(1, 91)), "metrics of both attempts make one curve"
    (again,) = platform.run_until_done([platform.jobs.rerun(killed.id, by=SOLO, again=True)[0].id])
    assert len(platform.jobs.attempts(again.id, by=SOLO)) == 1
    assert _weights(platform, killed, tmp_path / "killed") == _weights(platform, again, tmp_path / "again")
