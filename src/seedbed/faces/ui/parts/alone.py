"""What pages about people say where there is only one."""

from nicegui.elements.mixins.text_element import TextElement

from seedbed.faces.ui.elements import empty

_TEAM = "seedbed up --team"


def alone(lead: TextElement) -> None:
    """How others could be let in."""
    lead.set_text("You are alone here: whoever has the address that was printed comes in.")
    empty("people", "For several people", "They get names, passwords and roles. Start it with:", _TEAM)
