"""Files out of the store by command, in process and over the network."""

from pathlib import Path

import pytest

from tests.faces.cli.conftest import Asked, Seedbed
from tests.faces.servers import Server


@pytest.fixture(scope="module")
def notes(asked: Asked, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A bundle of two files, one of them in a folder."""
    folder = tmp_path_factory.mktemp("source") / "notes"
    (folder / "deep").mkdir(parents=True)
    (folder / "a.txt").write_text("a")
    (folder / "deep" / "b.txt").write_text("bb" * 50_000)
    return str(asked("store", "add", str(folder), "--name", "notes")["uuid"])


def test_the_files_of_a_bundle_come_out_as_they_went_in(asked: Asked, notes: str, tmp_path: Path) -> None:
    out = asked("store", "get", notes, str(tmp_path / "out"))
    assert (out["uuid"], out["files"], out["size"]) == (notes, 2, 100_001)
    found = {file.relative_to(tmp_path / "out").as_posix() for file in (tmp_path / "out").rglob("*") if file.is_file()}
    assert found == {"files/notes/a.txt", "files/notes/deep/b.txt"}
    assert (tmp_path / "out/files/notes/deep/b.txt").read_text() == "bb" * 50_000


def test_what_is_there_stays_unless_force_is_given(seedbed: Seedbed, notes: str, tmp_path: Path) -> None:
    mine = tmp_path / "files" / "notes" / "a.txt"
    mine.parent.mkdir(parents=True)
    mine.write_text("mine")
    refused = seedbed("store", "get", notes, str(tmp_path))
    assert refused.returncode == 6 and "a.txt" in refused.stderr and "--force" in refused.stderr
    assert mine.read_text() == "mine" and not (mine.parent / "deep").exists()
    assert seedbed("store", "get", notes, str(tmp_path), "--force").returncode == 0
    assert mine.read_text() == "a"


def test_a_link_out_of_the_folder_is_not_followed(seedbed: Seedbed, notes: str, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "files").symlink_to(tmp_path / "elsewhere")
    assert seedbed("store", "get", notes, str(tmp_path / "out")).returncode == 8
    assert not list((tmp_path / "elsewhere").iterdir())


def test_an_array_that_is_not_there_is_answered_with_the_near_ones(
    seedbed: Seedbed, notes: str, tmp_path: Path
) -> None:
    done = seedbed("store", "get", notes, str(tmp_path), "--array", "file")
    assert done.returncode == 5 and "'files'" in done.stderr


def test_over_the_network_the_files_come_too(asked: Asked, seedbed: Seedbed, server: Server, tmp_path: Path) -> None:
    away = {"SEEDBED_URL": f"{server.url}/?token={server.token}"}
    (tmp_path / "sent.txt").write_text("sent")
    made = asked("store", "add", str(tmp_path / "sent.txt"), "--name", "sent-file", **away)
    done = seedbed("store", "get", made["uuid"], str(tmp_path / "back"), **away)
    assert done.returncode == 0 and "1 file of sent-file" in done.stdout
    assert (tmp_path / "back" / "files" / "sent.txt").read_text() == "sent"


def test_a_server_without_a_token_says_which_variable_is_missing(seedbed: Seedbed, server: Server) -> None:
    done = seedbed("jobs", "list", SEEDBED_URL=server.url)
    assert done.returncode == 3 and "SEEDBED_TOKEN" in done.stderr


def test_a_backup_of_a_server_is_not_promised_to_this_machine(
    asked: Asked, seedbed: Seedbed, server: Server, tmp_path: Path
) -> None:
    away = {"SEEDBED_URL": server.url, "SEEDBED_TOKEN": server.token}
    done = seedbed("backup", str(tmp_path / "all.tar"), **away)
    assert done.returncode == 2 and "Leave TARGET out" in done.stderr
    assert Path(asked("backup", **away)["target"]).parent == server.home / "backups"


def test_the_index_is_made_anew_with_the_bundles_that_it_had(asked: Asked, notes: str) -> None:
    before = [one["uuid"] for one in asked("store", "find", "--all")]
    report = asked("store", "rebuild")
    assert report["bundles"] == len(before) and report["problems"] == []
    assert [one["uuid"] for one in asked("store", "find", "--all")] == before
    assert asked("store", "show", notes)["name"] == "notes"


def test_a_name_like_no_other_is_not_answered_as_if_the_store_were_empty(seedbed: Seedbed, notes: str) -> None:
    done = seedbed("store", "show", "zebra")
    assert "Nothing has a name like it." in done.stderr and "None exists" not in done.stderr
