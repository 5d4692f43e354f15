"""Labels of other tools: what is written is read again, and hostile files get a sentence."""

import json
import zipfile
from pathlib import Path

import pytest

from seedbed.assets.projects.formats import FORMATS, format_of
from seedbed.assets.projects.formats import format as formats
from seedbed.assets.projects.formats.format import Entry, Given
from seedbed.assets.projects.formats.label_studio import file_of
from seedbed.base.errors import InvalidInput, NotFound, TooLarge, Unsafe
from seedbed.testing.formats import (
    CLASSES,
    check_hostile_files,
    check_round_trip,
    check_written_names,
    lay_out,
    sample_labels,
)

NAMES = list(FORMATS)


@pytest.mark.parametrize("name", NAMES)
def test_a_format_reads_what_it_writes(name: str, tmp_path: Path) -> None:
    check_round_trip(FORMATS.get(name), tmp_path)


@pytest.mark.parametrize("name", NAMES)
def test_a_format_writes_no_file_out_of_its_folder_or_over_another(name: str) -> None:
    check_written_names(FORMATS.get(name))


@pytest.mark.parametrize("name", NAMES)
def test_a_format_answers_hostile_files_with_a_sentence(name: str, tmp_path: Path) -> None:
    check_hostile_files(FORMATS.get(name), tmp_path)


@pytest.mark.parametrize("images", [True, False])
@pytest.mark.parametrize("name", NAMES)
def test_what_a_format_wrote_is_told_by_its_looks(name: str, images: bool, tmp_path: Path) -> None:
    chosen = FORMATS.get(name)
    if not images and not chosen.without_images:
        return
    entries, content = sample_labels()
    lay_out(list(chosen.write(entries, CLASSES, images=images)), content, tmp_path / "out")
    assert format_of(Given.open(tmp_path / "out", tmp_path / "scratch")).name == name


def given(folder: Path, **files: str | bytes) -> Given:
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_dot_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return Given.open(folder, folder.parent / "scratch")


def read(name: str, source: Given) -> dict[str, str]:
    return {entry.file: entry.label for entry in FORMATS.get(name).read(source)}


def test_a_table_may_be_written_by_a_spreadsheet(tmp_path: Path) -> None:
    text = "Name;Class;place\r\na.jpg; leaf rust ;north\r\n;;\r\nb.jpg;;south\r\nc.jpg;Mehltäu;\r\n"
    assert read("csv", given(tmp_path / "t", labels_dot_csv=text.encode("cp1252"))) == {
        "a.jpg": "leaf rust",
        "c.jpg": "Mehltäu",
    }


def test_everything_wrong_with_a_table_is_said_at_once(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput) as refused:
        read("csv", given(tmp_path / "a", labels_dot_csv="file,class\n,rust\na.jpg,rust\n,well\n"))
    assert refused.value.problems == ("line 2 has no file.", "line 4 has no file.")
    with pytest.raises(InvalidInput, match="2 images have several classes") as refused:
        table = "file,class\na,rust\na,well\nb,rust\nb,well\nc,rust\nc,rust\n"
        read("csv", given(tmp_path / "b", labels_dot_csv=table))
    assert refused.value.problems == ("'a' is both 'rust' and 'well'.", "'b' is both 'rust' and 'well'.")
    with pytest.raises(InvalidInput, match="no column image or file; it has class, place"):
        read("csv", given(tmp_path / "c", labels_dot_csv="class,place\nrust,here\n"))


def test_label_studio_counts_the_last_annotation_that_was_not_cancelled(tmp_path: Path) -> None:
    def said(choice: str, **more: object) -> dict[str, object]:
        return {"result": [{"type": "choices", "value": {"choices": [choice]}}], **more}

    tasks = [
        {"data": {"image": "/data/upload/3/0a1b2c3d-a%20b.jpg"}, "annotations": [said("rust"), said("well")]},
        {"data": {"image": "/data/local-files/?d=plots/b.jpg"}, "annotations": [said("rust", was_cancelled=True)]},
        {"data": {"photo": "s3://bucket/plots/c.jpg"}, "annotations": [said("rust"), said("x", was_cancelled=True)]},
        {"data": {"image": "d.jpg"}, "predictions": [said("rust")], "annotations": []},
    ]
    source = given(tmp_path / "t", tasks_dot_json=json.dumps(tasks))
    assert read("label-studio", source) == {"data/upload/3/0a1b2c3d-a b.jpg": "well", "plots/c.jpg": "rust"}
    short = json.dumps([{"image": "/data/upload/a.jpg", "choice": "rust", "annotator": 1, "id": 7}])
    assert read("label-studio", given(tmp_path / "s", short_dot_json=short)) == {"data/upload/a.jpg": "rust"}
    assert file_of("http://[broken") == "http://[broken"


