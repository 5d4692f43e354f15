"""Which weights of the zoo to start from."""

from pathlib import Path
from typing import Any, TypedDict

import numpy as np
from pydantic import Field

from seedbed.assets.zoo.records import CARD_FILE, KeptCard, read_card
from seedbed.base.resources import Resources
from seedbed.base.run import RunContext
from seedbed.flows.kinds.data import Decoded
from seedbed.flows.kinds.labels import Labels
from seedbed.flows.kinds.zoo import SIGNATURE_FILE, Ranking, Shortlist, Signature, Start
from seedbed.flows.step import Params, step
from seedbed.flows.steps.methods import METHODS
from seedbed.flows.steps.progress import stoppable
from seedbed.methods.learn.settings import TrainSettings


class RankParams(Params):
    """For which network, and what is known of seconds."""

    network: str = Field(TrainSettings().start, description="What a training starts from if nothing is better.")
    size: int = Field(TrainSettings().size, ge=8, le=1024, description="Side of the images in pixels.")
    scored: int = Field(4, ge=0, le=1000, description="Weights whose features are looked at, the nearest first.")
    exact: int = Field(12, ge=1, le=10_000, description="Data sets whose distance is measured in full.")
    measured: bool = Field(True, description="Learn also from starts that were measured before Seedbed came here.")
    seconds: float = Field(0.0, ge=0, description="Of a training from the usual weights, estimated; 0: unknown.")
    loading: dict[str, float] = Field(default_factory=dict, description="Seconds to read a card's weights.")
    in_memory: tuple[str, ...] = Field((), description="Cards whose weights the machine has in memory.")
    shorten: bool = Field(False, description="Let a training from surely faster weights take so many fewer steps.")


class RankedStart(TypedDict):
    """Every candidate, and the one that was chosen."""

    ranking: Ranking
    start: Start


@step(
    "rank-weights",
    methods=(
        "seedbed.methods.similarity",
        "seedbed.methods.label.embed",
        "seedbed.methods.label.neighbours",
        "seedbed.assets.zoo",
    ),
    resources=Resources(cpus=1, memory=3 << 30),
)
def rank_weights(
    decoded: Decoded,
    signature: Signature,
    shortlist: Shortlist,
    params: RankParams,
    run: RunContext,
    labels: Labels | None = None,
    baseline: Signature | None = None,
) -> RankedStart:
    """Compares a data set with those behind the weights of the zoo, and says which ones to start from, and why."""
    known = decoded.classes_by_row(labels.rows() if labels else None)
    rows, classes = np.array(sorted(known), dtype=np.int64), sorted(set(known.values()))
    numbers = np.array([classes.index(known[int(row)]) for row in rows], dtype=np.int64)
    target = METHODS.get("target").of(_read(signature.path), decoded.pixels, rows, numbers, params.size)
    sources, folders, left_out = _sources(shortlist)
    found = METHODS.get("rank-starts")(
        target,
        sources,
        params.network,
        _read(baseline.path) if baseline else None,
        _outcomes(shortlist, measured=params.measured),
        scored=params.scored,
        exact_for=params.exact,
        time=METHODS.get("time")(params.seconds, params.loading, frozenset(params.in_memory), params.shorten),
        left_out=left_out,
        on_progress=stoppable(run, "comparing with the weights of the zoo"),
    )
    chosen, share = found.advice.start, found.advice.share if params.shorten else 1.0
    place = run.folder / "start-bundle"
    kept = folders.get(chosen)
    start = Start.of(place, chosen, kept, share=share) if kept else Start.named(place, chosen)
    return {"ranking": _told(run.folder / "ranking-bundle", found, signature, baseline, params, share), "start": start}


def _read(path: Path) -> Any:
    return METHODS.get("signature").load(path)


def _outcomes(shortlist: Shortlist, *, measured: bool) -> list[Any]:
    """What is known of starts: of those that were measured here and, where that is wanted, of those before."""
    before = METHODS.get("measured-starts")() if measured else []
    return [*map(METHODS.get("outcome").from_json, before), *METHODS.get("outcomes-of")(shortlist.outcomes())]


def _sources(shortlist: Shortlist) -> tuple[list[Any], dict[str, Path], dict[str, str]]:
    """What can be compared, the folder of each, and of what cannot the reason."""
    sources, folders, left_out = list[Any](), dict[str, Path](), dict[str, str]()
    for folder in shortlist.cards():
        card = METHODS.get("card-of")(folder)
        folders[card.name] = folder
        if (folder / SIGNATURE_FILE).is_file():
            images = _trained_with(read_card(folder / CARD_FILE))
            sources.append(METHODS.get("source")(card, folder / SIGNATURE_FILE, images))
        else:
            left_out[card.name] = "Its data set has no signature."
    return sources, folders, left_out


def _trained_with(kept: KeptCard) -> int:
    """Labelled images, as earlier starts were measured; 0: as many as the signature is of.

    A model that was made here learnt without labels too, which its card counts as well.
    """
    return 0 if "started_from" in kept.lineage else kept.images


def _told(
    folder: Path, found: Any, signature: Signature, baseline: Signature | None, params: RankParams, share: float
) -> Ranking:
    advice = found.advice
    facts = {
        "target": str(signature.values["data"][0]),
        "images": signature.images,
        "space": str(signature.values["space"][0]),
        "baseline": params.network,
        "baseline_data": str(baseline.values["data"][0]) if baseline else "",
        "ranked": [one.to_json() for one in found.ranked],
        "left_out": dict(found.left_out),
        "learnt_from": {"outcomes": found.outcomes, "targets": found.targets},
        "advice": {
            "start": advice.start,
            "reason": advice.reason,
            "expected_saving": advice.expected_saving,
            "share_of_steps": share,
            "as_good": advice.start == params.network,
        },
    }
    return Ranking.write(folder, facts)
