"""What benchmarks on few labels share: real sets as arrays, budgets of labels, and rows that outlast a run.

Real sets lie as `images/<set>.zip` in the folder of real data, with `train/<class>/<image>` and `test/<class>/<image>`.
Long tables are resumable: a row per run, appended to a JSON-lines file as runs finish; rows that are there are not run
again. The rows lie beside this file, or in the folder that SEEDBED_BENCH_ROWS names.
"""

import io
import json
import os
import subprocess
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import UTC, datetime
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from PIL import Image

from benchmarks.harness import machine, real_data
from seedbed.assets.data.synthetic import draw_leaves
from seedbed.base.ids import digest_of
from seedbed.methods.learn.algorithm import ALGORITHMS
from seedbed.methods.learn.settings import TrainSettings

SYNTHETIC = "leaves"  # the name of the drawn set, for machines without real data
_HERE = Path(__file__).parent
_LARGEST_SHARE = 2  # a budget counts where it is at most 1 / this of a class's training images


@dataclass(frozen=True)
class Set:
    """One data set: uint8 images (number, size, size, 3), class numbers, and the classes' names."""

    name: str
    images_train: NDArray[np.uint8]
    labels_train: NDArray[np.int64]
    images_test: NDArray[np.uint8]
    labels_test: NDArray[np.int64]
    classes: tuple[str, ...]


def available(names: Sequence[str]) -> list[str]:
    """The sets of that list that lie on this machine."""
    folder = real_data()
    return [name for name in names if folder and _archive(folder, name).is_file()]


def load_set(name: str, size: int) -> Set:
    """A real set, decoded and brought to `size` x `size` with antialiasing; 'leaves' is drawn instead."""
    if name == SYNTHETIC:
        return _drawn(size)
    folder = real_data()
    if folder is None or not _archive(folder, name).is_file():
        raise FileNotFoundError(f"images/{name}.zip is not in the folder of real data; set SEEDBED_BENCH_DATA.")
    with zipfile.ZipFile(_archive(folder, name)) as archive:
        paths = sorted(path for path in archive.namelist() if not path.endswith("/"))
        packed = [archive.read(path) for path in paths]
    with ThreadPoolExecutor(len(os.sched_getaffinity(0))) as pool:  # Pillow decodes without the interpreter's lock
        images = np.stack(list(pool.map(lambda data: _decoded(data, size), packed)))
    places = [PurePosixPath(path).parts[-3:-1] for path in paths]
    classes = tuple(sorted({kind for _, kind in places}))
    labels = np.array([classes.index(kind) for _, kind in places], dtype=np.int64)
    train = np.array([part == "train" for part, _ in places])
    return Set(name, images[train], labels[train], images[~train], labels[~train], classes)


