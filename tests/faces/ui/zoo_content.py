"""A small zoo to look at: drawn data sets of three looks, cards with the data set behind each, a ranking, a table."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

from seedbed.assets.access.roles import SOLO
from seedbed.assets.data.synthetic import write_leaves
from seedbed.assets.projects.labels import LabelEvent
from seedbed.assets.store.bundle import Bundle, Lineage
from seedbed.assets.zoo.card import Preprocessing
from seedbed.assets.zoo.records import WEIGHTS_FILE, KeptCard
from seedbed.base.ids import new_id
from seedbed.flows.kinds.kind import put
from seedbed.flows.kinds.models import Weights
from seedbed.flows.kinds.zoo import SIGNATURE_FILE, Ranking, Signature, Similarity
from seedbed.flows.platform import Platform
from seedbed.flows.steps.embed import CARD, SIZE
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.states import State
from tests.faces.ui.content import ended

TINTS = {"bean leaves": (1.0, 1.0, 1.0), "wheat leaves": (1.15, 1.05, 0.55), "leaves at night": (0.25, 0.3, 0.55)}
EVIL = "<img src=x onerror=window.hacked=1>{b|x}"
DISTANCES = [[0.0, 7.92, 19.4], [7.92, 0.0, 17.1], [19.4, 17.1, 0.0]]


@dataclass(frozen=True)
class ZooContent:
    """What there is to click through."""

    data: Mapping[str, str]
    decoded: Mapping[str, str]
    ranking: str
    as_good: str
    table: str
    project: str


def draw(folder: Path, tint: tuple[float, float, float], *, seed: int, per_class: int, size: int) -> Path:
    """Leaves in class folders, in another light."""
    write_leaves(folder, per_class, seed=seed, size=size, by_class=True)
    for path in folder.rglob("*.jpg"):
        pixels = np.asarray(Image.open(path)).astype(np.float64) * tint
        Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(path, quality=90)
    return folder


def bring(platform: Platform, place: Path, *, per_class: int = 2, size: int = 64) -> dict[str, Job]:
    """The data sets, ingested by the server beside us; the newest is that of the beans."""
    names = list(reversed(TINTS))
    folders = [
        draw(place / name, TINTS[name], seed=seed, per_class=per_class, size=size) for seed, name in enumerate(names)
    ]
    jobs = [platform.data.add(folder, name=folder.name, size=size, by=SOLO) for folder in folders]
    found = {name: ended(platform, job) for name, job in zip(names, jobs, strict=True)}
    assert {job.state for job in found.values()} == {State.DONE}
    return found


def fill_zoo(platform: Platform, place: Path) -> ZooContent:
    """Cards, a ranking and a table by hand: the pages only read them."""
    jobs = bring(platform, place)
    data = {name: job.outputs["data"] for name, job in jobs.items()}
    decoded = {name: job.outputs["decoded"] for name, job in jobs.items()}
    signatures = {name: _signature(platform, place / f"{name} signature", name, decoded[name]) for name in TINTS}
    for name, card in {"wheat leaves": "wheat 2025", "leaves at night": EVIL}.items():
        publish_card(platform, place / f"{name} card", card, name, signatures[name])
    ranking = _ranking(platform, place / "ranking", decoded["bean leaves"], "bean leaves", as_good=False)
    as_good = _ranking(platform, place / "as good", decoded["leaves at night"], "leaves at night", as_good=True)
    table = _table(platform, place / "table", signatures)
    return ZooContent(data, decoded, ranking, as_good, table, _project(platform, data["bean leaves"]))


def _project(platform: Platform, data: str) -> str:
    """Somebody's beans, all labelled."""
    records = platform.data.records(data, by=SOLO)
    classes = sorted({record["class"] for record in records})
    project = platform.projects.create(
        "Bean health", classes=classes, settings={"grouping": False, "proposals": False}, by=SOLO
    )
    platform.projects.set_data(project.id, data, by=SOLO)
    labels = [LabelEvent(new_id(), record["id"], record["class"], SOLO.id) for record in records]
    platform.projects.add_labels(project.id, labels, by=SOLO)
    return project.id


