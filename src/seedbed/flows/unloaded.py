"""What registries say of rows that need torch, read as source text: the service must not load torch to answer."""

import ast
import importlib.util
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path


def rows_of(module: str, registry: str) -> dict[str, str]:
    """The rows `name -> "module:object"` of a registry that a module declares with its annotation."""
    tree = _source(module)
    for node in tree.body:
        if isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.target.id == registry:
            tables = [part for part in ast.walk(node) if isinstance(part, ast.Dict)]
            return {_text(key, tree): _text(value, tree) for key, value in _pairs(tables[0])} if tables else {}
    return {}


def about(row: str) -> str:
    """The first line of a class's docstring, else of its module's."""
    module, _, thing = row.partition(":")
    found = _class(module, thing)
    return (ast.get_docstring(found or _source(module)) or "").partition("\n")[0]


def opening(row: str) -> str:
    """The first line of the module's docstring."""
    return (ast.get_docstring(_source(row.partition(":")[0])) or "").partition("\n")[0]


def options_of(row: str) -> dict[str, str]:
    """The fields of a dataclass that have a default, inherited ones first: name -> the default as it is written."""
    module, _, thing = row.partition(":")
    found = _class(module, thing)
    if found is None:
        return {}
    options: dict[str, str] = {}
    for base in reversed(found.bases):
        if isinstance(base, ast.Name):
            options |= options_of(f"{_home(module, base.id)}:{base.id}")
    own = {node.target.id: node for node in found.body if _is_field(node)}  # type: ignore[attr-defined]
    return options | {name: ast.unparse(node.value) for name, node in own.items()}  # type: ignore[attr-defined]


def _is_field(node: ast.stmt) -> bool:
    if not (isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name) and node.value):
        return False
    hidden = isinstance(node.value, ast.Call) and any(word.arg == "init" for word in node.value.keywords)
    return "ClassVar" not in ast.unparse(node.annotation) and not hidden


def _class(module: str, name: str) -> ast.ClassDef | None:
    found = [node for node in _source(module).body if isinstance(node, ast.ClassDef) and node.name == name]
    return found[0] if found else None


def _home(module: str, name: str) -> str:
    """The module that a name which a module knows comes from."""
    for node in _source(module).body:
        if isinstance(node, ast.ImportFrom) and any((one.asname or one.name) == name for one in node.names):
            return node.module or module
    return module


def _pairs(table: ast.Dict) -> Iterator[tuple[ast.expr, ast.expr]]:
    return ((key, value) for key, value in zip(table.keys, table.values, strict=True) if key is not None)


def _text(node: ast.expr, tree: ast.Module) -> str:
    """A string that is written down, or put together from the module's own plain names."""
    if isinstance(node, ast.Constant):
        return str(node.value)
    if isinstance(node, ast.FormattedValue):
        return _text(node.value, tree)
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part, tree) for part in node.values)
    named = [
        one.value
        for one in tree.body
        if isinstance(one, ast.Assign) and isinstance(node, ast.Name) and ast.unparse(one.targets[0]) == node.id
    ]
    return _text(named[0], tree) if named else ast.unparse(node)


def _source(module: str) -> ast.Module:
    spec = importlib.util.find_spec(module)
    return _parsed(spec.origin if spec and spec.origin else "")


@lru_cache(maxsize=64)
def _parsed(origin: str) -> ast.Module:
    return ast.parse(Path(origin).read_text() if origin else "")
