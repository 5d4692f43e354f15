"""The networks that timm knows, read from its source: importing it would load torch, which the service does without.

A list kept beside the code would be of one version of timm, and refuse what another one has.
"""

import importlib.util
import re
from functools import lru_cache
from pathlib import Path

_MADE = re.compile(r"^@register_model\s+def (\w+)\(", re.MULTILINE)
_RENAMED = re.compile(r"^register_model_deprecations\(__name__, \{(.*?)^\}\)", re.MULTILINE | re.DOTALL)
_KEY = re.compile(r"""['"](\w+)['"]\s*:""")


@lru_cache(maxsize=1)
def timm_names() -> frozenset[str]:
    """Every network of the timm that is installed, by its old names too, and without the tags of weights."""
    return frozenset().union(*(_names_in(file.read_text(encoding="utf-8")) for file in _sources()))


def _sources() -> list[Path]:
    spec = importlib.util.find_spec("timm")
    places = spec.submodule_search_locations if spec else None
    return [file for place in places or () for file in Path(place, "models").glob("*.py")]


def _names_in(source: str) -> set[str]:
    return {*_MADE.findall(source), *(key for block in _RENAMED.findall(source) for key in _KEY.findall(block))}
