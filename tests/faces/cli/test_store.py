"""Bundles and contexts by command: what is damaged is said, what stays is named, contexts are looked into and go."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from seedbed.assets.store.content import HEAL
from tests.faces.cli.conftest import Asked, Seedbed
from tests.faces.servers import Server

DAMAGED = 10
DOCS = Path(__file__).parents[3] / "docs"


@pytest.fixture
def own(tmp_path: Path) -> tuple[str, str]:
    """A home of this test alone."""
    return "--home", str(tmp_path / "own")


def added(seedbed: Seedbed, own: tuple[str, str], tmp_path: Path, name: str, **files: str) -> Any:
    """A bundle of small files."""
    folder = tmp_path / f"{name} {len(list(tmp_path.iterdir()))}"
    folder.mkdir()
    for file, text in files.items():
        (folder / file).write_text(text)
    done = seedbed(*own, "store", "add", *sorted(map(str, folder.iterdir())), "--name", name, "--json")
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def file_of(home: Path, bundle: Any) -> Path:
    """Where a bundle's first file lies."""
    digest = bundle["arrays"]["files"]["items"][0]["digest"]
    return home / "files" / digest[:2] / digest


def spoil(home: Path, bundle: Any) -> None:
    """Change two bytes of a bundle's first file."""
    path = file_of(home, bundle)
    path.chmod(0o644)
    path.write_bytes(b"XX" + path.read_bytes()[2:])


def test_damage_is_told_by_every_command_that_meets_it(seedbed: Seedbed, own: tuple[str, str], tmp_path: Path) -> None:
    made = added(seedbed, own, tmp_path, "plants", a="leaf")
    added(seedbed, own, tmp_path, "whole", b="whole")
    assert "all are as they were written" in seedbed(*own, "store", "verify").stdout
    spoil(tmp_path / "own", made)
    got = seedbed(*own, "store", "get", "plants", str(tmp_path / "out"))
    assert got.returncode == DAMAGED and not list((tmp_path / "out").rglob("a"))
    seen = seedbed(*own, "store", "verify")
    assert seen.returncode == DAMAGED and f"  - plants ({made['uuid']}): The bytes of file" in seen.stdout
    assert "{" not in seen.stdout and "seedbed store pull" in seen.stderr
    kept = seedbed(*own, "backup", str(tmp_path / "all.tar"))
    assert kept.returncode == DAMAGED and "'plants'" in kept.stderr and (tmp_path / "all.tar").exists()
    back = seedbed("--home", str(tmp_path / "new"), "restore", str(tmp_path / "all.tar"))
    assert back.returncode == DAMAGED and "'plants'" in back.stderr and "everything again" not in back.stdout
    assert seedbed("--home", str(tmp_path / "new"), "store", "get", "whole", str(tmp_path / "out")).returncode == 0


def test_damage_is_told_to_scripts_with_the_report_and_the_exit_code(
    seedbed: Seedbed, own: tuple[str, str], tmp_path: Path
) -> None:
    made = added(seedbed, own, tmp_path, "plants", a="leaf")
    spoil(tmp_path / "own", made)
    seen = seedbed(*own, "store", "verify", "--json")
    assert seen.returncode == DAMAGED and json.loads(seen.stdout)["findings"][0]["bundle"] == made["uuid"]
    kept = seedbed(*own, "backup", str(tmp_path / "all.tar"), "--json")
    assert kept.returncode == DAMAGED and len(json.loads(kept.stdout)["problems"]) == 1
    back = seedbed("--home", str(tmp_path / "new"), "restore", str(tmp_path / "all.tar"), "--json")
    assert back.returncode == DAMAGED and len(json.loads(back.stdout)["problems"]) == 1


def test_what_is_damaged_comes_back_from_a_remote_and_from_the_same_files(
    seedbed: Seedbed, own: tuple[str, str], tmp_path: Path
) -> None:
    made = added(seedbed, own, tmp_path, "plants", a="leaf")
    assert seedbed(*own, "context", "remote", "local", str(tmp_path / "remote")).returncode == 0
    assert seedbed(*own, "store", "push").returncode == 0
    spoil(tmp_path / "own", made)
    assert json.loads(seedbed(*own, "store", "pull", "--check", "--json").stdout)["healed"] == 1
    assert seedbed(*own, "store", "verify").returncode == 0
    spoil(tmp_path / "own", made)
    added(seedbed, own, tmp_path, "again", a="leaf")
    assert seedbed(*own, "store", "verify").returncode == 0


@pytest.mark.parametrize("advice", [HEAL, (DOCS / "training.md").read_text()], ids=["the hint", "the page"])
def test_the_advice_on_a_lost_file_works_as_it_is_typed(
    seedbed: Seedbed, own: tuple[str, str], tmp_path: Path, advice: str
) -> None:
    made = added(seedbed, own, tmp_path, "plants", a="leaf")
    file_of(tmp_path / "own", made).unlink()
    folder = next(path for path in tmp_path.iterdir() if path.name.startswith("plants"))
    (add,) = set(re.findall(r"seedbed (store add(?: [A-Z]+| --\w+)*)", advice))
    given = {"FOLDER": str(folder), "NAME": "again"}
    done = seedbed(*own, *(given.get(word, word) for word in add.split()))
    assert done.returncode == 0, done.stderr
    assert seedbed(*own, "store", "verify").returncode == 0
    job = json.loads(seedbed(*own, "jobs", "submit", "sleep-and-count", "-p", "steps=1", "--json").stdout)
    (again,) = set(re.findall(r"seedbed (jobs rerun(?: [A-Z]+)? --again)", advice))
    done = seedbed(*own, *(job["id"] if word == "JOB" else word for word in again.split()))
    assert done.returncode == 0, done.stderr


