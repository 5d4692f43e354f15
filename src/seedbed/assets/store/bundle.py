"""What a bundle is: plain values, with no database and no disk behind them."""

import json
import math
import uuid as uuids
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from seedbed.base.errors import Damaged, InvalidInput
from seedbed.base.files import inside
from seedbed.base.ids import digest_of

FORMAT = 1  # of the manifest's text
SHEET = "bundle.json"  # what describes a bundle in a folder: in an outbox, and where it is checked out


class ArrayType(StrEnum):
    """What the items of an array are."""

    INT = "int"
    FLOAT = "float"
    STR = "str"
    BOOL = "bool"
    FILE = "file"
    BUNDLE = "bundle"  # uuids of other bundles
    LINK = "link"  # addresses outside, never copied


PYTHON_TYPES: dict[ArrayType, type] = {
    ArrayType.INT: int,
    ArrayType.FLOAT: float,
    ArrayType.STR: str,
    ArrayType.BOOL: bool,
    ArrayType.BUNDLE: str,
    ArrayType.LINK: str,
}


@dataclass(frozen=True, slots=True)
class FileLink:
    """A stored file: its name inside the array, the sha256 of its bytes, how many they are."""

    name: str
    digest: str
    size: int


Scalar = int | float | str | bool
Item = Scalar | FileLink


@dataclass(frozen=True)
class Array:
    """Named, typed and ordered: the content of a bundle is a mapping of these."""

    type: ArrayType
    items: tuple[Item, ...]

    @property
    def files(self) -> tuple[FileLink, ...]:
        """The items of a file array; empty for any other."""
        return tuple(item for item in self.items if isinstance(item, FileLink))

    def to_json(self) -> dict[str, Any]:
        """As a JSON value."""
        return {"type": str(self.type), "items": [_item_to_json(item) for item in self.items]}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Array":
        """Back from its JSON value."""
        kind = ArrayType(value["type"])
        if kind is ArrayType.FILE:
            return cls(kind, tuple(FileLink(i["name"], i["digest"], i["size"]) for i in value["items"]))
        if kind is ArrayType.FLOAT:
            return cls(kind, tuple(float(item) for item in value["items"]))
        return cls(kind, tuple(value["items"]))