def test_coco_takes_several_boxes_of_one_category_and_refuses_several_categories(tmp_path: Path) -> None:
    images: list[dict[str, object]] = [
        {"id": 1, "file_name": "a.jpg"},
        {"id": "two", "file_name": "b.jpg"},
        {"id": 3, "file_name": "c.jpg"},
    ]
    categories: list[dict[str, object]] = [{"id": 5, "name": "rust"}, {"id": 6, "name": "well"}]
    boxes = [(1, 5), (1, 5), ("two", 6)]
    document: dict[str, list[dict[str, object]]] = {
        "images": images,
        "categories": categories,
        "annotations": [{"image_id": image, "category_id": category} for image, category in boxes],
    }
    assert read("coco", given(tmp_path / "a", c_dot_json=json.dumps(document))) == {"a.jpg": "rust", "b.jpg": "well"}
    document["annotations"].append({"image_id": 1, "category_id": 6})
    with pytest.raises(InvalidInput, match="1 image has several classes"):
        read("coco", given(tmp_path / "b", c_dot_json=json.dumps(document)))
    document["annotations"] = [{"image_id": 9, "category_id": 5}, {"image_id": 1, "category_id": 9}]
    with pytest.raises(InvalidInput) as refused:
        read("coco", given(tmp_path / "c", c_dot_json=json.dumps(document)))
    assert refused.value.problems == (
        "annotation 1 names an image that is not in the file.",
        "annotation 2 names a category that is not in the file.",
    )


def test_a_hugging_face_folder_names_images_beside_each_metadata_file(tmp_path: Path) -> None:
    source = given(
        tmp_path / "hf",
        train__metadata_dot_jsonl='{"file_name": "a.jpg", "label": "rust"}\n\n{"file_name": "b.jpg", "label": 3}\n',
        test__metadata_dot_csv="file_name,label\nc.jpg,well\n",
        train__a_dot_jpg="bytes of a",
    )
    entries = {entry.file: entry for entry in FORMATS.get("huggingface").read(source)}
    assert {file: entry.label for file, entry in entries.items()} == {"a.jpg": "rust", "b.jpg": "3", "c.jpg": "well"}
    assert entries["a.jpg"].image == source.digest("train/a.jpg") and entries["b.jpg"].image == ""


def test_yolo_sets_have_a_validation_part_of_every_class() -> None:
    entries = [Entry(f"{n}.jpg", "ab"[n % 2], f"{n:064x}") for n in range(20)]
    names = [part.name for part in FORMATS.get("yolo").write(entries, ["a", "b"], images=True)]
    assert {name.rpartition("/")[0] for name in names} == {"train/a", "train/b", "val/a", "val/b"}
    assert sum(name.startswith("val/") for name in names) == 4


def test_an_archive_is_opened_and_the_folder_around_it_taken_off(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "set.zip", "w") as archive:
        archive.writestr("my set/rust/a.jpg", b"a")
        archive.writestr("my set/well/b.jpg", b"b")
        archive.writestr("__MACOSX/my set/._a.jpg", b"")
    source = Given.open(tmp_path / "set.zip", tmp_path / "scratch")
    assert format_of(source).name == "folders"
    assert read("folders", source) == {"rust/a.jpg": "rust", "well/b.jpg": "well"}
    with zipfile.ZipFile(tmp_path / "one.zip", "w") as archive:
        archive.writestr("rust/a.jpg", b"a")
    assert read("folders", Given.open(tmp_path / "one.zip", tmp_path / "again")) == {"rust/a.jpg": "rust"}
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as archive:
        archive.writestr("../../rust/a.jpg", b"a")
    with pytest.raises(Unsafe, match="leads out"):
        Given.open(tmp_path / "evil.zip", tmp_path / "third")


def test_links_are_not_followed(tmp_path: Path) -> None:
    (tmp_path / "secret.jpg").write_bytes(b"secret")
    (tmp_path / "set" / "rust").mkdir(parents=True)
    (tmp_path / "set" / "rust" / "a.jpg").symlink_to(tmp_path / "secret.jpg")
    (tmp_path / "set" / "well").symlink_to(tmp_path)
    (tmp_path / "set" / "b.jpg").write_bytes(b"b")
    assert Given.open(tmp_path / "set", tmp_path / "scratch").files == ("b.jpg",)


def test_what_is_too_large_broken_or_nothing_is_said_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(formats, "MOST_BYTES", 10)
    with pytest.raises(TooLarge, match="a file of labels has at most"):
        read("csv", given(tmp_path / "a", labels_dot_csv="file,class\na.jpg,rust\n"))
    monkeypatch.undo()
    with pytest.raises(InvalidInput, match=r"is not JSON: .* in line 2, column"):
        format_of(given(tmp_path / "b", labels_dot_json='[\n{"data": ]'))
    with pytest.raises(InvalidInput, match="can be told by its looks"):
        format_of(given(tmp_path / "c", notes_dot_txt="hello"))
    with pytest.raises(NotFound, match="no format of labels named 'cocco'") as unknown:
        format_of(given(tmp_path / "d", notes_dot_txt="hello"), "cocco")
    assert "'coco'" in unknown.value.hint
    with pytest.raises(NotFound):
        Given.open(tmp_path / "nothing", tmp_path / "scratch")
