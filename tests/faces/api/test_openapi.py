"""The description of the API: complete, with examples, and true (schemathesis tries it against a running server)."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from seedbed.faces.client import Client
from tests.faces.servers import Server, serving


@pytest.fixture(scope="module")
def description(me: httpx.Client) -> dict[str, Any]:
    return dict(me.get("/api/v1/openapi.json").json())


def operations(description: dict[str, Any]) -> list[tuple[str, str, dict[str, Any]]]:
    return [
        (path, method, operation) for path, each in description["paths"].items() for method, operation in each.items()
    ]


def test_every_operation_says_what_it_does_and_which_role_it_needs(description: dict[str, Any]) -> None:
    for path, method, operation in operations(description):
        assert operation["description"], (path, method)
        assert operation["x-role"] in ("anyone", "viewer", "labeller", "trainer", "operator"), (path, method)


def test_every_refusal_is_described_as_a_problem_document(description: dict[str, Any]) -> None:
    for path, method, operation in operations(description):
        refusals = {status: answer for status, answer in operation["responses"].items() if status[0] in "45"}
        assert {"400", "401", "403", "404", "422"} <= set(refusals), (path, method)
        for answer in refusals.values():
            assert list(answer["content"]) == ["application/problem+json"], (path, method)


def test_the_descriptions_carry_examples(description: dict[str, Any]) -> None:
    schemas = description["components"]["schemas"]
    with_examples = [name for name, schema in schemas.items() if "examples" in str(schema)]
    assert {"JobView", "JobAsked", "BundleView", "Problem", "TrainAsked", "UserAsked"} <= set(with_examples)


def test_the_page_to_read_loads_nothing_from_elsewhere(me: httpx.Client) -> None:
    page = me.get("/api/v1/docs").text
    assert "/api/v1/jobs/{job_id}/cancel" in page
    assert "http://" not in page and "https://" not in page and "<script" not in page


def test_names_of_operations_are_unique(description: dict[str, Any]) -> None:
    names = [operation["operationId"] for _, _, operation in operations(description)]
    assert len(names) == len(set(names))


KNOWN = """
[[operations]]
include-path-regex = "^/api/v1/projects/"
parameters = {{ "path.ref" = "fuzzed", "path.name" = "rust", "path.user" = "fuzzed" }}
[[operations]]
include-path-regex = "^/api/v1/(bundles|data|models)/"
parameters = {{ "path.ref" = "fuzzed", "path.array" = "files", "path.index" = 0 }}
[[operations]]
include-path-regex = "^/api/v1/users/"
parameters = {{ "path.ref" = "fuzzed" }}
[[operations]]
include-path-regex = "^/api/v1/jobs/"
parameters = {{ "path.job_id" = "{job}" }}
"""


@pytest.fixture(scope="module")
def known(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return things_that_exist(server, tmp_path_factory.mktemp("known"))


def things_that_exist(server: Server, folder: Path) -> Path:
    """A configuration that names things which exist, so that the search gets past 404."""
    with Client(server.url, server.token) as client:
        client.projects.create("fuzzed", classes=["rust", "well"])
        client.users.create("fuzzed", "trainer")
        (folder / "note.txt").write_text("a note")
        client.bundles.add(name="fuzzed", upload=client.data.upload(folder / "note.txt")["upload"])
        job = client.jobs.submit("sleep-and-count", params={"steps": 2, "seconds_per_step": 0.01})
        *_, last = client.follow(job["id"])
    assert last["state"] == "done"
    file = folder / "schemathesis.toml"
    file.write_text(KNOWN.format(job=job["id"]))
    return file


def schemathesis(server: Server, config: Path, *flags: str) -> None:
    """Run schemathesis against a server; it must find no failure."""
    program = Path(sys.executable).with_name("schemathesis")
    checks = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
    done = subprocess.run(
        [
            str(program), "--config-file", str(config), "run", f"{server.url}/api/v1/openapi.json",
            "--header", f"Authorization: Bearer {server.token}", "--checks", checks, "--no-color",
            "--phases", "examples,coverage,fuzzing", "--generation-database", "none", "--suppress-health-check", "all",
            "--exclude-path-regex", "/(events|backup|push|pull)$", "--request-timeout", "30", *flags,
        ],
        capture_output=True, text=True, cwd=config.parent, env={**os.environ, "HOME": str(config.parent)}, timeout=1200,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]


def test_schemathesis_finds_no_undescribed_answer_and_no_failure_of_ours(server: Server, known: Path) -> None:
    schemathesis(server, known, "--max-examples", "2", "--seed", "1")


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["2", "3"])
def test_schemathesis_finds_nothing_in_a_longer_search_either(server: Server, known: Path, seed: str) -> None:
    schemathesis(server, known, "--max-examples", "60", "--seed", seed)


@pytest.mark.slow
def test_schemathesis_finds_nothing_over_postgresql_either(postgres_url: str, tmp_path: Path) -> None:
    with serving(tmp_path / "home", SEEDBED_DATABASE=postgres_url) as server:
        schemathesis(server, things_that_exist(server, tmp_path), "--max-examples", "20", "--seed", "4")
