"""COCO: one JSON object with images, categories and annotations."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

from seedbed.assets.projects.formats.format import Entry, Given, Part, as_id, images_of, one_each, placed, refuse
from seedbed.base.errors import InvalidInput

_LISTS = ("images", "annotations", "categories")
_MOST_PROBLEMS = 50


class Coco:
    """Annotations that give an image its category; boxes and outlines are not read, and written around all of it."""

    name: ClassVar[str] = "coco"
    about: ClassVar[str] = "COCO's JSON: images, categories, annotations"
    with_images: ClassVar[bool] = False
    without_images: ClassVar[bool] = True

    def recognises(self, given: Given) -> bool:
        """An object with COCO's three lists among the JSON files."""
        return any(_is_coco(document) for document in given.documents().values())

    def read(self, given: Given) -> list[Entry]:
        """The category of each annotated image, which may have several annotations of one category."""
        found = {name: document for name, document in given.documents().items() if _is_coco(document)}
        if not found:
            raise InvalidInput(f"There is no JSON with the lists {', '.join(_LISTS)} in '{given.name}'.")
        entries: list[Entry] = []
        for name, document in found.items():
            problems: list[str] = []
            entries += _read(document, problems)
            refuse(name, problems)
        return one_each(entries, given.name)

    def write(self, labels: Sequence[Entry], classes: Sequence[str], *, images: bool) -> Iterator[Part]:
        """One annotation per image, around all of it."""
        rows = placed(labels, "images") if images else labels
        number = {name: place for place, name in enumerate(classes, 1)}
        document = {
            "images": [_image(place, entry) for place, entry in enumerate(rows, 1)],
            "categories": [{"id": place, "name": name} for name, place in number.items()],
            "annotations": [_annotation(place, number[entry.label], entry) for place, entry in enumerate(rows, 1)],
        }
        yield Part("annotations.json", json.dumps(document, ensure_ascii=False, indent=1).encode())
        if images:
            yield from images_of(rows)


def _is_coco(document: Any) -> bool:
    return isinstance(document, Mapping) and all(isinstance(document.get(name), list) for name in _LISTS)


def _read(document: Mapping[str, Any], problems: list[str]) -> Iterator[Entry]:
    files = _by_id(document["images"], "file_name", "image", problems)
    names = _by_id(document["categories"], "name", "category", problems)
    digests = _by_id(document["images"], "sha256", "image", []) if files else {}
    for place, one in enumerate(document["annotations"], 1):
        if len(problems) >= _MOST_PROBLEMS:
            return
        image, category = (one.get(key) if isinstance(one, Mapping) else None for key in ("image_id", "category_id"))
        if not _known(image, files) or not _known(category, names):
            missing = "image" if not _known(image, files) else "category"
            problems.append(f"annotation {place} names an {missing} that is not in the file.".replace("an c", "a c"))
            continue
        yield Entry(files[image], names[category].strip(), as_id(digests.get(image)))


def _by_id(rows: Sequence[Any], key: str, what: str, problems: list[str]) -> dict[Any, str]:
    found: dict[Any, str] = {}
    for place, row in enumerate(rows, 1):
        number, text = (row.get("id"), row.get(key)) if isinstance(row, Mapping) else (None, None)
        if not isinstance(number, int | str) or not isinstance(text, str) or not text.strip():
            problems.append(f"{what} {place} has no id or no {key}.")
        elif found.setdefault(number, text) != text:
            problems.append(f"two {what} entries have the id {str(number)[:40]}.")
    return found


def _known(key: Any, rows: Mapping[Any, str]) -> bool:
    return isinstance(key, int | str) and key in rows


def _image(place: int, entry: Entry) -> dict[str, Any]:
    return {
        "id": place,
        "file_name": entry.file,
        "width": entry.width,
        "height": entry.height,
        "sha256": entry.image,
    }


def _annotation(place: int, category: int, entry: Entry) -> dict[str, Any]:
    return {
        "id": place,
        "image_id": place,
        "category_id": category,
        "bbox": [0, 0, entry.width, entry.height],
        "area": entry.width * entry.height,
        "iscrowd": 0,
    }


FORMAT = Coco()
