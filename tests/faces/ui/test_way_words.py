"""What a project's page says, from what is known."""

from collections.abc import Mapping
from typing import Any

import pytest

from seedbed.assets.projects.classes import Class
from seedbed.assets.projects.projects import Project
from seedbed.assets.projects.settings import ProjectSettings
from seedbed.assets.store.bundle import Array, ArrayType, Bundle
from seedbed.faces.ui.news import news_of
from seedbed.faces.ui.way import (
    answer,
    by_itself_in_words,
    grouping_in_words,
    images_in_words,
    label_step_in_words,
    labels_in_words,
    stands_in_words,
)
from seedbed.flows.usecases.grouping import Alike
from seedbed.flows.usecases.results import Called, Result, confused, least_certain
from seedbed.flows.usecases.trainings import Training
from seedbed.flows.usecases.ways import Way
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.spec import JobSpec
from seedbed.runtime.jobs.states import State
from tests.flows.records import bundle, job

NONE = Training("none", "Nothing has been trained yet.")


def way(counts: Mapping[str, int] | None = None, **more: Any) -> Way:
    counts = counts or {}
    known: dict[str, Any] = {
        "project": Project("p", "Leaves", 0.0, "solo", "u", settings=ProjectSettings(goal=5)),
        "classes": [Class(name, place, "", "", None, name == "other") for place, name in enumerate(counts)],
        "counts": counts,
        "images": 40,
        "data": bundle("data-set", findings=(2,)),
        "coming": None,
        "alike": Alike("ready"),
        "training": NONE,
        "result": None,
        "jobs": [],
    }
    return Way(**{**known, **more})


def test_the_first_sentence_is_what_to_do_next() -> None:
    assert answer(way(data=None)).startswith("It begins with the images")
    assert answer(way(data=None, coming=job(State.FAILED))).startswith("The images could not be brought in")
    assert answer(way(data=None, coming=job(State.RUNNING))).startswith("The images are being checked")
    assert answer(way({"a": 0, "b": 0})) == "The images are in. Now say of a few of them what they show."
    running = Training("running", "It is learning; about 6 minutes left.")
    assert answer(way({"a": 5, "b": 5}, training=running)) == running.sentence
    report = bundle("report")
    tested = Result(bundle("model"), Bundle(**{**vars(report), "arrays": {"accuracy": _share(0.916)}}), None, None, "")
    said = "Of images that it had not seen, it names 92 % correctly. 10 labels so far"
    assert answer(way({"a": 5, "b": 5}, result=tested)).startswith(said)


def test_a_training_that_failed_is_told_first_and_that_the_model_before_it_stays() -> None:
    failed = Training("failed", "It could not be finished. No room.")
    assert answer(way({"a": 5, "b": 5}, training=failed)) == failed.sentence
    before = Result(bundle("model"), None, None, None, "")
    told = answer(way({"a": 5, "b": 5}, training=failed, result=before))
    assert told == "It could not be finished. No room. The model before it stays."


def test_a_list_of_projects_says_in_a_few_words_where_each_stands() -> None:
    assert stands_in_words("none", None) == ""
    assert stands_in_words("running", 0.8) == "is learning"
    assert stands_in_words("failed", 0.8) == "its training failed"
    assert stands_in_words("cancelled", 0.8) == stands_in_words("done", 0.8) == "right on 80 % of unseen images"


def test_training_by_itself_says_when_it_begins() -> None:
    wish = Project("p", "Leaves", 0.0, "solo", "u", settings=ProjectSettings(goal=5, train_by_itself=True))
    assert by_itself_in_words(way({"a": 5, "b": 4})) == ""
    few = by_itself_in_words(way({"a": 5, "b": 4}, project=wish))
    assert few == "It begins by itself once every class has its 5: 1 more label is wanted."
    done = Training("done", "It is done.", labels=50)
    assert by_itself_in_words(way({"a": 30, "b": 20}, project=wish, training=done)) == (
        "It begins again by itself at 63 labels."
    )
    assert by_itself_in_words(way({"a": 30, "b": 20}, project=wish, training=Training("running", "…"))) == ""


def test_more_labels_than_there_are_images_are_not_asked_for() -> None:
    wish = Project("p", "Leaves", 0.0, "solo", "u", settings=ProjectSettings(goal=25, train_by_itself=True))
    here = way({"a": 5, "b": 4}, project=wish)
    assert labels_in_words(here).startswith(
        "9 of 40 images have labels. 25 of each class are more than there are images: name all you can. You can train"
    )
    assert by_itself_in_words(here).endswith(
        "There are too few images for that; ask for fewer in the settings, or begin it yourself."
    )


