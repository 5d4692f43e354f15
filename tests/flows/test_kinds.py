"""What kinds read and write."""

from pathlib import Path

import numpy as np
import pytest

from seedbed.assets.data.records import ImageRecord
from seedbed.assets.store.bundle import ArrayType
from seedbed.assets.store.store import Store
from seedbed.base.errors import Damaged, InvalidInput, NotFound
from seedbed.flows.kinds import KINDS
from seedbed.flows.kinds.data import by_id
from seedbed.flows.kinds.facts import Facts
from seedbed.flows.kinds.labels import Labels, read_labels
from seedbed.flows.kinds.models import ANSWERED_FILE, ANSWERS, ANSWERS_FILE, Predictions, Report
from seedbed.flows.kinds.zoo import Outcome, Ranking, Similarity
from seedbed.flows.platform import Platform


@pytest.fixture
def store(platform: Platform) -> Store:
    return platform.store


def test_what_is_written_published_and_checked_out_reads_the_same(store: Store, tmp_path: Path) -> None:
    rows = {"a.jpg": "rust", "b, c.jpg": "healthy", "ä.jpg": "rust"}
    bundle = store.publish(Labels.write(tmp_path / "out", rows, {"a.jpg": "A"}).draft(name="some"))
    opened = Labels.open(store.checkout(bundle, tmp_path / "in"))
    assert opened.rows() == rows
    assert opened.classes == ("healthy", "rust")
    assert (opened.name, opened.uuid) == ("some", bundle.uuid)


def test_opening_a_bundle_as_another_kind_is_refused(store: Store, tmp_path: Path) -> None:
    bundle = store.publish(Labels.write(tmp_path / "out", {"a": "b"}).draft(name="some"))
    folder = store.checkout(bundle, tmp_path / "in")
    with pytest.raises(InvalidInput, match="'some' is of kind 'labels'; this takes 'report'"):
        Report.open(folder)


def test_a_file_that_is_missing_is_named(tmp_path: Path) -> None:
    with pytest.raises(Damaged, match=r"report/report\.json"):
        Report(tmp_path, name="r").facts()


def test_single_numbers_of_a_report_are_values_that_lists_can_show(tmp_path: Path) -> None:
    report = Report.write(tmp_path, {"accuracy": 0.5, "count": 4, "classes": [{"name": "a"}]})
    arrays = report.draft(name="r").arrays
    assert arrays["accuracy"].type is ArrayType.FLOAT and arrays["accuracy"].items == (0.5,)
    assert "classes" not in arrays and report.facts()["classes"] == [{"name": "a"}]


@pytest.mark.parametrize(
    ("kind", "facts", "values"),
    [
        (Report, {"accuracy": 0.5, "classes": ["a"]}, {"accuracy": (0.5,)}),
        (
            Ranking,
            {"advice": {"start": "one", "reason": "It is near."}},
            {"start": ("one",), "reason": ("It is near.",)},
        ),
        (Similarity, {"names": ["one", "zwölf"], "space": "s"}, {"names": ("one", "zwölf"), "space": ("s",)}),
        (Outcome, {"target": "t", "start": "one", "curve": [0.5]}, {"target": ("t",), "start": ("one",)}),
    ],
)
def test_a_kind_of_one_json_file_reads_what_was_written_and_shows_the_most_telling_of_it(
    store: Store, tmp_path: Path, kind: type[Facts], facts: dict[str, object], values: dict[str, tuple[object, ...]]
) -> None:
    bundle = store.publish(kind.write(tmp_path / "out", facts).draft(name="some"))
    opened = kind.open(store.checkout(bundle, tmp_path / "in"))
    assert opened.facts() == facts
    assert dict(opened.values) == values
    assert [link.name for link in bundle.arrays[kind.kind].files] == [f"{kind.kind}.json"]


def test_facts_that_are_no_numbers_are_not_written(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="JSON compliant"):
        Report.write(tmp_path, {"accuracy": float("nan")})


def test_predictions_have_confidences_and_a_list_of_files_per_class(tmp_path: Path) -> None:
    probabilities = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]], np.float32)
    made = Predictions.write(tmp_path, ["x.jpg", "y/z.jpg", "w.jpg"], probabilities, ["leaf/rust", "healthy"])
    assert [(row["file"], row["class"], float(row["confidence"])) for row in made.rows()] == [
        ("x.jpg", "leaf/rust", 0.9),
        ("y/z.jpg", "healthy", 0.8),
        ("w.jpg", "leaf/rust", 0.6),
    ]
    assert (tmp_path / "lists" / "leaf_rust.txt").read_text().splitlines() == ["x.jpg", "w.jpg"]
    assert (tmp_path / "lists" / "healthy.txt").read_text().splitlines() == ["y/z.jpg"]
    assert made.values["counts"] == (2, 1)


