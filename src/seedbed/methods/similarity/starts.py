"""Which weights to start from: near data sets first, then what their features tell of the target, then what to expect.

Nothing here fails because of one of the weights: what cannot be compared is left out, with the reason.
"""

import contextlib
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from seedbed.assets.zoo.backbones import network_of
from seedbed.assets.zoo.builder import learnt_from_imagenet
from seedbed.assets.zoo.card import FURTHEST, Card
from seedbed.assets.zoo.catalogue import CARDS
from seedbed.base.errors import SeedbedError
from seedbed.methods.label.embed import embed
from seedbed.methods.similarity.dsd import Nearness, dataset_distance, rank
from seedbed.methods.similarity.evidence import Evidence, Outcome, differences, reached_epochs
from seedbed.methods.similarity.otdd import DSD
from seedbed.methods.similarity.predictor import Advice, Expectation, Predictor, advise
from seedbed.methods.similarity.scores import transfer_scores
from seedbed.methods.similarity.signature import Signature, glimpse
from seedbed.methods.similarity.threads import one_thread

_IMAGENET = "ImageNet"
# Labelled images that scores are computed on: as many as the measured starts were scored on, which the predictor
# learns from. Scores grow with the images: of 256 plant seedlings two starts differ by two thirds in log evidence, and
# by a third in H-score, of what they differ by of 1,000. What is larger than these pixels takes too long for that.
_LOOKED_AT, _WHOLE_UP_TO, _LOOKED_AT_LEAST = 1000, 128, 256


@dataclass(frozen=True)
class Source:
    """Weights that a training could start from, and where the signature of the data set behind them lies."""

    card: Card
    signature: Path  # the file of it: most are only glimpsed at
    images: int = 0  # labelled, that the weights learnt from; 0: those of the signature


@dataclass(frozen=True)
class Target:
    """The new data set: its signature, and its labelled images."""

    signature: Signature
    images: NDArray[np.uint8]
    labels: NDArray[np.int64]
    size: int  # side in pixels that a training would look at them with

    @classmethod
    def of(
        cls,
        signature: Signature,
        pixels: NDArray[np.uint8],
        rows: NDArray[np.int64],
        labels: NDArray[np.int64],
        size: int,
    ) -> "Target":
        """Of the labelled rows of images that may be memory-mapped: no more of them are read than are looked at."""
        seen = _looked_at(len(rows), size)
        return cls(signature, pixels[rows[seen]], labels[seen], size)


@dataclass(frozen=True)
class Time:
    """What is known of seconds: of a training from the baseline (0: unknown), and of reading each card's weights.

    `shortened`: from surely faster weights it takes the steps of their upper limit, and not all of them.
    """

    training: float = 0.0
    loading: Mapping[str, float] = field(default_factory=dict)
    in_memory: frozenset[str] = frozenset()
    shortened: bool = False

    def end(self, start: Expectation) -> float:
        """When a training from there is estimated to end, or to be as good as one from the baseline."""
        epochs = start.high if self.shortened and start.sure else start.epoch_ratio
        return self.training * epochs + self.loading.get(start.source, 0.0)

    def usual_end(self, baseline: str) -> float:
        """When one from the baseline is."""
        return self.training + self.loading.get(baseline, 0.0)


@dataclass(frozen=True)
class Ranked:
    """One set of weights in a ranking; `ratio` and `dsd` are None where no baseline data set is known."""

    name: str
    trained_on: str
    distance: float
    ratio: float | None
    dsd: float
    exact: bool
    scores: Mapping[str, float]
    expectation: Expectation
    evidence: Evidence
    in_memory: bool
    end: float | None  # seconds, estimated

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        facts = {**vars(self), "scores": dict(self.scores), "evidence": self.evidence.to_json()}
        return {**facts, "expectation": asdict(self.expectation)}


@dataclass(frozen=True)
class Starts:
    """The ranking of one target, nearest first, and what it comes to."""

    ranked: Sequence[Ranked]
    left_out: Mapping[str, str]  # card: why
    advice: Advice
    outcomes: int  # that it has learnt from
    targets: int


