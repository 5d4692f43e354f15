"""Kinds around alike images: what a network sees of each image, and the groups that they fall into."""

from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from seedbed.base.errors import Damaged
from seedbed.flows.kinds.kind import Kind, put

ROWS_FILE, IDS_FILE = "embeddings.npy", "ids.txt"
TUNED_FILE = "tuned.safetensors"  # of weights that were tuned on a user's own images
GROUPS_FILE, TYPICALITY_FILE, CENTRES_FILE = "groups.npy", "typicality.npy", "centres.npy"


class Embeddings(Kind):
    """A row of length 1 per image, in the order of the data set's records, memory-mapped; alike images lie close."""

    kind = "embeddings"
    about = "what a network sees of each image: alike images lie close"
    derived = True

    @classmethod
    def write(cls, folder: Path, rows: NDArray[np.float32], images: Sequence[str], *, card: str, size: int) -> Self:
        """Into a fresh folder, with the images' ids and what is needed to look at others in the same way."""
        (folder / "embeddings").mkdir(parents=True)
        np.save(folder / "embeddings" / ROWS_FILE, np.ascontiguousarray(rows, dtype=np.float32), allow_pickle=False)
        put(folder / "images" / IDS_FILE, "".join(f"{image}\n" for image in images))
        count, width = rows.shape
        return cls(folder, {"card": (card,), "size": (size,), "count": (count,), "width": (width,)})

    @cached_property
    def rows(self) -> NDArray[np.float32]:
        """(images, width), read from disk as it is used."""
        return mapped(self.file("embeddings", ROWS_FILE))

    @property
    def images(self) -> tuple[str, ...]:
        """The id of each row's image."""
        return tuple(self.file("images", IDS_FILE).read_text().splitlines())

    def same_eyes(self, card: str, size: int) -> bool:
        """Whether it was made with a card's own weights at that size."""
        return (self.values["card"], self.values["size"]) == ((card,), (size,))


class Groups(Kind):
    """Which group of alike images each image is in, how typical it is of it, and the middle of each group."""

    kind = "groups"
    about = "groups of alike images"
    derived = True

    @classmethod
    def write(
        cls,
        folder: Path,
        groups: NDArray[np.int32],
        typicality: NDArray[np.float32],
        centres: NDArray[np.float32],
    ) -> Self:
        """Into a fresh folder."""
        place = folder / "groups"
        place.mkdir(parents=True)
        np.save(place / GROUPS_FILE, np.asarray(groups, dtype=np.int32), allow_pickle=False)
        np.save(place / TYPICALITY_FILE, np.asarray(typicality, dtype=np.float32), allow_pickle=False)
        np.save(place / CENTRES_FILE, np.asarray(centres, dtype=np.float32), allow_pickle=False)
        return cls(folder, {"groups": (len(centres),), "count": (len(groups),)})

    @cached_property
    def groups(self) -> NDArray[np.int32]:
        """The number of each image's group."""
        return mapped(self.file("groups", GROUPS_FILE))

    @cached_property
    def typicality(self) -> NDArray[np.float32]:
        """Higher: more typical of its group."""
        return mapped(self.file("groups", TYPICALITY_FILE))

    @cached_property
    def centres(self) -> NDArray[np.float32]:
        """A row of length 1 per group."""
        return mapped(self.file("groups", CENTRES_FILE))


def mapped(path: Path) -> NDArray[Any]:
    """An array file, read from disk as it is used."""
    try:
        found: NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise Damaged(f"{path.name} cannot be read: {error}.", hint="Group the images again.") from error
    return found
