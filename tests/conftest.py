"""Databases for tests: SQLite, and a real PostgreSQL server that is started once per test session and thrown away."""

import atexit
import contextlib
import gc
import os
import shutil
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import psycopg
import pytest

from seedbed.assets.db.engine import Database
from seedbed.assets.store.home import open_home
from seedbed.base.ids import new_id
from tests.databases import Pool

# Before torch is imported anywhere: where as many tests run at once as there are cores, two threads of each spin while
# they wait for each other, and a training of 1 s of CPU takes up to 15.
if "PYTEST_XDIST_WORKER" in os.environ:
    os.environ.setdefault("OMP_NUM_THREADS", "1")

_LEFT_OUT = "PostgreSQL is not installed, so what concerns it is left out; on Debian: apt-get install postgresql."


def pytest_collection_finish() -> None:
    """What was imported stays to the end: the garbage collector would spend a tenth of the run on walks through it."""
    gc.collect()
    gc.freeze()
    atexit.register(gc.unfreeze)  # else libraries complain in the end that nobody took their objects


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The URL of a throw-away PostgreSQL server, without the name of a database."""
    programs = _postgres_programs()
    if programs is None:
        if os.environ.get("CI"):
            pytest.fail(_LEFT_OUT)
        pytest.skip(_LEFT_OUT)
    folder = Path(tempfile.mkdtemp(prefix="seedbed-postgres-"))
    try:
        yield from _serve(programs, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="session")
def postgres_template(postgres_server: str, tmp_path_factory: pytest.TempPathFactory) -> str:
    """The name of a migrated database that others are cloned from."""
    _command(postgres_server, "CREATE DATABASE template_seedbed")
    open_home(tmp_path_factory.mktemp("template"), f"{postgres_server}/template_seedbed").dispose()
    return "template_seedbed"


@pytest.fixture(scope="session")
def postgres_pool(postgres_server: str, postgres_template: str) -> Pool:
    """Fresh, migrated PostgreSQL databases."""
    return Pool(postgres_template, partial(_command, postgres_server), lambda name: f"{postgres_server}/{name}")


@pytest.fixture
def postgres_url(postgres_pool: Pool) -> Iterator[str]:
    """The URL of a fresh, migrated PostgreSQL database."""
    with postgres_pool.one() as url:
        yield url


@pytest.fixture
def empty_postgres_url(postgres_server: str) -> Iterator[str]:
    """The URL of a fresh PostgreSQL database without any table."""
    with _postgres_database(postgres_server, "template1") as url:
        yield url


@pytest.fixture(scope="session")
def make_database(
    request: pytest.FixtureRequest, sqlite_template: Path, tmp_path_factory: pytest.TempPathFactory
) -> Callable[[str], contextlib.AbstractContextManager[str]]:
    """Gives fresh, migrated databases by dialect to fixtures that live longer than a test."""

    def make(dialect: str) -> contextlib.AbstractContextManager[str]:
        if dialect == "sqlite":
            path = tmp_path_factory.mktemp("database") / "seedbed.db"
            shutil.copyfile(sqlite_template, path)
            return contextlib.nullcontext(f"sqlite:///{path}")
        server, template = (request.getfixturevalue(name) for name in ("postgres_server", "postgres_template"))
        return _postgres_database(server, template)

    return make


@pytest.fixture(scope="session")
def sqlite_template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A migrated SQLite file that others are copied from."""
    home = tmp_path_factory.mktemp("template")
    open_home(home).dispose()
    return home / "seedbed.db"


@pytest.fixture
def sqlite_url(sqlite_template: Path, tmp_path: Path) -> str:
    """The URL of a fresh, migrated SQLite database."""
    path = tmp_path / "home" / "seedbed.db"
    path.parent.mkdir(mode=0o700, exist_ok=True)
    shutil.copyfile(sqlite_template, path)
    return f"sqlite:///{path}"


@pytest.fixture(params=["sqlite", "postgresql"])
def database_url(request: pytest.FixtureRequest) -> str:
    """The URL of a fresh, migrated database of each kind."""
    url: str = request.getfixturevalue("sqlite_url" if request.param == "sqlite" else "postgres_url")
    return url


@pytest.fixture
def database(database_url: str) -> Iterator[Database]:
    """A fresh, migrated database of each kind."""
    opened = Database(database_url)
    yield opened
    opened.dispose()


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """A folder for a home; the SQLite database of the test lies in it too."""
    path = tmp_path / "home"
    path.mkdir(mode=0o700, exist_ok=True)
    return path


@contextlib.contextmanager
def _postgres_database(server: str, template: str) -> Iterator[str]:
    name = f"test_{new_id().replace('-', '')}"
    _command(server, f"CREATE DATABASE {name} TEMPLATE {template} STRATEGY file_copy")
    yield f"{server}/{name}"
    _command(server, f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")


def _postgres_programs() -> Path | None:
    folders = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: float(path.parent.name), reverse=True)
    found = shutil.which("postgres")
    candidates = [*folders, *([Path(found).resolve().parent] if found else [])]
    return next((folder for folder in candidates if (folder / "initdb").exists()), None)


def _serve(programs: Path, folder: Path) -> Iterator[str]:
    if os.geteuid() == 0:
        shutil.chown(folder, "postgres", "postgres")
    data, port = folder / "data", _free_port()
    make = [str(programs / "initdb"), "-D", str(data), "-U", "app", "-A", "trust", "-E", "UTF8", "--no-sync"]
    subprocess.run([*_as_postgres(), *make, "--locale=C.UTF-8"], check=True, cwd=folder, capture_output=True)
    options = {"listen_addresses": "127.0.0.1", "port": port, "unix_socket_directories": "", "fsync": "off"}
    flags = [part for name, value in options.items() for part in ("-c", f"{name}={value}")]
    # The server ends with the test session, however that ends.
    bound = ["setpriv", "--pdeathsig", "INT"] if shutil.which("setpriv") else []
    serve = [*_as_postgres(), *bound, str(programs / "postgres"), "-D", str(data), *flags]
    with (folder / "log").open("wb") as log, subprocess.Popen(serve, cwd=folder, stdout=log, stderr=log) as server:
        try:
            url = f"postgresql+psycopg://app@127.0.0.1:{port}"
            _wait_until_it_answers(url, server)
            yield url
        finally:
            server.terminate()
            try:
                server.wait(10)
            except subprocess.TimeoutExpired:
                server.kill()


def _as_postgres() -> list[str]:
    if os.geteuid() != 0:
        return []
    return ["setpriv", "--reuid", "postgres", "--regid", "postgres", "--init-groups"]


def _wait_until_it_answers(url: str, server: subprocess.Popen[bytes]) -> None:
    until = time.monotonic() + 60
    while True:
        try:
            return _command(url, "SELECT 1")
        except psycopg.OperationalError:
            if server.poll() is not None or time.monotonic() > until:
                raise
            time.sleep(0.05)


def _command(server: str, statement: str) -> None:
    with psycopg.connect(server.replace("+psycopg", "") + "/postgres", autocommit=True) as connection:
        connection.execute(statement.encode())


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
