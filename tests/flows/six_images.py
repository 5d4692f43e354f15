"""A data set of six made-up images, without a job that takes them in: each file's bytes are its name."""

import hashlib
from collections.abc import Mapping
from pathlib import Path

from seedbed.assets.access.roles import Identity, Role
from seedbed.assets.data.records import ImageRecord, write_records
from seedbed.flows.kinds.data import FACTS, RECORDS, DataSet
from seedbed.flows.kinds.kind import put
from seedbed.flows.platform import Platform

BOB = Identity(id="bob", name="bob", role=Role.OPERATOR)
FILES = ("leaf.jpg", "plot 1/a.jpg", "plot 1/b.jpg", "plot 2/a.jpg", "rust/c.jpg", "well/d.jpg")


def id_of(file: str) -> str:
    return hashlib.sha256(file.encode()).hexdigest()


def publish(platform: Platform, folder: Path, files: Mapping[str, str], name: str = "leaves") -> str:
    """A data set of made-up images (each file's bytes are its name) with the classes that they came with."""
    records = []
    for file, klass in files.items():
        image = f"{id_of(file)}.jpg"
        put(folder / "images" / image, file)
        records.append(ImageRecord(id_of(file), file, image, klass, "", 40, 30, len(file), "JPEG"))
    put(folder / FACTS / RECORDS, write_records(records).decode())
    made = DataSet(folder, {"classes": (), "count": (len(records),), "findings": (0,)}).draft(name=name)
    return platform.store.publish(made).uuid
