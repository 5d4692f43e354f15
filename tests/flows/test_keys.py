"""Equal keys mean equal results; whatever changes a result changes the key."""

import importlib
import sys
from pathlib import Path

import pytest

from seedbed.base.errors import NotFound
from seedbed.base.resources import Resources
from seedbed.base.run import RunContext
from seedbed.flows.keys import code_of, key_of, key_of_output
from seedbed.flows.kinds.models import Report
from seedbed.flows.step import Params, Step, step
from seedbed.flows.steps import STEPS


@pytest.fixture
def methods(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    package = tmp_path / "some_methods"
    package.mkdir()
    (package / "__init__.py").write_text("")
    (package / "inner.py").write_text("def f(): return 1\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    importlib.invalidate_caches()
    yield package
    sys.modules.pop("some_methods", None)


def declare(**more: object) -> Step:
    @step("some", **more)  # type: ignore[arg-type]
    def some(params: Params, run: RunContext) -> Report:
        raise NotImplementedError

    return some


def test_defaults_that_are_spelt_out_are_the_same_parameters() -> None:
    counting = STEPS.get("sleep-and-count")
    spelt = counting.check_params({"steps": 10, "seconds_per_step": 1.0})
    assert key_of(counting, spelt, {}) == key_of(counting, counting.check_params({}), {})


def test_parameters_inputs_and_their_names_change_the_key() -> None:
    train = STEPS.get("train")
    params = train.check_params({})
    keys = {
        key_of(train, params, {"decoded": "a", "labels": "b"}),
        key_of(train, params, {"decoded": "b", "labels": "a"}),
        key_of(train, params, {"decoded": "a", "labels": "b", "holdout": "c"}),
        key_of(train, train.check_params({"steps": 7}), {"decoded": "a", "labels": "b"}),
    }
    assert len(keys) == 4


def test_the_seed_counts_only_where_a_step_draws() -> None:
    train, export = STEPS.get("train"), STEPS.get("export")
    assert key_of(train, train.check_params({}), {}, seed=1) != key_of(train, train.check_params({}), {}, seed=2)
    assert key_of(export, export.check_params({}), {}, seed=1) == key_of(export, export.check_params({}), {}, seed=2)


def test_threads_and_device_count_only_where_they_change_the_numbers() -> None:
    one, two, gpu = Resources(cpus=1), Resources(cpus=2), Resources(cpus=2, gpus=1)
    train, ingest = STEPS.get("train"), STEPS.get("ingest")
    params = train.check_params({})
    assert len({key_of(train, params, {}, resources=some) for some in (one, two, gpu)}) == 3
    given = ingest.check_params({})
    assert len({key_of(ingest, given, {}, resources=some) for some in (one, two, gpu)}) == 1


def test_a_changed_source_of_a_declared_method_changes_the_key_without_a_restart(methods: Path) -> None:
    some = declare(methods=("some_methods",))
    before = code_of(some)
    assert code_of(some) == before
    (methods / "inner.py").write_text("def f(): return 2.5\n")
    changed = code_of(some)
    assert changed != before
    (methods / "another.py").write_text("")
    assert code_of(some) != changed


def test_a_method_that_is_not_declared_does_not_count(methods: Path) -> None:
    some = declare()
    before = code_of(some)
    (methods / "inner.py").write_text("def f(): return 3\n")
    assert code_of(some) == before


def test_a_declared_method_that_does_not_exist_is_told() -> None:
    with pytest.raises(NotFound, match="no_such_module"):
        code_of(declare(methods=("no_such_module.inner",)))


def test_what_a_step_reads_outside_the_store_counts(tmp_path: Path) -> None:
    ingest = STEPS.get("ingest")
    (tmp_path / "a.jpg").write_bytes(b"1")
    params = ingest.check_params({"source": str(tmp_path)})
    before = key_of(ingest, params, {})
    assert key_of(ingest, params, {}) == before
    (tmp_path / "b.jpg").write_bytes(b"2")
    assert key_of(ingest, params, {}) != before


def test_outputs_have_keys_of_their_own() -> None:
    assert key_of_output("k", "data") != key_of_output("k", "decoded") != key_of_output("l", "decoded")
