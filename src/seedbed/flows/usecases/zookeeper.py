"""What the zoo learns and keeps by itself: what came of every training, and which weights stay in memory."""

import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from seedbed.assets.store.bundle import Bundle, Lineage
from seedbed.assets.store.events import Events
from seedbed.assets.store.store import Store
from seedbed.assets.zoo.cache import WeightCache
from seedbed.assets.zoo.catalogue import CARDS
from seedbed.assets.zoo.records import WEIGHTS_FILE
from seedbed.base.errors import DiskFull, NotFound, SeedbedError, Unavailable
from seedbed.base.ids import digest_of
from seedbed.base.registry import Registry
from seedbed.flows.facts import data_behind
from seedbed.flows.kinds.models import FACTS_FILE
from seedbed.flows.kinds.zoo import Outcome
from seedbed.flows.starting import RANK, TRAIN
from seedbed.flows.usecases.cards import Cards
from seedbed.flows.usecases.starts import STARTED_FROM, WHY, Starts
from seedbed.methods.learn.settings import TrainSettings
from seedbed.runtime.jobs.queue import Queue
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.states import State

_LEARNER, _HOLDER = "zoo outcomes", "zoo memory"
_ENDINGS = ("job.done", "job.failed", "job.cancelled")
_LONGEST = 4000  # letters of a tag
_MANY = 1000  # trainings that are looked at
_BESIDE = ("start", "weights", "report_every", "checkpoint_every")  # what two runs may differ in and still be compared
_log = logging.getLogger(__name__)
_CHOOSING: Registry[Any] = Registry(
    "choice",
    {
        "choose": "seedbed.methods.similarity.cache_choice:choose",
        "reasons": "seedbed.methods.similarity.cache_choice:reasons",
        "expectation": "seedbed.methods.similarity.predictor:Expectation",
        "expected-times": "seedbed.methods.similarity.tte:expected_times",
    },
)  # numpy and scipy alone; loaded when there is something to choose


class Learner:
    """A follower of events: records what came of every training, and writes on its model what it started from.

    A training that was told what to start from has a ranking beside it, from which the evidence comes: such a one is
    recorded when both have ended.
    """

    def __init__(self, events: Events, queue: Queue, store: Store, starts: Starts) -> None:
        self._events = events
        self._queue = queue
        self._store = store
        self._starts = starts

    def follow(self) -> int:
        """Deal with the trainings that are newly done."""
        events = self._events.after(self._events.cursor(_LEARNER), kinds=_ENDINGS)
        for event in events:
            try:
                for job in self._trainings(self._queue.get(event.subject)):
                    self._record(job, self._store.get(job.outputs["model"]))
            except (DiskFull, Unavailable):
                raise  # that passes: the event stays before the cursor
            except SeedbedError as error:  # the model is gone again
                _log.warning("Nothing was learnt from job %s: %s", event.subject, error)
            self._events.advance(_LEARNER, event.number)
        return len(events)

    def _trainings(self, ended: Job) -> list[Job]:
        """The trainings that can be recorded now that this job has ended."""
        if ended.step not in (TRAIN, RANK):
            return []
        same = [ended] if ended.step == TRAIN else self._queue.list(flow=ended.flow, step=TRAIN, limit=_MANY)
        done = [job for job in same if job.state is State.DONE and "model" in job.outputs]
        rankings = {job.id: self._starts.beside(job) for job in done}
        mine = [job for job in done if ended.step == TRAIN or rankings[job.id] == ended]
        return [job for job in mine if (ranking := rankings[job.id]) is None or ranking.state.ended]

    def _record(self, job: Job, model: Bundle) -> None:
        told = self._starts.of(job)
        if told and told.card:
            self._store.tag(model.uuid, {STARTED_FROM: told.card, WHY: told.reason[:_LONGEST]})
        facts = self._facts(job, model, told.ranking if told else "")
        if not facts["curve"]:  # without labels to judge by nobody knows how soon it was good
            return
        with TemporaryDirectory() as folder:
            made = Outcome.write(Path(folder) / "outcome", facts)
            key = digest_of(["outcome", model.uuid])
            lineage = Lineage("record-outcome", inputs=(("model", model.uuid),), job=job.id)
            name = f"{model.name.removesuffix('.model')}.outcome"
            self._store.publish(made.draft(name=name, key=key, lineage=lineage, project=job.project))

    def _facts(self, job: Job, model: Bundle, ranking: str) -> dict[str, Any]:
        data = data_behind(self._store, model.uuid)
        baseline = str(job.spec.params.get("start", TrainSettings().start))
        start = str(model.arrays["started_from"].items[0]) if "started_from" in model.arrays else baseline
        same = {name: value for name, value in job.spec.params.items() if name not in _BESIDE}
        inputs = {name: uuid for name, uuid in model.lineage.inputs if name != "weights"}
        facts: dict[str, Any] = {
            "target": self._store.get(data).name if data else model.name,
            "start": baseline if start.startswith("hub:") or start in CARDS else start,
            "baseline": baseline,
            "architecture": str(model.arrays["architecture"].items[0]),
            "alike": digest_of([same, inputs, job.spec.seed, _planned(model)]),
            "steps": int(str(model.arrays["steps"].items[0])),
            "best_step": int(str(model.arrays["best_step"].items[0])) if "best_step" in model.arrays else 0,
            "curve": _accuracies(self._store, model),
            "judges": int(_read(self._store, model, "model", FACTS_FILE, {}).get("calibrated_on", 0)),
            "seconds": job.ended - job.started,
        }
        ranked = self._starts.ranking(ranking)["ranked"] if ranking else []
        return facts | {"evidence": next((one["evidence"] for one in ranked if one["name"] == start), None)}


