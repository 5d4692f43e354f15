"""From a job to an attempt: the inputs that it waits for, its key, the store's answer, or a folder to run in."""

import json
import logging
import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from seedbed.assets.store.bundle import Bundle, Draft, DraftArray, Lineage
from seedbed.assets.store.contexts import Contexts
from seedbed.assets.store.store import Store
from seedbed.base.errors import Failed, NotFound, SeedbedError
from seedbed.base.files import says_when_full, write_atomically
from seedbed.base.ids import new_id
from seedbed.flows.keys import code_of, key_of, key_of_output, threads_of
from seedbed.flows.naming import name_of_output
from seedbed.flows.step import Step
from seedbed.flows.steps import STEPS
from seedbed.runtime.jobs.launcher import Answered, Prepared
from seedbed.runtime.jobs.queue import Queue
from seedbed.runtime.jobs.records import Job
from seedbed.runtime.jobs.spec import JobSpec

_log = logging.getLogger(__name__)
_THREADS = ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMEXPR_NUM_THREADS")


class StepLauncher:
    """Prepares attempts of steps; what the scheduler knows as its Launcher."""

    def __init__(self, store: Store, queue: Queue, surroundings: Mapping[str, str] | None = None) -> None:
        """`surroundings`: variables that every worker finds in its environment."""
        self._store = store
        self._queue = queue
        self._surroundings = dict(surroundings or {})

    def prepare(self, job: Job, fence: int, folder: Path) -> Prepared | Answered:
        """Answer from the store where the key is known, else lay out the inputs and write attempt.json."""
        try:
            with says_when_full(folder):
                return self._prepare(job, fence, folder)
        except SeedbedError:
            raise
        except Exception as error:  # whatever a job brings along ends that job, and not the scheduler's turn
            _log.exception("Job %s could not be prepared.", job.id)
            raise Failed(f"It could not be prepared: {type(error).__name__}: {error}.") from error

    def _prepare(self, job: Job, fence: int, folder: Path) -> Prepared | Answered:
        spec = job.spec
        step = STEPS.get(spec.step)
        inputs = {name: self._bundle(name, uuid) for name, uuid in self._queue.resolve(job).items()}
        if problems := step.inputs_problems({name: bundle.kind for name, bundle in inputs.items()}):
            raise Failed("The job's inputs do not fit its step.", problems=problems)
        code = code_of(step)
        key = key_of(
            step,
            step.check_params(spec.params),
            {name: bundle.digest for name, bundle in inputs.items()},
            seed=spec.seed,
            resources=spec.resources,
            code=code,
        )
        found = self._known(step, key)
        answer = _Answer(self._store, job, step, code, {name: bundle.uuid for name, bundle in inputs.items()})
        if len(found) == len(step.outputs) and not spec.again:
            return answer.of(found, key)
        if found and (spec.again or not all(answer.fits(name, bundle) for name, bundle in found.items())):
            key = ""  # the first published result keeps the key
        known = {name: bundle.uuid for name, bundle in found.items()} if key else {}
        for name, bundle in inputs.items():
            self._store.checkout(bundle, folder / "inputs" / name, links=True)
        self._write(job, fence, folder, inputs, key=key, code=code, known=known)
        return Prepared(
            command=[sys.executable, "-m", "seedbed.flows.worker", str(folder)],
            environment={**self._surroundings, **_environment(spec)},
            key=key,
        )

    def _bundle(self, name: str, uuid: str) -> Bundle:
        try:
            return self._store.get(uuid)
        except NotFound:
            raise Failed(f"Input '{name}' was the bundle {uuid}, which has been deleted.") from None

    def _known(self, step: Step, key: str) -> dict[str, Bundle]:
        found = {output: self._store.by_key(key_of_output(key, output)) for output in step.outputs}
        return {output: bundle for output, bundle in found.items() if bundle}

    def _write(
        self,
        job: Job,
        fence: int,
        folder: Path,
        inputs: Mapping[str, Bundle],
        *,
        key: str,
        code: str,
        known: Mapping[str, str],
    ) -> None:
        facts = {
            "job": job.id,
            "fence": fence,
            "name": job.name,
            "step": job.spec.step,
            "params": dict(job.spec.params),
            "seed": job.spec.seed,
            "inputs": {name: f"inputs/{name}" for name in inputs},
            "project": job.project,
            "key": key,
            "code": code,
            "known": dict(known),
        }
        write_atomically(folder / "attempt.json", json.dumps(facts, indent=2).encode())


@dataclass(frozen=True)
class _Answer:
    """What a job is answered with when the store knows its results: bundles in the job's own place.

    A result may have been made in another project, which the owner of this job may not see, or under another name.
    Then the job gets a copy, which shares the stored bytes: in its project, under its name, made from its own inputs.
    """

    store: Store
    job: Job
    step: Step
    code: str
    inputs: Mapping[str, str]

    def fits(self, output: str, bundle: Bundle) -> bool:
        """Whether a bundle is where this job would have put it."""
        return (bundle.project, bundle.name) == (self.job.project, self._name(output))

    def of(self, found: Mapping[str, Bundle], key: str) -> Answered:
        """The answer; bundles that there are join the context in use."""
        outputs: dict[str, str] = {}
        copies: dict[str, Draft] = {}
        for output in sorted(found, key=lambda name: bool(self.step.outputs[name].derived_from)):  # sources first
            bundle, lineage = found[output], self._lineage(output, outputs)
            mine = bundle if self.fits(output, bundle) else self._copied_before(output, bundle, lineage)
            if mine is None:
                copies[output] = self._copy(output, bundle, lineage)
            outputs[output] = mine.uuid if mine else copies[output].uuid
        Contexts(self.store).add(self.store.current_context(), outputs.values())
        return Answered(outputs, key, copies)

    def _name(self, output: str) -> str:
        return name_of_output(self.job.name, self.step.name, output)

    def _lineage(self, output: str, made: Mapping[str, str]) -> Lineage:
        source = self.step.outputs[output].derived_from
        used = ((source, made[source]),) if source in made else tuple(self.inputs.items())
        return Lineage(self.step.name, dict(self.job.spec.params), used, self.code, self.job.id)

    def _copied_before(self, output: str, bundle: Bundle, lineage: Lineage) -> Bundle | None:
        """The newest of that name, if it has this very content and was made from the same bundles."""
        newest = self.store.find(self._name(output), kind=bundle.kind, project=self.job.project, limit=1)
        same = [
            each
            for each in newest
            if (each.digest, each.lineage.step, each.lineage.inputs) == (bundle.digest, lineage.step, lineage.inputs)
        ]
        return same[0] if same else None

    def _copy(self, output: str, bundle: Bundle, lineage: Lineage) -> Draft:
        return Draft(
            name=self._name(output),
            kind=bundle.kind,
            arrays={name: DraftArray(array.type, array.items) for name, array in bundle.arrays.items()},
            lineage=lineage,
            derived=bundle.derived,
            project=self.job.project,
            uuid=new_id(),
        )


def _environment(spec: JobSpec) -> dict[str, str]:
    threads = str(threads_of(spec.resources))
    environment = dict.fromkeys(_THREADS, threads)
    environment["OMP_WAIT_POLICY"] = "PASSIVE"  # threads that spin while they wait starve each other on a busy machine
    if not spec.resources.gpus:
        environment["CUDA_VISIBLE_DEVICES"] = ""  # the key says that it was made on the CPU
    if "PYTHONPATH" in os.environ:
        environment["PYTHONPATH"] = os.environ["PYTHONPATH"]
    return environment
