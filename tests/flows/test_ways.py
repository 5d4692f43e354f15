"""Where a project stands on its way from images to a model."""

from pathlib import Path

from seedbed.assets.access.roles import SOLO
from seedbed.flows.platform import Platform
from seedbed.flows.usecases.ways import coming_of
from seedbed.runtime.jobs.states import State
from tests.flows.made_up import made_up
from tests.flows.records import bundle, job


def test_a_project_without_images_lacks_all_of_its_labels(platform: Platform) -> None:
    project = platform.projects.create("Leaves", classes=["rust", "blight"], settings={"goal": 3}, by=SOLO)
    way = platform.ways.of("Leaves", by=SOLO)
    assert (way.project, way.data, way.images, way.labels, way.jobs) == (project, None, 0, 0, [])
    assert way.missing == {"rust": 3, "blight": 3} and way.gaps == ["rust", "blight"] and way.right is None


def test_labels_fill_what_is_missing_and_a_data_set_that_is_gone_has_no_images(
    platform: Platform, tmp_path: Path
) -> None:
    fields = made_up(platform, tmp_path / "made-up")
    platform.projects.set_settings("fields", {"goal": 3}, by=SOLO)
    fields.label(0, 3, 6, 1, 4, 2)  # three of the first class, two of the second, one of the third
    way = platform.ways.of("fields", by=SOLO)
    assert (way.images, way.labels, way.alike.stage, way.training.stage) == (60, 6, "ready", "none")
    assert way.missing == {"mildew": 1, "healthy": 2} and way.gaps == ["healthy"]
    assert way.data and way.data.uuid == fields.project.data
    platform.bundles.remove([fields.project.data], by=SOLO)
    gone = platform.ways.of("fields", by=SOLO)
    assert (gone.data, gone.images) == (None, 0)


def test_a_refusal_counts_until_images_came_after_it() -> None:
    older, newer = bundle("data-set", created=5.0), bundle("data-set", created=15.0)
    failed = job(State.FAILED, submitted=10.0)
    assert coming_of([failed], older) is failed and coming_of([failed], newer) is None
    assert coming_of([job(State.DONE), failed], older) is None  # the newest counts
    assert coming_of([job(State.RUNNING, step="train")], None) is None
