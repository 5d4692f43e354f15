"""A queue goes through the real service, and says what it started from."""

from dataclasses import replace

import pytest
from benchmarks.mtaas_live import QUICK, figures, in_words, replay, same_jobs_apart


@pytest.mark.slow
def test_a_queue_is_replayed_end_to_end_and_every_job_says_what_it_started_from(tmp_path):
    lines, found = replay(replace(QUICK, queue=("new-1", "new-2")), tmp_path)
    queue = [("new-1",), ("new-2",)]
    assert [(line["weights"], line["data set"]) for line in lines] == [
        (weights, *name) for weights in ("pretrained", "auto") for name in queue
    ]
    assert all(line["started from"] and line["why"] for line in lines)
    assert all(line["steps"] == 4 and line["s of learning"] > 0 and 0 <= line["accuracy"] <= 1 for line in lines)
    assert [line["s of choosing"] > 0 for line in lines] == [False, False, True, True]
    assert found["imagenet_seconds"] > 0 and found["all_times_as_fast"] < found["learning_times_as_fast"]


def line(weights, learning, choosing=0.0, accuracy=0.5, start="imagenet", steps=240):
    return {
        "weights": weights, "data set": "leaves", "started from": start, "steps": steps,
        "s of learning": learning, "s of choosing": choosing, "accuracy": accuracy,
    }  # fmt: skip


def test_what_choosing_costs_counts():
    lines = [
        line("pretrained", 40.0, 0.0, 0.80),
        line("pretrained", 20.0, 0.0, 0.70),
        line("auto", 20.0, 8.0, 0.79),
        line("auto", 10.0, 2.0, 0.73),
    ]
    found = figures(lines)
    assert (found["learning_times_as_fast"], found["all_times_as_fast"]) == (2.0, 1.5)
    assert found["accuracy_points"] == pytest.approx(1.0)


def test_the_note_says_how_far_apart_jobs_are_that_did_the_same_and_whether_the_goal_was_met():
    plain = [line("pretrained", seconds) for seconds in (40.0, 40.0, 40.0, 40.0)]
    chosen = [line("auto", 44.0, 10.0), line("auto", 32.0, 10.0), line("auto", 20.0, start="kept"),
              line("auto", 20.0, steps=120)]  # fmt: skip
    assert same_jobs_apart([*plain, *chosen]) == pytest.approx([0.1, 0.25])
    told = in_words([*plain, *chosen])
    assert "single run" in told and "2 of 4 jobs" in told and "10 to 25 % apart" in told
    assert "Learning alone is 1.38 times as fast as from ImageNet's weights (wanted: above 1, met)" in told
    assert "1.18 times as fast as from ImageNet's weights (wanted: above 1, met, but no further from 1 than" in told


def test_a_goal_that_was_missed_is_told_as_such_also_where_no_job_did_the_same():
    told = in_words([line("pretrained", 40.0), line("auto", 50.0, 50.0, start="kept")])
    assert "No job did the same" in told and told.count("(wanted: above 1, missed)") == 2
