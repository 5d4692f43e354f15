"""Job files."""

import json
from pathlib import Path

import pytest

from seedbed.base.errors import InvalidInput, NotFound
from seedbed.base.resources import Resources
from seedbed.flows.jobfile import load_job_file, parse_jobs, parse_tables
from seedbed.runtime.jobs.spec import JobClass


def test_one_job_is_a_table(tmp_path: Path) -> None:
    path = tmp_path / "job.yaml"
    path.write_text(
        "step: sleep-and-count\nname: mine\nclass: te\nseed: 3\nparams: {steps: 4}\n"
        "resources: {cpus: 0.5, memory: 512M}\ngrace: 5\nretries: 0\n"
    )
    (spec,) = load_job_file(path)
    assert (spec.step, spec.name, spec.cls, spec.seed) == ("sleep-and-count", "mine", JobClass.TE, 3)
    assert spec.params == {"steps": 4} and spec.grace == 5 and spec.retries == 0
    assert spec.resources == Resources(cpus=0.5, memory=512 << 20)


def test_several_jobs_refer_to_each_other_by_name() -> None:
    first, second = parse_jobs(
        "jobs:\n  - {step: ingest, name: a, params: {source: /images}}\n"
        "  - {step: decode, name: b, inputs: {data: 'job:a/data'}, after: [a]}\n"
    )
    assert second.inputs == {"data": "job:a/data"} and second.after == ("a",) and first.inputs == {}


def test_every_mistake_is_told_at_once() -> None:
    text = (
        "jobs:\n  - {stpe: ingest, resources: {cpus: many}}\n"
        "  - {step: decode, class: urgent, params: [1], resources: {memory: 3 bananas}}\n"
    )
    with pytest.raises(InvalidInput) as caught:
        parse_jobs(text, where="jobs.yaml")
    told = "\n".join(caught.value.problems)
    parts = ["'stpe' is not a field of a job. Did you mean 'step'", "'step' is missing: name the step to run."]
    parts += ["'class' is 'urgent'", "'params' is [1]", "'3 bananas' is not an amount of memory", "'resources.cpus'"]
    assert all(part in told for part in parts), told
    assert "job 1: " in told and "job 2: " in told


@pytest.mark.parametrize("text", ["", "just words", "jobs: []", "jobs: {a: 1}", "- 1", "a: [", "jobs:\n - 3\n"])
def test_what_is_no_job_file_is_refused_in_words(text: str) -> None:
    with pytest.raises(InvalidInput, match="job"):
        parse_jobs(text)


def test_a_file_that_is_not_there_is_named(tmp_path: Path) -> None:
    with pytest.raises(NotFound, match=r"none\.yaml"):
        load_job_file(tmp_path / "none.yaml")


def test_python_objects_are_not_made_from_yaml() -> None:
    with pytest.raises(InvalidInput, match="not valid YAML"):
        parse_jobs("step: !!python/object/apply:os.getcwd []")


@pytest.mark.parametrize(
    "field", ["grace: soon", "retries: -1", "seed: x", "again: perhaps", "timeout: .inf", "after: a"]
)
def test_a_field_of_the_wrong_type_is_told_and_not_carried_on(field: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_jobs(f"step: decode\n{field}\n")
    (problem,) = caught.value.problems
    assert problem.startswith(f"'{field.partition(':')[0]}' is ")


@pytest.mark.parametrize(
    ("text", "place"),
    [("step: a\n  params: [", "line 2, column 9"), ("a: [1,\nb: }", "line 2"), ("\tstep: a", "line 1")],
)
def test_what_is_no_yaml_is_told_in_one_sentence_with_its_place(text: str, place: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        parse_jobs(text, where="jobs.yaml")
    message = caught.value.message
    assert message.startswith(f"jobs.yaml is not valid YAML: {place}") and message.endswith(".")
    assert "\n" not in message and "<unicode string>" not in message


def test_tables_are_what_json_can_say_whatever_yaml_has() -> None:
    text = "step: a\nparams: {day: 2024-05-01, far: .inf, some: !!set {x}, 3: null}\nclass: te\n"
    (table,) = parse_tables(text)
    assert table == {
        "step": "a",
        "params": {"day": "2024-05-01", "far": "inf", "some": ["x"], "3": None},
        "class": "te",
    }
    assert json.loads(json.dumps(table, allow_nan=False)) == table
