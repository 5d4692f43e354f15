"""What the API answers with about the zoo. `faces/client/zoo.py` mirrors them."""

from typing import Any, Self

from pydantic import Field

from seedbed.faces.api.examples import DIGEST, OTHER, UUID
from seedbed.faces.api.views import InProject, Time, View
from seedbed.flows.usecases.similarities import Comparable


class CardView(View):
    """A set of weights that training can start from."""

    name: str = Field(examples=["wheat 2025"])
    kept: bool = Field(description="It was made or brought here; else it comes with Seedbed.", examples=[True])
    architecture: str = Field(description="The network, by timm's name.", examples=["tf_efficientnet_lite0"])
    trained_on: str = Field(description="The data set behind it.", examples=["wheat 2025"])
    images: int = Field(description="That it was trained with; 0: unknown.", examples=[1200])
    classes: list[str] = Field(description="What it told apart, where that is known.", examples=[["rust", "well"]])
    outputs: int = Field(description="Of its head; 0: it has none.", examples=[2])
    accuracy: float | None = Field(description="On images that it had not seen, where known.", examples=[0.94])
    licence: str = Field(examples=["CC-BY-4.0"])
    source: str = Field(description="Where the weights come from.", examples=["model wheat 2025.model"])
    parameters: int = Field(examples=[4_652_008])
    size: int = Field(description="Of the file, in bytes.", examples=[18_700_000])
    preprocessing: dict[str, Any] = Field(
        description="How pixels become its input.", examples=[{"mean": [0.5] * 3, "std": [0.5] * 3, "size": 224}]
    )
    digest: str = Field(description="sha256 of the file, where known.", examples=[DIGEST])
    made_at: int | None = Field(description="The one side of images that it fits; null: any.", examples=[64])
    signature: str = Field(description="uuid of the signature of its data set, or empty.", examples=[OTHER])
    lineage: dict[str, Any] = Field(
        description="What it was made from.", examples=[{"started_from": "efficientnet_lite0.imagenet"}]
    )
    bundle: str = Field(description="uuid of its bundle; empty: it comes with Seedbed.", examples=[UUID])
    project: InProject
    created: Time
    on_disk: bool = Field(examples=[True])
    in_memory: bool = Field(description="Whether the machine's cache has it.", examples=[True])
    install: str = Field(description="The command that brings the weights here, where there is one.", examples=[""])


class CardDetail(CardView):
    """A card with where it stands."""

    comparable: bool = Field(description="Whether it can be ranked: its signature is there.", examples=[True])
    why_in_memory: str = Field(examples=["2 trainings that wait or run start best from it."])


class StartView(View):
    """What a training starts or started from, and why."""

    card: str = Field(description="Empty: not known (yet).", examples=["wheat 2025"])
    reason: str = Field(examples=["wheat 2025 comes from images 40 % nearer than those of ImageNet."])
    ranking: str = Field(description="uuid of the ranking that was made with it, or empty.", examples=[OTHER])
    expected_saving: float = Field(description="Share of the epochs.", examples=[0.35])
    share_of_steps: float = Field(description="That it takes, of those from the usual weights.", examples=[0.8])
    told: bool = Field(description="It was told what to start from: nothing was chosen.", examples=[False])


class AdviceView(View):
    """Where to start."""

    start: str = Field(examples=["wheat 2025"])
    reason: str = Field(examples=["wheat 2025 comes from images 40 % nearer than those of ImageNet."])
    expected_saving: float = Field(description="Share of the epochs; 0 for the baseline.", examples=[0.35])
    share_of_steps: float = Field(
        1.0,
        description="Of the usual steps, what the training takes that the ranking was made for; 1 where for none.",
        examples=[0.8],
    )
    as_good: bool = Field(description="The usual weights (ImageNet) are as good.", examples=[False])


class RankedView(View):
    """One card in a ranking."""

    name: str = Field(examples=["wheat 2025"])
    trained_on: str = Field(examples=["wheat 2025"])
    distance: float = Field(description="Of the two data sets.", examples=[12.4])
    ratio: float | None = Field(
        description="That distance over the one to the baseline's data set; 1 or more: the baseline is as good.",
        examples=[0.6],
    )
    dsd: float = Field(description="The same, from 0 to 1 within this ranking: smaller is nearer.", examples=[0.4])
    exact: bool = Field(description="Measured in full; else from sketches.", examples=[True])
    scores: dict[str, float] = Field(
        description="How much better its features tell the target's images apart than the baseline's.",
        examples=[{"log-evidence": 0.02, "knn": 0.05}],
    )
    expectation: dict[str, Any] = Field(
        description="Epochs over the baseline's, and within which limits.",
        examples=[{"source": "wheat 2025", "ratio": 0.6, "epoch_ratio": 0.65, "low": 0.5, "high": 0.9}],
    )
    evidence: dict[str, Any] = Field(
        description="What that rests on.", examples=[{"target": "leaves", "source": "wheat 2025", "ratio": 0.6}]
    )
    in_memory: bool = Field(examples=[True])
    end: float | None = Field(description="Estimated seconds to the end of a training.", examples=[420.0])


