"""The description of the API: complete, with examples, and true (schemathesis tries it against a running server)."""

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import psutil
import pytest
from jsonschema_rs import Draft202012Validator
from pydantic import BaseModel

from seedbed.assets.db.engine import Database
from seedbed.faces.api import labelling_requests, project_requests, requests, zoo_requests
from seedbed.faces.client import Client
from seedbed.flows.asked import Faulty, JobAsked
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


def schemas_of(content: dict[str, Any]) -> list[dict[str, Any]]:
    """The schemas of a JSON body; of a list those of its items."""
    found = [kind["schema"] for name, kind in content.items() if name == "application/json" and kind["schema"]]
    return [schema.get("items", schema) for schema in found]


def examples_of(schema: dict[str, Any], description: dict[str, Any]) -> list[Any]:
    name = schema.get("$ref", "").rpartition("/")[2]
    examples = (description["components"]["schemas"][name] if name else schema).get("examples", [])
    validator = Draft202012Validator({**schema, "components": description["components"]})
    for example in examples:
        assert example not in ({}, None), name
        validator.validate(example)
    return list(examples)


def test_every_request_body_has_an_example_that_its_schema_allows(description: dict[str, Any]) -> None:
    bodies = [operation.get("requestBody", {}).get("content", {}) for _, _, operation in operations(description)]
    schemas = [schema for body in bodies for schema in schemas_of(body)]
    assert len(schemas) > 30
    assert [schema for schema in schemas if not examples_of(schema, description)] == []


def test_every_answer_that_is_a_record_has_an_example_that_its_schema_allows(description: dict[str, Any]) -> None:
    answers = [answer for _, _, operation in operations(description) for answer in operation["responses"].items()]
    bodies = [answer.get("content", {}) for status, answer in answers if status.startswith("2")]
    records = [schema for body in bodies for schema in schemas_of(body) if "$ref" in schema]
    assert len(records) > 40
    assert [schema["$ref"] for schema in records if not examples_of(schema, description)] == []


def test_the_examples_of_requests_are_what_the_server_reads() -> None:
    kinds = [
        kind
        for module in (requests, project_requests, labelling_requests, zoo_requests)
        for kind in vars(module).values()
    ]
    bodies = {kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)} - {
        requests.Asked,
        BaseModel,
    }
    assert len(bodies) > 30
    for body in bodies:
        (example,) = body.model_json_schema()["examples"]
        read = body.model_validate(example)
        assert read.model_fields_set == set(example)
        jobs = read.jobs if isinstance(read, requests.FlowAsked) else []
        assert not any(isinstance(job.spec(), Faulty) for job in jobs)


def test_the_job_of_the_description_can_be_submitted(me: httpx.Client) -> None:
    (example,) = JobAsked.model_json_schema()["examples"]
    assert me.post("/api/v1/jobs", json=example).status_code == 201


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


@pytest.fixture
def still(tmp_path: Path) -> Iterator[tuple[Server, Path]]:
    """A server with things that exist, and their configuration; the hundred jobs that come now only wait."""
    with serving(tmp_path / "home") as server:
        config = things_that_exist(server, tmp_path)
        scheduler, database = server.scheduler(), Database(f"sqlite:///{server.home / 'seedbed.db'}")
        assert scheduler
        with database.write():  # so that it is not stopped while it writes
            scheduler.suspend()
            while scheduler.status() != psutil.STATUS_STOPPED:  # a signal takes its time, and the lock must wait for it
                time.sleep(0.01)
            time.sleep(0.2)  # for its other threads
        database.dispose()
        yield server, config
        scheduler.kill()


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


def test_schemathesis_finds_no_undescribed_answer_and_no_failure_of_ours(still: tuple[Server, Path]) -> None:
    schemathesis(*still, "--max-examples", "2", "--seed", "1")


@pytest.mark.slow
@pytest.mark.parametrize("seed", ["2", "3"])
def test_schemathesis_finds_nothing_in_a_longer_search_either(server: Server, known: Path, seed: str) -> None:
    schemathesis(server, known, "--max-examples", "60", "--seed", seed)


@pytest.mark.slow
def test_schemathesis_finds_nothing_over_postgresql_either(postgres_url: str, tmp_path: Path) -> None:
    with serving(tmp_path / "home", SEEDBED_DATABASE=postgres_url) as server:
        schemathesis(server, things_that_exist(server, tmp_path), "--max-examples", "20", "--seed", "4")
