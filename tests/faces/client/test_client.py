"""The Python client against a real server."""

from collections.abc import Iterator
from pathlib import Path
from typing import get_type_hints

import httpx
import pytest

from seedbed.base.errors import Conflict, InvalidInput, NotFound, SeedbedError, Unauthenticated, Unavailable, family
from seedbed.faces.api import project_views, views, zoo_views
from seedbed.faces.api.problems import problem_of
from seedbed.faces.client import Client, results, zoo
from seedbed.faces.client.connection import error_of
from seedbed.faces.client.results import Job
from tests.faces.servers import Server

PAIRS = {
    results.Job: views.JobView,
    results.Attempt: views.AttemptView,
    results.Log: views.LogView,
    results.Array: views.ArrayView,
    results.Lineage: views.LineageView,
    results.Bundle: views.BundleView,
    results.BundleDetail: views.BundleDetail,
    results.Graph: views.GraphView,
    results.Node: views.NodeView,
    results.Edge: views.EdgeView,
    results.Deletion: views.DeletionView,
    results.Upload: views.UploadView,
    results.Event: views.EventView,
    results.EventPage: views.EventPage,
    results.Identity: views.IdentityView,
    results.Context: views.ContextView,
    results.Project: project_views.ProjectView,
    results.Class: project_views.ClassView,
    results.Label: project_views.LabelView,
    results.Change: project_views.ChangeView,
    results.Changes: project_views.ChangesView,
    results.Disagreement: project_views.DisagreementView,
    results.Imported: project_views.ImportedView,
    results.Member: views.MemberView,
    results.Recipe: views.RecipeView,
    results.Guess: views.GuessView,
    results.Answer: views.AnswerView,
    results.Input: views.InputView,
    results.User: views.UserView,
    results.Token: views.TokenView,
    results.AuditLine: views.AuditView,
    results.Check: views.CheckView,
    results.Health: views.HealthView,
    zoo.Card: zoo_views.CardView,
    zoo.CardDetail: zoo_views.CardDetail,
    zoo.Start: zoo_views.StartView,
    zoo.Advice: zoo_views.AdviceView,
    zoo.Ranked: zoo_views.RankedView,
    zoo.Ranking: zoo_views.RankingView,
    zoo.Matrix: zoo_views.MatrixView,
    zoo.Similarity: zoo_views.SimilarityView,
    zoo.Comparable: zoo_views.ComparableView,
    zoo.Cached: zoo_views.CachedView,
    zoo.Cache: zoo_views.CacheView,
}


@pytest.mark.parametrize(("result", "view"), PAIRS.items(), ids=[result.__name__ for result in PAIRS])
def test_what_the_client_promises_is_what_the_server_answers(result: type, view: type[views.View]) -> None:
    assert set(get_type_hints(result)) == set(view.model_fields)


def test_a_job_is_followed_to_its_end(client: Client) -> None:
    job = client.jobs.submit("sleep-and-count", params={"steps": 3, "seconds_per_step": 0.05}, name="count")
    seen: list[Job] = list(client.follow(job["id"]))
    assert seen[-1]["state"] == "done"
    assert seen[-1]["outputs"]
    assert client.jobs.attempts(job["id"])[0]["outcome"] == "done"
    assert client.jobs.metrics(job["id"])["count"] == [(1, 1.0), (2, 2.0), (3, 3.0)]
    assert client.jobs.list(flow=job["flow"])[0]["id"] == job["id"]


