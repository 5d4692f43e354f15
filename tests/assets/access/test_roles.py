import itertools

import pytest

from seedbed.assets.access.roles import SOLO, Identity, Role, no_such_project
from seedbed.base.errors import Forbidden, NotFound

ORDER = [Role.VIEWER, Role.LABELLER, Role.TRAINER, Role.OPERATOR]


@pytest.mark.parametrize(("held", "asked"), [*itertools.product(ORDER, ORDER)])
def test_a_role_covers_itself_and_the_ones_before_it(held: Role, asked: Role) -> None:
    assert held.covers(asked) == (ORDER.index(held) >= ORDER.index(asked))
    assert Identity("1", "ada", held).may(asked) == held.covers(asked)


@pytest.mark.parametrize(("own", "there", "asked"), [*itertools.product(ORDER, [None, *ORDER], ORDER)])
def test_inside_a_project_only_the_membership_counts_unless_operator(
    own: Role, there: Role | None, asked: Role
) -> None:
    identity = Identity("1", "ada", own, {"p": there} if there else {})
    expected = own is Role.OPERATOR or (there is not None and there.covers(asked))
    assert identity.may(asked, "p") == expected
    if expected:
        identity.require(asked, "p")
    else:
        with pytest.raises(NotFound if there is None else Forbidden):
            identity.require(asked, "p")


def test_a_membership_gives_nothing_outside_its_project() -> None:
    identity = Identity("1", "ada", Role.VIEWER, {"p": Role.OPERATOR})
    assert not identity.may(Role.LABELLER)
    assert not identity.may(Role.VIEWER, "q")


def test_a_project_that_is_not_theirs_looks_like_one_that_is_not_there() -> None:
    with pytest.raises(NotFound) as refused:
        Identity("1", "ada", Role.TRAINER, {}).require(Role.VIEWER, "secret")
    assert str(refused.value) == str(no_such_project())


def test_a_refusal_names_the_role_that_is_needed_and_the_one_held() -> None:
    with pytest.raises(Forbidden, match="needs the role trainer; ada is viewer"):
        Identity("1", "ada", Role.VIEWER).require(Role.TRAINER)


def test_the_one_person_of_a_laptop_may_do_everything() -> None:
    assert all(SOLO.may(role, project) for role in ORDER for project in ("", "any"))
