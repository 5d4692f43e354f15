"""The API to read, as one plain page made from its OpenAPI description."""

import json
from collections.abc import Iterator
from html import escape
from typing import Any

_STYLE = """
:root { color-scheme: light dark; font-family: system-ui, sans-serif; line-height: 1.5 }
body { max-width: 60rem; margin: 2rem auto; padding: 0 1rem }
code, pre { font-family: ui-monospace, monospace; font-size: .9em }
summary { cursor: pointer; padding: .2rem 0 } pre { overflow-x: auto; padding: .5rem; border: 1px solid #8884 }
"""


def reference_page(description: dict[str, Any]) -> str:
    """The page: every operation by noun, with its parameters, its body and what it answers."""
    nouns: dict[str, list[str]] = {}
    for path, operations in description["paths"].items():
        for method, operation in operations.items():
            noun = (operation.get("tags") or ["other"])[0]
            nouns.setdefault(noun, []).append(_operation(path, method, operation))
    sections = "".join(f"<h2>{escape(noun)}</h2>{''.join(parts)}" for noun, parts in sorted(nouns.items()))
    schemas = json.dumps(description.get("components", {}).get("schemas", {}), indent=1, ensure_ascii=False)
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><meta name=viewport content='width=device-width'>"
        f"<title>Seedbed: REST</title><style>{_STYLE}</style><h1>Seedbed over REST</h1>"
        f"<p>Send the token as <code>Authorization: Bearer TOKEN</code>. For programs: "
        f"<a href=/api/v1/openapi.json>openapi.json</a>.</p>{sections}"
        f"<h2>Schemas</h2><details><summary>All of them</summary><pre>{escape(schemas)}</pre></details>"
    )


def _operation(path: str, method: str, operation: dict[str, Any]) -> str:
    rows = "".join(f"<li>{row}</li>" for row in _rows(operation))
    about = escape(operation.get("description") or operation.get("summary") or "")
    head = f"<code>{method.upper()} {escape(path)}</code> {about}"
    return f"<details><summary>{head}</summary><ul>{rows}</ul></details>"


def _rows(operation: dict[str, Any]) -> Iterator[str]:
    if role := operation.get("x-role"):
        yield f"needs the role {escape(role)}"
    for parameter in operation.get("parameters", ()):
        about = escape(parameter.get("description", ""))
        yield f"<code>{escape(parameter['name'])}</code> ({escape(parameter['in'])}) {about}"
    for kind, body in operation.get("requestBody", {}).get("content", {}).items():
        yield f"body, {escape(kind)}: <code>{escape(_name(body.get('schema', {})))}</code>"
    for status, answer in operation.get("responses", {}).items():
        if status.startswith("2"):
            names = [_name(content.get("schema", {})) for content in answer.get("content", {}).values()]
            yield f"answers {escape(status)}: <code>{escape(', '.join(names) or 'nothing')}</code>"


def _name(schema: dict[str, Any]) -> str:
    if "$ref" in schema:
        return str(schema["$ref"]).rsplit("/", 1)[-1]
    if schema.get("type") == "array":
        return f"list of {_name(schema.get('items', {}))}"
    return str(schema.get("type", "any"))
