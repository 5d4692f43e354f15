"""What the labelling page asks, over REST."""

import io
from pathlib import Path

import httpx
import numpy as np
import pytest
from PIL import Image

from seedbed.assets.access.roles import SOLO, Role
from seedbed.base.errors import Conflict
from seedbed.faces.client import Client
from seedbed.faces.client.inprocess import InProcessTransport
from seedbed.flows.platform import Platform
from tests.faces.api.conftest import TOKEN
from tests.flows.made_up import MadeUp, made_up
from tests.flows.tiny_model import publish_tiny_model


@pytest.fixture(scope="module")
def fields(platform: Platform, tmp_path_factory: pytest.TempPathFactory) -> MadeUp:
    made = made_up(platform, tmp_path_factory.mktemp("made-up"), classes=("red", "green", "blue"), size=128)
    made.label(*range(12))
    return made


@pytest.fixture(scope="module")
def client(solo: httpx.ASGITransport, fields: MadeUp) -> Client:
    transport = InProcessTransport(solo)
    return Client("http://localhost", TOKEN, transport=transport)


def test_the_board_has_everything_around_the_images(client: Client, fields: MadeUp) -> None:
    board = client.labelling.board("fields")
    assert board["project"] == fields.project.id and board["data"] == fields.project.data
    assert (board["images"], board["goal"], board["kind"], board["grouping"]) == (60, 25, "classes", "ready")
    assert [(one["name"], one["count"], one["key"]) for one in board["classes"]] == [
        ("red", 4, "1"),
        ("green", 4, "2"),
        ("blue", 4, "3"),
    ]
    assert board["may_label"] and board["may_train"] and board["training"]["state"] == "none"
    assert board["last"] == 12 and board["grouping_done"] == 1.0


def test_an_order_has_every_image_once(client: Client) -> None:
    order = client.labelling.order("fields", "groups")
    assert sorted(order["order"]) == list(range(60)) and [run["size"] for run in order["groups"]] == [20, 20, 20]
    assert client.labelling.order("fields", "index")["order"] == list(range(60))
    assert client.labelling.order("fields", "class", klass="green")["order"][0] % 3 == 1


def test_an_order_that_nobody_knows_is_refused(me: httpx.Client, fields: MadeUp) -> None:
    assert me.get("/api/v1/projects/fields/order?by=size").status_code == 422
    assert me.get("/api/v1/projects/fields/order?by=class&class=grey").status_code == 404


def test_suggestions_similar_images_and_doubts_come_from_the_desk(client: Client, me: httpx.Client) -> None:
    said = client.labelling.suggestions("fields", list(range(12, 60)))
    assert np.mean([one["label"] == ("red", "green", "blue")[one["index"] % 3] for one in said]) > 0.9
    assert me.post("/api/v1/projects/fields/suggestions", json={"indexes": [12]}).json()["from"] == 12
    assert {index % 3 for index in client.labelling.similar("fields", 5, count=8)} == {2}
    assert client.labelling.mistakes("fields") == []
    for gain in client.labelling.gains("fields"):
        assert gain["sentence"] == f"About {gain['labels']} more labels would help {gain['class']}."


def test_at_most_a_thousand_images_are_asked_about_at_once(me: httpx.Client, fields: MadeUp) -> None:
    for wrong in ([], [-1], list(range(1001))):
        assert me.post("/api/v1/projects/fields/suggestions", json={"indexes": wrong}).status_code == 422
    assert me.post("/api/v1/projects/fields/suggestions", json={"indexes": [60]}).status_code == 404


def test_people_are_seen_by_each_other(client: Client) -> None:
    (person,) = client.labelling.here("fields", 7)
    assert (person["name"], person["where"]) == (SOLO.name, 7)
    assert client.labelling.board("fields")["people"] == [person]


def test_thumbnails_have_the_images_proportions_and_stay_in_the_browser(me: httpx.Client, fields: MadeUp) -> None:
    path = f"/api/v1/data/{fields.project.data}/images/4/thumbnail?size=128"
    answer = me.get(path)
    picture = Image.open(io.BytesIO(answer.content))
    assert picture.size == (128, 96), "320 x 240 in a square of 128"
    assert np.abs(np.asarray(picture).mean(axis=(0, 1)) - (40, 200, 200)).max() < 8
    assert answer.headers["cache-control"] == "private, max-age=31536000, immutable"
    again = me.get(path, headers={"If-None-Match": answer.headers["etag"]})
    assert again.status_code == 304 and not again.content
    assert me.get("/api/v1/data/fields/images/4/thumbnail").headers["cache-control"] == "private, no-cache"
    assert me.get(path.replace("/4/", "/60/")).status_code == 404


def test_dropped_images_are_named_by_the_newest_model_and_unreadable_ones_are_said(
    client: Client, platform: Platform, tmp_path: Path
) -> None:
    fresh = made_up(platform, tmp_path / "made-up", name="others", classes=("red", "green", "blue"), grouped=False)
    (tmp_path / "dropped").mkdir()
    Image.new("RGB", (40, 30), (250, 10, 10)).save(tmp_path / "dropped" / "a.png")
    (tmp_path / "dropped" / "b.jpg").write_text("not an image")
    with pytest.raises(Conflict, match="Nothing can be said of other images yet"):
        client.labelling.predict("others", client.data.upload(tmp_path / "dropped" / "a.png")["upload"])
    publish_tiny_model(platform, tmp_path / "model", fresh.project.id, ("red", "green", "blue"))
    sent = [client.data.upload(path)["upload"] for path in sorted((tmp_path / "dropped").iterdir())]
    (seen,), (unread,) = (client.labelling.predict("others", upload) for upload in sent)
    assert (seen["file"], seen["label"], seen["problem"]) == ("a.png", "red", "") and seen["confidence"] > 0.5
    assert abs(sum(seen["probabilities"].values()) - 1) < 0.01
    assert unread["file"] == "b.jpg" and not unread["label"] and "not an image" in unread["problem"]
    assert not any((platform.settings.home / "uploads").iterdir()), "uploads are used up"


def test_labellers_may_ask_and_send_images_and_viewers_only_look(
    team_calls: "object", tokens: dict[Role, str], platform: Platform, fields: MadeUp
) -> None:
    for role in (Role.VIEWER, Role.LABELLER):
        platform.users.add_member(fields.project.id, f"a-{role.value}", role, by=SOLO)
    viewer, labeller = (team_calls(tokens[role]) for role in (Role.VIEWER, Role.LABELLER))  # type: ignore[operator]
    base = f"/api/v1/projects/{fields.project.id}"
    for person, status in ((viewer, 403), (labeller, 200)):
        assert person.get(f"{base}/board").status_code == person.get(f"{base}/order?by=random").status_code == 200
        assert person.post(f"{base}/suggestions", json={"indexes": [20]}).status_code == status
        assert person.get(f"{base}/similar/20").status_code == status
        assert person.post(f"{base}/presence", json={"where": 1}).status_code == status
    assert not labeller.get(f"{base}/board").json()["may_train"]
    assert labeller.post(f"{base}/grouping").status_code == 403
    sent = labeller.post(f"/api/v1/uploads?project={fields.project.id}", files={"files": ("a.txt", b"x")})
    assert sent.status_code == 201
    (answer,) = labeller.post(f"{base}/predict", json={"upload": sent.json()["upload"]}).json()
    assert answer["problem"]