class RankingView(View):
    """How near the weights of the zoo are to a data set, and which one to start from."""

    bundle: str = Field(examples=[UUID])
    created: Time
    target: str = Field(examples=["leaves"])
    images: int = Field(description="Labelled images that were compared.", examples=[240])
    space: str = Field(description="What of them was compared.", examples=["efficientnet_lite0.imagenet@96"])
    baseline: str = Field(description="The usual weights.", examples=["efficientnet_lite0.imagenet"])
    baseline_data: str = Field(description="The data set that stands for theirs, or empty.", examples=["tiny-imagenet"])
    ranked: list[RankedView] = Field(description="The nearest first.")
    left_out: dict[str, str] = Field(description="Cards that could not be compared: why.", examples=[{"old": "No."}])
    learnt_from: dict[str, int] = Field(
        description="Measured starts that the expectations rest on.", examples=[{"outcomes": 12, "targets": 4}]
    )
    advice: AdviceView


class MatrixView(View):
    """How far data sets are from those behind the weights: the newest ranking of each as a row."""

    targets: list[str] = Field(examples=[["leaves"]])
    sources: list[str] = Field(examples=[["wheat 2025"]])
    ratios: list[list[float | None]] = Field(
        description="Distance over that to the baseline; null: not measured.", examples=[[[0.6]]]
    )


class SimilarityView(View):
    """How far apart several data sets are, every pair of them."""

    bundle: str = Field(examples=[UUID])
    created: Time
    names: list[str] = Field(examples=[["leaves", "wheat 2025"]])
    data: list[str] = Field(description="uuid of each data set; empty: it is gone.", examples=[[UUID, OTHER]])
    images: list[int] = Field(description="Labelled images of each.", examples=[[240, 1200]])
    space: str = Field(description="What of them was compared.", examples=["efficientnet_lite0.imagenet@96"])
    distances: list[list[float]] = Field(examples=[[[0.0, 12.4], [12.4, 0.0]]])
    shares: list[list[float]] = Field(
        description="Each row over its largest distance: 1 is the farthest.", examples=[[[0.0, 1.0], [1.0, 0.0]]]
    )


class ComparableView(View):
    """A data set, and whether it can be compared with others."""

    data: str = Field(examples=[UUID])
    name: str = Field(examples=["leaves"])
    signature: str = Field(description="uuid of what it is compared by; empty: made when needed.", examples=[OTHER])
    why_not: str = Field(description="Why it cannot be compared; empty: it can.", examples=[""])

    @classmethod
    def of_one(cls, one: Comparable) -> Self:
        """Of what the use case gives."""
        return cls(data=one.data.uuid, name=one.data.name, signature=one.signature, why_not=one.why_not)


class CachedView(View):
    """One set of weights in memory, or that was there."""

    name: str = Field(examples=["wheat 2025"])
    digest: str = Field(examples=["9f86d081884c7d65"])
    size: int = Field(description="Bytes.", examples=[18_700_000])
    used: Time
    hits: int = Field(examples=[3])
    misses: int = Field(examples=[1])
    cold_seconds: float = Field(description="To read it from where it lies, measured.", examples=[0.21])
    warm_seconds: float = Field(description="To read it from memory, measured.", examples=[0.01])
    saved_seconds: float = Field(description="By all hits.", examples=[0.6])
    why: str = Field("", description="Why it is there.", examples=["2 trainings start best from it."])


class CacheView(View):
    """The weights that this machine has in memory."""

    folder: str = Field(examples=["/dev/shm/seedbed-1000"])
    slots: int = Field(description="How many it keeps at most.", examples=[4])
    free_bytes: int = Field(examples=[8_000_000_000])
    saved_seconds: float = Field(examples=[0.6])
    entries: list[CachedView] = Field(description="The last used first.")
    gone: list[CachedView] = Field(description="What was there.")
    held: dict[str, str] = Field(description="Cards that are to stay: why.", examples=[{"wheat 2025": "It is next."}])
