"""What a format of labels is, what it reads, and what it writes."""

import hashlib
import json
import os
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import Any, ClassVar, Protocol

from seedbed.assets.data.archives import is_archive, unpack
from seedbed.assets.data.limits import Limits
from seedbed.assets.data.sources import IMAGE_SUFFIXES
from seedbed.base.errors import InvalidInput, NotFound, TooLarge
from seedbed.base.resources import show_size
from seedbed.base.text import made_plain

MOST_BYTES = 256 << 20  # of one file of labels: a million of them fit
_MOST_FILES = 1_000_000
_MOST_PROBLEMS = 20
_CHUNK = 1 << 20
_HIDDEN = {"thumbs.db", "desktop.ini", "__macosx"}
_TABLES = {".csv", ".tsv", ".json", ".jsonl", ".yaml", ".yml"}
_DIGEST = re.compile(r"[0-9a-f]{64}")


@dataclass(frozen=True)
class Entry:
    """One label as a format has it: the name of the image's file, and what it shows.

    `image` is its id (the digest of its bytes) where that is known. The rest is only written.
    """

    file: str
    label: str
    image: str = ""
    split: str = ""
    width: int = 0
    height: int = 0
    by: str = ""
    at: float = 0.0


@dataclass(frozen=True)
class Part:
    """One file that a format writes: its text, or the bytes of an image (its id)."""

    name: str
    content: bytes = b""
    image: str = ""


class Format(Protocol):
    """A way to write labels down that others know too.

    It opens only files that `Given` lists, never a name that a file of labels holds, and answers anything that it
    cannot read with InvalidInput or TooLarge: one sentence, with every mistake that it found. It keeps no state.
    """

    name: ClassVar[str]
    about: ClassVar[str]
    with_images: ClassVar[bool]  # whether the images go along where nobody says
    without_images: ClassVar[bool]  # whether there is anything to write without them

    def recognises(self, given: "Given") -> bool:
        """Whether this looks like it; never raises for what is merely another format."""
        ...

    def read(self, given: "Given") -> list[Entry]:
        """The labels; images without one are left out."""
        ...

    def write(self, labels: Sequence[Entry], classes: Sequence[str], *, images: bool) -> Iterator[Part]:
        """The files of an export; what `read` makes of them is the same labels."""
        ...


@dataclass(frozen=True)
class Given:
    """Files that somebody gave: one, a folder, or what an archive held. Links are not followed."""

    root: Path
    name: str
    files: tuple[str, ...]
    _parsed: dict[str, Any] = field(default_factory=dict, compare=False, repr=False)

    @classmethod
    def open(cls, path: Path, scratch: Path, limits: Limits | None = None) -> "Given":
        """List what a path holds; an archive is unpacked into a new folder `scratch`, which the caller removes."""
        if path.is_file() and is_archive(path):
            unpack(path, scratch, limits or Limits())
            return cls._of_folder(scratch, path.name)
        if path.is_file():
            return cls(path.parent, path.name, (path.name,))
        if path.is_dir():
            archives = [one for one in path.iterdir() if is_archive(one)]
            if len(archives) == 1 and len(list(path.iterdir())) == 1:
                return cls.open(archives[0], scratch, limits)
            return cls._of_folder(path, path.name)
        raise NotFound(f"There is no file or folder {path.name}.")

    @classmethod
    def _of_folder(cls, folder: Path, name: str) -> "Given":
        root = _unwrapped(folder)
        return cls(root, name, tuple(_walk(root)))

    @property
    def images(self) -> list[str]:
        """The files that are named like images."""
        return [name for name in self.files if PurePosixPath(name).suffix.lower() in IMAGE_SUFFIXES]

    def ending(self, *suffixes: str) -> list[str]:
        """The files whose names end so."""
        return [name for name in self.files if name.lower().endswith(suffixes)]

    def read(self, name: str) -> bytes:
        """A file of labels; one that is too large for that is refused."""
        path = self.root / name
        size = path.stat().st_size
        if size > MOST_BYTES:
            raise TooLarge(
                f"{_shown(name)} has {show_size(size)}; a file of labels has at most {show_size(MOST_BYTES)}.",
                hint="Divide it, and bring the parts in one after the other.",
            )
        return path.read_bytes()

    def text(self, name: str) -> str:
        """A file of labels as UTF-8 text."""
        try:
            return self.read(name).decode("utf-8-sig")
        except UnicodeDecodeError:
            raise InvalidInput(f"{_shown(name)} is not UTF-8 text.", hint="Save it again as UTF-8.") from None

    def json(self, name: str) -> Any:
        """A file of labels as JSON."""
        if name not in self._parsed:
            self._parsed[name] = _parse(name, self.text(name))
        return self._parsed[name]

    def documents(self) -> dict[str, Any]:
        """The JSON files; one that cannot be read is passed over, unless it is all that was given."""
        names = self.ending(".json")
        found = {}
        for name in names:
            try:
                found[name] = self.json(name)
            except InvalidInput:
                if len(self.files) == 1:
                    raise
        return found

    def digest(self, name: str) -> str:
        """The id of an image that came along."""
        found = hashlib.sha256()
        with (self.root / name).open("rb") as file:
            while chunk := file.read(_CHUNK):
                found.update(chunk)
        return found.hexdigest()


