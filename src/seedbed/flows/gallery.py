"""The images of a data set as pages need them: how many there are, their ids, and small pictures of them, quickly.

A data set of 100,000 images has a manifest of 100,000 files. So nothing here reads it where a decoded cache is at
hand: that has the same records, and its rows are the images.
"""

import contextlib
import io
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from pathlib import Path

import numpy as np
from PIL import Image

from seedbed.assets.data.cache import DecodedCache
from seedbed.assets.data.decode import Undecodable, decode
from seedbed.assets.store.bundle import Bundle
from seedbed.assets.store.content import HEAL
from seedbed.assets.store.store import Store
from seedbed.base.errors import Damaged, NotFound
from seedbed.flows.facts import records_file
from seedbed.flows.images import Images, Shapes, read_shapes
from seedbed.flows.kinds.data import Decoded
from seedbed.flows.kinds.embeddings import Embeddings, Groups

_OPEN = 16  # galleries that are kept open
_FRESH = 2.0  # seconds after which it is looked again what was made of a data set
_ENOUGH = 0.75  # of the side that is asked for: a cache of that size is sharp enough


@dataclass(frozen=True)
class Made:
    """What was made of a data set, by uuid, the newest first: caches of its images, embeddings, groups."""

    decoded: tuple[str, ...] = ()
    embeddings: tuple[str, ...] = ()
    groups: tuple[str, ...] = ()
    projects: Mapping[str, str] = field(default_factory=dict)  # of each


@dataclass(frozen=True)
class Gallery:
    """One data set, open: its records' file, and its decoded caches by size, the smallest first."""

    records: Path
    caches: tuple[tuple[int, Path], ...]
    store: Store

    @property
    def shapes(self) -> Shapes:
        """Ids and sizes."""
        return read_shapes(self.records)

    def __len__(self) -> int:
        return len(self.shapes.ids)

    def row_of(self, name: str) -> int | None:
        """The row of an image by its id or the name of one of its files; None: that names none, or several."""
        return Images(self.records).only(name)

    def thumbnail(self, row: int, size: int) -> bytes:
        """One image as a JPEG of at most `size` pixels on a side, in its own proportions; never enlarged."""
        width, height = (int(side) for side in self.shapes.sides[row])
        scale = min(size / max(width, height, 1), 1.0)
        shape = (max(1, round(width * scale)), max(1, round(height * scale)))
        for side, path in self.caches:
            if side >= _ENOUGH * max(shape):
                with contextlib.suppress(FileNotFoundError):  # it was removed a moment ago
                    return _from_cache(path, row, shape)
        return _from_file(self.store.path_of(self.shapes.ids[row]), shape)


class Galleries:
    """The galleries of a store. Safe to use from any thread."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._lock = threading.Lock()
        self._made: OrderedDict[str, tuple[float, Made]] = OrderedDict()
        self._open: dict[tuple[str, ...], Gallery] = {}

    def of(self, data: Bundle) -> Gallery:
        """The gallery of a data set."""
        made = self.made(data.uuid)
        known = (data.uuid, *made.decoded)
        gallery = self._open.get(known)
        if gallery is None:
            gallery = self._opened(data, made)
            with self._lock:
                while len(self._open) >= _OPEN:
                    self._open.pop(next(iter(self._open)))
                self._open[known] = gallery
        return gallery

    def made(self, data: str) -> Made:
        """What was made of a data set (its uuid), as of a moment ago."""
        now = time.monotonic()
        with self._lock:
            at, made = self._made.get(data, (0.0, Made()))
        if not at or now - at > _FRESH:
            made = self._look(data)
            with self._lock:
                self._made[data] = (now, made)
                self._made.move_to_end(data)
                while len(self._made) > _OPEN:
                    self._made.popitem(last=False)
        return made

    def forget(self, data: str) -> None:
        """Look again at once: something was made of it."""
        with self._lock:
            self._made.pop(data, None)

    def _look(self, data: str) -> Made:
        graph = self._store.lineage(data, depth=3, direction="down")
        found = {data}
        kinds: dict[str, tuple[str, ...]] = {}
        for kind in (Decoded.kind, Embeddings.kind, Groups.kind):  # each is made of the one before
            children = {edge.made for edge in graph.edges if edge.input in found}
            nodes = [graph.nodes[uuid] for uuid in children if uuid in graph.nodes and graph.nodes[uuid].kind == kind]
            kinds[kind] = tuple(node.uuid for node in sorted(nodes, key=lambda node: (-node.created, node.uuid)))
            found = set(kinds[kind])
        projects = {uuid: graph.nodes[uuid].project for uuids in kinds.values() for uuid in uuids}
        return Made(kinds[Decoded.kind], kinds[Embeddings.kind], kinds[Groups.kind], projects)

    def _opened(self, data: Bundle, made: Made) -> Gallery:
        caches: dict[int, Path] = {}
        for uuid in made.decoded:
            try:
                arrays = self._store.get(uuid).arrays
            except NotFound:  # it was deleted a moment ago
                continue
            (pixels,) = arrays["decoded"].files
            caches.setdefault(int(str(arrays["size"].items[0])), self._store.path_of(pixels.digest))
        return Gallery(records_file(self._store, data), tuple(sorted(caches.items())), self._store)


@lru_cache(maxsize=4096)
def _from_cache(cache: Path, row: int, shape: tuple[int, int]) -> bytes:
    pixels = DecodedCache.open(cache).pixels  # not kept open: a cache that is removed must give its room on disk back
    return _as_jpeg(Image.fromarray(np.asarray(pixels[row])), shape)


@lru_cache(maxsize=2048)
def _from_file(path: Path, shape: tuple[int, int]) -> bytes:
    try:
        # squashed into a square first: so a JPEG is decoded at a fraction of its size
        picture = Image.fromarray(decode(path.read_bytes(), size=max(8, *shape), pixel_limit=None).pixels)
    except Undecodable as error:
        raise Damaged(f"The image can no longer be decoded: {error.reason}.", hint="seedbed store verify") from error
    except FileNotFoundError:
        raise Damaged("The file of the image is lost.", hint=HEAL) from None
    return _as_jpeg(picture, shape)


def _as_jpeg(picture: Image.Image, shape: tuple[int, int]) -> bytes:
    if picture.size != shape:
        picture = picture.resize(shape, Image.Resampling.BILINEAR)
    out = io.BytesIO()
    picture.save(out, "JPEG", quality=85)
    return out.getvalue()
