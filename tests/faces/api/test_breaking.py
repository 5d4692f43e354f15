"""What somebody sends who means harm, or does not know better: sentences come back, and nothing of others does."""

import json
import re
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from urllib.parse import quote

import httpx
import pytest
from fastapi import FastAPI

from seedbed.assets.access.roles import SOLO, Role
from seedbed.base.errors import SeedbedError
from seedbed.faces.client import Client
from seedbed.faces.client.inprocess import InProcessTransport
from seedbed.flows.kinds import KINDS
from seedbed.flows.platform import Platform
from seedbed.runtime.jobs.spec import JobSpec
from tests.faces.api.conftest import TOKEN
from tests.flows.made_up import MadeUp, made_up

By = Callable[[str], httpx.Client]
API = "/api/v1"
JSON = {"content-type": "application/json"}
LONG = ("/events", "/backup", "/push", "/pull", "/gc", "/verify", "/rebuild")  # work of minutes, or a feed without end
FEW: tuple[Any, ...] = (None, -1, 1e308, "", "../../etc/passwd", "\u202e😀" * 99, "job:x/y", [None], {"a": [{}]})
MORE: tuple[Any, ...] = (
    True, 0, 1.5, -0.0, 2**31, 2**63 - 1, -(2**63), 2**64, float("nan"), float("-inf"), " ", ".", "..", "/etc/passwd",
    "a/b", "C:\\x", "\0", "\ud800", "ü" * 300, "x" * 100_000, "%00", "'; DROP TABLE jobs;--", "NaN", "1e999", "\n\r\t",
    [], {}, [[[]]], "job:",
)  # fmt: skip


@pytest.fixture(scope="module")
def fields(platform: Platform, tmp_path_factory: pytest.TempPathFactory) -> MadeUp:
    """A project with a data set and labels."""
    made = made_up(platform, tmp_path_factory.mktemp("made-up"), classes=("red", "green", "blue"), size=32)
    made.label(*range(6))
    return made


@pytest.fixture(scope="module")
def description(me: httpx.Client) -> dict[str, Any]:
    answer: dict[str, Any] = me.get(f"{API}/openapi.json").json()
    return answer


def operations(description: dict[str, Any]) -> Iterator[tuple[str, str, dict[str, Any], dict[str, Any] | None]]:
    """Method, path, description and the example of its body, of every operation."""
    schemas = description["components"]["schemas"]
    for path, methods in description["paths"].items():
        for method, told in methods.items():
            content = told.get("requestBody", {}).get("content", {}).get("application/json", {})
            name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
            if not path.endswith(LONG):
                yield method.upper(), path, told, schemas[name]["examples"][0] if name else None


def filled(path: str, things: dict[str, str]) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: quote(things.get(match[1], "x"), safe=""), path)


def spoilt(body: dict[str, Any], fields: list[str], values: tuple[Any, ...]) -> Iterator[Any]:
    """A body with each of its fields, and each of those within, as it should not be."""
    yield from values
    for name in fields:
        inner = body.get(name)
        for value in values:
            yield {**body, name: value}
            if isinstance(inner, list) and inner and isinstance(inner[0], dict):
                yield from ({**body, name: [{**inner[0], key: value}]} for key in inner[0])
            if isinstance(inner, dict):
                yield from ({**body, name: {**inner, key: value}} for key in [*inner, "", "ü/../b"])


def told(answer: httpx.Response) -> bool:
    """Whether it is an answer, or a refusal in words that is not a failure of ours."""
    kind = answer.headers.get("content-type", "")
    return answer.status_code < 400 or (answer.status_code < 500 and kind == "application/problem+json")


