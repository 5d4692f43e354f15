"""What goes with bundles that are deleted and with jobs that have ended: kept inputs, checkpoints, uploads."""

import os
import time
from collections.abc import Callable
from pathlib import Path

from sqlalchemy import update

from seedbed.assets.access.roles import SOLO
from seedbed.assets.db.tables import jobs
from seedbed.base.ids import new_id
from seedbed.base.resources import Resources
from seedbed.base.settings import Settings
from seedbed.flows.platform import Platform
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.spec import JobSpec
from seedbed.runtime.jobs.states import State

Finish = Callable[..., list[Job]]
SECRET = b"these very bytes are to go from every place"


def _holding(home: Path, content: bytes) -> list[Path]:
    """Every file of a home that has some bytes in it."""
    return [path for path in home.rglob("*") if path.is_file() and content in path.read_bytes()]


def _failed_on(platform: Platform, bundle: str) -> Job:
    """A job that was given a bundle and failed: none of its files is an image."""
    spec = JobSpec("ingest", inputs={"files": bundle}, retries=0)
    (failed,) = platform.run_until_done([platform.jobs.submit(spec, by=SOLO).id])
    assert failed.state is State.FAILED, failed.reason
    return failed


def test_removed_bytes_are_nowhere_in_the_home_even_after_a_failed_job(platform: Platform, tmp_path: Path) -> None:
    (tmp_path / "x.jpg").write_bytes(SECRET)
    bundle = platform.bundles.add([tmp_path / "x.jpg"], name="x", by=SOLO)
    _failed_on(platform, bundle.uuid)
    home = platform.settings.home
    assert any("inputs" in path.parts for path in _holding(home, SECRET))  # kept, to be looked at
    platform.bundles.remove([bundle.uuid], by=SOLO)
    assert _holding(home, SECRET) == []


def test_bytes_that_were_deleted_elsewhere_go_from_kept_inputs_too(
    platform: Platform, settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "x.jpg").write_bytes(SECRET)
    with Platform.open(settings.model_copy(update={"home": tmp_path / "other"})) as other:
        bundle = other.bundles.add([tmp_path / "x.jpg"], name="x", by=SOLO)
        for each in (other, platform):
            each.contexts.set_remote("local", str(tmp_path / "remote"), by=SOLO)
        other.bundles.push(by=SOLO)
        platform.bundles.pull(by=SOLO)
        _failed_on(platform, bundle.uuid)
        other.bundles.remove([bundle.uuid], by=SOLO)
        assert _holding(settings.home, SECRET)
        platform.bundles.pull(by=SOLO)
    assert _holding(settings.home, SECRET) == []


def test_a_deletion_that_nobody_followed_is_followed_later(platform: Platform, tmp_path: Path) -> None:
    (tmp_path / "x.jpg").write_bytes(SECRET)
    bundle = platform.bundles.add([tmp_path / "x.jpg"], name="x", by=SOLO)
    _failed_on(platform, bundle.uuid)
    platform.store.delete([bundle.uuid])  # as a process does that dies before it has cleaned up
    assert _holding(platform.settings.home, SECRET)
    platform.catch_up()
    assert _holding(platform.settings.home, SECRET) == []


def _upload(platform: Platform, *files: Path) -> Path:
    folder = platform.data.upload_folder(by=SOLO)
    for file in files:
        (folder / file.name).write_bytes(file.read_bytes())
    return folder


def _age(folder: Path, hours: float) -> None:
    then = time.time() - hours * 3600
    for path in (folder, *folder.iterdir()):
        os.utime(path, (then, then))


def test_an_upload_goes_once_it_is_in_the_store_and_when_it_is_refused(
    platform: Platform, leaves: Path, tmp_path: Path
) -> None:
    (tmp_path / "x.jpg").write_bytes(b"this is no image")
    good, bad = _upload(platform, *sorted(leaves.glob("*.jpg"))[:3]), _upload(platform, tmp_path / "x.jpg")
    jobs = [platform.data.add(folder, name="few", size=16, by=SOLO) for folder in (good, bad)]
    done, failed = platform.run_until_done([job.id for job in jobs])
    assert (done.state, failed.state) == (State.DONE, State.FAILED)
    assert "The only file for 'the upload' is no image that can be read" in failed.reason and "x.jpg: " in failed.reason
    assert not good.exists() and not bad.exists()


def test_the_upload_of_a_cancelled_job_goes_unless_another_needs_it(platform: Platform, leaves: Path) -> None:
    upload = _upload(platform, *sorted(leaves.glob("*.jpg"))[:2])
    first, second = (platform.data.add(upload, name=name, size=16, by=SOLO) for name in ("one", "two"))
    platform.jobs.cancel(first.id, by=SOLO)
    platform.catch_up()
    assert upload.exists()
    platform.jobs.cancel(second.id, by=SOLO)
    platform.catch_up()
    assert not upload.exists()