@dataclass(frozen=True)
class Lineage:
    """What made a bundle: the step, its parameters and code, the job, and the bundles that went in (name, uuid)."""

    step: str = ""
    params: Mapping[str, Any] = field(default_factory=dict)
    inputs: tuple[tuple[str, str], ...] = ()
    code: str = ""
    job: str = ""

    def to_json(self) -> dict[str, Any]:
        """As a JSON value."""
        return {
            "step": self.step,
            "params": dict(self.params),
            "inputs": [list(pair) for pair in self.inputs],
            "code": self.code,
            "job": self.job,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Lineage":
        """Back from its JSON value; what is not there is empty."""
        inputs = tuple((str(name), str(uuid)) for name, uuid in value.get("inputs", ()))
        return cls(value.get("step", ""), value.get("params", {}), inputs, value.get("code", ""), value.get("job", ""))


@dataclass(frozen=True)
class Bundle:
    """An immutable, versioned, typed piece of data. Only its tags can change after it was published.

    `digest` is the content's alone (kind and arrays), so that the same result made twice is recognised as the same.
    `derived` marks what can be rebuilt from its inputs (caches, thumbnails, embeddings) and goes when they go.
    """

    uuid: str
    name: str
    kind: str
    key: str
    created: float
    tags: Mapping[str, str]
    arrays: Mapping[str, Array]
    lineage: Lineage
    derived: bool
    project: str
    digest: str
    size: int = 0

    @property
    def files(self) -> tuple[FileLink, ...]:
        """Every file of every array."""
        return tuple(link for array in self.arrays.values() for link in array.files)

    def to_json(self) -> dict[str, Any]:
        """As a JSON value: the manifest's content."""
        return {
            "format": FORMAT,
            "uuid": self.uuid,
            "name": self.name,
            "kind": self.kind,
            "key": self.key,
            "created": self.created,
            "tags": dict(self.tags),
            "arrays": {name: array.to_json() for name, array in self.arrays.items()},
            "lineage": self.lineage.to_json(),
            "derived": self.derived,
            "project": self.project,
            "digest": self.digest,
            "size": self.size,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Bundle":
        """Back from its JSON value; the digest is checked against the content."""
        try:
            bundle = _bundle_from_json(value)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise Damaged(f"This is not a bundle's manifest: {error!r}.") from error
        if bundle.digest != content_digest(bundle.kind, bundle.arrays):
            raise Damaged(f"The manifest of bundle {bundle.uuid} does not match its own digest.")
        return bundle

    @classmethod
    def read(cls, folder: Path) -> "Bundle":
        """The bundle that is checked out in a folder."""
        return cls.from_json(json.loads((folder / SHEET).read_text()))


def content_digest(kind: str, arrays: Mapping[str, Array]) -> str:
    """The digest of a bundle's content: what the keys of later steps are made of."""
    return digest_of({"kind": kind, "arrays": {name: array.to_json() for name, array in arrays.items()}})


@dataclass(frozen=True, slots=True)
class DraftFile:
    """A file that is not in the store yet: where it lies, and its name inside the array."""

    path: Path
    name: str


DraftItem = Scalar | DraftFile | FileLink


@dataclass(frozen=True)
class DraftArray:
    """An array whose files may still lie somewhere on this machine; a FileLink names one that is stored already."""

    type: ArrayType
    items: tuple[DraftItem, ...]

    @classmethod
    def of_files(cls, paths: Mapping[str, Path]) -> "DraftArray":
        """A file array from names and paths."""
        return cls(ArrayType.FILE, tuple(DraftFile(path, name) for name, path in paths.items()))


@dataclass(frozen=True)
class Draft:
    """A bundle before it is published. Give it a uuid only where another draft of the same batch refers to it."""

    name: str
    kind: str
    arrays: Mapping[str, DraftArray] = field(default_factory=dict)
    key: str = ""
    tags: Mapping[str, str] = field(default_factory=dict)
    lineage: Lineage = field(default_factory=Lineage)
    derived: bool = False
    project: str = ""
    uuid: str = ""

    def write(self, folder: Path) -> None:
        """Describe the draft in a folder (an outbox); its files must already lie there."""
        arrays = {name: _draft_array_to_json(array, folder) for name, array in self.arrays.items()}
        plain = {"name": self.name, "kind": self.kind, "key": self.key, "tags": dict(self.tags), "uuid": self.uuid}
        more = {"lineage": self.lineage.to_json(), "derived": self.derived, "project": self.project, "arrays": arrays}
        (folder / SHEET).write_text(json.dumps(plain | more))

    @classmethod
    def read(cls, folder: Path) -> "Draft":
        """The draft that a folder describes; files that lie outside of it are refused."""
        try:
            value = json.loads((folder / SHEET).read_text())
            return _draft_from_json(value, folder)
        except (KeyError, TypeError, ValueError, AttributeError, OSError) as error:
            raise InvalidInput(f"{folder / SHEET} does not describe a bundle: {error!r}.") from error

    def with_lineage(self, lineage: Lineage, *, key: str = "", project: str = "") -> "Draft":
        """The same draft, with what made it."""
        return replace(self, lineage=lineage, key=key, project=project)


def _bundle_from_json(value: Mapping[str, Any]) -> Bundle:
    if value["format"] != FORMAT:
        raise ValueError(f"format {value['format']} is not {FORMAT}")
    return Bundle(
        uuid=str(uuids.UUID(value["uuid"])),
        name=str(value["name"]),
        kind=str(value["kind"]),
        key=str(value["key"]),
        created=float(value["created"]),
        tags={str(tag): str(text) for tag, text in value["tags"].items()},
        arrays={str(name): Array.from_json(array) for name, array in value["arrays"].items()},
        lineage=Lineage.from_json(value["lineage"]),
        derived=bool(value["derived"]),
        project=str(value["project"]),
        digest=str(value["digest"]),
        size=int(value["size"]),
    )


def _item_to_json(item: Item) -> Any:
    if isinstance(item, FileLink):
        return {"name": item.name, "digest": item.digest, "size": item.size}
    if isinstance(item, float) and not math.isfinite(item):
        return str(item)  # JSON has no word for these; float('nan') reads them back
    return item


def _draft_array_to_json(array: DraftArray, folder: Path) -> dict[str, Any]:
    items = [
        {"path": item.path.resolve().relative_to(folder.resolve()).as_posix(), "name": item.name}
        if isinstance(item, DraftFile)
        else _item_to_json(item)
        for item in array.items
    ]
    return {"type": str(array.type), "items": items}


def _draft_from_json(value: Mapping[str, Any], folder: Path) -> Draft:
    return Draft(
        name=value["name"],
        kind=value["kind"],
        arrays={name: _draft_array_from_json(array, folder) for name, array in value["arrays"].items()},
        key=value.get("key", ""),
        tags=value.get("tags", {}),
        lineage=Lineage.from_json(value.get("lineage", {})),
        derived=bool(value.get("derived", False)),
        project=value.get("project", ""),
        uuid=value.get("uuid", ""),
    )


def _draft_array_from_json(value: Mapping[str, Any], folder: Path) -> DraftArray:
    kind = ArrayType(value["type"])
    if kind is not ArrayType.FILE:
        return DraftArray(kind, Array.from_json(value).items)
    root = folder.resolve()
    return DraftArray(kind, tuple(_draft_file_from_json(item, root) for item in value["items"]))


def _draft_file_from_json(item: Mapping[str, Any], root: Path) -> DraftFile | FileLink:
    if "digest" in item:
        return FileLink(item["name"], item["digest"], item["size"])
    return DraftFile(inside(root, item["path"]), item["name"])
