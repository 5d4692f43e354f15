"""What projects hear of their jobs; snapshots of labels; contexts and backups through the use cases."""

from collections.abc import Callable
from pathlib import Path

import pytest

from seedbed.assets.access.roles import SOLO
from seedbed.assets.projects.labels import LabelEvent, Source
from seedbed.assets.projects.projects import Projects as KeptProjects
from seedbed.assets.store.bundle import Draft
from seedbed.base.errors import Conflict, DiskFull, InvalidInput
from seedbed.base.settings import Settings
from seedbed.flows.kinds.labels import Labels
from seedbed.flows.kinds.models import FACTS_FILE, Download
from seedbed.flows.platform import Platform
from seedbed.flows.usecases.backup import restore
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.spec import JobSpec
from seedbed.runtime.jobs.states import State

Finish = Callable[..., list[Job]]


def test_a_project_learns_of_its_images_and_of_the_labels_that_stand_in_for_an_experts(
    platform: Platform, finish: Finish, leaves: Path
) -> None:
    project = platform.projects.create("fields", by=SOLO)
    drawn, ingested, sampled = finish(
        JobSpec("draw-leaves", name="d", params={"count_per_class": 6, "size": 32}, project="fields"),
        JobSpec("ingest", name="i", params={"size": 16}, inputs={"files": "job:d/files"}, project="fields"),
        JobSpec(
            "sample-labels",
            name="s",
            inputs={"data": "job:i/data", "truth": "job:d/truth"},
            params={"per_class": 2},
            project="fields",
        ),
    )
    assert sampled.state is State.DONE, drawn.reason + ingested.reason + sampled.reason
    assert platform.projects.get("fields", by=SOLO).data == ingested.outputs["data"]
    labels = platform.projects.labels("fields", by=SOLO)
    assert len(labels) == 12 and {label.source for label in labels.values()} == {Source.ORACLE}
    assert set(platform.projects.counts("fields", by=SOLO).values()) == {2}
    platform.catch_up()
    assert len(platform.projects.history("fields", by=SOLO)) == 12
    _images_that_are_not_there_get_no_labels(platform)
    _training_uses_the_projects_labels(platform, project.id)


def _images_that_are_not_there_get_no_labels(platform: Platform) -> None:
    record = platform.data.records(platform.projects.get("fields", by=SOLO).data, by=SOLO)[0]
    klass = platform.projects.classes("fields", by=SOLO)[0].name
    named = [record["id"], record["file"], *(f"missing-{number}.jpg" for number in range(7))]
    events = [LabelEvent(f"e{number}", image, klass, "") for number, image in enumerate(named)]
    before = len(platform.projects.history("fields", by=SOLO))
    with pytest.raises(
        InvalidInput, match=r"7 of the labelled images are not in .*missing-0.jpg, .*missing-4.jpg, \.\.\."
    ):
        platform.projects.add_labels("fields", events, by=SOLO)
    assert len(platform.projects.history("fields", by=SOLO)) == before
    platform.projects.add_labels("fields", [LabelEvent("back", "missing-0.jpg", "", "")], by=SOLO)  # nothing is said


def _training_uses_the_projects_labels(platform: Platform, project: str) -> None:
    jobs = {job.step: job for job in platform.models.train(project=project, params={"steps": 3, "size": 16}, by=SOLO)}
    snapshot = platform.bundles.show(jobs["sample-labels"].spec.inputs["truth"], by=SOLO)
    assert snapshot.lineage.step == "snapshot-labels" and snapshot.arrays["count"].items == (12,)
    decoded = platform.bundles.show(jobs["train"].spec.inputs["decoded"], by=SOLO)
    assert decoded.kind == "decoded" and "decode" not in jobs  # the cache that came with the images is used
    others = {job.step for job in platform.models.train(project=project, params={"size": 24}, by=SOLO)}
    assert "decode" in others


