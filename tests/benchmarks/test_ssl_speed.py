"""Both sides of the comparison train the same network in the same way, and the rows say what was counted by hand."""

import sys
from contextlib import closing
from dataclasses import replace

import pytest
import torch
from benchmarks.few_labels import Rows, commit
from benchmarks.peers.players import Player, compare
from benchmarks.ssl_speed import (
    ALL_SURE,
    CPU,
    FASTEST,
    GPU,
    LITE0,
    PLAIN,
    SURE,
    Case,
    Scale,
    figures,
    images_of,
    job_of,
    jobs_of,
    measure,
    newest,
    ours,
    report_of,
    table,
)

from seedbed.assets.zoo.builder import build_backbone
from seedbed.methods.learn.algorithm import make_algorithm
from seedbed.methods.learn.task import Task
from tests.methods.learn.cases import mixed

ON_GPU = Scale("a GPU", GPU, (PLAIN, FASTEST), LITE0)
ON_CPU = Scale("cpu", CPU, (PLAIN, SURE))
STEPS = {"semilearn": 2.0, "semilearn, half precision": 4.0, "seedbed": 10.0, "seedbed, compiled": 24.0, SURE.own: 3.0}


def lap(program, times=1.0):
    return {"steps_per_s": times * STEPS[program], "cpu_s_per_step": 1 / STEPS[program], "gpu_gb": STEPS[program]}


def row_of(job, *, times=1.0):
    if job["what"] == "backbone":
        return {
            **job,
            "seconds": {PLAIN.own: 0.05, FASTEST.own: 0.03 if job["network"] == GPU.name else 0.01}[job["own"]],
        }
    found = {**job, "ours": lap(job["own"], times)}
    pair = next(pair for pair in (PLAIN, SURE, FASTEST) if pair.own == job["own"])
    return found | ({"peer": pair.peer, "theirs": lap(pair.peer), "loaders": 6} if job["what"] == "beside" else {})


def rows_of(scale):
    return [row_of(job) for job in jobs_of(scale, "abc")]


@pytest.mark.parametrize(("case", "parameters", "tokens"), [(CPU, 5_392_714, 257), (GPU, 21_608_074, 37)])
def test_our_network_has_the_parameters_and_tokens_of_semilearns(case: Case, parameters: int, tokens: int):
    network = build_backbone(case.start, 10, weights="none", size=case.size).network
    assert sum(parameter.numel() for parameter in network.parameters()) == parameters
    assert network.get_parameter("pos_embed").shape[1] == tokens


def test_the_fastest_of_ours_is_held_against_the_fastest_of_theirs():
    found = {name: round(value, 6) for name, value in figures(rows_of(ON_GPU), ON_GPU).items()}
    assert found == {
        "gpu_steps_vs_semilearn": 6.0,  # 24 / 4
        "vit_small_peak_gb": 24.0,
        "lite0_steps_per_s": 24.0,
        "share_outside_backbone_pct": 76.0,
        "share_outside_backbone_vit_pct": 28.0,  # compiled: of 24 steps in a second the network has 0.03 s each
        "share_outside_backbone_lite0_pct": 76.0,
    }


def test_on_a_cpu_what_leaves_no_image_out_is_held_against_semilearn():
    found = figures(rows_of(ON_CPU), ON_CPU)
    assert found == {
        "cpu_steps_vs_semilearn": 1.5,
        "cpu_seconds_vs_semilearn": 1.5,
        "cpu_steps_as_it_comes_vs_semilearn": 5.0,
        "cpu_seconds_as_it_comes_vs_semilearn": 5.0,
    }


@pytest.mark.parametrize(("name", "options"), ALL_SURE.items())
def test_who_is_sure_of_all_images_looks_at_all(name, options):
    algorithm = make_algorithm(name, Task(classes=3, images=8), options)
    seen = []

    def model(images):
        seen.append(len(images))
        return images

    views = torch.randn(8, 3)
    algorithm.loss(model, mixed(views[:2], [0, 1], views, views, spares=True))
    assert seen == [8, 10]


def test_every_line_of_ours_says_how_many_times_as_fast_it_is():
    lines = [(line["program"], line["times as fast"]) for line in table(rows_of(ON_GPU))]
    assert lines[:2] == [("seedbed", 10 / 24), ("seedbed, compiled", 1.0)]
    assert lines[2:4] == [("semilearn, half precision", ""), ("seedbed, compiled", 6.0)]
    assert lines[6:8] == [("semilearn", ""), ("seedbed", 2.5)] and len(lines) == 10


def test_on_a_cpu_every_line_of_ours_is_held_against_the_turns_beside_it():
    rows = rows_of(ON_CPU)
    rows[0]["theirs"]["steps_per_s"] = 2.5  # in the minutes of another pair the same program was quicker
    lines = [(line["program"], line["times as fast"]) for line in table(rows) if line["algorithm"] == "fixmatch"]
    assert lines == [("semilearn", ""), (SURE.own, 3.0 / 2.5), ("semilearn", ""), ("seedbed", 10.0 / 2.0)]
    assert figures(rows, ON_CPU)["cpu_steps_vs_semilearn"] == lines[1][1]


def test_the_note_says_which_of_ours_is_compared_on_a_cpu():
    said = report_of([], ON_CPU).note
    assert "'seedbed' is how we come, and looks at no strong views that do not count; the images are noise" in said
    assert "'seedbed, sure of all' looks at all of them, and is what is compared" in said


def test_a_figure_whose_rows_are_not_all_there_is_not_claimed():
    begun = [row for row in rows_of(ON_GPU) if row["what"] == "beside"][:3]
    assert figures(begun, ON_GPU) == {} and len(table(begun)) == 6
    one = [row for row in rows_of(ON_GPU) if row["network"] == GPU.name]
    assert "share_outside_backbone_vit_pct" in figures(one, ON_GPU)
    assert "share_outside_backbone_pct" not in figures(one, ON_GPU), "one network is not the most of two"


def test_of_rows_of_several_commits_the_last_counts():
    first, again = rows_of(ON_CPU), [row_of(job, times=2) for job in jobs_of(ON_CPU, "def")]
    assert newest([*first, *rows_of(ON_GPU), *again], ON_CPU) == again


def test_when_the_time_is_over_the_report_is_of_what_there_is(tmp_path):
    kept = Rows(tmp_path / "rows.jsonl")
    job = next(jobs_of(ON_CPU, commit()))
    kept.append(row_of(job))
    report = measure(ON_CPU, kept, minutes=0)
    assert len(report.rows) == 2 and report.figures == {}
    assert "3 of the measurements are missing" in report.note


def test_a_program_that_is_stuck_is_killed():
    player = Player([sys.executable, "-c", "import time; time.sleep(60)"], {})
    with closing(player), pytest.raises(RuntimeError, match="ended with -9"):
        player.answer(limit=0.1)


@pytest.mark.slow
def test_our_trainer_takes_its_turns():
    case = replace(CPU, start="test_resnet", labelled=2, unlabelled=2, images=40, warm=1, turn=2, turns=2)
    with images_of(case) as images, closing(ours()) as player:
        laps = compare({"ours": (player, job_of(case, "freematch", images))}, **case.pace)
    assert laps["ours"].steps_per_s > 0
    assert laps["ours"].cpu_s_per_step > 0
