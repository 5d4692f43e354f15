"""Which data sets are alike: who can be compared, the job that compares them, and the newest table of distances."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from seedbed.assets.access.roles import SOLO, Identity, Role
from seedbed.assets.store.bundle import Bundle
from seedbed.assets.store.store import Store
from seedbed.base.errors import InvalidInput, NotFound
from seedbed.base.names import in_a_name
from seedbed.flows.facts import data_behind, json_of
from seedbed.flows.kinds.data import DataSet
from seedbed.flows.kinds.zoo import Signature, Similarity
from seedbed.flows.usecases.bundles import Bundles
from seedbed.flows.usecases.jobs import Jobs
from seedbed.flows.usecases.looks import SPACE, Looks, of_own_classes, space_of
from seedbed.flows.usecases.pages import visible_projects
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.spec import JobClass, JobSpec

STEP = "compare-data"
MOST = 40  # data sets at a time: 780 pairs
_SETS, _SIGNATURES = 200, 1000


@dataclass(frozen=True)
class Comparable:
    """A data set, its signature ('': it would be made first), and why it cannot be compared ('': it can)."""

    data: Bundle
    signature: str = ""
    why_not: str = ""


class Similarities:
    """What people ask about how alike their data sets are."""

    def __init__(self, store: Store, bundles: Bundles, jobs: Jobs) -> None:
        self._store = store
        self._bundles = bundles
        self._jobs = jobs
        self._looks = Looks(store)

    def known(self, *, by: Identity) -> list[Comparable]:
        """Every data set in its newest version, and whether it can be compared."""
        signatures = self._signatures(by)
        return [self._comparable(one, signatures) for one in self._bundles.find(kind=DataSet.kind, limit=_SETS, by=by)]

    def compare(self, data: Sequence[str], *, by: Identity) -> list[Job]:
        """Queue what measures all pairs of these data sets; signatures that are missing are made first."""
        found = self._found(data, by)
        chosen = sorted({one.uuid: one for one in found}.values(), key=lambda one: (one.name, one.uuid))
        place = self._place(chosen, by)
        by.require(Role.TRAINER, place)
        signatures = self._signatures(by)
        can = [self._comparable(one, signatures) for one in chosen]
        if problems := _problems(can):
            raise InvalidInput("These data sets cannot be compared.", problems=problems)
        specs: list[JobSpec] = []
        inputs: dict[str, str] = {}
        for number, each in enumerate(can):
            base = f"{in_a_name(each.data.name)}.{number}"  # two versions of a data set have one name
            made, making = (each.signature, ()) if each.signature else self._looks.signature(each.data, base)
            inputs[f"set{number:03d}"] = made
            specs += making
        specs.append(JobSpec(STEP, inputs=inputs, name=f"data-sets.{STEP}", spare=tuple(inputs)))
        return self._jobs.submit_flow([replace(spec, cls=JobClass.TE, project=place) for spec in specs], by=by)

    def show(self, ref: str = "", *, by: Identity) -> dict[str, Any]:
        """A table of distances, or the newest: names, their data sets ('': gone), distances, shares of each row."""
        bundle = self._bundles.show(ref, by=by) if ref else self._newest(by)
        if bundle.kind != Similarity.kind:
            raise InvalidInput(f"'{bundle.name}' is of kind '{bundle.kind}', not a table of distances.")
        facts = json_of(self._store, bundle, Similarity.kind)
        made_from = dict(bundle.lineage.inputs)
        data = [_behind(self._store, made_from[name]) if name in made_from else "" for name in facts.pop("inputs")]
        return {"bundle": bundle.uuid, "created": bundle.created, "data": data, **facts}

    def _found(self, data: Sequence[str], by: Identity) -> list[Bundle]:
        """The bundles of these names; all that are not there are told at once."""
        found, missing = list[Bundle](), list[NotFound]()
        for ref in dict.fromkeys(data):
            try:
                found.append(self._bundles.show(ref, by=by))
            except NotFound as error:
                missing.append(error)
        if len(missing) == 1:
            raise missing[0]
        if missing:
            told = [f"{error.message} {error.hint}".strip() for error in missing]
            raise NotFound(f"{len(missing)} of these data sets are not there.", problems=told)
        return found

    def _newest(self, by: Identity) -> Bundle:
        found = self._store.find(kind=Similarity.kind, project=visible_projects(by), all_versions=True, limit=1)
        if not found:
            raise NotFound("No data sets have been compared yet.", hint="Choose two or more: POST /zoo/similarity.")
        return found[0]

    def _signatures(self, by: Identity) -> dict[str, list[Bundle]]:
        """The signatures of each data set that has some, the newest first."""
        found = self._store.find(
            kind=Signature.kind, project=visible_projects(by), all_versions=True, limit=_SIGNATURES
        )
        by_data = defaultdict[str, list[Bundle]](list)
        for one in found:
            if space_of(one) == SPACE:
                by_data[_behind(self._store, one.uuid)].append(one)
        return by_data

    def _comparable(self, data: Bundle, signatures: Mapping[str, Sequence[Bundle]]) -> Comparable:
        """By the classes that it came with; where there are none, by the labels of the most images, newest first."""
        if data.kind != DataSet.kind:
            return Comparable(data, why_not=f"'{data.name}' is of kind '{data.kind}', not a data set.")
        classes = bool(data.arrays["classes"].items)
        seen = [one for one in signatures.get(data.uuid, ()) if one.project in ("", data.project)]
        fit = [one for one in seen if of_own_classes(one) or not classes]
        if fit:
            return Comparable(data, max(fit, key=_images).uuid)
        if not classes:
            return Comparable(data, why_not=self._looks.without_classes(data))
        return Comparable(data)

    def _place(self, chosen: Sequence[Bundle], by: Identity) -> str:
        """The project that the table belongs to: whoever sees it may see all of its data sets."""
        places = {one.project for one in chosen} - {""}
        if len(places) > 1 and by.id != SOLO.id:
            raise InvalidInput(
                "These data sets belong to several projects, whose people may not all see them.",
                hint="Compare those of one project, and those that belong to none.",
            )
        return places.pop() if len(places) == 1 else ""


def _images(signature: Bundle) -> int:
    return int(str(signature.arrays["images"].items[0])) if "images" in signature.arrays else 0


def _problems(chosen: Sequence[Comparable]) -> list[str]:
    problems = [one.why_not for one in chosen if one.why_not]
    if not 2 <= len(chosen) <= MOST:
        problems.append(f"2 to {MOST} data sets can be compared at a time; given: {len(chosen)}.")
    return problems


@lru_cache(maxsize=4096)  # where a bundle comes from never changes
def _behind(store: Store, uuid: str) -> str:
    try:
        return data_behind(store, uuid)
    except NotFound:
        return ""
