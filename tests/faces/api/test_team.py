"""A team's server from its first start: set-up, sign-in, sessions, websockets."""

import json

import httpx
import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect

from tests.faces.servers import Server

PASSWORD = "a long password 1"


@pytest.fixture(scope="module")
def operator(team_server: Server) -> httpx.Client:
    """The first operator, set up and signed in as a browser would."""
    browser = team_server.browser()
    form = {"code": team_server.set_up, "name": "ada", "password": PASSWORD}
    assert browser.post("/set-up", data={**form, "code": "wrong"}).status_code == 403
    short = browser.post("/set-up", data={**form, "password": "a"})
    assert short.status_code == 422 and short.text.count("<li>") == 2  # too short, and one letter again and again
    assert browser.post("/set-up", data=form).status_code == 303
    return browser


def socket_address(server: Server) -> str:
    return server.url.replace("http", "ws") + "/_nicegui_ws/socket.io/?EIO=4&transport=websocket"


def cookie_of(browser: httpx.Client) -> str:
    return "; ".join(f"{name}={value}" for name, value in browser.cookies.items())


def test_the_first_operator_is_signed_in_with_a_cookie_that_names_the_port(
    operator: httpx.Client, team_server: Server
) -> None:
    assert operator.get("/api/v1/session").json()["role"] == "operator"
    assert list(operator.cookies) == [f"seedbed-{team_server.port}"]


def test_the_set_up_link_works_once(operator: httpx.Client, team_server: Server) -> None:
    again = team_server.http(token="").post(
        "/api/v1/set-up", json={"code": team_server.set_up, "name": "eve", "password": PASSWORD}
    )
    assert again.status_code == 403


def test_a_wrong_password_opens_nothing(operator: httpx.Client, team_server: Server) -> None:
    answer = team_server.http(token="").post("/api/v1/session", json={"name": "ada", "password": "not that one"})
    assert answer.status_code == 401
    assert "set-cookie" not in answer.headers


def test_signing_out_ends_the_session_at_the_server(operator: httpx.Client, team_server: Server) -> None:
    browser = team_server.browser()
    assert browser.post("/api/v1/session", json={"name": "ada", "password": PASSWORD}).status_code == 201
    stolen = cookie_of(browser)
    assert browser.delete("/api/v1/session").status_code == 204
    assert not browser.cookies
    thief = team_server.http(token="")
    assert thief.get("/api/v1/session", headers={"Cookie": stolen}).status_code == 401


def test_ones_own_password_is_changed_with_the_present_one_and_anothers_without(
    operator: httpx.Client, team_server: Server
) -> None:
    operator.post("/api/v1/users", json={"name": "flora", "role": "viewer", "password": PASSWORD}).raise_for_status()
    token = operator.post("/api/v1/users/flora/tokens", json={"name": "t"}).json()["token"]
    flora = team_server.http(token=token)

    def change(who: httpx.Client, name: str, **body: str) -> httpx.Response:
        return who.put(f"/api/v1/users/{name}/password", json=body)

    assert change(flora, "flora", password="a long password 2").status_code == 422
    wrong = change(flora, "flora", password="a long password 2", present="not that one")
    assert wrong.status_code == 422 and wrong.json()["detail"] == "That is not your present password."
    assert change(flora, "flora", password="a long password 2", present=PASSWORD).status_code == 204
    assert change(operator, "flora", password="a long password 3").status_code == 204
    assert change(operator, "ada", password="a long password 3").status_code == 422
    assert flora.get("/api/v1/session").status_code == 200  # a token outlives both


def test_the_websocket_opens_for_a_session_from_our_own_page(operator: httpx.Client, team_server: Server) -> None:
    headers = {"Cookie": cookie_of(operator)}
    with connect(socket_address(team_server), origin=team_server.url, additional_headers=headers) as socket:  # type: ignore[arg-type]
        assert json.loads(str(socket.recv(5)).lstrip("0123456789"))["sid"]


@pytest.mark.parametrize(
    ("origin", "with_cookie"),
    [(None, False), ("own", False), ("https://evil.example", True), ("null", True), (None, True)],
)
def test_the_websocket_opens_for_nobody_else(
    operator: httpx.Client, team_server: Server, origin: str | None, with_cookie: bool
) -> None:
    headers = {"Cookie": cookie_of(operator)} if with_cookie else {}
    with pytest.raises(InvalidStatus) as refused:
        connect(
            socket_address(team_server),
            origin=team_server.url if origin == "own" else origin,  # type: ignore[arg-type]
            additional_headers=headers,
        )
    assert refused.value.response.status_code == 403


@pytest.mark.parametrize("role", ["viewer", "labeller", "trainer", "operator"])
def test_the_websocket_opens_for_every_role_that_has_a_token(
    operator: httpx.Client, team_server: Server, role: str
) -> None:
    operator.post("/api/v1/users", json={"name": f"socket-{role}", "role": role}).raise_for_status()
    token = operator.post(f"/api/v1/users/socket-{role}/tokens", json={"name": "t"}).json()["token"]
    with connect(socket_address(team_server), additional_headers={"Authorization": f"Bearer {token}"}) as socket:
        assert socket.recv(5)
    operator.post(f"/api/v1/users/socket-{role}/disable").raise_for_status()
    with pytest.raises(InvalidStatus):
        connect(socket_address(team_server), additional_headers={"Authorization": f"Bearer {token}"})


def test_a_page_under_a_foreign_name_gets_no_websocket(operator: httpx.Client, team_server: Server) -> None:
    with pytest.raises(InvalidStatus):
        connect(
            socket_address(team_server),
            additional_headers={"Cookie": cookie_of(operator), "Host": "evil.example"},
            origin="http://evil.example",  # type: ignore[arg-type]
        )


def test_static_files_of_the_pages_are_not_served_without_a_key(team_server: Server) -> None:
    assert team_server.http(token="").get("/_nicegui/static/nicegui.css").status_code == 401


def test_the_audit_log_knows_who_signed_in(operator: httpx.Client) -> None:
    lines = operator.get("/api/v1/audit", params={"action": "sign-in"}).json()
    assert {line["outcome"] for line in lines} == {"ok", "refused"}
