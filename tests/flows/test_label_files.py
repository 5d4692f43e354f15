"""Labels through the use cases: by row, by name, from and into files of other tools; where people disagree."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest

from seedbed.assets.access.roles import SOLO, Identity, Role
from seedbed.assets.projects.classes import Kind, NewClass, percent_bins
from seedbed.assets.projects.formats import FORMATS
from seedbed.assets.projects.labels import LabelEvent, Mark, Source
from seedbed.assets.projects.projects import Project
from seedbed.assets.projects.projects import Projects as KeptProjects
from seedbed.base.errors import Forbidden, InvalidInput, NotFound, TooLarge, Unsafe
from seedbed.base.ids import new_id
from seedbed.flows.platform import Platform
from seedbed.flows.usecases.labels import Said
from tests.flows.six_images import BOB, FILES, id_of, publish


@pytest.fixture
def fields(platform: Platform, tmp_path: Path) -> Project:
    """A project of six images, the last two of which came in folders of their classes."""
    data = publish(platform, tmp_path / "made", {file: {"r": "rust", "w": "well"}.get(file[0], "") for file in FILES})
    project = platform.projects.create("fields", classes=["rust", "well"], by=SOLO)
    return platform.projects.set_data(project.id, data, by=SOLO)


def say(platform: Platform, label: str, *, row: int, by: Identity = SOLO, mark: Mark = Mark.NONE) -> None:
    said = [Said(LabelEvent(new_id(), "", label, by.name, mark=mark), row)]
    events = platform.projects.events_of("fields", said, by=by)
    platform.projects.add_labels("fields", events, by=by)


def labels(platform: Platform) -> dict[str, str]:
    names = {id_of(file): file for file in FILES}
    return {names.get(image, image): one.label for image, one in platform.projects.labels("fields", by=SOLO).items()}


def test_an_image_has_one_label_whichever_name_it_is_called_by(platform: Platform, fields: Project) -> None:
    events = [LabelEvent("1", "leaf.jpg", "rust", ""), LabelEvent("2", id_of("plot 1/a.jpg"), "well", "")]
    assert platform.projects.add_labels("fields", events, by=SOLO) == 2
    assert platform.projects.add_labels("fields", events, by=SOLO) == 0
    say(platform, "well", row=0)
    assert labels(platform) == {"leaf.jpg": "well", "plot 1/a.jpg": "well"}
    assert platform.projects.counts("fields", by=SOLO) == {"rust": 0, "well": 2}
    assert [one.label for one in platform.projects.history("fields", "leaf.jpg", by=SOLO)] == ["rust", "well"]


def test_labels_that_came_before_the_images_are_of_the_same_images(platform: Platform, fields: Project) -> None:
    kept: KeptProjects = platform.projects._kept
    kept.add_labels("fields", [LabelEvent("old", "leaf.jpg", "rust", "ada")])  # as it was kept before there were images
    assert labels(platform) == {"leaf.jpg": "rust"}
    again = LabelEvent("old", "leaf.jpg", "rust", "")  # its sender never heard that it was kept
    assert platform.projects.add_labels("fields", [again], by=Identity(id="a", name="ada", role=Role.OPERATOR)) == 0
    assert platform.projects.changes("fields", by=SOLO).rows == [0]
    say(platform, "", row=0)
    assert labels(platform) == {}
    with pytest.raises(InvalidInput, match="has a label yet"):
        platform.projects.snapshot_labels("fields", by=SOLO)


def test_rows_are_those_of_the_data_set_that_was_looked_at(platform: Platform, fields: Project, tmp_path: Path) -> None:
    more = publish(platform, tmp_path / "more", dict.fromkeys(["new.jpg", *FILES], ""), name="more")
    platform.projects.set_data("fields", more, by=SOLO)
    said = [Said(LabelEvent("1", "", "rust", ""), 0)]
    events = platform.projects.events_of("fields", said, data=fields.data, by=SOLO)  # the page has not heard of it yet
    platform.projects.add_labels("fields", events, by=SOLO)
    assert labels(platform) == {"leaf.jpg": "rust"}
    assert platform.projects.changes("fields", by=SOLO).rows == [1]
    assert platform.projects.changes("fields", data=fields.data, by=SOLO).rows == [0]
    with pytest.raises(InvalidInput, match="There are 6 images; there is no number 6"):
        platform.projects.events_of("fields", [Said(LabelEvent("2", "", "rust", ""), 6)], data=fields.data, by=SOLO)
    with pytest.raises(NotFound):
        platform.projects.changes("fields", data="no such", by=SOLO)


def test_an_image_that_is_not_in_the_data_set_has_no_row(platform: Platform, fields: Project, tmp_path: Path) -> None:
    say(platform, "rust", row=0)
    say(platform, "well", row=1)
    fewer = publish(platform, tmp_path / "fewer", dict.fromkeys(FILES[1:], ""), name="fewer")
    platform.projects.set_data("fields", fewer, by=SOLO)
    assert platform.projects.changes("fields", by=SOLO).rows == [-1, 0]


def test_the_feed_carries_marks_and_undoing(platform: Platform, fields: Project) -> None:
    say(platform, "rust", row=2)
    say(platform, "", row=2, mark=Mark.UNSURE)
    say(platform, "", row=2)
    feed = platform.projects.changes("fields", by=SOLO)
    assert [(one.label, one.mark) for one in feed.changes.events] == [("rust", ""), ("", "unsure"), ("", "")]
    assert feed.rows == [2, 2, 2]
    again = platform.projects.changes("fields", after=feed.changes.last, by=SOLO)
    assert again.rows == [] and again.changes.last == feed.changes.last


def test_disagreements_are_listed_until_people_agree(platform: Platform, fields: Project) -> None:
    for row, mine, others in ((0, "rust", "rust"), (1, "rust", "well"), (2, "well", "rust")):
        say(platform, mine, row=row)
        say(platform, others, row=row, by=BOB)
    found = platform.projects.disagreements("fields", by=SOLO)
    assert [(one.index, dict(one.said)) for one in found] == [
        (2, {SOLO.name: "well", "bob": "rust"}),
        (1, {SOLO.name: "rust", "bob": "well"}),
    ]
    say(platform, "well", row=1)
    say(platform, "", row=2, by=BOB, mark=Mark.UNSURE)
    assert platform.projects.disagreements("fields", by=SOLO) == []


def test_a_disagreement_is_settled_by_whoever_says_what_is_right_until_somebody_differs_anew(
    platform: Platform, fields: Project
) -> None:
    carol = Identity(id="c", name="carol", role=Role.OPERATOR)

    def listed() -> list[int]:
        return [one.index for one in platform.projects.disagreements("fields", by=SOLO)]

    for row in (0, 1, 2, 3):
        say(platform, "rust", row=row)
        say(platform, "well", row=row, by=BOB)
    assert listed() == [3, 2, 1, 0]
    say(platform, "rust", row=0)  # one of the two keeps to it
    say(platform, "well", row=1, by=carol)  # a third decides
    say(platform, "well", row=2, by=BOB)  # the one who spoke last looks again
    assert listed() == [3]
    assert [labels(platform)[file] for file in FILES[:3]] == ["rust", "well", "well"]
    say(platform, "well", row=0, by=BOB)
    say(platform, "well", row=1, by=BOB)  # nothing new
    say(platform, "", row=2, by=BOB)  # takes it back: only one label is left
    assert listed() == [0, 3]
    sure = [LabelEvent(new_id(), id_of(FILES[3]), "rust", "", Source.IMPORT)]
    platform.projects.add_labels("fields", sure, by=carol)
    assert listed() == [3, 0], "a list that is brought in settles nothing"
    sure = [LabelEvent(new_id(), id_of(FILES[4]), "rust", "", Source.GOLDEN)]
    platform.projects.add_labels("fields", sure, by=SOLO)
    say(platform, "well", row=4, by=BOB)
    say(platform, "rust", row=4, by=carol)
    assert listed() == [4, 3, 0], "nor does the next who is asked what is known"


def unzipped(content: bytes, folder: Path) -> Path:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        archive.extractall(folder)
    return folder


@pytest.mark.parametrize("name", list(FORMATS))
def test_labels_that_went_out_come_in_again_somewhere_else(
    platform: Platform, fields: Project, tmp_path: Path, name: str
) -> None:
    platform.projects.add_class("fields", "a/b, c", by=SOLO)
    for row, label in enumerate(["rust", "well", "rust", "a/b, c", "well"]):
        say(platform, label, row=row)
    before = labels(platform)
    made = platform.projects.export_labels("fields", format=name, by=SOLO)
    file = tmp_path / made.name
    file.write_bytes(b"".join(made.pieces))
    platform.projects.create("copy", by=SOLO)
    platform.projects.set_data("copy", fields.data, by=SOLO)
    taken = platform.projects.import_labels("copy", file, by=SOLO)
    assert (taken.format, taken.read, taken.count) == (name, 5, 5)
    assert taken.classes_added == ["a/b, c", "rust", "well"]
    copied = {one.image: one.label for one in platform.projects.labels("copy", by=SOLO).values()}
    assert copied == {id_of(file): label for file, label in before.items()}
    assert platform.projects.import_labels("copy", file, by=SOLO).count == 0, "nothing is news the second time"
    assert not list((platform.store.home / "uploads").iterdir()), "what was unpacked is gone"


def test_an_export_is_what_its_name_says(platform: Platform, fields: Project, tmp_path: Path) -> None:
    say(platform, "rust", row=0)
    told = {
        name: platform.projects.export_labels("fields", format=name, by=SOLO)
        for name in ("csv", "coco", "label-studio", "yolo")
    }
    assert [(one.name, one.media) for one in told.values()] == [
        ("fields.csv", "text/csv"),
        ("fields.coco.json", "application/json"),
        ("fields.label-studio.json", "application/json"),
        ("fields.yolo.zip", "application/zip"),
    ]
    document = json.loads(b"".join(told["coco"].pieces))
    assert document["images"][0]["width"] == 40 and document["annotations"][0]["bbox"] == [0, 0, 40, 30]
    folder = unzipped(b"".join(told["yolo"].pieces), tmp_path / "yolo")
    assert (folder / "train" / "rust" / "leaf.jpg").read_text() == "leaf.jpg"
    with pytest.raises(InvalidInput, match="without them there is nothing to write"):
        platform.projects.export_labels("fields", format="folders", images=False, by=SOLO)
    whole = platform.projects.export_labels("fields", format="csv", images=True, by=SOLO)
    assert (unzipped(b"".join(whole.pieces), tmp_path / "csv") / "images" / "leaf.jpg").exists()
    with pytest.raises(NotFound):
        platform.projects.export_labels("fields", format="xml", by=SOLO)


def test_the_classes_that_images_came_with_become_labels_on_demand(platform: Platform, fields: Project) -> None:
    taken = platform.projects.import_labels("fields", format="data", by=SOLO)
    assert (taken.read, taken.count, labels(platform)) == (2, 2, {"rust/c.jpg": "rust", "well/d.jpg": "well"})
    platform.projects.create("empty", by=SOLO)
    with pytest.raises(InvalidInput, match="came without classes"):
        platform.projects.import_labels("empty", format="data", by=SOLO)


def take(platform: Platform, tmp_path: Path, text: str, **how: Any) -> int:
    (tmp_path / "labels.csv").write_text(text)
    return platform.projects.import_labels("fields", tmp_path / "labels.csv", by=SOLO, **how).count


def test_names_from_elsewhere_find_their_images_by_how_they_end(
    platform: Platform, fields: Project, tmp_path: Path
) -> None:
    text = "file,class\n/mnt/photos/plot 1/a.jpg,rust\nb.jpg,rust\n0a1b2c3d-leaf.jpg,well\nimages\\plot 2\\a.jpg,well\n"
    assert take(platform, tmp_path, text) == 4
    assert labels(platform) == {
        "plot 1/a.jpg": "rust",
        "plot 1/b.jpg": "rust",
        "leaf.jpg": "well",
        "plot 2/a.jpg": "well",
    }
    with pytest.raises(InvalidInput, match=r"1 name stands for several images of 'leaves': a\.jpg\. No label was kept"):
        take(platform, tmp_path, "file,class\na.jpg,rust\nleaf.jpg,rust\n")
    with pytest.raises(InvalidInput, match="1 of the labelled images is not in 'leaves'"):
        take(platform, tmp_path, "file,class\nplot 9/b.jpg,rust\nleaf.jpg,rust\n")  # another plot is another image
    assert labels(platform)["leaf.jpg"] == "well"


def test_images_that_are_not_there_refuse_all_or_are_skipped(
    platform: Platform, fields: Project, tmp_path: Path
) -> None:
    text = "file,class\nleaf.jpg,rust\n../../etc/passwd,rust\nnone.jpg,new\n"
    with pytest.raises(InvalidInput, match="2 of the labelled images are not in"):
        take(platform, tmp_path, text)
    assert labels(platform) == {} and len(platform.projects.classes("fields", by=SOLO)) == 2
    assert take(platform, tmp_path, text, skip_missing=True) == 1
    assert [one.name for one in platform.projects.classes("fields", by=SOLO)] == ["rust", "well"]
    with pytest.raises(InvalidInput):
        take(platform, tmp_path, "file,class\nnone.jpg,rust\n", skip_missing=True)  # the wrong file altogether


def test_two_names_of_one_image_with_two_classes_are_refused(
    platform: Platform, fields: Project, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match="1 image has several classes"):
        take(platform, tmp_path, f"file,class\nleaf.jpg,rust\n{id_of('leaf.jpg')},well\n")
    assert labels(platform) == {}


def test_classes_from_a_file_are_made_refused_or_far_too_many(
    platform: Platform, fields: Project, tmp_path: Path
) -> None:
    with pytest.raises(InvalidInput, match="names no class of this project") as refused:
        take(platform, tmp_path, "file,class\nleaf.jpg,rusd\n", add_classes=False)
    assert "'rust'" in refused.value.problems[0]
    platform.projects.set_kind("fields", Kind.BINARY, by=SOLO)
    with pytest.raises(InvalidInput, match="two classes"):
        take(platform, tmp_path, "file,class\nleaf.jpg,third\n")
    platform.projects.create("bare", by=SOLO)
    rows = "".join(f"{number}.jpg,class {number}\n" for number in range(1001))
    (tmp_path / "labels.csv").write_text(f"file,class\n{rows}")
    with pytest.raises(InvalidInput, match=r"name 1,001 classes .* 'class 0'"):
        platform.projects.import_labels("bare", tmp_path / "labels.csv", by=SOLO)


def test_hostile_archives_leave_nothing_behind(platform: Platform, fields: Project, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "evil.zip", "w") as archive:
        archive.writestr("../rust/leaf.jpg", b"x")
    (tmp_path / "broken.zip").write_bytes(b"PK\x03\x04 and then nothing")
    with zipfile.ZipFile(tmp_path / "bomb.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("rust/leaf.jpg", b"\0" * (80 << 20))
    for name, error in (("evil.zip", Unsafe), ("broken.zip", InvalidInput), ("bomb.zip", TooLarge)):
        with pytest.raises(error):
            platform.projects.import_labels("fields", tmp_path / name, by=SOLO)
    assert labels(platform) == {} and not list((platform.store.home / "uploads").iterdir())


def test_labellers_label_and_only_trainers_bring_files_in(platform: Platform, fields: Project, tmp_path: Path) -> None:
    labeller = Identity(id="eve", name="eve", role=Role.VIEWER, projects={fields.id: Role.LABELLER})
    say(platform, "rust", row=0, by=labeller)
    assert platform.projects.labels("fields", by=labeller)[id_of("leaf.jpg")].by == "eve"
    with pytest.raises(Forbidden):
        platform.projects.import_labels("fields", format="data", by=labeller)
    from_elsewhere = Identity(id="max", name="max", role=Role.TRAINER)
    with pytest.raises(NotFound):
        platform.projects.export_labels("fields", by=from_elsewhere)
    with pytest.raises(NotFound):
        platform.projects.changes("fields", by=from_elsewhere)


def test_the_percentages_of_bins_reach_the_training(platform: Platform, fields: Project) -> None:
    bins = [*percent_bins([0, 10, 50, 100]), NewClass("snow", other=True)]
    platform.projects.create("cover", classes=bins, kind=Kind.BINS, by=SOLO)
    platform.projects.set_data("cover", fields.data, by=SOLO)

    def label(row: int, klass: str) -> None:
        platform.projects.add_labels("cover", [LabelEvent(new_id(), id_of(FILES[row]), klass, "")], by=SOLO)

    def params(**given: object) -> dict[str, object]:
        jobs = platform.models.train(project="cover", params={"steps": 3, "size": 16, **given}, by=SOLO)
        return dict(next(job for job in jobs if job.step == "train").spec.params)

    for row, klass in enumerate(["0-10 %", "50-100 %"]):
        label(row, klass)
    with pytest.raises(InvalidInput, match=r"1 of the 3 classes .* has no labels yet: 10-50 %"):
        params()
    label(2, "10-50 %")
    assert params()["values"] == {"0-10 %": 5.0, "10-50 %": 30.0, "50-100 %": 75.0}
    chosen = {"0-10 %": 1.0, "10-50 %": 2.0, "50-100 %": 3.0}
    assert params(values=chosen)["values"] == chosen
    label(3, "snow")
    assert "values" not in params(), "what is no percentage has no place among them"
