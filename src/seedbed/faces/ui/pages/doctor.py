"""Is this machine fit? What is missing or unsafe, in sentences."""

from collections.abc import Sequence

from seedbed.assets.access.roles import Identity, Role
from seedbed.faces.ui import words as say
from seedbed.faces.ui.elements import box, card, words
from seedbed.faces.ui.layout import frame
from seedbed.faces.ui.site import Visit, page
from seedbed.flows.platform import Platform
from seedbed.flows.usecases.doctor import Check

_WORDS = {"ok": "fine", "warn": "look at this", "bad": "not fit"}
_ORDER = ("bad", "warn", "ok")


@page("/doctor", role=Role.OPERATOR)
async def doctor(visit: Visit) -> None:
    """Every check, the worst first."""
    checks = await visit.ask(lambda *, by: _examine(visit.platform, by))
    with frame(visit, "Is this machine fit?") as lead:
        lead.set_text(_answer(checks))
        with card("What was looked at"), box("ul", "jobs checks"):
            for check in sorted(checks, key=lambda one: _ORDER.index(one.ok)):
                _line(check)


def _examine(platform: Platform, by: Identity) -> list[Check]:
    by.require(Role.OPERATOR)
    # whoever reads this page has reached the server: that its port is taken is as it should be
    return [check for check in platform.doctor() if check.name != "port"]


def _answer(checks: Sequence[Check]) -> str:
    bad, warn = (sum(check.ok == verdict for check in checks) for verdict in ("bad", "warn"))
    if bad:
        return f"No: {say.plural(bad, 'thing needs', 'things need')} to be put right first."
    if warn:
        return f"Yes, but {say.plural(warn, 'thing deserves', 'things deserve')} a look."
    return f"Yes: all {len(checks)} checks are fine."


def _line(check: Check) -> None:
    with box("li", "job"):
        words(check.name, classes="name")
        words(_WORDS[check.ok], "span", f"state {check.ok}")
        with box(classes="going"):
            words(check.sentence, classes="wrap")
            if check.hint and check.ok != "ok":
                words(check.hint, classes="soft small wrap")
