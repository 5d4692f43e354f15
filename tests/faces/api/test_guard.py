"""Nothing passes the guard without a key, and no other site's page can use the keys of a browser."""

from collections.abc import Callable

import httpx
import pytest
from fastapi import FastAPI
from fastapi.routing import APIRoute

from seedbed.faces.api.app import role_of
from seedbed.faces.api.guard import OPEN_PATHS
from tests.faces.api.conftest import TOKEN

Calls = Callable[..., httpx.Client]
COOKIE = f"seedbed-80={TOKEN}"
OURS = "http://localhost"


@pytest.mark.parametrize("path", ["/", "/api/v1/health", "/api/v1/docs", "/api/v1/openapi.json", "/nothing", "/api/x"])
def test_nothing_is_served_without_a_key(calls: Calls, path: str) -> None:
    answer = calls().get(path)
    assert answer.status_code == 401
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["www-authenticate"] == "Bearer"


@pytest.mark.parametrize(
    "value", ["Bearer wrong", "Bearer ", "Basic abc", f"Bearer {TOKEN}x", f"Bearer {TOKEN[:-1]}", "Bearer \xe4"]
)
def test_a_wrong_key_is_no_key(calls: Calls, value: str) -> None:
    assert calls().get("/api/v1/health", headers={"authorization": value.encode("latin-1")}).status_code == 401


def test_a_browser_without_a_key_is_led_to_the_sign_in_page(calls: Calls) -> None:
    answer = calls(accept="text/html").get("/jobs")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/sign-in?next=%2Fjobs"


def test_only_the_two_doors_are_open_and_they_are_declared_so(solo: FastAPI) -> None:
    open_routes = {
        route.path
        for route in solo.routes
        if isinstance(route, APIRoute) and (declared := role_of(route)) is not None and declared.role is None
    }
    assert open_routes == set(OPEN_PATHS)


def test_the_token_in_an_address_becomes_a_cookie_and_leaves_the_address(calls: Calls) -> None:
    answer = calls().get(f"/some/page?a=1&token={TOKEN}&b=%26")
    assert answer.status_code == 303
    assert answer.headers["location"] == "/some/page?a=1&b=%26"
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith(f"seedbed-80={TOKEN};")
    assert "HttpOnly" in cookie and "SameSite=strict" in cookie and "Path=/" in cookie


def test_an_address_with_a_wrong_token_sets_no_cookie(calls: Calls) -> None:
    answer = calls().get("/api/v1/health?token=wrong")
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers


@pytest.mark.parametrize("path", ["//evil.example/x", "/%2F%2Fevil.example", "/%5C%5Cevil.example"])
def test_the_redirect_never_leads_to_another_site(calls: Calls, path: str) -> None:
    answer = calls().get(f"http://localhost{path}?token={TOKEN}")
    assert answer.status_code == 303
    assert answer.headers["location"].startswith("/evil.example")


def test_the_cookie_opens_the_door(calls: Calls) -> None:
    assert calls(cookie=COOKIE).get("/api/v1/health").status_code == 200


def test_the_cookie_of_a_server_on_another_port_does_not(calls: Calls) -> None:
    assert calls(cookie=f"seedbed-81={TOKEN}").get("/api/v1/health").status_code == 401


def test_a_foreign_host_name_is_refused_even_with_the_key(calls: Calls) -> None:
    answer = calls(authorization=f"Bearer {TOKEN}", host="evil.example").get("/api/v1/health")
    assert answer.status_code == 403
    assert "evil.example" in answer.json()["detail"]


@pytest.mark.parametrize("origin", ["https://evil.example", "null", "http://localhost:9999"])
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_a_foreign_origin_is_refused_even_with_the_key(calls: Calls, origin: str, method: str) -> None:
    answer = calls(authorization=f"Bearer {TOKEN}", origin=origin).request(method, "/api/v1/health")
    assert answer.status_code == 403


def test_an_unsafe_request_by_cookie_must_prove_that_it_comes_from_our_page(calls: Calls) -> None:
    body = {"name": "no"}
    assert calls(cookie=COOKIE).post("/api/v1/projects", json=body).status_code == 403
    assert calls(cookie=COOKIE, sec_fetch_site="cross-site").post("/api/v1/projects", json=body).status_code == 403
    assert calls(cookie=COOKIE, origin="https://evil.example").post("/api/v1/projects", json=body).status_code == 403


def test_our_own_page_may_use_the_cookie(calls: Calls) -> None:
    assert calls(cookie=COOKIE, origin=OURS).post("/api/v1/projects", json={"name": "a"}).status_code == 201
    ours = calls(cookie=COOKIE, sec_fetch_site="same-origin")
    assert ours.post("/api/v1/projects", json={"name": "b"}).status_code == 201


def test_a_program_with_a_token_needs_no_such_proof(me: httpx.Client) -> None:
    assert me.post("/api/v1/projects", json={"name": "c"}).status_code == 201


@pytest.mark.parametrize("path", ["/api/v1/health", "/sign-in", "/nothing"])
def test_every_answer_carries_the_security_headers(me: httpx.Client, path: str) -> None:
    headers = me.get(path).headers
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["x-frame-options"] == "DENY"
    assert "frame-ancestors 'none'" in headers["content-security-policy"]
    assert headers["referrer-policy"] == "same-origin"


def test_a_body_beyond_the_limit_is_refused_by_its_announced_length(me: httpx.Client) -> None:
    answer = me.post("/api/v1/projects", content=b"x" * (17 << 20), headers={"content-type": "application/json"})
    assert answer.status_code == 413
    assert answer.json()["code"] == "too-large"


def test_a_body_beyond_the_limit_is_refused_while_it_comes_when_no_length_was_announced(me: httpx.Client) -> None:
    pieces = (b" " * (1 << 20) for _ in range(18))
    answer = me.post("/api/v1/projects", content=pieces, headers={"content-type": "application/json"})
    assert answer.status_code == 413
    assert answer.json()["code"] == "too-large"


def test_the_token_can_be_typed_at_the_sign_in_page(calls: Calls) -> None:
    browser = calls(origin=OURS)
    assert "token" in browser.get("/sign-in?next=/jobs").text
    wrong = browser.post("/sign-in", data={"token": "wrong", "next": "/jobs"})
    assert wrong.status_code == 401 and "set-cookie" not in wrong.headers
    right = browser.post("/sign-in", data={"token": TOKEN, "next": "/jobs"})
    assert right.status_code == 303 and right.headers["location"] == "/jobs"
    assert TOKEN in right.headers["set-cookie"]


@pytest.mark.parametrize(
    "following", ["https://evil.example", "//evil.example", "/\\evil.example", "javascript:x", "\t//evil"]
)
def test_the_sign_in_page_never_leads_to_another_site(calls: Calls, following: str) -> None:
    answer = calls(origin=OURS).post("/sign-in", data={"token": TOKEN, "next": following})
    location = answer.headers["location"]
    assert location.startswith("/") and not location.startswith(("//", "/\\"))


def test_what_the_sign_in_page_is_given_is_not_run_as_html(calls: Calls) -> None:
    page = calls().get("/sign-in", params={"next": "/'><script>alert(1)</script>"}).text
    assert "<script" not in page
