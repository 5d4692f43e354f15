"""Names for people."""

import pytest

from seedbed.flows.naming import job_in_words, step_in_words
from seedbed.flows.steps import STEPS


@pytest.mark.parametrize("step", list(STEPS))
def test_every_step_has_words_that_are_not_its_name(step: str) -> None:
    alone, of_leaves = step_in_words(step), step_in_words(step, "leaves")
    assert alone != step and alone[0].isupper() and "{}" not in alone + of_leaves and "  " not in alone
    assert not alone.endswith((" of", " for"))


@pytest.mark.parametrize(
    ("job", "step", "words"),
    [
        ("leaves.train", "train", "The training of leaves"),
        ("leaves.group", "group", "Putting alike images of leaves together"),
        ("", "group", "Putting alike images together"),
        ("embed", "embed", "Looking at the images"),
        ("wheat.look.decode", "decode", "Reading the images of wheat"),
        ("data-sets.compare-data", "compare-data", "Comparing data sets"),
        ("Tuesday's try", "train", "Tuesday's try"),
        ("retrain", "train", "retrain"),
        ("leaves.weigh", "weigh", "leaves.weigh"),
        ("", "weigh", "weigh"),
    ],
)
def test_a_job_is_called_by_what_it_does_unless_somebody_named_it(job: str, step: str, words: str) -> None:
    assert job_in_words(job, step) == words
