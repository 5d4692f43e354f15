"""YOLO classification sets: train, val and test, each with a folder of images for each class."""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import ClassVar

from seedbed.assets.projects.formats.folders import SPLITS, class_folder, folder_names, folder_table, read_folders
from seedbed.assets.projects.formats.format import Entry, Given, Part, base_name, images_of, placed

_FOLDERS = {"train": "train", "validation": "val", "test": "test"}
_EVERY = 5  # image of a class is for validation, where the source of the images does not say


class Yolo:
    """train|val|test/CLASS/image."""

    name: ClassVar[str] = "yolo"
    about: ClassVar[str] = "YOLO's classification sets: train and val, with a folder for each class"
    with_images: ClassVar[bool] = True
    without_images: ClassVar[bool] = False

    def recognises(self, given: Given) -> bool:
        """Images in class folders below parts."""
        return any(PurePosixPath(name).parts[0].lower() in SPLITS and class_folder(name) != "" for name in given.images)

    def read(self, given: Given) -> list[Entry]:
        """The class folder of each image, in whichever part."""
        return read_folders(given)

    def write(self, labels: Sequence[Entry], classes: Sequence[str], *, images: bool) -> Iterator[Part]:
        """Parts as the images came in; of those that came without, every fifth of a class is for validation."""
        folders = folder_names(classes)
        yield from folder_table(folders)
        seen: Counter[str] = Counter()
        rows = []
        for entry in sorted(labels, key=lambda one: one.image):
            seen[entry.label] += 1
            part = entry.split or ("validation" if seen[entry.label] % _EVERY == 0 else "train")
            place = f"{_FOLDERS.get(part, 'train')}/{folders[entry.label]}"
            rows.append(replace(entry, file=f"{place}/{base_name(entry)}"))
        yield from images_of(placed(rows, ""))


FORMAT = Yolo()
