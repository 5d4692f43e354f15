from dataclasses import asdict, replace

import pytest
import torch
from benchmarks.few_labels import SYNTHETIC, Rows, judged_apart, load_set
from benchmarks.ssl_accuracy import FULL, LAPTOP, settings_of
from benchmarks.ssl_defaults import (
    CHANGES,
    PLAIN,
    QUICK,
    VARIANTS,
    Scale,
    changed,
    figures,
    gains,
    jobs_of,
    main,
    measure,
    of_today,
    table,
)
from benchmarks.ssl_report import BUDGETS, CORE, DEFAULT

from seedbed.base.registry import Registry
from seedbed.methods.learn.algorithm import make_algorithm
from seedbed.methods.learn.settings import TrainSettings
from seedbed.methods.learn.task import Task
from seedbed.testing.algorithms import check_algorithm
from tests.methods.learn.cases import mixed

KEY = {"set": "cifar10", "labels": 40, "seed": 0, "size": 128}


def row(change: str, accuracy: float, **more: object) -> dict[str, object]:
    on_a_cpu = {"cpu_seconds": 10.0, "machine": {"gpu": "none"}}
    return {**KEY, "change": change, "accuracy": accuracy, **on_a_cpu, **more}


@pytest.mark.parametrize("runs", [FULL, LAPTOP])
def test_every_change_is_one_that_the_trainer_takes_and_that_changes_one_thing(runs) -> None:
    plain = settings_of(DEFAULT, runs, ("a", "b"))
    for change in CHANGES:
        settings = changed(change, plain)
        settings.check()
        if change not in VARIANTS:
            make_algorithm(settings.algorithm, Task(2, 10, "cpu"), settings.options)
        differs = {name for name, value in asdict(settings).items() if value != asdict(plain)[name]}
        assert len(differs) == (change != PLAIN), change


def test_changes_are_also_tried_together() -> None:
    plain = settings_of(DEFAULT, LAPTOP, ("a", "b"))
    both = changed("half aligned + threshold 0.8 + half as large again", plain)
    assert both == replace(plain, options={"align": 0.5, "threshold": 0.8}, size=96)


@pytest.mark.parametrize(
    ("change", "both"),
    [
        ("labels mixed + alignment fades", "algorithm"),
        ("half the rate + twice the rate", "learning_rate"),
        ("threshold 0.8 + threshold 0.95", "threshold"),
    ],
)
def test_changes_of_one_thing_are_not_tried_together(change, both, capsys) -> None:
    with pytest.raises(SystemExit):
        main(["--changes", change])
    assert f"both set {both}" in capsys.readouterr().err


def runs_of(scale: Scale) -> list[dict[str, object]]:
    return [{"change": scale.names[job["known"]], **job} for job in jobs_of(scale) if job["set"] == "cifar10"]


def test_runs_with_former_values_of_a_change_are_no_runs_of_it(monkeypatch) -> None:
    rows = runs_of(Scale(changes=(PLAIN, "half aligned", "labels mixed", "half aligned + labels mixed")))
    assert of_today(rows, Scale()) == rows
    monkeypatch.setitem(CHANGES, "half aligned", {"options": {"align": 0.4}})
    assert {row["change"] for row in of_today(rows, Scale())} == {PLAIN, "labels mixed"}


def test_what_was_half_of_a_former_rate_is_called_what_it_is_beside_todays() -> None:
    rows = runs_of(Scale(replace(FULL, rate=2 * FULL.rate), (PLAIN, "half the rate", "a quarter of the rate")))
    assert [row["change"] for row in rows if (row["labels"], row["seed"]) == (5, 0)] == [
        PLAIN,
        "half the rate",
        "a quarter of the rate",
    ]
    found = [row["change"] for row in of_today(rows, Scale()) if (row["labels"], row["seed"]) == (5, 0)]
    assert found == ["twice the rate", PLAIN, "half the rate"]


def test_the_average_of_twice_the_memory_forgets_half_as_fast() -> None:
    plain = settings_of(DEFAULT, FULL, ("a", "b"))
    found = [changed(f"{times} the average's memory", plain).ema for times in ("half", "twice")]
    assert found == pytest.approx([1 - 2 * (1 - plain.ema), 1 - (1 - plain.ema) / 2])


