"""What every format of labels must satisfy: it reads what it writes, and answers hostile files with a sentence.

from seedbed.testing.formats import check_round_trip, check_hostile_files

def test_mine(tmp_path): check_round_trip(MyFormat(), tmp_path)
"""

import hashlib
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from seedbed.assets.projects.formats.format import Entry, Format, Given, Part
from seedbed.base.errors import InvalidInput, TooLarge

CLASSES = (
    "rust",
    "leaf rust, brown",
    'the "other" one',
    "0-25 %",
    "Mehltau (süß)",
    "a/b",
    "..",
    "test",
    "RUST",
    "=1+1",
    "ähnlich; oder\u2028nicht",
    "-x",
)
_NAMES = (
    "leaf.jpg",
    "plot 7/leaf.jpg",
    'plot 7/süß,"quoted".png',
    "train/rust/1.png",
    "deep/er/folder/x.JPEG",
    "l.webp",
)


def sample_labels() -> tuple[list[Entry], dict[str, bytes]]:
    """Labels with every name that made trouble somewhere, and the images that they are of."""
    entries, images = [], {}
    for number, label in enumerate(CLASSES * 2):
        content = f"an image, number {number}".encode()
        image = hashlib.sha256(content).hexdigest()
        images[image] = content
        folder, _, name = _NAMES[number % len(_NAMES)].rpartition("/")
        file = "/".join(part for part in (folder, f"{number}-{name}") if part)
        split = ("", "train", "validation", "test")[number % 4]
        entries.append(Entry(file, label, image, split, 40 + number, 30, "ada", 1_800_000_000.0))
    same = entries[0].file.rpartition("/")[2]  # two images whose files have one name
    entries[1] = Entry(f"elsewhere/{same}", *list(vars(entries[1]).values())[1:])
    return entries, images


def check_round_trip(format: Format, folder: Path) -> None:
    """Written and read again, with and without images, the labels are the same; and it recognises its own."""
    entries, images = sample_labels()
    for with_images in [True, False] if format.without_images else [True]:
        place = folder / f"{format.name}-{with_images}"
        parts = list(format.write(entries, CLASSES, images=with_images))
        lay_out(parts, images, place)
        given = Given.open(place, folder / "scratch")
        assert format.recognises(given), f"{format.name} does not recognise what it wrote"
        found = {entry.image: entry.label for entry in format.read(given)}
        assert found == {entry.image: entry.label for entry in entries}, format.name
        if with_images:
            assert {part.image for part in parts if part.image} == set(images)


def check_written_names(format: Format) -> None:
    """No file that it writes leads out of its folder or over another, whatever images are called."""
    image = "0" * 64
    names = ("../../etc/passwd", "/etc/passwd", "C:\\temp\\x.jpg", "..", "", "a\x00b.jpg", "x.jpg", "X.JPG", "x.jpg")
    labels = [Entry(name, "rust", f"{number:064x}") for number, name in enumerate(names)]
    parts = list(format.write([*labels, Entry("ok.jpg", "..", image)], ["rust", ".."], images=True))
    written = [part.name for part in parts]
    assert len({name.lower() for name in written}) == len(written), "two files of one name"
    for name in written:
        steps = name.replace("\\", "/").split("/")
        assert ".." not in steps and "" not in steps and "\x00" not in name, name


def check_hostile_files(format: Format, folder: Path) -> None:
    """Files that are broken, absurd or not meant for it are refused with a sentence, never with anything else."""
    for number, files in enumerate(hostile_files()):
        place = folder / f"hostile-{number}"
        lay_out([Part(name, content) for name, content in files.items()], {}, place)
        given = Given.open(place, folder / "scratch")
        try:
            format.recognises(given)
            for entry in format.read(given):
                assert isinstance(entry.file, str) and isinstance(entry.label, str) and entry.label, files
        except (InvalidInput, TooLarge) as error:
            assert error.message.endswith("."), error.message


def hostile_files() -> Iterator[Mapping[str, bytes]]:
    """Folders of files that nobody wrote with good intent, or that were cut short."""
    for content in _contents():
        for name in ("labels.csv", "labels.json", "metadata.csv", "metadata.jsonl", "rust/a.jpg", "train/rust/a.jpg"):
            yield {name: content}
    yield {"metadata.csv": b"file_name,label\n../../etc/passwd,rust\n"}
    yield {"classes.csv": b"\xff\xfe", "a/x.jpg": b"x"}
    yield {"rust/a.jpg": b"same", "well/b.jpg": b"same"}  # one image, two classes


def lay_out(parts: Sequence[Part], images: Mapping[str, bytes], folder: Path) -> None:
    """Write the files of an export into a folder."""
    for part in parts:
        path = folder / part.name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(images.get(part.image, part.content))


def _contents() -> Iterator[bytes]:
    yield from (b"", b"\x00" * 100, b"\xff\xfe\x00", os.urandom(300), b"{", b"[" * 100_000, b'{"a":' * 5000)
    yield from (b"null", b"7", b'"text"', b"[]", b"{}", b"[[]]", b"[null]", b'[{"data": 7}]', b'[{"data": {}}]')
    yield b"file,class\n" + b'"' * 200_000
    yield b"file,class\n" + b"x" * 200_000 + b",rust\n"
    yield b"file,class\na.jpg\n,rust\na.jpg,rust,more,and,more\n"
    yield b"file,class\na.jpg,rust\na.jpg,well\n"
    yield b"1" * 5000
    for document in _documents():
        yield json.dumps(document).encode()


def _documents() -> Iterator[object]:
    lists: dict[str, list[object]] = {"images": [], "annotations": [], "categories": []}
    yield {**lists, "annotations": [None, 7, {}, {"image_id": [], "category_id": {}}]}
    yield {**lists, "images": [None, {"id": {}, "file_name": "x"}, {"id": 1}, {"id": 1, "file_name": 7}]}
    yield {**lists, "images": [{"id": 1, "file_name": "a"}, {"id": 1, "file_name": "b"}]}
    yield {
        "images": [{"id": 1, "file_name": "a.jpg", "sha256": 7}],
        "categories": [{"id": 1, "name": "x"}, {"id": 2, "name": "y"}],
        "annotations": [{"image_id": 1, "category_id": 1}, {"image_id": 1, "category_id": 2}],
    }
    task = {"data": {"image": "a.jpg"}}
    for annotations in (7, [None], [{"result": 7}], [{"result": [7, {"value": 7}, {"value": {"choices": [7, ""]}}]}]):
        yield [{**task, "annotations": annotations}]
    yield [{**task, "annotations": [{"result": [{"value": {"choices": ["a", "b"]}}]}]}, 7, {"data": {"image": 7}}]
    yield [{"image": "http://[", "choice": ["a", 7]}, {"image": "x.jpg", "choice": {"choices": "a"}}]
