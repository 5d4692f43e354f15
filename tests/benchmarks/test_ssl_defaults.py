from dataclasses import asdict, replace

import pytest
from benchmarks.few_labels import SYNTHETIC, Rows
from benchmarks.ssl_defaults import CHANGES, QUICK, Scale, changed, figures, gains, jobs_of, main, measure, table
from benchmarks.ssl_report import BUDGETS, CORE, DEFAULT

from benchmarks import ssl_accuracy
from seedbed.methods.learn.algorithm import make_algorithm
from seedbed.methods.learn.settings import ON_A_GPU, TrainSettings
from seedbed.methods.learn.task import Task

PLAIN = TrainSettings(classes=("a", "b"), **ON_A_GPU)
KEY = {"set": "cifar10", "labels": 40, "seed": 0, "size": 128}


def row(change: str, accuracy: float, **more: object) -> dict[str, object]:
    return {**KEY, "change": change, "accuracy": accuracy, **more}


def test_every_change_is_one_that_the_trainer_takes_and_that_changes_something() -> None:
    for change, values in CHANGES.items():
        settings = changed(change, PLAIN)
        settings.check()
        make_algorithm(settings.algorithm, Task(2, 10, "cpu"), settings.options)
        assert {name for name, value in asdict(settings).items() if value != asdict(PLAIN)[name]} == {*values}, change


def test_every_change_has_one_seed_before_any_has_two() -> None:
    jobs = list(jobs_of(Scale()))
    assert len(jobs) == len(CHANGES) * len(BUDGETS) * len(CORE) * 3
    assert {job["seed"] for job in jobs[: len(jobs) // 3]} == {0}


def test_a_gain_is_against_the_same_run_without_the_change() -> None:
    plain = {("cifar10", 40, 0, 128): 0.70, ("cifar10", 40, 1, 128): 0.60}
    rows = [
        row("half aligned", 0.75),
        row("half aligned", 0.62, seed=1),
        row("half aligned", 0.9, seed=2),  # has no run to be held against
        row("threshold 0.8", 0.69),
    ]
    assert gains("half aligned", 40, rows, plain) == pytest.approx([5.0, 2.0])
    first, second = table(rows, plain)
    assert first == {
        "change": "half aligned",
        "points at 5 labels": "",
        "points at 40 labels": "+3.5 (+2.0 to +5.0)",
        "runs": 2,
    }
    assert second["points at 40 labels"] == "-1.0 (one run)"
    assert figures(rows, plain) == {"largest_gain_at_40_points": pytest.approx(3.5)}


def test_a_change_that_there_is_not_is_refused_with_those_that_there_are(capsys) -> None:
    with pytest.raises(SystemExit):
        main(["--changes", "not aligned,more luck"])
    said = capsys.readouterr().err
    assert "there is no change 'more luck'" in said and "3 times the steps" in said


@pytest.mark.slow
def test_a_change_that_changes_nothing_gains_nothing(tmp_path) -> None:
    runs = replace(QUICK.runs, sets=(SYNTHETIC,), steps=2)
    scale = Scale(runs, ("no label held out",))  # with 5 labels a class none is held out anyway
    default = Rows(tmp_path / "default.jsonl")
    for job in ssl_accuracy.jobs_of(scale.as_it_is):
        default.append(ssl_accuracy.run(job, scale.as_it_is))
    report = measure(scale, Rows(tmp_path / "rows.jsonl"), default, real=False, minutes=5)
    assert [line["points at 5 labels"] for line in report.rows] == ["+0.0 (one run)"]
    assert {one["method"] for one in default} == {DEFAULT} and report.figures == {"largest_gain_at_5_points": 0.0}
