"""Commands as people type them; most run within the tests' process, which saves the imports of each."""

import contextlib
import io
import json
import os
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from seedbed.faces.cli.main import main
from tests.faces.servers import environment

Seedbed = Callable[..., "Done"]
Asked = Callable[..., Any]


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    returncode: int
    stdout: str
    stderr: str


class Pipe(io.StringIO):
    """Standard output that is no terminal."""

    def fileno(self) -> int:
        raise OSError


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("cli") / "home"


@pytest.fixture(scope="module")
def seedbed(home: Path) -> Seedbed:
    """Run a command on a home."""

    def run(*arguments: str, input: str = "", **more: str) -> Done:
        out, error, code = Pipe(), Pipe(), 0
        given = _given(environment(home, **more), ["seedbed", *arguments], input)
        with given, contextlib.redirect_stdout(out), contextlib.redirect_stderr(error):
            try:
                main()
            except SystemExit as end:
                code = end.code if isinstance(end.code, int) else 0 if end.code is None else 1
        return Done(code, out.getvalue(), error.getvalue())

    return run


@contextlib.contextmanager
def _given(variables: dict[str, str], arguments: list[str], typed: str) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in [name for name in os.environ if name.startswith("SEEDBED_")]:
            patch.delenv(name)
        for name, value in variables.items():
            patch.setenv(name, value)
        patch.setattr(sys, "argv", arguments)
        patch.setattr(sys, "stdin", io.StringIO(typed))
        yield


@pytest.fixture(scope="module")
def asked(seedbed: Seedbed) -> Asked:
    """Run a command with --json and read its answer."""

    def ask(*arguments: str, **more: str) -> Any:
        done = seedbed(*arguments, "--json", **more)
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)

    return ask
