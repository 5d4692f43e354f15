"""What a training starts from: the jobs of a flow, with those before them that rank the weights of the zoo."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from seedbed.assets.store.bundle import Draft
from seedbed.runtime.jobs.spec import JobSpec

SIGNATURE, RANK, TRAIN = "signature", "rank-weights", "train"


@dataclass(frozen=True)
class Beginning:
    """What is decided of a training's start before it is queued; nothing: it starts as it always did.

    `weights` is a bundle that was asked for: nothing is chosen then, and a ranking only stands beside the training, so
    that something is learnt from what comes of it. `shortlist` is one to be ranked, which is among `drafts` where it is
    new; `baseline` names the signature that distances are measured against, `look` the pixels that are compared where
    the training's own are too few; `before` makes what is not there yet of both.
    """

    params: Mapping[str, Any] = field(default_factory=dict)  # of the training, changed
    weights: str = ""
    shortlist: str = ""
    drafts: tuple[Draft, ...] = ()
    before: tuple[JobSpec, ...] = ()
    baseline: str = ""
    look: str = ""
    rank: Mapping[str, Any] = field(default_factory=dict)  # parameters of the ranking
    estimates: Mapping[str, float] = field(default_factory=dict)


def begun(specs: Sequence[JobSpec], beginning: Beginning, *, data: str) -> list[JobSpec]:
    """The jobs of a flow whose training starts as was decided; `data` is the name of its data set.

    A training waits for the ranking and does without it where that fails.
    """
    made: list[JobSpec] = []
    for spec in specs:
        if spec.step != TRAIN:
            made.append(spec)
        elif beginning.shortlist:
            made += _ranked(spec, beginning, data)
        elif beginning.weights:
            made.append(_told(spec, beginning))
        else:
            made.append(replace(spec, estimates=beginning.estimates))
    return made


def rank_of(train: str) -> str:
    """The name of the ranking that stands before or beside a training of that name."""
    return f"{train.removesuffix(f'.{TRAIN}')}.{RANK}"


def _told(train: JobSpec, beginning: Beginning) -> JobSpec:
    return replace(train, inputs={**train.inputs, "weights": beginning.weights}, estimates=beginning.estimates)


def _ranked(train: JobSpec, beginning: Beginning, data: str) -> list[JobSpec]:
    base = train.name.removesuffix(f".{TRAIN}")
    seen = {name: train.inputs[name] for name in ("decoded", "labels")}
    common: dict[str, Any] = {"cls": train.cls, "project": train.project, "seed": train.seed}
    before = [replace(spec, **common) for spec in beginning.before]
    looked_at = {**seen, "decoded": beginning.look or seen["decoded"]}
    signing = JobSpec(SIGNATURE, {"name": data}, looked_at, name=f"{base}.{SIGNATURE}", **common)
    compared = {**seen, "signature": f"job:{signing.name}/signature", "shortlist": beginning.shortlist}
    if beginning.baseline:
        compared["baseline"] = beginning.baseline
    ranking = JobSpec(RANK, beginning.rank, compared, name=rank_of(train.name), spare=("baseline",), **common)
    if beginning.weights:
        return [_told(train, beginning), *before, signing, ranking]
    inputs = {**train.inputs, "weights": f"job:{ranking.name}/start"}
    training = replace(train, inputs=inputs, spare=(*train.spare, "weights"), estimates=beginning.estimates)
    return [*before, signing, ranking, training]
