"""Speaking to an ASGI app in this process as if it were a server: the command line without one."""

import queue
from collections.abc import Iterator
from types import TracebackType
from typing import Any, Self

import anyio
import httpx
from anyio import to_thread
from anyio.from_thread import BlockingPortal, start_blocking_portal

_END = None


class InProcessTransport(httpx.BaseTransport):
    """An httpx transport that calls an ASGI app on an event loop of its own, in a thread of its own.

    Bodies go both ways piece by piece. One event loop lives as long as the transport; close it in the end.
    """

    def __init__(self, app: Any) -> None:
        self._app = app
        self._context = start_blocking_portal()
        self._portal: BlockingPortal = self._context.__enter__()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None = None,
        error: BaseException | None = None,
        trace: TracebackType | None = None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the event loop."""
        self._context.__exit__(None, None, None)

    def handle_request(self, request: httpx.Request) -> httpx.Response:
        """Call the app, and answer as soon as its headers are there."""
        call = _Call(request)
        future = self._portal.start_task_soon(call.run, self._app)
        status, headers = call.start.get() or (0, [])
        if status == 0:
            future.result()
            raise httpx.RemoteProtocolError("The app ended without an answer.", request=request)
        return httpx.Response(status, headers=headers, stream=_Pieces(call))


class _Pieces(httpx.SyncByteStream):
    def __init__(self, call: "_Call") -> None:
        self._call = call

    def __iter__(self) -> Iterator[bytes]:
        while (piece := self._call.body.get()) is not _END:
            yield piece

    def close(self) -> None:
        self._call.closed = True


class _Call:
    """One request on its way through the app."""

    def __init__(self, request: httpx.Request) -> None:
        self.start: queue.SimpleQueue[tuple[int, list[tuple[bytes, bytes]]] | None] = queue.SimpleQueue()
        self.body: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self.closed = False
        self._request = request
        self._content = iter(request.stream)  # type: ignore[arg-type]
        self._sent = False

    async def run(self, app: Any) -> None:
        try:
            await app(self._scope(), self._receive, self._send)
        finally:
            self.start.put(None)
            self.body.put(_END)

    def _scope(self) -> dict[str, Any]:
        url = self._request.url
        return {
            "type": "http",
            "asgi": {"version": "3.0"},
            "http_version": "1.1",
            "method": self._request.method,
            "scheme": url.scheme,
            "path": url.path,
            "raw_path": url.raw_path.partition(b"?")[0],
            "root_path": "",
            "query_string": url.query,
            "headers": [(name.lower(), value) for name, value in self._request.headers.raw],
            "client": ("127.0.0.1", 0),
            "server": (url.host, url.port or 80),
            "state": {},
        }

    async def _receive(self) -> dict[str, Any]:
        if self._sent:
            await anyio.sleep_forever() if not self.closed else None
            return {"type": "http.disconnect"}
        piece = await to_thread.run_sync(next, self._content, _END)
        self._sent = piece is _END
        return {"type": "http.request", "body": piece or b"", "more_body": not self._sent}

    async def _send(self, message: dict[str, Any]) -> None:
        if message["type"] == "http.response.start":
            self.start.put((message["status"], list(message["headers"])))
        elif message.get("body") and not self.closed:
            self.body.put(message["body"])
        if message["type"] == "http.response.body" and not message.get("more_body"):
            self.body.put(_END)