def break_all(me: httpx.Client, description: dict[str, Any], things: dict[str, str], values: tuple[Any, ...]) -> int:
    count = 0
    for method, path, about, body in operations(description):
        if body is None or method == "DELETE":
            continue
        schema = about["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
        known = [*description["components"]["schemas"][schema]["properties"], "nothing-of-ours"]
        for wrong in spoilt(body, known, values):
            answer = me.request(method, filled(path, things), content=json.dumps(wrong).encode(), headers=JSON)
            assert told(answer), (method, path, str(wrong)[:200], answer.status_code, answer.text)
            count += 1
    return count


@pytest.fixture(scope="module")
def things(platform: Platform, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """What addresses name, by the names of their parts; all of it exists, and is for nothing but to be broken."""
    made = made_up(platform, tmp_path_factory.mktemp("toy"), name="toy", classes=("red", "green"))
    made.label(*range(6))
    job = platform.jobs.submit(JobSpec("sleep-and-count"), by=SOLO)
    platform.users.create("fuzzed", Role.TRAINER, by=SOLO)
    return {"ref": made.project.id, "job_id": job.id, "user": "fuzzed", "name": "red", "array": "files", "index": "0"}


def test_no_field_of_any_body_breaks_the_server(
    me: httpx.Client, description: dict[str, Any], things: dict[str, str]
) -> None:
    assert break_all(me, description, things, FEW) > 1000
    assert len(me.get(f"{API}/projects/{things['ref']}/labels").json()) == 6, "and the labels are what they were"


@pytest.mark.slow
def test_no_field_of_any_body_breaks_the_server_in_a_longer_search_either(
    me: httpx.Client, description: dict[str, Any], things: dict[str, str]
) -> None:
    assert break_all(me, description, things, MORE) > 3000


def test_no_part_of_an_address_breaks_the_server(
    me: httpx.Client, description: dict[str, Any], things: dict[str, str]
) -> None:
    words = ["", "-1", "1e308", "nan", "..", "../../x", "\0", "a/b", "%00", "\u202e😀" * 99, str(2**64), "job:x/y"]
    for method, path, about, _ in operations(description):
        names = [one["name"] for one in about.get("parameters", []) if one["in"] == "query"]
        for word in words:
            if method == "GET":
                for address in [filled(path, {**things, name: word}) for name in re.findall(r"\{(\w+)\}", path)]:
                    assert told(me.get(address.replace("/..", "/%2E%2E"))), address
                for name in names:
                    answer = me.get(filled(path, things), params={name: word})
                    assert told(answer), (path, name, word, answer.text)


@pytest.mark.parametrize("value", [None, "", ".", "wide", [], {}, [64], 1e308, -5, "64.5"])
def test_the_size_of_a_training_is_looked_at_before_it_is_used(me: httpx.Client, fields: MadeUp, value: Any) -> None:
    answer = me.post(f"{API}/models/train", json={"project": fields.project.id, "params": {"size": value}})
    assert answer.status_code == 422 and "size" in answer.text


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "files"])
def test_files_do_not_pass_for_what_steps_make(me: httpx.Client, kind: str) -> None:
    upload = me.post(f"{API}/uploads", files={"files": ("a.txt", b"hello")}).json()["upload"]
    answer = me.post(f"{API}/bundles", json={"name": "false", "upload": upload, "kind": kind})
    assert answer.status_code == 422 and "steps make" in answer.json()["detail"]
    assert me.get(f"{API}/bundles", params={"name": "false"}).json() == []
    kept = me.post(f"{API}/bundles", json={"name": f"true-{kind}", "upload": upload, "kind": "notes"})
    assert kept.status_code == 201, "the upload is not lost"


def test_an_image_whose_file_is_lost_says_so(me: httpx.Client, fields: MadeUp) -> None:
    answer = me.get(f"{API}/data/{fields.project.data}/images/0/thumbnail")  # it was made up without its files
    assert (answer.status_code, answer.json()["code"]) == (500, "damaged")
    assert "lost" in answer.json()["detail"] and "seedbed store pull" in answer.json()["hint"]


@pytest.mark.parametrize("name", ["..", ".", ""])
def test_a_name_of_dots_leads_the_client_to_nothing_above_it(solo: FastAPI, platform: Platform, name: str) -> None:
    project = platform.projects.create(f"stays{name}", classes=["a", "b"], by=SOLO)
    with Client("http://localhost", TOKEN, transport=InProcessTransport(solo)) as client:
        for act in (
            lambda: client.projects.remove_class(project.id, name),
            lambda: client.projects.remove_member(project.id, name),
            lambda: client.jobs.cancel(name),
        ):
            with pytest.raises(SeedbedError):
                act()
    assert platform.projects.get(project.id, by=SOLO).id == project.id


