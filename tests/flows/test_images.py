"""Images by their names: ids and files, quickly, and never the wrong one."""

import json
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from seedbed.assets.access.roles import SOLO
from seedbed.assets.data.records import ImageRecord, read_records, write_records
from seedbed.assets.projects.labels import LabelEvent
from seedbed.assets.projects.projects import Projects as KeptProjects
from seedbed.assets.store.bundle import Lineage
from seedbed.flows.gallery import Galleries, Gallery
from seedbed.flows.images import SEVERAL, Images, Shapes, images_in, read_shapes
from seedbed.flows.platform import Platform
from seedbed.flows.standing import Standings
from tests.flows.made_up import again, made_up


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


def test_many_who_ask_at_once_have_the_records_read_once(tmp_path: Path) -> None:
    records = [ImageRecord(f"{number:064x}", f"{number}.jpg", "", width=3, height=2) for number in range(20_000)]
    (tmp_path / "records.jsonl").write_bytes(write_records(records))
    together = threading.Barrier(4)

    def ask() -> Shapes:
        together.wait()
        return read_shapes(tmp_path / "records.jsonl")

    with ThreadPoolExecutor(4) as pool:
        found = [asked.result() for asked in [pool.submit(ask) for _ in range(4)]]
    assert all(one is found[0] for one in found) and len(found[0].ids) == 20_000


def test_labels_are_read_without_the_long_manifest_of_the_images(platform: Platform, tmp_path: Path) -> None:
    made = made_up(platform, tmp_path / "made-up", count=5, grouped=False)
    platform.store.parts.manifests.path_of(made.project.data).unlink()
    made.label(3)
    assert platform.projects.changes("fields", by=SOLO).rows == [3]


def test_a_cache_that_has_other_records_is_not_believed(platform: Platform, tmp_path: Path) -> None:
    made = made_up(platform, tmp_path / "made-up", count=5, grouped=False)
    other = made_up(platform, tmp_path / "other", name="other", count=7, grouped=False)
    data = platform.store.publish(again(platform, made.project.data, Lineage("ingest")))
    (cache,) = Galleries(platform.store).made(other.project.data).decoded
    platform.store.publish(again(platform, cache, Lineage("decode", {}, (("data", data.uuid),))))
    assert images_in(platform.store, data).ids == tuple(made.ids)


def test_a_file_name_that_several_images_have_stands_for_none_of_them(tmp_path: Path) -> None:
    files = ["a.jpg", "b.jpg", "a.jpg"]
    records = [ImageRecord(f"{number:064x}", name, f"{number}.jpg") for number, name in enumerate(files)]
    (tmp_path / "records.jsonl").write_bytes(write_records(records))
    images = Images(tmp_path / "records.jsonl")
    assert [images.row(name) for name in ("a.jpg", "b.jpg", "c.jpg", records[2].id)] == [SEVERAL, 1, None, 2]
    assert [images.only(name) for name in ("a.jpg", "b.jpg", "c.jpg", records[2].id)] == [None, 1, None, 2]
    assert (images.id_of("a.jpg"), images.id_of("b.jpg")) == ("a.jpg", records[1].id)


def test_a_label_that_came_before_the_images_counts_only_where_its_name_is_clear(
    platform: Platform, tmp_path: Path
) -> None:
    project = platform.projects.create("early", classes=["rust"], by=SOLO)
    said = [LabelEvent(name, name, "rust", "") for name in ("a.jpg", "b.jpg")]
    platform.projects.add_labels("early", said, by=SOLO)
    records = [ImageRecord(f"{number:064x}", name, "") for number, name in enumerate(["a.jpg", "b.jpg", "a.jpg"])]
    (tmp_path / "records.jsonl").write_bytes(write_records(records))
    gallery = Gallery(tmp_path / "records.jsonl", (), platform.store)
    kept = KeptProjects(platform.database, platform.events, platform.clock)
    assert Standings(kept).of(project, gallery).rows.tolist() == [-1, 0, -1]


def test_numbers_of_images_are_found_by_the_names_of_their_files(platform: Platform, tmp_path: Path) -> None:
    made = made_up(platform, tmp_path / "made-up", count=5, grouped=False)
    asked = ["field/000003.jpg", made.ids[1], "field/000009.jpg"]
    assert platform.data.rows(made.project.data, asked, by=SOLO) == {"field/000003.jpg": 3, made.ids[1]: 1}


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
