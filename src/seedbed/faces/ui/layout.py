"""The frame around every page: navigation, tools, the dialog of shortcuts, and news for the person."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from json import dumps

from nicegui import ui
from nicegui.elements.mixins.text_element import TextElement

from seedbed.assets.access.roles import Role
from seedbed.assets.store.events import Event
from seedbed.base.errors import NotFound
from seedbed.faces.ui import theme
from seedbed.faces.ui import words as say
from seedbed.faces.ui.elements import box, icon, link, path, tool, words
from seedbed.faces.ui.live import JOINED, Refresh
from seedbed.faces.ui.news import news_of
from seedbed.faces.ui.site import Visit

ENDINGS = ("job.done", "job.failed", "job.cancelled")


@dataclass(frozen=True)
class Way:
    """One entry of the navigation."""

    text: str
    href: str
    icon: str
    role: Role = Role.VIEWER
    team_only: bool = False
    key: str = ""


WAYS = (
    Way("Home", "/", "home", key="h"),
    Way("Queue", "/queue", "queue", key="q"),
    Way("Data sets", "/data", "data", key="d"),
    Way("Starting points", "/zoo", "zoo", key="z"),
    Way("Bundles", "/bundles", "bundle", key="b"),
    Way("Machine", "/doctor", "machine", role=Role.OPERATOR, key="m"),
    Way("People", "/users", "people", role=Role.OPERATOR, team_only=True),
)


@contextmanager
def frame(visit: Visit, title: str, *, crumbs: Sequence[tuple[str, str]] = ()) -> Iterator[TextElement]:
    """Everything around a page's content; gives the sentence at the top, which answers the page's question."""
    ui.page_title(f"{title} · Seedbed")
    ui.add_head_html(theme.head())
    link("Skip to the content", "#main", "skip")
    with box(classes="frame"):
        _side(visit)
        with box(classes="content", id="main", tabindex="-1"):
            with box("header", "top"):
                if crumbs:
                    with box("nav", "crumbs", aria_label="Where this is"):
                        for text, href in crumbs:
                            link(text, href)
                            words("/", "span", aria_hidden="true")
                words(title, "h1")
                lead = words("", "p", "lead")
            yield lead
    _shortcuts()
    ui.run_javascript("seedbed.ready()")
    visit.site.live.watch(visit.client, visit.by, _teller(visit))


def _side(visit: Visit) -> None:
    with box(classes="aside"), box("nav", "side", aria_label="Main"):
        with box("a", "brand", href="/", aria_label="Seedbed, first page"):
            icon("sprout")
            words("Seedbed", "span")
        tool("menu", "Menu", data_menu="", aria_expanded="false").classes("menu-button")
        with box("ul", "links"):
            for way in WAYS:
                if visit.by.may(way.role) and (visit.platform.settings.team or not way.team_only):
                    _way(way, current=visit.here == way.href)
        with box(classes="foot"):
            with box(classes="tools"):
                tool("bell", "Tell me when my jobs end", data_bell="", aria_pressed="false")
                tool("theme", "Colours", data_theme_button="")
                tool("keys", "Shortcuts", data_opens="shortcuts")
            _person(visit)


def _way(way: Way, *, current: bool) -> None:
    marks = {"aria_current": "page"} if current else {}
    with box("li"), box("a", href=way.href, **marks):
        icon(way.icon)
        words(way.text, "span")


def _person(visit: Visit) -> None:
    with box(classes="person"):
        words(visit.by.name[:1], classes="avatar", aria_hidden="true")
        with box(classes="who"):
            if visit.platform.settings.team:
                with box():
                    link(visit.by.name, "/you", "own", title="Your account")
                words(visit.by.role.value, classes="soft small")
            else:
                words(visit.by.name)
                words("this machine", classes="soft small")
        if visit.platform.settings.team:
            with (
                box("form", method="post", action="/sign-out"),
                box("button", "plain", aria_label="Sign out", title="Sign out"),
            ):
                icon("leave")


def _shortcuts() -> None:
    keys = {"?": "This list", "/": "Search, where there is a search", "t": "Other colours"}
    with box("dialog", id="shortcuts", aria_labelledby="shortcuts-title"):
        words("Shortcuts", "h2", id="shortcuts-title")
        with box("dl", "keys"):
            for way in WAYS:
                if way.key:
                    with box("dt"):
                        words("g", "kbd")
                        words(" ", "span")
                        words(way.key, "kbd")
                    words(way.text, "dd")
            for key, what in keys.items():
                with box("dt"):
                    words(key, "kbd")
                words(what, "dd")
        with box(classes="actions"):
            words("Close", "button", "button", type="button", data_closes="", autofocus="")


def _teller(visit: Visit) -> Refresh:
    """Tells the owner of a job, on every page they have open, that it has ended; and whom a project lets in, so."""

    async def tell(events: Sequence[Event]) -> None:
        for event in events:
            with suppress(NotFound):
                if event.kind in ENDINGS and event.data.get("owner") in (visit.by.id, visit.by.name):
                    await _tell_ending(visit, event.subject)
                elif event.kind == JOINED and event.data["user"] == visit.by.id:
                    await _tell_joined(visit, event)

    return tell


async def _tell_ending(visit: Visit, job_id: str) -> None:
    job = await visit.shared(visit.platform.jobs.get, job_id)
    place = await visit.shared(visit.platform.projects.get, job.project) if job.project else None
    if news := news_of(job, place.name if place else ""):
        options = {"href": news.href, "state": job.state, "tag": job.id}
        ui.run_javascript(f"seedbed.tell({dumps(news.text)}, {dumps(options)})")


async def _tell_joined(visit: Visit, event: Event) -> None:
    place = await visit.shared(visit.platform.projects.get, event.project)
    text = f"In the project '{place.name}' you {say.may_in_words(Role(str(event.data['role'])))} now."
    options = {"href": path("projects", place.id), "tag": f"joined {place.id}"}
    ui.run_javascript(f"seedbed.tell({dumps(text)}, {dumps(options)})")