def test_a_cancelled_job_ends_cancelled_and_can_be_run_again(client: Client) -> None:
    job = client.jobs.submit("sleep-and-count", params={"steps": 500, "seconds_per_step": 0.2}, grace=1)
    client.jobs.cancel(job["id"])
    assert list(client.follow(job["id"]))[-1]["state"] == "cancelled"
    again = client.jobs.rerun(job["id"])
    assert again["spec"]["params"] == job["spec"]["params"]
    client.jobs.cancel(again["id"])
    assert list(client.follow(again["id"]))[-1]["state"] == "cancelled"
    again = client.jobs.rerun(job["id"], memory="512M", timeout=900)
    assert again["spec"]["resources"] == {**job["spec"]["resources"], "memory": 512 << 20}
    assert again["spec"]["timeout"] == 900
    client.jobs.cancel(again["id"])
    assert list(client.follow(again["id"]))[-1]["state"] == "cancelled"


def test_a_job_is_stopped_for_now_and_goes_on_from_where_it_was(client: Client) -> None:
    job = client.jobs.submit("sleep-and-count", params={"steps": 20, "seconds_per_step": 0.1}, grace=5)
    next(now for now in client.follow(job["id"]) if now["step_now"] >= 2)
    assert client.jobs.pause(job["id"])["state"] == "stopping"
    stopped = next(now for now in client.follow(job["id"]) if now["state"] == "waiting")
    assert stopped["reason"].endswith("for now") and 2 <= stopped["step_now"] < 20
    client.jobs.resume(job["id"])
    assert list(client.follow(job["id"]))[-1]["state"] == "done"
    first, second = client.jobs.attempts(job["id"])
    assert (first["outcome"], second["outcome"]) == ("preempted", "done")
    with pytest.raises(Conflict, match="was not stopped for now"):
        client.jobs.resume(job["id"])


def test_refusals_come_back_as_the_errors_that_they_were(client: Client, server: Server) -> None:
    with pytest.raises(NotFound, match="none"):
        client.jobs.get("none")
    with pytest.raises(InvalidInput) as refused:
        client.jobs.submit("sleep-and-count", grace=-1, retries=-1)
    assert len(refused.value.problems) == 2
    job = client.jobs.submit("sleep-and-count", params={"steps": 1, "seconds_per_step": 0})
    with pytest.raises(InvalidInput) as refused:
        client.jobs.rerun(job["id"], memory="much", timeout=-1)
    assert len(refused.value.problems) == 2
    client.projects.create("twice")
    with pytest.raises(Conflict):
        client.projects.create("twice")
    with pytest.raises(Unauthenticated), Client(server.url, "wrong") as stranger:
        stranger.health()


def test_the_address_that_a_server_prints_is_enough(server: Server) -> None:
    with Client(f"{server.url}/?token={server.token}") as printed:
        assert printed.health()["status"] == "ok"


def test_the_token_of_an_address_is_in_no_sentence() -> None:
    with pytest.raises(Unavailable) as refused, Client("http://127.0.0.1:9/?token=secret") as nobody:
        nobody.health()
    assert "secret" not in str(refused.value)


def test_somebody_without_a_token_learns_where_it_is_set(server: Server) -> None:
    with pytest.raises(Unauthenticated) as refused, Client(server.url) as stranger:
        stranger.health()
    assert "SEEDBED_TOKEN" in refused.value.hint


def test_a_server_that_is_not_there_is_unavailable_with_a_sentence() -> None:
    with pytest.raises(Unavailable, match="does not answer"), Client("http://127.0.0.1:9") as nobody:
        nobody.health()


@pytest.mark.parametrize("member", family(), ids=[member.code for member in family()])
def test_every_member_of_the_family_survives_the_way_through_a_problem_document(member: type[SeedbedError]) -> None:
    sent = problem_of(member("A sentence.", hint="Do this.", problems=["one", "two"]))
    got = error_of(httpx.Response(sent.status_code, content=bytes(sent.body)))
    assert type(got) is member
    assert (got.message, got.hint, got.problems) == ("A sentence.", "Do this.", ("one", "two"))


def test_a_folder_goes_over_as_one_archive_and_its_file_comes_back(client: Client, tmp_path: Path) -> None:
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.txt").write_bytes(b"a" * 100_000)
    upload = client.data.upload(folder)
    assert upload["files"] == 1 and upload["size"] > 100_000
    made = client.bundles.add(name="notes", upload=upload["upload"])
    back = client.bundles.download(made["uuid"], "files", 0, tmp_path / "back.tar")
    assert back.stat().st_size == upload["size"]