def test_predictions_of_known_images_can_be_read_as_an_array(tmp_path: Path) -> None:
    probabilities = np.array([[0.9, 0.1], [0.2, 0.8]], np.float32)
    Predictions.write(tmp_path, ["x.jpg", "y.jpg"], probabilities, ["rust", "healthy"], ids=["one", "two"])
    assert np.array_equal(np.load(tmp_path / ANSWERS / ANSWERS_FILE, mmap_mode="r"), probabilities)
    assert (tmp_path / ANSWERS / ANSWERED_FILE).read_text().splitlines() == ["one", "two"]


def test_classes_whose_names_look_alike_as_files_keep_lists_of_their_own(tmp_path: Path) -> None:
    probabilities = np.eye(2, dtype=np.float32)
    Predictions.write(tmp_path, ["x.jpg", "y.jpg"], probabilities, ["a/b", "a_b"])
    lists = sorted(path.read_text() for path in (tmp_path / "lists").iterdir())
    assert lists == ["x.jpg\n", "y.jpg\n"]


def test_a_labels_file_with_mistakes_is_refused_with_all_of_them(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    path.write_text("file,class\na.jpg,rust\n,rust\nb.jpg,\na.jpg,mildew\n")
    with pytest.raises(InvalidInput) as caught:
        read_labels(path)
    assert len(caught.value.problems) == 3
    path.write_text("plot;place\n")
    with pytest.raises(InvalidInput, match="no column image or file and none class or label; it has plot, place"):
        read_labels(path)


def test_images_are_found_by_id_and_by_every_name_that_they_came_under() -> None:
    records = [ImageRecord("1", "a.jpg", "1.jpg", also=("copy.jpg",)), ImageRecord("2", "b.jpg", "2.jpg")]
    assert by_id(records, {"copy.jpg": "x", "2": "y"}) == {"1": "x", "2": "y"}
    with pytest.raises(InvalidInput, match=r"1 of the labelled images is not in the data set: c.jpg"):
        by_id(records, {"a.jpg": "x", "c.jpg": "x"})
    with pytest.raises(InvalidInput, match="two classes"):
        by_id(records, {"a.jpg": "x", "copy.jpg": "y"})


def test_a_name_that_stands_for_two_images_is_refused() -> None:
    records = [ImageRecord("1", "a.jpg", "1.jpg"), ImageRecord("2", "a.jpg", "2.jpg")]
    with pytest.raises(InvalidInput, match="stands for several images"):
        by_id(records, {"a.jpg": "x"})


def test_every_kind_has_a_name_and_a_line() -> None:
    assert {"data-set", "decoded", "labels", "model", "predictions", "report", "download", "weights"} <= set(KINDS)
    assert all(KINDS.get(name).kind == name and KINDS.get(name).about for name in KINDS)


@pytest.mark.parametrize("head", ["file,class", "image,class", "file,label", "image,label", "label,image"])
def test_labels_are_read_under_every_usual_name_of_the_columns(tmp_path: Path, head: str) -> None:
    line = ",".join({"file": "x", "image": "x", "class": "a", "label": "a"}[name] for name in head.split(","))
    (tmp_path / "said.csv").write_text(f"{head}\n{line}\n")
    assert read_labels(tmp_path / "said.csv") == {"x": "a"}


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "cp1252"])
@pytest.mark.parametrize("separator", [",", ";", "\t"])
def test_labels_are_read_as_spreadsheets_of_all_countries_write_them(
    tmp_path: Path, separator: str, encoding: str
) -> None:
    (tmp_path / "said.csv").write_bytes(f"File{separator}Class\r\nblätt.jpg{separator}Mehltau\r\n".encode(encoding))
    assert read_labels(tmp_path / "said.csv") == {"blätt.jpg": "Mehltau"}


def test_a_labels_file_that_is_not_there_is_told_plainly(tmp_path: Path) -> None:
    with pytest.raises(NotFound) as caught:
        read_labels(tmp_path / "missing.csv")
    assert caught.value.message == "There is no file missing.csv."
    (tmp_path / "odd.csv").write_bytes(b"\xff\xfe\x00")
    for path, words in ((tmp_path / "odd.csv", "is no text"), (tmp_path, "cannot be read: Is a directory")):
        with pytest.raises(InvalidInput, match=words):
            read_labels(path)


def test_a_bundle_that_is_not_what_its_kind_says_is_told_in_a_sentence(tmp_path: Path) -> None:
    with pytest.raises(Damaged, match="'odd' \\(model\\) has no 'classes'"):
        KINDS.get("model")(tmp_path, {}, name="odd").values["classes"]