def one_each(entries: Iterable[Entry], what: str) -> list[Entry]:
    """Each image once; refused where one has two different classes, since then nobody knows which is right."""
    found: dict[str, Entry] = {}
    doubtful: dict[str, set[str]] = {}
    for entry in entries:
        name = entry.image or entry.file
        before = found.setdefault(name, entry)
        if before.label != entry.label:
            doubtful.setdefault(before.file, {before.label}).add(entry.label)
    if doubtful:
        count = "1 image has" if len(doubtful) == 1 else f"{len(doubtful):,} images have"
        problems = [
            f"{_shown(file)} is both {' and '.join(sorted(map(_shown, said)))}." for file, said in doubtful.items()
        ]
        raise InvalidInput(
            f"{count} several classes in {what}; no label was kept.",
            hint="An image has one class here. Decide, and bring them in again.",
            problems=problems[:_MOST_PROBLEMS],
        )
    return list(found.values())


def refuse(what: str, problems: Sequence[str], hint: str = "") -> None:
    """Say everything that is wrong with a file of labels, where something is."""
    if problems:
        raise InvalidInput(
            f"The labels in {_shown(what)} cannot be used; none was kept.",
            hint=hint,
            problems=problems[:_MOST_PROBLEMS],
        )


def as_id(given: object) -> str:
    """An image's id, or nothing where this is none."""
    return given if isinstance(given, str) and _DIGEST.fullmatch(given) else ""


def placed(labels: Sequence[Entry], folder: str) -> list[Entry]:
    """The labels with names for their files that are safe and different, below a folder ('': beside the labels)."""
    taken: set[str] = set()
    found: list[Entry] = []
    for entry in labels:
        path = PurePosixPath(_safe(entry))
        unique = entry.image or str(len(found))
        others = (str(path.with_name(f"{prefix}-{path.name}")) for prefix in (unique[:12], unique))
        name = next(name for name in (str(path), *others) if name.lower() not in taken)
        taken.add(name.lower())
        found.append(replace(entry, file=f"{folder}/{name}" if folder else name))
    return found


def images_of(labels: Sequence[Entry]) -> Iterator[Part]:
    """The images themselves, under the names that the labels give them."""
    return (Part(entry.file, image=entry.image) for entry in labels)


def base_name(entry: Entry) -> str:
    """The name of an image's file without its folders; its id where it has none."""
    return _safe(entry).rpartition("/")[2]


def _safe(entry: Entry) -> str:
    parts = [part for part in PurePosixPath(entry.file.replace("\\", "/")).parts if part not in ("/", ".", "..")]
    return "/".join(made_plain(part, longest=150).replace(":", "-") for part in parts) or entry.image


def _shown(text: str) -> str:
    return f"'{made_plain(text, longest=80)}'"


def _parse(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except RecursionError:
        raise InvalidInput(f"{_shown(name)} is nested too deeply to be a file of labels.") from None
    except json.JSONDecodeError as error:
        raise InvalidInput(
            f"{_shown(name)} is not JSON: {error.msg} in line {error.lineno}, column {error.colno}.",
            hint="It may be cut short: export it again.",
        ) from None
    except ValueError as error:  # a number of too many digits
        raise InvalidInput(f"{_shown(name)} cannot be read: {error}.") from None


def _unwrapped(folder: Path) -> Path:
    """The folder inside, where packers put one around everything; not where it is a class with its images."""
    inner = [path for path in folder.iterdir() if not _is_hidden(path.name)]
    if len(inner) != 1 or not inner[0].is_dir() or inner[0].is_symlink():
        return folder
    within = [path for path in inner[0].iterdir() if not _is_hidden(path.name)]
    wraps = any(path.is_dir() or path.suffix.lower() in _TABLES for path in within)
    splits = inner[0].name.lower() in ("train", "training", "test", "testing", "val", "valid", "validation")
    return inner[0] if wraps and not splits else folder


def _walk(root: Path) -> Iterator[str]:
    count = 0
    for here, folders, files in os.walk(root):
        place = Path(here)
        folders[:] = sorted(name for name in folders if not _is_hidden(name) and not (place / name).is_symlink())
        for name in sorted(files):
            if not _is_hidden(name) and not (place / name).is_symlink():
                count += 1
                if count > _MOST_FILES:
                    raise TooLarge(f"{root.name} holds more than {_MOST_FILES:,} files.", hint="Divide it.")
                yield (place / name).relative_to(root).as_posix()


def _is_hidden(name: str) -> bool:
    return name.startswith(".") or name.lower() in _HIDDEN
