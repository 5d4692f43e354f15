"""One attempt in its folder: exit codes, what is left behind, and what a worker does not load."""

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from seedbed.assets.store.bundle import Draft
from seedbed.base.errors import InvalidInput
from seedbed.flows.keys import code_of, key_of, key_of_output
from seedbed.flows.kinds.labels import Labels
from seedbed.flows.platform import Platform
from seedbed.flows.steps import STEPS


def attempt(folder: Path, step: str, params: Mapping[str, Any], **more: Any) -> Path:
    found = STEPS.get(step)
    facts = {
        "job": "j",
        "fence": 1,
        "name": f"some.{step}",
        "step": step,
        "params": params,
        "seed": 5,
        "inputs": {},
        "project": "p",
        "key": "k",
        "code": code_of(found),
        **more,
    }
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "attempt.json").write_text(json.dumps(facts))
    return folder


def work(folder: Path) -> subprocess.Popen[bytes]:
    command = [sys.executable, "-m", "seedbed.flows.worker", str(folder)]
    with (folder / "log.txt").open("wb") as log:
        return subprocess.Popen(command, stdout=log, stderr=log)


def error_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "error.json").read_text())
    return found


def test_a_finished_attempt_leaves_a_complete_outbox(tmp_path: Path) -> None:
    folder = attempt(tmp_path / "a", "sleep-and-count", {"steps": 3, "seconds_per_step": 0})
    assert work(folder).wait(60) == 0
    assert json.loads((folder / "outbox" / "done.json").read_text()) == {"outputs": ["count"]}
    draft = Draft.read(folder / "outbox" / "count")
    assert (draft.name, draft.kind, draft.project) == ("some.count", "count", "p")
    assert draft.key == key_of_output("k", "count")
    assert (draft.lineage.step, draft.lineage.job) == ("sleep-and-count", "j")
    lines = [json.loads(line) for line in (folder / "metrics.jsonl").read_text().splitlines()]
    assert [line["values"]["count"] for line in lines] == [1, 2, 3]


def test_an_attempt_that_is_asked_to_stop_keeps_a_checkpoint_and_the_next_goes_on_from_it(tmp_path: Path) -> None:
    params = {"steps": 1000, "seconds_per_step": 0.02, "checkpoint_every": 1000}
    folder = attempt(tmp_path / "a", "sleep-and-count", params)
    process = work(folder)
    metrics = folder / "metrics.jsonl"
    while process.poll() is None and not (metrics.exists() and len(metrics.read_text().splitlines()) > 3):
        time.sleep(0.02)
    process.send_signal(signal.SIGTERM)
    assert process.wait(60) == 75
    (kept,) = (folder / "checkpoints").iterdir()
    done = int((kept / "count.txt").read_text())
    assert done >= 3 and not (folder / "outbox").exists()
    following = attempt(tmp_path / "b", "sleep-and-count", {"steps": done + 1, "seconds_per_step": 0})
    kept.rename(following / "resume")
    assert work(following).wait(60) == 0
    first = json.loads((following / "metrics.jsonl").read_text().splitlines()[0])
    assert first["step"] == done + 1


def test_a_mistake_is_told_in_a_sentence_with_a_hint(tmp_path: Path) -> None:
    folder = attempt(tmp_path / "a", "publish-files", {"paths": [str(tmp_path / "none.txt")]})
    assert work(folder).wait(60) == 1
    told = error_of(folder)
    assert told["message"].startswith("The files cannot be published: ") and told["code"] == "invalid-input"
    assert told["problems"] == [f"{tmp_path / 'none.txt'} is not there."]
    assert not (folder / "outbox").exists()


def test_an_unexpected_error_is_told_with_its_place_in_the_code(tmp_path: Path) -> None:
    folder = attempt(tmp_path / "a", "sleep-and-count", {"steps": 1, "seconds_per_step": 0})
    (folder / "metrics.jsonl").mkdir()
    assert work(folder).wait(60) not in (0, 75)
    told = error_of(folder)
    assert told["code"] == "error" and told["message"].startswith("IsADirectoryError")
    assert "sleep_and_count" in told["traceback"] and "Traceback" in (folder / "log.txt").read_text()


def test_source_that_changed_since_the_attempt_was_prepared_is_not_run(tmp_path: Path) -> None:
    folder = attempt(tmp_path / "a", "sleep-and-count", {"steps": 1}, code="of yesterday")
    assert work(folder).wait(60) == 1
    assert "has changed" in error_of(folder)["message"] and error_of(folder)["code"] == "unavailable"


def test_an_input_of_the_wrong_kind_is_refused_by_name(tmp_path: Path, platform: Platform) -> None:
    bundle = platform.store.publish(Labels.write(tmp_path / "made", {"a": "b"}).draft(name="few"))
    folder = attempt(tmp_path / "a", "decode", {}, inputs={"data": "inputs/data"})
    platform.store.checkout(bundle, folder / "inputs" / "data", links=True)
    assert work(folder).wait(60) == 1
    assert error_of(folder)["message"] == (
        "input 'data' of step 'decode' was given a bundle of kind 'labels'; it takes 'data-set'."
    )


