"""The commands, in process on a home of their own."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest

from seedbed.assets.store.leases import write_lease
from tests.faces.cli.conftest import Asked, Seedbed
from tests.faces.servers import environment, run


def test_a_job_runs_within_the_command_that_submits_it(asked: Asked) -> None:
    job = asked("jobs", "submit", "sleep-and-count", "-p", "steps=2", "-p", "seconds_per_step=0.05", "--name", "count")
    assert job["state"] == "done"
    assert asked("jobs", "show", job["id"][:20])["attempts"][0]["outcome"] == "done"
    assert asked("jobs", "list", "--state", "done")[0]["id"] == job["id"]
    log = asked("jobs", "logs", job["id"], "--follow")
    assert (log["job"], log["state"]) == (job["id"], "done") and log["offset"] == len(log["text"].encode())
    outputs = list(job["outputs"].values())
    assert asked("store", "show", outputs[0])["lineage"]["job"] == job["id"]


def test_an_unchanged_step_is_answered_without_a_second_attempt(asked: Asked) -> None:
    first = asked("jobs", "submit", "sleep-and-count", "-p", "steps=1", "-p", "seconds_per_step=0.01")
    second = asked("jobs", "rerun", first["id"])
    assert second["outputs"] == first["outputs"]


def test_who_ended_only_because_of_a_job_comes_back_with_it(asked: Asked, seedbed: Seedbed, tmp_path: Path) -> None:
    count = "{step: sleep-and-count, params: {steps: 1, seconds_per_step: 0}, again: true"
    file = tmp_path / "jobs.yaml"
    file.write_text(f"jobs:\n- {count}, name: one}}\n- {count}, name: two, after: [one]}}\n")
    one, two = asked("jobs", "submit", str(file), "--detach")
    asked("jobs", "cancel", one["id"], "--yes")
    rerun = asked("jobs", "rerun", one["id"])
    assert (rerun["state"], [(job["name"], job["state"]) for job in rerun["back"]]) == ("done", [("two", "done")])
    assert asked("jobs", "show", two["id"])["rerun_as"] == rerun["back"][0]["id"]


def test_a_job_killed_for_its_memory_names_the_command_that_gives_it_more(asked: Asked, seedbed: Seedbed) -> None:
    count = ("sleep-and-count", "-p", "steps=1", "-p", "seconds_per_step=1", "--name", "hungry", "--memory", "8M")
    done, commands = seedbed("jobs", "submit", *count), []
    while done.returncode and len(commands) < 4:  # each time it may have been killed on its way up
        (job,) = asked("jobs", "list", "--limit", "1")
        (command,) = re.findall(r"\(seedbed (jobs rerun \S+ --memory \S+)\)", job["reason"])
        assert job["name"] == "hungry" and job["id"] in command
        commands.append(command)
        done = seedbed(*command.split())
    assert commands and done.returncode == 0, done.stderr
    assert asked("jobs", "show", "hungry")["spec"]["resources"]["memory"] >= 16 << 20
    refused = seedbed("jobs", "rerun", "hungry", "--memory", "999T", "--again")
    assert refused.returncode and "which no machine here has" in refused.stderr
    refused = seedbed("jobs", "rerun", "hungry", "--memory", "0", "--timeout=-1")
    assert "memory: it must be 1 or more (given: 0)" in refused.stderr
    assert "timeout: it must be 0 or more (given: -1.0)" in refused.stderr


def test_a_job_file_is_submitted_whole(asked: Asked, tmp_path: Path) -> None:
    file = tmp_path / "job.yaml"
    file.write_text("name: from-file\nstep: sleep-and-count\nparams: {steps: 1, seconds_per_step: 0.01}\n")
    assert asked("jobs", "submit", str(file))["name"] == "from-file"


def test_a_detached_job_waits_in_the_queue_until_it_is_cancelled(asked: Asked, seedbed: Seedbed) -> None:
    job = asked("jobs", "submit", "sleep-and-count", "-p", "steps=9", "--again", "--detach")
    assert job["state"] == "waiting"
    refused = seedbed("jobs", "cancel", job["id"], input="n\n")
    assert refused.returncode != 0
    assert asked("jobs", "show", job["id"])["state"] == "waiting"
    assert asked("jobs", "cancel", job["id"], "--yes")["state"] == "cancelled"


def test_a_job_that_is_stopped_for_now_starts_only_once_it_may_go_on(asked: Asked, seedbed: Seedbed) -> None:
    job = asked("jobs", "submit", "sleep-and-count", "-p", "steps=1", "-p", "seconds_per_step=0", "--again", "--detach")
    refused = seedbed("jobs", "resume", job["id"])
    assert refused.returncode == 6 and "was not stopped for now" in refused.stderr
    stopped = asked("jobs", "pause", job["id"])
    assert stopped["state"] == "waiting" and stopped["reason"].startswith("Stopped by")
    said = seedbed("jobs", "pause", job["id"][:20]).stdout
    assert said.startswith(f"{job['id']} is waiting: Stopped by") and said.rstrip().endswith("for now.")
    asked("jobs", "submit", "sleep-and-count", "-p", "steps=1", "-p", "seconds_per_step=0", "--again")
    assert asked("jobs", "show", job["id"])["attempts"] == [], "others pass it by"
    assert asked("jobs", "resume", job["id"], "--detach")["reason"] == "Goes on as soon as there is room"
    asked("jobs", "pause", job["id"])
    assert asked("jobs", "resume", job["id"])["state"] == "done"
    assert seedbed("jobs", "pause", job["id"]).returncode == 6


def test_a_mistake_is_a_sentence_on_stderr_with_the_exit_code_of_the_error(seedbed: Seedbed) -> None:
    done = seedbed("jobs", "show", "none")
    assert done.returncode == 5
    assert done.stdout == ""
    assert "none" in done.stderr and "Traceback" not in done.stderr


def test_debug_shows_the_traceback(home: Path) -> None:
    assert "Traceback" in run(home, "jobs", "show", "none", SEEDBED_DEBUG="1").stderr


def test_every_mistake_of_a_submission_is_named(seedbed: Seedbed) -> None:
    done = seedbed("jobs", "submit", "sleep-and-count", "--grace", "-1", "--retries", "-1")
    assert done.returncode == 2
    assert "grace" in done.stderr and "retries" in done.stderr


def test_files_are_kept_found_tagged_and_removed(asked: Asked, seedbed: Seedbed, tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("bytes that will go")
    made = asked("store", "add", str(tmp_path / "a.txt"), "--name", "mine", "--tag", "season=wet")
    assert asked("store", "find", "--tag", "season=wet")[0]["uuid"] == made["uuid"]
    assert asked("store", "tag", "mine", "season=", "plot=7")["tags"] == {"plot": "7"}
    assert asked("store", "lineage", "mine")["nodes"]
    assert seedbed("store", "rm", "mine", input="n\n").returncode != 0
    asked("store", "rm", "mine", "--yes")
    assert seedbed("store", "show", made["uuid"]).returncode == 5


def test_rm_says_in_sentences_what_went_and_which_bytes_have_to_wait(
    seedbed: Seedbed, home: Path, tmp_path: Path
) -> None:
    (tmp_path / "c.txt").write_text("bytes that somebody may need")
    with write_lease(home / "leases"):
        seedbed("store", "add", str(tmp_path / "c.txt"), "--name", "held")
        done = seedbed("store", "rm", "held", "--yes")
    first, waiting = done.stdout.splitlines()
    assert first == "1 bundle removed for good; 0 files (0 B) freed."
    assert waiting.startswith("1 file (28 B) is still on disk, because") and waiting.endswith("seedbed store gc")


def test_contexts_are_made_used_pushed_and_pulled(asked: Asked, tmp_path: Path) -> None:
    (tmp_path / "b.txt").write_text("b")
    asked("context", "create", "away")
    asked("context", "remote", "away", str(tmp_path / "remote"))
    asked("context", "use", "away")
    asked("store", "add", str(tmp_path / "b.txt"), "--name", "travels")
    asked("store", "push", "away")
    assert any((tmp_path / "remote").rglob("*"))
    asked("store", "pull")
    assert [one["name"] for one in asked("context", "list") if one["current"]] == ["away"]
    asked("context", "use", "local")


def test_the_store_is_cleaned_and_verified(asked: Asked) -> None:
    assert isinstance(asked("store", "gc", "--dry-run"), dict)
    assert isinstance(asked("store", "verify"), dict)


def test_labels_come_in_from_a_csv_file_once(asked: Asked, seedbed: Seedbed, tmp_path: Path) -> None:
    asked("projects", "create", "leaves", "-c", "rust", "-c", "well")
    file = tmp_path / "labels.csv"
    file.write_text("image,label,place\na.jpg,rust,north\nb.jpg,well,south\n")
    assert asked("projects", "label", "import", "leaves", str(file)) == {"read": 2, "new": 2}
    assert asked("projects", "label", "import", "leaves", str(file)) == {"read": 2, "new": 0}
    for label in ("well", "rust"):  # a correction, and the correction taken back
        file.write_text(f"image,label\na.jpg,{label}\n")
        assert asked("projects", "label", "import", "leaves", str(file)) == {"read": 1, "new": 1}
    assert asked("projects", "show", "leaves")["classes"] == {"rust": 1, "well": 1}
    file.write_text("label,place\nrust,north\n")
    refused = seedbed("projects", "label", "import", "leaves", str(file))
    assert refused.returncode == 2 and "image or file" in refused.stderr and "label, place" in refused.stderr


@pytest.mark.parametrize("columns", ["file,class", "file,label", "image,class", "Image, Label"])
def test_labels_come_in_under_either_name_of_their_columns(asked: Asked, tmp_path: Path, columns: str) -> None:
    project = asked("projects", "create", f"columns {columns}", "-c", "rust")["id"]
    (tmp_path / "labels.csv").write_text(f"{columns}\na.jpg,rust\nb.jpg, rust\n")
    assert asked("projects", "label", "import", project, str(tmp_path / "labels.csv"))["new"] == 2
    assert asked("projects", "show", project)["classes"] == {"rust": 2}


def test_classes_are_renamed_and_removed_after_a_question(asked: Asked, seedbed: Seedbed, tmp_path: Path) -> None:
    asked("projects", "create", "changing", "-c", "rust", "-c", "well")
    (tmp_path / "labels.csv").write_text("file,class\na.jpg,rust\n")
    asked("projects", "label", "import", "changing", str(tmp_path / "labels.csv"))
    question = seedbed("projects", "rename-class", "changing", "rust", "leaf rust", input="n\n")
    assert question.returncode != 0 and "1 label" in question.stdout
    asked("projects", "rename-class", "changing", "rust", "leaf rust", "--yes")
    assert asked("projects", "show", "changing")["classes"] == {"leaf rust": 1, "well": 0}
    assert seedbed("projects", "remove-class", "changing", "leaf rust", "--yes").returncode == 6
    assert seedbed("projects", "remove-class", "changing", "leaf rust", "--with-labels", input="n\n").returncode != 0
    assert asked("projects", "show", "changing")["classes"] == {"leaf rust": 1, "well": 0}
    asked("projects", "remove-class", "changing", "leaf rust", "--with-labels", "--yes")
    assert asked("projects", "show", "changing")["classes"] == {"well": 0}


def test_classes_are_merged_and_changed_and_projects_set(asked: Asked, seedbed: Seedbed, tmp_path: Path) -> None:
    asked("projects", "create", "merging", "-c", "rust", "-c", "brown rust", "--other", "no leaf")
    (tmp_path / "labels.csv").write_text("file,class\na.jpg,rust\nb.jpg,brown rust\n")
    made = asked("labels", "import", "merging", str(tmp_path / "labels.csv"))
    assert (made["format"], made["read"], made["count"], made["classes_added"]) == ("csv", 2, 2, [])
    assert seedbed("projects", "merge-class", "merging", "rust", "brown rust", input="n\n").returncode != 0
    assert asked("projects", "merge-class", "merging", "rust", "brown rust", "--yes")["labels"] == 1
    assert asked("projects", "show", "merging")["classes"] == {"brown rust": 2, "no leaf": 0}
    assert asked("projects", "set-class", "merging", "no leaf", "--key", "n", "--colour", "#000000")["key"] == "n"
    assert seedbed("projects", "set-class", "merging", "no leaf").returncode == 2
    changed = asked("projects", "set", "merging", "--kind", "binary", "--goal", "5", "--no-grouping")
    assert (changed["kind"], changed["settings"]["goal"], changed["settings"]["grouping"]) == ("binary", 5, False)
    assert "5" in seedbed("projects", "set", "merging").stdout
    refused = seedbed("projects", "set", "merging", "--chooser", "typcal")
    assert refused.returncode == 2 and "Did you mean 'typical'?" in refused.stderr
    bins = asked("projects", "create", "cover", "--bins", "0,25,100")
    assert bins["kind"] == "bins" and list(asked("projects", "show", "cover")["classes"]) == ["0-25 %", "25-100 %"]
    assert "write numbers with commas" in seedbed("projects", "create", "cover 2", "--bins", "few,many").stderr


def test_labels_go_out_as_a_file_and_their_history_is_told(asked: Asked, seedbed: Seedbed, tmp_path: Path) -> None:
    asked("projects", "create", "outgoing", "-c", "rust")
    (tmp_path / "labels.csv").write_text("file,class\na.jpg,rust\nb.jpg,new\n")
    refused = seedbed("labels", "import", "outgoing", str(tmp_path / "labels.csv"), "--known-classes")
    assert refused.returncode == 2 and "no class of this project" in refused.stderr
    said = seedbed("labels", "import", "outgoing", str(tmp_path / "labels.csv")).stdout
    assert "2 of 2 labels are new." in said and "New classes: new." in said
    target = tmp_path / "out" / "tasks.json"
    asked("labels", "export", "outgoing", str(target), "--format", "label-studio")
    assert [task["data"]["image"] for task in json.loads(target.read_text())] == ["a.jpg", "b.jpg"]
    assert seedbed("labels", "export", "outgoing", str(target)).returncode == 6
    assert [path.name for path in target.parent.iterdir()] == ["tasks.json"]
    assert asked("labels", "import", "outgoing", str(target))["count"] == 0
    (tmp_path / "labels.csv").write_text("file,class\na.jpg,new\n")
    asked("labels", "import", "outgoing", str(tmp_path / "labels.csv"))
    assert [one["label"] for one in asked("labels", "history", "outgoing", "a.jpg")] == ["rust", "new"]
    assert [one["image"] for one in asked("labels", "history", "outgoing", "--limit", "2")] == ["b.jpg", "a.jpg"]
    assert "new" in seedbed("labels", "history", "outgoing", "a.jpg").stdout
    assert asked("labels", "disagreements", "outgoing") == {"agreement": [], "disagreements": []}
    assert "Nobody disagrees" in seedbed("labels", "disagreements", "outgoing").stdout
    assert asked("labels", "import", "outgoing", str(tmp_path / "labels.csv"), "--golden")["count"] == 1
    assert asked("projects", "set", "outgoing", "--honeypots", "0.1")["settings"]["honeypots"] == 0.1
    found = asked("labels", "quality", "outgoing")
    assert (found["golden"], found["pairs"], found["checks"]) == (1, [], [])
    assert "labelled by two people" in seedbed("labels", "quality", "outgoing").stdout


def test_accounts_are_made_and_changed(asked: Asked, seedbed: Seedbed) -> None:
    asked("users", "add", "chief", "--role", "operator", SEEDBED_NEW_PASSWORD="a long password 1")
    asked("users", "add", "grace", "--role", "labeller", "--tokens-only")
    assert asked("users", "role", "grace", "trainer")["role"] == "trainer"
    assert asked("users", "token", "grace", "--days", "3")["token"].startswith("sb_")
    (kept,) = asked("users", "tokens", "grace")
    assert seedbed("users", "revoke", kept["id"], "--yes").returncode == 0 and not asked("users", "tokens", "grace")
    asked("projects", "create", "shared")
    assert seedbed("projects", "add-member", "shared", "grace", "--role", "labeller").returncode == 0
    assert {one["name"]: one["role"] for one in asked("projects", "members", "shared")}["grace"] == "labeller"
    assert seedbed("projects", "remove-member", "shared", "grace").returncode == 0
    assert seedbed("projects", "delete", "shared", "--yes").returncode == 0
    assert "shared" not in {one["name"] for one in asked("projects", "list")}
    assert asked("users", "disable", "grace", "--yes")["disabled"] is True
    assert asked("users", "password", "chief", SEEDBED_NEW_PASSWORD="another long one 2")["name"] == "chief"
    assert {one["name"] for one in asked("users", "list")} == {"chief", "grace"}
    assert any(line["action"] == "user.set-role" for line in asked("users", "audit"))


def test_kinds_are_listed(asked: Asked, seedbed: Seedbed) -> None:
    assert "steps" in asked("list")
    assert "sleep-and-count" in asked("list", "steps")
    assert {"fifo", "fitgpp"} <= set(asked("list", "policies"))
    assert asked("list", "choosers")["random"] == "Images at random."
    done = seedbed("list", "stebs")
    assert done.returncode == 5 and "steps" in done.stderr


def test_doctor_speaks_in_sentences(asked: Asked) -> None:
    checks = asked("doctor")
    assert checks and all(check["sentence"].endswith(".") for check in checks)


def test_everything_comes_back_from_a_backup(asked: Asked, home: Path, tmp_path: Path, seedbed: Seedbed) -> None:
    (tmp_path / "kept.txt").write_text("kept")
    made = asked("store", "add", str(tmp_path / "kept.txt"), "--name", "kept")
    asked("backup", str(tmp_path / "all.tar"))
    other = str(tmp_path / "second")
    assert seedbed("--home", other, "restore", str(tmp_path / "all.tar")).returncode == 0
    back = seedbed("--home", other, "store", "show", "kept")
    assert made["uuid"] in back.stdout
    assert seedbed("--home", other, "restore", str(tmp_path / "all.tar")).returncode != 0


def test_an_empty_list_says_what_to_do_next(seedbed: Seedbed, tmp_path: Path) -> None:
    done = seedbed("--home", str(tmp_path / "empty"), "jobs", "list")
    assert done.returncode == 0 and "seedbed" in done.stdout


def test_the_version_is_shown(seedbed: Seedbed) -> None:
    assert seedbed("--version").stdout.startswith("seedbed 0.")


def test_completion_knows_the_commands(home: Path) -> None:
    program = Path(sys.executable).with_name("seedbed")
    asked = {"_SEEDBED_COMPLETE": "complete_bash", "COMP_WORDS": "seedbed st", "COMP_CWORD": "1"}
    done = subprocess.run([program], env=environment(home, **asked), capture_output=True, text=True, timeout=60)
    assert "store" in done.stdout.split()


FLAGS = ["-p", "steps=0", "-i", "dat=none", "--memory", "3 bananas", "--gpus", "999", "--class", "soon", "--seed", "-1"]
WRITTEN = "{step: sleep-and-count, params: {steps: 0}, inputs: {dat: none}, class: soon, seed: -1"


def test_every_mistake_of_a_job_is_told_at_once_by_flags_and_by_file(seedbed: Seedbed, tmp_path: Path) -> None:
    (tmp_path / "job.yaml").write_text(f"{WRITTEN}, resources: {{memory: 3 bananas, gpus: 999}}}}\n")
    for arguments in (["sleep-and-count", *FLAGS], [str(tmp_path / "job.yaml")]):
        done = seedbed("jobs", "submit", *arguments)
        assert done.returncode == 2
        parts = ["'steps' is 0", "input 'dat' is 'none'", "'dat' is not an input", "'soon'", "'seed' is -1", "999 gpus"]
        assert all(part in done.stderr for part in [*parts, "'3 bananas' is not an amount of memory"]), done.stderr
    done = seedbed("jobs", "submit", "sleep-and-count", "-p", "steps", "-i", "data")
    assert "--param 'steps'" in done.stderr and "--input 'data'" in done.stderr