def judged_apart(data: Set) -> Set:
    """The set with a quarter of every class's training images in place of its test images.

    For choosing between settings: what is chosen by the test images cannot be tested with them any more.
    """
    draws = np.random.default_rng(0)
    groups = [draws.permutation(np.flatnonzero(data.labels_train == kind)) for kind in range(len(data.classes))]
    judges = np.zeros(len(data.labels_train), dtype=bool)
    judges[np.concatenate([group[: len(group) // 4] for group in groups])] = True
    images, labels = data.images_train, data.labels_train
    return Set(data.name, images[~judges], labels[~judges], images[judges], labels[judges], data.classes)


def recipe_of(settings: TrainSettings, *, without: Sequence[str] = ()) -> str:
    """A few characters that stand for everything set that matters to what is learnt, but for the names of the classes.

    The algorithm's own settings count too, whether set or left as they are. Rows carry it, so that those of former
    defaults are not taken for today's. `without` names settings that do not matter to these runs.
    """
    same: dict[str, Any] = {"classes": (), "device": "auto", "compile": "auto", "record": "auto"}
    same["options"] = {**_defaults_of(settings.algorithm), **settings.options}
    plain = replace(settings, **same, report_every=1, checkpoint_every=1, learning_rate=settings.rate_of_one())
    return digest_of({name: value for name, value in plain.to_json().items() if name not in without})[:8]


def _defaults_of(algorithm: str) -> dict[str, float]:
    """What can be set of an algorithm, as it is where nobody does."""
    maker = ALGORITHMS.get(algorithm)
    parts = fields(maker) if is_dataclass(maker) else ()
    return {part.name: part.default for part in parts if part.init and isinstance(part.default, (int, float))}


def choose(labels: NDArray[np.integer], per_class: int, seed: int) -> tuple[NDArray[np.int64], bool]:
    """The labels that a budget buys, -1 elsewhere, and whether some class was too small for it.

    A budget counts where it is at most half of a class's images; a smaller class gives half. Chosen at random by class
    and seed alone: a larger budget contains the smaller one. No budget (0) keeps all labels.
    """
    if not per_class:
        return labels.astype(np.int64), False
    chosen = np.full(len(labels), -1, dtype=np.int64)
    marked = False
    for kind in np.unique(labels):
        rows = np.flatnonzero(labels == kind)
        allowed = max(1, len(rows) // _LARGEST_SHARE)
        taken = np.random.default_rng([seed, int(kind)]).permutation(rows)[: min(per_class, allowed)]
        chosen[taken] = kind
        marked = marked or per_class > allowed
    return chosen, marked


class Rows:
    """The rows of one benchmark: a JSON object per line, each with the commit and the machine that it was measured on.

    One process appends at a time. A last line that was cut off by a kill is left out and overwritten.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    def __iter__(self) -> Iterator[dict[str, Any]]:
        return iter(_whole_lines(self.path))

    def find(self, key: Mapping[str, Any]) -> list[dict[str, Any]]:
        """The rows that have all of these values."""
        return [row for row in self if all(row.get(name) == value for name, value in key.items())]

    def done(self, key: Mapping[str, Any]) -> bool:
        """Whether there is such a row."""
        return bool(self.find(key))

    def append(self, row: Mapping[str, Any]) -> None:
        """Keep a row, on disk when this returns."""
        whole = [json.dumps(kept) for kept in self]
        about = {"commit": commit(), "machine": this_machine(), "at": f"{datetime.now(UTC):%Y-%m-%d %H:%M}"}
        self.path.parent.mkdir(parents=True, exist_ok=True)
        draft = self.path.with_suffix(".part")
        with draft.open("w") as file:
            file.write("\n".join([*whole, json.dumps({**row, **about})]) + "\n")
            file.flush()
            os.fsync(file.fileno())
        draft.rename(self.path)


def rows_of(benchmark: str) -> Rows:
    """The rows of a benchmark by its name."""
    folder = Path(os.environ.get("SEEDBED_BENCH_ROWS") or _HERE / "rows")
    return Rows(folder / f"{benchmark}.jsonl")


def commit() -> str:
    """What was measured: SEEDBED_BENCH_COMMIT, else git's word, with a + where sources differ from the commit."""
    if told := os.environ.get("SEEDBED_BENCH_COMMIT"):
        return told
    try:
        name = _git("rev-parse", "--short=10", "HEAD")
        changed = _git("status", "--porcelain", "--", "src", "benchmarks/*.py")
    except (OSError, subprocess.CalledProcessError):
        return "unknown"
    return f"{name}+" if changed else name


def this_machine() -> dict[str, Any]:
    """The machine with its GPU and torch."""
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else "none"
    return {**machine(), "gpu": gpu, "torch": torch.__version__}


def machines_of(rows: Sequence[Mapping[str, Any]]) -> str:
    """When, on what and at which commits rows were measured: the origin of a report that is made from them."""
    hosts = sorted({f"{_processor(row['machine'])}, torch {row['machine']['torch']}" for row in rows})
    days = sorted({str(row["at"])[:10] for row in rows})
    commits = sorted({str(row["commit"]) for row in rows})
    return f"rows of {', '.join(days)} on {'; '.join(hosts)} at {', '.join(commits)}"


def _processor(host: Mapping[str, Any]) -> str:
    return str(host["gpu"]) if host["gpu"] != "none" else f"{host['cores']} cores of {host['cpu']}"


def interval(differences: Sequence[float], *, draws: int = 2000) -> tuple[float, float]:
    """The 95 % bootstrap interval of the mean of paired differences."""
    values = np.asarray(differences, dtype=np.float64)
    picks = np.random.default_rng(0).integers(0, len(values), (draws, len(values)))
    low, high = np.percentile(values[picks].mean(axis=1), [2.5, 97.5])
    return float(low), float(high)


def _archive(folder: Path, name: str) -> Path:
    return folder / "images" / f"{name}.zip"


def _decoded(data: bytes, size: int) -> NDArray[np.uint8]:
    with Image.open(io.BytesIO(data)) as image:
        picture = image.convert("RGB")
    if picture.size != (size, size):
        picture = picture.resize((size, size), Image.Resampling.BILINEAR)
    return np.asarray(picture)


def _drawn(size: int) -> Set:
    train, labels_train, classes = draw_leaves(60, seed=11, size=size)
    test, labels_test, _ = draw_leaves(20, seed=12, size=size)
    return Set(SYNTHETIC, train, labels_train, test, labels_test, classes)


def _whole_lines(path: Path) -> list[dict[str, Any]]:
    if not path.exists():
        return []
    lines = path.read_text().split("\n")
    return [json.loads(line) for line in lines[:-1] if line]  # what follows the last line end is empty or cut off


def _git(*arguments: str) -> str:
    command = ["git", "-C", str(_HERE.parent), *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()
