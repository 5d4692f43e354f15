"""How trainings start: from weights that were asked for, or from those that a ranking chooses; and why."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from seedbed.assets.access.roles import Identity
from seedbed.assets.store.bundle import ArrayType, Bundle, Draft, DraftArray, FileLink, Lineage
from seedbed.assets.store.store import Store
from seedbed.assets.zoo.backbones import network_of
from seedbed.assets.zoo.cache import WeightCache
from seedbed.assets.zoo.card import Card
from seedbed.assets.zoo.catalogue import CARDS
from seedbed.base.errors import InvalidInput, NotFound
from seedbed.base.ids import digest_of, new_id
from seedbed.base.mistakes import shown
from seedbed.base.names import in_a_name
from seedbed.flows.facts import json_of
from seedbed.flows.kinds.data import DataSet
from seedbed.flows.kinds.zoo import SIGNATURE_FILE, Outcome, Ranking, Shortlist
from seedbed.flows.pace import seconds_a_step
from seedbed.flows.starting import RANK, TRAIN, Beginning, rank_of
from seedbed.flows.steps.signature import SHARPEST
from seedbed.flows.usecases.cards import Cards, Kept
from seedbed.flows.usecases.looks import Looks, once
from seedbed.methods.learn.settings import ONE_CLASS, TrainSettings
from seedbed.runtime.jobs.queue import Queue
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.spec import JobSpec, output_of_job
from seedbed.runtime.jobs.states import State

AUTO, SCRATCH, USUAL = "auto", "none", "pretrained"
STARTED_FROM, WHY = "started-from", "why"  # tags of a model
_CONTENT = "content"  # the tag of a shortlist that says what is in it
_MOST_OUTCOMES = 1000  # the newest ones
_MANY = 100  # jobs of one flow
_MOST_SETS = 1000  # data sets that are looked through for one that stands for ImageNet
_IMAGENET = "imagenet"
_DEFAULTS = TrainSettings()


@dataclass(frozen=True)
class StartedFrom:
    """What a training started from, or will, and why; `ranking` is the bundle that says it in numbers.

    Where it was told what to start from, nothing was chosen: the ranking stands beside it. It takes `share_of_steps`.
    Where the ranking that it was chosen by has been removed, `unproven`, only the reason is left.
    """

    card: str
    reason: str
    ranking: str = ""
    expected_saving: float = 0.0
    share_of_steps: float = 1.0
    told: bool = False
    unproven: bool = False


class Starts:
    """Decides before a training is queued, and tells afterwards."""

    def __init__(self, store: Store, queue: Queue, cards: Cards, cache: WeightCache, *, baseline: str) -> None:
        self._store = store
        self._queue = queue
        self._cards = cards
        self._cache = cache
        self._baseline = baseline
        self.looks = Looks(store)

    # --- before ---------------------------------------------------------------------------------------------------

    def beginning(
        self, weights: str, params: Mapping[str, Any], data: Bundle, *, shorten: bool, project: str, by: Identity
    ) -> Beginning:
        """What a training with these parameters starts from: auto, none (from scratch), pretrained, or a card's name.

        With nothing to choose from nothing changes: no job is added to the training. `shorten`: what is chosen because
        it is surely faster takes so many fewer steps.
        """
        asked = SCRATCH if weights in ("", AUTO) and params.get("weights") == SCRATCH else weights or AUTO
        estimates = self._estimates(params)
        if asked == SCRATCH:
            return Beginning({**params, "weights": SCRATCH}, estimates=estimates)
        if asked == AUTO:
            return replace(self._ranked(params, data, project, shorten=shorten), estimates=estimates)
        if asked == USUAL:
            return Beginning(params, estimates=estimates)
        return replace(self._asked_for(asked, params, data, project, by), estimates=estimates)

    def shortlist(self, network: str, size: int, project: str) -> tuple[str, Draft | None]:
        """The bundle of all weights that fit a network, and its draft where it is new; '': there are none."""
        kept = [each for each in self._cards.kept(sorted({"", project})) if each.fits(network, size)]
        return self._listed(f"{in_a_name(network)}.shortlist", kept, project) if kept else ("", None)

    def reference(self, project: str) -> tuple[str, tuple[JobSpec, ...]]:
        """The signature of the data set that stands for ImageNet, or how it will be made; '': there is none."""
        data = self._standing(project)
        return self.looks.signature(data) if data else ("", ())

    def _standing(self, project: str) -> Bundle | None:
        """The data set of the setting; without one the newest that has classes and ImageNet in its name."""
        places = sorted({"", project})
        if self._baseline:
            try:
                data = self._store.get(self._baseline)
            except NotFound:
                return None
            return data if data.kind == DataSet.kind and data.project in places else None
        found = self._store.find(kind=DataSet.kind, project=places, limit=_MOST_SETS)
        return next((one for one in found if _IMAGENET in one.name.casefold() and one.arrays["classes"].items), None)

    def timing(self, names: Mapping[str, int], training: float) -> dict[str, Any]:
        """Parameters of a ranking: what is known of seconds, roughly, so that equal questions stay equal."""
        if not training:
            return {}
        state = self._cache.state()
        loading = {name: _roughly(state.seconds_to_load(name, size)) for name, size in names.items()}
        here = {entry.name for entry in state.entries}
        return {"seconds": _roughly(training), "loading": loading, "in_memory": sorted(here & names.keys())}

    def _asked_for(self, name: str, params: Mapping[str, Any], data: Bundle, project: str, by: Identity) -> Beginning:
        card = self._cards.get(name, by)
        chosen = str(params.get("start", ""))
        architecture = card.architecture if isinstance(card, Card) else card.card.architecture
        if chosen and chosen != name and network_of(_network(chosen)) != network_of(architecture):
            raise InvalidInput(
                f"The weights of '{name}' are for the network '{architecture}', not for '{chosen}'.",
                hint=f"Leave --backbone out, or say --backbone {architecture}.",
            )
        if isinstance(card, Card):
            return Beginning({**params, "start": name})
        size = _size(params)
        if card.card.made_at not in (None, size):
            raise InvalidInput(
                f"The weights of '{name}' were made for images of {card.card.made_at} px, not of {size} px.",
                hint=f"Train with --size {card.card.made_at}.",
            )
        beside = self._ranked({**params, "start": chosen or architecture}, data, project)
        return replace(beside, weights=card.bundle.uuid)

    def _ranked(self, params: Mapping[str, Any], data: Bundle, project: str, *, shorten: bool = False) -> Beginning:
        start, size = str(params.get("start", _DEFAULTS.start)), _size(params)
        if params.get("algorithm") == ONE_CLASS:  # its network is not trained: there is no time to save
            return Beginning(params)
        uuid, draft = self.shortlist(network_of(_network(start)), size, project)
        if not uuid:
            return Beginning(params)
        baseline, before = self.reference(project)
        look, decoding = self.looks.pixels(data) if size < SHARPEST else ("", ())
        kept = self._cards.kept(sorted({"", project}))
        sizes = {each.name: each.card.size for each in kept} | (
            {start: CARDS.get(start).size} if start in CARDS else {}
        )
        timing = self.timing(sizes, self._estimates(params).get("seconds", 0.0))
        rank = {"network": start, "size": size, **timing, **({"shorten": True} if shorten else {})}
        drafts = (draft,) if draft else ()
        return Beginning(
            params,
            shortlist=uuid,
            drafts=drafts,
            before=once((*decoding, *before)),
            look=look,
            baseline=baseline,
            rank=rank,
        )

    def _estimates(self, params: Mapping[str, Any]) -> dict[str, float]:
        each = seconds_a_step(self._queue, params)
        return {"seconds": round(each * int(params.get("steps", _DEFAULTS.steps)), 1)} if each else {}

    def _listed(self, name: str, kept: Sequence[Kept], project: str) -> tuple[str, Draft | None]:
        """A bundle that shares the bytes of the cards, their signatures and the outcomes; made once for each zoo."""
        links: list[FileLink] = []
        inputs: list[tuple[str, str]] = []
        for number, each in enumerate(sorted(kept, key=lambda one: one.name)):
            links += [replace(link, name=Shortlist.place(number, link.name)) for link in each.files]
            inputs.append((f"card {number}", each.bundle.uuid))
            if signature := self._cards.signature_of(each):
                found = self._cards.signature_file(signature)
                links.append(replace(found, name=Shortlist.place(number, SIGNATURE_FILE)))
                inputs.append((f"signature {number}", signature.uuid))
        known = self._store.find(
            kind=Outcome.kind, project=sorted({"", project}), all_versions=True, limit=_MOST_OUTCOMES
        )
        outcomes = sorted(
            (replace(link, name=f"{each.uuid}.json") for each in known for link in each.arrays["outcome"].files),
            key=lambda link: link.name,
        )
        inputs += [(f"outcome {number}", each.uuid) for number, each in enumerate(known)]
        arrays = {
            "cards": DraftArray(ArrayType.FILE, tuple(links)),
            "outcomes": DraftArray(ArrayType.FILE, tuple(outcomes)),
        }
        content = digest_of([[link.name, link.digest] for link in (*links, *outcomes)] + [list(one) for one in inputs])
        before = self._store.find(name, kind=Shortlist.kind, project=project, tags={_CONTENT: content}, limit=1)
        if before:
            return before[0].uuid, None
        lineage = Lineage("shortlist", inputs=tuple(inputs))
        uuid, tags = new_id(), {_CONTENT: content}
        return uuid, Draft(
            name, Shortlist.kind, arrays, tags=tags, lineage=lineage, derived=True, project=project, uuid=uuid
        )

    # --- afterwards -----------------------------------------------------------------------------------------------

    def of(self, job: Job) -> StartedFrom | None:
        """What a training starts or started from, and why; None: the job is no training."""
        if job.step != TRAIN:
            return None
        usual = str(job.spec.params.get("start", _DEFAULTS.start))
        given = job.spec.inputs.get("weights", "")
        if job.spec.params.get("weights") == SCRATCH:
            return StartedFrom("scratch", "It was asked to start from scratch.")
        made = output_of_job(given)
        if made:
            return self._of_ranking(job, self._queue.get(made[0]), usual)
        if given:
            return self._of_bundle(job, given)
        return StartedFrom(usual, "These are its network's usual weights; no others were compared with its images.")

    def beside(self, job: Job) -> Job | None:
        """The ranking that was made with a training, before it or beside it; None: there is none."""
        ranks = self._queue.list(flow=job.flow, step=RANK, limit=_MANY) if job.flow else []
        return next((one for one in ranks if one.name == rank_of(job.name)), None)

    def ranking(self, uuid: str) -> dict[str, Any]:
        """What a ranking says."""
        bundle = self._store.get(uuid)
        if bundle.kind != Ranking.kind:
            raise InvalidInput(f"'{bundle.name}' is of kind '{bundle.kind}', not a ranking.")
        return json_of(self._store, bundle, "ranking")

    def _of_ranking(self, job: Job, rank: Job, usual: str) -> StartedFrom:
        if not rank.state.ended:
            return StartedFrom("", "The weights of the zoo are being compared with its images.")
        if rank.step != RANK or rank.state is not State.DONE:
            why = f" ({rank.reason.rstrip('.')})" if rank.reason else ""
            return StartedFrom(usual, f"The weights of the zoo could not be compared{why}, so it takes the usual ones.")
        try:
            advice = self.ranking(rank.outputs["ranking"])["advice"]
        except NotFound:
            return replace(self._remembered(job, "The ranking that it was chosen by was removed."), unproven=True)
        saving, share = float(advice["expected_saving"]), float(advice.get("share_of_steps", 1.0))
        return StartedFrom(str(advice["start"]), str(advice["reason"]), rank.outputs["ranking"], saving, share)

    def _of_bundle(self, job: Job, uuid: str) -> StartedFrom:
        beside = self.beside(job)
        kept = self._still_there(beside.outputs.get("ranking", "")) if beside else None
        weights = self._still_there(uuid)
        if weights:
            told = StartedFrom(str(weights.arrays["card"].items[0]), "These weights were asked for.")
        else:
            told = self._remembered(job, "The weights that were asked for have been removed.")
        return replace(told, ranking=kept.uuid if kept else "", told=True)

    def _remembered(self, job: Job, lost: str) -> StartedFrom:
        """What was written on the model that a training made; where nothing was, only what has been lost."""
        model = self._still_there(job.outputs.get("model", ""))
        tags = model.tags if model else {}
        return StartedFrom(tags.get(STARTED_FROM, ""), tags.get(WHY, lost))

    def _still_there(self, uuid: str) -> Bundle | None:
        try:
            return self._store.get(uuid) if uuid else None
        except NotFound:
            return None


def _size(params: Mapping[str, Any]) -> int:
    """Of the images, as it was asked for: nobody has looked at it yet."""
    given = params.get("size", _DEFAULTS.size)
    try:
        return int(given)
    except (TypeError, ValueError):
        raise InvalidInput(f"'size' is {shown(given)}; it must be a whole number of pixels.") from None


def _network(start: str) -> str:
    """The network that a start stands for: a card's, or the one of that name."""
    return CARDS.get(start).architecture if start in CARDS else start


def _roughly(seconds: float) -> float:
    """Two digits are as many as an estimate has."""
    return float(f"{seconds:.2g}")
