"""Where images come from: a folder, an archive, a CSV manifest, one image, or the folder of an upload.

`open_source` looks at a path and lists what it holds: each image with its name, and the class, split and other
columns that its place or the manifest gives it.
"""

import contextlib
import os
import shutil
import stat
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from seedbed.assets.data.archives import is_archive, unpack
from seedbed.assets.data.decode import Undecodable
from seedbed.assets.data.limits import Limits
from seedbed.base.errors import InvalidInput, NotFound, Unsafe
from seedbed.base.files import inside
from seedbed.base.resources import show_size
from seedbed.base.tables import CLASS_COLUMNS, FILE_COLUMNS, FILES_HINT, Sheet
from seedbed.base.text import readable

MANIFEST = "manifest.csv"
IMAGE_SUFFIXES = frozenset(
    f".{suffix}"
    for suffix in (
        *("jpg", "jpeg", "jpe", "jfif", "mpo", "png", "webp", "tif", "tiff", "gif", "bmp"),
        *("avif", "heic", "heif", "ppm", "pgm", "pbm", "pnm", "jp2", "j2k"),
    )
)
_SPLITS = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("test", "testing"), "test"),
    **dict.fromkeys(("val", "valid", "validation"), "validation"),
}
_IGNORED = {"thumbs.db", "desktop.ini", "__macosx"}


@dataclass(frozen=True)
class Item:
    """One file that should be an image."""

    name: str
    path: Path  # as it really is, without links, unless they lead nowhere: one that leads elsewhere came meanwhile
    klass: str = ""
    split: str = ""
    extra: Mapping[str, str] = field(default_factory=dict)

    def read(self, most: int) -> bytes:
        """All bytes, `most` at most; Undecodable says why there are none: too many, not to be opened, no plain file."""
        try:
            if os.path.realpath(self.path, strict=True) != str(self.path):
                raise Undecodable("was swapped for a link while it was read in")
            with open(self.path, "rb", buffering=0, opener=_follow_and_wait_for_nothing) as opened:
                found = os.fstat(opened.fileno())
                if not stat.S_ISREG(found.st_mode):
                    raise Undecodable("is a pipe or a device, and no plain file")
                if found.st_size > most:
                    raise Undecodable(f"larger than {show_size(most)}", bomb=True)
                return opened.readall()
        except OSError as error:
            raise Undecodable(f"cannot be opened ({error.strerror})") from None


def _follow_and_wait_for_nothing(path: str, flags: int) -> int:
    return os.open(path, flags | os.O_NOFOLLOW | os.O_NONBLOCK)  # to open a pipe would wait for a writer


@dataclass(frozen=True)
class Source:
    """What a path holds. `owned` files are our own unpacked copies and may be moved; others are only read."""

    items: tuple[Item, ...]
    owned: bool = False
    not_images: tuple[str, ...] = ()
    missing: tuple[str, ...] = ()  # named by the manifest, but not there
    outside: tuple[str, ...] = ()  # symbolic links that lead out of the folder, which are not followed
    damaged: tuple[str, ...] = ()  # entries of an archive whose bytes are broken


@contextlib.contextmanager
def open_source(path: Path, scratch: Path, *, limits: Limits | None = None) -> Iterator[Source]:
    """List the images of a folder, archive or CSV manifest, or one image; archives are unpacked under `scratch`.

    A folder (or archive) that holds a manifest.csv at its top is read by that manifest; an upload's archives are
    opened too. On leaving, `scratch` is gone.
    """
    limits = limits or Limits()
    shutil.rmtree(scratch, ignore_errors=True)  # of a run that was killed
    try:
        source = _look(path, scratch, limits)
        if not source.items:
            raise InvalidInput(
                f"There are no images in {path.name or path}.",
                hint="Images are files that end in .jpg, .png, .webp, .tif, .heic, .gif, .bmp, .avif and the like.",
                problems=[f"'{name}' is named but not there" for name in source.missing[:20]],
            )
        yield source
    finally:
        shutil.rmtree(scratch, ignore_errors=True)


def _look(path: Path, scratch: Path, limits: Limits) -> Source:
    if path.is_dir():
        archives = sorted(file for file in path.iterdir() if file.is_file() and is_archive(file))
        return _with_archives(path, archives, scratch, limits) if archives else _by_manifest_or_place(path)
    if not path.exists():
        raise NotFound(
            f"There is no file or folder {path}.", hint="Check the path; it is read on the machine that runs."
        )
    if _is_table(path):
        return _read_manifest(path)
    if path.is_file() and is_archive(path):
        return _read_archive(path, scratch / "0", limits)
    if path.suffix.lower() in IMAGE_SUFFIXES:
        return Source((Item(path.name, path.resolve()),))
    raise InvalidInput(
        f"'{path.name}' is no folder, archive, CSV or image.", hint="Give a folder, .zip, .tar(.gz), .csv or an image."
    )


def _by_manifest_or_place(folder: Path) -> Source:
    tables = [file for file in folder.iterdir() if _is_table(file)]
    only = tables[0] if len(tables) == 1 else None
    return _read_manifest(only) if only and only.name.lower() == MANIFEST else _read_folder(folder)


def _is_table(path: Path) -> bool:
    return path.suffix.lower() in (".csv", ".tsv") and path.is_file()


