"""Files as answers: the whole, or the part that a Range header asks for."""

from starlette.datastructures import Headers
from starlette.responses import FileResponse, Response
from starlette.types import Message, Receive, Scope, Send

from seedbed.base.mistakes import shown
from seedbed.faces.api.problems import problem

_HINT = "Ask as in 'Range: bytes=0-1023', or leave the header out for the whole file."


class RangedFile(FileResponse):
    """A file; a part that cannot be had is refused with a problem document, as everything else is."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request; the words that starlette refuses with are held back for our own."""
        refusals: list[Message] = []

        async def unless_refused(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] >= 400:
                refusals.append(message)
            if not refusals:
                await send(message)

        await super().__call__(scope, receive, unless_refused)
        for refusal in refusals:
            await _refusal(Headers(scope=scope)["range"], refusal)(scope, receive, send)


def _refusal(asked: str, message: Message) -> Response:
    extent = Headers(raw=message["headers"]).get("content-range")  # only where the file is shorter: 'bytes */SIZE'
    if extent is None:
        return problem(message["status"], "invalid-input", f"The Range {shown(asked)} cannot be read.", hint=_HINT)
    detail = f"The file has {extent.rpartition('/')[2]} bytes, and {shown(asked)} is not among them."
    return problem(message["status"], "invalid-input", detail, hint=_HINT, headers={"Content-Range": extent})
