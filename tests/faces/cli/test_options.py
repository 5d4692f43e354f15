"""How the texts of options are read."""

from pathlib import Path

import pytest

from seedbed.base.errors import InvalidInput
from seedbed.faces.cli.options import pairs, values
from tests.faces.cli.conftest import Seedbed


def test_values_are_json_where_they_can_be_and_text_otherwise() -> None:
    given = ["steps=400", "rate=1e-3", "name=leaf", "flags=[1,2]", "on=true", "empty=", "equation=a=b"]
    expected = {"steps": 400, "rate": 1e-3, "name": "leaf", "flags": [1, 2], "on": True, "empty": "", "equation": "a=b"}
    assert values(given, "--param") == expected


def test_every_text_without_a_name_or_a_value_is_named_at_once() -> None:
    with pytest.raises(InvalidInput) as refused:
        pairs(["steps", "=4", "ok=1"], "--param")
    assert len(refused.value.problems) == 2


def test_flags_beside_a_job_file_are_refused_and_named(seedbed: Seedbed, tmp_path: Path) -> None:
    (tmp_path / "count.yaml").write_text("step: sleep-and-count\n")
    done = seedbed("jobs", "submit", str(tmp_path / "count.yaml"), "--param", "steps=3", "--class", "te", "--detach")
    assert done.returncode != 0
    assert "--param, --class cannot be given beside a job file" in " ".join(done.stderr.split())
