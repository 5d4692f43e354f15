"""Images are looked at and grouped: the steps, and the server that begins them by itself."""

import signal
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import psutil
import pytest
import torch

from seedbed.assets.access.roles import SOLO
from seedbed.base.clock import SystemClock
from seedbed.base.errors import NotFound
from seedbed.base.run import FolderRun, MemoryRun, Stopped
from seedbed.base.settings import Settings
from seedbed.flows.kinds.data import Decoded
from seedbed.flows.kinds.embeddings import Embeddings, Groups
from seedbed.flows.kinds.models import Weights
from seedbed.flows.platform import Platform
from seedbed.flows.steps import STEPS, embed
from seedbed.flows.usecases.notices import Notice, Notices
from seedbed.runtime.jobs.spec import JobClass, JobSpec
from tests.faces.servers import Server, serving
from tests.flows.made_up import made_up
from tests.processes import running

PATIENCE = 120.0


@pytest.fixture(scope="module", autouse=True)
def one_thread() -> Iterator[None]:
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="module")
def decoded(leaves: Path, tmp_path_factory: pytest.TempPathFactory) -> Decoded:
    step = STEPS.get("ingest")
    run = MemoryRun(tmp_path_factory.mktemp("ingest"))
    made: Decoded = step(params=step.check_params({"source": str(leaves), "size": 32}), run=run)["decoded"]
    return made


def look(decoded: Decoded, run: FolderRun | MemoryRun, **more: Any) -> Embeddings:
    step = STEPS.get("embed")
    found: Embeddings = step(decoded, params=step.check_params({"size": 32, "device": "cpu"}), run=run, **more)
    return found


def test_every_image_is_looked_at_and_put_into_a_group(decoded: Decoded, tmp_path: Path) -> None:
    seen = look(decoded, MemoryRun(tmp_path / "embed"))
    assert seen.rows.shape == (60, 1280) and np.allclose(np.linalg.norm(seen.rows, axis=1), 1, atol=1e-3)
    assert dict(seen.values)["size"] == (32,) and seen.derived
    step = STEPS.get("group")
    made: Groups = step(seen, params=step.check_params({"count": 6}), run=MemoryRun(tmp_path / "group"))
    assert sorted(np.unique(made.groups)) == list(range(6)) and made.values["groups"] == (6,)
    assert made.typicality.shape == (60,) and made.centres.shape == (6, 1280)


