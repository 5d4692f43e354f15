"""Projects whose images are grouped, without any network having looked at them: the groups are made up.

Image number i shows class i % classes, in a colour of its own, and its embedding lies near those of its class.
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from seedbed.assets.access.roles import SOLO
from seedbed.assets.data.cache import CacheWriter, cache_name
from seedbed.assets.data.records import ImageRecord, write_records
from seedbed.assets.projects.labels import LabelEvent
from seedbed.assets.projects.projects import Project
from seedbed.assets.store.bundle import Bundle, Draft, DraftArray, Lineage
from seedbed.base.ids import digest_of_bytes, new_id
from seedbed.flows.kinds.data import FACTS, RECORDS, DataSet, Decoded
from seedbed.flows.kinds.embeddings import Embeddings, Groups
from seedbed.flows.kinds.kind import Kind, put
from seedbed.flows.platform import Platform

_COLOURS = ((200, 40, 40), (40, 200, 40), (40, 40, 200), (200, 200, 40), (40, 200, 200))


@dataclass(frozen=True)
class MadeUp:
    """A project, the ids of its images, and what each shows."""

    platform: Platform
    project: Project
    ids: Sequence[str]
    classes: Sequence[str]

    def truth(self, row: int) -> str:
        """What an image shows."""
        return self.classes[row % len(self.classes)]

    def label(self, *rows: int) -> None:
        """Somebody labels these images as what they show."""
        said = [LabelEvent(new_id(), self.ids[row], self.truth(row), "") for row in rows]
        self.platform.projects.add_labels(self.project.id, said, by=SOLO)

    def say(self, row: int, label: str, mark: str = "") -> None:
        """Somebody says something else of an image."""
        event = LabelEvent(new_id(), self.ids[row], label, "", mark=mark)  # type: ignore[arg-type]
        self.platform.projects.add_labels(self.project.id, [event], by=SOLO)


def made_up(
    platform: Platform,
    folder: Path,
    *,
    name: str = "fields",
    count: int = 60,
    classes: Sequence[str] = ("rust", "mildew", "healthy"),
    grouped: bool = True,
    size: int = 16,
    width: int = 24,
) -> MadeUp:
    """A project with so many images; its data set, their pixels and, where `grouped`, their groups are in the store."""
    project = platform.projects.create(name, classes=classes, by=SOLO)
    records = [_record(number, name) for number in range(count)]
    data = _publish(platform, _data(folder / "data", records), name, project.id, "ingest")
    pixels = _publish(platform, _decoded(folder / "decoded", records, size), f"{name}.decoded", project.id, "ingest",
                      ("data", data.uuid))  # fmt: skip
    ids = [record.id for record in records]
    if grouped:
        group(platform, folder, name, project.id, pixels, embeddings_of(count, len(classes), width), ids, len(classes))
    project = platform.projects.set_data(project.id, data.uuid, by=SOLO)
    return MadeUp(platform, project, ids, classes)


def group(
    platform: Platform,
    folder: Path,
    name: str,
    project: str,
    pixels: Bundle,
    rows: NDArray[np.float32],
    ids: Sequence[str],
    classes: int,
) -> None:
    """Put embeddings and groups into the store: group g has the images of class g."""
    seen = Embeddings.write(folder / "seen", rows, ids, card="efficientnet_lite0.imagenet", size=96)
    embeddings = _publish(platform, seen, f"{name}.embeddings", project, "embed", ("decoded", pixels.uuid))
    groups = (np.arange(len(rows)) % classes).astype(np.int32)
    centres = np.stack([rows[groups == number].mean(axis=0) for number in range(classes)])
    typical = (1 / (1 + np.arange(len(rows)))).astype(np.float32)
    made = Groups.write(folder / "groups", groups, typical, centres)
    _publish(platform, made, f"{name}.groups", project, "group", ("embeddings", embeddings.uuid))


def again(platform: Platform, uuid: str, lineage: Lineage) -> Draft:
    """A bundle with the same content as another, made of something else."""
    bundle = platform.store.get(uuid)
    arrays = {name: DraftArray(array.type, array.items) for name, array in bundle.arrays.items()}
    return Draft(name="grown", kind=bundle.kind, arrays=arrays, lineage=lineage, project=bundle.project)


def embeddings_of(count: int, classes: int, width: int, *, noise: float = 0.35) -> NDArray[np.float32]:
    """Rows of length 1 around a direction for each class."""
    draws = np.random.default_rng(7)
    directions = draws.normal(size=(classes, width))
    directions /= np.linalg.norm(directions, axis=1, keepdims=True)
    rows = directions[np.arange(count) % classes] + noise * draws.normal(size=(count, width)) / np.sqrt(width)
    return np.asarray(rows / np.linalg.norm(rows, axis=1, keepdims=True), dtype=np.float32)


def _record(number: int, name: str) -> ImageRecord:
    image = digest_of_bytes(f"{name} {number}".encode())
    return ImageRecord(image, f"field/{number:06d}.jpg", f"{image}.jpg", width=320, height=240, bytes=1, format="JPEG")


def _data(folder: Path, records: Sequence[ImageRecord]) -> Kind:
    put(folder / FACTS / "statistics.json", json.dumps({"images": len(records), "unlabelled": len(records)}))
    put(folder / FACTS / "findings.json", "[]")
    (folder / FACTS / RECORDS).write_bytes(write_records(records))
    return DataSet(folder, {"classes": (), "count": (len(records),), "findings": (0,)})


def _decoded(folder: Path, records: Sequence[ImageRecord], size: int) -> Kind:
    (folder / "decoded").mkdir(parents=True)
    (folder / FACTS).mkdir()
    (folder / FACTS / RECORDS).write_bytes(write_records(records))
    with CacheWriter(folder / "decoded" / cache_name(size), size) as writer:
        for start in range(0, len(records), 1000):
            rows = range(start, min(start + 1000, len(records)))
            colours = np.array([_COLOURS[row % len(_COLOURS)] for row in rows], dtype=np.uint8)
            writer.append(np.broadcast_to(colours[:, None, None, :], (len(rows), size, size, 3)))
        writer.finish()
    return Decoded.of(folder, size, len(records))


def _publish(platform: Platform, made: Kind, name: str, project: str, step: str, *inputs: tuple[str, str]) -> Bundle:
    return platform.store.publish(made.draft(name=name, project=project, lineage=Lineage(step, {}, tuple(inputs))))
