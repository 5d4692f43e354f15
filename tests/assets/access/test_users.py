import logging
import threading
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import select

from seedbed.assets.access.audit import Audit
from seedbed.assets.access.roles import Role
from seedbed.assets.access.users import Users
from seedbed.assets.db import tables
from seedbed.assets.db.engine import Database
from seedbed.assets.store.events import Events
from seedbed.base.clock import ManualClock
from seedbed.base.errors import Conflict, InvalidInput, NotFound, SeedbedError, Unauthenticated

PASSWORD = "correct horse battery"


def everything_kept(database: Database) -> str:
    with database.read() as connection:
        rows = [connection.execute(select(table)).all() for table in tables.metadata.sorted_tables]
    return repr(rows)


def run_at_once(*calls: Callable[[], Any]) -> list[Any]:
    """Each call's result, or the error it raised."""
    barrier, results = threading.Barrier(len(calls)), [None] * len(calls)

    def run(place: int, call: Callable[[], Any]) -> None:
        barrier.wait()
        try:
            results[place] = call()
        except SeedbedError as error:
            results[place] = error

    threads = [threading.Thread(target=run, args=pair) for pair in enumerate(calls)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return results


def test_a_user_is_found_by_id_and_by_name_in_any_case(users: Users) -> None:
    made = users.create("Ada", Role.TRAINER, PASSWORD, "ada@example.org")
    assert users.get(made.id) == users.get("ADA") == made
    assert (made.name, made.role, made.mail, made.disabled, made.has_password) == (
        "ada",
        Role.TRAINER,
        "ada@example.org",
        False,
        True,
    )
    assert users.list() == [made]


@pytest.mark.parametrize("reference", ["nobody", "", "\x00", "\ud800", "x" * 10_000])
def test_a_user_who_is_not_there_is_not_found(users: Users, reference: str) -> None:
    with pytest.raises(NotFound):
        users.get(reference)


def test_a_name_is_given_once(users: Users) -> None:
    users.create("ada", Role.VIEWER)
    with pytest.raises(Conflict):
        users.create("ADA", Role.VIEWER)


def test_two_who_take_a_name_at_once_do_not_both_get_it(users: Users) -> None:
    results = run_at_once(*[lambda: users.create("ada", Role.VIEWER)] * 4)
    assert sum(isinstance(result, Conflict) for result in results) == 3
    assert len(users.list()) == 1


def test_everything_wrong_with_a_new_user_is_said_at_once(users: Users) -> None:
    with pytest.raises(InvalidInput) as refused:
        users.create("a b\x00", Role.VIEWER, "short", "nowhere")
    assert len(refused.value.problems) >= 3
    assert users.are_none()


@pytest.mark.parametrize("name", ["solo", "01900000-0000-7000-8000-000000000000", "-x", "a/b", "", "x" * 64])
def test_names_that_could_be_taken_for_something_else_are_refused(users: Users, name: str) -> None:
    with pytest.raises(InvalidInput):
        users.create(name, Role.VIEWER)


def test_the_first_operator_is_set_up_once(users: Users) -> None:
    assert users.are_none()
    results = run_at_once(*[lambda n=n: users.first_operator(f"op{n}", PASSWORD) for n in range(4)])
    assert sum(isinstance(result, Conflict) for result in results) == 3
    assert [user.role for user in users.list()] == [Role.OPERATOR]
    with pytest.raises(Conflict):
        users.first_operator("late", PASSWORD)


def test_the_first_operator_needs_a_password(users: Users) -> None:
    with pytest.raises(InvalidInput):
        users.first_operator("ada", "")
    assert users.are_none()


@pytest.mark.parametrize(
    "take_away",
    [
        lambda users, who: users.set_role(who, Role.TRAINER),
        lambda users, who: users.disable(who),
        lambda users, who: users.remove(who),
    ],
)
def test_the_last_operator_stays(users: Users, take_away: Callable[[Users, str], Any]) -> None:
    users.first_operator("ada", PASSWORD)
    users.create("bob", Role.TRAINER)
    with pytest.raises(Conflict, match="last operator"):
        take_away(users, "ada")
    assert users.get("ada").role is Role.OPERATOR
    users.set_role("bob", Role.OPERATOR)
    take_away(users, "ada")
    with pytest.raises(Conflict, match="last operator"):
        take_away(users, "bob")


def test_two_operators_who_demote_each_other_at_once_leave_one(users: Users) -> None:
    for _ in range(5):
        for name in ("ada", "bob"):
            if all(user.name != name for user in users.list()):
                users.create(name, Role.OPERATOR)
            users.set_role(name, Role.OPERATOR)
        run_at_once(lambda: users.set_role("ada", Role.VIEWER), lambda: users.disable("bob"))
        able = [user for user in users.list() if user.role is Role.OPERATOR and not user.disabled]
        assert len(able) == 1
        users.enable("bob")


def test_a_disabled_operator_is_not_an_operator_who_is_left(users: Users) -> None:
    users.first_operator("ada", PASSWORD)
    users.create("bob", Role.OPERATOR)
    users.disable("bob")
    with pytest.raises(Conflict):
        users.disable("ada")


def test_the_password_is_neither_stored_nor_logged_nor_told(
    users: Users, database: Database, events: Events, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    user = users.create("ada", Role.VIEWER, PASSWORD)
    users.sign_in("ada", PASSWORD)
    users.set_password("ada", PASSWORD + "2")
    with pytest.raises(Unauthenticated) as refused:
        users.sign_in("ada", PASSWORD)
    with pytest.raises(InvalidInput) as weak:
        users.set_password("ada", "battery")
    told = [repr(user), str(refused.value), str(weak.value), repr(events.after(0)), caplog.text]
    assert PASSWORD not in everything_kept(database)
    assert not any(PASSWORD in text or "battery" in text for text in told)
    assert "$argon2id$" in everything_kept(database)
    assert "$argon2" not in "".join(told)


def test_a_password_typed_as_a_name_is_not_written_to_the_audit_log(
    users: Users, database: Database, audit: Audit
) -> None:
    with pytest.raises(Unauthenticated):
        users.sign_in("correct-horse-battery", "ada")
    assert "horse" not in everything_kept(database)
    line = audit.list()[0]
    assert (line.who, line.action, line.outcome) == ("unknown", "sign-in", "refused")


def test_every_change_appends_an_event(users: Users, events: Events) -> None:
    user = users.create("ada", Role.OPERATOR)
    users.create("bob", Role.VIEWER)
    users.set_role("bob", Role.TRAINER)
    users.remove("bob")
    kinds = [event.kind for event in events.after(0)]
    assert kinds == ["user.created", "user.created", "user.changed", "user.removed"]
    assert events.after(0)[0].subject == user.id


def test_a_refused_change_appends_no_event(users: Users, events: Events) -> None:
    users.create("ada", Role.OPERATOR)
    before = events.after(0)
    with pytest.raises(Conflict):
        users.disable("ada")
    assert events.after(0) == before


def test_mail_can_be_changed_but_not_to_nonsense(users: Users, clock: ManualClock) -> None:
    users.create("ada", Role.VIEWER)
    assert users.set_mail("ada", "a@b.example").mail == "a@b.example"
    with pytest.raises(InvalidInput):
        users.set_mail("ada", "a@b\r\nBcc: all")