def test_looking_goes_on_from_its_last_whole_part(
    decoded: Decoded, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = look(decoded, MemoryRun(tmp_path / "whole")).rows
    monkeypatch.setattr(embed, "_PART", 25)

    class Interrupted(FolderRun):
        def should_stop(self) -> bool:
            return (tmp_path / "first" / "checkpoints" / "000000025").exists()

    (tmp_path / "first").mkdir()
    with pytest.raises(Stopped):
        look(decoded, Interrupted(tmp_path / "first"))
    (tmp_path / "second").mkdir()
    resumed = FolderRun(tmp_path / "second", resume=tmp_path / "first" / "checkpoints" / "000000025")
    assert np.allclose(look(decoded, resumed).rows, whole, atol=1e-5)
    assert '"step": 25,' not in (tmp_path / "second" / "metrics.jsonl").read_text(), "the first part is not done twice"


def test_images_that_were_looked_at_before_are_not_looked_at_again(decoded: Decoded, tmp_path: Path) -> None:
    whole = look(decoded, MemoryRun(tmp_path / "whole"))
    some = [30, 3, 59, 0]
    marked = whole.rows[some] * -1  # so that it shows which rows were taken over
    earlier = Embeddings.write(
        tmp_path / "earlier", marked, [decoded.images[row] for row in some], card=embed.CARD, size=32
    )
    run = MemoryRun(tmp_path / "again")
    seen = look(decoded, run, earlier=earlier)
    assert run.reports[-1]["total"] == 56
    rest = [row for row in range(60) if row not in some]
    assert np.array_equal(seen.rows[some], marked) and np.allclose(seen.rows[rest], whole.rows[rest], atol=1e-5)
    other = Embeddings.write(tmp_path / "other", marked, [decoded.images[row] for row in some], card="other", size=32)
    assert np.allclose(look(decoded, MemoryRun(tmp_path / "all"), earlier=other).rows, whole.rows, atol=1e-5)
    all_known = look(decoded, MemoryRun(tmp_path / "none"), earlier=seen)
    assert np.array_equal(all_known.rows, seen.rows)


@pytest.mark.slow
def test_a_network_gets_used_to_the_images_and_then_looks_with_those_eyes(decoded: Decoded, tmp_path: Path) -> None:
    step = STEPS.get("tune")
    quick = {"size": 32, "steps": 2, "batch": 4, "device": "cpu"}
    tuned: Weights = step(decoded, params=step.check_params(quick), run=MemoryRun(tmp_path / "tune"))
    plain, after = (
        look(decoded, MemoryRun(tmp_path / name), **more) for name, more in (("a", {}), ("b", {"weights": tuned}))
    )
    assert after.rows.shape == plain.rows.shape and not np.allclose(after.rows, plain.rows, atol=1e-4)
    group = STEPS.get("group")
    made: Groups = group(
        after, params=group.check_params({"method": "scan", "count": 3, "epochs": 1}), run=MemoryRun(tmp_path / "scan")
    )
    assert 1 <= len(made.centres) <= 3 and len(made.groups) == 60


def test_who_has_images_grouped_is_told_once_and_in_plain_words(platform: Platform) -> None:
    told: list[Notice] = []

    class Ear:
        name = "ear"

        def send(self, notice: Notice) -> None:
            told.append(notice)

    quick = {"steps": 1, "seconds_per_step": 0}
    job = platform.jobs.submit(JobSpec("sleep-and-count", name="other", params=quick, cls=JobClass.BE), by=SOLO)
    platform.run_until_done([job.id])
    Notices(platform.events, platform.queue, [Ear()], SystemClock()).follow()
    assert [notice.sentence for notice in told] == ["Your job 'other' is done."]
    grouped = Notice(job.id, "x.group", "group", "done", "", "ada", "p", 0.0)
    assert grouped.sentence == "The images of your project are grouped now: alike ones stand together."


def _desks_of(server: Server) -> list[psutil.Process]:
    return running("desks.process", among=psutil.Process(server.process.pid).children())


@pytest.mark.slow
def test_desks_end_with_a_server_that_is_killed(tmp_path: Path) -> None:
    with Platform.open(Settings(home=tmp_path / "home")) as platform:
        made_up(platform, tmp_path / "made-up").label(0, 1, 2)
    with serving(tmp_path / "home") as server:
        answer = server.http().post("/api/v1/projects/fields/suggestions", json={"indexes": [7]})
        assert answer.json()["suggestions"][0]["label"] == "mildew"
        desks = _desks_of(server)
        assert len(desks) == 1
        server.process.send_signal(signal.SIGKILL)
        server.process.wait(30)
        _, alive = psutil.wait_procs(desks, timeout=10)
        assert not [desk for desk in alive if desk.status() != psutil.STATUS_ZOMBIE]


@pytest.mark.slow
def test_a_server_groups_new_images_by_itself_and_then_knows_alike_ones(leaves: Path, tmp_path: Path) -> None:
    with serving(tmp_path / "home", SEEDBED_IMPORT_ROOTS=str(leaves.parent), SEEDBED_CPUS="4") as server:
        http = server.http()
        project = http.post("/api/v1/projects", json={"name": "leaves", "classes": ["a", "b"]}).json()["id"]
        http.post("/api/v1/data", json={"name": "leaves", "path": str(leaves), "project": project}).raise_for_status()
        until = time.monotonic() + PATIENCE
        stages: list[str] = []
        while (board := http.get(f"/api/v1/projects/{project}/board").json())["grouping"] != "ready":
            assert time.monotonic() < until and board["grouping"] != "failed", (stages, board)
            stages.append(board["grouping"])
            time.sleep(0.2)
        assert "running" in stages and board["images"] == 60
        image = next(iter(sorted(leaves.glob("*.jpg"))))
        records = http.get(f"/api/v1/data/{board['data']}/records").json()
        (own,) = [record["index"] for record in records if record["file"] == image.name]
        for index, label in ((own, "a"), ((own + 1) % 60, "b")):
            said = {"labels": [{"id": f"l{index}", "image": records[index]["id"], "label": label}]}
            http.post(f"/api/v1/projects/{project}/labels", json=said).raise_for_status()
        upload = http.post("/api/v1/uploads", files={"files": (image.name, image.read_bytes())}).json()["upload"]
        (seen,) = http.post(f"/api/v1/projects/{project}/predict", json={"upload": upload}, timeout=90).json()
        assert seen["label"] == "a" and seen["similar"][0] == own, "the image itself is the most alike"


@pytest.mark.slow
def test_a_server_looks_at_images_for_proposals_where_groups_are_switched_off(leaves: Path, tmp_path: Path) -> None:
    with serving(tmp_path / "home", SEEDBED_IMPORT_ROOTS=str(leaves.parent), SEEDBED_CPUS="4") as server:
        http = server.http()
        wishes = {"name": "leaves", "classes": ["a", "b"], "settings": {"grouping": False}}
        project = http.post("/api/v1/projects", json=wishes).json()["id"]
        http.post("/api/v1/data", json={"name": "leaves", "path": str(leaves), "project": project}).raise_for_status()
        until = time.monotonic() + PATIENCE
        while not (board := http.get(f"/api/v1/projects/{project}/board").json())["looked_at"]:
            assert time.monotonic() < until and board["grouping"] in ("none", "off"), board
            time.sleep(0.2)
        assert (board["grouping"], board["proposals"], board["images"]) == ("off", True, 60)
        records = http.get(f"/api/v1/data/{board['data']}/records").json()
        said = [{"id": f"l{row}", "image": records[row]["id"], "label": "ab"[row % 2]} for row in range(4)]
        http.post(f"/api/v1/projects/{project}/labels", json={"labels": said}).raise_for_status()
        answer = http.post(f"/api/v1/projects/{project}/suggestions", json={"indexes": [7]}, timeout=90).json()
        assert answer["suggestions"][0]["label"] in ("a", "b")
        steps = {job["step"] for job in http.get(f"/api/v1/jobs?project={project}").json()}
        assert "embed" in steps and "group" not in steps


def test_a_removed_data_set_is_no_trouble(platform: Platform, tmp_path: Path) -> None:
    made = made_up(platform, tmp_path / "made-up")
    platform.bundles.remove([made.project.data], by=SOLO)
    board = platform.labelling.board("fields", by=SOLO)
    assert (board.images, board.alike.stage) == (0, "none")
    (follower,) = platform._resident_followers()
    assert follower.follow() == 0
    with pytest.raises(NotFound):
        platform.data.thumbnail(made.project.data, 0, by=SOLO)