def test_a_full_disk_does_not_make_a_project_forget_what_its_job_made(
    platform: Platform, leaves: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise DiskFull("The disk is full.")

    platform.projects.create("fields", by=SOLO)
    job = platform.data.add(leaves, project="fields", size=16, by=SOLO)
    with monkeypatch.context() as patch:
        patch.setattr(KeptProjects, "set_data", full)
        with pytest.raises(DiskFull):
            platform.run_until_done([job.id])
    assert platform.projects.get("fields", by=SOLO).data == ""
    platform.catch_up()
    assert platform.projects.get("fields", by=SOLO).data == platform.jobs.get(job.id, by=SOLO).outputs["data"]


def test_unchanged_labels_are_one_snapshot(platform: Platform) -> None:
    platform.projects.create("fields", classes=["a", "b"], by=SOLO)
    with pytest.raises(InvalidInput, match="No image of 'fields' has a label yet"):
        platform.projects.snapshot_labels("fields", by=SOLO)
    platform.projects.add_labels("fields", [LabelEvent("1", "x", "a", "")], by=SOLO)
    first = platform.projects.snapshot_labels("fields", by=SOLO)
    assert platform.projects.snapshot_labels("fields", by=SOLO).uuid == first.uuid
    platform.projects.add_labels("fields", [LabelEvent("2", "x", "b", "")], by=SOLO)
    second = platform.projects.snapshot_labels("fields", by=SOLO)
    assert second.uuid != first.uuid and second.arrays["classes"].items == ("b",)


def test_more_images_make_a_new_version_that_shares_the_bytes(platform: Platform, leaves: Path, tmp_path: Path) -> None:
    images = sorted(leaves.glob("*.jpg"))
    for name, some in (("one", images[:3]), ("two", images[2:5])):
        (tmp_path / name).mkdir()
        for image in some:
            (tmp_path / name / image.name).write_bytes(image.read_bytes())
    first = platform.data.add(tmp_path / "one", name="field", size=16, by=SOLO)
    platform.run_until_done([first.id])
    second = platform.data.add(tmp_path / "two", to="field", size=16, by=SOLO)
    (done,) = platform.run_until_done([second.id])
    assert done.state is State.DONE, done.reason
    (newest,) = platform.data.list(by=SOLO)
    assert newest.uuid == done.outputs["data"] and newest.name == "field"
    assert platform.data.show("field", by=SOLO)["images"] == 5
    earlier, later = (
        {link.digest for link in platform.store.get(job.outputs["data"]).arrays["images"].files}
        for job in (platform.jobs.get(first.id, by=SOLO), done)
    )
    assert earlier < later and len(later) == 5
    platform.bundles.remove([platform.jobs.get(first.id, by=SOLO).outputs["data"]], by=SOLO)
    assert platform.bundles.show(done.outputs["decoded"], by=SOLO)  # of the later version alone


def test_a_model_that_is_not_exported_says_so_and_what_is_no_model_too(platform: Platform, tmp_path: Path) -> None:
    labels = platform.store.publish(Labels.write(tmp_path / "made", {"a": "b"}).draft(name="few"))
    with pytest.raises(InvalidInput, match="'few' is of kind 'labels', not a model"):
        platform.models.predict_image(labels.uuid, b"", by=SOLO)
    with pytest.raises(InvalidInput, match="either a data set or a folder"):
        platform.models.predict("few", by=SOLO)
    with pytest.raises(InvalidInput, match="'few' is of kind 'labels', not a model") as refused:
        platform.models.predict("few", source=tmp_path, by=SOLO)
    assert "seedbed store find --kind model" in refused.value.hint
    assert platform.jobs.list(by=SOLO) == []
    with pytest.raises(Conflict, match="not exported"):
        platform.store.publish(Draft("m", "model"))
        platform.models.predict_image("m", b"", by=SOLO)
    (tmp_path / "bare" / "files").mkdir(parents=True)
    (tmp_path / "bare" / "files" / FACTS_FILE).write_text("{}")
    platform.store.publish(Download(tmp_path / "bare").draft(name="d"))
    with pytest.raises(InvalidInput, match=r"'d' has no file model\.onnx"):
        platform.models.predict_image("d", b"", by=SOLO)


def test_bundles_move_between_homes_and_come_back_from_a_backup(platform: Platform, tmp_path: Path) -> None:
    (tmp_path / "note.txt").write_text("kept")
    bundle = platform.bundles.add([tmp_path / "note.txt"], name="note", by=SOLO)
    platform.contexts.set_remote("local", str(tmp_path / "remote"), by=SOLO)
    assert platform.bundles.push(by=SOLO).bundles == 1
    with Platform.open(Settings(home=tmp_path / "other")) as other:
        other.contexts.set_remote("local", str(tmp_path / "remote"), by=SOLO)
        assert other.bundles.pull(by=SOLO).bundles == 1
        assert other.bundles.file("note", "files", 0, by=SOLO)[0].read_text() == "kept"
    assert not platform.bundles.verify(by=SOLO).findings
    platform.backup.backup(tmp_path / "backup.tar", by=SOLO)
    restore(tmp_path / "backup.tar", tmp_path / "third")
    with Platform.open(Settings(home=tmp_path / "third")) as third:
        assert third.bundles.show("note", by=SOLO).uuid == bundle.uuid
