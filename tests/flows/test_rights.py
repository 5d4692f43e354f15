"""Who may do what through the use cases."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from sqlalchemy.exc import DatabaseError

from seedbed.assets.access.roles import SOLO, Identity, Role
from seedbed.assets.projects.classes import Kind
from seedbed.assets.projects.labels import LabelEvent
from seedbed.base.errors import Conflict, Forbidden, InvalidInput, NotFound, TooOften
from seedbed.flows.kinds.labels import Labels
from seedbed.flows.platform import Platform
from seedbed.runtime.jobs.spec import JobSpec
from seedbed.runtime.jobs.states import State
from tests.flows.conftest import count

Person = Callable[..., Identity]


@pytest.fixture
def person(platform: Platform) -> Person:
    """Somebody with a role, and another role in some projects."""

    def make(name: str, role: Role, **projects: Role) -> Identity:
        user = platform.users.create(name, role, by=SOLO)
        for project, held in projects.items():
            platform.users.add_member(project, user.id, held, by=SOLO)
        found = platform.users.identify(platform.users.make_token(user.id, "t", by=SOLO))
        assert found is not None
        return found

    return make


def test_what_belongs_to_a_project_is_not_there_for_others(platform: Platform, person: Person, tmp_path: Path) -> None:
    project = platform.projects.create("secret", classes=["a", "b"], by=SOLO)
    job = platform.jobs.submit(count(project="secret"), by=SOLO)
    draft = Labels.write(tmp_path / "made", {"a": "b"}).draft(name="few", project=project.id)
    bundle = platform.store.publish(draft)
    stranger, member = person("eve", Role.TRAINER), person("ada", Role.VIEWER, secret=Role.LABELLER)
    asked = {
        "project": lambda by: platform.projects.get("secret", by=by),
        "job": lambda by: platform.jobs.get(job.id, by=by),
        "bundle": lambda by: platform.bundles.show(bundle.uuid, by=by),
        "members": lambda by: platform.users.members("secret", by=by),
    }
    for ask in asked.values():
        ask(member)
        with pytest.raises(NotFound):
            ask(stranger)
    assert platform.jobs.list(by=stranger) == [] and len(platform.jobs.list(by=member)) == 1
    assert platform.bundles.find(by=stranger) == [] and len(platform.bundles.find(by=member)) == 1
    assert platform.projects.list(by=stranger) == [] and len(platform.projects.list(by=member)) == 1
    kinds = {event.kind for event in platform.feed.after(0, by=stranger)[0]}
    assert not kinds & {"project.created", "job.submitted", "bundle.published", "user.created"}
    assert "job.submitted" in {event.kind for event in platform.feed.after(0, by=member)[0]}
    with pytest.raises(InvalidInput, match="cannot be submitted"):
        platform.jobs.submit(JobSpec("evaluate", inputs={"test": bundle.uuid}), by=stranger)


def test_a_role_in_a_project_counts_there_and_nowhere_else(platform: Platform, person: Person) -> None:
    platform.projects.create("fields", classes=["a"], by=SOLO)
    labeller = person("ada", Role.VIEWER, fields=Role.LABELLER)
    said = [LabelEvent("1", "x.jpg", "a", by="somebody else")]
    assert platform.projects.add_labels("fields", said, by=labeller) == 1
    assert platform.projects.labels("fields", by=labeller)["x.jpg"].by == "ada"
    with pytest.raises(Forbidden):
        platform.projects.add_class("fields", "b", by=labeller)
    with pytest.raises(Forbidden):
        platform.jobs.submit(count(project="fields"), by=labeller)
    with pytest.raises(Forbidden):
        platform.jobs.submit(count(), by=labeller)


def test_who_runs_a_project_is_told_whom_they_could_let_in_and_nobody_else_is(
    platform: Platform, person: Person
) -> None:
    runs, grace, _ = person("ada", Role.TRAINER), person("grace", Role.LABELLER), person("gone", Role.LABELLER)
    platform.users.disable("gone", by=SOLO)
    platform.projects.create("fields", by=runs)
    runs = Identity(runs.id, runs.name, runs.role, {platform.projects.list(by=SOLO)[0].id: Role.OPERATOR})
    assert platform.users.could_join("fields", by=runs) == ["grace"]
    platform.users.add_member("fields", "grace", Role.TRAINER, by=runs)
    assert platform.users.could_join("fields", by=runs) == []
    trainer = Identity(grace.id, grace.name, grace.role, {platform.projects.list(by=SOLO)[0].id: Role.TRAINER})
    with pytest.raises(Forbidden):
        platform.users.could_join("fields", by=trainer)
    with pytest.raises(NotFound):
        platform.users.could_join("fields", by=grace)


def test_the_server_reads_only_its_import_roots_for_members_of_a_team(
    platform: Platform, person: Person, tmp_path: Path, leaves: Path
) -> None:
    trainer = person("ada", Role.TRAINER)
    for spec in (
        JobSpec("ingest", params={"source": str(leaves)}),
        JobSpec("publish-files", params={"paths": [str(tmp_path / "home" / "uploads" / ".." / "seedbed.db")]}),
        JobSpec("publish-files", params={"paths": ["no\0name"]}),
    ):
        with pytest.raises(Forbidden, match="may not read"):
            platform.jobs.submit(spec, by=trainer)
    with pytest.raises(Forbidden, match="may not read"):
        platform.data.add(leaves, name="x", by=trainer)
    with pytest.raises(Forbidden, match="may not read"):
        platform.bundles.add([leaves.parent / "leaves-truth.csv"], name="x", by=trainer)
    with pytest.raises(Forbidden, match="may not read"):
        given = {"data": "none", "labels": str(leaves.parent / "leaves-truth.csv")}
        platform.models.start_recipe("few-labels", given, by=trainer)
    upload = platform.data.upload_folder(by=trainer)
    (upload / "a.txt").write_text("a")
    assert platform.jobs.submit(JobSpec("publish-files", params={"paths": [str(upload)]}), by=trainer)


def test_an_import_root_opens_its_folder_and_a_link_out_of_it_does_not(
    platform: Platform, person: Person, tmp_path: Path
) -> None:
    root, secret = tmp_path / "shared", tmp_path / "secret"
    root.mkdir()
    secret.mkdir()
    (root / "way-out").symlink_to(secret)
    (secret / "a.txt").write_text("a")
    (root / "b.txt").write_text("b")
    with Platform.open(platform.settings.model_copy(update={"import_roots": (root,)})) as opened:
        trainer = person("ada", Role.TRAINER)
        assert opened.bundles.add([root / "b.txt"], name="b", by=trainer)
        with pytest.raises(Forbidden):
            opened.bundles.add([root / "way-out" / "a.txt"], name="a", by=trainer)


@pytest.mark.parametrize(
    ("step", "name"), [("ingest", "source"), ("publish-files", "paths"), ("import-weights", "path")]
)
def test_no_step_reads_what_others_sent_or_the_home_for_a_member(
    platform: Platform, person: Person, tmp_path: Path, step: str, name: str
) -> None:
    home = platform.settings.home
    wide = platform.settings.model_copy(update={"import_roots": (home.parent,)})
    (home.parent / "ours.txt").write_text("ours")
    rest = {"name": "card", "architecture": "resnet18"} if step == "import-weights" else {}
    with Platform.open(wide) as opened:
        trainer = person("ada", Role.TRAINER)
        opened.data.upload_folder(by=person("ben", Role.TRAINER))

        def submit(path: Path) -> None:
            given = [str(path)] if name == "paths" else str(path)
            opened.jobs.submit(JobSpec(step, params={name: given, **rest}), by=trainer)

        for path in (home / "uploads", home / "uploads" / ".", home / "seedbed.db", home / "store", home, home.parent):
            with pytest.raises(Forbidden, match="may not read"):
                submit(path)
        submit(home.parent / "ours.txt")


def test_a_folder_with_a_link_out_of_it_is_not_published(platform: Platform, person: Person, tmp_path: Path) -> None:
    root, secret = tmp_path / "shared", tmp_path / "secret.txt"
    (root / "deep").mkdir(parents=True)
    secret.write_text("secret")
    (root / "deep" / "way-out").symlink_to(secret)
    (root / "b.txt").write_text("b")
    with Platform.open(platform.settings.model_copy(update={"import_roots": (root,)})) as opened:
        trainer = person("ada", Role.TRAINER)
        job = opened.jobs.submit(JobSpec("publish-files", params={"paths": [str(root)]}), by=trainer)
        (ended,) = opened.run_until_done([job.id])
        assert ended.state is State.FAILED and "way-out is a link that leads out of" in ended.reason
        (root / "deep" / "way-out").unlink()
        (root / "deep" / "within").symlink_to(root / "b.txt")
        job = opened.jobs.submit(JobSpec("publish-files", params={"paths": [str(root)]}), by=trainer)
        (ended,) = opened.run_until_done([job.id])
        assert ended.state is State.DONE


def test_running_a_job_of_the_owner_of_the_machine_again_opens_no_folder_to_a_member(
    platform: Platform, person: Person, leaves: Path
) -> None:
    job = platform.jobs.submit(JobSpec("ingest", params={"source": str(leaves)}), by=SOLO)
    with pytest.raises(Forbidden, match="may not read"):
        platform.jobs.rerun(job.id, by=person("ada", Role.TRAINER))


def test_who_runs_a_job_again_brings_nothing_back_where_others_train(platform: Platform, person: Person) -> None:
    theirs = platform.projects.create("theirs", classes=["a", "b"], by=SOLO)
    first = platform.jobs.submit(replace(count(), name="first"), by=SOLO)
    hidden = platform.jobs.submit(replace(count(), name="hidden", after=(first.id,), project=theirs.id), by=SOLO)
    shared = platform.jobs.submit(replace(count(), name="shared", after=(first.id,)), by=SOLO)
    platform.jobs.cancel(first.id, by=SOLO)
    (again, *back) = platform.jobs.rerun(first.id, by=person("ada", Role.TRAINER))
    assert again.owner == "ada" and [(job.name, job.owner) for job in back] == [("shared", shared.owner)]
    (own,) = platform.jobs.rerun(hidden.id, by=SOLO)  # who may there brings it back, after the new one
    assert own.spec.after == (again.id,)


@pytest.mark.parametrize("role", [Role.VIEWER, Role.LABELLER, Role.TRAINER])
def test_running_the_service_is_for_operators(platform: Platform, person: Person, tmp_path: Path, role: Role) -> None:
    by = person("ada", role)
    for act in (
        lambda: platform.bundles.gc(by=by),
        lambda: platform.bundles.verify(by=by),
        lambda: platform.bundles.rebuild(by=by),
        lambda: platform.contexts.create("c", by=by),
        lambda: platform.bundles.push(by=by),
        lambda: platform.backup.backup(tmp_path / "b.tar", by=by),
        lambda: platform.users.list(by=by),
        lambda: platform.users.audit(by=by),
        lambda: platform.users.create("eve", Role.OPERATOR, by=by),
        lambda: platform.users.set_role("ada", Role.OPERATOR, by=by),
    ):
        with pytest.raises(Forbidden):
            act()


def test_people_change_their_own_password_and_tokens_and_nobody_elses(platform: Platform, person: Person) -> None:
    ada, eve = person("ada", Role.TRAINER), person("eve", Role.TRAINER)
    platform.users.set_password("ada", "correct horse battery", by=ada)
    assert platform.users.sign_in("ada", "correct horse battery")
    for act in (
        lambda: platform.users.set_password("ada", "another horse battery", by=eve),
        lambda: platform.users.make_token("ada", "mine", by=eve),
        lambda: platform.users.tokens("ada", by=eve),
    ):
        with pytest.raises(Forbidden):
            act()
    (token,) = platform.users.tokens("ada", by=ada)
    with pytest.raises(NotFound):
        platform.users.revoke(token.id, by=eve)
    platform.users.revoke(token.id, by=ada)


def test_ones_own_password_is_changed_by_who_knows_the_present_one(platform: Platform, person: Person) -> None:
    ada, chief = person("ada", Role.TRAINER), person("chief", Role.OPERATOR)
    first, second = "correct horse battery", "another horse battery"
    for own in (ada, chief):
        platform.users.set_password(own.id, first, by=own)  # there was none to know
        for present in ("", "wrong"):
            with pytest.raises(InvalidInput, match="present"):
                platform.users.set_password(own.name, second, present=present, by=own)
        assert platform.users.sign_in(own.name, first)
        platform.users.set_password(own.name, second, present=first, by=own)
        assert platform.users.sign_in(own.name, second)
    platform.users.set_password("ada", first, by=chief)  # ada forgot it
    assert platform.users.sign_in("ada", first)
    lines = platform.users.audit(action="user.set-password", by=SOLO)
    assert [(line.who, line.outcome) for line in reversed(lines)] == [
        *((name, outcome) for name in ("ada", "chief") for outcome in ("ok", "refused", "ok")),
        ("chief", "ok"),
    ]


def test_a_token_that_got_out_does_not_find_out_the_password(platform: Platform, person: Person) -> None:
    ada = person("ada", Role.TRAINER)
    platform.users.set_password("ada", "correct horse battery", by=ada)
    for number in range(5):
        with pytest.raises(InvalidInput):
            platform.users.set_password("ada", "taken over now", present=f"guess {number}", by=ada)
    with pytest.raises(TooOften):
        platform.users.set_password("ada", "taken over now", present="correct horse battery", by=ada)


def test_who_may_not_train_in_a_project_publishes_nothing_there(
    platform: Platform, person: Person, tmp_path: Path, leaves: Path
) -> None:
    platform.projects.create("fields", classes=["a", "b"], by=SOLO)
    platform.projects.add_labels("fields", [LabelEvent("1", "x.jpg", "a", "")], by=SOLO)
    roots = platform.settings.model_copy(update={"import_roots": (tmp_path,)})
    (tmp_path / "said.csv").write_text("file,class\nx.jpg,a\n")
    given = {"source": str(tmp_path), "labels": str(tmp_path / "said.csv"), "project": "fields"}
    with Platform.open(roots) as opened:
        for name, held in (("vera", Role.VIEWER), ("lena", Role.LABELLER)):
            by = person(name, Role.TRAINER, fields=held)
            with pytest.raises(Forbidden):
                opened.models.start_recipe("few-labels", given, by=by)
            with pytest.raises(Forbidden):
                opened.models.train("none", project="fields", by=by)
        with pytest.raises(Forbidden):
            opened.models.start_recipe("demo", {}, by=person("vic", Role.VIEWER))
        assert opened.bundles.find(by=SOLO) == [] and len(opened.projects.list(by=SOLO)) == 1


def test_a_recipe_that_cannot_be_submitted_leaves_neither_labels_nor_a_project(
    platform: Platform, tmp_path: Path
) -> None:
    (tmp_path / "said.csv").write_text("image,label\nx.jpg,a\n")
    wrong = {"train": {"steps": -1}}
    given = {"source": str(tmp_path), "labels": str(tmp_path / "said.csv"), **wrong}
    for name, params in (("few-labels", given), ("demo", wrong)):
        with pytest.raises(InvalidInput, match="cannot be submitted"):
            platform.models.start_recipe(name, params, by=SOLO)
    assert platform.bundles.find(by=SOLO) == [] and platform.projects.list(by=SOLO) == []
    jobs = platform.models.start_recipe("few-labels", {**given, "train": {}}, by=SOLO)
    (labels,) = platform.bundles.find(kind="labels", by=SOLO)
    assert {job.step: job for job in jobs}["sample-labels"].spec.inputs["truth"] == labels.uuid
    assert platform.models.start_recipe("demo", {}, by=SOLO) and platform.projects.get("Leaves", by=SOLO)


def test_who_removes_the_project_that_they_made_no_longer_sees_what_was_made_in_it(
    platform: Platform, person: Person, tmp_path: Path
) -> None:
    project = platform.projects.create("fields", classes=["a", "b"], by=SOLO)
    bundle = platform.store.publish(Labels.write(tmp_path / "made", {"a": "b"}).draft(name="few", project=project.id))
    runs, trains = person("ada", Role.TRAINER, fields=Role.OPERATOR), person("grace", Role.TRAINER, fields=Role.TRAINER)
    with pytest.raises(Forbidden):
        platform.projects.delete("fields", by=trains)
    assert [one.uuid for one in platform.bundles.find(by=runs)] == [bundle.uuid]
    platform.projects.delete("fields", by=runs)
    after = platform.users.identify(platform.users.make_token("ada", "after", by=SOLO))
    assert after and after.projects == {} and platform.bundles.find(by=after) == []
    assert [one.uuid for one in platform.bundles.find(by=SOLO)] == [bundle.uuid]


def test_a_project_is_not_removed_while_work_for_it_goes_on(platform: Platform, person: Person) -> None:
    platform.projects.create("fields", by=SOLO)
    runs = person("ada", Role.TRAINER, fields=Role.OPERATOR)
    waits = platform.jobs.submit(replace(count(project="fields"), name="fields.sleep-and-count"), by=runs)
    with pytest.raises(Conflict, match="cannot be removed while work for it goes on") as refused:
        platform.projects.delete("fields", by=runs)
    assert refused.value.problems == (f"Counting for fields ({waits.id}) is waiting.",)
    assert "seedbed jobs cancel" in refused.value.hint
    assert "project.delete" not in [line.action for line in platform.users.audit(by=SOLO)]
    platform.jobs.cancel(waits.id, by=runs)
    platform.projects.delete("fields", by=runs)
    assert platform.projects.list(by=SOLO) == []


def test_of_many_open_jobs_a_refusal_names_a_few(platform: Platform) -> None:
    platform.projects.create("fields", by=SOLO)
    for number in range(6):
        platform.jobs.submit(replace(count(project="fields"), name=f"job {number}"), by=SOLO)
    with pytest.raises(Conflict) as refused:
        platform.projects.delete("fields", by=SOLO)
    assert len(refused.value.problems) == 6 and refused.value.problems[-1] == "There are more."


def test_what_is_refused_is_not_told_as_done_in_the_audit_log(
    platform: Platform, person: Person, tmp_path: Path
) -> None:
    ada = person("ada", Role.TRAINER)
    bundle = platform.store.publish(Labels.write(tmp_path / "made", {"a": "b"}).draft(name="few"))
    for name in ("fields", "taken"):
        platform.projects.create(name, classes=["a", "b", "c"], by=SOLO)
    before = platform.users.audit(by=SOLO)
    projects = platform.projects
    for act in (
        lambda: platform.users.set_mail("ada", "not an address", by=ada),
        lambda: projects.rename("fields", "taken", by=SOLO),
        lambda: projects.set_kind("fields", Kind.BINARY, by=SOLO),
        lambda: projects.set_settings("fields", {"goal": -1}, by=SOLO),
        lambda: projects.add_class("fields", "a", by=SOLO),
        lambda: platform.contexts.create("a/b", by=SOLO),
        lambda: platform.contexts.use("absent", by=SOLO),
        lambda: platform.contexts.set_remote("absent", "/x", by=SOLO),
        lambda: platform.bundles.tag(bundle.uuid, {"": "x"}, by=SOLO),
    ):
        with pytest.raises((Conflict, InvalidInput, NotFound)):
            act()
    assert platform.users.audit(by=SOLO) == before


def test_what_is_done_to_jobs_is_told_in_the_audit_log_where_it_happens_and_only_there(platform: Platform) -> None:
    jobs = platform.jobs
    (done,) = platform.run_until_done([jobs.submit(count(), by=SOLO).id])
    waits = jobs.submit(count(), by=SOLO)
    before = platform.users.audit(by=SOLO)
    for act in (jobs.cancel, jobs.pause, jobs.resume):
        with pytest.raises(Conflict):
            act(done.id, by=SOLO)
    with pytest.raises(Conflict, match="was not stopped"):
        jobs.resume(waits.id, by=SOLO)
    assert platform.users.audit(by=SOLO) == before
    for act in (jobs.pause, jobs.pause, jobs.resume, jobs.cancel, jobs.cancel):  # what is so already changes nothing
        act(waits.id, by=SOLO)
    told = platform.users.audit(by=SOLO)[: -len(before)]
    assert [(line.action, line.subject) for line in told] == [
        (action, waits.id) for action in ("job.cancel", "job.resume", "job.pause")
    ]


def test_the_audit_log_knows_with_which_limits_a_job_was_run_again_and_that_those_behind_it_kept_theirs(
    platform: Platform,
) -> None:
    first = platform.jobs.submit(replace(count(), name="first"), by=SOLO)
    platform.jobs.submit(replace(count(), name="second", after=(first.id,)), by=SOLO)
    platform.jobs.cancel(first.id, by=SOLO)
    (again, back) = platform.jobs.rerun(first.id, memory=1 << 30, timeout=60.0, by=SOLO)
    platform.jobs.rerun(first.id, by=SOLO)
    told = [(line.subject, line.data) for line in platform.users.audit(action="job.rerun", by=SOLO)]
    plain = {"of": first.id, "again": False}
    assert told == [(again.id, plain), (back.id, plain), (again.id, {**plain, "memory": 1 << 30, "timeout": 60.0})]


def test_where_the_audit_log_cannot_be_written_nothing_is_done_to_a_job(platform: Platform) -> None:
    waits = platform.jobs.submit(count(), by=SOLO)
    with platform.database.write() as conn:
        conn.exec_driver_sql("ALTER TABLE audit RENAME TO elsewhere")
    for act in (platform.jobs.cancel, platform.jobs.pause):
        with pytest.raises(DatabaseError):
            act(waits.id, by=SOLO)
    assert platform.jobs.get(waits.id, by=SOLO) == waits
