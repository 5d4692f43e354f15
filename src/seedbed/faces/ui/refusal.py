"""The page that says no: a plain document with the sentence, the hint and a way back. It needs no script."""

from html import escape

from starlette.responses import HTMLResponse

from seedbed.base.errors import SeedbedError
from seedbed.faces.ui.theme import head, icon

_COMMAND = "seedbed "  # what a hint for the command line speaks of
_TITLES = {401: "Please sign in", 403: "Not with this role", 404: "Not here", 409: "That clashes", 503: "Not just now"}


def refusal(error: SeedbedError) -> HTMLResponse:
    """An error as a page."""
    problems = "".join(f"<li>{escape(problem)}</li>" for problem in error.problems)
    title = _TITLES.get(error.status, "That did not work")
    listed = f'<ul class="points">{problems}</ul>' if problems else ""
    return _document(title, error.message, _hint(error), error.status, listed)


def _hint(error: SeedbedError) -> str:
    """What to do; the command that lists what there is says nothing to somebody in a browser."""
    return "" if error.status == 404 and _COMMAND in error.hint else error.hint


def crash() -> HTMLResponse:
    """What is shown when we made a mistake ourselves; the log has the details."""
    return _document(
        "That should not have happened", "The page could not be built.", "The server's log says why; try again.", 500
    )


def nothing_here() -> HTMLResponse:
    """For an address that leads nowhere."""
    return _document("Not here", "There is no page at this address.", "", 404)


def _document(title: str, message: str, hint: str, status: int, more: str = "") -> HTMLResponse:
    hint = f'<p class="soft">{escape(hint)}</p>' if hint else ""
    return HTMLResponse(
        f'<!doctype html><html lang="en"><head><meta charset="utf-8">'
        f'<meta name="viewport" content="width=device-width, initial-scale=1"><title>{title} · Seedbed</title>{head()}'
        f'</head><body><main class="content" style="margin: 8vh auto; max-width: 640px">'
        f'<a class="brand" style="padding: 0" href="/"><span class="icon">{icon("sprout")}</span>Seedbed</a>'
        f"<h1>{title}</h1>"
        f'<p class="lead">{escape(message)}</p>{more}{hint}<p><a class="button main" href="/">Go to the first page</a>'
        f"</p></main></body></html>",
        status,
    )
