import os
import subprocess
import sys
import time
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path

import psutil
import pytest
from benchmarks.few_labels import Rows
from benchmarks.filling import fill

JOBS = [{"number": number} for number in range(4)]


def squared(job):
    return {**job, "square": job["number"] ** 2}


def told(job):
    return f"{job['number']} squared"


def test_what_has_a_row_is_not_run_again(tmp_path, capsys):
    rows = Rows(tmp_path / "rows")
    rows.append({"number": 2, "square": -1})
    fill(rows, JOBS, squared, told, minutes=1)
    assert [(row["number"], row["square"]) for row in rows] == [(2, -1), (0, 0), (1, 1), (3, 9)]
    assert "3 of 3: 3 squared" in capsys.readouterr().err


def test_nothing_is_begun_when_the_time_is_over(tmp_path):
    rows = Rows(tmp_path / "rows")
    fill(rows, JOBS, squared, told, minutes=-1)
    assert not list(rows)


@pytest.mark.slow
def test_processes_of_their_own_make_the_same_rows(tmp_path):
    rows = Rows(tmp_path / "rows")
    fill(rows, JOBS, squared, told, minutes=2, workers=2)
    assert sorted(row["square"] for row in rows) == [0, 1, 4, 9]


def endless(job):
    Path(job["told"]).write_text(str(os.getpid()))
    time.sleep(600)


def call_of_endless_jobs(folder, minutes):
    """A call in a process of its own, and its workers, which are at work."""
    jobs = [{"number": number, "told": str(folder / str(number))} for number in range(2)]
    code = (
        "from benchmarks.few_labels import Rows\nfrom benchmarks.filling import fill\nfrom pathlib import Path\n"
        "from tests.benchmarks.test_filling import endless, told\n"
        f"fill(Rows(Path({str(folder / 'rows')!r})), {jobs!r}, endless, told, minutes={minutes}, workers=2)"
    )
    call = subprocess.Popen([sys.executable, "-c", code])
    told_by, until = [Path(job["told"]) for job in jobs], time.monotonic() + 60
    while not all(path.exists() and path.read_text() for path in told_by):
        assert time.monotonic() < until
        time.sleep(0.1)  # another process's file gives no event
    return call, [psutil.Process(int(path.read_text())) for path in told_by]


@pytest.mark.slow
def test_the_workers_of_a_killed_call_end_with_it(tmp_path):
    call, workers = call_of_endless_jobs(tmp_path, minutes=5)
    call.kill()
    call.wait()
    _, alive = psutil.wait_procs(workers, timeout=30)
    assert not alive


@pytest.mark.slow
def test_what_is_not_finished_in_time_is_dropped(tmp_path):
    call, workers = call_of_endless_jobs(tmp_path, minutes=1)
    try:
        assert call.wait(timeout=120) == 0, "the jobs would take ten minutes"
    finally:
        call.kill()  # and its workers end with it
    _, alive = psutil.wait_procs(workers, timeout=30)
    assert not alive


def squared_but_one(job):
    if job["number"] == 1:
        raise ValueError("one cannot be squared")
    return squared(job)


def squared_or_killed(job):
    if job["number"] == 1:
        os._exit(9)
    return squared(job)


@pytest.mark.slow
def test_a_worker_that_dies_is_told_of_once_and_its_table_is_kept(tmp_path, capsys):
    rows = Rows(tmp_path / "rows")
    rows.append({"number": 0, "square": 0})
    fill(rows, [{"number": 3}], squared, told, minutes=2, workers=2)
    with pytest.raises(BrokenProcessPool):
        fill(rows, [{"number": 1}, {"number": 1, "again": True}], squared_or_killed, told, minutes=2, workers=2)
    assert capsys.readouterr().err.count("terminated abruptly") == 1
    assert [row["number"] for row in rows] == [0, 3]


def refused(job):
    raise ValueError(f"{job['number']} cannot be squared")


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_job_that_fails_is_told_of_and_tried_again_later_while_the_others_go_on(tmp_path, capsys, workers):
    rows = Rows(tmp_path / "rows")
    fill(rows, JOBS, squared_but_one, told, minutes=2, workers=workers)
    assert sorted(row["number"] for row in rows) == [0, 2, 3]
    said = capsys.readouterr().err
    assert "one cannot be squared" in said and "1 of 4 failed" in said
    fill(rows, JOBS, squared, told, minutes=1)
    assert sorted(row["number"] for row in rows) == [0, 1, 2, 3]


def test_when_every_job_fails_that_is_an_error(tmp_path):
    with pytest.raises(ValueError, match="0 cannot be squared"):
        fill(Rows(tmp_path / "rows"), JOBS, refused, told, minutes=1)


def slow(job):
    time.sleep(0.2)
    return squared(job)


def test_no_job_is_begun_that_would_likely_end_too_late(tmp_path):
    rows = Rows(tmp_path / "rows")
    fill(rows, JOBS, slow, told, minutes=0.3 / 60)
    assert [row["number"] for row in rows] == [0]
