"""What a trained model brings to the labelling of its project."""

import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from seedbed.assets.access.roles import SOLO, Role
from seedbed.assets.data.synthetic import write_leaves
from seedbed.assets.projects.labels import LabelEvent
from seedbed.assets.projects.projects import Projects as KeptProjects
from seedbed.assets.store.bundle import Bundle, Lineage
from seedbed.base.ids import new_id
from seedbed.flows.desk.answers import ProjectDesk
from seedbed.flows.kinds.labels import read_labels
from seedbed.flows.kinds.models import FACTS_FILE, Download, Model, Predictions
from seedbed.flows.packing import packed, unpacked
from seedbed.flows.platform import Platform
from seedbed.flows.standing import Standings
from seedbed.flows.usecases.learnt import Learnt
from seedbed.methods.label.suggest import Suggester
from seedbed.methods.label.together import in_classes, together
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.states import State
from tests.flows.made_up import MadeUp, embeddings_of, made_up
from tests.flows.tiny_model import publish_tiny_model

CLASSES = ("rust", "mildew", "healthy")
LABELLED = range(12)


@pytest.fixture
def fields(platform: Platform, tmp_path: Path) -> MadeUp:
    made = made_up(platform, tmp_path / "made-up")
    made.label(*LABELLED)
    return made


@pytest.fixture
def kept(platform: Platform) -> KeptProjects:
    return KeptProjects(platform.database, platform.events, platform.clock)


@pytest.fixture
def places(fields: MadeUp, platform: Platform, kept: KeptProjects) -> Callable[[], list[int] | None]:
    """The place of each of the model's classes among those of the project as they are now."""
    standings = Standings(kept)

    def ask() -> list[int] | None:
        gallery = platform._galleries.of(platform.store.get(fields.project.data))
        found = Learnt(platform.store, kept).answers(fields.project, standings.of(fields.project, gallery))
        return found["places"] if found else None

    return ask


def sure_of(places: Sequence[int], classes: int = 3) -> NDArray[np.float32]:
    """A model's answers: it is all but sure of these classes."""
    return np.where(np.eye(classes)[list(places)], 0.98, 0.02 / (classes - 1)).astype(np.float32)


def publish(
    made: MadeUp, folder: Path, answers: NDArray[np.float32] | None, classes: Sequence[str] = CLASSES, **more: Any
) -> Bundle:
    """A model of the project and, where there are answers, what it says of every image."""
    (folder / "model").mkdir(parents=True)
    (folder / "model" / "weights").write_text(folder.name)
    store, project = made.platform.store, made.project.id
    model = store.publish(Model(folder, {"classes": tuple(classes), "size": (32,)}).draft(name="m", project=project))
    if answers is not None:
        said = {"ids": made.ids, **more}
        kind = Predictions.write(folder / "said", [f"{image}.jpg" for image in made.ids], answers, classes, **said)
        lineage = Lineage("label-all", {}, (("model", model.uuid),))
        store.publish(kind.draft(name="p", project=project, lineage=lineage))
    return model


def head(made: MadeUp) -> NDArray[np.float32]:
    """What the labels alone say of every image."""
    rows = embeddings_of(60, 3, 24)
    labels = np.where(np.isin(np.arange(60), LABELLED), np.arange(60) % 3, -1)
    return Suggester.fit(rows, labels, 3).probabilities(rows)


def test_a_trained_model_has_its_say_in_every_proposal(fields: MadeUp, platform: Platform, tmp_path: Path) -> None:
    rows = list(range(30, 60))

    def said() -> list[tuple[str, float]]:
        found = platform.labelling.suggestions("fields", rows, by=SOLO).suggestions
        return [(one.label, one.confidence) for one in found]

    before = said()
    assert [label for label, _ in before] == [fields.truth(row) for row in rows]
    answers = sure_of([2] * 60)
    answers[:45] = (1e-7, 1e-7, 1)
    publish(fields, tmp_path / "trained", answers)
    likely = together(head(fields), answers)[rows]
    expected = [(CLASSES[row.argmax()], float(row.max())) for row in likely]
    until = time.monotonic() + 30
    while (after := said()) == before:
        assert time.monotonic() < until, "the model is not asked"
    assert [label for label, _ in after] == [label for label, _ in expected]
    assert [sure for _, sure in after] == pytest.approx([sure for _, sure in expected], abs=2e-3)
    assert {label for label, _ in after[:15]} == {"healthy"} and after != before


