"""Labelling through the page, in a real browser: keys per label, from key to shown, opening with 100,000 images.

A scripted person labels 200 images of a project of 100,000. They know what each leaf shows, press Enter where the
page proposes that and the class's own key where it does not, slip once in 25 images and put it right (undo, right
key). Shown means: the frame after the key is painted, and the label is in it. The images are drawn leaves, each with
its own bytes, in the store as any data set is, with embeddings and groups, and served by `seedbed up`.
"""

import hashlib
import json
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import psutil
from numpy.typing import NDArray
from PIL import Image
from playwright.sync_api import Browser, BrowserContext, Page, sync_playwright

from benchmarks.harness import Report, main
from benchmarks.siege import Service, settings_for
from seedbed.assets.access.roles import SOLO
from seedbed.assets.data.cache import cache_name
from seedbed.assets.data.records import ImageRecord, write_records
from seedbed.assets.data.synthetic import draw_leaves
from seedbed.assets.store.bundle import ArrayType, Draft, DraftArray, DraftFile, Lineage
from seedbed.assets.store.store import Store
from seedbed.flows.kinds.data import DataSet, Decoded
from seedbed.flows.kinds.embeddings import Embeddings, Groups
from seedbed.flows.platform import Platform

TITLE = "Labelling through the page, with 100,000 images in the project"
IMAGES, LABELS, SLIP = 100_000, 200, 25
SIDE = 32  # pixels; of what the page shows, the number of pictures is the cost
CHROMIUM = Path("/usr/bin/chromium")
_DRAWN = 20  # leaves of each class that are drawn; the rest are these in other light
_GROUPS = 60
_MIB = 1 << 20

# Counts from the moment the browser noted the key to the end of the frame that follows it.
_WATCH = """
window.times = [];
addEventListener("keydown", (event) => {
  const image = document.querySelector("[role=listbox]")?.getAttribute("aria-activedescendant");
  requestAnimationFrame(() => {
    const shown = document.getElementById(image)?.dataset.state === "labelled";
    const painted = new MessageChannel();
    painted.port1.onmessage = () => times.push([performance.now() - event.timeStamp, shown || event.key === "u"]);
    painted.port2.postMessage(0);
  });
}, { capture: true });
"""
_OPENED = """() => {
  const cells = [...document.querySelectorAll("#labelling[data-ready] .lb-cell:not([hidden])")];
  const seen = cells.filter((cell) => cell.getBoundingClientRect().top < innerHeight);
  return seen.length > 20 && seen.every((cell) => cell.querySelector("img[data-there]")) && performance.now();
}"""
_LOOK = """() => {
  const cell = document.getElementById(document.querySelector("[role=listbox]").getAttribute("aria-activedescendant"));
  const proposal = cell.dataset.state === "proposed" ? cell.querySelector(".lb-name").textContent : "";
  return [Number(cell.id.slice("image-".length)), proposal];
}"""


@dataclass(frozen=True)
class Leaves:
    """Leaves and what they show."""

    pixels: NDArray[np.uint8]
    truth: NDArray[np.int64]
    names: tuple[str, ...]


def leaves_of(count: int) -> Leaves:
    """As many leaves as asked for, no two with the same bytes."""
    drawn, labels, names = draw_leaves(_DRAWN, seed=5, size=SIDE)
    rng = np.random.default_rng(6)
    which = rng.integers(0, len(drawn), count)
    pixels = np.empty((count, SIDE, SIDE, 3), np.uint8)
    for start in range(0, count, 10_000):
        rows = slice(start, min(start + 10_000, count))
        light = rng.integers(-30, 31, (len(which[rows]), 1, 1, 3), dtype=np.int16)
        pixels[rows] = np.clip(drawn[which[rows]] + light, 0, 255)
    pixels[:, 0, 0] = np.arange(count)[:, None] // (1, 256, 65536) % 256
    return Leaves(pixels, labels[which], names)


def ids_of(leaves: Leaves) -> list[str]:
    """An id for each leaf, from its pixels."""
    return [hashlib.sha256(image.tobytes()).hexdigest() for image in leaves.pixels]


