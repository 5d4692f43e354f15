import pytest
from argon2 import PasswordHasher
from sqlalchemy import select

from seedbed.assets.access.audit import Audit
from seedbed.assets.access.roles import Role
from seedbed.assets.access.users import Users
from seedbed.assets.db import tables
from seedbed.assets.db.engine import Database
from seedbed.assets.store.events import Events
from seedbed.base.clock import ManualClock
from seedbed.base.errors import InvalidInput, NotFound, TooOften, Unauthenticated

from .test_passwords import CountingHasher

PASSWORD = "correct horse battery"


@pytest.fixture
def ada(users: Users) -> str:
    return users.create("ada", Role.TRAINER, PASSWORD).id


def used_at(database: Database) -> list[float]:
    with database.read() as connection:
        return list(connection.scalars(select(tables.tokens.c.used)))


def test_a_session_stands_for_its_user_until_it_expires(users: Users, ada: str, clock: ManualClock) -> None:
    token = users.sign_in("Ada", PASSWORD)
    clock.advance(12 * 3600 - 1)
    identity = users.identify(token)
    assert identity is not None
    assert (identity.id, identity.name, identity.role) == (ada, "ada", Role.TRAINER)
    clock.advance(1)
    assert users.identify(token) is None


def test_how_long_a_session_lives_is_a_setting(
    database: Database, events: Events, clock: ManualClock, quick_hasher: PasswordHasher, ada: str
) -> None:
    users = Users(database, events, clock, session_hours=0.5, hasher=quick_hasher)
    token = users.sign_in("ada", PASSWORD)
    clock.advance(1800)
    assert users.identify(token) is None


def test_signing_out_ends_that_session_alone(users: Users, ada: str) -> None:
    first, second = users.sign_in("ada", PASSWORD), users.sign_in("ada", PASSWORD)
    users.sign_out(first)
    users.sign_out("not a token")
    assert users.identify(first) is None
    assert users.identify(second) is not None


@pytest.mark.parametrize("token", ["", "sb_", "\x00", "\ud800", "x" * 100_000])
def test_a_text_that_is_no_token_stands_for_nobody(users: Users, ada: str, token: str) -> None:
    assert users.identify(token) is None


def test_every_refusal_is_the_same_and_checks_one_hash(database: Database, events: Events, clock: ManualClock) -> None:
    hasher = CountingHasher(1, 64, 1)
    users = Users(database, events, clock, hasher=hasher)
    users.create("ada", Role.VIEWER, PASSWORD)
    users.create("tokens-only", Role.VIEWER)
    users.create("gone", Role.VIEWER, PASSWORD)
    users.disable("gone")
    told = set()
    tries = [("ada", "wrong"), ("nobody", PASSWORD), ("tokens-only", ""), ("gone", PASSWORD), ("\x00", "\ud800")]
    for count, (name, password) in enumerate(tries, start=1):
        with pytest.raises(Unauthenticated) as refused:
            users.sign_in(name, password)
        told.add(str(refused.value))
        assert hasher.checks == count
    assert len(told) == 1


def test_a_disabled_user_is_out_at_once_and_in_again_when_enabled(users: Users, ada: str) -> None:
    session, token = users.sign_in("ada", PASSWORD), users.make_token("ada", "script")
    users.disable("ada")
    assert users.identify(session) is None
    assert users.identify(token) is None
    with pytest.raises(Unauthenticated):
        users.sign_in("ada", PASSWORD)
    users.enable("ada")
    assert users.identify(session) is None
    assert users.identify(token) is not None


def test_a_new_password_ends_every_session_but_no_token(users: Users, ada: str) -> None:
    session, token = users.sign_in("ada", PASSWORD), users.make_token("ada", "script")
    users.set_password("ada", "another horse battery")
    assert users.identify(session) is None
    assert users.identify(token) is not None
    with pytest.raises(Unauthenticated):
        users.sign_in("ada", PASSWORD)
    users.sign_in("ada", "another horse battery")


def test_guessing_the_present_password_is_slowed_together_with_sign_ins(
    users: Users, ada: str, clock: ManualClock
) -> None:
    assert users.is_password_of("ada", PASSWORD)
    assert [users.is_password_of(ada, f"wrong {number}") for number in range(4)] == [False] * 4
    with pytest.raises(Unauthenticated):
        users.sign_in("ada", "wrong")
    with pytest.raises(TooOften):
        users.is_password_of(ada, PASSWORD)
    clock.advance(1)
    assert users.is_password_of(ada, PASSWORD)  # which forgets the failures
    assert not users.is_password_of(ada, "wrong")
    assert users.sign_in("ada", PASSWORD)


def test_who_has_no_password_has_none_that_could_be_guessed(users: Users) -> None:
    users.create("script", Role.TRAINER)
    assert not users.is_password_of("script", "")


def test_a_changed_role_counts_for_open_sessions(users: Users, ada: str) -> None:
    token = users.sign_in("ada", PASSWORD)
    users.set_role("ada", Role.VIEWER)
    identity = users.identify(token)
    assert identity is not None
    assert identity.role is Role.VIEWER


def test_a_removed_user_leaves_no_token_behind(users: Users, ada: str, database: Database) -> None:
    session = users.sign_in("ada", PASSWORD)
    users.remove("ada")
    assert users.identify(session) is None
    assert used_at(database) == []