def _planned(model: Bundle) -> int:
    """The steps that a training was to take: a shorter one lowers its rate sooner, and is not to be compared."""
    return int(str(model.arrays["planned"].items[0])) if "planned" in model.arrays else 0


class Holder:
    """A follower of events: whenever the queue of trainings changes, chooses the weights that stay in memory.

    It keeps those with which the trainings that wait or run are estimated to end soonest, and lays them there before
    they are asked for.
    """

    def __init__(
        self, events: Events, queue: Queue, store: Store, cards: Cards, starts: Starts, cache: WeightCache
    ) -> None:
        self._events = events
        self._queue = queue
        self._store = store
        self._cards = cards
        self._starts = starts
        self._cache = cache

    def follow(self) -> int:
        """Choose anew, if anything happened to a job; how many weights are held."""
        events = self._events.after(self._events.cursor(_HOLDER), kinds=("job.",))
        if not events:
            return 0
        held = self._choice()
        if held != dict(self._cache.state().held):
            self._cache.hold(held)
            self._lay(held)
        self._events.advance(_HOLDER, events[-1].number)
        return len(held)

    def _choice(self) -> dict[str, str]:
        """The cards to keep, each with the reason."""
        rankings = self._waited_for()
        names = sorted({name for _, ratios in rankings for name in ratios})
        if not names or self._cache.slots < 1:
            return {}
        sizes = [[seconds] for seconds, _ in rankings]
        times = _CHOOSING.get("expected-times")([[r.get(name, 1.0) for name in names] for _, r in rankings], sizes)
        alone = _CHOOSING.get("expected-times")([[1.0] for _ in rankings], sizes)[:, 0]
        loaded = [names.index(one.name) for one in self._cache.state().entries if one.name in names]
        chosen = _CHOOSING.get("choose")(times, alone, self._cache.slots, loaded=loaded)
        why = _CHOOSING.get("reasons")(times, alone, chosen.kept)
        share = 1 / max(float(alone.sum()), 1e-9)
        return {names[one.weights]: _sentence(one.jobs, one.saved * share) for one in why if one.jobs}

    def _waited_for(self) -> list[tuple[float, Mapping[str, float]]]:
        """Of every training that waits or runs and was ranked: its size, and the epochs that are expected of weights.

        The size is its estimated seconds, or else its images: they stand in one choice, so that either must be so for
        all of them.
        """
        states = [State.WAITING, State.STARTING, State.RUNNING]
        found = []
        for job in self._queue.list(states=states, step=TRAIN, limit=_MANY):
            told = self._starts.of(job)
            if told and told.ranking and not told.told:
                facts = self._starts.ranking(told.ranking)
                expected = [_CHOOSING.get("expectation")(**one["expectation"]) for one in facts["ranked"]]
                ratios = {one.source: float(one.epoch_ratio) for one in expected if one.sure}
                found.append((job.spec.estimates.get("seconds"), facts["images"], ratios))
        known = all(seconds for seconds, _, _ in found)
        return [(float(seconds or 0.0) if known else float(images), ratios) for seconds, images, ratios in found]

    def _lay(self, names: Mapping[str, str]) -> None:
        kept = {each.name: each for each in self._cards.kept(None) if each.name in names}
        for name, each in kept.items():
            (link,) = (file for file in each.files if file.name == WEIGHTS_FILE)
            self._cache.put(name, each.card.digest, self._store.path_of(link.digest))


def _sentence(jobs: int, share: float) -> str:
    trainings = "1 training that waits or runs starts" if jobs == 1 else f"{jobs} trainings that wait or run start"
    return f"{trainings} best from it, which is expected to save {100 * share:.0f} % of the epochs of all of them."


def _accuracies(store: Store, model: Bundle) -> Sequence[float]:
    points = _read(store, model, "curve", "curve.json", [])
    return [float(point["accuracy"]) for point in points if "accuracy" in point]


def _read(store: Store, model: Bundle, array: str, name: str, without: Any) -> Any:
    """The content of one JSON file of a model; what cannot be read is as if it were not there."""
    links = [link for link in model.arrays[array].files if link.name == name] if array in model.arrays else []
    try:
        return json.loads(store.path_of(links[0].digest).read_text()) if links else without
    except (OSError, ValueError, NotFound):
        return without