@pytest.mark.parametrize("name", VARIANTS)
def test_every_variant_is_an_algorithm_as_any_other(name) -> None:
    check_algorithm(Registry("variant", VARIANTS).get(name))


@pytest.mark.parametrize("name", VARIANTS)
def test_variants_leave_out_what_does_not_count_as_the_default_does(name) -> None:
    looked = []

    def model(images: torch.Tensor) -> torch.Tensor:
        looked.append(len(images))
        return images.flatten(1)

    algorithm = Registry("variant", VARIANTS).get(name)(Task(classes=2, images=20))
    labelled = tuple(torch.zeros(1, 2, 1, 1) for _ in algorithm.views.labelled)
    unsure = torch.zeros(8, 2, 1, 1)
    batch = mixed(labelled, [0], unsure, unsure, teacher=lambda images: images.flatten(1), spares=True)
    algorithm.loss(model, batch)
    assert looked == [len(labelled) + 8 * (name == "every image looked at")]


def test_a_laptops_runs_have_the_defaults_of_a_cpu() -> None:
    settings = settings_of(DEFAULT, LAPTOP, ("a", "b"))
    plain = TrainSettings(classes=("a", "b"), report_every=settings.report_every, compile="never")
    assert settings == replace(plain, checkpoint_every=settings.checkpoint_every, learning_rate=plain.rate())


def test_every_change_has_one_seed_before_any_has_two() -> None:
    jobs = list(jobs_of(Scale()))
    assert len(jobs) == len(CHANGES) * len(BUDGETS) * len(CORE) * 3
    assert {job["seed"] for job in jobs[: len(jobs) // 3]} == {0}
    assert Scale().names[jobs[0]["known"]] == PLAIN


def test_the_images_that_judge_are_training_images_of_every_class_and_no_test_images() -> None:
    data = load_set(SYNTHETIC, 24)
    apart = judged_apart(data)
    assert len(apart.images_train) + len(apart.images_test) == len(data.images_train)
    assert all((apart.labels_test == kind).sum() == 15 for kind in range(len(data.classes)))
    known = {image.tobytes() for image in data.images_train}
    assert known == {image.tobytes() for part in (apart.images_train, apart.images_test) for image in part}


def test_a_gain_is_against_the_same_run_without_the_change() -> None:
    rows = [
        row(PLAIN, 0.70),
        row(PLAIN, 0.60, seed=1),
        row("half aligned", 0.75, cpu_seconds=14.0),
        row("half aligned", 0.62, seed=1),
        row("half aligned", 0.9, seed=2),  # has no run to be held against
        row("threshold 0.8", 0.69),
    ]
    assert gains("half aligned", 40, rows) == pytest.approx([5.0, 2.0])
    threshold, half = table(rows)
    assert half == {
        "change": "half aligned",
        "points at 5 labels": "",
        "points at 40 labels": "+3.5 (+2.0 to +5.0)",
        "times the CPU s at 5": "",
        "times the CPU s at 40": 1.2,
        "runs": 2,
    }
    assert threshold["points at 40 labels"] == "-1.0 (one run)"
    assert figures(rows) == {"largest_gain_at_40_points": pytest.approx(3.5)}


def test_what_a_change_costs_a_processor_is_not_told_of_runs_on_a_gpu() -> None:
    on_a_gpu = {"machine": {"gpu": "NVIDIA H200"}}
    (line,) = table([row(PLAIN, 0.70), row("half aligned", 0.75, **on_a_gpu)])
    assert list(line) == ["change", "points at 5 labels", "points at 40 labels", "runs"]


def test_a_change_that_there_is_not_is_refused_with_those_that_there_are(capsys) -> None:
    with pytest.raises(SystemExit):
        main(["--changes", "not aligned + more luck"])
    said = capsys.readouterr().err
    assert "there is no change 'more luck'" in said and "3 times the steps" in said


@pytest.mark.slow
def test_a_change_that_changes_nothing_gains_nothing(tmp_path) -> None:
    runs = replace(QUICK.runs, sets=(SYNTHETIC,), steps=2)
    scale = Scale(runs, (PLAIN, "no label held out"))  # with 5 labels a class none is held out anyway
    report = measure(scale, Rows(tmp_path / "rows.jsonl"), real=False, minutes=5)
    assert [line["points at 5 labels"] for line in report.rows] == ["+0.0 (one run)"]
    assert report.figures == {"largest_gain_at_5_points": 0.0}
