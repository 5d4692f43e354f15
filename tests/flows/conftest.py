"""A small data set, and a platform over a fresh home."""

import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from seedbed.assets.access.roles import SOLO
from seedbed.assets.data.synthetic import write_leaves
from seedbed.base.settings import Settings
from seedbed.flows.platform import Platform
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.spec import JobSpec


@pytest.fixture(scope="session")
def leaves(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder of 60 leaves; the truth lies beside it in leaves-truth.csv."""
    folder = tmp_path_factory.mktemp("images") / "leaves"
    write_leaves(folder, 10, seed=3, size=48)
    return folder


@pytest.fixture
def truth(leaves: Path) -> Path:
    """The hidden truth of the leaves."""
    return leaves.parent / "leaves-truth.csv"


@pytest.fixture
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    """Of an empty home; of a copy, where a file of tests has filled one for all of them in its fixture `prepared`."""
    if "prepared" in request.fixturenames:
        shutil.copytree(request.getfixturevalue("prepared"), tmp_path / "home")
    return Settings(home=tmp_path / "home", port=0, cpus=4)  # tests share cores: a busy machine is still enough


@pytest.fixture
def platform(settings: Settings) -> Iterator[Platform]:
    with Platform.open(settings) as opened:
        yield opened


@pytest.fixture
def finish(platform: Platform) -> Callable[..., list[Job]]:
    """Run specifications to their end."""

    def run(*specs: JobSpec) -> list[Job]:
        jobs = platform.jobs.submit_flow(list(specs), by=SOLO)
        return platform.run_until_done([job.id for job in jobs])

    return run


def count(steps: int = 2, **more: Any) -> JobSpec:
    """A quick job."""
    return JobSpec("sleep-and-count", params={"steps": steps, "seconds_per_step": 0}, **more)
