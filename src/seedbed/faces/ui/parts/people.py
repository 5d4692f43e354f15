"""Who is in a project, for all who are; letting somebody in and taking somebody out, for those who run it."""

from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any

from nicegui import ui

from seedbed.assets.access.roles import Role
from seedbed.assets.access.users import Member
from seedbed.assets.projects.projects import Project
from seedbed.assets.store.events import Event
from seedbed.base.errors import NotFound, SeedbedError
from seedbed.faces.ui import words as say
from seedbed.faces.ui.elements import box, button, link, table, words
from seedbed.faces.ui.live import JOINED, LEFT
from seedbed.faces.ui.site import Visit
from seedbed.faces.ui.telling import say_so, telling

_CHANGES = (JOINED, LEFT, "user.")
_IN_THEIR_NAME = (
    "What the project does by itself, such as grouping new images and training, is done in the name of the one who "
    "began it, and then stops."
)
_ROLES = {role.value: say.may_in_words(role) for role in Role}


class ProjectPeople:
    """A fold that says who is in; what stands in it is drawn anew only where that has changed."""

    def __init__(self, visit: Visit, project: Project) -> None:
        self._visit = visit
        self._project = project
        self._runs = False
        self._drawn: tuple[object, ...] | None = None
        self._leaving = False
        with box("details", "fold", id="people"):
            self._title = words("", "summary")
            self._place = box(classes="stack")

    async def follow(self, events: Sequence[Event]) -> None:
        """Somebody came or went. Whom that was done to gets the page anew: other things are theirs now, or none."""
        if not self._leaving and any(_is_of(event, self._project.id, self._visit.by.id) for event in events):
            ui.run_javascript("location.reload()")
        elif any(event.kind.startswith(_CHANGES) for event in events):
            await self.show()

    async def show(self) -> None:
        """Bring it up to date."""
        users, project = self._visit.platform.users, self._project.id
        self._runs = (await self._visit.person()).may(Role.OPERATOR, project)
        members = await self._visit.ask(users.members, project)
        others = await self._visit.ask(users.could_join, project) if self._runs else []
        if (self._runs, members, others) == self._drawn:
            return
        self._drawn = self._runs, members, others
        self._title.set_text(say.people_in_words([member.name for member in members]))
        self._place.clear()
        with self._place:
            self._draw(members, others)

    def _draw(self, members: Sequence[Member], others: Sequence[str]) -> None:
        if members:
            with table(["Name", "In this project", ""], "stacked people"):
                for member in members:
                    self._row(member)
        words(
            "Operators of the whole service see every project, also where they are not in this list.", "p", "soft small"
        )
        if self._runs and others:
            self._form(others)
        elif self._runs:
            with box("p", "soft"):
                words("Everybody whom this service knows is in. ", "span")
                if self._visit.by.may(Role.OPERATOR):
                    link("Make an account for somebody new", "/users")
                else:
                    words("An operator can make an account for somebody new.", "span")

    def _row(self, member: Member) -> None:
        me, began = member.user == self._visit.by.id, member.user == self._project.owner
        notes = [text for text, holds in (("you", me), ("began the project", began)) if holds]
        with box("tr"):
            with box("td"):
                words(member.name, "strong")
                if notes:
                    words(f" {', '.join(notes)}", "span", "soft small")
            with box("td"):
                if self._runs and not me and not began:
                    self._choice(member)
                else:
                    words(say.may_in_words(member.role), "span")
            with box("td", "right"):
                if self._runs:
                    button("Leave…" if me else "Take out…", classes="danger", data_opens=f"out-{member.user}")
                    self._ask_out(member, me=me, began=began)

    def _choice(self, member: Member) -> None:
        choice = ui.select(_ROLES, value=member.role.value).props("dense outlined")
        choice.props["aria-label"] = f"What {member.name} may do"
        choice.on_value_change(lambda event: self._let_in(member.name, str(event.value)))

    def _ask_out(self, member: Member, *, me: bool, began: bool) -> None:
        title, name = f"out-{member.user}-title", member.name
        with box("dialog", id=f"out-{member.user}", aria_labelledby=title):
            words("Leave this project?" if me else f"Take {name} out of this project?", "h2", id=title)
            words(f"{'You' if me else name} will not see it any more. What was labelled and made stays.", "p")
            if began:
                words(_IN_THEIR_NAME, "p")
            whom = "Somebody who runs it can let you in again." if me else f"You can let {name} in again at any time."
            words(whom, "p", "soft")
            with box(classes="actions"):
                words("Stay" if me else "Leave it", "button", "button", type="button", data_closes="", autofocus="")
                out = "Leave the project" if me else f"Take {name} out"
                button(out, lambda: self._take_out(name, me=me), "danger full", data_closes="")

    def _form(self, others: Sequence[str]) -> None:
        with box("section", "stack"):
            words("Let somebody in", "h3")
            with box(classes="search"):
                person = ui.select(list(others), label="Person", with_input=True).props("outlined dense")
                role = ui.select(_ROLES, value=Role.LABELLER.value, label="They").props("outlined dense")

                async def let_in() -> None:
                    if person.value:
                        await self._let_in(str(person.value), str(role.value))
                    else:
                        ui.run_javascript("seedbed.toast('Choose first whom to let in.', {state: 'warn'})")

                button("Let them in", let_in, "main")

    async def _let_in(self, name: str, role: str) -> None:
        await self._do(f"{name} {_ROLES[role]} now.", self._visit.platform.users.add_member, name, Role(role))

    async def _take_out(self, name: str, *, me: bool) -> None:
        self._leaving = me
        said = "" if me else f"{name} is out. What they labelled stays."
        self._leaving = await self._do(said, self._visit.platform.users.remove_member, name) and me

    async def _do(self, said: str, usecase: Callable[..., object], *args: Any) -> bool:
        """Whether it went well. The list is asked for anew in any case: a refusal tells that it has changed."""
        done = False
        with self._visit.client:  # the row that was pressed is gone when the list is drawn anew
            with telling():
                await self._visit.ask(usecase, self._project.id, *args)
                done = True
                if said:
                    say_so(said)
            with suppress(SeedbedError):  # what is refused was told already
                await self._again()
        return done

    async def _again(self) -> None:
        self._drawn = None  # a choice that was refused stands there still
        try:
            await self.show()
        except NotFound:  # the project is theirs no longer
            ui.navigate.to("/")


def _is_of(event: Event, project: str, person: str) -> bool:
    return event.kind in (JOINED, LEFT) and event.project == project and event.data.get("user") == person
