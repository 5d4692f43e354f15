"""The zoo as people use it: look at cards, bring weights in, rank them for a data set, see what is in memory."""

from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from functools import lru_cache
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from seedbed.assets.access.audit import Audit
from seedbed.assets.access.roles import Identity, Role
from seedbed.assets.store.bundle import Bundle, Draft
from seedbed.assets.store.deletion import Deletion
from seedbed.assets.store.store import Store
from seedbed.assets.zoo.backbones import network_of
from seedbed.assets.zoo.cache import WeightCache
from seedbed.assets.zoo.card import UNKNOWN, Card
from seedbed.assets.zoo.catalogue import CARDS
from seedbed.assets.zoo.catalogue import cards as own_cards
from seedbed.assets.zoo.records import check_card_name
from seedbed.base.errors import Conflict, InvalidInput, NotFound
from seedbed.base.files import expanded
from seedbed.base.names import in_a_name
from seedbed.flows.facts import data_behind, json_of
from seedbed.flows.kinds.data import DataSet
from seedbed.flows.kinds.models import Model, Report
from seedbed.flows.kinds.zoo import Ranking
from seedbed.flows.outside import Roots
from seedbed.flows.usecases.bundles import Bundles
from seedbed.flows.usecases.cards import Cards, Kept
from seedbed.flows.usecases.given_labels import draft_of_table, is_table
from seedbed.flows.usecases.jobs import Jobs
from seedbed.flows.usecases.looks import is_fine, once
from seedbed.flows.usecases.pages import visible_projects
from seedbed.flows.usecases.projects import Projects
from seedbed.flows.usecases.starts import StartedFrom, Starts
from seedbed.methods.learn.settings import TrainSettings
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.spec import JobClass, JobSpec

_RECENT = 1000  # rankings that are looked through for the newest of each data set and network


