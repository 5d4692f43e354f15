"""Names for shells, read from the file beside whoever writes it."""

import sqlite3
from pathlib import Path

import pytest

from seedbed.assets.access.roles import SOLO
from seedbed.assets.db.glance import names_in
from seedbed.base.settings import Settings
from seedbed.flows.platform import Platform
from seedbed.runtime.jobs.spec import JobSpec


def test_names_that_begin_so_are_found_while_a_service_has_the_file_open_and_after(tmp_path: Path) -> None:
    file = tmp_path / "home" / "seedbed.db"
    with Platform.open(Settings(home=tmp_path / "home", port=0)) as platform:
        for name in ("wheat", "weeds", "Wein", "bean_leaves", "bean leaves"):
            platform.projects.create(name, by=SOLO)
        job = platform.jobs.submit(JobSpec("sleep-and-count", name="first"), by=SOLO)
        assert names_in(file, "projects", "we") == ["weeds"]
    assert names_in(file, "projects", "bean_") == ["bean_leaves"]
    assert names_in(file, "projects", "", most=2) == ["Wein", "bean leaves"]
    assert names_in(file, "jobs", "") == names_in(file, "jobs", "f") == ["first"]
    assert names_in(file, "jobs", job.id[:12]) == [job.id]
    assert [names_in(file, noun, "") for noun in ("bundles", "data sets", "models")] == [[], [], []]


def test_a_file_that_is_not_there_is_not_made(tmp_path: Path) -> None:
    with pytest.raises(sqlite3.Error):
        names_in(tmp_path / "none.db", "projects", "")
    assert list(tmp_path.iterdir()) == []
