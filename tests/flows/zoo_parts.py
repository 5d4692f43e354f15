"""Small parts of a zoo: decoded pictures of one kind or another, and a shortlist of cards with tiny weights."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors.torch import save_file

from seedbed.assets.data.cache import CacheWriter, cache_name
from seedbed.assets.data.records import ImageRecord, write_records
from seedbed.assets.zoo.builder import empty_network
from seedbed.assets.zoo.importers import About, keep_file
from seedbed.base.ids import digest_of_bytes
from seedbed.base.run import MemoryRun
from seedbed.flows.kinds.data import FACTS, RECORDS, Decoded
from seedbed.flows.kinds.kind import put
from seedbed.flows.kinds.zoo import SIGNATURE_FILE, Shortlist, Signature
from seedbed.flows.steps import STEPS

NETWORK = "test_resnet"
SIDE = 32


def do(step: str, folder: Path, params: Mapping[str, Any] | None = None, **inputs: Any) -> Any:
    """A step as a worker does it, in this process."""
    found = STEPS.get(step)
    return found(params=found.check_params(params or {}), run=MemoryRun(folder), **inputs)


def pictures(kind: str, count: int = 24, *, seed: int = 0) -> NDArray[np.uint8]:
    """Pictures of two classes, by turns: green fields with stripes or spots, or the noise of an empty screen."""
    draws = np.random.default_rng(seed)
    found = draws.integers(0, 60, (count, SIDE, SIDE, 3))
    for number in range(count):
        if kind == "fields":
            found[number, :, :, 1] += 120
            found[number, :: 4 if number % 2 else SIDE, :, 0] += 140
        else:
            found[number, :, :, 2] += 190 if number % 2 else 20
    return np.clip(found, 0, 255).astype(np.uint8)


def decoded(folder: Path, kind: str, *, seed: int = 0, name: str = "") -> Decoded:
    """Those pictures as a step takes them; the classes are in the records."""
    images = pictures(kind, seed=seed)
    (folder / "decoded").mkdir(parents=True)
    with CacheWriter(folder / "decoded" / cache_name(SIDE), SIDE) as writer:
        writer.append(images)
        writer.finish()
    records = []
    for number in range(len(images)):
        image = digest_of_bytes(images[number].tobytes())
        klass = "odd" if number % 2 else "even"
        records.append(ImageRecord(image, f"{number}.png", f"{image}.png", klass, "", SIDE, SIDE, 1, "PNG"))
    (folder / FACTS).mkdir()
    (folder / FACTS / RECORDS).write_bytes(write_records(records))
    return Decoded(folder, {"size": (SIDE,), "count": (len(images),)}, name=f"{name or kind}.decoded")


def signature(folder: Path, kind: str, *, seed: int = 0, name: str = "") -> Signature:
    """The signature of those pictures, by their pixels."""
    made: Signature = do(
        "signature",
        folder / "run",
        {"space": "pixels"},
        decoded=decoded(folder / "decoded", kind, seed=seed, name=name),
    )
    return made


def shortlist(
    folder: Path, cards: Mapping[str, Signature | None], outcomes: Sequence[Mapping[str, Any]] = ()
) -> Shortlist:
    """Cards by name with the signature of what they were trained on."""
    for number, (name, behind) in enumerate(cards.items()):
        place = folder / "cards" / f"{number:05d}"
        keep(place, name)
        if behind:
            (place / SIGNATURE_FILE).write_bytes(behind.path.read_bytes())
    for number, facts in enumerate(outcomes):
        put(folder / "outcomes" / f"{number:05d}.json", json.dumps(facts))
    return Shortlist(folder)


def keep(place: Path, name: str, **about: Any) -> None:
    """A kept card of the smallest network."""
    place.mkdir(parents=True)
    weights = place.parent / f"{place.name}.safetensors"
    save_file(dict(empty_network(NETWORK, 2).state_dict()), weights)
    keep_file(weights, NETWORK, place, About(name, **about))
    weights.unlink()