def rank_starts(
    target: Target,
    sources: Sequence[Source],
    baseline: Card | str,
    reference: Signature | None,
    outcomes: Iterable[Outcome] = (),
    *,
    scored: int = 4,
    exact_for: int = 12,
    time: Time | None = None,
    left_out: Mapping[str, str] | None = None,
    on_progress: Callable[[int, int], None] = lambda done, total: None,
) -> Starts:
    """Rank weights for a target against those of the baseline, whose data set has the signature `reference`.

    Sketches decide which `exact_for` sources are measured in full, and the others are left out; the features of the
    `scored` nearest are looked at as well. Without a reference no distance says whether the baseline is as good, so
    nothing but measured outcomes can speak for another start.
    """
    known, time = dict(left_out or {}), time or Time()
    if reference is not None and reference.space != target.signature.space:
        known[reference.name], reference = _other_space(reference.space, target.signature.space), None
    by_name = {source.card.name: source for source in sources}
    nearest = _nearest(target.signature, sources, exact_for, known)
    near = _nearness(target.signature, nearest, reference)
    counts = {one.name: one.count for one in nearest}
    looks = min(scored, len(near))
    on_progress(1, looks + 2)
    looked = _look(target, [by_name[one.name].card for one in near], looks, baseline, on_progress)
    known |= looked.unread
    on_progress(looks + 2, looks + 2)
    predictor = Predictor.fit(outcomes)
    ranked = []
    for one in (one for one in near if one.name not in looked.unread):
        source = by_name[one.name]
        evidence = Evidence(
            target=target.signature.name,
            source=one.name,
            ratio=one.ratio if reference else 1.0,
            scores=looked.scores.get(one.name, {}),
            source_images=source.images or counts[one.name],
            target_images=target.signature.count,
            trained_on=source.card.trained_on,
        )
        expected = predictor.expect(evidence)
        end = time.end(expected) if time.training else None
        ratio = one.ratio if reference else None
        facts = (one.name, source.card.trained_on, one.distance, ratio, one.dsd, one.exact)
        ranked.append(Ranked(*facts, evidence.scores, expected, evidence, one.name in time.in_memory, end))
    advice = _advice(ranked, baseline, time, compared=reference is not None, left_out=bool(known))
    opened = [one for one in ranked if one.name in looked.scores]
    if opened and advice.expectation is None and not looked.baseline_here:
        advice = _instead_of(baseline, opened)
    return Starts(ranked, known, advice, predictor.outcomes, predictor.targets)


def outcomes_of(runs: Sequence[Mapping[str, Any]]) -> list[Outcome]:
    """What starts brought, from records of finished trainings: each against those from the baseline on the same target.

    A record has `target`, `start`, `baseline`, `alike` and `architecture` (equal, or names of one network, where two
    runs can be compared), `curve` (accuracies by epoch), `judges` (images that these were measured on) and, where the
    start is not the baseline, its `evidence`.
    """
    plain: dict[tuple[str, str, str], list[Mapping[str, Any]]] = {}
    for run in runs:
        if run["start"] == run["baseline"] and run["curve"]:
            plain.setdefault(_beside(run), []).append(run)
    found = []
    for run in runs:
        others = plain.get(_beside(run), [])
        if run["start"] == run["baseline"] or not others or not run["curve"] or not run.get("evidence"):
            continue
        ratio = float(np.exp(np.mean([np.log(_ratio(run, other)) for other in others])))
        gain = 100 * (max(run["curve"]) - float(np.mean([max(other["curve"]) for other in others])))
        found.append(Outcome(Evidence.from_json(run["evidence"]), ratio, gain, str(run["architecture"])))
    return found


def _beside(run: Mapping[str, Any]) -> tuple[str, str, str]:
    """What two runs must share to be compared."""
    return run["target"], run["alike"], network_of(run["architecture"])


def _ratio(run: Mapping[str, Any], other: Mapping[str, Any]) -> float:
    mine, theirs = reached_epochs(run["curve"], other["curve"], judges=int(other.get("judges", 0)))
    return mine / theirs


def _nearest(target: Signature, sources: Sequence[Source], most: int, left_out: dict[str, str]) -> list[Signature]:
    """The signatures of the nearest sources by their sketches, under their cards' names; of others only the reason."""
    rough: dict[str, tuple[float, Path]] = {}
    target.noise(DSD)  # once, and not in every look
    with one_thread():
        for source in sources:
            try:
                seen = glimpse(source.signature)
            except (SeedbedError, OSError):
                left_out[source.card.name] = "The signature of its data set cannot be read."
                continue
            if seen.space != target.space:
                left_out[source.card.name] = _other_space(seen.space, target.space)
            else:
                rough[source.card.name] = (target.glimpse.square(seen, DSD), source.signature)
    order = sorted(rough, key=lambda name: (rough[name][0], name))
    left_out |= dict.fromkeys(order[most:], "By a first look it is further away than those that were measured.")
    return [replace(Signature.load(rough[name][1]), name=name) for name in order[:most]]


def _other_space(theirs: str, ours: str) -> str:
    return f"Its data set was looked at in another way ({theirs}, not {ours})."


def _nearness(target: Signature, nearest: Sequence[Signature], reference: Signature | None) -> list[Nearness]:
    """Nearest first."""
    if not nearest:
        return []
    if reference is not None:
        found = rank(target, nearest, reference, exact_for=len(nearest))
        # the target may be the baseline's very data set, at a distance of 0
        return [replace(one, ratio=min(one.ratio, FURTHEST)) for one in found]
    distances = {one.name: dataset_distance(target, one) for one in nearest}
    largest = max(distances.values()) or 1.0
    plain = [Nearness(name, distance, 1.0, distance / largest) for name, distance in distances.items()]
    return sorted(plain, key=lambda one: (one.distance, one.name))