@pytest.mark.parametrize("name", ["..", "."])
def test_nothing_is_called_by_dots(me: httpx.Client, fields: MadeUp, name: str) -> None:
    for answer in (
        me.post(f"{API}/projects", json={"name": name}),
        me.patch(f"{API}/projects/{fields.project.id}", json={"name": name}),
        me.post(f"{API}/projects", json={"name": f"of{name}", "classes": ["a", name]}),
        me.post(f"{API}/projects/{fields.project.id}/classes", json={"name": name}),
        me.patch(f"{API}/projects/{fields.project.id}/classes/blue", json={"name": name}),
        me.post(f"{API}/users", json={"name": name, "role": "viewer"}),
        me.post(f"{API}/contexts", json={"name": name}),
        me.post(f"{API}/jobs", json={"step": "sleep-and-count", "name": name}),
    ):
        assert answer.status_code == 422 and answer.json()["detail"], answer.text


# --- others' things -----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def secret(platform: Platform, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """A project of others, with a bundle and a job: their ids, which somebody else has got to know."""
    project = platform.projects.create("hush-project", classes=["hush-class", "b"], by=SOLO)
    (tmp_path_factory.getbasetemp() / "hush-file.txt").write_text("hush-content")
    bundle = platform.bundles.add(
        [tmp_path_factory.getbasetemp() / "hush-file.txt"], name="hush-bundle", project=project.id, by=SOLO
    )
    job = platform.jobs.submit(JobSpec("sleep-and-count", name="hush-job", project=project.id), by=SOLO)
    return {"project": project.id, "bundle": bundle.uuid, "job": job.id}


@pytest.mark.parametrize("what", ["project", "bundle", "job"])
def test_who_knows_an_id_of_another_project_learns_and_changes_nothing_with_it(
    team_calls: By, tokens: dict[Role, str], description: dict[str, Any], secret: dict[str, str], what: str
) -> None:
    eve = team_calls(tokens[Role.TRAINER])
    here = {"ref": secret[what], "job_id": secret[what], "name": "hush-class", "user": "a-viewer"}
    for method, path, _, body in operations(description):
        if re.search(r"\{(ref|job_id)\}", path) and "/users/" not in path:
            answer = eve.request(method, filled(path, {**here, "array": "files", "index": "0"}), json=body)
            assert answer.status_code in (403, 404, 405, 422), (method, path, answer.status_code, answer.text)
            assert "hush" not in answer.text.replace("hush-class", ""), (method, path, answer.text)


def test_ids_of_another_project_in_a_body_or_a_question_open_nothing(
    team_calls: By, tokens: dict[Role, str], platform: Platform, secret: dict[str, str]
) -> None:
    eve = team_calls(tokens[Role.TRAINER])
    own = platform.projects.create("eves", classes=["a", "b"], by=SOLO)
    platform.users.add_member(own.id, "a-trainer", Role.TRAINER, by=SOLO)
    project, bundle, job = secret["project"], secret["bundle"], secret["job"]
    count = "sleep-and-count"
    bodies: list[tuple[str, str, dict[str, Any]]] = [
        ("POST", "/jobs", {"step": count, "project": project}),
        ("POST", "/jobs", {"step": count, "after": [job]}),
        ("POST", "/jobs", {"step": "decode", "inputs": {"data": bundle}}),
        ("POST", "/jobs", {"step": "decode", "inputs": {"data": f"job:{job}/count"}}),
        ("POST", "/jobs/flow", {"jobs": [{"step": count, "name": "x"}, {"step": count, "after": ["x", job]}]}),
        ("POST", "/bundles", {"name": "mine", "project": project, "paths": []}),
        ("POST", "/bundles/remove", {"refs": [bundle]}),
        ("POST", "/data", {"name": "mine", "to": bundle, "path": "/srv"}),
        ("POST", "/models/train", {"data": bundle, "labels": bundle}),
        ("POST", "/models/train", {"project": project}),
        ("POST", f"/models/{bundle}/predict", {"data": bundle}),
        ("PUT", f"/projects/{own.id}/data", {"bundle": bundle}),
        ("POST", f"/projects/{own.id}/labels", {"data": bundle, "labels": [{"id": "1", "index": 0, "label": "a"}]}),
    ]
    for method, path, body in bodies:
        answer = eve.request(method, API + path, json=body)
        assert answer.status_code in (403, 404, 422), (path, body, answer.status_code, answer.text)
        assert "hush" not in answer.text, (path, body, answer.text)
    for path, asked in (
        ("/jobs", {"project": project}),
        ("/jobs", {"flow": platform.jobs.get(job, by=SOLO).flow}),
        ("/bundles", {"project": project}),
        ("/bundles", {"name": "hush-bundle"}),
        ("/data", {"project": project}),
        (f"/projects/{own.id}/labels/changes", {"data": bundle}),
        (f"/projects/{own.id}/disagreements", {"data": bundle}),
    ):
        answer = eve.get(API + path, params=asked)
        assert "hush" not in answer.text and (answer.json() == [] or answer.status_code in (403, 404, 422)), answer.text
    assert eve.post(f"{API}/uploads", params={"project": project}, files={"f": ("a", b"a")}).status_code in (403, 404)
    assert platform.bundles.show(bundle, by=SOLO) and platform.jobs.get(job, by=SOLO).state == "waiting"


