"""Writes docs/commands.md from the commands themselves: python scripts/commands_page.py"""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from typer.main import get_command

from seedbed.faces.cli.main import app

PAGE = Path(__file__).parents[1] / "docs" / "commands.md"

HEAD = """\
# Commands

*Which command does what, with which options?* The same is printed by `--help` after any command. Commands work by
themselves on the home (`SEEDBED_HOME`), or with a server where `SEEDBED_URL` is set; files and folders that they name
are those of the machine where they are typed, and go over as uploads.

| you want | type |
|---|---|
| images in, and more of them later | `seedbed data add FOLDER`, then `seedbed data add MORE --to NAME` |
| a model from the labels of a project | `seedbed train --project NAME` |
| plants, plots or days never both learnt and tested | `seedbed train DATA --group COLUMN` |
| the best weights to start from, and why | `seedbed zoo rank DATA` |
| what a model says of images, as a table | `seedbed predict MODEL FOLDER --out said.csv` |
| a model, predictions or anything else as files | `seedbed store get NAME FOLDER` |
| labels from another tool, and out again | `seedbed labels import PROJECT FILE`, `seedbed labels export PROJECT FILE` |
| two classes that are one | `seedbed projects merge-class PROJECT OLD INTO` |
| another name for a class, with its labels | `seedbed projects rename-class PROJECT OLD NEW` |
| a class out of a project | `seedbed projects remove-class PROJECT NAME` |
| the index of bundles anew, when the database is not to be trusted | `seedbed store rebuild` |
| what went wrong | `seedbed jobs logs JOB`, and `SEEDBED_DEBUG=1` before any command |

References to jobs and bundles are names, ids, or the beginning of an id. `--json` prints what scripts want. What cannot
be undone asks first, unless `--yes` is given. Exit codes are those of [When Seedbed says no](errors.md).
"""

TAIL = """
This page is made from the code by `python scripts/commands_page.py`, and a test keeps the two equal.
"""

_LEFT_OUT = {"--install-completion", "--show-completion"}


def render() -> str:
    """The page as the code has it."""
    root: Any = get_command(app)
    shells = "Shell completion, of commands and of names: `seedbed --install-completion`.\n"
    parts = [HEAD, "## seedbed\n", _table(root), shells]
    for words, command in commands(root):
        depth = "##" if hasattr(command, "commands") or len(words) == 1 else "###"
        parts += [
            f"{depth} {' '.join(['seedbed', *words])}\n",
            _about(command),
            _usage(words, command),
            _table(command),
        ]
    return "\n".join(part for part in parts if part) + TAIL


def commands(group: Any, before: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Any]]:
    """Every command and group below one, with the words that call it."""
    for name, command in group.commands.items():
        if command.hidden:
            continue
        yield (*before, name), command
        if hasattr(command, "commands"):
            yield from commands(command, (*before, name))


def _about(command: Any) -> str:
    return f"{(command.help or '').strip()}\n"


def _usage(words: tuple[str, ...], command: Any) -> str:
    if hasattr(command, "commands"):
        return ""
    shown = [_argument(one) for one in command.params if _is_argument(one)]
    return f"`{' '.join(['seedbed', *words, *shown])}`\n"


def _argument(argument: Any) -> str:
    name = argument.name.upper() + ("..." if argument.nargs == -1 or argument.multiple else "")
    return name if argument.required else f"[{name}]"


def _table(command: Any) -> str:
    rows = [_row(one) for one in command.params if not one.hidden and not _LEFT_OUT & set(one.opts)]
    return "\n".join(["| | default | meaning |", "|---|---|---|", *rows, ""]) if rows else ""


def _row(one: Any) -> str:
    names = [one.name.upper()] if _is_argument(one) else [*one.opts, *one.secondary_opts]
    again = " May be given several times." if one.multiple and not _is_argument(one) else ""
    about, default = _told(one)
    cells = (", ".join(f"`{name}`" for name in names), default, f"{about}{again}")
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def _told(one: Any) -> tuple[str, str]:
    """What is said of a parameter, and its default, which some have in their help: it is the method's own."""
    about, _, written = (one.help or "").partition(" [default: ")
    if one.required:
        return about, "required"
    if written:
        return about, f"`{written.removesuffix(']')}`"
    if one.default is None or one.default == "" or one.default is False:
        return about, ""
    return about, "yes" if one.default is True else f"`{one.default}`"


def _is_argument(one: Any) -> bool:
    return not one.opts[0].startswith("-")


if __name__ == "__main__":
    PAGE.write_text(render())
