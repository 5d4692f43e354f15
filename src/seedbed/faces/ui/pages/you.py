"""One's own account in a team: who one is here, a new password, API tokens, where mail goes."""

from nicegui import ui

from seedbed.assets.access.roles import Role
from seedbed.faces.ui.elements import box, button, card, words
from seedbed.faces.ui.layout import frame
from seedbed.faces.ui.parts.alone import alone
from seedbed.faces.ui.parts.password import password_fields
from seedbed.faces.ui.parts.tokens import OwnTokens
from seedbed.faces.ui.site import Visit, page
from seedbed.faces.ui.telling import say_so, telling

_TOKENS_GO_ON = "Your API tokens go on: revoke those that others may have, further down."


@page("/you", role=Role.VIEWER)
async def you(visit: Visit) -> None:
    """What everybody may change about themselves."""
    with frame(visit, "You") as lead:
        if not visit.platform.settings.team:
            alone(lead)
            return
        account = await visit.ask(visit.platform.users.get, visit.by.id)
        lead.set_text(f"You are {account.name}, and your role is {account.role.value}. Operators give roles.")
        with card("A new password", "own-account"):
            words(f"It ends all your sessions: sign in again with it. {_TOKENS_GO_ON}", "p", "soft")
            password_fields(visit, account, _sign_in_again)
        with card("API tokens"):
            tokens = OwnTokens(visit)
        with card("Mail when your work ends", "own-account"):
            _mail(visit, account.mail)
        await tokens.show()


async def _sign_in_again() -> None:
    ui.navigate.to("/sign-in")


def _mail(visit: Visit, now: str) -> None:
    if not visit.platform.settings.mail_server:
        words("This server sends no mail so far: that needs the setting mail_server.", "p", "soft")
    field = ui.input("Your address (empty: no mail)", value=now).props("outlined dense type=email autocomplete=email")

    async def keep() -> None:
        with telling():
            await visit.ask(visit.platform.users.set_mail, visit.by.id, str(field.value or "").strip())
            say_so("The address is kept.")

    with box(classes="row"):
        button("Keep this address", keep)
