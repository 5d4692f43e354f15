import numpy as np
import pytest
from benchmarks.clustering import comparisons, figures, jobs_of, main, measure, note, table
from benchmarks.clustering_runs import FIGURE_11, QUICK, SCAN, SPEED, Scale, matched, scores
from benchmarks.few_labels import SYNTHETIC, Rows

from benchmarks import clustering_runs

SETS = (FIGURE_11, "trees")
SMALL = Scale(SETS, seeds=(0, 1), methods=(QUICK, SCAN))


def row(name, method, accuracy, seed=0, **more):
    numbers = {"accuracy": accuracy, "nmi": 0.5, "ari": 0.25, "seconds": 1.0, "groups": 2, "images": 10, "classes": 2}
    return {"set": name, "method": method, "seed": seed, **numbers, **more}


ROWS = [
    row(FIGURE_11, QUICK, 0.5, confusion=[[3, 1], [2, 4]], names=["corn", "weed"]),
    row(FIGURE_11, QUICK, 0.7, seed=1),
    row("trees", QUICK, 0.9),
    row(FIGURE_11, SCAN, 0.5, confusion=[[4, 0], [3, 3]], names=["corn", "weed"]),
    row("trees", SCAN, 0.8),
    {
        **{"method": SPEED, "set": FIGURE_11, "seed": 0, "images": 10_000, "seconds": 20.4, "cpu_seconds": 39.6},
        **{"embedding_cpu_seconds": 35.0, "grouping_cpu_seconds": 4.6},
    },
]


def test_groups_are_matched_to_classes_one_to_one_as_well_as_they_can_be():
    labels, groups = np.array([0, 0, 0, 1, 1, 2]), np.array([4, 4, 1, 1, 1, 0])
    assert matched(labels, groups, 3)[:, :3].tolist() == [[2, 1, 0], [0, 2, 0], [0, 0, 1]]
    assert scores(labels, groups)["accuracy"] == pytest.approx(5 / 6)


def test_fewer_and_more_groups_than_classes_are_judged_too():
    labels = np.array([0, 0, 1, 1])
    assert scores(labels, np.zeros(4, int)) == {"accuracy": 0.5, "nmi": 0.0, "ari": 0.0}
    assert scores(labels, np.arange(4))["accuracy"] == 0.5
    assert scores(labels, np.array([1, 1, 0, 0])) == {"accuracy": 1.0, "nmi": 1.0, "ari": 1.0}


def test_means_let_every_set_count_alike_whatever_its_seeds():
    assert figures(ROWS, SMALL) == {
        "quick_accuracy_pct": pytest.approx(75),
        "scan_accuracy_pct": pytest.approx(65),
        "quick_cpu_seconds_per_10k": 39.6,
    }
    assert [line["quick %"] for line in table(ROWS, SMALL)] == ["60.0", "90.0", "75.0"]


def test_a_method_that_lacks_a_set_has_no_mean():
    rows = [kept for kept in ROWS if (kept["set"], kept["method"]) != ("trees", SCAN)]
    assert "scan_accuracy_pct" not in figures(rows, SMALL)
    assert table(rows, SMALL)[-1]["scan 25 %"] == ""


def test_methods_are_compared_seed_by_seed_and_set_by_set_and_it_is_said_who_is_behind():
    ahead, behind, points, low, high = comparisons(ROWS, SMALL, SCAN)  # a seed that only one of them has is no pair
    assert (ahead, behind) == (0, 1) and points == pytest.approx(-5) and low == pytest.approx(-10) and high == 0
    later = [row(FIGURE_11, SCAN, 0.4, seed=1), row(FIGURE_11, SCAN, 0.6, seed=2), row("trees", SCAN, 0.8)]
    worse = [row(FIGURE_11, QUICK, 0.5, seed=1), row(FIGURE_11, QUICK, 0.7, seed=2), ROWS[2], *later]
    ahead, behind, points, low, high = comparisons(worse, SMALL, SCAN)
    assert (ahead, behind) == (0, 2) and points == pytest.approx(-10) and low <= points <= high < 0
    assert "'scan 25' (3 seeds) is behind the quick default: -10.0 points" in note(worse, SMALL)
    words = note(ROWS, SMALL)
    assert "'scan 25' (1 seed) is level with the quick default: -5.0 points" in words
    assert "'quick' is below on 0 of 2 and 'scan 25' is below on 1 of 2" in words
    assert "20 s and 40 CPU s for 10,000 decoded images" in words


def test_figure_11_shows_where_the_images_of_each_class_went():
    words = note(ROWS, SMALL)
    assert "| corn  | 100           | 0             |" in words and "| weed  | 50            | 50            |" in words


def test_the_time_comes_first_and_every_method_runs_on_every_set_with_every_seed():
    jobs = list(jobs_of(SMALL))
    assert jobs[0]["method"] == SPEED and len(jobs) == 1 + 2 * 2 * 2


@pytest.fixture
def quick_work(monkeypatch):
    """Drawn leaves with made-up embeddings that tell their classes; what was embedded is noted."""
    asked = []

    def embed(images):
        asked.append(len(images))
        classes = np.arange(len(images)) % 6
        rows = np.eye(6, 16)[classes] + np.random.default_rng(0).normal(0, 0.05, (len(images), 16))
        return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)

    monkeypatch.setattr(clustering_runs, "embed", embed)
    monkeypatch.setattr(clustering_runs, "SIZE", 16)
    clustering_runs._embedded.cache_clear()
    yield asked
    clustering_runs._embedded.cache_clear()


def test_rows_that_are_there_are_not_run_again(quick_work, tmp_path):
    rows = Rows(tmp_path / "rows.jsonl")
    scale = Scale((SYNTHETIC,), 360, (0,), (QUICK, SCAN), timed=60)
    report = measure(scale, rows, real=False, minutes=5)
    assert quick_work == [1, 1, 1, 60, 60, 60, 360] and report.data == "synthetic"
    assert report.figures["quick_accuracy_pct"] == 100
    assert report.figures["quick_cpu_seconds_per_10k"] > 0
    measure(scale, rows, real=False, minutes=5)
    assert quick_work == [1, 1, 1, 60, 60, 60, 360] and len(list(rows)) == 3


def test_nothing_is_begun_when_the_time_is_over(quick_work, tmp_path):
    rows = Rows(tmp_path / "rows.jsonl")
    assert measure(Scale((SYNTHETIC,), seeds=(0,)), rows, real=False, minutes=-1).rows == []
    assert list(rows) == [] and quick_work == []


def test_a_method_that_there_is_not_is_refused_with_those_that_there_are(capsys):
    with pytest.raises(SystemExit):
        main(["--methods", "scan 200;scan 7"])
    assert "--methods names scan 7; there are quick;" in capsys.readouterr().err
