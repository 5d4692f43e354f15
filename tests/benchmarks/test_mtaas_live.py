"""A queue goes through the real service, and says what it started from."""

import pytest
from benchmarks.mtaas_live import AS_GOOD, Scale, replay


@pytest.mark.slow
def test_a_queue_is_replayed_end_to_end_and_every_job_says_what_it_started_from(tmp_path):
    scale = Scale(images=6, steps=2, zoo=("zoo-1",), earlier=("old-1",), queue=("new-1", "new-2"))
    lines, figures = replay(scale, tmp_path)
    assert [(line["weights"], line["data set"]) for line in lines] == [
        ("pretrained", "new-1"),
        ("pretrained", "new-2"),
        ("auto", "new-1"),
        ("auto", "new-2"),
    ]
    assert all(line["started from"] and line["why"] for line in lines)
    assert all(0 < line[AS_GOOD] <= line["seconds"] for line in lines)
    assert figures["imagenet_seconds"] > 0 and figures["chosen_seconds"] > 0
