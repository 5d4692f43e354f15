"""What more GPUs would give is projected from rows by a model that is counted by hand."""

from benchmarks.scaling_gpu import BATCHES, LOCALS, TALK, WAYS, Measured, epoch_of, jobs_of, projected, report_of

SIZE = 200_000_000  # bytes
ABOUT = {"commit": "abc", "machine": {"gpu": "a GPU", "torch": "2"}, "at": "2026-01-01 00:00", "bytes": SIZE}
SECONDS = {"alone": 0.010, "rank": 0.016, "recorded": 0.012, TALK: 0.001}


def rows_of(*ways):
    return [{**job, **ABOUT, "seconds": SECONDS[job["what"]]} for job in jobs_of("a GPU", "") if job["what"] in ways]


def test_two_gpus_of_a_node_wait_for_what_does_not_hide_behind_the_backward_pass():
    talk = 200e6 / 200e9 + 2 * 10e-6  # 2 (n - 1) / n = 1 of the bytes, in two hops
    assert projected(0.010, 2, SIZE, overlap=False) == 0.010 + talk
    assert projected(0.010, 2, SIZE, overlap=True) == 0.010, "1 ms hides behind 5"


def test_an_epoch_is_of_recorded_steps_with_the_start_of_the_all_reduce():
    found = Measured.of(rows_of(*WAYS, TALK))
    epoch = epoch_of(found, "weak", 32, 2)
    assert epoch.one == 0.010 * 32 and epoch.recorded is not None
    assert round(epoch.recorded, 9) == round(16 * 0.013, 9)  # 1,024 images in steps of 64


def test_every_local_batch_is_measured_and_what_may_fail_comes_last():
    jobs = list(jobs_of("a GPU", "abc"))
    assert {job["batch"] for job in jobs if job["what"] == "alone"} == set(LOCALS) == {2, 4, 8, 16, 32, 64}
    assert [job["what"] for job in jobs[-len(LOCALS) :]] == ["recorded"] * len(LOCALS)


def test_what_is_not_measured_yet_is_left_empty_and_claims_nothing():
    report = report_of(rows_of("alone", "rank", TALK))
    sixteen = next(row for row in report.rows if row["GPUs"] == 16)
    assert sixteen["speed-up"] == "" and isinstance(sixteen["not recorded"], float)
    assert not any(name.startswith("projected") for name in report.figures)
    assert {f"step_alone_ms_{batch}" for batch in BATCHES} <= report.figures.keys()
    assert report_of([]).rows == []


def test_with_all_rows_every_figure_is_there():
    figures = report_of(rows_of(*WAYS, TALK)).figures
    assert {f"projected_{scaling}_speedup_{batch}" for scaling in ("weak", "strong") for batch in BATCHES} <= set(
        figures
    )
    assert round(figures["allreduce_start_ms"], 9) == 1.0