def _signature(platform: Platform, folder: Path, name: str, decoded: str) -> str:
    put(folder / "signature" / SIGNATURE_FILE, "not read by pages")
    made = Signature.of(folder, data=name, space=f"{CARD}@{SIZE}", images=12, classes=("a", "b"))
    lineage = Lineage("signature", inputs=(("decoded", decoded),))
    return platform.store.publish(made.draft(name=f"{name}.signature", lineage=lineage)).uuid


def publish_card(platform: Platform, folder: Path, name: str, data: str, signature: str) -> Bundle:
    """A card that is in memory; without a signature it cannot be ranked."""
    put(folder / "weights" / WEIGHTS_FILE, name)
    look = Preprocessing((0.5, 0.5, 0.5), (0.5, 0.5, 0.5), 224)
    about: dict[str, Any] = {"signature": signature, "images": 12, "accuracy": 0.941, "licence": "CC-BY-4.0"}
    card = KeptCard(name, "tf_efficientnet_lite0", data, ("a", "b"), 3_400_000, 13_600_000, look, "", 2, **about)
    card.write(folder / "weights")
    made = Weights(folder, {"card": (name,), "architecture": (card.architecture,)})
    bundle = platform.store.publish(made.draft(name=f"{name}.weights", lineage=Lineage("import-weights")))
    platform.weight_cache.put(name, name, folder / "weights" / WEIGHTS_FILE)
    return bundle


def _ranking(platform: Platform, folder: Path, decoded: str, target: str, *, as_good: bool) -> str:
    ranked = [
        _ranked("wheat 2025", "wheat leaves", 7.92, 0.41, (0.55, 0.38, 1.3 if as_good else 0.82)),
        _ranked(EVIL, "leaves at night", 19.4, 1.08, (1.2, 0.8, 1.9)),
    ]
    start = CARD if as_good else "wheat 2025"
    saved = "would save 45 % of the epochs by the best guess, but may cost 30 % more"
    reason = (
        f"ImageNet is as good: wheat 2025 {saved}."
        if as_good
        else "wheat 2025 comes from images 59 % nearer than those of ImageNet, and is expected to save 45 %."
    )
    advice = {"start": start, "reason": reason, "expected_saving": 0.0 if as_good else 0.45, "as_good": as_good}
    known = {"target": target, "images": 12, "space": f"{CARD}@{SIZE}", "baseline": CARD, "baseline_data": "photos"}
    learnt = {"outcomes": 12, "targets": 4}
    left_out = {"old weights": "Its data set has no signature."}
    facts = {**known, "ranked": ranked, "left_out": left_out, "learnt_from": learnt, "advice": advice}
    lineage = Lineage("rank-weights", inputs=(("decoded", decoded),))
    return platform.store.publish(Ranking.write(folder, facts).draft(name=f"{target}.ranking", lineage=lineage)).uuid


def _ranked(name: str, data: str, distance: float, ratio: float, epochs: tuple[float, float, float]) -> dict[str, Any]:
    expected = dict(zip(("epoch_ratio", "low", "high"), epochs, strict=True))
    return {
        "name": name, "trained_on": data, "distance": distance, "ratio": ratio, "dsd": ratio, "exact": True,
        "scores": {}, "expectation": {"source": name, "ratio": ratio, **expected},
        "evidence": {"target": "x", "source": name, "ratio": ratio}, "in_memory": True, "end": None,
    }  # fmt: skip


def _table(platform: Platform, folder: Path, signatures: Mapping[str, str]) -> str:
    slots = [f"set{number:03d}" for number in range(len(signatures))]
    shares = [[value / max(row) for value in row] for row in DISTANCES]
    facts = {"names": list(signatures), "inputs": slots, "images": [12] * 3, "space": f"{CARD}@{SIZE}"}
    made = Similarity.write(folder, json.loads(json.dumps({**facts, "distances": DISTANCES, "shares": shares})))
    lineage = Lineage("compare-data", inputs=tuple(zip(slots, signatures.values(), strict=True)))
    return platform.store.publish(made.draft(name="data-sets.similarity", lineage=lineage)).uuid
