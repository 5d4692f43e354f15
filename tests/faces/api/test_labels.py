"""Projects, classes and labels over REST: what the labelling page and scripts rely on."""

import json
from pathlib import Path
from typing import Any

import httpx
import pytest

from seedbed.assets.access.roles import SOLO
from seedbed.assets.projects.labels import LabelEvent
from seedbed.base.settings import Settings
from seedbed.flows.platform import Platform
from tests.flows.six_images import BOB, FILES, id_of, publish

API = "/api/v1/projects"


@pytest.fixture(scope="module")
def data(platform: Platform, tmp_path_factory: pytest.TempPathFactory) -> str:
    """uuid of a data set of six images."""
    return publish(platform, tmp_path_factory.mktemp("data") / "made", dict.fromkeys(FILES, ""))


@pytest.fixture
def ref(me: httpx.Client, platform: Platform, data: str, request: pytest.FixtureRequest) -> str:
    """A project of its own for each test."""
    made = me.post(API, json={"name": request.node.name[:90], "classes": ["rust", {"name": "well", "key": "w"}]})
    assert made.status_code == 201, made.text
    name: str = made.json()["id"]
    platform.projects.set_data(name, data, by=SOLO)
    return name


def post(me: httpx.Client, ref: str, *labels: dict[str, Any], **more: Any) -> httpx.Response:
    return me.post(f"{API}/{ref}/labels", json={"labels": list(labels), **more})


def test_a_project_is_made_with_its_kind_classes_and_settings(me: httpx.Client) -> None:
    asked = {"name": "cover", "bins": [0, 25, 100], "classes": [{"name": "snow", "other": True}]}
    made = me.post(API, json={**asked, "settings": {"goal": 40}}).json()
    assert made["kind"] == "bins" and made["settings"]["goal"] == 40 and made["settings"]["chooser"] == "auto"
    shown = me.get(f"{API}/cover/classes").json()
    assert [(one["name"], one["value"], one["other"]) for one in shown] == [
        ("0-25 %", 12.5, False),
        ("25-100 %", 62.5, False),
        ("snow", None, True),
    ]
    changed = me.patch(f"{API}/cover", json={"name": "ground", "settings": {"goal": None, "grouping": False}}).json()
    assert (changed["name"], changed["settings"]["goal"], changed["settings"]["grouping"]) == ("ground", 25, False)
    refused = me.patch(f"{API}/ground", json={"settings": {"gaol": 3}})
    assert refused.status_code == 422 and "'goal'" in refused.text
    assert me.patch(f"{API}/ground", json={"kind": "binary"}).json()["kind"] == "binary"
    assert me.patch(f"{API}/ground", json={"kind": "rainbow"}).status_code == 422


def test_classes_are_added_changed_put_in_order_and_merged(me: httpx.Client, ref: str) -> None:
    added = me.post(f"{API}/{ref}/classes", json={"name": "mildew", "colour": "#123456"})
    assert (added.status_code, added.json()["colour"]) == (201, "#123456")
    changed = me.patch(f"{API}/{ref}/classes/mildew", json={"name": "white mildew", "key": "m"}).json()
    assert (changed["name"], changed["key"], changed["colour"]) == ("white mildew", "m", "#123456")
    order = me.put(f"{API}/{ref}/classes", json={"order": ["white mildew", "well", "rust"]}).json()
    assert [one["position"] for one in order] == [0, 1, 2]
    post(me, ref, {"id": f"{ref}-1", "index": 0, "label": "white mildew"})
    assert me.post(f"{API}/{ref}/classes/white mildew/merge", json={"into": "rust"}).json() == {"count": 1}
    assert [one["name"] for one in me.get(f"{API}/{ref}/classes").json()] == ["well", "rust"]
    assert me.get(f"{API}/{ref}/labels").json()[id_of(FILES[0])]["label"] == "rust"
    assert me.post(f"{API}/{ref}/classes/well/merge", json={"into": "nothing"}).status_code == 404
    assert me.patch(f"{API}/{ref}/classes/well", json={}).json()["key"] == "w"


def test_a_class_with_a_slash_in_its_name_can_be_changed_like_any_other(me: httpx.Client, ref: str) -> None:
    me.post(f"{API}/{ref}/classes", json={"name": "spots/merge"})
    assert me.patch(f"{API}/{ref}/classes/spots%2Fmerge", json={"name": "a/b"}).status_code == 200
    assert me.post(f"{API}/{ref}/classes/rust/merge", json={"into": "a/b"}).status_code == 200
    assert me.post(f"{API}/{ref}/classes/a%2Fb/merge", json={"into": "well"}).status_code == 200
    assert [one["name"] for one in me.get(f"{API}/{ref}/classes").json()] == ["well"]


