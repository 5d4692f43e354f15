"""The worker: does one attempt of a job in its folder, and sees nothing else of the platform.

Run as `python -m seedbed.flows.worker FOLDER`. Exit code 0: the outbox is complete; 75: stopped after a checkpoint,
because it was asked to; anything else: failed, and error.json says why.
"""

import json
import shutil
import signal
import sys
import traceback
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from seedbed.assets.store.bundle import Lineage
from seedbed.base.errors import Failed, SeedbedError, Unavailable
from seedbed.base.files import write_atomically
from seedbed.base.ids import new_id
from seedbed.base.run import FolderRun, Stopped
from seedbed.flows.keys import code_of, key_of_output
from seedbed.flows.kinds.kind import Kind
from seedbed.flows.naming import name_of_output
from seedbed.flows.step import Step
from seedbed.flows.steps import STEPS

DONE, FAILED, STOPPED = 0, 1, 75


@dataclass(frozen=True)
class Attempt:
    """What attempt.json says."""

    job: str
    fence: int
    step: str
    params: Mapping[str, Any]
    seed: int
    inputs: Mapping[str, str]
    project: str
    key: str
    code: str
    name: str = ""
    known: Mapping[str, str] = field(default_factory=dict)  # outputs that the store has already: name -> uuid

    @classmethod
    def read(cls, folder: Path) -> "Attempt":
        """Of an attempt's folder."""
        return cls(**json.loads((folder / "attempt.json").read_text()))


def main(arguments: list[str]) -> int:
    """Do the attempt in the folder that is named; returns the exit code."""
    folder = Path(arguments[0])
    try:
        attempt = Attempt.read(folder)
        resume = folder / "resume"
        run = FolderRun(folder, seed=attempt.seed, resume=resume if resume.is_dir() else None)
        signal.signal(signal.SIGTERM, lambda _number, _frame: run.ask_to_stop())
        _do(attempt, folder, run)
    except Stopped:
        return STOPPED
    except SeedbedError as error:
        _explain(folder, error)
        return FAILED
    except Exception as error:
        # not one of ours: nobody knows whether it would happen again, so the job may be tried again
        _explain(folder, SeedbedError(_in_words(error), hint="The log has the place in the code."))
        raise
    return DONE


def _do(attempt: Attempt, folder: Path, run: FolderRun) -> None:
    step = STEPS.get(attempt.step)
    if attempt.code and attempt.code != code_of(step):
        raise Unavailable(
            f"The source of step '{step.name}' has changed since this attempt was prepared.",
            hint="It is prepared anew.",
        )
    inputs = {name: _open(step, name, folder / place) for name, place in attempt.inputs.items()}
    made = step.body(**inputs, params=step.check_params(attempt.params), run=run)
    outputs = {next(iter(step.outputs)): made} if isinstance(made, Kind) else dict(made)
    _check_outputs(step, outputs)
    _fill_outbox(step, attempt, outputs, inputs, folder)


def _open(step: Step, name: str, place: Path) -> Kind:
    kind = Kind.kind_in(place)
    if problems := [problem for problem in step.inputs_problems({name: kind}) if f"'{name}'" in problem]:
        raise Failed(problems[0])
    slot = step.slot(name)
    assert slot is not None  # else there was a problem
    return next(allowed for allowed in slot.kinds if allowed.kind == kind).open(place)


def _check_outputs(step: Step, outputs: Mapping[str, Any]) -> None:
    if {name: type(value) for name, value in outputs.items()} != dict(step.outputs):
        made = ", ".join(f"{name}: {type(value).__name__}" for name, value in outputs.items())
        declared = ", ".join(f"{name}: {kind.__name__}" for name, kind in step.outputs.items())
        raise Failed(f"Step '{step.name}' made ({made}), but declares ({declared}).")


def _fill_outbox(
    step: Step, attempt: Attempt, outputs: Mapping[str, Kind], inputs: Mapping[str, Kind], folder: Path
) -> None:
    outbox = folder / "outbox"
    outbox.mkdir(exist_ok=True)
    uuids = {name: attempt.known.get(name) or new_id() for name in outputs}
    used = tuple((name, value.uuid) for name, value in inputs.items())
    for name, output in outputs.items():
        place = outbox / name
        shutil.move(output.folder, place)
        source = output.derived_from
        # a cache of what this very step made goes with that alone, not with what that was made from
        made_from = ((source, uuids[source]),) if source in uuids else used
        draft = output.at(place).draft(
            name=output.name or name_of_output(attempt.name, step.name, name),
            key=key_of_output(attempt.key, name) if attempt.key else "",
            lineage=Lineage(step.name, dict(attempt.params), made_from, attempt.code, attempt.job),
            project=attempt.project,
        )
        replace(draft, uuid="" if name in attempt.known else uuids[name]).write(place)
    write_atomically(outbox / "done.json", json.dumps({"outputs": sorted(outputs)}).encode())


def _in_words(error: Exception) -> str:
    return f"{type(error).__name__}: {error}".rstrip(": ") + "."


def _explain(folder: Path, error: SeedbedError) -> None:
    facts = {
        "message": error.in_a_line(),
        "hint": error.hint,
        "problems": list(error.problems),
        "code": error.code,
        "traceback": traceback.format_exc(),
    }
    write_atomically(folder / "error.json", json.dumps(facts).encode())


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
