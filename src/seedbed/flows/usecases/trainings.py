"""A project's training as its expert sees it: begun by a click or by itself, and told in plain words."""

import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from seedbed.assets.access.roles import Identity, Role
from seedbed.assets.store.store import Store
from seedbed.base.clock import Clock
from seedbed.base.errors import Conflict, NotFound
from seedbed.flows.pace import seconds_a_step
from seedbed.flows.usecases.jobs import Jobs
from seedbed.flows.usecases.models import Models
from seedbed.flows.usecases.projects import Projects
from seedbed.runtime.jobs.queue import Queue
from seedbed.runtime.jobs.records import Job, Metric
from seedbed.runtime.jobs.states import State

Stage = Literal["none", "waiting", "running", "stopped", "done", "failed", "cancelled"]
_PARTS = {"decode": 3, "sample-labels": 1, "signature": 1, "rank-weights": 2, "train": 84, "evaluate": 4}
_PARTS |= {"label-all": 5, "export": 3}
_SPARE = ("signature", "rank-weights")  # a training goes on without them where they end badly
_DOING = {
    "decode": "It reads the images",
    "sample-labels": "It puts some labels aside for the test",
    "signature": "It looks at which images are like these",
    "rank-weights": "It looks for the best place to start from",
    "train": "It is learning",
    "evaluate": "It has learnt, and is tested on the images that were put aside",
    "label-all": "It has learnt, and names all images",
    "export": "It has learnt, and is being packed to take away",
}
_RECENT = 20  # measurements that tell how quick it is now
_AFTERWARDS = 1.15  # what comes after the learning, as a share of it
_MANY = 10_000
_USUALLY = "it usually takes a few minutes"  # where none was measured here yet


@dataclass(frozen=True)
class Training:
    """Where the newest training of a project stands; `seconds` are those that are left, None where nobody knows."""

    stage: Stage
    sentence: str
    share: float | None = None
    seconds: float | None = None
    accuracy: float | None = None
    jobs: Mapping[str, Job] | None = None  # the newest of each step
    labels: int = 0  # that it began with

    @property
    def open(self) -> bool:
        """Whether it is not over yet."""
        return self.stage in ("waiting", "running", "stopped")


