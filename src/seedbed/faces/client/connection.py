"""One connection to a server: sends requests, and turns problem documents back into our errors."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from urllib.parse import parse_qs, quote, urlsplit, urlunsplit

import httpx

from seedbed.base.errors import SeedbedError, Unauthenticated, Unavailable, family

_PREFIX = "/api/v1"
_BY_CODE: dict[str, type[SeedbedError]] = {"error": SeedbedError, **{member.code: member for member in family()}}
_BY_STATUS = {member.status: member for member in reversed(family())}


class Connection:
    """Requests to one server with one token. Safe to use from any thread.

    The address may be the one that `seedbed up` prints, with its token in it.
    """

    def __init__(
        self, url: str, token: str = "", *, transport: httpx.BaseTransport | None = None, timeout: float = 60.0
    ) -> None:
        self.url, in_address = _parted(url)
        token = token or in_address
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        self._http = httpx.Client(
            base_url=self.url, headers=headers, transport=transport, timeout=timeout, trust_env=transport is None
        )

    def close(self) -> None:
        """Close the connection."""
        self._http.close()

    def get(self, path: str, **query: Any) -> Any:
        """GET; arguments that are None are left out."""
        return self._json("GET", path, params=_given(query))

    def post(self, path: str, body: Mapping[str, Any] | None = None) -> Any:
        """POST of a JSON object."""
        return self._json("POST", path, json=body)

    def put(self, path: str, body: Mapping[str, Any]) -> Any:
        """PUT of a JSON object."""
        return self._json("PUT", path, json=body)

    def patch(self, path: str, body: Mapping[str, Any]) -> Any:
        """PATCH with a JSON object."""
        return self._json("PATCH", path, json=body)

    def delete(self, path: str) -> Any:
        """DELETE."""
        return self._json("DELETE", path)

    def send(self, path: str, **options: Any) -> Any:
        """POST of anything else: `files`, `content`; without a limit of time, since uploads take long."""
        return self._json("POST", path, timeout=None, **options)

    def wait(self, path: str, seconds: float, **query: Any) -> Any:
        """GET that the server answers only after up to that many seconds."""
        return self._json("GET", path, params=_given(query), timeout=seconds + 30)

    @contextmanager
    def stream(self, path: str) -> Iterator[httpx.Response]:
        """GET of a body that is read piece by piece."""
        with self._says_when_unreachable(), self._http.stream("GET", _PREFIX + path) as response:
            if response.is_error:
                response.read()
                raise _refusal(response)
            yield response

    def _json(self, method: str, path: str, **options: Any) -> Any:
        with self._says_when_unreachable():
            response = self._http.request(method, _PREFIX + path, **options)
        if response.is_error:
            raise _refusal(response)
        return response.json() if response.content else None

    @contextmanager
    def _says_when_unreachable(self) -> Iterator[None]:
        try:
            yield
        except (httpx.TransportError, httpx.InvalidURL) as error:
            raise Unavailable(
                f"The server at {self.url} does not answer: {error or type(error).__name__}.",
                hint="Is it running (seedbed up), and is SEEDBED_URL right?",
            ) from error


def error_of(response: httpx.Response) -> SeedbedError:
    """The error that a refusal stands for."""
    try:
        document = response.json()
    except ValueError:
        document = None
    if not isinstance(document, dict):
        document = {"detail": f"The server answered {response.status_code} {response.reason_phrase}."}
    fallback = _BY_STATUS.get(response.status_code, SeedbedError)
    member = _BY_CODE.get(str(document.get("code")), fallback)
    return member(
        str(document.get("detail", "")),
        hint=str(document.get("hint", "")),
        problems=[str(problem) for problem in document.get("problems", ())],
    )


def _refusal(response: httpx.Response) -> SeedbedError:
    """The error, with what somebody can do about it who has no page to sign in on."""
    error = error_of(response)
    if isinstance(error, Unauthenticated):
        hint = "Set SEEDBED_TOKEN to a token of this server: seedbed up prints one in its address; in a team it is made"
        return Unauthenticated(error.message, hint=f"{hint} with seedbed users token NAME.")
    return error


def _parted(url: str) -> tuple[str, str]:
    """An address without its query, and the token that stood there."""
    try:
        found = urlsplit(url)
    except ValueError:  # the first request says what is wrong with it
        return url, ""
    token = parse_qs(found.query).get("token", [""])[0]
    return urlunsplit(found._replace(query="", fragment="")).rstrip("/"), token


def part(text: str) -> str:
    """A name as one part of a path; never one that leads to what is above it."""
    quoted = quote(text, safe="") or "%20"
    return quoted.replace(".", "%2E") if quoted in (".", "..") else quoted


def _given(query: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in query.items() if value is not None}