def publish(platform: Platform, place: Path, leaves: Leaves, width: int) -> str:
    """A data set with its decoded images, embeddings and groups; the project of them."""
    data = _data_set(platform.store, place / "data", leaves)
    made = _decoded(place / "decoded", place / "data", leaves).draft(name="leaves.decoded", lineage=_from("data", data))
    decoded = platform.store.publish(made).uuid
    rows, groups, centres = _alike(leaves, width)
    seen = Embeddings.write(place / "embeddings", rows, ids_of(leaves), card="drawn", size=SIDE)
    embedded = platform.store.publish(seen.draft(name="leaves.seen", lineage=_from("decoded", decoded))).uuid
    typical = np.einsum("nd,nd->n", rows, centres[groups])
    grouped = Groups.write(place / "groups", groups, typical, centres)
    platform.store.publish(grouped.draft(name="leaves.groups", lineage=_from("embeddings", embedded)))
    project = platform.projects.create("Leaves", classes=leaves.names, by=SOLO)
    platform.projects.set_data(project.id, data, by=SOLO)
    return project.id


def _from(name: str, uuid: str) -> Lineage:
    return Lineage(step="drawn", inputs=((name, uuid),))


def _data_set(store: Store, place: Path, leaves: Leaves) -> str:
    """Its manifest has a file for every image, as any; but few of the files differ, or keeping them takes minutes."""
    (place / "facts").mkdir(parents=True)
    (place / "files").mkdir()
    records = [
        ImageRecord(name, f"leaf-{row:06d}.png", f"{name}.png", width=SIDE, height=SIDE)
        for row, name in enumerate(ids_of(leaves))
    ]
    (place / "facts/records.jsonl").write_bytes(write_records(records))
    for name in ("statistics.json", "findings.json"):
        (place / "facts" / name).write_text("{}" if name.startswith("s") else "[]")
    for number in range(_DRAWN):
        Image.fromarray(leaves.pixels[number]).save(place / "files" / f"{number}.png")
    few, facts = (DraftArray(ArrayType.FILE, _files(place / name)) for name in ("files", "facts"))
    kept = store.publish(Draft(name="leaves.files", kind="files", arrays={"files": few})).arrays["files"].files
    images = tuple(replace(kept[row % _DRAWN], name=record.image) for row, record in enumerate(records))
    arrays = {"facts": facts, "images": DraftArray(ArrayType.FILE, images)}
    return store.publish(Draft(name="leaves", kind=DataSet.kind, arrays=arrays)).uuid


def _files(folder: Path) -> tuple[DraftFile, ...]:
    return tuple(DraftFile(path, path.name) for path in sorted(folder.iterdir()))


def _decoded(place: Path, data: Path, leaves: Leaves) -> Decoded:
    (place / "facts").mkdir(parents=True)
    (place / "decoded").mkdir()
    (place / "facts/records.jsonl").write_bytes((data / "facts/records.jsonl").read_bytes())
    np.save(place / "decoded" / cache_name(SIDE), leaves.pixels)
    return Decoded.of(place, SIDE, len(leaves.pixels))


def _alike(leaves: Leaves, width: int) -> tuple[NDArray[np.float32], NDArray[np.int32], NDArray[np.float32]]:
    """Rows that lie close where the leaves show the same, about as well as a network's; groups around some of them."""
    rng = np.random.default_rng(7)
    middles = rng.normal(size=(len(leaves.names), width)).astype(np.float32)
    rows = middles[leaves.truth] + 1.6 * rng.normal(size=(len(leaves.truth), width)).astype(np.float32)
    rows /= np.linalg.norm(rows, axis=1, keepdims=True)
    centres = rows[rng.choice(len(rows), _GROUPS, replace=False)]
    return rows, np.argmax(rows @ centres.T, axis=1).astype(np.int32), centres


# --- the browser ------------------------------------------------------------------------------------------------------


@contextmanager
def browsing() -> Iterator[Browser]:
    """A real browser."""
    arguments = ["--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu", "--enable-precise-memory-info"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=str(CHROMIUM) if CHROMIUM.exists() else None, args=arguments
        )
        yield browser
        browser.close()


def entered(browser: Browser, known: Mapping[str, Any]) -> BrowserContext:
    """A browser that has fetched nothing yet, let in."""
    context = browser.new_context(viewport={"width": 1280, "height": 860})
    context.set_default_timeout(60_000)
    port = known["url"].rpartition(":")[2]
    context.add_cookies([{"name": f"seedbed-{port}", "value": known["token"], "url": known["url"]}])
    context.add_init_script(_WATCH)
    return context


def opened(context: BrowserContext, address: str) -> tuple[Page, float]:
    """The page, and the seconds until every picture that can be seen was there."""
    page = context.new_page()
    page.goto(address, wait_until="commit")
    milliseconds = page.wait_for_function(_OPENED, polling="raf").json_value()
    return page, float(milliseconds) / 1000


