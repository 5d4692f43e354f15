import pytest

from seedbed.assets.access.roles import Identity, Role
from seedbed.assets.access.users import Users
from seedbed.assets.projects.projects import Projects
from seedbed.base.errors import Forbidden, NotFound


def test_membership_decides_inside_a_project(users: Users, projects: Projects) -> None:
    users.create("root", Role.OPERATOR)
    users.create("ada", Role.VIEWER)
    wheat, maize = projects.create("wheat", "solo"), projects.create("maize", "solo")
    token = users.make_token("ada", "x")
    users.add_member(wheat.id, "ada", Role.TRAINER)
    identity = users.identify(token)
    assert identity is not None
    identity.require(Role.TRAINER, wheat.id)
    with pytest.raises(Forbidden):
        identity.require(Role.OPERATOR, wheat.id)
    with pytest.raises(NotFound):
        identity.require(Role.VIEWER, maize.id)
    users.remove_member(wheat.id, "ada")
    identity = users.identify(token)
    assert identity is not None
    assert not identity.may(Role.VIEWER, wheat.id)


def test_adding_a_member_again_changes_the_role(users: Users, projects: Projects) -> None:
    users.create("ada", Role.VIEWER)
    users.create("bob", Role.VIEWER)
    wheat = projects.create("wheat", "solo")
    users.add_member(wheat.id, "bob", Role.LABELLER)
    users.add_member(wheat.id, "ada", Role.LABELLER)
    users.add_member(wheat.id, "ada", Role.VIEWER)
    assert [(one.name, one.role) for one in users.members(wheat.id)] == [
        ("ada", Role.VIEWER),
        ("bob", Role.LABELLER),
    ]


def test_who_makes_a_project_may_do_everything_in_it(users: Users, projects: Projects) -> None:
    ada = users.create("ada", Role.TRAINER)
    wheat = projects.create("wheat", ada.id)
    assert [(one.user, one.role) for one in users.members(wheat.id)] == [(ada.id, Role.OPERATOR)]


def test_membership_of_nothing_and_of_nobody_is_refused(users: Users, projects: Projects) -> None:
    users.create("ada", Role.VIEWER)
    wheat = projects.create("wheat", "solo")
    for attempt in (
        lambda: users.add_member("no such", "ada", Role.VIEWER),
        lambda: users.add_member("\x00", "ada", Role.VIEWER),
        lambda: users.add_member(wheat.id, "bob", Role.VIEWER),
        lambda: users.remove_member(wheat.id, "ada"),
        lambda: users.members("no such"),
    ):
        with pytest.raises(NotFound):
            attempt()


def test_memberships_go_with_their_project(users: Users, projects: Projects) -> None:
    users.create("root", Role.OPERATOR)
    ada = users.create("ada", Role.VIEWER)
    wheat = projects.create("wheat", ada.id)
    token = users.make_token("ada", "x")
    projects.delete("wheat")
    identity = users.identify(token)
    assert identity is not None
    assert wheat.id not in identity.projects


def test_a_project_asked_for_by_name_is_refused_in_the_words_for_one_that_is_not_there(
    users: Users, projects: Projects
) -> None:
    """By name, as use cases do it: find it first, then ask whether this person may. Neither id nor name comes back."""
    secret = projects.create("secret", "solo")
    identity = Identity("1", "eve", Role.TRAINER)

    def answer(reference: str) -> str:
        with pytest.raises(NotFound) as refused:
            identity.require(Role.VIEWER, projects.get(reference).id)
        return str(refused.value)

    assert answer("secret") == answer(secret.id) == answer("never made")
    assert secret.id not in answer("secret")
