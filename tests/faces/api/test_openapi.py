"""The description of the API: complete, with examples, and true (schemathesis tries it against a running server)."""

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import httpx
import pytest

from tests.faces.servers import Server


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


def schemathesis(server: Server, folder: Path, *, examples: int, phases: str, seed: int) -> str:
    """Run schemathesis against a server; its report. It must find no failure."""
    program = Path(sys.executable).with_name("schemathesis")
    checks = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
    done = subprocess.run(
        [
            str(program), "run", f"{server.url}/api/v1/openapi.json",
            "--header", f"Authorization: Bearer {server.token}",
            "--checks", checks, "--phases", phases, "--max-examples", str(examples), "--seed", str(seed),
            "--exclude-path-regex", "/(events|backup|doctor|session|store/.*)$", "--no-color",
            "--request-timeout", "30",
            "--generation-database", "none", "--suppress-health-check", "all",
        ],
        capture_output=True, text=True, cwd=folder, env={**os.environ, "HOME": str(folder)}, timeout=1200,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-2000:]
    return done.stdout


def test_schemathesis_finds_no_answer_that_is_not_described_and_no_failure_of_ours(
    server: Server, tmp_path: Path
) -> None:
    schemathesis(server, tmp_path, examples=5, phases="examples,fuzzing", seed=1)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [2, 3])
def test_schemathesis_finds_nothing_in_a_longer_search_either(server: Server, tmp_path: Path, seed: int) -> None:
    schemathesis(server, tmp_path, examples=60, phases="examples,coverage,fuzzing", seed=seed)