def label(page: Page, leaves: Leaves, count: int, pause: float) -> int:
    """Label as the person does; how many keys that took."""
    keys = 0
    page.keyboard.press("Home")
    page.wait_for_function("times.length")
    page.evaluate("times.length = 0")
    for number in range(count):
        index, proposal = page.evaluate(_LOOK)
        right = int(leaves.truth[index])
        if number % SLIP == SLIP - 1:
            for key in (str((right + 1) % len(leaves.names) + 1), "u"):
                page.keyboard.press(key)
                page.wait_for_timeout(100)  # nobody sees a slip within the same frame
            keys += 2
            proposal = ""
        page.keyboard.press("Enter" if proposal == f"{leaves.names[right]}?" else str(right + 1))
        keys += 1
        page.wait_for_timeout(1000 * pause)
    page.wait_for_function("document.querySelector('.lb-saved').dataset.state === 'saved'")
    return keys


def memory_of(page: Page, server: psutil.Process) -> dict[str, float]:
    """MiB of the page's own memory and of the server's processes; elements that are alive."""
    heap = page.evaluate("performance.memory.usedJSHeapSize")
    processes = [server, *server.children(recursive=True)]
    return {
        "page MiB": heap / _MIB,
        "server MiB": sum(process.memory_info().rss for process in processes) / _MIB,
        "images alive": page.evaluate("document.querySelectorAll('.lb-cell').length"),
    }


def measure(quick: bool) -> Report:
    """Open it several times with an empty browser, then label."""
    rounds, pause, width = (3, 0.03, 64) if quick else (7, 0.15, 1280)
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "home"
        home.mkdir()
        leaves = leaves_of(IMAGES)
        with Platform.open(settings_for(home)) as platform:
            project = publish(platform, Path(folder) / "made", leaves, width)
        service = Service(home)
        try:
            return _visit(service, project, leaves, rounds, pause)
        finally:
            service.stop()


def _visit(service: Service, project: str, leaves: Leaves, rounds: int, pause: float) -> Report:
    known = _started(service)
    assert service.process
    address = f"{known['url']}/projects/{project}/label"
    seconds = []
    with browsing() as browser:
        for left in reversed(range(rounds)):
            context = entered(browser, known)
            page, waited = opened(context, address)
            seconds.append(waited)
            if left:
                context.close()
        keys = label(page, leaves, LABELS, pause)
        times = page.evaluate("times")
        memory = memory_of(page, psutil.Process(service.process.pid))
        kept = _on_disk(known, project)
        context.close()
    if len(kept) != LABELS or any(leaves.names[leaves.truth[index]] != name for index, name in kept.items()):
        raise RuntimeError(f"{len(kept)} labels are on disk, or other ones than were given.")
    if not all(shown for _, shown in times):
        raise RuntimeError("A label was not in the frame after its key.")
    return _report(seconds, keys, [wait for wait, _ in times], memory)


def _started(service: Service) -> dict[str, Any]:
    service.ensure()
    until = time.monotonic() + 60
    while True:
        try:
            known: dict[str, Any] = json.loads((service.home / "server.json").read_text())
            _ask(known, "health")
            return known
        except (OSError, ValueError, httpx.TransportError):
            if time.monotonic() > until:
                raise
            time.sleep(0.1)


def _ask(known: Mapping[str, Any], path: str) -> Any:
    key = {"Authorization": f"Bearer {known['token']}"}
    return httpx.get(f"{known['url']}/api/v1/{path}", headers=key, timeout=30).raise_for_status().json()


def _on_disk(known: Mapping[str, Any], project: str) -> dict[int, str]:
    newest = {event["index"]: event["label"] for event in _ask(known, f"projects/{project}/labels/changes")["events"]}
    return {index: label for index, label in newest.items() if label}


def _report(seconds: Sequence[float], keys: int, waits: Sequence[float], memory: Mapping[str, float]) -> Report:
    row = {
        "images": IMAGES,
        "labels": LABELS,
        "keys": keys,
        "key to shown ms, median": float(np.median(waits)),
        "99th": float(np.percentile(waits, 99)),
        "largest": max(waits),
        "open s, median": float(np.median(seconds)),
        "worst": max(seconds),
        **memory,
    }
    return Report(
        figures={
            "keys_per_label": keys / LABELS,
            "key_to_shown_p50_ms": float(np.median(waits)),
            "key_to_shown_p99_ms": float(np.percentile(waits, 99)),
            "open_100k_seconds": float(np.median(seconds)),
        },
        rows=[row],
        note="Opened with an empty browser each time, until every picture that can be seen is there.",
    )


if __name__ == "__main__":
    main("label_ux", TITLE, measure)
