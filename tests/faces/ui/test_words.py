"""Every sentence of a page that tells how a job goes."""

from dataclasses import replace

import pytest

from seedbed.faces.ui import words
from seedbed.faces.ui.parts.joblist import newest_first
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.spec import JobSpec
from seedbed.runtime.jobs.states import State

NOW = 10_000.0
WAITING = Job(
    id="0193", name="train leaves", flow="f", spec=JobSpec("train"), state=State.WAITING, position=1, fence=0,
    preemptions=0, failures=0, not_before=0, reason="", wish="", step_now=0, step_total=0, doing="", key="",
    outputs={}, submitted=NOW - 100, started=0, ended=0, checkpoint="",
)  # fmt: skip
RUNNING = replace(WAITING, state=State.RUNNING, started=NOW - 60, step_now=100, step_total=400, doing="learning")


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (0.04, "0.0 s"), (0.9, "0.9 s"), (0.97, "1 s"), (59.4, "59 s"), (59.6, "1 min"), (125, "2 min 5 s"),
        (3599.7, "1 h 0 min"), (11400, "3 h 10 min"), (187200, "2 days 4 h"),
    ],
)  # fmt: skip
def test_durations_read_well(seconds, text):
    assert words.duration(seconds) == text


@pytest.mark.parametrize(("seconds", "text"), [(5, "just now"), (60, "1 minute ago"), (7300, "2 hours ago")])
def test_how_long_ago(seconds, text):
    assert words.ago(NOW - seconds, NOW) == text


def test_a_waiting_job_says_why():
    job = replace(WAITING, reason="2 cpus are needed and 1 is free.")
    assert words.answer_of(job, NOW) == "It waits. 2 cpus are needed and 1 is free."


def test_a_running_job_says_how_far_it_is_and_how_long_it_will_take():
    assert words.answer_of(RUNNING, NOW) == "It is running: learning, 100 of 400; about 3 min left."
    assert words.progress_of(RUNNING, NOW) == "learning, 100 of 400, about 3 min left"


def test_nobody_guesses_the_time_that_is_left_from_the_first_steps():
    assert words.left_of(replace(RUNNING, step_now=2), NOW) is None


def test_a_job_that_does_not_say_how_far_it_is_has_no_share():
    assert words.share_of(replace(RUNNING, step_total=0)) is None


@pytest.mark.parametrize("state", list(State))
def test_every_state_has_its_sentence(state):
    sentence = words.answer_of(replace(RUNNING, state=state, ended=NOW), NOW)
    assert sentence[0].isupper() and sentence.endswith(".")


def test_the_ending_of_a_failed_job_says_why():
    assert (
        words.ending_of(replace(RUNNING, state=State.FAILED, reason="no room.")) == "train leaves has failed: no room."
    )


@pytest.mark.parametrize(("share", "text"), [(1.0, "100 %"), (0.915, "91.5 %"), (0.5, "50 %"), (0.0, "0 %")])
def test_percent(share, text):
    assert words.percent(share) == text


@pytest.mark.parametrize(
    ("seconds", "text"), [(1, "5 s"), (52, "50 s"), (57, "1 min"), (757, "13 min"), (5300, "88 min"), (9000, "2 h")]
)
def test_the_time_that_is_left_is_told_roughly(seconds, text):
    assert words.roughly(seconds) == text


@pytest.mark.parametrize(("text", "told"), [("no room", "no room."), ("Why? ", "Why?"), ("", ""), ("done.", "done.")])
def test_a_reason_becomes_a_sentence(text, told):
    assert words.sentence(text) == told


def test_a_reason_names_the_jobs_that_it_speaks_of():
    other = "01a1de87-a753-7a62-9ed3-b7b87a86514e"
    job = replace(WAITING, reason=f"Waiting for job {other} to finish")
    assert words.with_names(job, {other: "'train'"}).reason == "Waiting for job 'train' to finish"
    assert words.with_names(job, {}) == job
    train = replace(WAITING, name="wheat.train")
    failed = replace(WAITING, reason="Job 'wheat.train', which it needs, failed: no room for 'x'")
    told = "Job 'The training of wheat', which it needs, failed: no room for 'x'"
    assert words.with_names(failed, words.names_of([train])).reason == told


def test_a_command_in_the_reason_of_a_job_keeps_the_id_of_that_job():
    mine = "01a1de87-a753-7a62-9ed3-b7b87a86514e"
    told = f"It used too much. Give it more (seedbed jobs rerun {mine} --memory 8G), or make the work smaller."
    hungry = replace(WAITING, id=mine, name="wheat.train", state=State.FAILED, reason=told)
    assert words.with_names(hungry, words.names_of([hungry])) == hungry


def test_jobs_of_one_flow_stand_in_its_order_the_last_first():
    ingest, train, later = WAITING, replace(WAITING, position=2), replace(WAITING, submitted=NOW, position=0)
    assert newest_first([ingest, later, train]) == [later, train, ingest]


def test_a_job_is_called_by_what_it_does_unless_somebody_named_it():
    looking = replace(WAITING, name="wheat.embed", spec=JobSpec("embed"), state=State.DONE)
    assert words.title_of(looking) == "Looking at the images of wheat"
    assert words.ending_of(looking) == "Looking at the images of wheat is done."
    assert words.title_of(WAITING) == "train leaves"


def test_people_in_a_project_are_named_and_the_rest_counted():
    assert words.people_in_words([]) == "Nobody is in this project yet"
    assert words.people_in_words(["ada"]) == "People in this project: ada"
    assert words.people_in_words(["ada", "grace", "olga"]) == "People in this project: ada, grace and olga"
    many = ["ada", "grace", "olga", "vera", "wim"]
    assert words.people_in_words(many) == "People in this project: ada, grace, olga and 2 more"
