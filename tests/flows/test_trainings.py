"""A project's training in plain words: by a click, by itself, queued, stopped for now, going on, ended."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from sqlalchemy import insert, update

from seedbed.assets.access.roles import SOLO
from seedbed.assets.db import tables
from seedbed.assets.projects.classes import Class
from seedbed.assets.projects.labels import LabelEvent
from seedbed.base.errors import Conflict
from seedbed.base.ids import new_id
from seedbed.base.settings import Settings
from seedbed.flows.kinds.labels import read_labels
from seedbed.flows.platform import Platform
from seedbed.flows.usecases.by_itself import is_enough
from seedbed.flows.usecases.trainings import in_words, share_in_words
from seedbed.runtime.jobs.states import State
from tests.flows.conftest import count

Label = Callable[[int], int]


@pytest.fixture(scope="module")
def prepared(leaves: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home with a project whose leaves are in, without a label yet."""
    home = tmp_path_factory.mktemp("prepared") / "home"
    with Platform.open(Settings(home=home, port=0, cpus=4)) as platform:
        made = platform.projects.create("Leaf health", classes=["healthy", "rust"], by=SOLO)
        job = platform.data.add(leaves, name="leaves", project=made.id, size=32, by=SOLO)
        (done,) = platform.run_until_done([job.id])
        assert done.state is State.DONE
        for name in {one.name for one in platform.projects.classes(made.id, by=SOLO)} - {"healthy", "rust"}:
            platform.projects.remove_class(made.id, name, by=SOLO)
    return home


@pytest.fixture
def project(prepared: Path, platform: Platform) -> str:
    """That project, in the home of the test; nothing schedules from here on."""
    return platform.projects.get("Leaf health", by=SOLO).id


@pytest.fixture
def label(platform: Platform, project: str, truth: Path) -> Label:
    """Labels so many more images of each class."""
    known = read_labels(truth)
    left = {name: [file for file, klass in known.items() if klass == name] for name in ("healthy", "rust")}

    def more(each: int) -> int:
        events = [LabelEvent(new_id(), files.pop(), name, "") for name, files in left.items() for _ in range(each)]
        return platform.projects.add_labels(project, events, by=SOLO)

    return more


def test_a_training_is_begun_stopped_continued_and_ended_in_plain_words(
    platform: Platform, project: str, label: Label
) -> None:
    trainings = platform.trainings
    assert trainings.of(project, by=SOLO).sentence == "Nothing has been trained yet."
    label(4)
    platform.jobs.submit(count(), by=SOLO)
    begun = trainings.start(project, params={"steps": 3, "size": 32}, by=SOLO)
    usually = "It is queued behind 1 other piece of work; it usually takes a few minutes once it begins."
    assert (begun.stage, begun.sentence) == ("waiting", usually)
    assert trainings.labels_used(project) == begun.labels == 8
    with pytest.raises(Conflict, match="being trained already"):
        trainings.start(project, by=SOLO)
    stopped = trainings.stop(project, by=SOLO)
    assert stopped.stage == "stopped" and "What it has learnt is kept" in stopped.sentence
    assert all(job.paused for job in (stopped.jobs or {}).values())
    assert trainings.go_on(project, by=SOLO).stage == "waiting"
    assert trainings.end(project, by=SOLO).stage == "cancelled"
    assert trainings.start(project, params={"steps": 3}, by=SOLO).stage == "waiting"


def test_what_it_measures_tells_how_long_is_left_and_how_good_it_is_so_far(
    platform: Platform, project: str, label: Label
) -> None:
    label(4)
    jobs = platform.trainings.start(project, params={"steps": 100, "size": 32}, by=SOLO).jobs or {}
    train = jobs["train"].id
    with platform.database.write() as conn:  # as if it had run for a minute, five seconds a step
        for state in (State.STARTING, State.RUNNING):
            platform.queue.transition(conn, train, state)
        measured = [(step, 1000.0 + 5 * step) for step in (2, 7, 12)]
        rows = [{"name": "loss", "step": step, "value": 0.5, "at": at} for step, at in measured]
        rows.append({"name": "accuracy", "step": 12, "value": 0.84, "at": 1060.0})
        conn.execute(insert(tables.metrics), [{"job": train, "fence": 0, **row} for row in rows])
        conn.execute(update(tables.jobs).where(tables.jobs.c.id == train).values(step_now=12, step_total=100))
    now = platform.trainings.of(project, by=SOLO)
    assert now.stage == "running" and now.accuracy == 0.84
    assert now.seconds == pytest.approx(1.15 * 88 * 5)
    assert now.sentence == "It is learning, right on 84 % so far; about 8 minutes left."
    with platform.database.write() as conn:  # as if there were too few labels to judge by
        conn.execute(update(tables.metrics).where(tables.metrics.c.name == "accuracy").values(name="unchanged"))
        rows = [{"name": "unchanged", "step": 14, "value": 0.92, "at": 1070.0}]
        conn.execute(insert(tables.metrics), [{"job": train, "fence": 0, **row} for row in rows])
    now = platform.trainings.of(project, by=SOLO)
    assert now.sentence.startswith("It is learning, 92 % of its answers no longer change; about")
    assert platform.trainings.stop(project, by=SOLO).sentence.startswith("It is stopped for now")


