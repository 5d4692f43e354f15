"""People, for operators: who may do what, and who did what."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from typing import Any

from nicegui import ui

from seedbed.assets.access.audit import AuditLine
from seedbed.assets.access.roles import Role
from seedbed.assets.access.users import User
from seedbed.base.errors import SeedbedError
from seedbed.faces.ui import words as say
from seedbed.faces.ui.elements import box, button, card, table, words
from seedbed.faces.ui.layout import frame
from seedbed.faces.ui.parts.alone import alone
from seedbed.faces.ui.parts.password import password_fields
from seedbed.faces.ui.site import Visit, page
from seedbed.faces.ui.telling import say_so, telling

_MAY = {
    Role.VIEWER: "looks at everything outside projects, and in the projects they are members of",
    Role.LABELLER: "also labels images",
    Role.TRAINER: "also brings images, trains, runs and cancels jobs, makes projects",
    Role.OPERATOR: "does everything, and lets people in",
}
_LINES = 50


@page("/users", role=Role.OPERATOR)
async def users(visit: Visit) -> None:
    """Accounts, roles, the audit log."""
    with frame(visit, "People") as lead:
        if not visit.platform.settings.team:
            alone(lead)
            return
        shown = People(visit, lead.set_text)
        with card("Accounts"):
            shown.place = box()
        with card("Let somebody in"):
            _form(shown)
        with card("What the roles may do"), box("dl", "facts"):
            for role, text in _MAY.items():
                words(role.value, "dt")
                words(text, "dd")
        with card("Who did what lately"):
            shown.log = box()
        await shown.again()


class People:
    """The list of accounts, with what can be done to each."""

    place: ui.element
    log: ui.element

    def __init__(self, visit: Visit, answer: Callable[[str], object]) -> None:
        self._visit = visit
        self._answer = answer

    async def again(self) -> None:
        """Ask and show anew."""
        users = self._visit.platform.users
        people = await self._visit.ask(users.list)
        self._show(people)
        lines = await self._visit.ask(users.audit, limit=_LINES)
        self.log.clear()
        with self.log:
            _audit(lines, {one.id: one.name for one in people})

    def _show(self, people: list[User]) -> None:
        active = [one for one in people if not one.disabled]
        self._answer(f"{say.plural(len(active), 'person', 'people')} may come in.")
        self.place.clear()
        with self.place, table(["Name", "Role", "Mail", ""], "stacked people"):
            for one in people:
                self._row(one)

    def _row(self, one: User) -> None:
        with box("tr"):
            words(one.name, "td")
            with box("td"), box("label", "field"):
                words(f"Role of {one.name}", "span", "unseen")
                choice = ui.select([role.value for role in Role], value=one.role.value).props("dense outlined")
                choice.props["aria-label"] = f"Role of {one.name}"
                choice.on_value_change(lambda event, name=one.id: self._set_role(name, str(event.value)))
                choice.set_enabled(not one.disabled)
            words(one.mail, "td", "soft")
            with box("td", "right"), box(classes="row end"):
                self._doings(one)

    def _doings(self, one: User) -> None:
        if one.disabled:
            words("disabled", "span", "state")
            button("Let in again…", data_opens=f"enable-{one.id}")
            self._ask_enable(one)
            return
        if one.id != self._visit.by.id:  # one's own is kept on one's own page
            button("New password…", data_opens=f"password-{one.id}")
            self._ask_password(one)
        button("Disable…", classes="danger", data_opens=f"disable-{one.id}")
        self._ask_disable(one)

    def _ask_password(self, one: User) -> None:
        async def kept() -> None:
            say_so(f"{one.name} signs in with the new password now.")
            await self.again()

        with box("dialog", id=f"password-{one.id}", aria_label=f"A new password for {one.name}"):
            words(f"A new password for {one.name}", "h2")
            words(f"It ends their sessions, but their API tokens go on. {_ending_tokens(one)}", "p")
            words("Tell it to them in another way than by mail.", "p")
            password_fields(self._visit, one, kept)

    def _ask_disable(self, one: User) -> None:
        async def disable() -> None:
            await self._do(self._visit.platform.users.disable, one.id)

        with box("dialog", id=f"disable-{one.id}", aria_label=f"Disable {one.name}"):
            words(f"Disable {one.name}?", "h2")
            words("Their sessions and tokens open no door any more. What they made and labelled stays.", "p")
            with box(classes="actions"):
                words("Leave it", "button", "button", type="button", data_closes="", autofocus="")
                button(f"Disable {one.name}", disable, "danger full", data_closes="")

    def _ask_enable(self, one: User) -> None:
        async def enable() -> None:
            await self._do(self._visit.platform.users.enable, one.id)

        with box("dialog", id=f"enable-{one.id}", aria_label=f"Let {one.name} in again"):
            words(f"Let {one.name} in again?", "h2")
            words(f"Their password and all their API tokens open the door again. {_ending_tokens(one)}", "p")
            with box(classes="actions"):
                words("Leave it", "button", "button", type="button", data_closes="", autofocus="")
                button(f"Let {one.name} in again", enable, "main", data_closes="")

    async def _set_role(self, name: str, role: str) -> None:
        await self._do(self._visit.platform.users.set_role, name, Role(role))

    async def create(self, name: str, role: str, password: str, mail: str) -> bool:
        """One more account."""
        return await self._do(self._visit.platform.users.create, name, Role(role), password=password, mail=mail)

    async def _do(self, usecase: Callable[..., object], *args: Any, **options: Any) -> bool:
        done = False
        with telling():
            await self._visit.ask(usecase, *args, **options)
            done = True
        with suppress(SeedbedError):  # whoever just lost the role is told once
            await self.again()
        return done


def _ending_tokens(one: User) -> str:
    return f"Which there are: seedbed users tokens {one.name}. To end one: seedbed users revoke ID."


def _form(people: People) -> None:
    with box(classes="search"):
        name = ui.input("Name").props("outlined dense autocomplete=off")
        password = ui.input("First password", password=True).props("outlined dense autocomplete=new-password")
        mail = ui.input("Mail (may stay empty)").props("outlined dense autocomplete=off")
        role = ui.select([one.value for one in Role], value=Role.LABELLER.value, label="Role").props("outlined dense")

        async def create() -> None:
            if await people.create(name.value, role.value, password.value, mail.value):
                for field in (name, password, mail):
                    field.set_value("")

        button("Make the account", create, "main")


def _audit(lines: Sequence[AuditLine], names: Mapping[str, str]) -> None:
    if not lines:
        words("Nothing was done yet.", "p", "soft")
        return
    with table(["When", "Who", "What", "About", "Outcome"], "stacked"):
        for line in lines:
            with box("tr"):
                words(say.moment(line.at), "td", "soft")
                words(line.who, "td")
                words(line.action, "td")
                words(names.get(line.subject, line.subject), "td", "soft wrap")
                words(line.outcome, "td")