def test_what_comes_next_follows_the_model_too(fields: MadeUp, platform: Platform, tmp_path: Path) -> None:
    answers = np.full((60, 3), 1 / 3, dtype=np.float32)
    answers[50], answers[40] = (0.98, 0.01, 0.01), (0.5, 0.0, 0.5)
    publish(fields, tmp_path / "trained", answers)
    likely = together(head(fields), answers)

    def first(how: Any, **more: Any) -> list[int]:
        platform.labelling.suggestions("fields", [0], by=SOLO)  # the desk is awake
        order = platform.labelling.order("fields", how, by=SOLO, **more)
        while order.by != how:
            order = platform.labelling.order("fields", how, by=SOLO, **more)
        return [row for row in order.rows.tolist() if row not in LABELLED]

    free = np.arange(12, 60)
    assert first("unsure")[:10] == free[np.argsort(likely[free].max(axis=1), kind="stable")][:10].tolist()
    assert first("class", klass="rust")[:25] == free[np.argsort(-likely[free, 0], kind="stable")][:25].tolist()
    assert sorted(first("worth")) == free.tolist()


def test_classes_that_were_renamed_merged_added_and_moved_are_what_they_have_become(
    fields: MadeUp, kept: KeptProjects, places: Callable[[], list[int] | None], tmp_path: Path
) -> None:
    assert places() is None
    kept.rename_class("fields", "mildew", "powdery mildew")
    kept.rename_class("fields", "powdery mildew", "mildew")  # before the model: nothing to carry on
    publish(fields, tmp_path / "trained", sure_of([0] * 60), CLASSES)
    assert places() == [0, 1, 2]
    kept.rename_class("fields", "rust", "brown rust")
    kept.add_class("fields", "rust")  # another one, which the model does not know
    assert places() == [0, 1, 2]
    kept.order_classes("fields", ["rust", "healthy", "mildew", "brown rust"])
    assert places() == [3, 2, 1]
    kept.merge_class("fields", "mildew", "rust")
    assert places() == [2, 0, 1]
    kept.remove_class("fields", "brown rust", with_labels=True)
    assert places() == [-1, 0, 1]
    kept.merge_class("fields", "healthy", "rust")
    kept.add_class("fields", "healthy")
    assert places() is None, "it tells nothing apart any more"


def test_the_newest_model_that_has_answered_counts(
    fields: MadeUp, places: Callable[[], list[int] | None], tmp_path: Path
) -> None:
    publish(fields, tmp_path / "old", sure_of([0] * 60), ids=())  # as earlier versions kept them
    assert places() is None
    publish(fields, tmp_path / "first", sure_of([0] * 60))
    publish(fields, tmp_path / "second", sure_of([0] * 60), CLASSES[::-1])
    publish(fields, tmp_path / "third", None)  # it has only just been trained
    assert places() == [2, 1, 0]


def test_a_newest_model_without_onnx_leaves_other_images_to_the_labels(
    fields: MadeUp, platform: Platform, kept: KeptProjects, tmp_path: Path
) -> None:
    learnt = Learnt(platform.store, kept)
    publish_tiny_model(platform, tmp_path / "tiny", fields.project.id, CLASSES)
    assert (learnt.newest(fields.project) or {}).keys() == {"onnx", "facts"}
    bare = Download(tmp_path / "bare")
    bare.place.mkdir(parents=True)
    (bare.place / FACTS_FILE).write_text("{}")
    platform.store.publish(bare.draft(name="bare.download", project=fields.project.id))
    assert learnt.newest(fields.project) is None


# --- at the desk itself ---------------------------------------------------------------------------------------------


def asked(folder: Path, answers: NDArray[np.float32], ids: Sequence[str], places: Sequence[int]) -> dict[str, Any]:
    """A question on 40 images of four classes, of which the first three are known to a model."""
    folder.mkdir()
    np.save(folder / "rows.npy", embeddings_of(40, 4, 24))
    np.save(folder / "answers.npy", answers)
    (folder / "ids.txt").write_text("".join(f"image-{number}\n" for number in range(40)))
    (folder / "answered.txt").write_text("".join(f"{image}\n" for image in ids))
    labels = np.where(np.arange(40) < 8, np.arange(40) % 4, -1)
    kept = {"likely": str(folder / "answers.npy"), "images": str(folder / "answered.txt"), "places": [*places]}
    files = {"embeddings": str(folder / "rows.npy"), "images": str(folder / "ids.txt")}
    return {"ask": "suggest", **files, "labels": packed(labels), "classes": 4, "answers": kept,
            "rows": packed(np.arange(40))}  # fmt: skip


