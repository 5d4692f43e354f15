"""Bad input answers with a problem document that names every mistake, and never with a failure of ours."""

import httpx
import pytest

JSON = {"content-type": "application/json"}


def is_problem(answer: httpx.Response, status: int) -> bool:
    document = answer.json()
    return (
        answer.status_code == document["status"] == status
        and answer.headers["content-type"] == "application/problem+json"
        and document["type"] == f"urn:seedbed:problem:{document['code']}"
        and bool(document["detail"])
    )


def test_every_mistake_of_one_request_is_named_at_once(me: httpx.Client) -> None:
    answer = me.post("/api/v1/jobs", json={"steb": "train", "grace": -1, "cls": "xx", "retries": "many"})
    assert is_problem(answer, 422)
    problems = answer.json()["problems"]
    assert len(problems) == 5
    assert any("steb" in problem for problem in problems)


def test_what_the_store_knows_to_be_wrong_is_named_with_what_cannot_be_read(me: httpx.Client) -> None:
    wrong = {"step": "decode", "params": {"size": 1}, "resources": {"gpus": 999}, "inputs": {"data": "no"}, "seed": -1}
    answer = me.post("/api/v1/jobs", json=wrong)
    assert is_problem(answer, 422)
    for part in ("'seed' is -1", "'size' is 1", "input 'data' is 'no'", "999 gpus"):
        assert part in answer.text
    flow = me.post("/api/v1/jobs/flow", json={"jobs": [{"step": "decod", "cls": "x"}, {**wrong, "name": "second"}]})
    assert is_problem(flow, 422)
    assert [problem.partition(":")[0] for problem in flow.json()["problems"]] == ["job 1"] * 2 + ["second"] * 4


@pytest.mark.parametrize(
    "body",
    [
        b'{"name":',
        b"",
        b"null",
        b"[]",
        b'"text"',
        b"\xff\xfe\xfd",
        b'{"name": "\\ud800"}',
        b'{"name": "a\\u0000b"}',
        b'{"na\\u0000me": "a"}',
        b'{"name": NaN}',
        b'{"name": 1e999}',
        b'{"name": "a", "classes": [' + b"9" * 5000 + b"]}",
        b'{"name": 123456789012345678901234567890}',
        b"[" * 50_000,
        b'{"a":' * 50_000,
        b'{"name": "' + b"x" * 100_000 + b'"}',
    ],
)
def test_a_body_that_is_no_good_json_is_refused(me: httpx.Client, body: bytes) -> None:
    answer = me.post("/api/v1/projects", content=body, headers=JSON)
    assert is_problem(answer, 400) or is_problem(answer, 422)


@pytest.mark.parametrize("kind", ["text/plain", "application/xml", "multipart/form-data", ""])
def test_another_content_type_is_refused(me: httpx.Client, kind: str) -> None:
    answer = me.post("/api/v1/projects", content=b'{"name": "a"}', headers={"content-type": kind})
    assert is_problem(answer, 422)


@pytest.mark.parametrize(
    "address",
    [
        "/jobs?limit=0",
        "/jobs?limit=99999999999999999999999999",
        "/jobs?offset=-1",
        "/jobs?state=nonsense",
        "/jobs?flow=%00",
        "/bundles?tag=no-equals-sign",
        "/bundles?name=%00",
        "/events?after=-1",
        "/events?wait=999999",
        "/events?wait=nan",
        "/data/x/images/999999999999999999999/thumbnail",
        "/jobs/%00",
    ],
)
def test_a_bad_address_is_refused(me: httpx.Client, address: str) -> None:
    assert is_problem(me.get(f"/api/v1{address}"), 422)


@pytest.mark.parametrize(
    "address", ["/nothing", "/jobs/none", "/bundles/none", "/data/none", "/projects/none", "/list/none"]
)
def test_what_does_not_exist_is_404(me: httpx.Client, address: str) -> None:
    assert is_problem(me.get(f"/api/v1{address}"), 404)


def test_bytes_of_a_path_that_are_no_text_are_not_found(me: httpx.Client) -> None:
    assert is_problem(me.get("/api/v1/projects/%ff%fe"), 404)


def test_a_wrong_method_says_which_are_right(me: httpx.Client) -> None:
    answer = me.put("/api/v1/jobs")
    assert is_problem(answer, 405)
    assert answer.headers["allow"] == "GET, POST"


def test_an_unknown_name_answers_with_near_matches(me: httpx.Client) -> None:
    answer = me.post("/api/v1/jobs", json={"step": "sleep-and-cuont"})
    assert is_problem(answer, 422) or is_problem(answer, 404)
    assert "sleep-and-count" in answer.text