def test_labels_by_index_are_kept_once_and_come_back_in_the_feed(me: httpx.Client, ref: str, data: str) -> None:
    sent: list[dict[str, Any]] = [
        {"id": f"{ref}-1", "index": 2, "label": "rust"},
        {"id": f"{ref}-2", "image": "leaf.jpg", "label": "", "mark": "unsure"},
    ]
    first = post(me, ref, *sent, data=data)
    assert first.status_code == 201 and first.json()["count"] == 2
    assert post(me, ref, *sent, data=data).json() == {"count": 0, "last": first.json()["last"]}
    feed = me.get(f"{API}/{ref}/labels/changes", params={"after": 0, "data": data}).json()
    assert [(one["index"], one["label"], one["mark"], one["id"]) for one in feed["events"]] == [
        (2, "rust", "", f"{ref}-1"),
        (0, "", "unsure", f"{ref}-2"),
    ]
    assert feed["events"][0]["image"] == id_of(FILES[2]) and feed["last"] == first.json()["last"]
    one = me.get(f"{API}/{ref}/labels/changes", params={"limit": 1}).json()
    assert one["more"] and one["last"] == feed["events"][0]["number"]
    rest = me.get(f"{API}/{ref}/labels/changes", params={"after": one["last"]}).json()
    assert rest["events"] == feed["events"][1:] and not rest["more"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"label": "rust"},
        {"label": "rust", "index": 0, "image": "leaf.jpg"},
        {"label": "rust", "index": 6},
        {"label": "rust", "index": -1},
        {"label": "rust", "index": 0, "mark": "unsure"},
        {"label": "", "index": 0, "mark": "tired"},
        {"index": 0},
        {"label": "nothing", "index": 0},
        {"label": "rust", "image": "../../etc/passwd"},
    ],
)
def test_a_label_that_is_not_clear_keeps_all_out(me: httpx.Client, ref: str, wrong: dict[str, Any]) -> None:
    refused = post(me, ref, {"id": "good", "index": 1, "label": "rust"}, {"id": "wrong", **wrong})
    assert refused.status_code == 422, refused.text
    assert me.get(f"{API}/{ref}/labels/changes").json()["events"] == []


def test_disagreements_name_the_people(me: httpx.Client, ref: str, platform: Platform) -> None:
    post(me, ref, {"id": f"{ref}-1", "index": 1, "label": "rust"})
    event = platform.projects.changes(ref, by=SOLO).changes.events[0]
    platform.projects.add_labels(ref, [LabelEvent(f"{ref}-bob", event.image, "well", "")], by=BOB)
    found = me.get(f"{API}/{ref}/disagreements").json()
    assert found == [{"image": event.image, "index": 1, "said": {event.by: "rust", "bob": "well"}}]


def test_the_quality_of_labels_is_told_in_words_and_numbers(me: httpx.Client, ref: str, platform: Platform) -> None:
    labels = [{"id": f"{ref}-{row}", "index": row, "label": "rust"} for row in range(3)]
    post(me, ref, *labels)
    events = platform.projects.changes(ref, by=SOLO).changes.events
    names = ("rust", "rust", "well")
    said = [LabelEvent(f"{ref}-bob-{one.id}", one.image, name, "") for one, name in zip(events, names, strict=True)]
    platform.projects.add_labels(ref, said, by=BOB)
    found = me.get(f"{API}/{ref}/quality").json()
    (pair,) = found["pairs"]
    assert pair["sentence"].endswith("agree on 2 of 3 images that both labelled.")
    assert (pair["images"], pair["agreed"], found["images"], found["checks"]) == (3, 2, 3, [])
    assert me.patch(f"{API}/{ref}", json={"settings": {"honeypots": 0.1}}).json()["settings"]["honeypots"] == 0.1


def test_files_of_labels_go_out_and_come_in(me: httpx.Client, ref: str, settings: Settings) -> None:
    post(me, ref, {"id": f"{ref}-1", "index": 0, "label": "rust"}, {"id": f"{ref}-2", "index": 1, "label": "well"})
    table = me.get(f"{API}/{ref}/labels/export")
    assert table.headers["content-type"].startswith("text/csv") and table.text.count("\n") == 3
    assert me.patch(f"{API}/{ref}", json={"name": f"小麦 {ref}"}).status_code == 200
    table = me.get(f"{API}/{ref}/labels/export")
    assert table.headers["content-disposition"].startswith("attachment; filename*=utf-8''%E5%B0%8F")
    coco = me.get(f"{API}/{ref}/labels/export", params={"format": "coco"})
    assert len(json.loads(coco.content)["annotations"]) == 2
    zipped = me.get(f"{API}/{ref}/labels/export", params={"format": "folders"})
    assert zipped.headers["content-type"] == "application/zip"
    post(me, ref, *({"id": f"{ref}-{number}", "index": number - 3, "label": ""} for number in (3, 4)))
    assert me.get(f"{API}/{ref}/labels").json() == {}
    for name, content in (("labels.csv", table), ("coco.json", coco), ("set.zip", zipped)):
        upload = me.post("/api/v1/uploads", files={"files": (name, content.content)}).json()["upload"]
        taken = me.post(f"{API}/{ref}/labels/import", json={"upload": upload})
        assert taken.status_code == 200, taken.text
        assert not (settings.home / "uploads" / upload).exists(), "what was used is gone"
        assert taken.json()["count"] == (2 if name == "labels.csv" else 0)
    assert {one["label"] for one in me.get(f"{API}/{ref}/labels").json().values()} == {"rust", "well"}


def test_what_cannot_be_taken_in_or_given_out_is_said(me: httpx.Client, ref: str, settings: Settings) -> None:
    def importing(**body: Any) -> httpx.Response:
        return me.post(f"{API}/{ref}/labels/import", json=body)

    assert me.get(f"{API}/{ref}/labels/export").status_code == 422  # no label yet
    assert me.get(f"{API}/{ref}/labels/export", params={"format": "xml"}).status_code == 404
    assert importing().status_code == 422
    assert importing(path="/etc/passwd").status_code == 422
    assert importing(upload="../../etc").status_code == 404
    assert "came without classes" in importing(format="data").text
    upload = me.post("/api/v1/uploads", files={"files": ("l.json", b'[{"data": ')}).json()["upload"]
    refused = importing(upload=upload)
    assert refused.status_code == 422 and "is not JSON" in refused.json()["detail"]
    assert (settings.home / "uploads" / upload).exists(), "it can be looked at, and goes with the next cleaning"
    assert "Traceback" not in refused.text and str(Path(settings.home)) not in refused.text