@pytest.mark.parametrize("held", [Role.TRAINER, Role.OPERATOR])
@pytest.mark.parametrize("where", ["outside", "link", "dots", "all uploads", "database"])
def test_over_rest_no_member_of_a_team_has_a_folder_of_the_server_read(
    team_calls: By, tokens: dict[Role, str], platform: Platform, tmp_path: Path, held: Role, where: str
) -> None:
    home, root = platform.settings.home, platform.settings.import_roots[0]
    root.mkdir(exist_ok=True)
    (tmp_path / "labels.csv").write_text("file,class\nhush.jpg,hush\n")
    (root / "link").unlink(missing_ok=True)
    (root / "link").symlink_to(tmp_path)
    place = {
        "outside": tmp_path,
        "link": root / "link",
        "dots": root / ".." / "..",
        "all uploads": home / "uploads",
        "database": home / "seedbed.db",
    }[where]
    project = platform.projects.create(f"reads {where} {held}", classes=["a", "b"], by=SOLO)
    member = team_calls(tokens[held])
    platform.users.add_member(project.id, f"a-{held.value}", held, by=SOLO)
    path, table = str(place), str(place / "labels.csv")
    weights = {"name": "w", "path": path, "architecture": "resnet18"}
    for address, body in (
        ("/jobs", {"step": "ingest", "params": {"source": path}}),
        ("/jobs", {"step": "publish-files", "params": {"paths": [path]}}),
        ("/jobs", {"step": "import-weights", "params": weights}),
        ("/data", {"name": "x", "path": path}),
        ("/bundles", {"name": "x", "paths": [path]}),
        ("/recipes/few-labels", {"params": {"source": path, "labels": table}}),
        ("/recipes/few-labels", {"params": {"source": path, "project": project.id}}),
        (f"/projects/{project.id}/labels/import", {"path": table}),
        ("/zoo/cards", weights),
        ("/zoo/rankings", {"project": project.id, "labels": table}),
        ("/models/train", {"project": project.id, "labels": table}),
    ):
        answer = member.post(API + address, json=body)
        assert answer.status_code in (403, 422), (address, answer.text)
        assert "import_roots" in answer.json()["hint"] and "hush" not in answer.text


# --- at once ------------------------------------------------------------------------------------------------------


def at_once(me: httpx.Client, *requests: tuple[str, str, dict[str, Any]]) -> list[httpx.Response]:
    with ThreadPoolExecutor(len(requests)) as people:
        return list(people.map(lambda one: me.request(one[0], API + one[1], json=one[2]), requests))


def test_a_label_that_is_sent_by_many_at_once_under_one_id_counts_once(me: httpx.Client, fields: MadeUp) -> None:
    said = {
        "labels": [{"id": "sent-often", "index": 7, "label": "red"}, {"id": "sent-too", "index": 8, "label": "red"}]
    }
    address = f"/projects/{fields.project.id}/labels"
    before = me.get(f"{API}{address}/changes").json()["last"]
    answers = at_once(me, *[("POST", address, said)] * 8)
    assert {answer.status_code for answer in answers} == {201}
    assert sorted(answer.json()["count"] for answer in answers) == [0] * 7 + [2]
    assert me.get(f"{API}{address}/changes").json()["last"] == before + 2


