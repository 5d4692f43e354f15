"""Writes docs/settings.md from the descriptions in seedbed.base.settings: python scripts/settings_page.py"""

from pathlib import Path
from typing import Any, get_args

from pydantic.fields import FieldInfo

from seedbed.base.settings import Settings

PAGE = Path(__file__).parents[1] / "docs" / "settings.md"

HEAD = """\
# Settings

Everything that can be set, in one table. A value comes from the first of these that has one:

1. a flag of the command line, where there is one (`seedbed up --port 9000`);
2. the environment: `SEEDBED_` and the name in capitals (`SEEDBED_PORT=9000`);
3. the file `seedbed.toml` in the home (`port = 9000`);
4. the default below.

A name that is not a setting is refused, with the nearest ones that are; everything wrong is said at once.

"""

TAIL = """
In the environment a list of folders is written with `:` between them, and `true` or `false` switches something on or
off. A file for a team on one machine:

```toml
team = true
public_url = "https://seedbed.example.org"
database = "postgresql://seedbed@127.0.0.1/seedbed"
upload_limit = 21474836480
import_roots = ["/data/images"]
```

A few more variables are read by the command line, the Python client and the benchmarks:

| variable | meaning |
|---|---|
| `SEEDBED_URL` | Address of a server to talk to; empty: work in process on the home. |
| `SEEDBED_TOKEN` | The token to show to that server; for `seedbed up` alone: the token to use instead of a fresh one. |
| `SEEDBED_NEW_PASSWORD` | The password for `seedbed users add` and `seedbed users password`, instead of asking. |
| `SEEDBED_DEBUG` | When set, errors that nobody foresaw are shown with all details. |
| `SEEDBED_BENCH_DATA` | Folder of real data for the benchmarks. |

This page is made from the code by `python scripts/settings_page.py`, and a test keeps the two equal.
"""

_LIMITS = {"ge": "at least", "gt": "more than", "le": "at most", "lt": "less than"}


def render() -> str:
    """The page as the code has it."""
    rows = [_row(name, field) for name, field in Settings.model_fields.items()]
    return (
        HEAD
        + "\n".join(["| setting | variable | kind | default | meaning |", "|---|---|---|---|---|", *rows])
        + "\n"
        + TAIL
    )


def _row(name: str, field: FieldInfo) -> str:
    return f"| `{name}` | `SEEDBED_{name.upper()}` | {_kind(field)} | {_shown(field.default)} | {field.description} |"


def _kind(field: FieldInfo) -> str:
    names = {str: "text", int: "whole number", float: "number", bool: "true or false", Path: "folder"}
    kind = names.get(field.annotation) if isinstance(field.annotation, type) else None
    kind = kind or ("list of folders" if Path in get_args(field.annotation) else str(field.annotation))
    limits = [
        f"{words} {getattr(rule, attribute)}"
        for rule in field.metadata
        for attribute, words in _LIMITS.items()
        if hasattr(rule, attribute)
    ]
    return ", ".join([kind, *limits])


def _shown(default: Any) -> str:
    if default in ("", ()):
        return "(empty)"
    return f"`{str(default).lower() if isinstance(default, bool) else default}`"


if __name__ == "__main__":
    PAGE.write_text(render())
