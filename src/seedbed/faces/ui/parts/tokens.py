"""One's own API tokens: which there are, a new one that is shown once, and making one worthless."""

import time
from contextlib import suppress

from nicegui import ui

from seedbed.assets.access.tokens import Token
from seedbed.base.errors import SeedbedError
from seedbed.faces.ui import words as say
from seedbed.faces.ui.elements import box, button, table, words
from seedbed.faces.ui.site import Visit
from seedbed.faces.ui.telling import say_so, telling

_LIVES = {30: "30 days", 90: "90 days", 365: "a year", 0: "until it is revoked"}
_USUAL = 90
_WHAT = (
    "With a token, scripts and the command line on other machines do what you may do. Whoever holds it can do so too: "
    "make one for each use, and revoke it when that is over."
)


class OwnTokens:
    """The list, the form, and for a moment the text of the token that was just made."""

    def __init__(self, visit: Visit) -> None:
        self._visit = visit
        self._making = False
        words(_WHAT, "p", "soft")
        self._list = box()
        self._new = box("section", "note ok stack tight", role="status")
        self._new.set_visibility(False)
        self._form()

    async def show(self) -> None:
        """Ask and show anew."""
        found = await self._visit.ask(self._visit.platform.users.tokens, self._visit.by.id)
        self._list.clear()
        with self._list:
            if not found:
                words("You have no token yet.", "p")
                return
            now = time.time()
            with table(["For", "So far", "It works", ""], "stacked people"):
                for token in found:
                    self._row(token, now)

    def _row(self, token: Token, now: float) -> None:
        with box("tr"):
            words(token.name, "td", "wrap")
            used = f"used {say.ago(token.used, now)}" if token.used else "not used yet"
            words(f"made {say.ago(token.created, now)}, {used}", "td", "soft", title=say.moment(token.created))
            words(end_in_words(token.expires, now), "td", "soft")
            with box("td", "right"):
                button("Revoke…", classes="danger", data_opens=f"revoke-{token.id}")
                self._ask_revoke(token)

    def _ask_revoke(self, token: Token) -> None:
        title = f"revoke-{token.id}-title"
        with box("dialog", id=f"revoke-{token.id}", aria_labelledby=title):
            words(f"Revoke the token for {token.name}?", "h2", "wrap", id=title)
            words("Whatever uses it will be let in no longer. It cannot be brought back.", "p")
            with box(classes="actions"):
                words("Leave it", "button", "button", type="button", data_closes="", autofocus="")
                button("Revoke this token", lambda: self._revoke(token), "danger full", data_closes="")

    def _form(self) -> None:
        with box("section", "stack"):
            words("A new token", "h3")
            with box(classes="search"):
                self._name = ui.input("What it is for").props("outlined dense maxlength=100")
                self._life = ui.select(_LIVES, value=_USUAL, label="It works").props("outlined dense")
                button("Make this token", self._make, "main")
            self._refused = words("", "p", "wrong", role="alert")

    async def _make(self) -> None:
        """Show the new token; a name that is refused stays, with the reason beside it."""
        if self._making:
            return  # a second click while the first is being answered: no second token
        self._making = True
        users, called = self._visit.platform.users, str(self._name.value or "").strip()
        try:
            text = await self._visit.ask(users.make_token, self._visit.by.id, called, days=self._life.value)
        except SeedbedError as error:
            self._refused.set_text(str(error))
            return
        finally:
            self._making = False
        self._refused.set_text("")
        self._name.set_value("")
        self._tell(called, text)
        with telling():
            await self.show()

    def _tell(self, name: str, text: str) -> None:
        self._new.clear()
        self._new.set_visibility(True)
        with self._new:
            words(f"The token for {name}. Copy it now: it is shown this once.", "p", "wrap")
            words(text, "code", "token")
            words("The command line reads it from SEEDBED_TOKEN, and this server's address from SEEDBED_URL.", "p")
            with box(classes="row"):
                button("I have copied it", self._forget)

    def _forget(self) -> None:
        self._new.clear()
        self._new.set_visibility(False)

    async def _revoke(self, token: Token) -> None:
        with self._visit.client:  # the row that was pressed is gone when the list is drawn anew
            with telling():
                await self._visit.ask(self._visit.platform.users.revoke, token.id)
                say_so(f"The token for {token.name} opens nothing any more.")
            with suppress(SeedbedError):  # what is refused was told already
                await self.show()


def end_in_words(expires: float, now: float) -> str:
    """Until when a token works: 'until it is revoked', 'until 2027-02-14', 'no longer: it expired 2027-02-14'."""
    if not expires:
        return "until it is revoked"
    day = say.moment(expires).partition(" ")[0]
    return f"until {day}" if expires > now else f"no longer: it expired {day}"
