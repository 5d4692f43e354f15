"""Jobs through the whole platform: a real store, a real scheduler, real workers."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest
from sqlalchemy import update

from seedbed.assets.access.roles import SOLO
from seedbed.assets.db.tables import jobs
from seedbed.base.errors import InvalidInput, NotFound
from seedbed.base.resources import UNSET, Resources
from seedbed.base.settings import Settings
from seedbed.flows.kinds.labels import Labels
from seedbed.flows.platform import Platform
from seedbed.flows.steps import STEPS
from seedbed.runtime.jobs.queue import JUST_SUBMITTED
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.spec import JobSpec
from seedbed.runtime.jobs.states import State
from tests.flows.conftest import count

Finish = Callable[..., list[Job]]


def test_an_unchanged_step_is_answered_from_the_store_and_the_job_says_so(platform: Platform, finish: Finish) -> None:
    (first,) = finish(count())
    (second,) = finish(count())
    assert (first.state, second.state) == (State.DONE, State.DONE)
    assert second.outputs == first.outputs and second.key == first.key
    assert "Answered from the store" in second.reason and not first.reason
    assert not platform.jobs.attempts(second.id, by=SOLO)[0].handle
    (other,) = finish(count(3))
    assert other.outputs != first.outputs


def test_again_runs_it_all_the_same_and_the_first_result_keeps_the_key(platform: Platform, finish: Finish) -> None:
    (first,) = finish(count())
    (second,) = finish(count(again=True))
    assert second.outputs["count"] != first.outputs["count"]
    kept = platform.store.get(first.outputs["count"])
    assert kept.key and not platform.store.get(second.outputs["count"]).key
    assert platform.store.by_key(kept.key) == kept
    (third,) = finish(count())
    assert third.outputs == first.outputs


def test_a_result_that_was_deleted_is_made_anew(platform: Platform, finish: Finish) -> None:
    (first,) = finish(count())
    platform.bundles.remove([first.outputs["count"]], by=SOLO)
    (second,) = finish(count())
    assert second.outputs["count"] != first.outputs["count"] and not second.reason


def test_everything_wrong_with_a_flow_is_told_at_once_and_nothing_is_queued(platform: Platform, tmp_path: Path) -> None:
    labels = platform.store.publish(Labels.write(tmp_path / "made", {"a": "b"}).draft(name="few"))
    flow = [
        JobSpec("sleep-and-cuont", name="one"),
        JobSpec("sleep-and-count", name="two", params={"steps": 0, "speed": 3}),
        JobSpec("decode", name="three", inputs={"data": labels.uuid}),
        JobSpec("decode", name="four", inputs={"data": "no such bundle"}),
        JobSpec("decode", name="five", inputs={"data": "job:two/number"}),
        JobSpec("decode", name="six", inputs={"data": "job:two/count"}),
        JobSpec("sleep-and-count", name="seven", resources=Resources(cpus=1000, memory=1 << 20)),
    ]
    with pytest.raises(InvalidInput) as caught:
        platform.jobs.submit_flow(flow, by=SOLO)
    told = caught.value.problems
    assert [problem.partition(":")[0] for problem in told] == [
        "one",
        "two",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
    ]
    assert "Did you mean 'sleep-and-count'?" in told[0]
    assert "was given a bundle of kind 'labels'; it takes 'data-set'" in told[3]
    assert "there is no bundle 'no such bundle'" in told[4]
    assert "has no output 'number'. It makes: count" in told[5]
    assert "of kind 'count'; it takes 'data-set'" in told[6]
    assert "asks for 1000 cpus" in told[7] and "local" in told[7]
    assert platform.jobs.list(by=SOLO) == []


def test_a_job_without_resources_gets_those_of_its_step(platform: Platform) -> None:
    submitted = platform.jobs.submit(count(), by=SOLO)
    chosen = platform.jobs.submit(count(resources=Resources(cpus=2, memory=0)), by=SOLO)
    assert submitted.spec.resources == Resources(cpus=0.1, memory=128 << 20)
    assert chosen.spec.resources == Resources(cpus=2, memory=128 << 20)


def test_jobs_are_wired_by_name_and_inputs_are_kept_exactly(
    platform: Platform, finish: Finish, leaves: Path, truth: Path
) -> None:
    said = platform.store.publish(Labels.write(truth.parent / "made", _rows(truth)).draft(name="leaves.truth"))
    ingest, sampled, smaller = finish(
        JobSpec("ingest", name="leaves.ingest", params={"source": str(leaves), "size": 24}),
        JobSpec(
            "sample-labels",
            name="leaves.sample-labels",
            inputs={"data": "job:leaves.ingest/data", "truth": said.uuid},
            params={"per_class": 2},
            seed=4,
        ),
        JobSpec("decode", name="small.decode", inputs={"data": "job:leaves.ingest/data"}, params={"size": 8}),
    )
    assert [job.state for job in (ingest, sampled, smaller)] == [State.DONE] * 3, ingest.reason + sampled.reason
    assert sampled.spec.inputs["data"] == f"job:{ingest.id}/data" and ingest.flow == sampled.flow
    labels, test = (Labels.open(_checkout(platform, sampled, name, truth)) for name in ("labels", "test"))
    assert len(labels.rows()) == 12 and len(test.rows()) == 18
    assert not set(labels.rows()) & set(test.rows())
    _data_set_can_be_looked_at(platform, ingest)
    _removing_the_images_removes_their_caches(platform, ingest, smaller)


def _rows(truth: Path) -> dict[str, str]:
    return dict(line.split(",") for line in truth.read_text().splitlines()[1:])  # type: ignore[misc]


def _checkout(platform: Platform, job: Job, output: str, near: Path) -> Path:
    return platform.store.checkout(platform.store.get(job.outputs[output]), near.parent / job.id / output)


def _data_set_can_be_looked_at(platform: Platform, ingest: Job) -> None:
    summary = platform.data.show("leaves", by=SOLO)
    assert summary["images"] == summary["unlabelled"] == 60 and summary["uuid"] == ingest.outputs["data"]
    records = platform.data.records("leaves", offset=58, limit=5, by=SOLO)
    assert [record["index"] for record in records] == [58, 59]
    assert platform.data.thumbnail("leaves", 59, size=32, by=SOLO).startswith(b"\xff\xd8")
    with pytest.raises(NotFound, match="there is no number 60"):
        platform.data.thumbnail("leaves", 60, by=SOLO)
    with pytest.raises(InvalidInput, match="not a data set"):
        platform.data.show("leaves.labels", by=SOLO)


def _removing_the_images_removes_their_caches(platform: Platform, ingest: Job, smaller: Job) -> None:
    gone = platform.bundles.remove([ingest.outputs["data"]], by=SOLO)
    caches = {ingest.outputs["decoded"], smaller.outputs["decoded"]}
    assert {bundle.uuid for bundle in gone.bundles} == {ingest.outputs["data"], *caches}


def test_logs_metrics_and_attempts_of_a_job_can_be_read(platform: Platform, finish: Finish) -> None:
    (job,) = finish(count(4))
    assert platform.jobs.metrics(job.id[:12], by=SOLO) == {"count": [(1, 1.0), (2, 2.0), (3, 3.0), (4, 4.0)]}
    assert platform.jobs.logs(job.id, by=SOLO) == ("", 0)
    (tried,) = platform.jobs.attempts(job.id, by=SOLO)
    assert tried.outcome == "done"


def test_a_failed_job_says_why_and_can_be_repeated_on_the_same_inputs(platform: Platform, tmp_path: Path) -> None:
    path = tmp_path / "note.txt"
    path.write_text("it will not be here when the job runs")
    queued = platform.jobs.submit(JobSpec("publish-files", params={"paths": [str(path)]}), by=SOLO)
    path.unlink()
    (failed,) = platform.run_until_done([queued.id])
    assert failed.state is State.FAILED and "cannot be published" in failed.reason
    assert failed.failures == 1  # the same mistake again would help nobody
    path.write_text("now it is here")
    (again,) = platform.jobs.rerun(failed.id, by=SOLO)
    (done,) = platform.run_until_done([again.id])
    assert done.state is State.DONE and done.spec.params == failed.spec.params
    path_in_store, name = platform.bundles.file(done.outputs["files"], "files", 0, by=SOLO)
    assert (path_in_store.read_text(), name) == ("now it is here", "note.txt")


def test_more_memory_is_no_other_answer_but_more_than_a_machine_has_is_refused(
    platform: Platform, finish: Finish
) -> None:
    (first,) = finish(count())
    rerun = partial(platform.jobs.rerun, first.id, by=SOLO)
    (known,) = platform.run_until_done([rerun(memory=1 << 30)[0].id])
    assert known.outputs == first.outputs and "Answered from the store" in known.reason
    assert known.spec.resources == replace(first.spec.resources, memory=1 << 30)
    (anew,) = platform.run_until_done([rerun(again=True)[0].id])
    assert anew.outputs != first.outputs and anew.spec.resources == known.spec.resources
    for memory, told in ((1 << 50, "which no machine here has"), (0, "memory is 0; it must be"), (-1, "memory is -1;")):
        with pytest.raises(InvalidInput, match=told):
            rerun(memory=memory)
    assert len(platform.jobs.list(by=SOLO)) == 3


def test_what_is_chosen_is_given_whatever_the_step_would_ask_for(platform: Platform) -> None:
    given = [Resources(cpus=1, memory=1 << 30), Resources(cpus=1, memory=0), UNSET]
    got = [platform.jobs.submit(count(resources=one), by=SOLO).spec.resources for one in given]
    own = STEPS.get("sleep-and-count").resources
    assert got == [given[0], replace(own, cpus=1), own]


def test_a_job_that_waits_can_be_cancelled(platform: Platform) -> None:
    job = platform.jobs.submit(count(), by=SOLO)
    assert platform.jobs.cancel(job.id, by=SOLO).state is State.CANCELLED
    assert platform.jobs.list(state="cancelled", by=SOLO)[0].id == job.id
    with pytest.raises(InvalidInput, match="not a state of jobs"):
        platform.jobs.list(state="canceled", by=SOLO)


def test_everything_people_do_is_in_the_audit_log(platform: Platform, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("a")
    bundle = platform.bundles.add([tmp_path / "a.txt"], name="notes", by=SOLO)
    platform.bundles.tag(bundle.uuid, {"season": "wet"}, by=SOLO)
    platform.bundles.remove([bundle.uuid], by=SOLO)
    platform.jobs.submit(count(), by=SOLO)
    actions = [line.action for line in platform.users.audit(by=SOLO)]
    assert actions == ["job.submit", "bundle.remove", "bundle.tag", "bundle.add"]


def test_a_step_that_wishes_for_more_than_the_machine_has_gets_what_there_is(
    settings: Settings, tmp_path: Path
) -> None:
    with Platform.open(settings.model_copy(update={"cpus": 1.0, "memory": 1 << 30})) as small:
        job = small.jobs.submit(JobSpec("ingest", params={"source": str(tmp_path)}), by=SOLO)
        assert job.spec.resources == Resources(cpus=1, memory=1 << 30)
        with pytest.raises(InvalidInput):
            small.jobs.submit(JobSpec("ingest", resources=Resources(cpus=2, memory=1 << 20)), by=SOLO)


def test_the_settings_limit_the_size_of_images_whoever_submits(settings: Settings, tmp_path: Path) -> None:
    with Platform.open(settings.model_copy(update={"image_pixel_limit": 1000})) as careful:
        job = careful.jobs.submit(JobSpec("ingest", params={"source": str(tmp_path), "pixel_limit": 10**12}), by=SOLO)
        assert job.spec.params["pixel_limit"] == 1000


def test_a_job_that_cannot_be_prepared_ends_and_holds_nobody_up(platform: Platform) -> None:
    spec = JobSpec("publish-files", params={"paths": ["no\0name"]}, name="strange")
    jobs = [platform.queue.submit(spec), platform.jobs.submit(count(name="plain"), by=SOLO)]
    strange, plain = platform.run_until_done([job.id for job in jobs])
    assert strange.state is State.FAILED and "could not be prepared" in strange.reason
    assert plain.state is State.DONE


def test_a_job_that_nobody_looks_at_says_that_no_server_runs(platform: Platform) -> None:
    job = platform.jobs.submit(count(), by=SOLO)
    assert platform.jobs.get(job.id, by=SOLO).reason == JUST_SUBMITTED
    with platform.database.write() as connection:
        connection.execute(update(jobs).values(submitted=job.submitted - 60))
    assert "seedbed up" in platform.jobs.get(job.id, by=SOLO).reason
    assert ["seedbed up" in found.reason for found in platform.jobs.list(by=SOLO)] == [True]


def test_a_job_is_found_by_its_name_and_that_is_then_the_newest(platform: Platform) -> None:
    platform.jobs.submit(count(name="leaves.train"), by=SOLO)
    newest = platform.jobs.submit(count(name="leaves.train"), by=SOLO)
    assert platform.jobs.get("leaves.train", by=SOLO).id == newest.id