class Trainings:
    """What people do with the training of a project, who need not know that it is made of jobs."""

    def __init__(
        self, jobs: Jobs, models: Models, projects: Projects, queue: Queue, store: Store, clock: Clock
    ) -> None:
        self._jobs = jobs
        self._models = models
        self._projects = projects
        self._queue = queue
        self._store = store
        self._clock = clock
        # two clicks at once: else there would be two trainings, or some jobs of one stay stopped when it goes on
        self._changing = threading.Lock()

    def of(self, ref: str, *, by: Identity) -> Training:
        """The newest training of a project."""
        jobs = self._newest(self._projects.get(ref, by=by).id)
        if not jobs:
            return Training("none", "Nothing has been trained yet.")
        stage = _stage(list(jobs.values()))
        seconds = self._left(jobs) if stage in ("waiting", "running") else None
        accuracy = self._accuracy(jobs)
        sentence = self._sentence(stage, jobs, seconds, accuracy)
        return Training(stage, sentence, _share(jobs), seconds, accuracy, jobs, self._labels_used(jobs))

    def start(self, ref: str, *, params: Mapping[str, Any] | None = None, by: Identity, **how: Any) -> Training:
        """Train with the labels as they are now; refused while a training is not over. `how` as for `Models.train`."""
        project = self._projects.get(ref, by=by)
        by.require(Role.TRAINER, project.id)
        with self._changing:
            if self.of(project.id, by=by).open:
                raise Conflict(f"'{project.name}' is being trained already.", hint="Let it end, or end it first.")
            self._models.train(project=project.id, params=params, by=by, **how)
        return self.of(project.id, by=by)

    def stop(self, ref: str, *, by: Identity) -> Training:
        """Stop for now: what it has learnt is kept."""
        with self._changing:
            for job in self._open(ref, by):
                self._jobs.pause(job.id, by=by)
        return self.of(ref, by=by)

    def go_on(self, ref: str, *, by: Identity) -> Training:
        """Go on from where it was stopped."""
        with self._changing:
            for job in self._open(ref, by):
                if job.paused or job.pausing:
                    self._jobs.resume(job.id, by=by)
        return self.of(ref, by=by)

    def end(self, ref: str, *, by: Identity) -> Training:
        """End it for good; the model before it stays."""
        with self._changing:
            for job in self._open(ref, by):
                if job.step == "train" or job.state is not State.WAITING:
                    self._jobs.cancel(job.id, by=by)
        return self.of(ref, by=by)

    def labels_used(self, project: str) -> int:
        """How many labels there were when the newest training of a project (its id) began; 0: none was."""
        return self._labels_used(self._newest(project))

    def _labels_used(self, jobs: Mapping[str, Job]) -> int:
        sampling = jobs.get("sample-labels")
        try:
            labels = self._store.get(sampling.spec.inputs["truth"]) if sampling else None
        except (KeyError, NotFound):
            return 0
        return int(str(labels.arrays["count"].items[0])) if labels else 0

    def _open(self, ref: str, by: Identity) -> list[Job]:
        jobs = self._newest(self._projects.get(ref, by=by).id)
        return [job for job in jobs.values() if not job.state.ended]

    def _newest(self, project: str) -> dict[str, Job]:
        """The jobs of the newest training by step; one that was run again stands for the old one."""
        trainings = self._queue.list(step="train", project=project, limit=1)
        if not trainings:
            return {}
        flow = self._queue.list(flow=trainings[0].flow, limit=_MANY) if trainings[0].flow else trainings
        in_turn = sorted(flow, key=lambda job: (job.submitted, job.position))  # a flow is submitted all at once
        newest = {job.step: job for job in in_turn if job.step in _PARTS and not _did_without(job)}
        return {step: newest[step] for step in _PARTS if step in newest}

    def _accuracy(self, jobs: Mapping[str, Job]) -> float | None:
        """The share that is right: of the test once it is over, until then of the labels that it judges itself by."""
        for step in ("evaluate", "train"):
            if step in jobs and (found := self._queue.metrics(jobs[step].id, ("accuracy",))):
                return found[-1].value
        return None

    def _sentence(self, stage: Stage, jobs: Mapping[str, Job], seconds: float | None, accuracy: float | None) -> str:
        right = share_in_words(accuracy) if accuracy is not None else ""
        match stage:
            case "waiting":
                return _waiting(self._behind(jobs), seconds, usual=self._is_usual(jobs))
            case "running":
                active = next((job for job in jobs.values() if job.state.active), None)
                left = f"; about {in_words(seconds)} left" if seconds is not None else ""
                so_far = self._so_far(active, right) if active and active.step == "train" else ""
                if not left and not so_far and active and active.step == "train" and self._is_usual(jobs):
                    left = f"; {_USUALLY}"
                return f"{_DOING[active.step] if active else 'It goes on in a moment'}{so_far}{left}."
            case "stopped":
                share = _share(jobs)
                at = f" at {100 * share:.0f} %" if share else ""
                return f"It is stopped for now{at}. What it has learnt is kept."
            case "done":
                return f"It is done: right on {right} of the images that were put aside." if right else "It is done."
            case "failed":
                failed = next(job for job in jobs.values() if job.state is State.FAILED)
                return f"It could not be finished. {failed.reason}".strip()
            case _:
                return "It was ended before it was done."

    def _so_far(self, train: Job, right: str) -> str:
        """How good it is; of too few labels none can be kept to judge by: then how far its answers have settled."""
        if right:
            return f", right on {right} so far"
        settled = self._queue.metrics(train.id, ("unchanged",))
        return f", {share_in_words(settled[-1].value)} of its answers no longer change" if len(settled) > 1 else ""

    def _is_usual(self, jobs: Mapping[str, Job]) -> bool:
        """Whether it is as long as trainings are that nobody has set anything for."""
        params, usual = jobs["train"].spec.params, self._models.training_defaults()
        return not params.get("epochs") and int(params.get("steps", usual.steps)) <= usual.steps

    def _behind(self, jobs: Mapping[str, Job]) -> int:
        """How many pieces of work come before it: those that run, and those that wait longer."""
        mine = next(job for job in jobs.values() if not job.state.ended)
        states = [State.WAITING, State.STARTING, State.RUNNING, State.STOPPING]
        others = [job for job in self._queue.list(states=states, order="queue", limit=_MANY) if job.flow != mine.flow]
        before = [job for job in others if job.state.active or (job.position < mine.position and not job.paused)]
        return len({job.flow or job.id for job in before})

    def _left(self, jobs: Mapping[str, Job]) -> float | None:
        train = jobs["train"]
        if train.state.ended:
            return None
        measured = self._queue.metrics(train.id, ("loss",))[-_RECENT:]
        each = _seconds_each(measured) or seconds_a_step(self._queue, train.spec.params)
        total = train.step_total or int(train.spec.params.get("steps", self._models.training_defaults().steps))
        return each * (total - train.step_now) * _AFTERWARDS if each else None


