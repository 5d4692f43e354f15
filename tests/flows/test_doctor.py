"""What the doctor finds."""

import os
import socket
from pathlib import Path

import pytest

from seedbed.base.settings import Settings
from seedbed.flows.usecases.doctor import Check, examine, file_system_of


def found(settings: Settings, **more: Path) -> dict[str, Check]:
    return {check.name: check for check in examine(settings, **more)}


def test_a_good_machine_has_nothing_bad(settings: Settings) -> None:
    settings.home.mkdir(mode=0o700)
    checks = found(settings)
    assert {name: check.sentence for name, check in checks.items() if check.ok == "bad"} == {}
    assert {"python", "sqlite", "libraries", "home", "privacy", "disk", "database", "clock", "port"} <= set(checks)
    assert checks["privacy"].ok == "ok"


def test_every_complaint_says_what_to_do(settings: Settings) -> None:
    settings.home.mkdir(mode=0o755)
    checks = found(settings.model_copy(update={"host": "0.0.0.0"}))
    assert checks["privacy"].ok == "warn" and "chmod 700" in checks["privacy"].hint
    assert checks["exposure"].ok == "warn"
    assert all(check.hint for check in checks.values() if check.ok != "ok")


def test_a_home_that_a_newer_seedbed_wrote_is_bad(settings: Settings) -> None:
    settings.home.mkdir(mode=0o700)
    (settings.home / "version").write_text("99\n")
    check = found(settings)["home"]
    assert check.ok == "bad" and "newer Seedbed" in check.sentence and check.hint


def test_a_database_on_a_network_file_system_is_bad(settings: Settings, tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    home = settings.home.resolve()
    mounts.write_text(f"/dev/sda / ext4 rw 0 0\nserver:/export {home.parent} nfs4 rw 0 0\n")
    check = found(settings, mounts=mounts)["database"]
    assert check.ok == "bad" and "nfs4" in check.sentence and "PostgreSQL" in check.hint


def test_of_mounts_over_one_another_the_last_and_deepest_counts(tmp_path: Path) -> None:
    mounts = tmp_path / "mounts"
    place = tmp_path.resolve() / "with space"
    shown = str(place).replace(" ", "\\040")
    mounts.write_text(f"a / ext4 rw\nb {shown} nfs rw\nc {shown} xfs rw\nd /proc proc rw\n")
    assert file_system_of(place / "inner", mounts) == "xfs"
    assert file_system_of(tmp_path, mounts) == "ext4"


def test_a_port_that_is_taken_is_told(settings: Settings) -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen()
        port = listener.getsockname()[1]
        check = found(settings.model_copy(update={"port": port}))["port"]
    assert check.ok == "warn" and str(port) in check.sentence


def test_a_home_that_cannot_be_made_is_bad(settings: Settings, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    checks = found(settings.model_copy(update={"home": tmp_path / "file" / "home"}))
    assert checks["home"].ok == "bad" and "SEEDBED_HOME" in checks["home"].hint


def test_a_clock_that_is_behind_the_database_is_told(settings: Settings) -> None:
    settings.home.mkdir()
    database = settings.home / "seedbed.db"
    database.touch()
    later = database.stat().st_mtime + 86400
    os.utime(database, (later, later))
    assert found(settings)["clock"].ok == "warn"


def test_a_postgresql_that_does_not_answer_is_bad(settings: Settings) -> None:
    with socket.socket() as taken:  # bound but not listening: nobody answers there
        taken.bind(("127.0.0.1", 0))
        url = f"postgresql://nobody@127.0.0.1:{taken.getsockname()[1]}/none"
        check = found(settings.model_copy(update={"database": url}))["database"]
    assert check.ok == "bad" and "does not answer" in check.sentence


def test_a_postgresql_that_answers_is_good(settings: Settings, postgres_url: str) -> None:
    check = found(settings.model_copy(update={"database": postgres_url}))["database"]
    assert check.ok == "ok", check.sentence


@pytest.mark.parametrize("free, verdict", [(100 << 20, "bad"), (1 << 30, "warn"), (50 << 30, "ok")])
def test_a_disk_that_fills_up_is_told(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, free: int, verdict: str
) -> None:
    usage = type("Usage", (), {"total": 100 << 30, "used": 0, "free": free})
    monkeypatch.setattr("seedbed.flows.usecases.doctor.shutil.disk_usage", lambda place: usage)
    assert found(settings)["disk"].ok == verdict
