"""Kinds around the zoo: signatures of data sets, the weights that a training can choose from, what came of a choice."""

import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from seedbed.assets.zoo.records import CARD_FILE, WEIGHTS_FILE
from seedbed.flows.kinds.facts import Facts
from seedbed.flows.kinds.kind import Kind, Values

SIGNATURE_FILE = "signature.safetensors"


class Signature(Kind):
    """What similarity keeps of a data set instead of its images."""

    kind = "signature"
    about = "what similarity keeps of a data set instead of its images"
    derived = True

    @classmethod
    def of(cls, folder: Path, *, data: str, space: str, images: int, classes: Sequence[str]) -> Self:
        """Around a folder that has the file."""
        return cls(folder, {"data": (data,), "space": (space,), "images": (images,), "classes": tuple(classes)})

    @property
    def path(self) -> Path:
        """Its file."""
        return self.file("signature", SIGNATURE_FILE)

    @property
    def images(self) -> int:
        """How many labelled images its data set has; of many it was made of some."""
        return int(self.values["images"][0])


class Shortlist(Kind):
    """The weights that a training can choose from: a folder each with card, weights and signature; and what is known
    of earlier starts. It shares the bytes of the bundles that it is made of, and goes with them."""

    kind = "shortlist"
    about = "the weights that a training can choose from"
    derived = True

    def cards(self) -> Iterator[Path]:
        """The folder of each card."""
        place = self.folder / "cards"
        return iter(sorted(path for path in place.iterdir() if path.is_dir())) if place.is_dir() else iter(())

    def outcomes(self) -> list[dict[str, Any]]:
        """What is known of earlier trainings."""
        place = self.folder / "outcomes"
        files = sorted(place.glob("*.json")) if place.is_dir() else []
        return [json.loads(path.read_text(encoding="utf-8")) for path in files]

    @staticmethod
    def place(number: int, file: str) -> str:
        """The name of a card's file in the array `cards`."""
        return f"{number:05d}/{file}"


class Start(Kind):
    """The weights that a ranking chose: those of a kept card, or the name of a card that comes with Seedbed."""

    kind = "start"
    about = "the weights that a training was told to start from"
    derived = True

    @classmethod
    def named(cls, folder: Path, card: str) -> Self:
        """Those that a network has anyway: nothing but their name."""
        folder.mkdir(parents=True, exist_ok=True)
        return cls(folder, {"card": (card,), "share": (1.0,)})

    @classmethod
    def of(cls, folder: Path, card: str, kept: Path, *, share: float = 1.0) -> Self:
        """Those in a card's folder, whose bytes are shared where the disk can do that.

        `share` of the steps that a training would take from the usual weights is enough for one from these.
        """
        place = folder / "weights"
        place.mkdir(parents=True, exist_ok=True)
        for name in (CARD_FILE, WEIGHTS_FILE):
            try:
                os.link(kept / name, place / name)
            except OSError:
                shutil.copyfile(kept / name, place / name)
        return cls(folder, {"card": (card,), "share": (share,)})

    @property
    def share(self) -> float:
        """Of the steps."""
        return float(self.values.get("share", (1.0,))[0])  # rankings of earlier versions shortened nothing

    @property
    def kept(self) -> Path | None:
        """The folder of a kept card; None: the card is one that comes with Seedbed."""
        return kept_in(self.folder)


def kept_in(folder: Path) -> Path | None:
    """The folder of a kept card in a bundle's folder, if it has one."""
    place = folder / "weights"
    return place if (place / CARD_FILE).is_file() else None


class Ranking(Facts):
    """How near the weights of the zoo are to a data set, what is expected of each, and which one to start from."""

    kind = "ranking"
    about = "which weights to start from, and why"
    derived = True

    @classmethod
    def values_of(cls, facts: Mapping[str, Any]) -> Values:
        """What it advises."""
        advice = facts["advice"]
        return {"start": (str(advice["start"]),), "reason": (str(advice["reason"]),)}


class Similarity(Facts):
    """How far apart several data sets are: every pair of them."""

    kind = "similarity"
    about = "how far apart several data sets are"
    derived = True

    @classmethod
    def values_of(cls, facts: Mapping[str, Any]) -> Values:
        """Who was compared, and in what."""
        return {"names": tuple(str(name) for name in facts["names"]), "space": (str(facts["space"]),)}


class Outcome(Facts):
    """What came of one training: from where it started, how long it took to its best, what was known before."""

    kind = "outcome"
    about = "what came of a start: what later rankings learn from"
    derived = True

    @classmethod
    def values_of(cls, facts: Mapping[str, Any]) -> Values:
        """On what it was, and from what."""
        return {"target": (str(facts["target"]),), "start": (str(facts["start"]),)}
