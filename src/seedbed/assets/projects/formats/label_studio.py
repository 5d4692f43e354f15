"""Label Studio: a JSON list of tasks with their annotations, or its short form (JSON-MIN)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any, ClassVar
from urllib.parse import parse_qs, unquote, urlsplit

from seedbed.assets.data.sources import IMAGE_SUFFIXES
from seedbed.assets.projects.formats.format import Entry, Given, Part, as_id, images_of, one_each, placed, refuse
from seedbed.base.errors import InvalidInput

_MOST_PROBLEMS = 50


class LabelStudio:
    """Tasks whose data names an image and whose last annotation has one choice."""

    name: ClassVar[str] = "label-studio"
    about: ClassVar[str] = "Label Studio's JSON: tasks with one choice each"
    with_images: ClassVar[bool] = False
    without_images: ClassVar[bool] = True

    def recognises(self, given: Given) -> bool:
        """A list of tasks among the JSON files."""
        return any(_is_tasks(document) for document in given.documents().values())

    def read(self, given: Given) -> list[Entry]:
        """What the last annotation of each task says that was not cancelled; predictions are not labels."""
        found = {name: document for name, document in given.documents().items() if _is_tasks(document)}
        if not found:
            raise InvalidInput(f"There is no list of Label Studio's tasks in '{given.name}'.")
        entries: list[Entry] = []
        for name, tasks in found.items():
            problems: list[str] = []
            for number, task in enumerate(tasks, 1):
                _read_task(task, number, entries, problems)
                if len(problems) >= _MOST_PROBLEMS:
                    break
            refuse(name, problems)
        return one_each(entries, given.name)

    def write(self, labels: Sequence[Entry], classes: Sequence[str], *, images: bool) -> Iterator[Part]:
        """Tasks that Label Studio imports, for a labelling configuration with Image 'image' and Choices 'choice'."""
        rows = placed(labels, "images") if images else labels
        tasks = [_task(number, entry) for number, entry in enumerate(rows, 1)]
        yield Part("tasks.json", json.dumps(tasks, ensure_ascii=False, indent=1).encode())
        if images:
            yield from images_of(rows)


def file_of(address: str) -> str:
    """The name of a file in an address of Label Studio's: /data/upload/7/name.jpg, or /data/local-files/?d=name.jpg."""
    try:
        parts = urlsplit(address)
    except ValueError:
        return address
    inner = parse_qs(parts.query).get("d") or parse_qs(parts.query).get("fileuri")
    if inner:
        return inner[0].lstrip("/")
    return unquote(parts.path).lstrip("/") if parts.scheme or address.startswith("/") else address


def _is_tasks(document: Any) -> bool:
    if not isinstance(document, list) or not document or not isinstance(document[0], Mapping):
        return False
    first = document[0]
    return isinstance(first.get("data"), Mapping) or ("image" in first and ("choice" in first or "annotator" in first))


def _read_task(task: Any, number: int, entries: list[Entry], problems: list[str]) -> None:
    data = task.get("data", task) if isinstance(task, Mapping) else {}
    image = _image_of(data) if isinstance(data, Mapping) else ""
    if not image:
        problems.append(f"task {number} names no image.")
        return
    choices = _choices(task)
    if len(choices) > 1:
        problems.append(f"task {number} has {len(choices)} choices; an image has one class here.")
    elif choices:
        entries.append(Entry(file_of(image), next(iter(choices)), as_id(data.get("sha256"))))


def _image_of(data: Mapping[str, Any]) -> str:
    named = data.get("image")
    if isinstance(named, str) and named:
        return named
    texts = [value for value in data.values() if isinstance(value, str)]
    return next((text for text in texts if PurePosixPath(file_of(text)).suffix.lower() in IMAGE_SUFFIXES), "")


def _choices(task: Mapping[str, Any]) -> set[str]:
    """What is said of a task; nothing: nobody has labelled it."""
    if "choice" in task:
        said = task["choice"]
        chosen = said.get("choices") if isinstance(said, Mapping) else said
        return _texts(chosen)
    annotations = task.get("annotations", task.get("completions"))
    if not isinstance(annotations, list):
        return set()
    counted = [one for one in annotations if isinstance(one, Mapping) and not one.get("was_cancelled")]
    results = counted[-1].get("result") if counted else None
    values = [one.get("value") for one in results if isinstance(one, Mapping)] if isinstance(results, list) else []
    return {text for value in values if isinstance(value, Mapping) for text in _texts(value.get("choices"))}


def _texts(value: Any) -> set[str]:
    if isinstance(value, str):
        value = [value]
    return {one.strip() for one in value if isinstance(one, str) and one.strip()} if isinstance(value, list) else set()


def _task(number: int, entry: Entry) -> dict[str, Any]:
    choice = {"from_name": "choice", "to_name": "image", "type": "choices", "value": {"choices": [entry.label]}}
    return {
        "id": number,
        "data": {"image": entry.file, "sha256": entry.image},
        "annotations": [{"result": [choice], "was_cancelled": False}],
    }


FORMAT = LabelStudio()
