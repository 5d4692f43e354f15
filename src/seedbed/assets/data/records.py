"""What is kept of each image: one line of records.jsonl."""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

from seedbed.base.errors import Damaged


@dataclass(frozen=True)
class ImageRecord:
    """One distinct image of a data set. Files with the same bytes are one record; `also` names the others."""

    id: str  # sha256 of the file's bytes
    file: str  # its name in the source, with forward slashes
    image: str  # its name in images/: the id with the format's suffix
    klass: str = ""  # "" where the source does not say, or says two different things
    split: str = ""  # "train", "test", "validation", or "" where the source has no such folders or column
    width: int = 0  # as people see it, after the EXIF orientation
    height: int = 0
    bytes: int = 0
    format: str = ""
    phash: str = ""  # perceptual hash, 16 hex digits
    also: tuple[str, ...] = ()
    extra: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))  # other columns of a manifest

    @property
    def files(self) -> tuple[str, ...]:
        """Every name under which these bytes came."""
        return (self.file, *self.also)

    def to_json(self) -> dict[str, Any]:
        """A JSON object; `klass` is written as `class`."""
        values = {name: getattr(self, name) for name in self.__dataclass_fields__ if name != "klass"}
        return {**values, "class": self.klass, "also": list(self.also), "extra": dict(self.extra)}

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "ImageRecord":
        """The record that `to_json` wrote."""
        values = {name: value[name] for name in cls.__dataclass_fields__ if name in value}
        values["klass"] = value["class"]
        return cls(**{**values, "also": tuple(value["also"]), "extra": MappingProxyType(dict(value["extra"]))})


@dataclass(frozen=True)
class Statistics:
    """What a person wants to know of a data set before looking at it."""

    images: int
    bytes: int
    classes: Mapping[str, int]  # images per class, without the unlabelled
    unlabelled: int
    splits: Mapping[str, int]
    formats: Mapping[str, int]
    width: tuple[int, int, int]  # smallest, median, largest
    height: tuple[int, int, int]
    mean: tuple[float, float, float]  # of each channel, 0..1, at the size of the decoded cache
    std: tuple[float, float, float]
    columns: Mapping[str, int]  # other columns of the manifest: how many different values each has

    def to_json(self) -> dict[str, Any]:
        """A JSON object."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> "Statistics":
        """What `to_json` wrote."""
        lists = {name: tuple(value[name]) for name in ("width", "height", "mean", "std")}
        return cls(**{**{name: value[name] for name in cls.__dataclass_fields__}, **lists})


def write_records(records: Iterable[ImageRecord]) -> bytes:
    """The text of records.jsonl."""
    return "".join(json.dumps(record.to_json(), ensure_ascii=False) + "\n" for record in records).encode()


def read_records(path: Path) -> tuple[ImageRecord, ...]:
    """The records of a records.jsonl."""
    try:
        with path.open(encoding="utf-8") as file:
            return tuple(ImageRecord.from_json(json.loads(line)) for line in file)
    except (ValueError, KeyError, TypeError) as error:
        raise Damaged(f"{path.name} is not a list of image records: {error}.", hint="seedbed store verify") from error
