"""Ingest: what goes in comes out whole, once, with every bad file named."""

import json
import os
import shutil
import signal
import subprocess
import sys
import tarfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

from seedbed.assets.data.cache import cache_name
from seedbed.assets.data.decode import decode
from seedbed.assets.data.folder import DataSetFolder
from seedbed.assets.data.ingest import IngestResult, ingest
from seedbed.assets.data.journal import JOURNAL, keep_progress
from seedbed.assets.data.limits import Limits
from seedbed.assets.data.synthetic import write_leaves
from seedbed.base.errors import Conflict, InvalidInput
from seedbed.base.ids import digest_of_file
from seedbed.base.run import Stopped
from tests.assets.data.conftest import Save


def take(source: Path, folder: Path, **options: object) -> tuple[IngestResult, DataSetFolder]:
    result = ingest(source, folder, name="leaves", **{"cache_size": 32, **options})  # type: ignore[arg-type]
    return result, DataSetFolder.open(folder)


def codes(result: IngestResult) -> dict[str, tuple[str, ...]]:
    return {finding.code: finding.files for finding in result.findings}


def test_originals_are_kept_byte_for_byte_with_class_size_and_decoded_row(save: Save, tmp_path: Path) -> None:
    paths = {name: save(name, number) for number, name in enumerate(["rust/a.jpg", "rust/b.png", "mildew/c.webp"])}
    seen: list[tuple[int, int]] = []
    result, data = take(tmp_path / "source", tmp_path / "out", on_progress=lambda *step: seen.append(step))
    assert result.images == result.added == 3 and seen[-1] == (3, 3)
    assert data.classes == ("mildew", "rust")
    for row, record in enumerate(data.records):
        kept = data.path(record)
        assert record.id == digest_of_file(kept) == digest_of_file(paths[record.file])
        assert record.klass == record.file.split("/")[0] and (record.width, record.height) == (64, 64)
        assert np.array_equal(data.cache(32).pixels[row], decode(kept.read_bytes(), size=32).pixels)
    assert not (tmp_path / "out" / JOURNAL).exists()


def test_statistics_count_what_is_there(save: Save, tmp_path: Path) -> None:
    for number, name in enumerate(["train/rust/a.jpg", "train/rust/b.png", "test/mildew/c.jpg", "d.jpg"]):
        save(name, number)
    _, data = take(tmp_path / "source", tmp_path / "out")
    counted = data.statistics
    assert (counted.images, counted.unlabelled) == (4, 1)
    assert counted.classes == {"mildew": 1, "rust": 2} and counted.splits == {"test": 1, "train": 2}
    assert counted.formats == {"JPEG": 3, "PNG": 1} and counted.width == (64, 64, 64)
    pixels = np.asarray(data.cache(32).pixels) / 255
    assert counted.mean == pytest.approx(pixels.mean((0, 1, 2)), abs=1e-6)
    assert counted.std == pytest.approx(pixels.std((0, 1, 2)), abs=1e-6)
    assert counted.bytes == sum(path.stat().st_size for path in (tmp_path / "out" / "images").iterdir())


def test_equal_bytes_are_stored_once_and_every_name_is_kept(save: Save, tmp_path: Path) -> None:
    for name in ("a.jpg", "b.jpg", "deep/c.jpg"):
        save(name, 1)
    result, data = take(tmp_path / "source", tmp_path / "out")
    assert len(data.records) == 1 and len(list((tmp_path / "out" / "images").iterdir())) == 1
    assert set(data.records[0].files) == {"a.jpg", "b.jpg", "deep/c.jpg"} and result.copies == 2
    assert set(codes(result)["exact-duplicates"]) == {"a.jpg", "b.jpg", "deep/c.jpg"}


def test_the_same_image_under_two_classes_is_left_unlabelled(save: Save, tmp_path: Path) -> None:
    save("rust/a.jpg", 1), save("mildew/b.jpg", 1), save("mildew/c.jpg", 2)
    result, data = take(tmp_path / "source", tmp_path / "out")
    assert {record.file: record.klass for record in data.records} == {"mildew/b.jpg": "", "mildew/c.jpg": "mildew"}
    assert set(codes(result)["conflicting-classes"]) == {"mildew/b.jpg", "rust/a.jpg"}


