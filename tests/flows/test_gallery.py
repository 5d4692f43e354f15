"""Images of a data set for pages: quick, in their proportions, and never from another data set."""

import io
import json
import time
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from seedbed.assets.access.roles import SOLO
from seedbed.assets.data.records import ImageRecord, read_records, write_records
from seedbed.assets.store.bundle import Draft, DraftArray, Lineage
from seedbed.flows.gallery import Galleries, read_shapes
from seedbed.flows.platform import Platform
from tests.flows.made_up import made_up


def test_ids_and_sizes_are_those_of_the_records_whatever_the_files_are_called(tmp_path: Path) -> None:
    names = ["plain.jpg", 'a "width": 7, "height": 9, b.jpg', "ein blätt.jpg", "a\nb.jpg", '{"id": "', "\\"]
    extra = {"width": "3", "note": '"width": 1, "height": 2,'}
    records = [
        ImageRecord(f"{number:064x}", name, f"{number}.jpg", width=10 + number, height=20 + number, extra=extra)
        for number, name in enumerate(names)
    ]
    (tmp_path / "records.jsonl").write_bytes(write_records(records))
    shapes = read_shapes(tmp_path / "records.jsonl")
    assert shapes.ids == tuple(record.id for record in read_records(tmp_path / "records.jsonl"))
    assert shapes.sides.tolist() == [[10 + number, 20 + number] for number in range(len(names))]
    assert shapes.rows[records[3].id] == 3


def test_records_that_are_written_in_another_order_are_read_all_the_same(tmp_path: Path) -> None:
    record = ImageRecord("a" * 64, "x.jpg", "x.jpg", width=4, height=3)
    backwards = dict(reversed(record.to_json().items()))
    (tmp_path / "records.jsonl").write_text(json.dumps(backwards) + "\n")
    assert read_shapes(tmp_path / "records.jsonl").sides.tolist() == [[4, 3]]


def test_a_thumbnail_comes_from_the_smallest_cache_that_is_sharp_enough_else_from_the_image(
    platform: Platform, tmp_path: Path
) -> None:
    (tmp_path / "images").mkdir()
    grid = np.zeros((300, 400, 3), dtype=np.uint8)
    grid[:, 200:] = 255
    Image.fromarray(grid).save(tmp_path / "images" / "halves.png")
    job = platform.data.add(tmp_path / "images", name="halves", size=32, by=SOLO)
    platform.run_until_done([job.id])

    def picture(size: int) -> Image.Image:
        return Image.open(io.BytesIO(platform.data.thumbnail("halves", 0, size=size, by=SOLO)))

    for size, shape in ((32, (32, 24)), (40, (40, 30)), (200, (200, 150)), (1024, (400, 300))):
        found = picture(size)
        assert found.size == shape, "in its proportions, never enlarged"
        pixels = np.asarray(found.convert("L"))
        assert pixels[:, : shape[0] // 2 - 3].max() < 30 and pixels[:, shape[0] // 2 + 3 :].min() > 225


def test_what_is_made_of_a_later_version_is_not_taken_for_the_earlier_ones(platform: Platform, tmp_path: Path) -> None:
    galleries = Galleries(platform.store)
    first = made_up(platform, tmp_path / "one", name="one")
    made = galleries.made(first.project.data)
    assert len(made.decoded) == len(made.embeddings) == len(made.groups) == 1
    second = made_up(platform, tmp_path / "two", name="two", grouped=False)
    later = platform.store.get(second.project.data)
    # the second data set was made from the first: its cache is two generations away, as embeddings would be
    lineage = Lineage("ingest", {}, (("data", first.project.data),))
    grown = platform.store.publish(_again(platform, later.uuid, lineage))
    galleries.forget(first.project.data)
    assert galleries.made(first.project.data) == made
    assert galleries.made(grown.uuid).embeddings == ()


def _again(platform: Platform, uuid: str, lineage: Lineage) -> Draft:
    bundle = platform.store.get(uuid)
    arrays = {name: DraftArray(array.type, array.items) for name, array in bundle.arrays.items()}
    return Draft(name="grown", kind=bundle.kind, arrays=arrays, lineage=lineage, project=bundle.project)


@pytest.mark.slow
def test_a_hundred_thousand_images_are_opened_in_less_than_a_second(tmp_path: Path) -> None:
    records = [
        ImageRecord(f"{number:064x}", f"field/{number}.jpg", f"{number:064x}.jpg", width=320, height=240)
        for number in range(100_000)
    ]
    (tmp_path / "records.jsonl").write_bytes(write_records(records))
    began = time.process_time()
    assert len(read_shapes(tmp_path / "records.jsonl").rows) == 100_000
    assert time.process_time() - began < 1.0