class Zoo:
    """What people do with pretrained weights."""

    def __init__(
        self,
        store: Store,
        bundles: Bundles,
        jobs: Jobs,
        projects: Projects,
        kept: Cards,
        starts: Starts,
        cache: WeightCache,
        roots: Roots,
        audit: Audit,
    ) -> None:
        self._store = store
        self._bundles = bundles
        self._jobs = jobs
        self._projects = projects
        self._cards = kept
        self._starts = starts
        self._cache = cache
        self._roots = roots
        self._audit = audit

    # --- cards ----------------------------------------------------------------------------------------------------

    def cards(self, *, by: Identity) -> list[dict[str, Any]]:
        """Every card: those that come with Seedbed, then those that are kept, by name."""
        in_memory = {entry.name for entry in self._cache.state().entries}
        kept = sorted(self._cards.kept(visible_projects(by)), key=lambda one: one.name)
        facts = [*(_facts_of(card) for card in own_cards()), *(one.facts() for one in kept)]
        return [{**each, "in_memory": each["name"] in in_memory} for each in facts]

    def show(self, name: str, *, by: Identity) -> dict[str, Any]:
        """One card."""
        card = self._cards.get(name, by)
        facts = card.facts() if isinstance(card, Kept) else _facts_of(card)
        state = self._cache.state()
        here = {entry.name: entry for entry in state.entries}
        comparable = isinstance(card, Kept) and self._cards.signature_of(card) is not None
        return {
            **facts,
            "in_memory": name in here,
            "why_in_memory": state.why(here[name]) if name in here else "",
            "comparable": comparable,
        }

    def fitting(self, network: str, size: int, *, by: Identity) -> list[dict[str, Any]]:
        """The kept cards that a training of a network on images of that side can be told to start from, by name."""
        asked = network_of(self._network(network))
        kept = [one for one in self._cards.kept(visible_projects(by)) if one.fits(asked, size)]
        return [one.facts() for one in sorted(kept, key=lambda one: one.name)]

    def add(
        self,
        model: str = "",
        *,
        path: Path | None = None,
        hub: str = "",
        name: str = "",
        architecture: str = "",
        trained_on: str = "",
        data: str = "",
        labels: str = "",
        accuracy: float | None = None,
        licence: str = "",
        project: str = "",
        by: Identity,
    ) -> list[Job]:
        """Take weights into the zoo: of a model or a finished training, a file with a stated network, or timm's hub.

        `data` (and `labels`) name the data set behind weights from elsewhere, if it is in the store: with a signature
        of it they can be ranked. Those of a model are known.
        """
        if bool(model) + bool(path) + bool(hub) != 1:
            raise InvalidInput("Give one of a model, a file and a hub's name.", hint="seedbed zoo import --help")
        place = self._projects.get(project, by=by).id if project else ""
        by.require(Role.TRAINER, place)
        facts: dict[str, Any] = {"architecture": architecture, "trained_on": trained_on, "accuracy": accuracy}
        facts["licence"] = licence or UNKNOWN
        found = self._model(model, by) if model else None
        called = name or in_a_name(found.name.removesuffix(".model") if found else path.stem if path else hub)
        check_card_name(called, frozenset(CARDS))
        common: dict[str, Any] = {"cls": JobClass.TE, "project": place}
        inputs: dict[str, str] = {}
        if found is not None:
            facts |= self._of_model(found, facts)
            inputs["model"] = found.uuid
            seen = self._seen_by(found)
        else:
            facts |= {"path": str(expanded(path).absolute()) if path else "", "hub": hub}
            seen = self._images_of(data, labels, by, labelled=True) if data else None
        specs: list[JobSpec] = []
        if seen:
            signing = JobSpec("signature", {"name": seen.name}, seen.inputs, name=f"{called}.signature")
            specs = [*seen.decoding, signing]
            inputs["signature"] = f"job:{called}.signature/signature"
        spare = ("signature",)  # without one the card is kept all the same, and cannot be compared
        importing = JobSpec("import-weights", {"name": called, **facts}, inputs, name=called, spare=spare)
        made = self._jobs.submit_flow([replace(spec, **common) for spec in (*specs, importing)], by=by)
        self._audit.record(by.name, "zoo.import", called, data={"job": made[-1].id})
        return made

    def remove(self, name: str, *, by: Identity) -> Deletion:
        """Take a kept card out of the zoo for good, in all its versions; models that started from it stay."""
        card = self._cards.get(name, by)
        if isinstance(card, Card):
            raise Conflict(f"'{name}' comes with Seedbed.", hint="Uninstall its package if it is in the way.")
        versions = self._store.find(
            card.bundle.name, kind=card.bundle.kind, project=card.bundle.project, all_versions=True, limit=1000
        )
        deletion = self._bundles.remove([version.uuid for version in versions], by=by)
        self._cache.drop([name])
        self._audit.record(by.name, "zoo.remove", name)
        return deletion

    # --- rankings -------------------------------------------------------------------------------------------------

    def rank(
        self,
        data: str = "",
        *,
        labels: str = "",
        project: str = "",
        network: str = TrainSettings().start,
        size: int = TrainSettings().size,
        by: Identity,
    ) -> list[Job]:
        """Compare a data set with those behind the weights for a network; no jobs: there is nothing to choose from.

        Labels are those that are named (a bundle or a CSV file), those of the project, or the classes that the images
        came with.
        """
        place = self._projects.get(project, by=by) if project else None
        by.require(Role.TRAINER, place.id if place else "")
        where = place.id if place else ""
        if data:
            self._bundles.show(data, by=by)  # refused by name even where there is nothing to choose from
        listed, draft = self._starts.shortlist(network_of(self._network(network)), size, where)
        if not listed:
            return []
        with TemporaryDirectory() as folder:
            drafts = [draft] if draft else []
            given: Draft | Bundle | None = None
            if place and not data and not labels:
                given = self._projects.draft_labels(place.id, Path(folder), by=by)
                drafts += [given] if isinstance(given, Draft) else []
            if is_table(labels):
                name = f"{in_a_name(Path(labels).stem)}.labels"
                given = draft_of_table(labels, Path(folder) / "l", name=name, project=where, roots=self._roots, by=by)
                drafts.append(given)
            seen = self._images_of(data or (place.data if place else ""), "" if given else labels, by)
            if given is not None:
                seen = replace(seen, labels=given.uuid)
            specs = self._comparing(seen, listed, {"network": network, "size": size}, where)
            return self._jobs.submit_flow(specs, by=by, drafts=drafts)

    def ranking(self, ref: str, *, by: Identity) -> dict[str, Any]:
        """What a ranking says: by the uuid or name of its bundle, or the newest of a data set."""
        try:
            bundle = self._bundles.show(ref, by=by)
        except NotFound:
            bundle = self._bundles.show(f"{ref}.{Ranking.kind}", by=by)
        if bundle.kind == DataSet.kind:
            bundle = self._bundles.show(f"{in_a_name(bundle.name)}.{Ranking.kind}", by=by)
        return {"bundle": bundle.uuid, "created": bundle.created, **self._starts.ranking(bundle.uuid)}

    def rankings(self, *, limit: int = _RECENT, by: Identity) -> list[dict[str, Any]]:
        """What the newest ranking of each data set and network says, the newest first."""
        return list(islice(self._newest_rankings(by), limit))

    def matrix(self, *, by: Identity) -> dict[str, Any]:
        """How far every ranked data set is from those behind the weights, as its newest rankings say, as a table.

        A number is the distance over that to the baseline, None where it was not measured.
        """
        ratios: dict[str, dict[str, float | None]] = {}
        for facts in reversed(self.rankings(by=by)):  # newer ones have the last word
            ratios.setdefault(facts["target"], {}).update({one["name"]: one["ratio"] for one in facts["ranked"]})
        sources = sorted({name for known in ratios.values() for name in known})
        rows = [[ratios[target].get(source) for source in sources] for target in sorted(ratios)]
        return {"targets": sorted(ratios), "sources": sources, "ratios": rows}

    def start_of(self, job: str, *, by: Identity) -> StartedFrom:
        """What a training starts or started from, and why."""
        found = self._jobs.get(job, by=by)
        told = self._starts.of(found)
        if told is None:
            raise InvalidInput(f"The job '{found.name or found.step}' is no training.", hint="Name one of step train.")
        return told

    # --- memory ---------------------------------------------------------------------------------------------------

    def cache(self, *, by: Identity) -> dict[str, Any]:
        """What weights this machine has in memory, why, and the seconds that this saved."""
        by.require(Role.VIEWER)
        state = self._cache.state()
        return {
            "folder": state.folder,
            "slots": state.slots,
            "free_bytes": state.free_bytes,
            "saved_seconds": state.saved_seconds,
            "entries": [{**_without_file(asdict(entry)), "why": state.why(entry)} for entry in state.entries],
            "gone": [_without_file(asdict(entry)) for entry in state.gone],
            "held": dict(state.held),
        }

    def empty_cache(self, *, by: Identity) -> dict[str, Any]:
        """Let go everything that is in memory; it is read again when it is needed."""
        by.require(Role.OPERATOR)
        self._cache.drop([entry.name for entry in self._cache.state().entries])
        self._audit.record(by.name, "zoo.empty-cache", "")
        return self.cache(by=by)

    # --- small things ---------------------------------------------------------------------------------------------

    def _model(self, ref: str, by: Identity) -> Bundle:
        """The model of a bundle's name, or of a finished training."""
        try:
            found = self._bundles.show(ref, by=by)
        except NotFound as missing:
            try:
                job = self._jobs.get(ref, by=by)
            except NotFound:
                raise missing from None
            if "model" not in job.outputs:
                raise Conflict(
                    f"The job '{job.name or job.step}' has made no model.", hint="Name a training."
                ) from None
            found = self._bundles.show(job.outputs["model"], by=by)
        if found.kind != Model.kind:
            raise InvalidInput(f"'{found.name}' is of kind '{found.kind}', not a model.")
        return found

    def _newest_rankings(self, by: Identity) -> Iterator[dict[str, Any]]:
        """Rankings for several networks share a name: of each only the versions tell them apart."""
        places = visible_projects(by)
        seen = set[tuple[str, str]]()
        for bundle in self._store.find(kind=Ranking.kind, project=places, all_versions=True, limit=_RECENT):
            with suppress(NotFound):  # it was removed a moment ago
                about = _about(self._store, bundle.uuid)
                if about not in seen:
                    seen.add(about)
                    yield {"bundle": bundle.uuid, "created": bundle.created, **self._starts.ranking(bundle.uuid)}

    def _of_model(self, model: Bundle, given: Mapping[str, Any]) -> dict[str, Any]:
        data = data_behind(self._store, model.uuid)
        nodes = self._store.lineage(model.uuid, depth=1, direction="down").nodes.values()
        reports = sorted(
            (one for one in nodes if one.kind == Report.kind and not one.gone), key=lambda one: one.created
        )
        measured = self._store.get(reports[-1].uuid).arrays.get("accuracy") if reports else None
        lineage = {"model": model.uuid, "job": model.lineage.job, "data": data, "why": model.tags.get("why", "")}
        return {
            "trained_on": given["trained_on"] or (self._store.get(data).name if data else ""),
            "images": int(str(model.arrays["images"].items[0])) if "images" in model.arrays else 0,
            "accuracy": float(str(measured.items[0])) if measured and given["accuracy"] is None else given["accuracy"],
            "lineage": {name: value for name, value in lineage.items() if value},
        }

    def _seen_by(self, model: Bundle) -> "_Seen | None":
        """What a model was trained with: its images as pixels and its labels; None: they are gone."""
        inputs = dict(model.lineage.inputs)
        try:
            decoded, labels = (self._store.get(inputs[name]) for name in ("decoded", "labels"))
        except (KeyError, NotFound):
            return None
        data = data_behind(self._store, model.uuid)
        if not data:
            return _Seen(model.name.removesuffix(".model"), decoded.uuid, labels=labels.uuid)
        behind = self._store.get(data)
        pixels, decoding = (decoded.uuid, ()) if is_fine(decoded) else self._starts.looks.pixels(behind)
        return _Seen(behind.name, pixels, decoding, labels.uuid)

    def _images_of(self, data: str, labels: str, by: Identity, *, labelled: bool = False) -> "_Seen":
        """A data set's images as pixels, and the labels that are named; `labelled`: refused where there are none."""
        if not data:
            raise InvalidInput("There is no data set to compare.", hint="Name one, or give the project its data.")
        bundle = self._bundles.show(data, by=by)
        if bundle.kind != DataSet.kind:
            raise InvalidInput(f"'{bundle.name}' is of kind '{bundle.kind}', not a data set.")
        if labelled and not labels and not bundle.arrays["classes"].items:
            raise InvalidInput(
                self._starts.looks.without_classes(bundle),
                hint="Name a bundle of its labels too (--labels), or say in words what is behind the weights "
                "(--trained-on); such a card cannot be ranked.",
            )
        known = self._bundles.show(labels, by=by).uuid if labels else ""
        return _Seen(bundle.name, *self._starts.looks.pixels(bundle), known)

    def _comparing(self, seen: "_Seen", listed: str, params: Mapping[str, Any], where: str) -> list[JobSpec]:
        base = in_a_name(seen.name)
        baseline, making = self._starts.reference(where)
        compared = {**seen.inputs, "signature": f"job:{base}.signature/signature", "shortlist": listed}
        compared |= {"baseline": baseline} if baseline else {}
        specs = [
            *seen.decoding,
            JobSpec("signature", {"name": seen.name}, seen.inputs, name=f"{base}.signature"),
            *making,
            JobSpec("rank-weights", params, compared, name=f"{base}.rank-weights", spare=("baseline",)),
        ]
        return [replace(spec, cls=JobClass.TE, project=where) for spec in once(specs)]

    def _network(self, start: str) -> str:
        return CARDS.get(start).architecture if start in CARDS else start


@lru_cache(maxsize=4096)  # bundles never change
def _about(store: Store, uuid: str) -> tuple[str, str]:
    """The data set and the network of a ranking."""
    facts = json_of(store, store.get(uuid), Ranking.kind)
    return str(facts["target"]), str(facts["baseline"])


def _facts_of(card: Card) -> dict[str, Any]:
    """What a person wants to know of a card that comes with Seedbed, by the names that kept ones have."""
    own = {**card.to_json(), "classes": [], "outputs": card.classes}
    unknown: dict[str, Any] = {
        "signature": "",
        "images": 0,
        "lineage": {},
        "bundle": "",
        "project": "",
        "created": 0.0,
    }
    return {**own, **unknown, "kept": False}


@dataclass(frozen=True)
class _Seen:
    """A data set's images as pixels, the jobs that make these where nobody did yet, and its labels."""

    name: str
    decoded: str
    decoding: tuple[JobSpec, ...] = ()
    labels: str = ""  # '': those that the images came with

    @property
    def inputs(self) -> dict[str, str]:
        """What jobs that look at it take."""
        return {"decoded": self.decoded, **({"labels": self.labels} if self.labels else {})}


def _without_file(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in entry.items() if name != "file"}