def _with_archives(folder: Path, archives: Sequence[Path], scratch: Path, limits: Limits) -> Source:
    """An upload: archives, beside loose images perhaps."""
    parts = [_read_archive(archive, scratch / str(number), limits) for number, archive in enumerate(archives)]
    if len(archives) > 1 or any(file not in archives for file in folder.iterdir()):
        loose = _read_folder(folder)
        others = tuple(name for name in loose.not_images if folder / name not in archives)
        names = [f"{archive.name}/" for archive in archives]
        parts = [_renamed(part, name) for part, name in zip(parts, names, strict=True)]
        parts.append(Source(loose.items, not_images=others, outside=loose.outside))
    return Source(
        items=tuple(sorted((item for part in parts for item in part.items), key=lambda item: item.name)),
        owned=False,
        not_images=tuple(name for part in parts for name in part.not_images),
        missing=tuple(name for part in parts for name in part.missing),
        outside=tuple(name for part in parts for name in part.outside),
        damaged=tuple(name for part in parts for name in part.damaged),
    )


def _renamed(source: Source, prefix: str) -> Source:
    items = tuple(Item(prefix + i.name, i.path, i.klass, i.split, i.extra) for i in source.items)
    return Source(
        items,
        not_images=tuple(prefix + name for name in source.not_images),
        missing=tuple(prefix + name for name in source.missing),
        damaged=tuple(prefix + name for name in source.damaged),
    )


def _read_archive(archive: Path, folder: Path, limits: Limits) -> Source:
    """Images of an archive; a single folder around everything is taken off first, as packers like to add one."""
    damaged = [readable(name) for name in unpack(archive, folder, limits)]
    inner = [path for path in folder.iterdir() if not _is_ignored(path.name)]
    wrapped = len(inner) == 1 and inner[0].is_dir() and inner[0].name.lower() not in _SPLITS
    found = _by_manifest_or_place(inner[0] if wrapped else folder)
    return Source(found.items, True, found.not_images, found.missing, found.outside, tuple(damaged))


def _read_folder(root: Path) -> Source:
    items, not_images, outside = [], [], []
    top = root.resolve()
    for path in _walk(top):
        name = readable(path.relative_to(top).as_posix())
        real = _real(path) if path.is_symlink() else path
        if path.is_symlink() and (path.is_dir() or not real.is_relative_to(top)):
            outside.append(name)
        elif (real.is_file() or real.is_symlink()) and (path.suffix.lower() in IMAGE_SUFFIXES or not path.suffix):
            items.append(_placed(name, real))
        else:
            not_images.append(name)
    return Source(tuple(items), not_images=tuple(not_images), outside=tuple(outside))


def _real(path: Path) -> Path:
    """Where a link leads; one that leads to itself stays a link, as with newer versions of Python it does anyway."""
    try:
        return path.resolve()
    except RuntimeError:
        return path


def _walk(root: Path) -> Iterator[Path]:
    """Every file and every symbolic link under a folder, sorted, without those that systems hide."""
    for here, folders, files in os.walk(root):
        linked = [name for name in folders if (Path(here) / name).is_symlink()]
        folders[:] = sorted(name for name in folders if name not in linked and not _is_ignored(name))
        for name in sorted(files + linked):
            if not _is_ignored(name):
                yield Path(here) / name


def _is_ignored(name: str) -> bool:
    return name.startswith(".") or name.lower() in _IGNORED


def _placed(name: str, path: Path) -> Item:
    """Class and split by the folders above a file: [train|test|validation/][class/...]file."""
    folders = list(PurePosixPath(name).parts[:-1])
    split = _SPLITS.get(folders[0].lower(), "") if folders else ""
    if split:
        folders.pop(0)
    return Item(name, path, folders[0] if folders else "", split)


def _read_manifest(table: Path) -> Source:
    """Images named by a CSV: a file column, then class and split where there are any, and the rest kept as it is."""
    sheet = Sheet(table.read_bytes(), table.name)
    [file_column] = sheet.need(FILE_COLUMNS, hint=FILES_HINT)
    class_column, split_column = sheet.find(CLASS_COLUMNS), sheet.find(["split"])
    rest = [name for name in sheet.columns.values() if name not in (file_column, class_column, split_column)]
    items: dict[str, Item] = {}
    missing, outside = [], []
    for row in sheet.rows():
        name = row[file_column].replace("\\", "/")
        try:
            path = inside(table.parent, name)
        except (Unsafe, ValueError):
            outside.append(name)
            continue
        except RuntimeError:  # a link that leads to itself
            missing.append(name)
            continue
        if not name or not path.is_file():
            missing.append(name or f"(line {row.line}: no file)")
            continue
        extra = {column.strip(): row[column] for column in rest}
        split = _SPLITS.get(row[split_column].lower(), "")
        items.setdefault(name, Item(name, path, row[class_column], split, extra))
    if outside:
        raise Unsafe(
            f"{table.name} names {len(outside)} files outside its own folder.",
            hint="Put the CSV beside the images, or above them, and name them relative to it.",
            problems=[f"'{name}'" for name in outside[:20]],
        )
    return Source(tuple(items[name] for name in sorted(items)), missing=tuple(missing))
