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