def test_a_cache_that_a_step_makes_beside_a_data_set_is_derived_from_that_alone(tmp_path: Path, leaves: Path) -> None:
    folder = attempt(tmp_path / "a", "ingest", {"source": str(leaves), "size": 16})
    assert work(folder).wait(60) == 0
    data, decoded = (Draft.read(folder / "outbox" / name) for name in ("data", "decoded"))
    assert decoded.derived and decoded.lineage.inputs == (("data", data.uuid),)
    assert not data.derived and data.name == "some" and decoded.name == "some.decoded"
    assert len(data.arrays["images"].items) == 60


def test_a_data_set_that_the_store_has_already_is_what_its_new_cache_belongs_to(tmp_path: Path, leaves: Path) -> None:
    known = "01936d2e-7a10-7c3e-9d51-0c6a5f3a7b21"
    folder = attempt(tmp_path / "a", "ingest", {"source": str(leaves), "size": 16}, known={"data": known})
    assert work(folder).wait(60) == 0
    assert Draft.read(folder / "outbox" / "decoded").lineage.inputs == (("data", known),)
    assert Draft.read(folder / "outbox" / "data").uuid == ""


def test_ingest_goes_on_where_it_was_stopped(tmp_path: Path, leaves: Path) -> None:
    folder = attempt(tmp_path / "a", "ingest", {"source": str(leaves), "size": 16})
    environment = {**os.environ, "PYTHONPATH": str(Path(__file__).parents[2] / "src")}
    # stopped from the first moment on: after each batch it looks whether it should go on
    stopped = (
        "import sys; from pathlib import Path; from seedbed.base.run import FolderRun, Stopped\n"
        "from seedbed.flows.steps import STEPS\n"
        "import seedbed.assets.data.ingest as module; module._BATCH = 16\n"
        f"run = FolderRun(Path({str(folder)!r})); run.ask_to_stop(); step = STEPS.get('ingest')\n"
        f"params = step.check_params({{'source': {str(leaves)!r}, 'size': 16}})\n"
        "try: step.body(params=params, run=run)\n"
        "except Stopped: sys.exit(75)\n"
    )
    assert subprocess.run([sys.executable, "-c", stopped], env=environment, check=False).returncode == 75
    (kept,) = (folder / "checkpoints").iterdir()
    assert int(kept.name) == 16
    following = attempt(tmp_path / "b", "ingest", {"source": str(leaves), "size": 16})
    kept.rename(following / "resume")
    assert work(following).wait(60) == 0
    reports = [json.loads(line) for line in (following / "metrics.jsonl").read_text().splitlines()]
    assert reports[0]["step"] == 16 and reports[-1]["step"] == 60
    assert len(Draft.read(following / "outbox" / "data").arrays["images"].items) == 60


def test_neither_the_platform_nor_a_plain_worker_loads_what_is_heavy() -> None:
    code = (
        "import sys\n"
        "import seedbed.flows.platform, seedbed.flows.worker\n"
        "from seedbed.flows.steps import STEPS\n"
        "from seedbed.flows.listing import listing\n"
        "[STEPS.get(name).check_params({}) for name in ('train', 'evaluate', 'ingest', 'sleep-and-count')]\n"
        "assert listing()['algorithms'] and listing()['cards']\n"
        "heavy = {'torch', 'torchvision', 'timm', 'sklearn', 'onnxruntime'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_a_plain_worker_starts_without_the_database_and_without_numpy() -> None:
    code = (
        "import sys, seedbed.flows.worker\n"
        "from seedbed.flows.steps import STEPS\n"
        "STEPS.get('sleep-and-count')\n"
        "heavy = {'sqlalchemy', 'numpy', 'torch', 'fastapi'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("step", ["sleep-and-count", "publish-files"])
def test_the_key_does_not_depend_on_the_process(step: str) -> None:
    found = STEPS.get(step)
    params = {"paths": ["/nowhere"]} if step == "publish-files" else {}
    code = (
        "from seedbed.flows.keys import key_of; from seedbed.flows.steps import STEPS\n"
        f"s = STEPS.get({step!r}); print(key_of(s, s.check_params({params!r}), {{}}, seed=1), end='')"
    )
    other = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert other == key_of(found, found.check_params(params), {}, seed=1)


def test_several_problems_are_told_as_one_sentence(tmp_path: Path) -> None:
    told = InvalidInput("The list cannot be used.", problems=["'a' is not there.", "'b' is not there"])
    assert told.in_a_line() == "The list cannot be used: 'a' is not there; 'b' is not there."
    many = InvalidInput("The list cannot be used.", problems=[f"{n} is missing." for n in range(9)])
    assert many.in_a_line(2) == "The list cannot be used: 0 is missing; 1 is missing; and more."
    assert InvalidInput("No.").in_a_line() == "No."
    paths = [str(tmp_path / name) for name in ("f0.png", "f1.png")]
    folder = attempt(tmp_path / "a", "publish-files", {"paths": paths})
    assert work(folder).wait(60) == 1
    message = error_of(folder)["message"]
    assert message == f"The files cannot be published: {paths[0]} is not there; {paths[1]} is not there."
