"""What is known of a data set in the store: its records and other facts, read without laying it out as a folder."""

import contextlib
import json
from functools import lru_cache
from pathlib import Path
from typing import Any

from seedbed.assets.data.records import ImageRecord, read_records
from seedbed.assets.store.bundle import Bundle
from seedbed.assets.store.store import Store
from seedbed.base.errors import Damaged, NotFound
from seedbed.flows.kinds.data import FACTS, RECORDS, DataSet, Decoded


def records_of(store: Store, data: Bundle) -> tuple[ImageRecord, ...]:
    """One per image."""
    return records_at(records_file(store, data))


def records_file(store: Store, data: Bundle) -> Path:
    """The file of its records, which never changes."""
    return _records_path(store, data.uuid)


def fact_of(store: Store, data: Bundle, name: str) -> Any:
    """The content of one of its files of facts, such as statistics.json."""
    return json.loads(_path(store, data, name).read_text())


def _path(store: Store, data: Bundle, name: str) -> Path:
    return _path_of(store, data.uuid, name)


# files of the store never change, so what was read of one stays true; these caches are small and bounded


@lru_cache(maxsize=64)
def _records_path(store: Store, uuid: str) -> Path:
    """By way of a decoded cache, where there is one: it has the same file, and a manifest that is short to read."""
    graph = store.lineage(uuid, depth=1, direction="down")
    for node in graph.nodes.values():
        if node.kind == Decoded.kind and not node.gone:
            with contextlib.suppress(NotFound, Damaged):  # it was removed a moment ago
                path = _path_of(store, node.uuid, RECORDS)
                if store.has_file(uuid, path.name):
                    return path
    return _path_of(store, uuid, RECORDS)


@lru_cache(maxsize=64)  # the manifest of many images is long to read
def _path_of(store: Store, uuid: str, name: str) -> Path:
    data = store.get(uuid)
    for link in data.arrays[FACTS].files:
        if link.name == name:
            return store.path_of(link.digest)
    raise Damaged(f"'{data.name}' has no {name}.", hint="seedbed store verify")


@lru_cache(maxsize=16)
def records_at(path: Path) -> tuple[ImageRecord, ...]:
    """The records in a file of the store."""
    return read_records(path)


def json_of(store: Store, bundle: Bundle, array: str) -> dict[str, Any]:
    """The content of the one JSON file that an array of a bundle has."""
    links = bundle.arrays[array].files if array in bundle.arrays else ()
    if len(links) != 1:
        raise Damaged(f"'{bundle.name}' ({bundle.kind}) has no file in '{array}'.", hint="seedbed store verify")
    facts: dict[str, Any] = json.loads(store.path_of(links[0].digest).read_text(encoding="utf-8"))
    return facts


def data_behind(store: Store, uuid: str, depth: int = 4) -> str:
    """The uuid of the data set that something was made from, so many steps before at most; '': it is gone."""
    nodes = store.lineage(uuid, depth=depth, direction="up").nodes.values()
    near = sorted((node for node in nodes if node.kind == DataSet.kind and not node.gone), key=lambda node: node.depth)
    return near[0].uuid if near else ""