def test_who_has_labelled_everything_is_not_asked_for_more() -> None:
    here = way({"a": 3, "b": 4}, images=7)
    assert answer(here) == "All 7 images have labels. It can learn now."
    assert label_step_in_words(here) == "All 7 images have labels."
    assert answer(way({"a": 6, "b": 1, "c": 0}, images=7)) == (
        "All 7 images have labels. These classes have too few images to learn from: b, c."
    )
    assert answer(way({"a": 6, "b": 1}, images=7)).endswith("This class has too few images to learn from: b.")
    assert answer(way({"a": 6, **dict.fromkeys("bcdef", 0)}, images=6)).endswith("learn from: b, c, d and 2 more.")
    wish = Project("p", "Leaves", 0.0, "solo", "u", settings=ProjectSettings(goal=5, train_by_itself=True))
    assert by_itself_in_words(way({"a": 3, "b": 4}, images=7, project=wish)) == (
        "It begins by itself once every class has its 5. There are too few images for that; ask for fewer in the "
        "settings, or begin it yourself."
    )
    assert answer(way({"a": 5, "b": 5}, images=10)).endswith("every class has its 5. It can learn now.")
    assert not way({"a": 0}, images=0).all_labelled


def test_the_step_with_the_labels_does_not_repeat_the_first_sentence() -> None:
    assert label_step_in_words(way({"a": 0, "b": 0})).startswith("None yet.")
    first = way({"a": 5, "b": 4})
    assert answer(first) == labels_in_words(first)
    assert label_step_in_words(first) == "9 of 40 images have labels."
    learning = way({"a": 5, "b": 4}, training=Training("running", "It is learning."))
    assert label_step_in_words(learning) == labels_in_words(learning)


def _share(value: float) -> Array:
    return Array(ArrayType.FLOAT, (value,))


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ({"a": 5, "b": 6, "other": 0}, "11 of 40 images have labels; every class has its 5. It can learn now."),
        ({"a": 1, "b": 0}, "1 of 40 images has a label. 9 more are wanted: a, b."),
        ({"a": 5, "b": 4}, "9 of 40 images have labels. 1 more is wanted: b. You can train already"),
        ({"a": 3}, "3 of 40 images have labels. Name at least two classes"),
    ],
)
def test_what_is_missing_is_counted_class_by_class(counts: dict[str, int], words: str) -> None:
    assert labels_in_words(way(counts)).startswith(words)


def test_images_are_told_while_they_come_when_they_are_in_and_when_they_are_refused() -> None:
    assert images_in_words(way()) == "40 images are in; 2 things to look at."
    coming = job(State.RUNNING, step_now=120, step_total=400)
    assert images_in_words(way(coming=coming)) == "They are being read and checked: 120 of 400 so far."
    refused = job(State.FAILED, reason="This is no archive")
    assert images_in_words(way(coming=refused)) == "They could not be brought in. This is no archive."


def test_grouping_says_nothing_where_there_is_nothing_to_say() -> None:
    assert grouping_in_words(way(alike=Alike("none"))) == ""
    assert "switched off" in grouping_in_words(way(alike=Alike("off")))
    assert "You can label meanwhile" in grouping_in_words(way(alike=Alike("waiting")))


def test_of_a_projects_work_only_what_matters_to_its_expert_is_told() -> None:
    def told(step: str, state: State, project: str = "Leaves", **more: Any) -> str:
        done = job(state, step=step, **more)
        news = news_of(Job(**{**vars(done), "spec": JobSpec(step, project="p"), "name": f"Leaves.{step}"}), project)
        return news.text if news else ""

    assert told("ingest", State.DONE) == "The images of Leaves are in."
    assert told("evaluate", State.DONE) == "Leaves has learnt, and was tested."
    assert told("train", State.DONE) == told("export", State.DONE) == ""
    assert told("train", State.FAILED, reason="No room") == "The training of Leaves did not work out. No room."
    assert told("label-all", State.CANCELLED) == "The training of Leaves was ended."
    assert told("embed", State.FAILED, reason="No room").startswith("Looking at the images of Leaves did not")
    assert told("signature", State.DONE) == told("signature", State.FAILED, reason="No room") == ""
    assert told("evaluate", State.FAILED, fell_with="another") == ""
    assert told("train", State.DONE, project="") == "The training of Leaves is done."


def test_a_square_of_the_table_and_the_least_certain_are_found_among_what_the_model_says() -> None:
    said = [
        Called(0, "i0", "0.jpg", "rust", 0.9, "rust"),
        Called(1, "i1", "1.jpg", "rust", 0.5, "blight"),
        Called(2, "i2", "2.jpg", "rust", 0.8, "blight"),
        Called(3, "i3", "3.jpg", "blight", 0.4),
        Called(4, "i4", "4.jpg", "rust", 0.3),
    ]
    assert [one.index for one in confused(said, "blight", "rust")] == [2, 1]
    assert [one.index for one in least_certain(said, {"i4", "1.jpg"}, 2)] == [3, 2]
