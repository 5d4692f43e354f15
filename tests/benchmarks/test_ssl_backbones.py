from dataclasses import replace

import pytest
from benchmarks.few_labels import Rows
from benchmarks.ssl_backbones import FULL, LITE0, NETWORKS, figures, jobs_of, measure, table


def row_of(job, error):
    started = "scratch" if job["weights"] == "none" else f"{job['network']}.imagenet"
    facts = {"architecture": job["network"], "parameters": 5_400_000, "started_from": started, "marked": False}
    return {**job, **facts, "error": error, "seconds": 1.0}


def filled(path, *, seeds=(0,)):
    rows = Rows(path)
    for job in jobs_of(FULL):
        if job["seed"] in seeds:
            pretrained = job["weights"] == LITE0.weights
            rows.append(row_of(job, 0.1 if pretrained else 0.3 + 0.1 * (job["set"] == FULL.sets[1])))
    return rows


def test_the_four_networks_of_the_paper_are_there_with_its_errors():
    assert {network.name: network.paper for network in NETWORKS if network.paper} == {
        "resnet50": 16.18,
        "vit_tiny": 10.21,
        "vit_small": 8.47,
        "vit_base": 6.22,
    }


def test_every_line_says_how_its_network_was_pre_trained(tmp_path):
    lines = table(list(filled(tmp_path / "rows.jsonl")), FULL)
    assert [line["pre-trained on"] for line in lines] == [
        "ImageNet-1k (efficientnet_lite0.imagenet)",
        *["none: from scratch"] * 5,
    ]
    assert lines[1]["coffee-symptom, error %"] == "30.0" and lines[1]["apple-foliar, error %"] == "40.0"


def test_figures_are_means_over_the_sets(tmp_path):
    found = figures(list(filled(tmp_path / "rows.jsonl")), FULL)
    assert {name: round(value, 6) for name, value in found.items()} == {
        "lite0_pretrained_error_pct": 10.0,
        "best_from_scratch_error_pct": 35.0,
    }


def test_a_set_that_is_missing_gives_no_figure(tmp_path):
    rows = [row for row in filled(tmp_path / "rows.jsonl") if row["set"] == FULL.sets[0]]
    assert figures(rows, FULL) == {}


def test_rows_that_are_there_are_not_run_again(tmp_path):
    rows = filled(tmp_path / "rows.jsonl", seeds=FULL.seeds)
    before = rows.path.read_bytes()
    measure(FULL, rows, real=True, minutes=10)
    assert rows.path.read_bytes() == before


def test_runs_with_other_settings_are_run_again_and_not_reported(tmp_path):
    rows = filled(tmp_path / "rows.jsonl")
    longer = replace(FULL, steps=2 * FULL.steps)
    assert not any(rows.done(job) for job in jobs_of(longer))
    rows.append(row_of({**next(jobs_of(FULL)), "recipe": "former", "seed": 7}, 0.9))
    assert measure(FULL, rows, real=True, minutes=0).figures["lite0_pretrained_error_pct"] == pytest.approx(10.0)


def test_the_report_is_made_from_rows_and_names_where_they_came_from(tmp_path):
    rows = filled(tmp_path / "rows.jsonl")
    report = measure(FULL, rows, real=True, minutes=0)
    assert len(report.rows) == len(NETWORKS)
    assert next(iter(rows))["commit"] in report.origin
    assert "from scratch" in report.note