@dataclass(frozen=True)
class _Looked:
    """What looking at the labelled images through the nearest weights showed."""

    scores: Mapping[str, Mapping[str, float]]  # how much better than the baseline's each card's features tell classes
    unread: Mapping[str, str]  # cards whose weights cannot be used, and why: no training could start from them either
    baseline_here: bool  # whether the baseline's weights can be had, as far as was looked


def _look(
    target: Target, cards: Sequence[Card], looks: int, baseline: Card | str, on_progress: Callable[[int, int], None]
) -> _Looked:
    """Through the baseline's weights, and through those of so many cards; without the former distances alone speak.

    Where neither the former nor any of these can be opened, more cards are looked through until one can be: a training
    must start from something.
    """
    if not looks:
        return _Looked({}, {}, baseline_here=True)
    plain: Mapping[str, float] | None = None
    with contextlib.suppress(SeedbedError):
        plain = _scores_of(target, baseline)
    scores: dict[str, Mapping[str, float]] = {}
    unread: dict[str, str] = {}
    for number, card in enumerate(cards):
        if number >= looks and (plain is not None or scores):
            break
        on_progress(min(2 + number, looks + 1), looks + 2)
        try:
            scores[card.name] = differences(_scores_of(target, card), plain or {})
        except SeedbedError as error:
            unread[card.name] = error.in_a_line()
    return _Looked(scores, unread, baseline_here=plain is not None)


def _scores_of(target: Target, card: Card | str) -> dict[str, float]:
    rows = _looked_at(len(target.labels), target.size)
    features, labels = embed(target.images[rows], card=card, size=target.size, device="cpu"), target.labels[rows]
    return transfer_scores(features, labels) if len(np.unique(labels)) > 1 else {}


def _looked_at(count: int, size: int) -> NDArray[np.int64]:
    """Which of so many labelled images scores are computed on: a sample, or all where there are few."""
    most = min(_LOOKED_AT, max(_LOOKED_AT_LEAST, _LOOKED_AT * _WHOLE_UP_TO**2 // size**2))
    return np.sort(np.random.default_rng(0).permutation(count)[:most])


def _advice(ranked: Sequence[Ranked], usual: Card | str, time: Time, *, compared: bool, left_out: bool) -> Advice:
    """What the predictor advises; among starts that are surely faster, the one that is estimated to end first."""
    baseline, called = _named(usual)
    advice = advise([one.expectation for one in ranked], baseline=baseline, called=called, compared=compared)
    if advice.expectation is None:
        why = _unknown(ranked, compared=compared, left_out=left_out)
        return replace(advice, reason=f"{called} is as good, as far as is known: {why}") if why else advice
    if not time.training:
        return advice
    sure = [one.expectation for one in ranked if one.expectation.sure]
    first = min(sure, key=lambda one: (time.end(one), one.source))
    if time.end(first) >= time.usual_end(baseline):
        reason = f"{called} ends first: {advice.start} would save less time than reading its weights takes."
        return Advice(baseline, reason, 0.0)
    if first.source == advice.start:
        return advice
    chosen = advise([first], baseline=baseline, called=called, compared=compared)
    extra = f"{advice.start} would take fewer epochs, but its weights are not in memory, and reading them takes longer."
    return replace(chosen, reason=f"{chosen.reason} {extra}")


def _instead_of(usual: Card | str, opened: Sequence[Ranked]) -> Advice:
    """The opened card with the fewest expected epochs: a training cannot start from a baseline that cannot be had.

    There is nothing that it could save time against, so nothing is said to be saved.
    """
    baseline, called = _named(usual)
    best = min((one.expectation for one in opened), key=lambda each: (each.epoch_ratio, each.source))
    whose = (
        f"{_IMAGENET}'s weights of {baseline.partition('.')[0]}" if called == _IMAGENET else f"The weights of {called}"
    )
    fewest = f"of the cards that were opened, {best.source} is expected to take the fewest epochs."
    return Advice(best.source, f"{whose} cannot be had here; {fewest}", 0.0)


def _unknown(ranked: Sequence[Ranked], *, compared: bool, left_out: bool) -> str:
    """What keeps the baseline from being surely as good; '': nothing does."""
    if ranked:
        behind = "no data set stands for the one behind it (the setting baseline)"
        return "" if compared else f"{behind}, and earlier starts alone make none of the others surely faster."
    return "none of the other weights could be compared." if left_out else ""


def _named(usual: Card | str) -> tuple[str, str]:
    """The baseline's name, and what people call it: the weights of every network that learnt from ImageNet are that."""
    known = CARDS.get(usual) if isinstance(usual, str) and usual in CARDS else usual
    if isinstance(known, str):
        return known, _IMAGENET if learnt_from_imagenet(known) else known
    return known.name, _IMAGENET if known.trained_on.startswith(_IMAGENET) else known.name
