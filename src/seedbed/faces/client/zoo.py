"""What can be asked of a server about its zoo, and what it answers with; `faces/api/zoo_views.py` is the other side."""

from collections.abc import Sequence
from typing import Any, TypedDict, cast

from seedbed.faces.client import results
from seedbed.faces.client.connection import part
from seedbed.faces.client.nouns import Noun


class Card(TypedDict):
    """A set of weights that training can start from."""

    name: str
    kept: bool
    architecture: str
    trained_on: str
    images: int
    classes: list[str]
    outputs: int
    accuracy: float | None
    licence: str
    source: str
    parameters: int
    size: int
    preprocessing: dict[str, Any]
    digest: str
    made_at: int | None
    signature: str
    lineage: dict[str, Any]
    bundle: str
    project: str
    created: float
    on_disk: bool
    in_memory: bool
    install: str


class CardDetail(Card):
    """A card with where it stands."""

    comparable: bool
    why_in_memory: str


class Start(TypedDict):
    """What a training starts or started from, and why."""

    card: str
    reason: str
    ranking: str
    expected_saving: float
    share_of_steps: float
    told: bool


class Advice(TypedDict):
    """Where to start."""

    start: str
    reason: str
    expected_saving: float
    share_of_steps: float
    as_good: bool


class Ranked(TypedDict):
    """One card in a ranking."""

    name: str
    trained_on: str
    distance: float
    ratio: float | None
    dsd: float
    exact: bool
    scores: dict[str, float]
    expectation: dict[str, Any]
    evidence: dict[str, Any]
    in_memory: bool
    end: float | None


class Ranking(TypedDict):
    """How near the weights of the zoo are to a data set."""

    bundle: str
    created: float
    target: str
    images: int
    space: str
    baseline: str
    baseline_data: str
    ranked: list[Ranked]
    left_out: dict[str, str]
    learnt_from: dict[str, int]
    advice: Advice


class Matrix(TypedDict):
    """How far data sets are from those behind the weights."""

    targets: list[str]
    sources: list[str]
    ratios: list[list[float | None]]


class Similarity(TypedDict):
    """How far apart several data sets are."""

    bundle: str
    created: float
    names: list[str]
    data: list[str]
    images: list[int]
    space: str
    distances: list[list[float]]
    shares: list[list[float]]


class Comparable(TypedDict):
    """A data set, and whether it can be compared with others."""

    data: str
    name: str
    signature: str
    why_not: str


class Cached(TypedDict):
    """One set of weights in memory, or that was there."""

    name: str
    digest: str
    size: int
    used: float
    hits: int
    misses: int
    cold_seconds: float
    warm_seconds: float
    saved_seconds: float
    why: str


class Cache(TypedDict):
    """The weights that the server's machine has in memory."""

    folder: str
    slots: int
    free_bytes: int
    saved_seconds: float
    entries: list[Cached]
    gone: list[Cached]
    held: dict[str, str]


class Zoo(Noun):
    """/zoo."""

    def cards(self) -> Sequence[Card]:
        """Every card."""
        return cast(Sequence[Card], self._to.get("/zoo/cards"))

    def show(self, name: str) -> CardDetail:
        """One card."""
        return cast(CardDetail, self._to.get(f"/zoo/cards/{part(name)}"))

    def add(self, model: str = "", **fields: Any) -> list[results.Job]:
        """Take weights in; the fields are those of POST /zoo/cards: path, upload, hub, name, architecture, data..."""
        return cast(list[results.Job], self._to.post("/zoo/cards", {"model": model, **fields}))

    def remove(self, name: str) -> results.Deletion:
        """Take a kept card out for good."""
        return cast(results.Deletion, self._to.delete(f"/zoo/cards/{part(name)}"))

    def rank(self, data: str = "", **fields: Any) -> list[results.Job]:
        """Rank the weights for a data set; the fields are labels, labels_upload, project, network and size."""
        return cast(list[results.Job], self._to.post("/zoo/rankings", {"data": data, **fields}))

    def ranking(self, ref: str) -> Ranking:
        """What a ranking says: by its bundle, or the newest of a data set."""
        return cast(Ranking, self._to.get(f"/zoo/rankings/{part(ref)}"))

    def matrix(self) -> Matrix:
        """How far data sets are from those behind the weights."""
        return cast(Matrix, self._to.get("/zoo/matrix"))

    def compare(self, data: Sequence[str]) -> list[results.Job]:
        """Measure the distance of every pair of some data sets."""
        return cast(list[results.Job], self._to.post("/zoo/similarity", {"data": list(data)}))

    def similarity(self, ref: str = "") -> Similarity:
        """How far apart data sets are: the newest table, or that of a bundle."""
        return cast(Similarity, self._to.get("/zoo/similarity", ref=ref))

    def comparable(self) -> Sequence[Comparable]:
        """Which data sets can be compared."""
        return cast(Sequence[Comparable], self._to.get("/zoo/similarity/data"))

    def start_of(self, job: str) -> Start:
        """What a training starts or started from, and why."""
        return cast(Start, self._to.get(f"/zoo/starts/{part(job)}"))

    def cache(self) -> Cache:
        """What is in memory, and why."""
        return cast(Cache, self._to.get("/zoo/cache"))

    def empty_cache(self) -> Cache:
        """Let go what is in memory."""
        return cast(Cache, self._to.delete("/zoo/cache"))