def test_damaged_bytes_are_not_served_over_the_network(
    asked: Asked, seedbed: Seedbed, server: Server, tmp_path: Path
) -> None:
    away = {"SEEDBED_URL": server.url, "SEEDBED_TOKEN": server.token}
    (tmp_path / "sent.txt").write_text("sent and spoilt")
    made = asked("store", "add", str(tmp_path / "sent.txt"), "--name", "spoilt", **away)
    spoil(server.home, made)
    done = seedbed("store", "get", "spoilt", str(tmp_path / "out"), **away)
    assert done.returncode == DAMAGED and "not what it was" in done.stderr
    assert not [path for path in (tmp_path / "out").rglob("*") if path.is_file()]
    asked("store", "rm", "spoilt", "--yes", **away)


def test_rm_names_the_bundles_for_which_files_stay_and_the_versions_that_are_left(
    seedbed: Seedbed, own: tuple[str, str], tmp_path: Path
) -> None:
    added(seedbed, own, tmp_path, "peas", a="both", b="peas alone")
    for text in ("first", "second", "third"):
        added(seedbed, own, tmp_path, "beans", a="both", c=text)
    done = seedbed(*own, "store", "rm", "beans", "--yes")
    first, shared, older = done.stdout.splitlines()
    assert first == "1 bundle removed for good; 1 file (5 B) freed."
    assert shared == "1 file stays, because other bundles have the same bytes: beans, peas."
    assert older == "2 older versions of beans stay; to remove all: seedbed store rm beans --all-versions"
    refused = seedbed(*own, "store", "rm", "beans", "--all-versions", input="n\n")
    assert refused.returncode != 0 and "and 1 older version for good?" in refused.stdout
    first, shared = seedbed(*own, "store", "rm", "beans", "--all-versions", "--yes").stdout.splitlines()
    assert first == "2 bundles removed for good; 2 files (11 B) freed."
    assert shared == "1 file stays, because other bundles have the same bytes: peas."
    assert seedbed(*own, "store", "rm", "peas", "--yes").stdout == "1 bundle removed for good; 2 files (14 B) freed.\n"


def test_a_uuid_is_removed_alone_without_a_word_of_other_versions(
    seedbed: Seedbed, own: tuple[str, str], tmp_path: Path
) -> None:
    old = added(seedbed, own, tmp_path, "beans", a="old")
    added(seedbed, own, tmp_path, "beans", a="new")
    assert seedbed(*own, "store", "rm", old["uuid"], "--yes").stdout.count("\n") == 1


def test_find_looks_into_the_context_in_use_unless_others_are_asked_for(
    seedbed: Seedbed, own: tuple[str, str], tmp_path: Path
) -> None:
    added(seedbed, own, tmp_path, "at-home", a="1")
    for words in (("create", "away"), ("use", "away")):
        assert seedbed(*own, "context", *words).returncode == 0
    added(seedbed, own, tmp_path, "abroad", a="2")

    def found(*options: str) -> list[str]:
        return [one["name"] for one in json.loads(seedbed(*own, "store", "find", *options, "--json").stdout)]

    assert found() == ["abroad"] and found("--context", "local") == ["at-home"]
    assert found("--all-contexts") == ["abroad", "at-home"]
    assert "--all-contexts" in seedbed(*own, "store", "find", "at-home").stdout
    assert seedbed(*own, "store", "find", "--context", "local", "--all-contexts").returncode == 2


def test_a_context_goes_and_its_bundles_stay(seedbed: Seedbed, own: tuple[str, str], tmp_path: Path) -> None:
    for words in (("create", "away"), ("use", "away")):
        assert seedbed(*own, "context", *words).returncode == 0
    added(seedbed, own, tmp_path, "abroad", a="2")
    assert seedbed(*own, "context", "remove", "away", "--yes").returncode == 6, "it is in use"
    assert seedbed(*own, "context", "remove", "local", "--yes").returncode == 6
    assert seedbed(*own, "context", "use", "local").returncode == 0
    assert seedbed(*own, "context", "remove", "away", input="n\n").returncode != 0
    done = seedbed(*own, "context", "remove", "away", "--yes")
    assert done.returncode == 0 and "(1) stay" in done.stdout
    assert [one["name"] for one in json.loads(seedbed(*own, "context", "list", "--json").stdout)] == ["local"]
    assert seedbed(*own, "store", "show", "abroad").returncode == 0
    assert seedbed(*own, "context", "remove", "away", "--yes").returncode == 5


@pytest.mark.parametrize("name", ["../x", "a/b", "..", "a?b", "a#b"])
def test_names_that_no_address_can_carry_are_refused_in_a_sentence(seedbed: Seedbed, tmp_path: Path, name: str) -> None:
    (tmp_path / "a.txt").write_text("a")
    for command in (
        ("store", "add", str(tmp_path / "a.txt"), "--name", name),
        ("context", "create", name),
        ("jobs", "submit", "sleep-and-count", "--name", name),
    ):
        done = seedbed(*command)
        assert done.returncode == 2 and repr(name) in done.stderr, command
