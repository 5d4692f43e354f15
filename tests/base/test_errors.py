"""The family of errors: one code, one exit code each, and sentences that carry all that is wrong."""

from seedbed.base.errors import InvalidInput, SeedbedError, family


def test_every_member_has_a_code_and_an_exit_code_of_its_own() -> None:
    members = [SeedbedError, *family()]
    assert len({member.code for member in members}) == len(members)
    assert len({member.exit_code for member in members}) == len(members)


def test_every_status_is_an_http_error_and_every_exit_code_fits_a_shell() -> None:
    assert all(400 <= member.status <= 599 for member in family())
    assert all(0 < member.exit_code < 64 for member in family())


def test_every_member_says_what_it_is_for() -> None:
    assert all(member.__doc__ for member in family())


def test_a_message_lists_every_problem_and_then_the_hint() -> None:
    error = InvalidInput("Two things are wrong.", hint="Mend them.", problems=["one", "two"])
    assert str(error) == "Two things are wrong.\n  - one\n  - two\nMend them."
    assert str(InvalidInput("Only this.")) == "Only this."
