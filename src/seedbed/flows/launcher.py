"""From a job to an attempt: the inputs that it waits for, its key, the store's answer, or a folder to run in."""

import json
import logging
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from seedbed.assets.store.bundle import Bundle
from seedbed.assets.store.store import Store
from seedbed.base.errors import Failed, NotFound, SeedbedError
from seedbed.base.files import says_when_full, write_atomically
from seedbed.flows.keys import code_of, key_of, key_of_output, threads_of
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

    def __init__(self, store: Store, queue: Queue) -> None:
        self._store = store
        self._queue = queue

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
        known = self._known(step, key)
        if len(known) == len(step.outputs) and not spec.again:
            return Answered(outputs=known, key=key)
        if spec.again and known:
            key = ""  # the first published result keeps the key
        for name, bundle in inputs.items():
            self._store.checkout(bundle, folder / "inputs" / name, links=True)
        self._write(job, fence, folder, inputs, key=key, code=code, known=known if key else {})
        return Prepared(
            command=[sys.executable, "-m", "seedbed.flows.worker", str(folder)], environment=_environment(spec), key=key
        )

    def _bundle(self, name: str, uuid: str) -> Bundle:
        try:
            return self._store.get(uuid)
        except NotFound:
            raise Failed(f"Input '{name}' was the bundle {uuid}, which has been deleted.") from None

    def _known(self, step: Step, key: str) -> dict[str, str]:
        found = {output: self._store.by_key(key_of_output(key, output)) for output in step.outputs}
        return {output: bundle.uuid for output, bundle in found.items() if bundle}

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


def _environment(spec: JobSpec) -> dict[str, str]:
    threads = str(threads_of(spec.resources))
    environment = dict.fromkeys(_THREADS, threads)
    environment["OMP_WAIT_POLICY"] = "PASSIVE"  # threads that spin while they wait starve each other on a busy machine
    if not spec.resources.gpus:
        environment["CUDA_VISIBLE_DEVICES"] = ""  # the key says that it was made on the CPU
    if "PYTHONPATH" in os.environ:
        environment["PYTHONPATH"] = os.environ["PYTHONPATH"]
    return environment