def _did_without(job: Job) -> bool:
    return job.step in _SPARE and job.state in (State.FAILED, State.CANCELLED)


def in_words(seconds: float) -> str:
    """How long, no more exactly than anybody can know: '20 seconds', '6 minutes', '2 hours'."""
    if seconds < 55:
        return f"{max(10 * round(seconds / 10), 10)} seconds"
    for size, unit, most in ((60.0, "minute", 90), (3600.0, "hour", 48)):
        count = max(round(seconds / size), 1)
        if count < most:
            return f"{count} {unit}{'' if count == 1 else 's'}"
    return f"{round(seconds / 86400)} days"


def share_in_words(share: float) -> str:
    """A share of images, no more exactly than a few of them can tell: '57 %'; '99.6 %' and '0.4 %', not all or none."""
    whole = f"{100 * share:.0f} %"
    return whole if share in (0.0, 1.0) or whole not in ("0 %", "100 %") else f"{100 * share:.1f} %"


def _waiting(behind: int, seconds: float | None, *, usual: bool) -> str:
    known = f"it will take about {in_words(seconds)}" if seconds is not None else ""
    takes = known or (_USUALLY if usual else "")
    if not behind:
        return f"It begins in a moment; {takes}." if takes else "It begins in a moment."
    others = "1 other piece of work" if behind == 1 else f"{behind} other pieces of work"
    return f"It is queued behind {others}; {takes} once it begins." if takes else f"It is queued behind {others}."


def _stage(jobs: Sequence[Job]) -> Stage:
    states = {job.state for job in jobs}
    if any(job.paused or job.pausing for job in jobs):
        return "stopped"
    for state, stage in ((State.FAILED, "failed"), (State.CANCELLED, "cancelled")):
        if state in states:
            return stage  # type: ignore[return-value]
    if states == {State.DONE}:
        return "done"
    learnt = any(job.step == "train" and job.state is State.DONE for job in jobs)
    return "running" if learnt or any(state.active for state in states) else "waiting"


def _share(jobs: Mapping[str, Job]) -> float:
    def done(job: Job) -> float:
        if job.state is State.DONE:
            return 1.0
        return min(job.step_now / job.step_total, 1.0) if job.step_total > 0 else 0.0

    return sum(_PARTS[step] * done(job) for step, job in jobs.items()) / sum(_PARTS[step] for step in jobs)


def _seconds_each(measured: Sequence[Metric]) -> float:
    if len(measured) < 2 or measured[-1].step <= measured[0].step:
        return 0.0
    return (measured[-1].at - measured[0].at) / (measured[-1].step - measured[0].step)