def test_events_are_waited_for(client: Client) -> None:
    cursor = client.health()["event"]
    assert client.events(cursor)["events"] == []
    client.projects.create("news")
    page = client.events(cursor, wait=10)
    assert page["events"][0]["kind"].startswith("project.")
    assert page["cursor"] > cursor


def test_labels_sent_twice_count_once(client: Client) -> None:
    project = client.projects.create("labels", classes=["rust", "well"])
    labels: list[results.LabelAsked] = [{"id": str(n), "image": f"i{n}", "label": "rust"} for n in range(10)]
    assert client.projects.add_labels(project["id"], labels) == 10
    assert client.projects.add_labels(project["id"], labels) == 0
    assert client.projects.labels("labels")["i3"]["label"] == "rust"
    assert client.projects.snapshot("labels")["kind"] == "labels"


def test_labels_are_followed_exported_and_brought_in(client: Client, tmp_path: Path) -> None:
    client.projects.create("feed", classes=["rust", {"name": "well", "key": "w"}], settings={"goal": 3})
    said: list[results.LabelAsked] = [{"image": f"i{n}", "label": "rust"} for n in range(3)]
    client.projects.add_labels("feed", [*said, {"image": "i0", "label": "", "mark": "unsure"}])
    page = client.projects.changes("feed", limit=3)
    rest = client.projects.changes("feed", page["last"])
    assert page["more"] and [one["mark"] for one in [*page["events"], *rest["events"]]] == ["", "", "", "unsure"]
    client.projects.set_class("feed", "well", colour="#123456")
    assert [one["name"] for one in client.projects.order_classes("feed", ["well", "rust"])] == ["well", "rust"]
    file = client.projects.export_labels("feed", tmp_path / "labels.csv")
    assert client.projects.change("feed", kind="binary")["kind"] == "binary"
    upload = client.data.upload(file)["upload"]
    assert client.projects.import_labels("feed", upload=upload)["count"] == 0
    (tmp_path / "set" / "rust").mkdir(parents=True)
    (tmp_path / "set" / "rust" / "a.jpg").write_bytes(b"an image")
    folders = client.projects.import_labels("feed", upload=client.data.upload(tmp_path / "set")["upload"])
    assert (folders["format"], folders["count"]) == ("folders", 1)
    assert client.projects.merge_class("feed", "rust", "well") == 3
    assert client.projects.disagreements("feed") == [] == client.projects.quality("feed")["pairs"]


def test_names_with_odd_letters_find_their_way_through_the_address(client: Client) -> None:
    for name in ("50% / 50%?", "Ähre #1", "a.b;c", ".."):
        try:
            made = client.projects.create(name)
        except InvalidInput:
            continue
        assert client.projects.get(made["id"])["name"] == name


@pytest.fixture
def bundle(client: Client, tmp_path: Path) -> Iterator[results.BundleDetail]:
    (tmp_path / "one.txt").write_text("one")
    upload = client.data.upload(tmp_path / "one.txt")["upload"]
    yield client.bundles.add(name="tagged", upload=upload, tags={"a": "1"})


def test_bundles_are_found_tagged_and_removed(client: Client, bundle: results.BundleDetail) -> None:
    assert client.bundles.find("tagged", tags={"a": "1"})[0]["uuid"] == bundle["uuid"]
    assert client.bundles.tag(bundle["uuid"], {"a": None, "b": "2"})["tags"] == {"b": "2"}
    assert client.bundles.lineage(bundle["uuid"])["nodes"][0]["uuid"] == bundle["uuid"]
    client.bundles.remove([bundle["uuid"]])
    with pytest.raises(NotFound):
        client.bundles.show(bundle["uuid"])