def test_an_image_in_both_parts_is_reported_and_counts_as_test(save: Save, tmp_path: Path) -> None:
    save("train/rust/a.jpg", 1), save("test/rust/b.jpg", 1)  # the same bytes
    save("train/rust/c.jpg", 2), save("test/rust/d.jpg", 2, quality=60)  # the same picture
    save("train/rust/e.jpg", 3), save("test/rust/f.jpg", 9)
    result, data = take(tmp_path / "source", tmp_path / "out")
    leaked = next(finding for finding in result.findings if finding.code == "train-test-leak")
    assert {frozenset(group) for group in leaked.groups} == {
        frozenset({"train/rust/a.jpg", "test/rust/b.jpg"}),
        frozenset({"train/rust/c.jpg", "test/rust/d.jpg"}),
    }
    assert next(record.split for record in data.records if len(record.files) == 2) == "test"


def spoil(folder: Path) -> set[str]:
    """Three bad files: cut short, not an image, and a decompression bomb."""
    good = next(folder.glob("*.jpg")).read_bytes()
    (folder / "cut.jpg").write_bytes(good[: len(good) // 2])
    (folder / "text.png").write_bytes(b"not a picture")
    Image.new("1", (15_000, 15_000)).save(folder / "bomb.png")
    return {"cut.jpg", "text.png", "bomb.png"}


def check_three_bad(tmp_path: Path, count: int, size: int) -> None:
    write_leaves(tmp_path / "source", count // 6, seed=1, size=size)
    bad = spoil(tmp_path / "source")
    result, data = take(tmp_path / "source", tmp_path / "out")
    found = codes(result)
    assert set(found["unreadable"]) | set(found["too-large"]) == bad
    assert result.left_out == 3 and len(data.records) == len(data.cache(32)) == count
    sentences = " ".join(finding.sentence for finding in result.findings)
    assert "truncated" in sentences and "15000 x 15000 pixels" in sentences


def test_three_bad_files_are_named_and_the_rest_is_ingested(tmp_path: Path) -> None:
    check_three_bad(tmp_path, 300, 48)


@pytest.mark.slow
def test_three_bad_files_among_ten_thousand_are_named_and_the_rest_is_ingested(tmp_path: Path) -> None:
    check_three_bad(tmp_path, 9_996, 32)


def test_a_source_with_no_readable_image_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "a.jpg").write_bytes(b"no")
    with pytest.raises(InvalidInput, match=r"The only file"):
        take(tmp_path / "source", tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_images_added_later_share_the_bytes_of_the_earlier_version(save: Save, tmp_path: Path) -> None:
    save("rust/a.jpg", 0), save("rust/b.jpg", 1)
    _, first = take(tmp_path / "source", tmp_path / "one")
    shutil.rmtree(tmp_path / "source")
    save("rust/again.jpg", 1), save("mildew/c.jpg", 2)
    result, second = take(tmp_path / "source", tmp_path / "two", existing=first)
    assert (result.images, result.added, result.copies) == (3, 1, 1)
    assert [record.id for record in second.records[:2]] == [record.id for record in first.records]
    assert [path.name for path in (tmp_path / "two" / "images").iterdir()] == [second.records[2].image]
    assert np.array_equal(second.cache(32).pixels[:2], first.cache(32).pixels)
    assert second.records[1].files == ("rust/b.jpg", "rust/again.jpg")
    whole = DataSetFolder.open(tmp_path / "two", also=(tmp_path / "one",))
    assert all(digest_of_file(whole.path(record)) == record.id for record in whole.records)
    pixels = np.asarray(second.cache(32).pixels) / 255
    assert second.statistics.mean == pytest.approx(pixels.mean((0, 1, 2)), abs=1e-6)


def test_an_earlier_version_without_a_cache_of_that_size_is_decoded_again(save: Save, tmp_path: Path) -> None:
    save("a.jpg", 0)
    _, first = take(tmp_path / "source", tmp_path / "one", cache_size=16)
    shutil.rmtree(tmp_path / "source")
    save("b.jpg", 1)
    _, second = take(tmp_path / "source", tmp_path / "two", existing=first)
    expected = decode(first.path(first.records[0]).read_bytes(), size=32).pixels
    assert np.array_equal(second.cache(32).pixels[0], expected)
    assert sorted(path.name for path in (tmp_path / "two").iterdir())[0] == cache_name(32)


def test_a_stopped_ingest_goes_on_without_redoing_finished_batches(tmp_path: Path) -> None:
    write_leaves(tmp_path / "source", 50, seed=2, size=32)
    _, unbroken = take(tmp_path / "source", tmp_path / "whole")
    with pytest.raises(Stopped):
        take(tmp_path / "source", tmp_path / "out", should_stop=lambda: True)
    done = len((tmp_path / "out" / JOURNAL).read_text().splitlines()) - 1
    kept = json.loads((tmp_path / "out" / JOURNAL).read_text().splitlines()[1])["rows"]
    stamps = {p.name: p.stat().st_mtime_ns for p in (tmp_path / "out" / "images").iterdir() if p.stem in kept}
    keep_progress(tmp_path / "out", tmp_path / "moved")
    steps: list[tuple[int, int]] = []
    _, data = take(tmp_path / "source", tmp_path / "moved", on_progress=lambda *step: steps.append(step))
    assert done == 1 and steps[0] == (64, 300) and len(stamps) == 64
    assert {name: (tmp_path / "moved" / "images" / name).stat().st_mtime_ns for name in stamps} == stamps
    assert data.records == unbroken.records and data.statistics == unbroken.statistics
    assert np.array_equal(data.cache(32).pixels, unbroken.cache(32).pixels)


KILLED = """
import os, signal, sys
from pathlib import Path
from seedbed.assets.data.ingest import ingest
def die(done, total):
    if done >= int(sys.argv[3]):
        os.kill(os.getpid(), signal.SIGKILL)
ingest(Path(sys.argv[1]), Path(sys.argv[2]), name="leaves", cache_size=32, on_progress=die)
"""


@pytest.mark.parametrize("packed", [False, True])
def test_an_ingest_killed_twice_ends_as_the_unbroken_one(tmp_path: Path, packed: bool) -> None:
    write_leaves(tmp_path / "source", 110, seed=3, size=32)
    source = tmp_path / "source"
    if packed:
        source = Path(shutil.make_archive(str(tmp_path / "packed"), "zip", tmp_path / "source"))
    _, unbroken = take(source, tmp_path / "whole")
    for at in ("256", "512"):
        killed = subprocess.run([sys.executable, "-c", KILLED, str(source), str(tmp_path / "out"), at], check=False)
        assert killed.returncode == -signal.SIGKILL
    journal = tmp_path / "out" / JOURNAL
    journal.write_bytes(journal.read_bytes() + b'{"outcomes": [')  # a line that was cut short
    steps: list[int] = []
    _, data = take(source, tmp_path / "out", on_progress=lambda done, _: steps.append(done))
    assert steps[0] == 512
    assert data.records == unbroken.records and data.statistics == unbroken.statistics
    assert np.array_equal(data.cache(32).pixels, unbroken.cache(32).pixels)
    names = [sorted(path.name for path in (tmp_path / place).rglob("*")) for place in ("out", "whole")]
    assert names[0] == names[1]


def test_a_folder_that_is_not_empty_is_left_alone(save: Save, tmp_path: Path) -> None:
    save("a.jpg", 0)
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / "thesis.txt").write_text("mine")
    with pytest.raises(Conflict, match="not empty"):
        take(tmp_path / "source", tmp_path / "out")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["thesis.txt"]


def test_the_users_files_are_neither_moved_nor_linked(save: Save, tmp_path: Path) -> None:
    path = save("a.jpg", 0)
    _, data = take(tmp_path / "source", tmp_path / "out")
    assert path.exists() and data.path(data.records[0]).stat().st_ino != path.stat().st_ino


def test_what_is_swapped_for_a_link_after_it_was_listed_is_not_read(save: Save, tmp_path: Path) -> None:
    file, folder = save("b.jpg", 1), save("deep/c.jpg", 2).parent
    save("a.jpg", 0)
    secret = tmp_path / "secret"
    secret.mkdir()

    def swap(done: int, total: int) -> None:
        if done == 0:  # everything is listed, and nothing read yet
            for path in (file, folder):
                path.symlink_to(path.rename(secret / path.name))

    result, data = take(tmp_path / "source", tmp_path / "out", on_progress=swap)
    assert [record.file for record in data.records] == ["a.jpg"]
    assert codes(result)["unreadable"] == ("b.jpg", "deep/c.jpg")


def test_links_that_lead_to_themselves_are_findings(save: Save, tmp_path: Path) -> None:
    folder = save("a.jpg", 0).parent
    for name, to in (("loop.jpg", "loop.jpg"), ("there", "back"), ("back", "there"), ("loop.txt", "loop.txt")):
        (folder / name).symlink_to(to)
    result, data = take(folder, tmp_path / "out")
    assert [record.file for record in data.records] == ["a.jpg"] and result.left_out == 3
    found = codes(result)
    assert found["unreadable"] == ("back", "loop.jpg", "there") and found["not-images"] == ("loop.txt",)


def test_a_manifest_may_name_a_link_that_leads_to_itself_and_may_be_one(save: Save, tmp_path: Path) -> None:
    folder = save("a.jpg", 0).parent
    (folder / "loop.jpg").symlink_to("loop.jpg")
    (folder / "manifest.csv").write_text("file\na.jpg\nloop.jpg\n")
    named, _ = take(folder, tmp_path / "named")
    assert named.images == 1 and codes(named)["missing"] == ("loop.jpg",)
    (folder / "manifest.csv").unlink()
    (folder / "manifest.csv").symlink_to("manifest.csv")
    walked, _ = take(folder, tmp_path / "walked")
    assert codes(walked)["unreadable"] == ("loop.jpg",) and codes(walked)["not-images"] == ("manifest.csv",)


def test_pipes_are_not_waited_for(save: Save, tmp_path: Path) -> None:
    file = save("b.jpg", 1)
    folder = save("a.jpg", 0).parent
    for name in ("pipe.jpg", "manifest.csv"):
        os.mkfifo(folder / name)

    def swap(done: int, total: int) -> None:
        if done == 0:  # everything is listed, and nothing read yet
            file.unlink()
            os.mkfifo(file)

    result, data = take(folder, tmp_path / "out", on_progress=swap)
    assert [record.file for record in data.records] == ["a.jpg"]
    assert codes(result)["not-images"] == ("manifest.csv", "pipe.jpg")
    assert "b.jpg (is a pipe or a device, and no plain file)" in result.findings[0].sentence
    for name in ("pipe.jpg", "manifest.csv"):
        with pytest.raises(InvalidInput):
            take(folder / name, tmp_path / "alone")


def test_a_link_within_the_folder_and_a_folder_by_its_link_are_read(save: Save, tmp_path: Path) -> None:
    (tmp_path / "source").mkdir()
    (tmp_path / "source" / "again.jpg").symlink_to(save("deep/c.jpg", 2))
    (tmp_path / "by-link").symlink_to(tmp_path / "source")
    result, data = take(tmp_path / "by-link", tmp_path / "out")
    assert result.copies == 1 and [sorted(record.files) for record in data.records] == [["again.jpg", "deep/c.jpg"]]


@pytest.mark.parametrize("kind", ["zip", "gztar", "tar", "bztar", "xztar"])
def test_an_archive_gives_what_its_folder_gives(save: Save, tmp_path: Path, kind: str) -> None:
    for number, name in enumerate(["rust/a.jpg", "rust/b.jpg", "mildew/c.jpg"]):
        save(name, number)
    archive = shutil.make_archive(str(tmp_path / "packed"), kind, tmp_path, "source")  # with a folder around it all
    _, loose = take(tmp_path / "source", tmp_path / "one")
    _, packed = take(Path(archive), tmp_path / "two")
    assert packed.records == loose.records
    assert sorted(p.name for p in (tmp_path / "two").iterdir()) == sorted(p.name for p in (tmp_path / "one").iterdir())


def test_a_damaged_entry_of_a_zip_is_a_finding(save: Save, tmp_path: Path) -> None:
    save("a.jpg", 0), save("b.jpg", 1)
    with zipfile.ZipFile(tmp_path / "packed.zip", "w") as packed:
        packed.write(tmp_path / "source" / "a.jpg", "a.jpg")
        packed.write(tmp_path / "source" / "b.jpg", "b.jpg")
        start = packed.getinfo("b.jpg").header_offset
    data = bytearray((tmp_path / "packed.zip").read_bytes())
    data[start + 200] ^= 0xFF
    (tmp_path / "packed.zip").write_bytes(data)
    result, found = take(tmp_path / "packed.zip", tmp_path / "out")
    assert [record.file for record in found.records] == ["a.jpg"] and codes(result)["unreadable"] == ("b.jpg",)


@pytest.mark.parametrize("packed", [False, True], ids=["folder", "tar"])
def test_a_name_that_is_no_utf8_is_read_as_windows_would(save: Save, tmp_path: Path, packed: bool) -> None:
    good, odd = save("a.jpg", 0), save("b.jpg", 1)
    odd.rename(odd.with_name(os.fsdecode("blätt.jpg".encode("cp1252"))))
    source = good.parent
    if packed:
        with tarfile.open(tmp_path / "leaves.tar", "w", format=tarfile.GNU_FORMAT) as tar:
            tar.add(source, "leaves")
        source = tmp_path / "leaves.tar"
    _, data = take(source, tmp_path / "out")
    assert [record.file for record in data.records] == ["a.jpg", "blätt.jpg"]


def test_an_entry_whose_name_no_file_can_have_is_a_finding(save: Save, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "leaves.zip", "w") as packed:
        packed.write(save("a.jpg", 0), "a.jpg")
        packed.write(save("b.jpg", 1), f"{'b' * 300}.jpg")
    result, data = take(tmp_path / "leaves.zip", tmp_path / "out")
    assert [record.file for record in data.records] == ["a.jpg"]
    assert any("b" * 300 in names[0] for names in codes(result).values() if names)


def test_a_manifest_keeps_its_other_columns(save: Save, tmp_path: Path) -> None:
    save("photos/a.jpg", 0), save("photos/b.jpg", 1)
    table = tmp_path / "source" / "list.csv"
    rows = [
        "File;Class;split;place;Datum",
        "photos/a.jpg;Rost;test;Köln;2024-05-01",
        "photos\\b.jpg;;train;;",
        "photos/no.jpg;;;;",
    ]
    table.write_bytes("\n".join(rows).encode("cp1252"))
    result, data = take(table, tmp_path / "out")
    first, second = data.records
    assert (first.klass, first.split, dict(first.extra)) == ("Rost", "test", {"place": "Köln", "Datum": "2024-05-01"})
    assert (second.file, second.klass, second.split) == ("photos/b.jpg", "", "train")
    assert codes(result)["missing"] == ("photos/no.jpg",)
    assert data.statistics.columns == {"Datum": 1, "place": 1}


def test_an_upload_may_hold_archives_and_loose_images(save: Save, tmp_path: Path) -> None:
    save("loose.jpg", 0), save("inner/rust/a.jpg", 1)
    with tarfile.open(tmp_path / "source" / "more.tar.gz", "w:gz") as packed:
        packed.add(tmp_path / "source" / "inner", "inner")
    shutil.rmtree(tmp_path / "source" / "inner")
    _, data = take(tmp_path / "source", tmp_path / "out")
    assert {(r.file, r.klass) for r in data.records} == {("loose.jpg", ""), ("more.tar.gz/rust/a.jpg", "rust")}


def test_a_file_over_the_size_limit_is_a_finding(save: Save, tmp_path: Path) -> None:
    save("a.jpg", 0), save("b.bmp", 1)
    result, _ = take(tmp_path / "source", tmp_path / "out", limits=Limits(file_bytes=8_000))
    assert codes(result)["too-large"] == ("b.bmp",)


def test_a_thumbnail_is_a_small_jpeg_in_the_images_proportions(save: Save, tmp_path: Path, leaves: np.ndarray) -> None:
    (tmp_path / "source").mkdir()
    Image.fromarray(leaves[0]).resize((200, 100)).save(tmp_path / "source" / "wide.png")
    _, data = take(tmp_path / "source", tmp_path / "out")
    picture = decode(data.thumbnail(data.records[0], size=50))
    assert (picture.width, picture.height, picture.format) == (50, 25, "JPEG")
