"""Ingest against one epoch of torchvision's ImageFolder, and an epoch from the decoded cache.

Ingest reads, hashes, copies, decodes, looks for findings and writes the cache; the peer's epoch only reads, decodes,
resizes and makes tensors. Both run over the same JPEG files, encoded here, in turns; the best time of each counts.
"""

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import torch
from PIL import Image
from torch.utils.data import DataLoader
from torchvision.datasets import ImageFolder
from torchvision.transforms import Compose, Resize, ToTensor

from benchmarks.harness import Report, main
from seedbed.assets.data.cache import DecodedCache
from seedbed.assets.data.folder import DataSetFolder
from seedbed.assets.data.ingest import ingest
from seedbed.assets.data.synthetic import draw_leaves

SIZE = 96
BATCH = 64
TITLE = "Ingest and the decoded cache against torchvision's ImageFolder"


def encode(folder: Path, width: int, height: int, count: int) -> None:
    """Leaves as photographs of that size, each its own, with the grain of a sensor, in a folder per class."""
    pictures, labels, names = draw_leaves(8, seed=1, size=SIZE)
    rng = np.random.default_rng(2)
    grain = rng.integers(-6, 7, (height + 64, width + 64, 3), dtype=np.int16)
    for number in range(count):
        row = number % len(pictures)
        turned = np.roll(np.rot90(pictures[row], rng.integers(4)), rng.integers(0, SIZE, 2), axis=(0, 1))
        large = Image.fromarray(turned).resize((width, height), Image.Resampling.BICUBIC)
        down, right = rng.integers(0, 64, 2)
        pixels = (
            np.asarray(large, np.int16) + grain[down : down + height, right : right + width] + rng.integers(-20, 20)
        )
        place = folder / names[labels[row]] / f"{number:05d}.jpg"
        place.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(np.clip(pixels, 0, 255).astype(np.uint8)).save(place, quality=88)


def peer_epoch(files: Path) -> None:
    """One epoch of ImageFolder with two workers."""
    images = ImageFolder(str(files), Compose([Resize((SIZE, SIZE)), ToTensor()]))
    for _ in DataLoader(images, batch_size=BATCH, shuffle=True, num_workers=2):
        pass


def cached_epoch(cache: DecodedCache) -> None:
    """One shuffled epoch of float tensors (N, 3, size, size) in 0..1, as the peer gives them."""
    order = np.random.default_rng(0).permutation(len(cache))
    for start in range(0, len(order), BATCH):
        rows = torch.from_numpy(cache.pixels[np.sort(order[start : start + BATCH])])
        rows.permute(0, 3, 1, 2).div(255)


def seconds(work: Callable[[], object]) -> float:
    """Wall-clock seconds of one run."""
    start = time.perf_counter()
    work()
    return time.perf_counter() - start


def measure_size(width: int, height: int, count: int, rounds: int) -> dict[str, Any]:
    """Peer, ingest and cached epoch in turns, on one set of files."""
    with tempfile.TemporaryDirectory() as place:
        files = Path(place) / "files"
        encode(files, width, height, count)
        peer, ours, cached = [], [], []
        for turn in range(rounds):
            folder = Path(place) / f"ingested-{turn}"
            peer.append(seconds(lambda: peer_epoch(files)))
            ours.append(seconds(lambda into=folder: ingest(files, into, name="bench", cache_size=SIZE)))
            cache = DataSetFolder.open(folder).cache(SIZE)
            cached += [seconds(lambda open_cache=cache: cached_epoch(open_cache)) for _ in range(3)]
    return {
        "pixels": f"{width} x {height}",
        "images": count,
        "ImageFolder images/s": count / min(peer),
        "ingest images/s": count / min(ours),
        "cached epoch images/s": count / min(cached),
        "ingest / ImageFolder": min(peer) / min(ours),
        "cached / ImageFolder": min(peer) / min(cached),
    }


def measure(quick: bool) -> Report:
    """Small crops and photographs; each figure is the worse of the two."""
    amounts = ((256, 256, 1200), (1024, 768, 160)) if quick else ((256, 256, 6000), (1024, 768, 1000))
    rows = [measure_size(*amount, rounds=3 if quick else 5) for amount in amounts]
    return Report(
        figures={
            "ingest_vs_imagefolder": min(row["ingest / ImageFolder"] for row in rows),
            "cached_epoch_speedup": min(row["cached / ImageFolder"] for row in rows),
        },
        rows=rows,
        note="Ingest hashes, copies, fsyncs, finds near duplicates and writes the cache; ImageFolder only decodes.",
    )


if __name__ == "__main__":
    main("ingest", TITLE, measure)