def test_an_id_that_stands_for_another_label_is_not_answered_as_if_it_were_kept(
    me: httpx.Client, fields: MadeUp, platform: Platform
) -> None:
    other = platform.projects.create("another", classes=["red", "b"], by=SOLO)
    mine = {"labels": [{"id": "an-id", "index": 9, "label": "red"}]}
    assert me.post(f"{API}/projects/{fields.project.id}/labels", json=mine).json()["count"] == 1
    changed = {"labels": [{"id": "an-id", "index": 10, "label": "red"}]}
    assert me.post(f"{API}/projects/{fields.project.id}/labels", json=changed).status_code in (409, 422)
    elsewhere = {"labels": [{"id": "an-id", "image": "x.jpg", "label": "red"}]}
    answer = me.post(f"{API}/projects/{other.id}/labels", json=elsewhere)
    kept = me.get(f"{API}/projects/{other.id}/labels").json()
    assert (answer.status_code, len(kept)) in ((201, 1), (409, 0), (422, 0)), "kept, or refused; never lost in silence"


@pytest.mark.parametrize(
    ("path", "body"),
    [
        ("/projects", {"name": "twin", "classes": ["a", "b"]}),
        ("/users", {"name": "twin", "role": "viewer"}),
        ("/contexts", {"name": "twin"}),
        ("/projects/{ref}/classes", {"name": "twin"}),
    ],
)
def test_of_many_who_make_the_same_thing_at_once_one_does(
    me: httpx.Client, things: dict[str, str], path: str, body: dict[str, Any]
) -> None:
    answers = at_once(me, *[("POST", filled(path, things), body)] * 6)
    made = [answer for answer in answers if answer.status_code < 300]
    assert len(made) == 1 and all(told(answer) for answer in answers), [answer.text for answer in answers]


def test_a_job_that_many_cancel_and_run_again_at_once_is_run_again_once(me: httpx.Client) -> None:
    one = me.post(f"{API}/jobs", json={"step": "sleep-and-count", "name": "one"}).json()
    two = me.post(f"{API}/jobs", json={"step": "sleep-and-count", "name": "two", "after": [one["id"]]}).json()
    cancelled = at_once(me, *[("POST", f"/jobs/{one['id']}/cancel", {})] * 6)
    assert {(answer.status_code, answer.json()["state"]) for answer in cancelled} == {(202, "cancelled")}
    again = at_once(me, *[("POST", f"/jobs/{one['id']}/rerun", {})] * 6)
    assert {answer.status_code for answer in again} == {201}
    assert len({answer.json()["id"] for answer in again}) == 1
    assert sum(len(answer.json()["back"]) for answer in again) == 1
    assert me.get(f"{API}/jobs/{two['id']}").json()["fell_with"] == one["id"]


def test_what_is_removed_by_many_at_once_is_removed_once(me: httpx.Client, tmp_path: Path) -> None:
    upload = me.post(f"{API}/uploads", files={"files": ("a.txt", b"hello there")}).json()["upload"]
    bundle = me.post(f"{API}/bundles", json={"name": "gone", "upload": upload}).json()["uuid"]
    answers = at_once(me, *[("POST", "/bundles/remove", {"refs": [bundle]})] * 5)
    assert all(told(answer) for answer in answers) and any(answer.status_code < 300 for answer in answers)
    assert me.get(f"{API}/bundles/{bundle}").status_code == 404


@pytest.mark.parametrize("name", ["../../out.txt", "/etc/out.txt", "a/../../../out.txt", "..", "a\0b", "x" * 2000, ""])
def test_an_upload_writes_nowhere_but_into_its_folder(me: httpx.Client, platform: Platform, name: str) -> None:
    before = {path for path in platform.settings.home.parent.rglob("*out.txt")}
    head = f'--b\r\nContent-Disposition: form-data; name="files"; filename="{name}"\r\n\r\nhello\r\n--b--\r\n'
    kind = {"content-type": "multipart/form-data; boundary=b"}
    answer = me.post(f"{API}/uploads", content=head.encode(), headers=kind)
    assert told(answer) and answer.status_code in (400, 403, 422), answer.text
    assert {path for path in platform.settings.home.parent.rglob("*out.txt")} == before
