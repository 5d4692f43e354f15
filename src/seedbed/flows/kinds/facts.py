"""Kinds that are one JSON file."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Self

from seedbed.flows.kinds.kind import Kind, Values, put


class Facts(Kind):
    """A kind that is one JSON file; what lists of bundles show of it stands among its values as well."""

    @classmethod
    def write(cls, folder: Path, facts: Mapping[str, Any]) -> Self:
        """Into a fresh folder."""
        text = json.dumps(facts, indent=2, ensure_ascii=False, allow_nan=False)
        put(folder / cls.kind / f"{cls.kind}.json", f"{text}\n")
        return cls(folder, cls.values_of(facts))

    @classmethod
    def values_of(cls, facts: Mapping[str, Any]) -> Values:
        """What of the facts stands among the values: single numbers, unless a kind says otherwise."""
        return {name: (value,) for name, value in facts.items() if isinstance(value, int | float)}

    def facts(self) -> dict[str, Any]:
        """Everything in it."""
        facts: dict[str, Any] = json.loads(self.file(self.kind, f"{self.kind}.json").read_text(encoding="utf-8"))
        return facts