def test_images_that_were_added_since_are_the_heads_alone(tmp_path: Path) -> None:
    known = [30, 3, 17, 22, 11]  # in an order of its own, and one that has gone since
    answers = sure_of([1, 1, 1, 1, 1, 1])
    question = asked(tmp_path / "q", answers, [*(f"image-{row}" for row in known), "gone"], [0, 1, 2])
    both = ProjectDesk("p").answer(question)
    alone = ProjectDesk("p").answer({**question, "answers": None})
    chances = Suggester.fit(embeddings_of(40, 4, 24), unpacked(question["labels"]), 4)
    likely = chances.probabilities(embeddings_of(40, 4, 24))
    expected = together(likely[known], in_classes(answers[:5], np.arange(3), 4))
    sure = np.array(both["confidences"])
    assert sure[known] == pytest.approx(expected.max(axis=1), abs=1e-4)
    added = np.setdiff1d(np.arange(40), known)
    assert np.array_equal(sure[added], np.array(alone["confidences"])[added])
    assert not np.array_equal(sure[known], np.array(alone["confidences"])[known])


def test_a_class_that_the_model_does_not_know_is_still_proposed(tmp_path: Path) -> None:
    question = asked(tmp_path / "q", sure_of([0] * 40), [f"image-{row}" for row in range(40)], [0, 1, 2])
    said = np.array(ProjectDesk("p").answer(question)["classes"])
    assert (said[np.arange(40) % 4 == 3] == 3).all(), "the model is all for the first class, which these are not"
    every = ProjectDesk("p").answer({**question, "ask": "ranked", "class": 3})
    assert set(unpacked(every["rows"])[:10] % 4) == {3}
    chosen = {"ask": "next", "chooser": "auto", "count": 5, "seed": 0}
    rows = unpacked(ProjectDesk("p").answer({**question, **chosen})["rows"])
    assert len(set(rows)) == 5 and min(rows) >= 8


# --- the whole way --------------------------------------------------------------------------------------------------


@pytest.mark.slow
def test_after_a_real_training_proposals_are_its_own_too_and_images_may_be_added(
    platform: Platform, leaves: Path, truth: Path, tmp_path: Path
) -> None:
    known = read_labels(truth)
    project = platform.projects.create("Leaves", classes=sorted(set(known.values())), by=SOLO).id

    def done(jobs: Sequence[Job]) -> None:
        ended = platform.run_until_done([job.id for job in jobs])
        assert [job.reason for job in ended if job.state is not State.DONE] == []

    def proposed(rows: Sequence[int]) -> list[tuple[str, float]]:
        found = platform.labelling.suggestions(project, rows, by=SOLO)
        return [(one.label, one.confidence) for one in found.suggestions]

    done([platform.data.add(leaves, name="leaves", project=project, size=32, by=SOLO)])
    done(platform.labelling.group(project, by=SOLO))
    labelled = [
        file for name in set(known.values()) for file in sorted(file for file in known if known[file] == name)[:6]
    ]
    said = [LabelEvent(new_id(), file, known[file], "") for file in labelled]
    platform.projects.add_labels(project, said, by=SOLO)
    before = proposed(range(60))
    quick = {"steps": 8, "size": 32, "evaluate_every": 4, "checkpoint_every": 8}
    done(list((platform.trainings.start(project, params=quick, by=SOLO).jobs or {}).values()))
    until = time.monotonic() + 30
    while (after := proposed(range(60))) == before:
        assert time.monotonic() < until, "the model is not asked"
    assert all(one != two for one, two in zip(before, after, strict=True)), "it has seen every image"

    first = platform.labelling._opened(project, Role.LABELLER, SOLO).gallery.shapes.ids
    write_leaves(tmp_path / "more", 2, seed=9, size=48)
    done([platform.data.add(tmp_path / "more", to="leaves", project=project, size=32, by=SOLO)])
    done(platform.labelling.group(project, by=SOLO))
    assert platform.labelling.board(project, by=SOLO).images == 72
    now = proposed(range(72))
    opened = platform.labelling._opened(project, Role.LABELLER, SOLO)
    everything = {"rows": packed(np.arange(72)), "answers": None}
    alone = ProjectDesk(project).answer(platform.labelling._likely("suggest", opened) | everything)
    old = np.isin(opened.gallery.shapes.ids, first)
    same = np.isclose([sure for _, sure in now], alone["confidences"], atol=1e-4)
    assert old.sum() == 60 and same[~old].all() and not same[old].any()
