"""The modules of a folder as one: a browser that asks for thirty small files waits for thirty answers.

They stay what they are, each a function that is called once and gives what it exports; only the lines that import and
export are read, so those have to be in the house style: `import { a, b } from "./c.js";` on a line of its own.
"""

import re
from graphlib import TopologicalSorter
from pathlib import Path

_IMPORT = re.compile(r'^import (?:\{ ([\w, ]+) \}|\* as (\w+)) from "\./(\w+)\.js";$', re.MULTILINE)
_EXPORT = re.compile(r"^export ((?:async )?(?:function|class|const)) (\w+)", re.MULTILINE)
_UNREAD = re.compile(r"^(?:import|export)\b.*$|^.*\bimport\(.*$", re.MULTILINE)


def joined(folder: Path, main: str) -> str:
    """The module `main` with all that it needs, in one text."""
    texts = {path.stem: path.read_text() for path in sorted(folder.glob("*.js"))}
    needs = {name: {found[3] for found in _IMPORT.finditer(text)} for name, text in texts.items()}
    wanted = _reached(main, needs)
    order = TopologicalSorter({name: needs[name] for name in wanted}).static_order()
    return "\n".join(_plain(texts[name]) if name == main else _called_once(name, texts[name]) for name in order)


def _reached(main: str, needs: dict[str, set[str]]) -> set[str]:
    reached, ahead = set[str](), {main}
    while ahead:
        reached |= ahead
        ahead = {need for name in ahead for need in needs[name]} - reached
    return reached


def _called_once(name: str, text: str) -> str:
    given = ", ".join(found[2] for found in _EXPORT.finditer(text))
    return f"const {_of(name)} = (() => {{\n{_plain(text)}\nreturn {{ {given} }};\n}})();"


def _plain(text: str) -> str:
    """Without its imports and exports."""
    plain = _EXPORT.sub(r"\1 \2", _IMPORT.sub(_taken, text))
    if unread := _UNREAD.search(plain):
        raise ValueError(f"This line cannot be joined: {unread[0]}")
    return plain


def _taken(found: re.Match[str]) -> str:
    names = found[2] or "{ " + found[1].replace(" as ", ": ") + " }"
    return f"const {names} = {_of(found[3])};"


def _of(name: str) -> str:
    return f"from_{name}"
