"""Fields for a new password, and what becomes of it."""

from collections.abc import Awaitable, Callable

from nicegui import ui

from seedbed.assets.access.users import User
from seedbed.base.errors import SeedbedError
from seedbed.faces.ui.elements import box, button, words
from seedbed.faces.ui.site import Visit
from seedbed.faces.ui.telling import telling


def password_fields(visit: Visit, account: User, kept: Callable[[], Awaitable[None]]) -> None:
    """For one's own account, or in a dialog for somebody else's; `kept` is called once it is theirs.

    What is refused is told beside the fields, which stay: a dialog covers the messages of the page.
    """
    own = account.id == visit.by.id
    present = _field("Present password", "current-password") if own and account.has_password else None
    new = _field("New password" if own else f"New password of {account.name}", "new-password")
    refused = words("", "p", "wrong", role="alert")

    async def keep() -> None:
        refused.set_text("")
        given = str(present.value or "") if present else ""
        try:
            users = visit.platform.users
            await visit.ask(users.set_password, account.id, str(new.value or ""), present=given)
        except SeedbedError as error:
            refused.set_text(str(error))
            return
        with telling():
            await kept()

    with box(classes="actions"):
        if not own:
            words("Leave it", "button", "button", type="button", data_closes="")
        button("Keep this password", keep, "main")


def _field(label: str, complete: str) -> ui.input:
    return ui.input(label, password=True).props(f"outlined dense autocomplete={complete}")