def test_an_upload_that_might_be_tried_again_stays_for_the_grace(platform: Platform, leaves: Path) -> None:
    image = min(leaves.glob("*.jpg"))
    kept, unused, fresh = (_upload(platform, image) for _ in range(3))
    spec = JobSpec("ingest", params={"source": str(kept)}, resources=Resources(memory=1))  # less than any process has
    (failed,) = platform.run_until_done([platform.jobs.submit(spec, by=SOLO).id])
    assert failed.state is State.FAILED and "that the job asked for, and was killed" in failed.reason
    assert kept.exists()
    (again,) = platform.jobs.rerun(failed.id, by=SOLO)
    for folder in (kept, unused):
        _age(folder, 100)
    size = image.stat().st_size
    assert platform.bundles.gc(dry_run=True, by=SOLO).bytes == size and unused.exists()
    found = platform.bundles.gc(by=SOLO)
    assert (found.files, found.bytes) == (1, size)
    assert kept.exists() and fresh.exists() and not unused.exists()  # the new job still needs its own
    platform.jobs.cancel(again.id, by=SOLO)
    platform.catch_up()
    assert not kept.exists()


def test_the_checkpoint_of_a_job_that_ended_while_it_waited_goes(platform: Platform) -> None:
    job = platform.jobs.submit(JobSpec("sleep-and-count"), by=SOLO)
    checkpoint = platform.settings.home / "jobs" / job.id / "checkpoint" / "1-5"
    checkpoint.mkdir(parents=True)
    platform.jobs.cancel(job.id, by=SOLO)
    platform.catch_up()
    assert not checkpoint.exists()


def _cut_short(platform: Platform) -> Job:
    """A job that failed for good after some checkpoints: it took longer than it may."""
    spec = JobSpec("sleep-and-count", params={"steps": 60, "seconds_per_step": 0.05}, timeout=2.0, retries=0)
    (failed,) = platform.run_until_done([platform.jobs.submit(spec, by=SOLO).id])
    assert failed.state is State.FAILED and failed.checkpoint, failed.reason
    return failed


def _counted(platform: Platform, job: Job) -> list[int]:
    return [step for step, _ in platform.jobs.metrics(job.id, by=SOLO)["count"]]


def test_a_failed_job_that_is_run_again_goes_on_from_its_last_checkpoint_unless_it_is_to_begin_anew(
    platform: Platform,
) -> None:
    failed = _cut_short(platform)
    reached = int(failed.checkpoint.partition("-")[2])
    (further,) = platform.run_until_done([platform.jobs.rerun(failed.id, by=SOLO)[0].id])
    assert _counted(platform, further)[0] == reached + 1
    (anew,) = platform.run_until_done([platform.jobs.rerun(failed.id, by=SOLO, again=True)[0].id])
    assert _counted(platform, anew)[0] == 1


def test_the_checkpoint_of_a_failed_job_goes_after_the_grace(platform: Platform) -> None:
    failed = _cut_short(platform)
    platform.catch_up()
    kept = platform.settings.home / "jobs" / failed.id / "checkpoint" / failed.checkpoint
    assert platform.bundles.gc(by=SOLO).files == 0 and kept.is_dir()
    with platform.database.write() as conn:
        long_ago = time.time() - 3600 * (platform.settings.gc_grace_hours + 1)
        conn.execute(update(jobs).where(jobs.c.id == failed.id).values(ended=long_ago))
    assert platform.bundles.gc(dry_run=True, by=SOLO).files == 1 and kept.is_dir()
    assert platform.bundles.gc(by=SOLO).files == 1 and not kept.exists()
    assert platform.jobs.rerun(failed.id, by=SOLO)[0].checkpoint == ""


def test_a_checkpoint_for_a_job_that_was_never_queued_goes_after_the_grace(platform: Platform) -> None:
    """Somebody ran a failed job again, and was killed after its checkpoint was handed on."""
    handed = platform.settings.home / "jobs" / new_id() / "checkpoint"
    (handed / "0-5").mkdir(parents=True)
    (handed / "0-5" / "seen").write_text("[]")
    assert platform.bundles.gc(by=SOLO).files == 0 and handed.exists()
    long_ago = time.time() - 3600 * (platform.settings.gc_grace_hours + 1)
    os.utime(handed, (long_ago, long_ago))
    assert platform.bundles.gc(by=SOLO).files == 1 and not handed.exists()


def test_an_index_made_anew_knows_every_bundle(platform: Platform, finish: Finish) -> None:
    finish(JobSpec("sleep-and-count", params={"steps": 1, "seconds_per_step": 0}))
    before = platform.bundles.find(by=SOLO)
    rebuilt = platform.bundles.rebuild(by=SOLO)
    assert (rebuilt.bundles, rebuilt.problems) == (1, ()) and platform.bundles.find(by=SOLO) == before
    assert platform.users.audit(by=SOLO)[0].action == "store.rebuild"
