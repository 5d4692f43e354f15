"""/zoo over REST: what is there, what is brought in, and how mistakes are told."""

import io
from pathlib import Path

import httpx
import pytest
import torch

from seedbed.assets.access.roles import SOLO
from seedbed.flows.kinds.models import Weights
from seedbed.flows.kinds.zoo import Ranking
from seedbed.flows.platform import Platform
from tests.flows.zoo_parts import NETWORK, keep

LITE0 = "efficientnet_lite0.imagenet"


@pytest.fixture(scope="module")
def wheat(platform: Platform, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A kept card."""
    folder = tmp_path_factory.mktemp("wheat")
    keep(folder / "weights", "wheat", trained_on="wheat 2025", classes=("rust", "well"))
    return platform.store.publish(Weights(folder, {"card": ("wheat",)}).draft(name="wheat.weights")).uuid


def test_cards_are_listed_and_shown(me: httpx.Client, wheat: str) -> None:
    cards = {card["name"]: card for card in me.get("/api/v1/zoo/cards").json()}
    assert {LITE0, "wheat"} <= set(cards) and cards["wheat"]["bundle"] == wheat
    shown = me.get("/api/v1/zoo/cards/wheat").json()
    assert shown["classes"] == ["rust", "well"] and not shown["comparable"]
    assert me.get(f"/api/v1/zoo/cards/{LITE0}").json()["outputs"] == 1000
    missing = me.get("/api/v1/zoo/cards/wheet")
    assert missing.status_code == 404 and "wheat" in missing.json()["hint"]


def test_an_upload_becomes_the_work_of_a_job(me: httpx.Client, platform: Platform) -> None:
    file = io.BytesIO()
    torch.save({"w": torch.zeros(1)}, file)
    sent = me.post("/api/v1/uploads", files=[("files", ("w.pt", file.getvalue()))]).json()["upload"]
    made = me.post("/api/v1/zoo/cards", json={"upload": sent, "architecture": NETWORK, "name": "sent"})
    assert made.status_code == 202, made.text
    (job,) = made.json()
    assert job["step"] == "import-weights" and Path(job["spec"]["params"]["path"]).name == "w.pt"
    platform.jobs.cancel(job["id"], by=SOLO)


@pytest.mark.parametrize(
    ("asked", "said"),
    [
        ({}, "one of a model, a file and a hub"),
        ({"path": "/etc/passwd", "architecture": NETWORK}, "in no folder that may be used"),
        ({"path": "/a", "upload": "b"}, "either 'path'"),
        ({"model": "nothing"}, "no bundle 'nothing'"),
        ({"hub": "resnet18", "name": "auto"}, "cannot have this name"),
        ({"hub": "resnet18", "accuracy": 2}, "accuracy"),
    ],
)
def test_mistakes_are_told(me: httpx.Client, asked: dict[str, object], said: str) -> None:
    answer = me.post("/api/v1/zoo/cards", json=asked)
    assert answer.status_code in (404, 422) and said in answer.text


def test_a_ranking_is_read_by_its_bundle(me: httpx.Client, platform: Platform, tmp_path: Path) -> None:
    expected = {"source": "wheat", "ratio": 0.5, "epoch_ratio": 0.7, "low": 0.4, "high": 1.1}
    ranked = {"name": "wheat", "trained_on": "wheat 2025", "distance": 3.0, "ratio": 0.5, "dsd": 1.0, "exact": True,
              "scores": {}, "expectation": expected, "evidence": {}, "in_memory": False, "end": None}  # fmt: skip
    advice = {"start": LITE0, "reason": f"{LITE0} is as good.", "expected_saving": 0.0, "as_good": True}
    known = {"target": "leaves", "images": 3, "space": "pixels-28", "baseline": LITE0, "baseline_data": ""}
    learnt = {"outcomes": 0, "targets": 0}
    facts = {**known, "ranked": [ranked], "left_out": {}, "learnt_from": learnt, "advice": advice}
    made = platform.store.publish(Ranking.write(tmp_path / "r", facts).draft(name="leaves.ranking"))
    told = me.get(f"/api/v1/zoo/rankings/{made.uuid}").json()["advice"]
    assert told == {**advice, "share_of_steps": 1.0}, "rankings of earlier versions shortened nothing"
    assert me.get("/api/v1/zoo/rankings/leaves").json()["bundle"] == made.uuid
    assert me.get("/api/v1/zoo/matrix").json() == {"targets": ["leaves"], "sources": ["wheat"], "ratios": [[0.5]]}
    other = {**facts, "baseline": "resnet18", "ranked": [{**ranked, "name": "rye", "ratio": 0.8}]}
    platform.store.publish(Ranking.write(tmp_path / "o", other).draft(name="other.ranking"))
    both = {"targets": ["leaves"], "sources": ["rye", "wheat"], "ratios": [[0.8, 0.5]]}
    assert me.get("/api/v1/zoo/matrix").json() == both, "what one network's weights say does not hide another's"
    assert me.get("/api/v1/zoo/rankings/nothing").status_code == 404


def test_what_is_in_memory_is_told(me: httpx.Client) -> None:
    state = me.get("/api/v1/zoo/cache").json()
    assert state["slots"] == 4 and state["entries"] == [] and state["saved_seconds"] == 0
    assert me.delete("/api/v1/zoo/cache").json()["entries"] == []


def test_only_a_training_has_a_start(me: httpx.Client) -> None:
    job = me.post("/api/v1/jobs", json={"step": "sleep-and-count", "params": {"steps": 1}}).json()
    answer = me.get(f"/api/v1/zoo/starts/{job['id']}")
    assert answer.status_code == 422 and "is no training" in answer.json()["detail"]


def test_a_card_is_removed(me: httpx.Client, wheat: str) -> None:
    assert me.delete(f"/api/v1/zoo/cards/{LITE0}").status_code == 409
    assert me.delete("/api/v1/zoo/cards/wheat").json()["bundles"] == [wheat]
    assert me.get("/api/v1/zoo/cards/wheat").status_code == 404
