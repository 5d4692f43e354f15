"""A queue goes through the real service, and says what it started from."""

from dataclasses import replace

import pytest
from benchmarks.mtaas_live import QUICK, figures, replay


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


def test_what_choosing_costs_counts():
    def line(weights, learning, choosing, accuracy):
        return {"weights": weights, "s of learning": learning, "s of choosing": choosing, "accuracy": accuracy}

    lines = [
        line("pretrained", 40.0, 0.0, 0.80),
        line("pretrained", 20.0, 0.0, 0.70),
        line("auto", 20.0, 8.0, 0.79),
        line("auto", 10.0, 2.0, 0.73),
    ]
    found = figures(lines)
    assert (found["learning_times_as_fast"], found["all_times_as_fast"]) == (2.0, 1.5)
    assert found["accuracy_points"] == pytest.approx(1.0)
