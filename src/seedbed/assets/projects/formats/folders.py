"""Class folders: every image lies in a folder that is named like its class."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import ClassVar

from seedbed.assets.projects.formats.format import Entry, Given, Part, base_name, images_of, one_each, placed
from seedbed.assets.projects.formats.table import FOLDERS_TABLE, read_table
from seedbed.base.errors import InvalidInput
from seedbed.base.tables import csv_text

SPLITS = {
    **dict.fromkeys(("train", "training"), "train"),
    **dict.fromkeys(("test", "testing"), "test"),
    **dict.fromkeys(("val", "valid", "validation"), "validation"),
}
_LONGEST = 100
_NOT_IN_NAMES = set('/\\:*?"<>|')


class Folders:
    """[train|test|val/]CLASS/...image; the images come along, so they are known by their bytes."""

    name: ClassVar[str] = "folders"
    about: ClassVar[str] = "a folder of images for each class"
    with_images: ClassVar[bool] = True
    without_images: ClassVar[bool] = False

    def recognises(self, given: Given) -> bool:
        """Images in folders."""
        return any(class_folder(name) for name in given.images)

    def read(self, given: Given) -> list[Entry]:
        """The folder of each image; images that lie in none have no label."""
        return read_folders(given)

    def write(self, labels: Sequence[Entry], classes: Sequence[str], *, images: bool) -> Iterator[Part]:
        """The images in the folders of their classes."""
        folders = folder_names(classes)
        yield from folder_table(folders)
        rows = [replace(one, file=f"{folders[one.label]}/{base_name(one)}") for one in labels]
        yield from images_of(placed(rows, ""))


def class_folder(name: str) -> str:
    """The folder that says an image's class: the first one below those of parts such as train."""
    folders = PurePosixPath(name).parts[:-1]
    below = folders[1:] if folders and folders[0].lower() in SPLITS else folders
    return below[0] if below else ""


def read_folders(given: Given) -> list[Entry]:
    """The class of every image that lies in a folder."""
    meant = _meant(given)
    inside = [(name, class_folder(name)) for name in given.images if class_folder(name)]
    if not inside:
        raise InvalidInput(
            f"No image in '{given.name}' lies in a folder of its class.",
            hint="Put the images of each class into a folder that is named like it.",
        )
    entries = [Entry(name, meant.get(folder, folder.strip()), given.digest(name)) for name, folder in inside]
    return one_each(entries, given.name)


def folder_names(classes: Sequence[str]) -> dict[str, str]:
    """A folder for each class: its own name, or where that cannot be a folder's, class-1 and so on."""
    taken: set[str] = set()
    found = {}
    for place, name in enumerate(classes, 1):
        folder = name if _can_be_a_folder(name) and name.lower() not in taken else f"class-{place}"
        while folder.lower() in taken:
            folder += "-"
        taken.add(folder.lower())
        found[name] = folder
    return found


def folder_table(folders: Mapping[str, str]) -> Iterator[Part]:
    """Which class a folder stands for, where its name does not say."""
    odd = [(folder, name) for name, folder in folders.items() if folder != name]
    if odd:
        yield Part(FOLDERS_TABLE, csv_text([("file", "class"), *odd]).encode())


def _meant(given: Given) -> dict[str, str]:
    if FOLDERS_TABLE not in given.files:
        return {}
    entries, _ = read_table(given.read(FOLDERS_TABLE), FOLDERS_TABLE)
    return {entry.file: entry.label for entry in entries}


def _can_be_a_folder(name: str) -> bool:
    return (
        not name.startswith((".", "-", "~"))
        and not name.endswith((".", " "))
        and not _NOT_IN_NAMES & set(name)
        and name.lower() not in (*SPLITS, "images", "__macosx")
        and len(name.encode()) <= _LONGEST
    )


FORMAT = Folders()
