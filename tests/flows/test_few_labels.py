"""The whole way, with real training: slow."""

import csv
import io
from pathlib import Path

import pytest
from PIL import Image

from seedbed.assets.access.roles import SOLO
from seedbed.base.errors import InvalidInput
from seedbed.flows.kinds.labels import Labels
from seedbed.flows.kinds.models import Model, Predictions, Report
from seedbed.flows.platform import Platform
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.spec import JobSpec
from seedbed.runtime.jobs.states import State

TRAIN = {"steps": 8, "evaluate_every": 4, "report_every": 2, "checkpoint_every": 4}


@pytest.fixture
def done(platform: Platform, leaves: Path, truth: Path) -> dict[str, Job]:
    given = {"source": str(leaves), "truth": str(truth), "labels_per_class": 3, "size": 32, "train": TRAIN}
    jobs = platform.models.start_recipe("few-labels", given, by=SOLO)
    ended = platform.run_until_done([job.id for job in jobs])
    assert [(job.name, job.state, job.reason) for job in ended if job.state is not State.DONE] == []
    return {job.step: job for job in ended}


@pytest.mark.slow
def test_few_labels_trains_tests_labels_all_and_exports(
    platform: Platform, done: dict[str, Job], leaves: Path, tmp_path: Path
) -> None:
    def opened(step: str, output: str) -> Path:
        return platform.store.checkout(platform.store.get(done[step].outputs[output]), tmp_path / step / output)

    model, test = Model.open(opened("train", "model")), Labels.open(opened("sample-labels", "test"))
    labels = Labels.open(opened("sample-labels", "labels"))
    assert not model.seen() & set(test.rows()) and len(model.seen()) == 60 - len(test.rows())
    assert set(labels.rows()) <= model.seen()
    assert Report.open(opened("evaluate", "report")).facts()["count"] == len(test.rows()) == 18
    rows = Predictions.open(opened("label-all", "predictions")).rows()
    assert sorted(row["file"] for row in rows) == sorted(path.name for path in leaves.glob("*.jpg"))
    assert all(0 < float(row["confidence"]) <= 1 for row in rows)
    assert platform.jobs.metrics(done["train"].id, by=SOLO)
    _the_service_answers_from_the_exported_model(platform, leaves, rows)
    _the_exported_model_predicts_as_the_trained_one(platform, rows)
    _a_test_on_seen_images_is_refused(platform, done)
    _the_same_recipe_again_is_answered_from_the_store(platform, done, leaves)


def _the_service_answers_from_the_exported_model(platform: Platform, leaves: Path, rows: list[dict[str, str]]) -> None:
    row = rows[0]
    answer = platform.models.predict_image("leaves.model", (leaves / row["file"]).read_bytes(), by=SOLO)
    best = answer.guesses[0]
    assert best.label == row["class"] and best.probability == pytest.approx(float(row["confidence"]), abs=1e-3)
    assert sum(guess.probability for guess in answer.guesses) == pytest.approx(1.0, abs=1e-4)
    picture = io.BytesIO()
    Image.new("L", (7, 900), 128).save(picture, "PNG")
    assert len(platform.models.predict_image("leaves.download", picture.getvalue(), by=SOLO).guesses) == 6
    with pytest.raises(InvalidInput, match="not an image"):
        platform.models.predict_image("leaves.model", b"no image", by=SOLO)


def _the_exported_model_predicts_as_the_trained_one(platform: Platform, rows: list[dict[str, str]]) -> None:
    jobs = platform.models.predict("leaves.model", "leaves", by=SOLO)
    ended = platform.run_until_done([job.id for job in jobs])
    assert [job.state for job in ended] == [State.DONE] * 2, [job.reason for job in ended]
    assert "Answered from the store" in ended[0].reason
    path, _ = platform.bundles.file(ended[1].outputs["predictions"], "predictions", 0, by=SOLO)
    with path.open(newline="") as file:
        found = {row["file"]: row for row in csv.DictReader(file)}
    assert all(found[row["file"]]["class"] == row["class"] for row in rows)


def _a_test_on_seen_images_is_refused(platform: Platform, done: dict[str, Job]) -> None:
    inputs = {
        "model": done["train"].outputs["model"],
        "decoded": done["ingest"].outputs["decoded"],
        "test": done["sample-labels"].outputs["labels"],
    }
    job = platform.jobs.submit(JobSpec("evaluate", inputs=inputs), by=SOLO)
    (ended,) = platform.run_until_done([job.id])
    assert ended.state is State.FAILED and "18 of the 18 test images were used in training" in ended.reason


def _the_same_recipe_again_is_answered_from_the_store(platform: Platform, done: dict[str, Job], leaves: Path) -> None:
    truth = done["sample-labels"].spec.inputs["truth"]
    given = {"source": str(leaves), "truth": truth, "labels_per_class": 3, "size": 32, "train": TRAIN}
    jobs = platform.models.start_recipe("few-labels", given, by=SOLO)
    ended = platform.run_until_done([job.id for job in jobs])
    assert all("Answered from the store" in job.reason for job in ended), [(job.name, job.reason) for job in ended]
    assert [job.outputs for job in ended] == [done[job.step].outputs for job in ended]
