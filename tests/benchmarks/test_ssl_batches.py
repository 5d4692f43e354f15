from typing import Any

import pytest
from benchmarks.few_labels import SYNTHETIC, Rows
from benchmarks.ssl_batches import (
    KEPT,
    LINEAR,
    QUICK,
    RATE,
    ROOT,
    USUAL,
    Scale,
    compared,
    jobs_of,
    measure,
    rate_by,
    table,
)

from seedbed.methods.learn.settings import TrainSettings


def row(rule: str, accuracy: float, batches: tuple[int, int] = (4, 12), **more: Any) -> dict[str, Any]:
    about = {"set": SYNTHETIC, "labelled": batches[0], "unlabelled": batches[1], "steps": 120, "seed": 0, "size": 64}
    return {**about, "rule": rule, "accuracy": accuracy, **more}


def test_the_usual_batches_and_rate_are_the_trainer_s() -> None:
    settings = TrainSettings()
    assert (settings.labelled_batch, settings.unlabelled_batch) == USUAL
    assert rate_by(KEPT, USUAL) == rate_by(ROOT, USUAL) == rate_by(LINEAR, USUAL) == settings.rate()


def test_a_quarter_of_the_images_has_half_of_the_rate_by_the_root_and_a_quarter_in_proportion() -> None:
    found = [rate_by(rule, (4, 12)) / RATE for rule in (KEPT, ROOT, LINEAR)]
    assert found == pytest.approx([1, 1 / 2, 1 / 4])


def test_every_run_is_there_once_and_the_usual_batches_need_no_rule() -> None:
    jobs = list(jobs_of(Scale()))
    assert len({tuple(job.items()) for job in jobs}) == len(jobs)
    assert {job["rule"] for job in jobs if (job["labelled"], job["unlabelled"]) == USUAL} == {KEPT}


def test_a_rule_is_held_against_the_kept_rate_of_the_same_run() -> None:
    rows = [row(KEPT, 0.3), row(ROOT, 0.7), row(KEPT, 0.5, seed=1), row(LINEAR, 0.6, seed=1), row(ROOT, 0.9, seed=2)]
    rows += [row(KEPT, 0.8, (64, 192)), row(ROOT, 0.75, (64, 192))]
    found = compared(rows)
    assert found == {
        f"smaller, {ROOT}": pytest.approx([40.0]),
        f"smaller, {LINEAR}": pytest.approx([10.0]),
        f"larger, {ROOT}": pytest.approx([-5.0]),
    }
    small, large = table(rows)
    assert (small["batches"], small["seeds"], small[KEPT], small[ROOT]) == ("4 + 12", 3, "40.0", "80.0")
    assert large[LINEAR] == ""


@pytest.mark.slow
def test_the_table_can_be_filled_and_is_not_filled_twice(tmp_path) -> None:
    rows = Rows(tmp_path / "rows.jsonl")
    first = measure(QUICK, rows, real=False, minutes=5)
    assert set(first.figures) == {"smaller_square_root_points", "smaller_in_proportion_points"}
    again = measure(QUICK, rows, real=False, minutes=5)
    assert again.rows == first.rows and len(list(rows)) == len(list(jobs_of(QUICK)))
