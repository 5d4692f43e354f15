"""What `--help` says of a group of commands."""

from typing import Any

from typer.core import TyperGroup

_WHOLE = 10_000  # characters: more than any sentence has


class Group(TyperGroup):
    """Tells of each command what it does to the end of the sentence, on several lines where one is too short."""

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """As Typer's own, which cuts what does not fit in one line."""
        shown = {name: command for name, command in self.commands.items() if not command.hidden}
        with formatter.section("Commands"):
            formatter.write_dl([(name, command.get_short_help_str(_WHOLE)) for name, command in shown.items()])