def test_training_begins_by_itself_once_every_class_has_its_number_and_again_with_a_quarter_more(
    platform: Platform, project: str, label: Label
) -> None:
    platform.projects.set_settings(project, {"train_by_itself": True, "goal": 2}, by=SOLO)
    label(1)
    platform.catch_up()
    assert platform.trainings.of(project, by=SOLO).stage == "none"
    label(1)
    platform.catch_up()
    first = platform.trainings.of(project, by=SOLO)
    assert first.stage == "waiting" and first.jobs and first.jobs["train"].owner == SOLO.name
    label(4)
    platform.catch_up()  # the first is not over: no second one beside it
    platform.trainings.end(project, by=SOLO)
    label(1)
    platform.catch_up()
    again = platform.trainings.of(project, by=SOLO)
    assert again.stage == "waiting" and platform.trainings.labels_used(project) == 14


def test_nothing_begins_by_itself_where_nobody_wants_it(platform: Platform, project: str, label: Label) -> None:
    platform.projects.set_settings(project, {"goal": 1}, by=SOLO)
    label(3)
    platform.catch_up()
    assert platform.trainings.of(project, by=SOLO).stage == "none"


def test_labels_are_enough_when_every_class_but_the_one_for_the_rest_is_full() -> None:
    classes = [Class("a", 0, "", ""), Class("b", 1, "", ""), Class("else", 2, "", "", None, other=True)]
    assert not is_enough(classes, {"a": 5, "b": 4}, 5, 0)
    assert is_enough(classes, {"a": 5, "b": 5}, 5, 0)
    assert not is_enough(classes[:1], {"a": 50}, 5, 0)
    assert not is_enough(classes, {"a": 10, "b": 10}, 5, 11)  # nine more are too few
    assert is_enough(classes, {"a": 10, "b": 11}, 5, 11)
    assert not is_enough(classes, {"a": 60, "b": 64}, 5, 100) and is_enough(classes, {"a": 60, "b": 65}, 5, 100)


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (2, "10 seconds"),
        (44, "40 seconds"),
        (58, "1 minute"),
        (350, "6 minutes"),
        (5340, "89 minutes"),
        (7300, "2 hours"),
    ],
)
def test_nobody_is_promised_more_than_can_be_known(seconds: float, words: str) -> None:
    assert in_words(seconds) == words


def test_a_share_is_never_rounded_to_all_or_none() -> None:
    shares = (0.0, 0.004, 0.5714, 0.994, 0.996, 1.0)
    assert [share_in_words(share) for share in shares] == ["0 %", "0.4 %", "57 %", "99 %", "99.6 %", "100 %"]


def test_a_long_training_is_not_said_to_take_a_few_minutes(platform: Platform, project: str, label: Label) -> None:
    label(4)
    begun = platform.trainings.start(project, params={"steps": 50_000}, by=SOLO)
    assert begun.sentence == "It begins in a moment."


def test_of_two_clicks_at_once_one_begins_a_training(platform: Platform, project: str, label: Label) -> None:
    label(4)

    def click(_: int) -> str:
        try:
            return platform.trainings.start(project, params={"steps": 3}, by=SOLO).stage
        except Conflict:
            return "refused"

    with ThreadPoolExecutor(4) as people:
        assert sorted(people.map(click, range(4))) == ["refused", "refused", "refused", "waiting"]
    assert [job.step for job in platform.jobs.list(project=project, by=SOLO)].count("train") == 1


def test_stop_and_go_on_in_quick_succession_leave_nothing_stopped(
    platform: Platform, project: str, label: Label
) -> None:
    label(4)
    platform.trainings.start(project, params={"steps": 3}, by=SOLO)
    for _ in range(5):
        with ThreadPoolExecutor(2) as people:
            stop = people.submit(platform.trainings.stop, project, by=SOLO)
            while not any(job.paused for job in (platform.trainings.of(project, by=SOLO).jobs or {}).values()):
                pass  # the page shows that it is stopped as soon as one of its jobs is
            people.submit(platform.trainings.go_on, project, by=SOLO).result()
            stop.result()
        assert platform.trainings.of(project, by=SOLO).stage == "waiting"


def test_of_several_trainings_in_one_flow_the_last_is_told(platform: Platform) -> None:
    for number in range(6):  # ids decide nothing: they are drawn at random
        platform.models.start_recipe("demo", {"name": f"leaves {number}", "project": f"Leaves {number}"}, by=SOLO)
        jobs = platform.trainings.of(f"Leaves {number}", by=SOLO).jobs or {}
        assert {job.name.partition(".")[0] for job in jobs.values()} == {f"leaves {number}"}
