"""Commands as people type them: each is a process of its own."""

import json
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.faces.servers import run

Seedbed = Callable[..., subprocess.CompletedProcess[str]]


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cli") / "home"


@pytest.fixture(scope="module")
def seedbed(home: Path) -> Seedbed:
    """Run a command in process on a home."""
    return lambda *arguments, **more: run(home, *arguments, **more)


@pytest.fixture(scope="module")
def asked(seedbed: Seedbed) -> Callable[..., Any]:
    """Run a command with --json and read its answer."""

    def ask(*arguments: str, **more: str) -> Any:
        done = seedbed(*arguments, "--json", **more)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return ask