def test_guessing_is_slowed_by_name_whatever_the_address(users: Users, ada: str, clock: ManualClock) -> None:
    for number in range(5):
        with pytest.raises(Unauthenticated):
            users.sign_in("ada", "wrong", f"10.0.0.{number}")
    with pytest.raises(TooOften):
        users.sign_in("ada", PASSWORD, "10.0.0.99")
    clock.advance(1)
    users.sign_in("ada", PASSWORD, "10.0.0.99")


def test_guessing_is_slowed_by_address_whatever_the_name(users: Users, ada: str) -> None:
    for number in range(20):
        with pytest.raises(Unauthenticated):
            users.sign_in(f"name{number}", "wrong", "10.0.0.1")
    with pytest.raises(TooOften):
        users.sign_in("ada", PASSWORD, "10.0.0.1")
    users.sign_in("ada", PASSWORD, "10.0.0.2")


def test_an_operator_who_sets_a_new_password_ends_the_waiting(users: Users, ada: str) -> None:
    for _ in range(5):
        with pytest.raises(Unauthenticated):
            users.sign_in("ada", "wrong")
    users.set_password("ada", "another horse battery")
    users.sign_in("ada", "another horse battery")


def test_sign_ins_are_in_the_audit_log_with_their_address(users: Users, ada: str, audit: Audit) -> None:
    users.sign_out(users.sign_in("ada", PASSWORD, "10.0.0.1"))
    with pytest.raises(Unauthenticated):
        users.sign_in("ada", "wrong", "10.0.0.2")
    lines = [(line.who, line.action, line.outcome, line.data.get("address")) for line in audit.list()]
    assert lines == [
        ("ada", "sign-in", "refused", "10.0.0.2"),
        ("ada", "sign-out", "ok", None),
        ("ada", "sign-in", "ok", "10.0.0.1"),
    ]


def test_a_weak_hash_is_renewed_at_the_next_sign_in(database: Database, events: Events, clock: ManualClock) -> None:
    Users(database, events, clock, hasher=PasswordHasher(1, 8, 1)).create("ada", Role.VIEWER, PASSWORD)
    Users(database, events, clock, hasher=PasswordHasher(2, 64, 1)).sign_in("ada", PASSWORD)
    with database.read() as connection:
        assert "m=64,t=2" in str(connection.scalar(select(tables.users.c.password)))


def test_an_api_token_is_shown_once_and_kept_as_a_digest(users: Users, ada: str, database: Database) -> None:
    text = users.make_token("ada", "laptop")
    assert text.startswith("sb_")
    assert len(text) >= 43
    [token] = users.tokens("ada")
    assert (token.name, token.expires, token.used) == ("laptop", 0, 0)
    with database.read() as connection:
        assert text not in repr(connection.execute(select(tables.tokens)).all())


def test_an_api_token_expires_after_its_days_and_stays_listed(users: Users, ada: str, clock: ManualClock) -> None:
    text = users.make_token("ada", "laptop", days=2)
    clock.advance(1)
    for_ever = users.make_token("ada", "server")
    clock.advance(2 * 86400 - 2)
    assert users.identify(text) is not None
    clock.advance(1)
    assert users.identify(text) is None
    clock.advance(3650 * 86400)
    assert users.identify(for_ever) is not None
    assert [token.name for token in users.tokens("ada")] == ["laptop", "server"]


@pytest.mark.parametrize("days", [-1, float("nan"), float("inf"), 1e9])
def test_a_token_with_a_senseless_life_is_refused(users: Users, ada: str, days: float) -> None:
    with pytest.raises(InvalidInput):
        users.make_token("ada", "", days=days)


def test_a_revoked_token_stands_for_nobody(users: Users, ada: str) -> None:
    first, second = users.make_token("ada", "one"), users.make_token("ada", "two")
    users.revoke(next(token.id for token in users.tokens("ada") if token.name == "one"))
    assert users.identify(first) is None
    assert users.identify(second) is not None


def test_nobody_revokes_the_token_of_somebody_else(users: Users, ada: str) -> None:
    text = users.make_token("ada", "one")
    bob = users.create("bob", Role.TRAINER)
    [token] = users.tokens("ada")
    with pytest.raises(NotFound):
        users.revoke(token.id, user=bob.id)
    assert users.identify(text) is not None
    users.revoke(token.id, user=ada)
    assert users.identify(text) is None


@pytest.mark.parametrize("token_id", ["", "%", "0" * 16, "\x00", "_" * 16])
def test_an_id_of_no_token_revokes_nothing(users: Users, ada: str, token_id: str) -> None:
    text = users.make_token("ada", "one")
    with pytest.raises(NotFound):
        users.revoke(token_id)
    assert users.identify(text) is not None


def test_when_a_token_was_used_is_written_at_most_once_a_minute(
    users: Users, ada: str, clock: ManualClock, database: Database
) -> None:
    text = users.make_token("ada", "one")
    start = clock.now()
    users.identify(text)
    clock.advance(59)
    users.identify(text)
    assert used_at(database) == [start]
    clock.advance(1)
    users.identify(text)
    assert used_at(database) == [start + 60]


def test_sessions_that_have_ended_are_cleared_away(
    users: Users, ada: str, clock: ManualClock, database: Database
) -> None:
    users.sign_in("ada", PASSWORD)
    clock.advance(13 * 3600)
    users.sign_in("ada", PASSWORD)
    assert len(used_at(database)) == 1
