"""A field for a new password, and what becomes of it."""

from collections.abc import Awaitable, Callable

from nicegui import ui

from seedbed.faces.ui.elements import box, button, words
from seedbed.faces.ui.site import Visit
from seedbed.faces.ui.telling import telling


def password_field(visit: Visit, user: str, kept: Callable[[], Awaitable[None]], *, of: str = "") -> None:
    """For an account, `of` somebody else where that is asked in a dialog; `kept` is called once it is theirs.

    What is refused is told, and the field stays.
    """
    field = ui.input(f"New password of {of}" if of else "New password", password=True)
    field.props("outlined dense autocomplete=new-password")

    async def keep() -> None:
        with telling():
            await visit.ask(visit.platform.users.set_password, user, str(field.value or ""))
            field.set_value("")
            await kept()

    with box(classes="actions"):
        if of:
            words("Leave it", "button", "button", type="button", data_closes="")
        button("Keep this password", keep, "main")
